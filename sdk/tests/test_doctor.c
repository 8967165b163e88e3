/* test_doctor.c - what a relay's own document does to its examination. The conversation is in cli/tests/e2e_doctor.py.
 */
#include "support.h"

#include "../doctor.h"

static struct jobs_examination found;

static void reads(const char *text)
{
    memset(&found, 0, sizeof found);
    jobs__examination_read(&found, text, strlen(text));
}

static void limits_are(enum jobs_check_state state, int code, const char *words)
{
    assert_int_equal(found.checks[JOBS_CHECK_LIMITS].state, state);
    assert_int_equal(found.code, code);
    assert_non_null(strstr(found.checks[JOBS_CHECK_LIMITS].message, words));
}

static void no_document(void **state)
{
    (void)state;
    static const char *const texts[] = {"",           "<html>404</html>", "[1]", "null", "\"x\"",
                                        "{\"name\":", "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        reads(texts[i]);
        limits_are(JOBS_CHECK_SKIPPED, JOBS_OK, "says nothing");
        assert_false(found.informed);
    }
}

static void a_document(void **state)
{
    (void)state;
    reads("{\"name\":\"a\\u001b[31m\\nb\",\"software\":\"s\",\"version\":\"1\",\"supported_nips\":[1,\"x\",-4,11,42.5,"
          "42],"
          "\"limitation\":{\"max_message_length\":131072,\"auth_required\":true}}");
    limits_are(JOBS_CHECK_OK, JOBS_OK, "nothing");
    assert_true(found.informed);
    assert_string_equal(found.name, "a\\u001b[31m\\nb");
    assert_int_equal(found.nip_count, 3);
    assert_int_equal(found.nips[2], 42);
    assert_int_equal(found.max_message_length, 131072);
    reads(
        "{\"name\":7,\"supported_nips\":{},\"limitation\":[],\"retention\":\"x\"}"); /* nothing is what it should be */
    limits_are(JOBS_CHECK_OK, JOBS_OK, "nothing");
    assert_string_equal(found.name, "");
}

static void what_stands_against_a_handoff(void **state)
{
    (void)state;
    reads("{\"limitation\":{\"max_message_length\":16384}}");
    limits_are(JOBS_CHECK_WARNING, JOBS_OK, "16384");
    reads("{\"limitation\":{\"min_pow_difficulty\":20,\"payment_required\":true}}");
    limits_are(JOBS_CHECK_FAILED, JOBS_REFUSED, "20 bits");
    reads("{\"limitation\":{\"payment_required\":true}}");
    limits_are(JOBS_CHECK_WARNING, JOBS_OK, "paid");
    reads("{\"limitation\":{\"restricted_writes\":true}}");
    limits_are(JOBS_CHECK_WARNING, JOBS_OK, "not everybody");
}

static void kinds_that_are_not_kept(void **state)
{
    (void)state;
    static const char *const none[] = {"[{\"kinds\":[0,43004],\"time\":0}]",
                                       "[{\"kinds\":[[40000,49999]],\"count\":0}]",
                                       "[{\"time\":3600},{\"kinds\":[[43000,43002]],\"time\":0}]"};
    static const char *const kept[] = {"[{\"kinds\":[43004],\"time\":3600}]", "[{\"kinds\":[1,[5,7]],\"time\":0}]",
                                       "[{\"kinds\":[[44000,45000]],\"count\":0}]", "[{\"time\":0}]", "[1,[2]]"};
    char text[256];
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        snprintf(text, sizeof text, "{\"retention\":%s}", none[i]);
        reads(text);
        assert_int_equal(found.checks[JOBS_CHECK_KINDS].state, JOBS_CHECK_FAILED);
        assert_int_equal(found.code, JOBS_REFUSED);
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(text, sizeof text, "{\"retention\":%s}", kept[i]);
        reads(text);
        assert_int_equal(found.checks[JOBS_CHECK_KINDS].state, JOBS_CHECK_SKIPPED);
        assert_int_equal(found.code, JOBS_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_document),
        cmocka_unit_test(a_document),
        cmocka_unit_test(what_stands_against_a_handoff),
        cmocka_unit_test(kinds_that_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
