/* test_answer.c - the words of relays, each with its class. */
#include <stdio.h>

#include "support.h"

#include "../answer.h"

struct saying {
    const char *text;
    enum jobs__answer answer;
};

static void refusals_have_a_class(void **state)
{
    (void)state;
    static const struct saying sayings[] = {
        {"duplicate: already have this event", JOBS__ANSWER_DUPLICATE},
        {"duplicate:", JOBS__ANSWER_DUPLICATE},
        {"duplicate: ", JOBS__ANSWER_DUPLICATE},
        {"duplicate: exists", JOBS__ANSWER_DUPLICATE},
        {"auth-required: not authenticated", JOBS__ANSWER_AUTH},
        {"auth-required", JOBS__ANSWER_AUTH},
        {"ERROR: auth-required: you must auth", JOBS__ANSWER_AUTH},
        {"restricted: not a channel member", JOBS__ANSWER_DENIED},
        {"restricted: unknown event kind", JOBS__ANSWER_KIND},
        {"ERROR: restricted: unknown event kind", JOBS__ANSWER_KIND},
        {"rate-limited: quota exceeded; retry in 5s", JOBS__ANSWER_THROTTLED},
        {"error: internal server error", JOBS__ANSWER_ERROR},
        {"error: could not connect to the database", JOBS__ANSWER_ERROR},
        {"Write error: disk", JOBS__ANSWER_ERROR},
        {"invalid: bad signature", JOBS__ANSWER_FINAL},
        {"blocked: event size (66095 bytes) exceeds 65536", JOBS__ANSWER_FINAL},
        {"pow: difficulty 28 is needed", JOBS__ANSWER_FINAL},
        {"unsupported: kind", JOBS__ANSWER_FINAL},
        {"mute: you", JOBS__ANSWER_FINAL},
        {"", JOBS__ANSWER_FINAL},
        {"no prefix at all", JOBS__ANSWER_FINAL},
        {"errors happen", JOBS__ANSWER_FINAL},
        {"ERROR: something", JOBS__ANSWER_FINAL},           /* one leading "ERROR: " is stripped, */
        {"ERROR: ERROR: duplicate: x", JOBS__ANSWER_ERROR}, /* and only one */
        {"ERROR: error: busy", JOBS__ANSWER_ERROR},
        {"duplicated", JOBS__ANSWER_FINAL},
        {" rate-limited: spaces before", JOBS__ANSWER_THROTTLED},
        {"Rate-Limited: other case", JOBS__ANSWER_THROTTLED},
    };
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
        if (jobs__answer_refusal(sayings[i].text, strlen(sayings[i].text)) != sayings[i].answer)
            fail_msg("\"%s\" has another class", sayings[i].text);
}

static void notices_rarely_mean_the_event(void **state)
{
    (void)state;
    static const struct saying sayings[] = {
        {"rate-limited: quota exceeded; retry in 5s", JOBS__ANSWER_THROTTLED},
        {"rate-limited: shared admission unavailable", JOBS__ANSWER_THROTTLED},
        {"invalid: must be less than or equal to 102400 chars", JOBS__ANSWER_FINAL},
        {"invalid message: too large", JOBS__ANSWER_FINAL},
        {"ERROR: bad msg: unparseable message", JOBS__ANSWER_FINAL},
        {"auth-required: not authenticated", JOBS__ANSWER_AUTH},
        {"invalid client message", JOBS__ANSWER_NOTHING},
        {"could not parse command", JOBS__ANSWER_NOTHING},
        {"Unexpected token", JOBS__ANSWER_NOTHING},
        {"restricted: x", JOBS__ANSWER_NOTHING},
        {"duplicate: x", JOBS__ANSWER_NOTHING},
        {"welcome", JOBS__ANSWER_NOTHING},
        {"", JOBS__ANSWER_NOTHING},
    };
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
        if (jobs__answer_notice(sayings[i].text, strlen(sayings[i].text)) != sayings[i].answer)
            fail_msg("\"%s\" has another class", sayings[i].text);
}

static void four_close_codes_are_final(void **state)
{
    (void)state;
    for (int code = 0; code < 5000; code++)
        assert_int_equal(jobs__answer_close_is_final(code),
                         code == 1003 || code == 1007 || code == 1008 || code == 1009);
}

static void pauses_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int seconds;
    } sayings[] = {
        {"rate-limited: quota exceeded; retry in 5s", 5},
        {"retry in 52s", 52},
        {"Retry In 7 seconds", 7},
        {"retry after 3", 3},
        {"try again in 2 minutes", 120},
        {"retry in 1h", 3600},
        {"retry in 1500ms", 2},
        {"retry in 0.2s", 1},
        {"retry in 2.0s", 2},
        {"retry in 5s, or retry in 9s", 9},
        {"retry in 99999999999999999999999s", 366 * 86400},
        {"retry in -5s", 0},
        {"retry in s", 0},
        {"retry in ", 0},
        {"retry", 0},
        {"in 5s", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
        if (jobs__answer_retry_in(sayings[i].text, strlen(sayings[i].text)) != sayings[i].seconds)
            fail_msg("\"%s\" is %d s", sayings[i].text,
                     jobs__answer_retry_in(sayings[i].text, strlen(sayings[i].text)));
}

static void refusals_for_time_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool time;
        int window;
    } sayings[] = {
        {"invalid: event timestamp too far from server time", true, 0},
        {"invalid: created_at too early", true, 0},
        {"invalid: created_at too late", true, 0},
        {"invalid: 1668000000 is too old", true, 0},
        {"invalid: The event created_at field is out of the acceptable range (+1800sec) for this relay.", true, 1800},
        {"invalid: created_at must be within 15 minutes", true, 900},
        {"invalid: created_at more than 900 s away", true, 900},
        {"invalid: bad signature", false, 0},
        {"invalid: event too large: 66071", false, 0},
    };
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++) {
        size_t len = strlen(sayings[i].text);
        if (jobs__answer_speaks_of_time(sayings[i].text, len) != sayings[i].time ||
            (sayings[i].time && jobs__answer_window(sayings[i].text, len) != sayings[i].window))
            fail_msg("\"%s\": %d", sayings[i].text, jobs__answer_window(sayings[i].text, len));
    }
}

static void every_status_has_a_row(void **state)
{
    (void)state;
    for (int status = 100; status < 1000; status++) {
        enum jobs__http what = jobs__answer_http(status);
        bool flaps =
            status == 404 || status == 408 || status == 425 || status == 429 || (status >= 500 && status < 600);
        bool denied = status == 401 || status == 403;
        bool moved = status >= 300 && status < 400;
        assert_int_equal(what, flaps    ? JOBS__HTTP_AGAIN
                               : denied ? JOBS__HTTP_DENIED
                               : moved  ? JOBS__HTTP_REDIRECT
                                        : JOBS__HTTP_FINAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_have_a_class),       cmocka_unit_test(notices_rarely_mean_the_event),
        cmocka_unit_test(four_close_codes_are_final),  cmocka_unit_test(pauses_are_read),
        cmocka_unit_test(refusals_for_time_are_known), cmocka_unit_test(every_status_has_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
