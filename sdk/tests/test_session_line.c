/* test_session_line.c - connections that fail before, between and after; upgrades that are refused; job checks. */
#include "transcript.h"

/* --- before anything was sent --- */

static void dialled_again_until_it_is_there(void **state)
{
    (void)state;
    static const enum jobs__ending kinds[] = {JOBS__END_NO_CONNECT, JOBS__END_BROKEN, JOBS__END_TOO_LARGE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        static const int64_t caps[] = {500, 1500, 4000, 8000};
        begin(PLAIN);
        for (size_t n = 0; n < 4; n++) {
            dials();
            fails_to_open(kinds[i], "");
            waits_at_most(caps[n]);
        }
        connects();
        sends_event();
    }
}

static void never_there(void **state)
{
    (void)state;
    begin(PLAIN);
    for (unsigned steps = 0;; steps++) {
        assert_true(steps < 200);
        struct jobs__step s = step();
        if (s.want == JOBS__WANT_DONE)
            break;
        if (s.want == JOBS__WANT_WAIT)
            t.now = s.at;
        if (s.want == JOBS__WANT_DIAL)
            fails_to_open(JOBS__END_NO_CONNECT, "Connection refused");
    }
    assert_true(t.now <= START + TIMEOUT);
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    assert_true(result()->retryable);
    tells("Connection refused");
}

/* A pause is no more than half of what is left: there is time for one more try. */
static void the_last_try_is_not_slept_through(void **state)
{
    (void)state;
    begin_within(PLAIN, 900);
    for (int64_t left = 900; left > 600;) {
        dials();
        fails_to_open(JOBS__END_NO_CONNECT, "");
        waits_at_most(left / 2);
        left = START + 900 - t.now;
    }
}

/* Why it fails is what the tries before said, not that the last one had no time. */
static void the_deadline_hides_no_reason(void **state)
{
    (void)state;
    begin_within(PLAIN, 900);
    dials();
    fails_to_open(JOBS__END_NO_CONNECT, "is it a ws:// relay?");
    waits_at_most(450);
    dials();
    t.now = START + 900;
    fails_to_open(JOBS__END_NO_CONNECT, "the handshake did not end in time");
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    tells("is it a ws:// relay?");
}

static void a_dial_without_end(void **state)
{
    (void)state;
    begin(PLAIN);
    dials();
    waits(15000);
    hangs_up();
    waits_at_most(500);
    dials();
    waits_at_most(15000); /* the deadline */
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
}

static void a_bad_certificate_does_not_mend(void **state)
{
    (void)state;
    begin(PLAIN);
    dials();
    fails_to_open(JOBS__END_TLS, "certificate has expired");
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    assert_false(result()->retryable);
    tells("certificate has expired");
}

static void a_few_tries_for_the_hopeless(void **state)
{
    (void)state;
    static const enum jobs__ending kinds[] = {JOBS__END_NO_ADDRESS, JOBS__END_NOT_WEBSOCKET};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        begin(PLAIN);
        for (int n = 0; n < 3; n++) {
            if (n > 0)
                waits_at_most(1500);
            dials();
            fails_to_open(kinds[i], "so it is");
        }
        is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
        tells("so it is");
    }
}

/* --- refused upgrades --- */

static void an_upgrade_that_flaps(void **state)
{
    (void)state;
    static const int kinds[] = {404, 429, 500, 502, 503, 504};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        begin(PLAIN);
        dials();
        refuses_upgrade(kinds[i], 0);
        waits_at_most(500);
        dials();
        refuses_upgrade(kinds[i], 2);
        waits(2000);
        connects();
        sends_event();
        says_ok(true, "");
        is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
    }
}

