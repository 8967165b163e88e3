/* test_session_memory.c - every allocation of a conversation fails once, and the verdict is true all the same; floods
 * of whatever a relay can send leave no memory behind and move no deadline.
 */
#include "../../core/tests/failing_memory.h"
#include "transcript.h"

/* --- one failure each --- */

static void frame_says(const char *before, const char *one, const char *between, const char *two, const char *after)
{
    static char text[8192];
    int len = snprintf(text, sizeof text, "%s%s%s%s%s", before, one, between, two, after);
    t.engine->ops->frame(t.engine, t.now, text, (size_t)len);
}

/* A relay that does everything right, until the end. */
static void is_served(void)
{
    size_t len;
    for (;;) {
        struct jobs__step s = t.engine->ops->next(t.engine, t.now);
        char text[4096];
        switch (s.want) {
        case JOBS__WANT_DONE:
            return;
        case JOBS__WANT_DIAL:
            accepts();
            frame_says("[\"NOTICE\",\"", "welcome", "", "", "\"]");
            break;
        case JOBS__WANT_DECIDE:
            gives_event();
            break;
        case JOBS__WANT_WAIT:
            t.now = s.at;
            break;
        case JOBS__WANT_SEND:
            snprintf(text, sizeof text, "%.*s", (int)s.len, s.bytes);
            if (sscanf(text, "[\"REQ\",\"%64[^\"]\"", t.subscription) == 1) {
                bool by_id = strstr(text, "\"ids\"") != NULL;
                frame_says("[\"EVENT\",\"", t.subscription, "\",", jobs_event_json(by_id ? t.event : t.earlier, &len),
                           "]");
                frame_says("[\"EOSE\",\"", t.subscription, "", "", "\"]");
            } else if (strncmp(text, "[\"EVENT\"", 8) == 0) {
                frame_says("[\"OK\",\"", jobs_event_id(t.event), "\",true,\"", "", "\"]");
            }
            break;
        default:
            fail_msg("wants %s", wants[s.want]);
        }
    }
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    size_t told[5] = {0};
    for (size_t failing = 1;; failing++) {
        begin(ASK | READ_BACK);
        jobs__session_free(t.session);
        t.session = NULL;
        (void)jobs_event_json(t.event, NULL); /* made once, by whoever makes the event */
        (void)jobs_event_json(t.earlier, NULL);
        size_t before = memory.bytes;
        watch_memory(failing);
        const struct jobs__session_options options = {.auth_url = URL,
                                                      .start = START,
                                                      .timeout = TIMEOUT,
                                                      .connect_timeout = 15000,
                                                      .read_back = true,
                                                      .ask_filter = t.filter,
                                                      .sign_auth = sign_auth};
        int rc = jobs__session_new(&t.session, &options);
        if (rc == JOBS_OK) {
            t.engine = jobs__session_engine(t.session);
            is_served();
            told[result()->verdict]++;
            assert_true(result()->done);
            assert_true(result()->verdict != JOBS_REJECTED);
            assert_true(result()->verdict != JOBS_NOT_REACHED || result()->attempts == 0);
        } else {
            assert_int_equal(rc, JOBS_NO_MEMORY);
            assert_null(t.session);
        }
        jobs__session_free(t.session);
        t.session = NULL;
        bool reached = unwatch_memory();
        assert_true(memory.bytes == before);
        if (!reached)
            break;
    }
    assert_true(told[JOBS_ACCEPTED] > 10); /* most failures cost a detail, not the verdict */
    print_message("%zu allocations failed: accepted %zu, unreachable %zu, unknown %zu\n", memory.allocations,
                  told[JOBS_ACCEPTED], told[JOBS_NOT_REACHED], told[JOBS_UNCLEAR]);
}

/* --- floods --- */

#define FLOOD 20000
#define SLACK ((size_t)64 << 10)

static const struct {
    const char *before, *between, *after;
} flood[] = {
    {"[\"NOTICE\",\"", " flood ", "\"]"},
    {"[\"EOSE\",\"", " ", "\"]"},
    {"[\"CLOSED\",\"", " ", "\",\"error: x\"]"},
    {"[\"OK\",\"", "\",false,\"", "\"]"},
    {"[\"EVENT\",\"", "\",{\"id\":", "}]"},
    {"[\"AUTH\",\"", " ", "\"]"},
    {"[\"", "\",", "]"},
    {"", " ", ""},
};

static void floods(void)
{
    for (int i = 0; i < FLOOD; i++) {
        char number[16];
        size_t which = (size_t)i % (sizeof flood / sizeof *flood);
        snprintf(number, sizeof number, "%d", i);
        frame_says(flood[which].before, OTHER, flood[which].between, number, flood[which].after);
    }
    size_t len;
    for (int i = 0; i < 200; i++) { /* events of another subscription, and one we know */
        frame_says("[\"EVENT\",\"", "another", "\",", jobs_event_json(t.earlier, &len), "]");
        frame_says("[\"EVENT\",\"", t.subscription, "\",", jobs_event_json(t.earlier, &len), "]");
    }
    static char large[1 << 20];
    memset(large, '[', sizeof large);
    t.engine->ops->frame(t.engine, t.now, large, sizeof large);
    memcpy(large, "[\"NOTICE\",\"", 11);
    memset(large + 11, 'x', sizeof large - 13);
    memcpy(large + sizeof large - 2, "\"]", 2);
    t.engine->ops->frame(t.engine, t.now, large, sizeof large);
    says_notice("after the flood");
}

static void a_flood_costs_neither_memory_nor_time(void **state)
{
    (void)state;
    begin(ASK | READ_BACK);
    connects();
    size_t before = memory.bytes;
    asks_for_job();
    floods();
    assert_true(memory.bytes < before + SLACK);
    assert_int_equal(jobs__session_found_count(t.session), 1);
    sends_auth(); /* the flood had a challenge in it */
    assert_string_equal(t.challenge, OTHER " 19997");
    says_auth_ok(true, "");
    waits(2000);
    decides();
    gives_event();
    before = memory.bytes;
    sends_event();
    floods();
    assert_true(memory.bytes < before + SLACK);
    waits(10000);
    asks_by_id();
    floods();
    assert_true(memory.bytes < before + SLACK);
    waits(5000);
    hangs_up();
    assert_int_equal(jobs__session_notice_count(t.session), 8);
}

static void connections_without_end(void **state)
{
    (void)state;
    begin(READ_BACK);
    size_t before = memory.bytes;
    unsigned dials_made = 0;
    for (;;) {
        struct jobs__step s = step();
        if (s.want == JOBS__WANT_DONE)
            break;
        if (s.want == JOBS__WANT_WAIT)
            t.now = s.at;
        if (s.want == JOBS__WANT_DIAL) {
            dials_made++;
            accepts();
            breaks();
        }
    }
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    assert_true(memory.bytes < before + SLACK);
    assert_true(t.now == START + TIMEOUT);
    assert_true(dials_made < 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(a_flood_costs_neither_memory_nor_time),
        cmocka_unit_test(connections_without_end),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hang_up();
    return failed;
}
