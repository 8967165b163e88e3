/* support.h - what the sdk's tests share: cmocka, vector files, keys and events made on the spot. */
#ifndef JOBS_TEST_SUPPORT_H
#define JOBS_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jobs/event.h>

#include <jansson.h>
#include <string.h>

#define SECRET_ONE "0000000000000000000000000000000000000000000000000000000000000001"
#define PUBLIC_ONE "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
#define SECRET_TWO "0000000000000000000000000000000000000000000000000000000000000002"
#define PUBLIC_TWO "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
#define CHANNEL    "0f3c2a9e-5b1d-4c7f-8e6a-1234567890ab"

static inline json_t *load_vectors(const char *name)
{
    char path[512];
    json_error_t why;
    snprintf(path, sizeof path, "%s/sdk/tests/vectors/%s", JOBS_SOURCE_DIR, name);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL)
        fail_msg("%s: %s", path, why.text);
    return root;
}

static inline const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    assert_non_null(text);
    return text;
}

static inline struct jobs_key *key_of(const char *text)
{
    struct jobs_key *key = NULL;
    struct jobs_error error = {0};
    int code = jobs_key_from_text(&key, text, strlen(text), &error);
    if (code != JOBS_OK)
        fail_msg("%s", error.message);
    return key;
}

#endif
