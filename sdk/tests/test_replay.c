/* test_replay.c - the replaying engine by transcript: what it sends in which order, and what it makes of every answer.
 * No socket, no clock, no thread: time is a number, the ring is filled by hand.
 */
#include "support.h"

#include "../replay_line.h"

#include <stdio.h>
#include <stdlib.h>

struct talk {
    struct jobs__ring *ring;
    struct jobs__replay_line *line;
    struct jobs__engine *engine;
    int64_t now;
    size_t count;
    char sent[8192]; /* the last frame */
};

static int sign(void *context, const char *url, const char *challenge, const char **json, size_t *len, char id[65])
{
    (void)context;
    assert_string_equal(url, "ws://relay");
    assert_true(challenge[0] != '\0');
    *json = "{\"auth\":1}";
    *len = 10;
    memset(id, 'a', 64);
    id[64] = '\0';
    return JOBS_OK;
}

static const char *id_of(unsigned n)
{
    static char id[65];
    snprintf(id, sizeof id, "%064x", n + 1);
    return id;
}

static void begin_with(struct talk *t, size_t events, struct jobs__replay_line_options options)
{
    memset(t, 0, sizeof *t);
    t->now = 1000;
    t->count = events;
    options.auth_url = "ws://relay";
    options.start = t->now;
    options.timeout = options.timeout > 0 ? options.timeout : 30000;
    options.connect_timeout = 15000;
    assert_int_equal(jobs__ring_new(&t->ring), JOBS_OK);
    for (unsigned i = 0; i < events; i++) {
        char json[128];
        struct jobs__slot *slot = jobs__ring_claim(t->ring);
        slot->line = i + 1;
        int len = snprintf(json, sizeof json, "{\"id\":\"%s\"}", id_of(i));
        assert_int_equal(jobs__slot_event(slot, id_of(i), json, (size_t)len), JOBS_OK);
        jobs__ring_fill(t->ring);
    }
    jobs__ring_end(t->ring);
    assert_int_equal(jobs__replay_line_new(&t->line, t->ring, &options), JOBS_OK);
    t->engine = &t->line->engine;
}

static struct jobs__step next(struct talk *t)
{
    struct jobs__step step = t->engine->ops->next(t->engine, t->now);
    if (step.want == JOBS__WANT_SEND)
        snprintf(t->sent, sizeof t->sent, "%.*s", (int)step.len, step.bytes);
    return step;
}

static void expect_want(struct talk *t, enum jobs__want want)
{
    struct jobs__step step = next(t);
    if (step.want != want)
        fail_msg("wants %d, not %d%s%s", (int)step.want, (int)want, step.want == JOBS__WANT_SEND ? ": " : "",
                 step.want == JOBS__WANT_SEND ? t->sent : "");
}

static void dial(struct talk *t)
{
    const struct jobs__opened opened = {0};
    for (int i = 0; i < 3; i++) {
        struct jobs__step step = next(t);
        if (step.want == JOBS__WANT_DIAL) {
            t->engine->ops->opened(t->engine, t->now, &opened);
            return;
        }
        if (step.want == JOBS__WANT_WAIT)
            t->now = step.at;
    }
    fail_msg("does not dial");
}

static void begin(struct talk *t, size_t events)
{
    begin_with(t, events, (struct jobs__replay_line_options){0});
    dial(t);
}

static void expect_event(struct talk *t, unsigned n)
{
    char frame[160];
    expect_want(t, JOBS__WANT_SEND);
    snprintf(frame, sizeof frame, "[\"EVENT\",{\"id\":\"%s\"}]", id_of(n));
    assert_string_equal(t->sent, frame);
}

static void expect_ask(struct talk *t, unsigned number, unsigned first, size_t count)
{
    char frame[160];
    expect_want(t, JOBS__WANT_SEND);
    snprintf(frame, sizeof frame, "[\"REQ\",\"replay-%u\",{\"ids\":[\"%s\"", number, id_of(first));
    assert_memory_equal(t->sent, frame, strlen(frame));
    snprintf(frame, sizeof frame, "],\"limit\":%zu}]", count);
    assert_non_null(strstr(t->sent, frame));
}

