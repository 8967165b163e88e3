/* differential.h - the strict reader beside jansson, for the test and the fuzz target.
 *
 * jansson (duplicates rejected, any value, NUL allowed) takes what we take, but for what it is known to see otherwise:
 * depth past 32, numbers past its types, an escaped NUL, which it takes in values but not in names, and a raw NUL,
 * which it passes over behind a number.
 */
#ifndef JOBS_TESTS_DIFFERENTIAL_H
#define JOBS_TESTS_DIFFERENTIAL_H

#include "core/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Whether the parsed document and jansson's value are the same. Depth is bounded by the reader. */
static inline bool differential_same(const struct jobs__json *doc, uint32_t index, const json_t *json)
{
    const struct jobs__json_value *value = &doc->values[index];
    int64_t integer;
    switch (value->type) {
    case JOBS__JSON_NULL:
        return json_is_null(json);
    case JOBS__JSON_FALSE:
        return json_is_false(json);
    case JOBS__JSON_TRUE:
        return json_is_true(json);
    case JOBS__JSON_NUMBER:
        if (!jobs__json_integer(doc, index, &integer))
            return json_is_number(json); /* -0 is an integer for jansson */
        return json_is_integer(json) && json_integer_value(json) == integer;
    case JOBS__JSON_STRING: {
        struct jobs__buffer text = {.max = doc->len};
        jobs__buffer_add(&text, "", 0);
        jobs__json_string(doc, index, &text);
        bool same = json_is_string(json) && json_string_length(json) == text.len &&
                    memcmp(json_string_value(json), text.bytes, text.len) == 0 &&
                    jobs__json_equals(doc, index, text.bytes, text.len);
        jobs__buffer_free(&text);
        return same;
    }
    case JOBS__JSON_ARRAY: {
        if (!json_is_array(json) || json_array_size(json) != value->count)
            return false;
        uint32_t item = index + 1;
        for (uint32_t i = 0; i < value->count; i++, item = doc->values[item].after) {
            if (!differential_same(doc, item, json_array_get(json, i)))
                return false;
        }
        return item == value->after;
    }
    default: {
        if (!json_is_object(json) || json_object_size(json) != value->count)
            return false;
        uint32_t name = index + 1;
        for (uint32_t i = 0; i < value->count; i++, name = doc->values[name + 1].after) {
            struct jobs__buffer text = {.max = doc->len};
            jobs__buffer_add(&text, "", 0);
            jobs__json_string(doc, name, &text);
            const json_t *member = json_object_getn(json, text.bytes, text.len);
            jobs__buffer_free(&text);
            if (member == NULL || !differential_same(doc, name + 1, member))
                return false;
        }
        return name == value->after;
    }
    }
}

/* NULL when both readers agree about the bytes, else in what they differ. doc is used again and again. */
static inline const char *differential(struct jobs__json *doc, const char *text, size_t len)
{
    struct jobs__json_fault fault = {0};
    json_error_t error;
    int code = jobs__json_parse(doc, text, len, &fault);
    json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    const char *difference = NULL;
    if (code == JOBS_OK && json == NULL) {
        enum json_error_code why = json_error_code(&error);
        if (why != json_error_numeric_overflow && why != json_error_null_byte_in_key)
            difference = "jansson refuses what we take";
    } else if (code != JOBS_OK && json != NULL) {
        bool nul = fault.offset < len && text[fault.offset] == '\0';
        if (strcmp(fault.rule, "H108") != 0 && !nul)
            difference = "jansson takes what we refuse";
    } else if (code == JOBS_OK && !differential_same(doc, 0, json)) {
        difference = "both take it, and read something else";
    }
    if (code != JOBS_OK && difference == NULL && (fault.offset > len || fault.line == 0 || fault.what == NULL))
        difference = "the fault has no place";
    json_decref(json);
    return difference;
}

#endif
