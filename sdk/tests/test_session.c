/* test_session.c - one talk with one relay: the straight way, the ask, every answer in every state, the read-back. */
#include "transcript.h"

/* --- the straight way --- */

static void sent_confirmed_done(void **state)
{
    (void)state;
    begin(READ_BACK);
    connects();
    sends_event();
    says_ok(true, "");
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
    assert_int_equal(result()->attempts, 1);
    assert_true(result()->said_stored);
    assert_false(result()->retryable);
    assert_string_equal(result()->message, "");
}

static void without_read_back(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    says_ok(true, "stored");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
    tells("stored");
}

static void an_id_in_capitals_is_ours(void **state)
{
    (void)state;
    begin(PLAIN);
    connects();
    sends_event();
    char id[65];
    for (size_t i = 0; i < 65; i++) {
        char c = jobs_event_id(t.event)[i];
        id[i] = c >= 'a' && c <= 'f' ? (char)(c - 'a' + 'A') : c;
    }
    says_format("[\"OK\",\"%s\",true,\"\"]", id);
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void ask_decide_send(void **state)
{
    (void)state;
    begin(ASK | READ_BACK);
    connects();
    asks_for_job();
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_RUNNING);
    says_eose();
    decides();
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_ANSWERED);
    assert_int_equal(jobs__session_found_count(t.session), 0);
    gives_event();
    sends_event();
    says_ok(true, "");
    asks_by_id();
    gives(t.event);
    says_eose();
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
    assert_int_equal(t.closes, 1);
}

static void the_owner_may_take_its_time(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    says_eose();
    decides();
    listens();
    after(9000);
    listens();
    gives_event();
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void no_event_ever(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    says_eose();
    decides();
    waits(TIMEOUT);
    decides();
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    gives_event();
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    assert_int_equal(result()->attempts, 0);
}

static void nothing_to_ask(void **state)
{
    (void)state;
    begin(FETCH);
    jobs__session_free(t.session);
    t.session = new_session(PLAIN, TIMEOUT);
    t.engine = jobs__session_engine(t.session);
    decides();
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_ANSWERED);
    gives_event();
    connects();
    sends_event();
}

/* --- the ask --- */

static void the_ask_keeps_what_verifies_and_matches(void **state)
{
    (void)state;
    begin(ASK);
    struct jobs_event *kind = sealed(43003, JOB, "x"), *job = sealed(43004, OTHER, "x");
    connects();
    asks_for_job();
    gives(kind);
    gives(job);
    gives_forged(t.earlier);
    gives(t.earlier);
    gives(t.earlier);
    gives_json("{}");
    says_eose();
    decides();
    assert_int_equal(jobs__session_found_count(t.session), 1);
    assert_true(jobs_event_same(jobs__session_found(t.session, 0), t.earlier));
    jobs__session_settle(t.session, JOBS_REJECTED, JOBS_NOT_ASKED, "another is there");
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_string_equal(result()->message, "another is there");
    jobs_event_free(kind);
    jobs_event_free(job);
}

static void the_ask_is_refused(void **state)
{
    (void)state;
    static const char *const words[] = {"restricted: no", "error: x", "invalid: filter", "rate-limited: slow down", ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        begin(ASK);
        connects();
        asks_for_job();
        says_closed(words[i]);
        decides();
        assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_REFUSED);
        gives_event();
        if (strncmp(words[i], "rate", 4) == 0)
            waits_at_most(500);
        sends_event();
    }
}

static void the_ask_is_not_answered(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    waits(2000);
    decides();
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_SILENT);
    gives_event();
    sends_event();
    says_eose(); /* too late, and of no consequence */
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void a_dead_relay_holds_up_nobody_and_is_asked_later(void **state)
{
    (void)state;
    begin(ASK);
    dials();
    fails_to_open(JOBS__END_NO_CONNECT, "connection refused");
    decides();
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_SILENT);
    gives_event();
    reconnects();
    asks_for_job();
    gives(t.earlier);
    says_eose();
    decides(); /* the late answer holds a surprise */
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_ANSWERED);
    assert_int_equal(jobs__session_found_count(t.session), 1);
    sends_event(); /* the owner let it pass */
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void a_slow_dial_holds_up_nobody(void **state)
{
    (void)state;
    begin(ASK);
    dials();
    waits(2000);
    decides();
    assert_int_equal(jobs__session_asked(t.session), JOBS__ASK_SILENT);
    listens();
    gives_event();
    accepts();
    asks_for_job();
    says_eose();
    sends_event();
}

