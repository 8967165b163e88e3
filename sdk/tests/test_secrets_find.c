/* test_secrets_find.c - the span that is hidden is the credential, not its neighbours. */
#include <jobs/event.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TOKEN "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2"

static void finds_the_span(void **state)
{
    (void)state;
    static const struct {
        const char *text, *found; /* NULL: nothing */
    } cases[] = {
        {"nothing to see", NULL},
        {TOKEN, TOKEN},
        {"use " TOKEN " for it", TOKEN},
        {"one\n" TOKEN "\ntwo", TOKEN},
        {"send Authorization: Bearer abcdefghij0123456789x now", "Bearer abcdefghij0123456789x"},
        {"key:\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE "
         "KEY-----",
         "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE "
         "KEY-----"},
    };
    const struct jobs_secret_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t start = 0, length = 0;
        bool found = jobs_secrets_find(cases[i].text, strlen(cases[i].text), &options, &start, &length);
        assert_int_equal(found, cases[i].found != NULL);
        if (!found)
            continue;
        if (length != strlen(cases[i].found) || memcmp(cases[i].text + start, cases[i].found, length) != 0)
            fail_msg("case %zu: found %.*s", i, (int)length, cases[i].text + start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_span)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
