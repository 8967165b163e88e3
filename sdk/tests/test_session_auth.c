/* test_session_auth.c - AUTH (NIP-42) in every order that relays have: first, late, again, refused, unanswered, never.
 */
#include "transcript.h"

static void challenged_first(void **state)
{
    (void)state;
    begin(ASK | READ_BACK);
    connects();
    challenges("c1");
    sends_auth();
    assert_string_equal(t.challenge, "c1");
    listens(); /* nothing is sent while AUTH is out */
    says_auth_ok(true, "");
    asks_for_job();
    says_eose();
    decides();
    gives_event();
    sends_event();
    says_ok(true, "");
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
    assert_int_equal(t.auths, 1);
}

/* Buzz: the question was faster than the challenge. */
static void asked_too_early(void **state)
{
    (void)state;
    for (int notice_first = 0; notice_first < 2; notice_first++) {
        begin(ASK);
        connects();
        asks_for_job();
        challenges("c1");
        if (notice_first)
            says_notice("auth-required: not authenticated");
        says_closed("auth-required: not authenticated");
        if (!notice_first)
            says_notice("auth-required: not authenticated");
        sends_auth();
        says_notice("auth-required: not authenticated");
        says_auth_ok(true, "");
        asks_for_job();
        says_eose();
        decides();
        assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_ANSWERED);
        assert_int_equal(t.auths, 1);
    }
}

/* A challenge that comes while a question is out is answered at once; the question's own refusal comes after. */
static void the_question_is_refused_while_auth_is_out(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    challenges("c1");
    sends_auth();
    says_closed("auth-required: x");
    listens();
    says_auth_ok(true, "");
    asks_for_job();
    says_closed("auth-required: still"); /* a second one after a good AUTH is final */
    decides();
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_REFUSED);
}

static void demanded_for_the_event(void **state)
{
    (void)state;
    for (int challenge_first = 0; challenge_first < 2; challenge_first++) { /* LocalRelay: in either order */
        begin(PLAIN);
        connects();
        sends_event();
        if (challenge_first) {
            challenges("c1");
            listens(); /* it may not want AUTH for this */
        }
        says_ok(false, "auth-required: you must auth");
        if (!challenge_first) {
            listens();
            challenges("c1");
        }
        sends_auth();
        says_auth_ok(true, "");
        sends_event();
        says_ok(true, "");
        is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
        assert_int_equal(t.auths, 1);
        assert_int_equal(result()->attempts, 2);
    }
}

static void demanded_in_other_words(void **state)
{
    (void)state;
    begin(PLAIN); /* by NOTICE only */
    connects();
    challenges("c1");
    sends_auth();
    says_auth_ok(true, "");
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);

    begin(PLAIN);
    connects();
    sends_event();
    challenges("c1");
    says_notice("auth-required: not authenticated");
    sends_auth();
    says_auth_ok(true, "");
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);

    begin(PLAIN); /* with "ERROR: " before and no id */
    connects();
    sends_event();
    challenges("c1");
    says("[\"OK\",\"\",false,\"ERROR: auth-required: x\"]");
    sends_auth();
    says("[\"OK\",\"\",true,\"\"]"); /* AUTH is the one thing out */
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void a_challenge_nobody_needs(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    challenges("c1");
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
    assert_int_equal(t.auths, 0);
}

static void a_second_demand_after_a_good_auth_is_final(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    challenges("c1");
    sends_auth();
    says_auth_ok(true, "");
    sends_event();
    says_ok(false, "auth-required: but not for you");
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_true(result()->denied);
    tells("auth-required: but not for you");

    begin(PLAIN);
    connects();
    sends_event();
    challenges("c1");
    says_ok(false, "auth-required: first");
    sends_auth();
    says_auth_ok(true, "");
    sends_event();
    challenges("c2");
    says_ok(false, "auth-required: but not for you");
    asks_by_id(); /* not again AUTH; but a refused resend is asked about */
    says_closed("auth-required: but not for you");
    is_done(JOBS_REJECTED, JOBS_READ_REFUSED);
    assert_true(result()->denied);
    assert_int_equal(t.auths, 1);
}