static void what_the_ask_found_is_not_sent(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    gives(t.event);
    says_eose();
    decides();
    gives_event_that_may_be_there();
    is_done(JOBS_DUPLICATE, JOBS_CONFIRMED);
    assert_int_equal(result()->attempts, 0);
}

static void the_ask_is_bounded(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    for (int i = 0; i < 70; i++) {
        char content[32];
        snprintf(content, sizeof content, "number %d", i);
        struct jobs_event *event = sealed(43004, JOB, content);
        gives(event);
        jobs_event_free(event);
    }
    waits(2000); /* a flood moves no deadline */
    decides();
    assert_int_equal(jobs__session_found_count(t.session), 64);
}

/* --- every answer after the send --- */

static void sent(int talk)
{
    begin(talk);
    connects();
    sends_event();
}

static void ok_true_is_stored_whatever_it_says(void **state)
{
    (void)state;
    static const char *const words[] = {"", "stored", "invalid: not really", "auth-required: x", "pow: 3>2"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sent(PLAIN);
        says_ok(true, words[i]);
        is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
        assert_string_equal(result()->message, words[i]);
    }
}

static void ok_true_duplicate_was_there_before(void **state)
{
    (void)state;
    static const char *const words[] = {"duplicate:", "duplicate: ", "duplicate: have this event"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sent(READ_BACK);
        says_ok(true, words[i]);
        asks_by_id();
        gives(t.event);
        is_done(JOBS_DUPLICATE, JOBS_CONFIRMED);
    }
}

static void ok_false_duplicate_is_read_back(void **state)
{
    (void)state;
    sent(PLAIN); /* also with --no-read-back */
    says_ok(false, "duplicate: exists");
    asks_by_id();
    gives(t.event);
    is_done(JOBS_DUPLICATE, JOBS_CONFIRMED);
    assert_true(result()->said_stored);

    sent(READ_BACK);
    says_ok(false, "duplicate: exists");
    asks_by_id();
    says_eose();
    is_done(JOBS_UNCLEAR, JOBS_ABSENT);
    assert_true(result()->absent_at_end);
    tells("duplicate: exists");

    sent(READ_BACK);
    says_ok(false, "duplicate: exists");
    asks_by_id();
    says_closed("error: no");
    waits_at_most(500);
    asks_by_id();
    says_closed("invalid: no");
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);

    sent(READ_BACK);
    says_ok(false, "duplicate: exists");
    asks_by_id();
    is_silent_and_asked_anew(5000);
    waits_at_most(5000);
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
}

static void final_refusals(void **state)
{
    (void)state;
    static const char *const words[] = {"invalid: bad signature", "blocked: you",    "pow: 28 bits",
                                        "unsupported: x",         "mute: you",       "no prefix",
                                        "invalid: é\\u0007",      "ERROR: mute: you"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sent(READ_BACK);
        says_ok(false, words[i]);
        is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
        assert_false(result()->denied);
        assert_false(result()->retryable);
        assert_false(result()->said_stored);
        assert_int_equal(result()->attempts, 1);
    }
    tells("mute: you");
    sent(PLAIN);
    says_ok(false, "");
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_string_not_equal(result()->message, "");
}

static void a_kind_that_is_not_admitted_is_no_denial(void **state)
{
    (void)state;
    sent(PLAIN);
    says_ok(false, "restricted: unknown event kind");
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_false(result()->denied);
    tells("restricted: unknown event kind");
    hints("job kinds");
}

static void a_membership_may_come_late(void **state)
{
    (void)state;
    sent(PLAIN);
    says_ok(false, "restricted: not a channel member");
    waits_at_most(500);
    sends_event();
    says_ok(false, "restricted: not a channel member");
    waits_at_most(1500);
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
    assert_int_equal(result()->attempts, 3);
}

static void restricted_for_ever_is_a_denial(void **state)
{
    (void)state;
    sent(PLAIN);
    int64_t began = t.now;
    for (;;) {
        says_ok(false, "restricted: not a channel member");
        if (t.now == began + 3000)
            break;
        waits_at_most(began + 3000 - t.now);
        sends_event();
    }
    assert_true(result()->attempts <= 40);
    asks_by_id(); /* a refused resend: is it there nevertheless? */
    says_closed("restricted: nor that");
    is_done(JOBS_REJECTED, JOBS_READ_REFUSED); /* it never looked at it: there is no doubt */
    assert_true(result()->denied);
    tells("restricted: not a channel member");
}