static void hear(struct talk *t, const char *text)
{
    t->engine->ops->frame(t->engine, t->now, text, strlen(text));
}

static void hear_ok(struct talk *t, unsigned n, bool accepted, const char *words)
{
    char frame[256];
    snprintf(frame, sizeof frame, "[\"OK\",\"%s\",%s,\"%s\"]", id_of(n), accepted ? "true" : "false", words);
    hear(t, frame);
}

static void hear_eose(struct talk *t, unsigned number)
{
    char frame[64];
    snprintf(frame, sizeof frame, "[\"EOSE\",\"replay-%u\"]", number);
    hear(t, frame);
    expect_want(t, JOBS__WANT_SEND);
    assert_memory_equal(t->sent, "[\"CLOSE\"", 8);
}

static void lose(struct talk *t, int code)
{
    const struct jobs__closed closed = {
        .ending = code > 0 ? JOBS__END_CLOSED : JOBS__END_BROKEN, .code = code, .text = "gone", .len = 4};
    t->engine->ops->closed(t->engine, t->now, &closed);
}

/* With it all is decided: nobody closes a subscription on a line that ends. */
static void hear_last_eose(struct talk *t, unsigned number)
{
    char frame[64];
    snprintf(frame, sizeof frame, "[\"EOSE\",\"replay-%u\"]", number);
    hear(t, frame);
    expect_want(t, JOBS__WANT_DONE);
}

static void expect_verdict(struct talk *t, unsigned n, enum jobs__item_verdict verdict, const char *message)
{
    const struct jobs__item *item = jobs__replay_item(t->line, n);
    assert_int_equal(item->state, JOBS__ITEM_DONE);
    assert_int_equal(item->verdict, verdict);
    assert_string_equal(item->message != NULL ? item->message : "", message);
}

static void finish(struct talk *t)
{
    for (size_t i = 0; i < t->count; i++)
        jobs__ring_empty(t->ring);
    jobs__replay_line_free(t->line);
    jobs__ring_free(t->ring);
}

/* --- */

static void answers_are_matched_in_any_order(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, 4);
    for (unsigned i = 0; i < 4; i++)
        expect_event(&t, i);
    expect_want(&t, JOBS__WANT_WAIT);
    hear_ok(&t, 2, true, "");
    hear_ok(&t, 0, true, "duplicate: have it");
    hear_ok(&t, 3, true, "");
    hear_ok(&t, 3, false, "invalid: a second answer to what is decided");
    expect_want(&t, JOBS__WANT_WAIT);
    hear_ok(&t, 1, true, "thanks");
    expect_want(&t, JOBS__WANT_DONE);
    expect_verdict(&t, 0, JOBS__ITEM_DUPLICATE, "duplicate: have it");
    expect_verdict(&t, 1, JOBS__ITEM_ACCEPTED, "thanks");
    expect_verdict(&t, 3, JOBS__ITEM_ACCEPTED, "");
    finish(&t);
}

static void an_ok_for_what_was_never_sent_decides_nothing(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 2, (struct jobs__replay_line_options){.window = 1});
    dial(&t);
    expect_event(&t, 0);
    hear_ok(&t, 1, true, "");
    hear(&t, "[\"OK\",\"\",true,\"\"]");
    hear_ok(&t, 0, true, "");
    expect_event(&t, 1);
    hear_ok(&t, 1, true, "");
    expect_want(&t, JOBS__WANT_DONE);
    finish(&t);
}

static void a_refusal_is_asked_about_before_it_is_said(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, 2);
    expect_event(&t, 0);
    expect_event(&t, 1);
    hear_ok(&t, 0, false, "invalid: no");
    hear_ok(&t, 1, true, "");
    expect_ask(&t, 1, 0, 1);
    hear_last_eose(&t, 1);
    expect_verdict(&t, 0, JOBS__ITEM_REJECTED, "invalid: no");
    finish(&t);
}