static void refused_once_then_on_a_new_connection(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    challenges("c1");
    says_ok(false, "auth-required: not authenticated");
    sends_auth();
    says_auth_ok(false, "auth-required: verification failed");
    hangs_up();
    reconnects();
    challenges("c2");
    sends_auth();
    assert_string_equal(t.challenge, "c2");
    says_auth_ok(true, "");
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void refused_for_good(void **state)
{
    (void)state;
    begin(ASK);
    accepts_with_skew(0);
    dials();
    accepts_with_skew(-120);
    challenges("c1");
    sends_auth();
    says_auth_ok(false, "auth-required: verification failed");
    asks_for_job(); /* it may do without */
    says_notice("auth-required: not authenticated");
    says_closed("auth-required: not authenticated");
    hangs_up();
    decides(); /* so that nobody waits for it */
    reconnects();
    challenges("c2");
    sends_auth();
    says_auth_ok(false, "auth-required: verification failed");
    decides();
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_true(result()->denied);
    assert_false(result()->retryable);
    assert_int_equal(result()->attempts, 0);
    assert_int_equal(t.auths, 2);
    tells("verification failed");
    hints("120 s behind");
}

static void refused_but_not_needed(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    challenges("c1");
    sends_auth();
    says_auth_ok(false, "invalid: wrong relay");
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void refused_for_now(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    challenges("c1");
    sends_auth();
    says_auth_ok(false, "rate-limited: retry in 3s");
    hangs_up();
    waits(3000);
    connects();
    challenges("c2");
    sends_auth();
    says_auth_ok(false, "error: database");
    hangs_up();
    reconnects();
    challenges("c3");
    sends_auth();
    says_auth_ok(true, "");
    sends_event();
}

static void a_member_a_moment_later(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    challenges("c1");
    sends_auth();
    says_auth_ok(false, "restricted: not a member");
    hangs_up();
    waits_at_most(500);
    connects();
    challenges("c2");
    sends_auth();
    says_auth_ok(true, "");
    sends_event();
}

static void challenged_anew_while_auth_is_out(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    challenges("c1");
    sends_auth();
    challenges("c2");
    says_auth_ok(true, ""); /* it took the first one */
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
    assert_int_equal(t.auths, 1);

    begin(PLAIN);
    connects();
    sends_event();
    challenges("c1");
    says_ok(false, "auth-required: x");
    sends_auth();
    challenges("c2");
    says_auth_ok(false, "invalid: challenge"); /* it did not */
    sends_auth();
    assert_string_equal(t.challenge, "c2");
    says_auth_ok(true, "");
    sends_event();
}

static void the_newest_challenge_counts(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    challenges("c1");
    challenges("c2");
    says_ok(false, "auth-required: x");
    sends_auth();
    assert_string_equal(t.challenge, "c2");
}

static void auth_is_never_answered(void **state)
{
    (void)state;
    begin(PLAIN); /* the relay does not care */
    connects();
    challenges("c1");
    sends_auth();
    waits(5000);
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);

    begin(PLAIN); /* the relay does */
    connects();
    challenges("c1");
    sends_auth();
    waits(5000);
    sends_event();
    says_ok(false, "auth-required: really");
    hangs_up();
    reconnects();
    challenges("c2");
    sends_auth();
    waits(5000);
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_true(result()->denied);
    tells("auth-required: really");
}

static void demanded_but_never_challenged(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    says_ok(false, "auth-required: somehow");
    waits(5000);
    hangs_up();
    reconnects();
    sends_event();
    says_ok(false, "auth-required: somehow");
    waits(5000);
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_true(result()->denied);
    tells("auth-required: somehow");
}

static void challenges_that_are_none(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    char *text = malloc(1 << 20);
    assert_non_null(text);
    memset(text, 'x', 1 << 20);
    memcpy(text, "[\"AUTH\",\"", 9);
    memcpy(text + (1 << 20) - 2, "\"]", 2);
    says_bytes(text, 1 << 20);
    free(text);
    says("[\"AUTH\",\"a\\u0000b\"]");
    says("[\"AUTH\",7]");
    sends_event();
    assert_int_equal(t.auths, 0);

    begin(PLAIN); /* one that cannot be put into an event */
    connects();
    challenges("a\\u0001b");
    sends_event();
    says_ok(false, "auth-required: x");
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_true(result()->denied);
    tells("auth-required: x");
    hints("no key");
}

static void without_a_key(void **state)
{
    (void)state;
    for (int demanded = 0; demanded < 2; demanded++) {
        begin(FETCH);
        jobs__session_free(t.session);
        const struct jobs__session_options options = {.auth_url = URL,
                                                      .start = START,
                                                      .timeout = TIMEOUT,
                                                      .connect_timeout = 15000,
                                                      .fetch_id = jobs_event_id(t.event)};
        assert_int_equal(jobs__session_new(&t.session, &options), JOBS_OK);
        t.engine = jobs__session_engine(t.session);
        connects();
        challenges("c1");
        asks_by_id(); /* it may do without */
        if (demanded)
            says_closed("auth-required: who are you");
        else
            gives(t.event);
        is_done(demanded ? JOBS_REJECTED : JOBS_ACCEPTED, demanded ? JOBS_READ_REFUSED : JOBS_CONFIRMED);
        assert_true(result()->denied == demanded);
    }
}

/* The ask has to wait for AUTH, and AUTH for a challenge that does not come: the others need not wait for it. */
static void auth_holds_up_nobody(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    says_closed("auth-required: x");
    waits(5000);
    decides();
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_SILENT);
    gives_event();
    hangs_up();
    reconnects();
    challenges("c1");
    sends_auth();
    says_auth_ok(true, "");
    asks_for_job();
    says_eose();
    sends_event();
}