static void throttled_by_ok(void **state)
{
    (void)state;
    sent(PLAIN);
    says_ok(false, "rate-limited: quota exceeded; retry in 5s");
    waits(5000);
    sends_event();
    says_ok(false, "rate-limited: slow down");
    waits_at_most(500);
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
    assert_int_equal(result()->retry_after, 0);
}

static void a_pause_longer_than_the_time_ends_it_at_once(void **state)
{
    (void)state;
    sent(PLAIN);
    after(1000);
    says_ok(false, "rate-limited: quota exceeded; retry in 52s");
    is_done(JOBS_UNCLEAR, JOBS_NOT_ASKED);
    assert_int_equal(result()->retry_after, 52);
    assert_true(result()->retryable);
    tells("rate-limited: quota exceeded; retry in 52s");
}

static void errors_are_tried_again(void **state)
{
    (void)state;
    static const char *const words[] = {"error: internal server error", "Write error: x", "ERROR: error: x"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sent(PLAIN);
        says_ok(false, words[i]);
        waits_at_most(500);
        sends_event();
        says_ok(true, "duplicate:");
        is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED); /* ours: the first try, or the second */
    }
}

/* An error may have been one of the answer only: from the second on it is asked for first. */
static void errors_again_and_again(void **state)
{
    (void)state;
    sent(PLAIN);
    says_ok(false, "error: try again");
    waits_at_most(500);
    sends_event();
    says_ok(false, "error: try again");
    waits_at_most(1500);
    asks_by_id();
    says_eose();
    sends_event();
    says_ok(false, "error: try again");
    waits_at_most(4000);
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
}

static void a_refused_resend_is_no_proof(void **state)
{
    (void)state;
    for (int there = 0; there < 2; there++) {
        sent(PLAIN);
        says_ok(false, "error: database");
        waits_at_most(500);
        sends_event();
        says_ok(false, "invalid: event timestamp too far from server time");
        asks_by_id();
        if (there)
            gives(t.event);
        else
            says_eose();
        is_done(there ? JOBS_ACCEPTED : JOBS_REJECTED, there ? JOBS_CONFIRMED : JOBS_ABSENT);
        assert_true(result()->refused_for_time == !there);
        assert_true(result()->absent_at_end == !there);
    }
    sent(PLAIN);
    says_ok(false, "error: database");
    waits_at_most(500);
    sends_event();
    says_ok(false, "invalid: no");
    asks_by_id();
    says_closed("restricted: no");
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
    assert_false(result()->denied);
    tells("invalid: no");
}

static void what_an_earlier_process_sent_is_asked_for_first(void **state)
{
    (void)state;
    begin(MAYBE_SENT);
    connects();
    asks_by_id();
    gives(t.event);
    is_done(JOBS_DUPLICATE, JOBS_CONFIRMED);

    begin(MAYBE_SENT);
    connects();
    asks_by_id();
    says_eose();
    sends_event();
    says_ok(false, "invalid: event timestamp too far from server time");
    asks_by_id();
    says_eose();
    is_done(JOBS_REJECTED, JOBS_ABSENT);
    assert_true(result()->refused_for_time);
    assert_true(result()->absent_at_end);

    begin(MAYBE_SENT);
    connects();
    asks_by_id();
    says_closed("restricted: no");
    sends_event();
    says_ok(false, "invalid: event timestamp too far from server time");
    asks_by_id();
    is_silent_and_asked_anew(5000);
    waits_at_most(5000);
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
}