static void a_named_refusal_stands_when_questions_are_refused_and_a_nameless_one_does_not(void **state)
{
    (void)state;
    static const struct {
        const char *frame;
        enum jobs__item_verdict verdict;
    } rows[] = {{NULL, JOBS__ITEM_REJECTED}, {"[\"OK\",\"\",false,\"invalid: no\"]", JOBS__ITEM_UNKNOWN}};
    for (size_t i = 0; i < 2; i++) {
        struct talk t;
        begin(&t, 1);
        expect_event(&t, 0);
        if (rows[i].frame == NULL)
            hear_ok(&t, 0, false, "invalid: no");
        else
            hear(&t, rows[i].frame);
        expect_ask(&t, 1, 0, 1);
        hear(&t, "[\"CLOSED\",\"replay-1\",\"restricted: no questions\"]");
        expect_want(&t, JOBS__WANT_DONE);
        expect_verdict(&t, 0, rows[i].verdict, "invalid: no");
        finish(&t);
    }
}

static void a_nameless_refusal_makes_them_go_one_by_one(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, 4);
    for (unsigned i = 0; i < 4; i++)
        expect_event(&t, i);
    hear_ok(&t, 0, true, "");
    hear(&t, "[\"OK\",\"\",false,\"invalid: not that\"]");
    hear_ok(&t, 3, true, "");
    struct jobs__step step = next(&t); /* 1 or 2? and is the other still on its way? */
    assert_int_equal(step.want, JOBS__WANT_WAIT);
    t.now = step.at;
    expect_ask(&t, 1, 1, 2);
    hear_eose(&t, 1);
    expect_event(&t, 1);
    expect_want(&t, JOBS__WANT_WAIT); /* alone */
    hear(&t, "[\"NOTICE\",\"invalid: not that\"]");
    expect_ask(&t, 2, 1, 1);
    expect_event(&t, 2);
    hear(&t, "[\"EOSE\",\"replay-2\"]");
    hear_ok(&t, 2, true, "");
    expect_want(&t, JOBS__WANT_SEND); /* CLOSE */
    expect_event(&t, 1);              /* that may have been the late answer to 2: once more */
    hear(&t, "[\"NOTICE\",\"invalid: not that\"]");
    expect_ask(&t, 3, 1, 1);
    hear_last_eose(&t, 3);
    expect_verdict(&t, 1, JOBS__ITEM_REJECTED, "invalid: not that");
    expect_verdict(&t, 2, JOBS__ITEM_ACCEPTED, "");
    finish(&t);
}

/* Two were refused, and both answers came without a name, one of them so late that a good event was out alone. */
static void a_late_nameless_refusal_is_not_laid_at_anothers_door(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_event(&t, i);
    hear(&t, "[\"OK\",\"\",false,\"invalid: 1\"]");
    struct jobs__step step = next(&t);
    assert_int_equal(step.want, JOBS__WANT_WAIT);
    t.now = step.at;
    expect_ask(&t, 1, 0, 3);
    hear_eose(&t, 1);
    expect_event(&t, 0);
    hear(&t, "[\"OK\",\"\",false,\"invalid: 2\"]"); /* of 2, from the first time */
    expect_ask(&t, 2, 0, 1);
    expect_event(&t, 1);
    hear(&t, "[\"OK\",\"\",false,\"invalid: 1\"]");
    hear(&t, "[\"EOSE\",\"replay-2\"]");
    expect_want(&t, JOBS__WANT_SEND); /* CLOSE */
    expect_ask(&t, 3, 1, 1);
    expect_event(&t, 0);
    hear_ok(&t, 0, true, "");
    hear_eose(&t, 3);
    expect_event(&t, 1);
    hear(&t, "[\"OK\",\"\",false,\"invalid: 1\"]");
    expect_ask(&t, 4, 1, 1);
    expect_event(&t, 2);
    hear(&t, "[\"OK\",\"\",false,\"invalid: 2\"]");
    hear_eose(&t, 4);
    expect_ask(&t, 5, 2, 1);
    hear_last_eose(&t, 5);
    expect_verdict(&t, 0, JOBS__ITEM_ACCEPTED, "");
    expect_verdict(&t, 1, JOBS__ITEM_REJECTED, "invalid: 1");
    expect_verdict(&t, 2, JOBS__ITEM_REJECTED, "invalid: 2");
    finish(&t);
}

