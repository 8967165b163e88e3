/* test_feed_memory.c - every allocation of a feed fails once: it ends with a true word, leaks nothing, and never calls
 * itself complete without having given everything.
 */
#include "../../core/tests/failing_memory.h"
#include "feed_transcript.h"

static void frame(const char *text)
{
    t.engine->ops->frame(t.engine, t.now, text, strlen(text));
}

static void serve(void)
{
    char text[512];
    for (unsigned i = 0; i < 5; i++) {
        int64_t at = TODAY - (int64_t)i;
        if (at < t.since || (t.until > 0 && at > t.until))
            continue;
        snprintf(text, sizeof text, "[\"EVENT\",\"%s\",{\"id\":\"%064u\",\"created_at\":%" PRId64 "}]", t.subscription,
                 i, at);
        frame(text);
    }
    snprintf(text, sizeof text, "[\"EOSE\",\"%s\"]", t.subscription);
    frame(text);
}

/* A relay that does everything right, until the end. */
static void is_served(void)
{
    const struct jobs__opened opened = {0};
    char text[128];
    for (unsigned steps = 0; steps < 500; steps++) {
        struct jobs__step s = t.engine->ops->next(t.engine, t.now);
        if (s.want == JOBS__WANT_DONE)
            return;
        if (s.want == JOBS__WANT_DIAL) {
            t.engine->ops->opened(t.engine, t.now, &opened);
            frame("[\"AUTH\",\"challenge\"]");
        } else if (s.want == JOBS__WANT_WAIT) {
            t.now = s.at;
        } else if (read_request(&s)) {
            serve();
        } else if (s.len > 8 && memcmp(s.bytes, "[\"AUTH\",", 8) == 0) {
            snprintf(text, sizeof text, "[\"OK\",\"%s\",true,\"\"]", t.auth_id);
            frame(text);
        }
    }
    fail_msg("it does not end");
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    size_t total = 0, complete = 0;
    for (size_t failing = 0; failing <= total; failing++) {
        const struct jobs__feed_options options = feed_options(LISTS);
        hang_up();
        t.now = START;
        long before = memory.pieces;
        watch_memory(failing);
        int code = jobs__feed_new(&t.feed, &options);
        if (code == JOBS_OK) {
            t.engine = jobs__feed_engine(t.feed);
            is_served();
        }
        unwatch_memory();
        if (failing == 0)
            total = memory.allocations;
        if (code != JOBS_OK) {
            assert_int_equal(code, JOBS_NO_MEMORY);
            assert_null(t.feed);
        } else if (result()->complete) {
            complete++;
            assert_int_equal(t.given, 5);
        } else {
            assert_int_not_equal(result()->code, JOBS_OK);
        }
        hang_up();
        assert_int_equal(memory.pieces, before);
    }
    assert_true(total >= 5);
    assert_true(complete >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