static void an_upgrade_refused_to_the_end_is_explained(void **state)
{
    (void)state;
    begin(PLAIN);
    for (unsigned steps = 0;; steps++) {
        assert_true(steps < 200);
        struct jobs__step s = step();
        if (s.want == JOBS__WANT_EXPLAIN)
            break;
        if (s.want == JOBS__WANT_WAIT)
            t.now = s.at;
        if (s.want == JOBS__WANT_DIAL)
            refuses_upgrade(404, 0);
    }
    assert_true(t.now >= START + TIMEOUT - 2000 && t.now < START + TIMEOUT);
    static const char body[] = "relay: no community is configured\nfor this host";
    t.engine->ops->explained(t.engine, t.now, body, sizeof body - 1);
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    tells("404");
    tells("no community is configured\\nfor this host");
    assert_true(result()->retryable);
}

static void an_explanation_that_never_comes(void **state)
{
    (void)state;
    begin(PLAIN);
    dials();
    refuses_upgrade(403, 0);
    expects(JOBS__WANT_EXPLAIN);
    waits(2000);
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_true(result()->denied);
    tells("403");
}

static void denied_at_the_door(void **state)
{
    (void)state;
    static const int kinds[] = {401, 403};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        begin(PLAIN);
        dials();
        refuses_upgrade(kinds[i], 0);
        explains("members only");
        is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
        assert_true(result()->denied);
        assert_false(result()->retryable);
        tells("members only");
    }
    begin(MAYBE_SENT); /* an earlier try may have passed */
    dials();
    refuses_upgrade(401, 0);
    explains("");
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    assert_true(result()->denied);
}

static void moved_elsewhere(void **state)
{
    (void)state;
    begin(PLAIN);
    dials();
    refuses_upgrade(302, 0);
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    assert_false(result()->retryable);
    tells("302");
    tells("redirects are not followed");
}

static void no_such_thing_here(void **state)
{
    (void)state;
    static const int kinds[] = {200, 400, 405, 410, 426};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        begin(PLAIN);
        dials();
        refuses_upgrade(kinds[i], 0);
        explains("a web page");
        is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
        assert_false(result()->retryable);
        tells("a web page");
    }
}

static void retry_after_longer_than_the_time(void **state)
{
    (void)state;
    begin(PLAIN);
    dials();
    refuses_upgrade(503, 120);
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    assert_true(result()->retryable);
    assert_int_equal(result()->retry_after, 120);
    tells("503");
}

/* --- close codes, in every state --- */

static const int final_codes[] = {1003, 1007, 1008, 1009};
static const int other_codes[] = {0, 1000, 1001, 1002, 1006, 1011, 1012, 1013, 1014, 3000, 4000, 4999};
#define EACH(i, codes) (size_t i = 0; i < sizeof codes / sizeof *codes; i++)

static void closed_before_the_send(void **state)
{
    (void)state;
    for
        EACH(i, final_codes)
        {
            begin(ASK);
            connects();
            asks_for_job();
            closes(final_codes[i], "blocked: go away");
            decides();
            is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
            tells("go away");
            assert_int_equal(result()->attempts, 0);
        }
    for
        EACH(i, other_codes)
        {
            begin(ASK);
            connects();
            asks_for_job();
            closes(other_codes[i], "relay restarting");
            decides();
            reconnects();
            asks_for_job();
            says_eose();
            decides();
            gives_event();
            sends_event();
        }
}

static void closed_after_auth(void **state)
{
    (void)state;
    for
        EACH(i, other_codes)
        {
            begin(PLAIN);
            connects();
            challenges("c1");
            sends_auth();
            closes(other_codes[i], "");
            reconnects();
            sends_event();
        }
    begin(PLAIN);
    connects();
    challenges("c1");
    sends_auth();
    closes(1008, "restricted: not you");
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_true(result()->denied);
}