static void throttling_shrinks_the_window_and_honours_the_longest_wait(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 8, (struct jobs__replay_line_options){.window = 8});
    dial(&t);
    for (unsigned i = 0; i < 8; i++)
        expect_event(&t, i);
    hear_ok(&t, 0, true, "");
    hear(&t, "[\"NOTICE\",\"rate-limited: quota exceeded; retry in 5s\"]");
    hear(&t, "[\"NOTICE\",\"rate-limited: quota exceeded; retry in 52s\"]");
    hear(&t, "[\"NOTICE\",\"rate-limited: quota exceeded; retry in 7s\"]");
    assert_int_equal(t.line->window, 4); /* one burst, one halving */
    t.now += 51000;
    expect_want(&t, JOBS__WANT_WAIT); /* longer than the timeout: it is the relay's wish */
    t.now += 1000;
    expect_ask(&t, 1, 1, 7);
    hear_eose(&t, 1);
    for (unsigned i = 1; i < 5; i++)
        expect_event(&t, i);
    expect_want(&t, JOBS__WANT_WAIT);
    for (unsigned i = 1; i < 5; i++)
        hear_ok(&t, i, true, "");
    assert_int_equal(t.line->window, 5);
    finish(&t);
}

static void what_was_out_when_the_line_broke_is_asked_for_in_one_question(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, 120);
    for (unsigned i = 0; i < 120; i++)
        expect_event(&t, i);
    hear_ok(&t, 0, true, "");
    lose(&t, 0);
    dial(&t);
    expect_ask(&t, 1, 1, 100);
    hear_eose(&t, 1);
    expect_ask(&t, 2, 101, 19);
    for (unsigned i = 1; i < 101; i++)
        expect_event(&t, i);
    hear(&t, "[\"EOSE\",\"replay-2\"]");
    expect_want(&t, JOBS__WANT_SEND); /* CLOSE */
    expect_event(&t, 101);
    finish(&t);
}

static void auth_on_demand_resends_what_was_refused(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 2, (struct jobs__replay_line_options){.sign_auth = sign});
    dial(&t);
    expect_event(&t, 0);
    expect_event(&t, 1);
    hear(&t, "[\"AUTH\",\"one\"]");
    expect_want(&t, JOBS__WANT_SEND);
    assert_string_equal(t.sent, "[\"AUTH\",{\"auth\":1}]");
    hear_ok(&t, 0, false, "auth-required: please");
    hear_ok(&t, 1, false, "auth-required: please");
    expect_want(&t, JOBS__WANT_WAIT);
    hear(&t, "[\"OK\",\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",true,\"\"]");
    expect_event(&t, 0);
    expect_event(&t, 1);
    hear_ok(&t, 0, true, "");
    hear_ok(&t, 1, false, "auth-required: you still may not"); /* after a good AUTH: final */
    expect_ask(&t, 1, 1, 1);
    hear_last_eose(&t, 1);
    expect_verdict(&t, 0, JOBS__ITEM_ACCEPTED, "auth-required: please");
    expect_verdict(&t, 1, JOBS__ITEM_REJECTED, "auth-required: you still may not");
    finish(&t);
}

static void a_second_connection_to_one_that_wants_auth_begins_with_one_event(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 3, (struct jobs__replay_line_options){.sign_auth = sign});
    dial(&t);
    for (unsigned i = 0; i < 3; i++)
        expect_event(&t, i);
    hear(&t, "[\"AUTH\",\"one\"]");
    for (unsigned i = 0; i < 3; i++)
        hear_ok(&t, i, false, "auth-required: please");
    lose(&t, 0);
    dial(&t);
    expect_event(&t, 0);
    expect_want(&t, JOBS__WANT_WAIT);
    finish(&t);
}

static void silence_ends_with_unknown_at_the_timeout(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 2, (struct jobs__replay_line_options){.timeout = 3000});
    dial(&t);
    int64_t begin_at = t.now;
    for (int i = 0; i < 200; i++) {
        struct jobs__step step = next(&t);
        if (step.want == JOBS__WANT_DONE)
            break;
        if (step.want == JOBS__WANT_DIAL)
            t.engine->ops->opened(t.engine, t.now, &(struct jobs__opened){0});
        if (step.want == JOBS__WANT_WAIT && step.at > t.now)
            t.now = step.at;
    }
    expect_want(&t, JOBS__WANT_DONE);
    expect_verdict(&t, 0, JOBS__ITEM_UNKNOWN, "the relay does not answer");
    assert_in_range(t.now - begin_at, 3000, 3100);
    finish(&t);
}

