/* test_secrets_find.c - the span that is hidden is the credential, not its neighbours. */
#include <jobs/event.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

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

#define PEM                                                                                                            \
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n"

/* The first one is found whatever stands behind it: a text is hidden from the front. */
static void finds_the_first(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t start, length;
    } cases[] = {
        {"a " PEM "b " PEM, 2, 2 * strlen(PEM) + 2},
        {"a " PEM "b " TOKEN " c", 2, strlen(PEM) + strlen(TOKEN) + 4},
        {TOKEN " " PEM, 0, strlen(TOKEN)},
        {"a " TOKEN " " TOKEN, 2, strlen(TOKEN)},
    };
    const struct jobs_secret_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t start = 0, length = 0;
        assert_true(jobs_secrets_find(cases[i].text, strlen(cases[i].text), &options, &start, &length));
        assert_int_equal(start, cases[i].start);
        assert_int_equal(length, cases[i].length);
    }
}

/* Behind many words, at every distance; and in a time that does not grow with the square of their number. */
static void finds_it_far_behind(void **state)
{
    (void)state;
    static char text[65536];
    const struct jobs_secret_options options = {0};
    for (size_t before = 0; before < 30000; before = before < 400 ? before + 1 : before * 2) {
        for (size_t i = 0; i < 2 * before; i++)
            text[i] = i % 2 == 0 ? 'a' : ' ';
        memcpy(text + 2 * before, PEM, strlen(PEM));
        size_t start = 0, length = 0;
        assert_true(jobs_secrets_find(text, 2 * before + strlen(PEM), &options, &start, &length));
        assert_int_equal(start, 2 * before);
        assert_int_equal(length, strlen(PEM));
        memcpy(text + 2 * before, TOKEN " end", strlen(TOKEN) + 4);
        assert_true(jobs_secrets_find(text, 2 * before + strlen(TOKEN) + 4, &options, &start, &length));
        assert_int_equal(start, 2 * before);
        assert_int_equal(length, strlen(TOKEN));
    }
}

/* Headers without keys behind them are looked at once each. */
static void many_headers_take_no_time(void **state)
{
    (void)state;
    static char text[1048576];
    static const char header[] = "-----BEGIN PRIVATE KEY-----x";
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = header[i % (sizeof header - 1)];
    const struct jobs_secret_options options = {0};
    size_t start, length;
    clock_t before = clock();
    assert_false(jobs_secrets_find(text, sizeof text, &options, &start, &length));
    assert_true(clock() - before < 20 * CLOCKS_PER_SEC); /* each of them to the end: minutes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_span), cmocka_unit_test(finds_the_first),
                                       cmocka_unit_test(finds_it_far_behind),
                                       cmocka_unit_test(many_headers_take_no_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