static void closed_after_the_send(void **state)
{
    (void)state;
    for
        EACH(i, final_codes)
        {
            begin(PLAIN);
            connects();
            sends_event();
            closes(final_codes[i], "too big");
            reconnects();
            asks_by_id();
            says_eose();
            is_done(JOBS_REJECTED, JOBS_ABSENT);
            tells("too big");

            begin(PLAIN);
            connects();
            sends_event();
            closes(final_codes[i], "too big");
            reconnects();
            asks_by_id();
            gives(t.event);
            is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);

            begin(PLAIN);
            connects();
            sends_event();
            closes(final_codes[i], "too big");
            reconnects();
            asks_by_id();
            closes(final_codes[i], "again");
            is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
            assert_int_equal(result()->attempts, 1);
        }
    for
        EACH(i, other_codes)
        {
            begin(PLAIN);
            connects();
            sends_event();
            closes(other_codes[i], "relay restarting");
            reconnects();
            asks_by_id();
            says_eose();
            sends_event();
            says_ok(true, "");
            is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
            assert_int_equal(result()->attempts, 2);
        }
}

static void lost_after_the_send(void **state)
{
    (void)state;
    begin(PLAIN); /* stored before the line dropped */
    connects();
    sends_event();
    breaks();
    reconnects();
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
    assert_int_equal(result()->attempts, 1);

    begin(PLAIN); /* not stored then, but two seconds later: the same bytes are a duplicate */
    connects();
    sends_event();
    breaks();
    reconnects();
    asks_by_id();
    says_eose();
    sends_event();
    says_ok(true, "duplicate: have it");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);

    begin(PLAIN); /* a forged answer to the question */
    connects();
    sends_event();
    breaks();
    reconnects();
    asks_by_id();
    gives_forged(t.event);
    says_eose();
    is_done(JOBS_UNCLEAR, JOBS_DIFFERENT);

    begin(PLAIN); /* the line drops during the question, too; and the next question is not answered */
    connects();
    sends_event();
    breaks();
    reconnects();
    asks_by_id();
    breaks();
    reconnects();
    asks_by_id();
    waits(5000);
    hangs_up();
    reconnects();
    asks_by_id();
    waits_at_most(5000);
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void lost_and_never_there_again(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    breaks();
    for (;;) {
        struct jobs__step s = step();
        if (s.want == JOBS__WANT_DONE)
            break;
        if (s.want == JOBS__WANT_WAIT)
            t.now = s.at;
        if (s.want == JOBS__WANT_DIAL)
            fails_to_open(JOBS__END_NO_CONNECT, "Connection refused");
    }
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
    assert_true(t.now == START + TIMEOUT);
    assert_true(result()->retryable);
    tells("Connection refused");

    begin(PLAIN);
    connects();
    sends_event();
    breaks();
    waits_at_most(500);
    dials();
    fails_to_open(JOBS__END_TLS, "certificate has expired");
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
}

static void lost_while_waiting_to_send_again(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    says_ok(false, "rate-limited: retry in 5s");
    breaks();
    waits(5000);
    connects();
    sends_event();
}

static void lost_while_the_owner_thinks(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    says_eose();
    decides();
    breaks();
    after(1000);
    listens();
    gives_event();
    connects();
    sends_event();
}

/* --- the clock --- */