static void the_line_drops_during_auth(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    challenges("c1");
    sends_auth();
    breaks();
    reconnects();
    challenges("c2");
    sends_auth();
    assert_string_equal(t.challenge, "c2");
    says_auth_ok(true, "");
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void demanded_for_the_read_back(void **state)
{
    (void)state;
    begin(READ_BACK);
    connects();
    sends_event();
    says_ok(true, "");
    asks_by_id();
    says_closed("auth-required: to read");
    listens();
    challenges("c1");
    sends_auth();
    says_auth_ok(true, "");
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);

    begin(READ_BACK);
    connects();
    challenges("c1");
    sends_auth();
    says_auth_ok(true, "");
    sends_event();
    says_ok(true, "");
    asks_by_id();
    says_closed("auth-required: to read");
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);

    begin(READ_BACK); /* in vain: the OK stands */
    connects();
    sends_event();
    says_ok(true, "kept");
    asks_by_id();
    says_closed("auth-required: to read");
    waits(5000);
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);
    tells("kept");
}

static void demanded_when_an_unclear_event_is_asked_for(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    breaks();
    reconnects();
    asks_by_id();
    challenges("c1");
    sends_auth();
    says_closed("auth-required: x");
    says_auth_ok(true, "");
    asks_by_id();
    says_eose();
    sends_event();
    says_ok(false, "invalid: x");
    asks_by_id();
    says_eose();
    is_done(JOBS_REJECTED, JOBS_ABSENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(challenged_first),
        cmocka_unit_test(asked_too_early),
        cmocka_unit_test(the_question_is_refused_while_auth_is_out),
        cmocka_unit_test(demanded_for_the_event),
        cmocka_unit_test(demanded_in_other_words),
        cmocka_unit_test(a_challenge_nobody_needs),
        cmocka_unit_test(a_second_demand_after_a_good_auth_is_final),
        cmocka_unit_test(refused_once_then_on_a_new_connection),
        cmocka_unit_test(refused_for_good),
        cmocka_unit_test(refused_but_not_needed),
        cmocka_unit_test(refused_for_now),
        cmocka_unit_test(a_member_a_moment_later),
        cmocka_unit_test(challenged_anew_while_auth_is_out),
        cmocka_unit_test(the_newest_challenge_counts),
        cmocka_unit_test(auth_is_never_answered),
        cmocka_unit_test(demanded_but_never_challenged),
        cmocka_unit_test(challenges_that_are_none),
        cmocka_unit_test(without_a_key),
        cmocka_unit_test(auth_holds_up_nobody),
        cmocka_unit_test(the_line_drops_during_auth),
        cmocka_unit_test(demanded_for_the_read_back),
        cmocka_unit_test(demanded_when_an_unclear_event_is_asked_for),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hang_up();
    return failed;
}