/* Whatever happens in this run, no byte less than before has left. */
static void what_was_sent_is_never_called_unreachable(void **state)
{
    (void)state;
    begin_within(WAS_SENT, 2000); /* no connection */
    for (int i = 0; i < 3; i++) {
        dials();
        fails_to_open(JOBS__END_NO_CONNECT, "Connection refused");
        if (i < 2)
            waits_at_most(2000);
    }
    jobs__session_stop(t.session);
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
    tells("Connection refused");

    begin(WAS_SENT); /* turned away at the door */
    dials();
    refuses_upgrade(401, 0);
    explains("no such member");
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
    tells("no such member");
    assert_false(result()->denied);
    assert_true(result()->retryable);
    assert_non_null(strstr(result()->hint, "operator"));

    begin(WAS_SENT); /* its AUTH refused, twice */
    for (int i = 0; i < 2; i++) {
        if (i > 0)
            reconnects();
        else
            connects();
        asks_by_id();
        says_closed("auth-required: who are you");
        challenges("c");
        sends_auth();
        says_auth_ok(false, "auth-required: not you");
        if (i == 0)
            hangs_up();
    }
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
    tells("auth-required: not you");

    begin_within(WAS_SENT, 3000); /* nobody answers for it; once the same bytes have gone out, nobody does either */
    connects();
    asks_by_id();
    is_silent_and_asked_anew(1500);
    waits_at_most(500);
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void absence_is_of_before_the_send(void **state)
{
    (void)state;
    begin(MAYBE_SENT);
    connects();
    asks_by_id();
    says_eose();
    assert_true(result()->absent_at_end);
    sends_event();
    jobs__session_stop(t.session);
    is_done(JOBS_UNCLEAR, JOBS_NOT_ASKED);
    assert_false(result()->absent_at_end);
}

static void a_refusal_without_our_id(void **state)
{
    (void)state;
    static const char *const ids[] = {"\"\"", "null", "\"placeholder\"",
                                      "\"0000000000000000000000000000000000000000000000000000000000000000\""};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        sent(PLAIN);
        says_format("[\"OK\",%s,false,\"invalid: content too long\"]", ids[i]);
        asks_by_id();
        says_eose();
        is_done(JOBS_REJECTED, JOBS_ABSENT);
        tells("invalid: content too long");
    }
    sent(PLAIN);
    says("[\"OK\",\"\",false,\"invalid: content too long\"]");
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);

    sent(PLAIN);
    says("[\"OK\",\"\",false,\"invalid: content too long\"]");
    asks_by_id();
    is_silent_and_asked_anew(5000);
    waits_at_most(5000);
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);

    sent(PLAIN);
    says("[\"OK\",\"\",false,\"rate-limited: retry in 2s\"]");
    waits(2000);
    sends_event();
}

static void ok_true_without_an_id_proves_nothing(void **state)
{
    (void)state;
    sent(PLAIN);
    says("[\"OK\",\"\",true,\"\"]");
    asks_by_id();
    says_eose();
    sends_event();
    says("[\"OK\",\"\",true,\"\"]");
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
}

static void what_is_none_of_ours_changes_nothing(void **state)
{
    (void)state;
    static const char *const others[] = {
        "[\"OK\",\"" OTHER "\",true,\"\"]",
        "[\"OK\",\"" OTHER "\",false,\"invalid: x\"]",
        "[\"EOSE\",\"jobs-1\"]",
        "[\"CLOSED\",\"other\",\"error: x\"]",
        "[\"EVENT\",\"jobs-1\",{}]",
        "[\"COUNT\",\"x\",{\"count\":3}]",
        "[\"NOTICE\",\"welcome\"]",
        "[\"NOTICE\",\"restricted: x\"]",
        "[\"OK\"]",
        "{\"OK\":true}",
        "[[[[",
        "",
    };
    sent(PLAIN);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        says(others[i]);
        listens();
    }
    says_format("[\"OK\",\"%s\",\"true\",\"\"]", jobs_event_id(t.event)); /* a string is no boolean */
    listens();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);
}

static void an_ok_before_the_send_is_no_answer(void **state)
{
    (void)state;
    begin(ASK);
    connects();
    asks_for_job();
    says_ok(true, "");
    says_eose();
    decides();
    gives_event();
    says_ok(true, "");
    sends_event();
    listens();
}

static void the_first_final_answer_wins(void **state)
{
    (void)state;
    sent(READ_BACK);
    says_ok(true, "");
    says_ok(false, "invalid: x");
    asks_by_id();
    says_ok(false, "invalid: x");
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
    sent(READ_BACK);
    says_ok(false, "invalid: x");
    says_ok(true, "");
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
}

/* --- notices --- */

static void throttled_by_notice(void **state)
{
    (void)state;
    sent(PLAIN);
    says_notice("rate-limited: quota exceeded; retry in 1s");
    waits(1000);
    sends_event();
    says_notice("rate-limited: shared admission unavailable");
    waits_at_most(500);
    sends_event();
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);

    sent(PLAIN);
    says_notice("rate-limited: quota exceeded; retry in 52s");
    is_done(JOBS_UNCLEAR, JOBS_NOT_ASKED);
    assert_int_equal(result()->retry_after, 52);
    tells("quota exceeded");
}