/* Plays a relay that has no event it is asked for, and lets `per_line` events a connection through before it hangs up;
 * 0: it keeps none, answers none, and stays. Returns how long it took, or fails. */
static int64_t play(struct talk *t, unsigned per_line)
{
    int64_t begin_at = t->now;
    unsigned heard = 0;
    for (int i = 0; i < 20000; i++) {
        struct jobs__step step = next(t);
        char answer[128];
        if (step.want == JOBS__WANT_DONE)
            return t->now - begin_at;
        if (step.want == JOBS__WANT_DIAL) {
            heard = 0;
            t->engine->ops->opened(t->engine, t->now, &(struct jobs__opened){0});
        } else if (step.want == JOBS__WANT_WAIT && step.at > t->now) {
            t->now = step.at;
        } else if (step.want == JOBS__WANT_SEND && strncmp(t->sent, "[\"REQ\",\"", 8) == 0) {
            snprintf(answer, sizeof answer, "[\"EOSE\",\"%.*s\"]", (int)strcspn(t->sent + 8, "\""), t->sent + 8);
            hear(t, answer);
        } else if (step.want == JOBS__WANT_SEND && per_line > 0 && strncmp(t->sent, "[\"EVENT\"", 8) == 0) {
            snprintf(answer, sizeof answer, "[\"OK\",\"%.64s\",true,\"\"]", strstr(t->sent, "\"id\":\"") + 6);
            if (heard++ < per_line)
                hear(t, answer);
            else if (next(t).want == JOBS__WANT_WAIT) /* it has sent all that it may */
                lose(t, 0);
        }
    }
    fail_msg("it never ends");
    return 0;
}

/* That it answers questions, and says each time that they are not there, keeps nobody waiting for ever. */
static void events_that_are_swallowed_are_given_up(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 300, (struct jobs__replay_line_options){.timeout = 3000});
    dial(&t);
    assert_in_range(play(&t, 0), 3000, 30000);
    expect_verdict(&t, 0, JOBS__ITEM_UNKNOWN, "sent several times, and neither answered nor stored");
    expect_verdict(&t, 299, JOBS__ITEM_UNKNOWN, "the relay answers no event and keeps none");
    finish(&t);
}

/* What was out when a line broke that others had come through on is not what broke it. */
static void lines_that_break_while_events_get_through_cost_no_event_its_tries(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, 200);
    play(&t, 5);
    for (unsigned i = 0; i < 200; i++)
        expect_verdict(&t, i, JOBS__ITEM_ACCEPTED, "");
    finish(&t);
}

static void a_slow_relay_that_answers_in_order_is_left_in_peace(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 100, (struct jobs__replay_line_options){.window = 100});
    dial(&t);
    for (unsigned i = 0; i < 100; i++)
        expect_event(&t, i);
    for (unsigned i = 0; i < 100; i++) { /* the last one waits 50 s for its answer */
        expect_want(&t, JOBS__WANT_WAIT);
        t.now += 500;
        hear_ok(&t, i, true, "");
    }
    expect_want(&t, JOBS__WANT_DONE);
    assert_int_equal(t.line->asked, 0);
    finish(&t);
}

static void a_lost_answer_among_others_is_asked_for(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 200, (struct jobs__replay_line_options){.window = 4});
    dial(&t);
    for (unsigned i = 0; i < 4; i++)
        expect_event(&t, i);
    for (unsigned i = 1; i < 150 && t.line->asked == 0; i++) {
        t.now += 200;
        hear_ok(&t, i, true, "");
        expect_want(&t, JOBS__WANT_SEND);
    }
    assert_memory_equal(t.sent, "[\"REQ\",\"replay-1\",{\"ids\":[\"", 27);
    assert_memory_equal(t.sent + 27, id_of(0), 64);
    finish(&t);
}

static void a_closing_code_that_refuses_is_about_the_one_that_is_out(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 2, (struct jobs__replay_line_options){.window = 1});
    dial(&t);
    expect_event(&t, 0);
    lose(&t, 1009);
    dial(&t);
    expect_ask(&t, 1, 0, 1);
    hear_eose(&t, 1);
    expect_event(&t, 1);
    expect_verdict(&t, 0, JOBS__ITEM_REJECTED, "gone");
    finish(&t);
}

