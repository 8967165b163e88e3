/* test_handoff_memory.c - every allocation of the contract fails once: the answer is JOBS_NO_MEMORY, and nothing is
 * left behind. Once warm, the check of a card asks for none.
 */
#include "core/card.h"
#include "failing_memory.h"

#include <jobs/handoff.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const char good[] = "{\"schemaVersion\":1,\"jobRequest\":\"" A64
                           "\",\"requestedOutcome\":\"as\\u006bed\",\"outcome\":\"came\",\"disposition\":"
                           "\"completed\",\"artifacts\":[{\"kind\":\"link\",\"label\":\"l\\u0020\",\"reference\":"
                           "\"https://xn--mnchen-3ya.example/\"}],"
                           "\"findings\":[{\"id\":\"1\",\"severity\":\"s\",\"summary\":\"t\",\"bucket\":"
                           "\"observation\"}],\"next\":{\"targets\":[\"a\"]},"
                           "\"u01\":1,\"u02\":1,\"u03\":1,\"u04\":1,\"u05\":1,\"u06\":1,\"u07\":1,\"u08\":1,\"u09\":1,"
                           "\"u10\":{\"b\":1,\"a\":\"\\n\"}}";
static const char bad[] = "{\"schemaVersion\":2,\"outcome\":\"a\\u0000\",\"x\":1,\"x\":\"\\ud800\",\"artifacts\":[{},{}"
                          ",5,{\"label\":\"\\n\"}]} 2";

static int parse_good(void)
{
    struct jobs_handoff *handoff;
    struct jobs_report report = {0};
    int code = jobs_handoff_parse(&handoff, good, strlen(good), NULL, &report);
    assert_int_equal(handoff != NULL, code == JOBS_OK);
    jobs_handoff_free(handoff);
    jobs_report_wipe(&report);
    return code;
}

static int parse_bad(void)
{
    struct jobs_handoff *handoff;
    struct jobs_report report = {0};
    int code = jobs_handoff_parse(&handoff, bad, strlen(bad), NULL, &report);
    assert_null(handoff);
    jobs_report_wipe(&report);
    return code == JOBS_INVALID ? JOBS_OK : code;
}

static int read_left_out(void)
{
    struct jobs_handoff *handoff;
    struct jobs_report report = {0}, left_out = {0};
    static const char content[] =
        "{\"schemaVersion\":1,\"jobRequest\":\"" A64
        "\",\"requestedOutcome\":\"x\",\"outcome\":\"o\",\"disposition\":\"failed\",\"findings\":[{},{}]}";
    int code = jobs_handoff_read(&handoff, content, strlen(content), A64, &report, &left_out);
    jobs_handoff_free(handoff);
    jobs_report_wipe(&report);
    jobs_report_wipe(&left_out);
    return code;
}

static int ignore(void *context, const char *pointer, const char *text, size_t len)
{
    (void)context, (void)pointer, (void)text, (void)len;
    return 0;
}

static int compare_and_visit(void)
{
    struct jobs_handoff *handoff;
    struct jobs_report report = {0};
    char *bytes = NULL;
    size_t len;
    int code = jobs_handoff_parse(&handoff, good, strlen(good), NULL, &report);
    if (code == JOBS_OK)
        code = jobs_handoff_comparable(&bytes, &len, handoff, true);
    if (code == JOBS_OK)
        code = jobs_handoff_visit_texts(handoff, ignore, NULL);
    free(bytes);
    jobs_handoff_free(handoff);
    jobs_report_wipe(&report);
    return code;
}

static int check_card(void)
{
    struct jobs__card_scratch scratch = {0};
    struct jobs__card_reason reason;
    int code = jobs__card_check(&scratch, good, strlen(good), A64, &reason);
    jobs__card_free(&scratch);
    return code;
}

static void each_fails_once(void **state)
{
    (void)state;
    int (*const runs[])(void) = {parse_good, parse_bad, read_left_out, compare_and_visit, check_card};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        long before = memory.pieces;
        size_t n = 0;
        for (int code = JOBS_NO_MEMORY; code == JOBS_NO_MEMORY;) {
            assert_true(++n < 1000);
            watch_memory(n);
            code = runs[i]();
            assert_int_equal(code, unwatch_memory() ? JOBS_NO_MEMORY : JOBS_OK);
            assert_int_equal(memory.pieces, before);
        }
        assert_true(n > 1);
    }
}

/* Once warm, the check of a card asks for no memory at all. */
static void a_warm_check_allocates_nothing(void **state)
{
    (void)state;
    struct jobs__card_scratch scratch = {0};
    struct jobs__card_reason reason;
    assert_int_equal(jobs__card_check(&scratch, good, strlen(good), A64, &reason), JOBS_OK);
    watch_memory(0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(jobs__card_check(&scratch, good, strlen(good), A64, &reason), JOBS_OK);
    unwatch_memory();
    assert_int_equal(memory.allocations, 0);
    jobs__card_free(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fails_once),
        cmocka_unit_test(a_warm_check_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