static void a_skewed_clock_is_named(void **state)
{
    (void)state;
    static const struct {
        int64_t skew;
        const char *words, *hint;
    } cases[] = {
        {1200, "invalid: event timestamp too far from server time", "1200 s ahead of"},
        {-7200, "invalid: created_at is out of the acceptable range (+1800sec)", "allows 1800 s"},
        {3, "invalid: created_at too early", "the clocks agree"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(PLAIN);
        dials();
        accepts_with_skew(cases[i].skew);
        sends_event();
        says_ok(false, cases[i].words);
        is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
        assert_true(result()->refused_for_time);
        hints(cases[i].hint);
    }
}

/* --- the job check --- */

static void fetched(void **state)
{
    (void)state;
    begin(FETCH);
    connects();
    asks_by_id();
    gives(t.earlier);
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
    assert_int_equal(jobs__session_found_count(t.session), 1);
    assert_true(jobs_event_same(jobs__session_found(t.session, 0), t.event));
}

static void not_fetched(void **state)
{
    (void)state;
    begin(FETCH);
    connects();
    asks_by_id();
    says_eose();
    is_done(JOBS_REJECTED, JOBS_ABSENT);

    begin(FETCH);
    connects();
    asks_by_id();
    gives_forged(t.event);
    says_eose();
    is_done(JOBS_UNCLEAR, JOBS_DIFFERENT);
    assert_int_equal(jobs__session_found_count(t.session), 0);

    begin(FETCH);
    connects();
    asks_by_id();
    says_closed("invalid: no such filter");
    is_done(JOBS_REJECTED, JOBS_READ_REFUSED);
    tells("no such filter");

    begin(FETCH);
    connects();
    asks_by_id();
    is_silent_and_asked_anew(5000);
    waits_at_most(5000);
    is_done(JOBS_NOT_REACHED, JOBS_READ_REFUSED);

    begin(FETCH);
    connects();
    asks_by_id();
    closes(1008, "not you");
    is_done(JOBS_REJECTED, JOBS_READ_REFUSED);
    tells("not you");
}

static void fetched_after_all(void **state)
{
    (void)state;
    begin(FETCH);
    dials();
    refuses_upgrade(503, 1);
    waits(1000);
    connects();
    asks_by_id();
    says_closed("rate-limited: retry in 2s");
    waits(2000);
    asks_by_id();
    says_closed("restricted: not a channel member");
    waits_at_most(1500);
    asks_by_id();
    challenges("c1");
    sends_auth();
    says_closed("auth-required: x");
    says_auth_ok(true, "");
    asks_by_id();
    breaks();
    reconnects();
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
}

/* --- for the person who waits --- */

static void it_says_what_it_does(void **state)
{
    (void)state;
    begin(PLAIN);
    dials();
    assert_string_equal(t.engine->ops->doing(t.engine), "connecting");
    accepts();
    challenges("c1");
    sends_auth();
    assert_string_equal(t.engine->ops->doing(t.engine), "authenticating");
    says_auth_ok(true, "");
    sends_event();
    assert_string_equal(t.engine->ops->doing(t.engine), "sent, waiting for OK");
    breaks();
    listens();
    assert_string_equal(t.engine->ops->doing(t.engine), "retrying");
    reconnects();
    asks_by_id();
    assert_string_equal(t.engine->ops->doing(t.engine), "asking");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dialled_again_until_it_is_there),
        cmocka_unit_test(never_there),
        cmocka_unit_test(the_last_try_is_not_slept_through),
        cmocka_unit_test(a_dial_without_end),
        cmocka_unit_test(the_deadline_hides_no_reason),
        cmocka_unit_test(a_bad_certificate_does_not_mend),
        cmocka_unit_test(a_few_tries_for_the_hopeless),
        cmocka_unit_test(an_upgrade_that_flaps),
        cmocka_unit_test(an_upgrade_refused_to_the_end_is_explained),
        cmocka_unit_test(an_explanation_that_never_comes),
        cmocka_unit_test(denied_at_the_door),
        cmocka_unit_test(moved_elsewhere),
        cmocka_unit_test(no_such_thing_here),
        cmocka_unit_test(retry_after_longer_than_the_time),
        cmocka_unit_test(closed_before_the_send),
        cmocka_unit_test(closed_after_auth),
        cmocka_unit_test(closed_after_the_send),
        cmocka_unit_test(lost_after_the_send),
        cmocka_unit_test(lost_and_never_there_again),
        cmocka_unit_test(lost_while_waiting_to_send_again),
        cmocka_unit_test(lost_while_the_owner_thinks),
        cmocka_unit_test(a_skewed_clock_is_named),
        cmocka_unit_test(fetched),
        cmocka_unit_test(not_fetched),
        cmocka_unit_test(fetched_after_all),
        cmocka_unit_test(it_says_what_it_does),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hang_up();
    return failed;
}