static void the_rate_is_kept(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 100, (struct jobs__replay_line_options){.rate = 20});
    dial(&t);
    unsigned sent = 0;
    int64_t end = t.now + 2000;
    while (t.now < end) {
        struct jobs__step step = next(&t);
        if (step.want == JOBS__WANT_SEND)
            hear_ok(&t, sent++, true, "");
        else
            t.now = step.at < end ? step.at : end;
    }
    assert_in_range(sent, 38, 41);
    finish(&t);
}

static void asking_only_tells_missing_from_not_told(void **state)
{
    (void)state;
    struct talk t;
    begin_with(&t, 3, (struct jobs__replay_line_options){.ask_only = true});
    dial(&t);
    expect_ask(&t, 1, 0, 3);
    hear(&t, "[\"EVENT\",\"replay-1\",{\"id\":\"0000000000000000000000000000000000000000000000000000000000000002\"}]");
    hear_last_eose(&t, 1);
    expect_verdict(&t, 0, JOBS__ITEM_ABSENT, "");
    expect_verdict(&t, 1, JOBS__ITEM_DIFFERENT, "");
    finish(&t);
    begin_with(&t, 1, (struct jobs__replay_line_options){.ask_only = true});
    dial(&t);
    expect_ask(&t, 1, 0, 1);
    hear(&t, "[\"CLOSED\",\"replay-1\",\"blocked: no\"]");
    expect_verdict(&t, 0, JOBS__ITEM_UNKNOWN, "blocked: no");
    finish(&t);
}

static void garbage_decides_nothing(void **state)
{
    (void)state;
    static const char *const frames[] = {
        "",
        "[]",
        "null",
        "[\"OK\"]",
        "[\"OK\",5,true,\"\"]",
        "[\"OK\",\"0000000000000000000000000000000000000000000000000000000000000001\",\"true\",\"\"]",
        "[\"EOSE\",\"replay-1\"]",
        "[\"EVENT\",\"replay-1\",{}]",
        "[\"CLOSED\",\"replay-9\",\"error: what\"]",
        "[\"NOTICE\",\"hello\"]",
        "[\"AUTH\",\"challenge\"]"};
    struct talk t;
    begin(&t, 1);
    expect_event(&t, 0);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        hear(&t, frames[i]);
    expect_want(&t, JOBS__WANT_WAIT);
    assert_int_equal(jobs__replay_item(t.line, 0)->state, JOBS__ITEM_OUT);
    finish(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_matched_in_any_order),
        cmocka_unit_test(an_ok_for_what_was_never_sent_decides_nothing),
        cmocka_unit_test(a_refusal_is_asked_about_before_it_is_said),
        cmocka_unit_test(a_named_refusal_stands_when_questions_are_refused_and_a_nameless_one_does_not),
        cmocka_unit_test(a_nameless_refusal_makes_them_go_one_by_one),
        cmocka_unit_test(a_late_nameless_refusal_is_not_laid_at_anothers_door),
        cmocka_unit_test(throttling_shrinks_the_window_and_honours_the_longest_wait),
        cmocka_unit_test(what_was_out_when_the_line_broke_is_asked_for_in_one_question),
        cmocka_unit_test(auth_on_demand_resends_what_was_refused),
        cmocka_unit_test(a_second_connection_to_one_that_wants_auth_begins_with_one_event),
        cmocka_unit_test(silence_ends_with_unknown_at_the_timeout),
        cmocka_unit_test(events_that_are_swallowed_are_given_up),
        cmocka_unit_test(lines_that_break_while_events_get_through_cost_no_event_its_tries),
        cmocka_unit_test(a_slow_relay_that_answers_in_order_is_left_in_peace),
        cmocka_unit_test(a_lost_answer_among_others_is_asked_for),
        cmocka_unit_test(a_closing_code_that_refuses_is_about_the_one_that_is_out),
        cmocka_unit_test(the_rate_is_kept),
        cmocka_unit_test(asking_only_tells_missing_from_not_told),
        cmocka_unit_test(garbage_decides_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