static void refused_by_notice(void **state)
{
    (void)state;
    static const char *const words[] = {"invalid: must be less than 102400 chars", "invalid message: x",
                                        "ERROR: bad msg: too large"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sent(PLAIN);
        says_notice(words[i]);
        asks_by_id();
        says_eose();
        is_done(JOBS_REJECTED, JOBS_ABSENT);
        tells(words[i] + (i == 2 ? 7 : 0));
    }
}

static void notices_are_shown_with_a_failure(void **state)
{
    (void)state;
    begin_within(PLAIN, 3000);
    connects();
    sends_event();
    for (int i = 0; i < 12; i++) {
        char words[32];
        snprintf(words, sizeof words, "maintenance %d", i);
        says_notice(words);
    }
    says("[\"NOTICE\",\"\\u001b[31mred\\nline\"]");
    waits(1500);
    asks_by_id();
    is_silent_and_asked_anew(750);
    jobs__session_stop(t.session);
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
    assert_int_equal(jobs__session_notice_count(t.session), 8);
    assert_string_equal(jobs__session_notice(t.session, 0), "maintenance 5");
    assert_string_equal(jobs__session_notice(t.session, 7), "\\u001b[31mred\\nline");
    tells("maintenance 11");
    tells("\\u001b[31mred\\nline");
    assert_null(strchr(result()->message, '\n'));
    assert_null(strchr(result()->message, '\033'));
}

static void long_words_are_cut(void **state)
{
    (void)state;
    char words[3000];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    memcpy(words, "invalid: ", 9);
    sent(PLAIN);
    says_ok(false, words);
    is_done(JOBS_REJECTED, JOBS_NOT_ASKED);
    assert_true(strlen(result()->message) <= 512 && strlen(result()->message) > 500);
}

/* --- the read-back --- */

static void read_back_of_a_stored_event(void **state)
{
    (void)state;
    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    says_eose();
    is_done(JOBS_ACCEPTED, JOBS_ABSENT);
    assert_true(result()->absent_at_end);

    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    says_closed("restricted: no reading");
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);

    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    says_closed("rate-limited: retry in 99s");
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);

    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    waits(5000);
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);

    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    breaks();
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);

    sent(READ_BACK);
    says_ok(true, "");
    closes(1008, "bye");
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);
}

static void a_forged_read_back_does_not_count(void **state)
{
    (void)state;
    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    gives_forged(t.event);
    says_eose();
    is_done(JOBS_UNCLEAR, JOBS_DIFFERENT);
    assert_true(result()->retryable);

    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    gives_json("{}");
    gives(t.earlier); /* another event is no answer */
    char id_only[128];
    snprintf(id_only, sizeof id_only, "{\"id\":\"%s\"}", jobs_event_id(t.event));
    gives_json(id_only);
    waits(5000);
    is_done(JOBS_UNCLEAR, JOBS_DIFFERENT);

    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    gives_forged(t.event);
    gives(t.event); /* it does hold it */
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);
}

static void a_read_back_that_does_not_end(void **state)
{
    (void)state;
    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    for (int i = 0; i < 3000; i++)
        gives(t.earlier);
    waits(5000);
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);
}

/* --- silence, deadlines, the end --- */

static void silence_is_asked_about(void **state)
{
    (void)state;
    sent(PLAIN);
    waits(10000);
    asks_by_id();
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);

    sent(PLAIN);
    waits(10000);
    asks_by_id();
    says_eose();
    sends_event();
    says_ok(true, "duplicate:");
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);

    sent(PLAIN);
    waits(10000);
    asks_by_id();
    says_ok(true, ""); /* late, but an answer */
    is_done(JOBS_ACCEPTED, JOBS_NOT_ASKED);

    sent(PLAIN);
    waits(10000);
    asks_by_id();
    says_ok(false, "invalid: x"); /* late, and one of how many? */
    asks_by_id();
    says_eose();
    is_done(JOBS_REJECTED, JOBS_ABSENT);
}

static void silence_everywhere(void **state)
{
    (void)state;
    sent(READ_BACK);
    for (unsigned steps = 0;; steps++) {
        struct jobs__step s = step();
        assert_true(steps < 100);
        if (s.want == JOBS__WANT_DONE)
            break;
        if (s.want == JOBS__WANT_WAIT)
            t.now = s.at;
        if (s.want == JOBS__WANT_DIAL)
            accepts();
    }
    assert_true(t.now == START + TIMEOUT);
    is_done(JOBS_UNCLEAR, JOBS_READ_REFUSED);
    assert_true(result()->retryable);
    assert_true(result()->attempts >= 2 && result()->attempts < 10);
}

static void what_came_before_the_deadline_was_looked_at_counts(void **state)
{
    (void)state;
    sent(READ_BACK);
    after(TIMEOUT + 60000); /* stopped for a minute; the answer lies in the socket */
    says_ok(true, "");
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);

    sent(READ_BACK);
    says_ok(true, "");
    asks_by_id();
    after(TIMEOUT + 60000);
    gives(t.event);
    is_done(JOBS_ACCEPTED, JOBS_CONFIRMED);

    sent(READ_BACK);
    after(TIMEOUT);
    is_done(JOBS_UNCLEAR, JOBS_NOT_ASKED);
}

static void stopped_by_the_user(void **state)
{
    (void)state;
    sent(READ_BACK);
    jobs__session_stop(t.session);
    is_done(JOBS_UNCLEAR, JOBS_NOT_ASKED);

    sent(READ_BACK);
    says_ok(true, "thanks");
    asks_by_id();
    jobs__session_stop(t.session);
    is_done(JOBS_ACCEPTED, JOBS_READ_REFUSED);
    tells("thanks");

    begin(ASK);
    jobs__session_stop(t.session);
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    jobs__session_stop(t.session);
    jobs__session_settle(t.session, JOBS_ACCEPTED, JOBS_CONFIRMED, "");
    is_done(JOBS_NOT_REACHED, JOBS_NOT_ASKED);
    jobs__session_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sent_confirmed_done),
        cmocka_unit_test(without_read_back),
        cmocka_unit_test(an_id_in_capitals_is_ours),
        cmocka_unit_test(ask_decide_send),
        cmocka_unit_test(the_owner_may_take_its_time),
        cmocka_unit_test(no_event_ever),
        cmocka_unit_test(nothing_to_ask),
        cmocka_unit_test(the_ask_keeps_what_verifies_and_matches),
        cmocka_unit_test(the_ask_is_refused),
        cmocka_unit_test(the_ask_is_not_answered),
        cmocka_unit_test(a_dead_relay_holds_up_nobody_and_is_asked_later),
        cmocka_unit_test(a_slow_dial_holds_up_nobody),
        cmocka_unit_test(what_the_ask_found_is_not_sent),
        cmocka_unit_test(the_ask_is_bounded),
        cmocka_unit_test(ok_true_is_stored_whatever_it_says),
        cmocka_unit_test(ok_true_duplicate_was_there_before),
        cmocka_unit_test(ok_false_duplicate_is_read_back),
        cmocka_unit_test(final_refusals),
        cmocka_unit_test(a_kind_that_is_not_admitted_is_no_denial),
        cmocka_unit_test(a_membership_may_come_late),
        cmocka_unit_test(restricted_for_ever_is_a_denial),
        cmocka_unit_test(throttled_by_ok),
        cmocka_unit_test(a_pause_longer_than_the_time_ends_it_at_once),
        cmocka_unit_test(errors_are_tried_again),
        cmocka_unit_test(errors_again_and_again),
        cmocka_unit_test(a_refused_resend_is_no_proof),
        cmocka_unit_test(what_an_earlier_process_sent_is_asked_for_first),
        cmocka_unit_test(what_was_sent_is_never_called_unreachable),
        cmocka_unit_test(absence_is_of_before_the_send),
        cmocka_unit_test(a_refusal_without_our_id),
        cmocka_unit_test(ok_true_without_an_id_proves_nothing),
        cmocka_unit_test(what_is_none_of_ours_changes_nothing),
        cmocka_unit_test(an_ok_before_the_send_is_no_answer),
        cmocka_unit_test(the_first_final_answer_wins),
        cmocka_unit_test(throttled_by_notice),
        cmocka_unit_test(refused_by_notice),
        cmocka_unit_test(notices_are_shown_with_a_failure),
        cmocka_unit_test(long_words_are_cut),
        cmocka_unit_test(read_back_of_a_stored_event),
        cmocka_unit_test(a_forged_read_back_does_not_count),
        cmocka_unit_test(a_read_back_that_does_not_end),
        cmocka_unit_test(silence_is_asked_about),
        cmocka_unit_test(silence_everywhere),
        cmocka_unit_test(what_came_before_the_deadline_was_looked_at_counts),
        cmocka_unit_test(stopped_by_the_user),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hang_up();
    return failed;
}
