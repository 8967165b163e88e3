/* test_outbox_facts.c - from a conversation's end to a state, and from states to what may be done. */
#include "outbox_room.h"

#define NOW 1700000000

struct verdict_case {
    const char *name;
    struct jobs__session_result result;
    enum jobs__relay_state before, after;
};

static const struct verdict_case verdicts[] = {
    {"taken and seen",
     {.verdict = JOBS_ACCEPTED, .read_back = JOBS_CONFIRMED},
     JOBS__RELAY_PENDING,
     JOBS__RELAY_CONFIRMED},
    {"there before",
     {.verdict = JOBS_DUPLICATE, .read_back = JOBS_CONFIRMED},
     JOBS__RELAY_PENDING,
     JOBS__RELAY_CONFIRMED},
    {"taken, not asked",
     {.verdict = JOBS_ACCEPTED, .read_back = JOBS_NOT_ASKED},
     JOBS__RELAY_PENDING,
     JOBS__RELAY_ACCEPTED},
    {"taken, reading refused",
     {.verdict = JOBS_ACCEPTED, .read_back = JOBS_READ_REFUSED},
     JOBS__RELAY_PENDING,
     JOBS__RELAY_ACCEPTED},
    {"taken, not found", {.verdict = JOBS_ACCEPTED, .read_back = JOBS_ABSENT}, JOBS__RELAY_PENDING, JOBS__RELAY_UNSEEN},
    {"taken, another found",
     {.verdict = JOBS_UNCLEAR, .read_back = JOBS_DIFFERENT, .said_stored = true},
     JOBS__RELAY_PENDING,
     JOBS__RELAY_UNSEEN},
    {"unseen, now seen",
     {.verdict = JOBS_DUPLICATE, .read_back = JOBS_CONFIRMED},
     JOBS__RELAY_UNSEEN,
     JOBS__RELAY_CONFIRMED},
    {"unseen, not reached", {.verdict = JOBS_NOT_REACHED}, JOBS__RELAY_UNSEEN, JOBS__RELAY_UNSEEN},
    {"unseen, resend refused",
     {.verdict = JOBS_REJECTED, .read_back = JOBS_ABSENT},
     JOBS__RELAY_UNSEEN,
     JOBS__RELAY_UNSEEN},
    {"refused for good", {.verdict = JOBS_REJECTED}, JOBS__RELAY_PENDING, JOBS__RELAY_REJECTED},
    {"refused for its time",
     {.verdict = JOBS_REJECTED, .refused_for_time = true},
     JOBS__RELAY_PENDING,
     JOBS__RELAY_PENDING},
    {"not reached", {.verdict = JOBS_NOT_REACHED}, JOBS__RELAY_PENDING, JOBS__RELAY_PENDING},
    {"no answer", {.verdict = JOBS_UNCLEAR, .read_back = JOBS_READ_REFUSED}, JOBS__RELAY_PENDING, JOBS__RELAY_PENDING},
    {"throttled to the end",
     {.verdict = JOBS_UNCLEAR, .retryable = true, .retry_after = 9},
     JOBS__RELAY_PENDING,
     JOBS__RELAY_PENDING},
};

static void verdicts_become_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        struct jobs__fact fact = {.state = verdicts[i].before};
        fact.unseen_since = fact.state == JOBS__RELAY_UNSEEN ? NOW - 100 : 0;
        jobs__fact_update(&fact, &verdicts[i].result, NOW, 1);
        if (fact.state != verdicts[i].after)
            fail_msg("%s: %s", verdicts[i].name, jobs__relay_state_name(fact.state));
        assert_true((fact.unseen_since != 0) == (fact.state == JOBS__RELAY_UNSEEN));
    }
}

static void times_and_counts(void **state)
{
    (void)state;
    struct jobs__fact fact = {.attempts = 3, .last_send = 5};
    struct jobs__session_result result = {.verdict = JOBS_UNCLEAR};
    jobs__fact_update(&fact, &result, NOW, 100000);
    assert_int_equal(fact.last_send, 5); /* nothing was sent */
    assert_int_equal(fact.absent_at, 0);
    result.attempts = 2;
    result.last_sent = 90000;
    result.absent_at_end = true;
    result.said_stored = true;
    jobs__fact_update(&fact, &result, NOW, 100000);
    assert_int_equal(fact.last_send, NOW - 10);
    assert_int_equal(fact.attempts, 5);
    assert_int_equal(fact.absent_at, NOW);
    assert_true(fact.said_stored);
    result.said_stored = false;
    jobs__fact_update(&fact, &result, NOW, 100000);
    assert_true(fact.said_stored); /* once is for ever */
}

static struct jobs__entry *proven(int64_t created_at)
{
    struct jobs__entry *entry = room_entry(JOB, "done", NULL, created_at);
    jobs__entry_fact(entry, URL_B, true);
    for (size_t i = 0; i < 2; i++) {
        entry->facts[i].last_send = NOW - 100;
        entry->facts[i].absent_at = NOW;
    }
    entry->facts[0].refused_for_time = true;
    return entry;
}

/* Only the whole proof lets an event be signed again; each missing piece alone forbids it. */
static void signing_again_needs_every_piece(void **state)
{
    (void)state;
    struct jobs__entry *entry = proven(NOW - 5000);
    assert_true(jobs__entry_may_sign_again(entry, NOW));
    jobs__entry_free(entry);
#define WITHOUT(change)                                                                                                \
    do {                                                                                                               \
        entry = proven(NOW - 5000);                                                                                    \
        change;                                                                                                        \
        assert_false(jobs__entry_may_sign_again(entry, NOW));                                                          \
        jobs__entry_free(entry);                                                                                       \
    } while (0)
    WITHOUT(entry->facts[0].refused_for_time = false);
    WITHOUT(entry->facts[1].said_stored = true);
    WITHOUT(entry->facts[1].absent_at = 0);
    WITHOUT(entry->facts[1].last_send = NOW - 59);
    WITHOUT(entry->facts[1].last_send = NOW + 4000); /* the clock was set back */
    WITHOUT(entry->facts[1].absent_at = NOW - 70);   /* asked too early after the send */
    WITHOUT(entry->facts[1].state = JOBS__RELAY_CONFIRMED);
    WITHOUT(memcpy(entry->superseded_by, JOB, 65));
    WITHOUT(jobs_event_free(entry->event); entry->event = NULL);
#undef WITHOUT
    /* one relay never got it: that is no reason against */
    entry = proven(NOW - 5000);
    entry->facts[1].last_send = 0;
    assert_true(jobs__entry_may_sign_again(entry, NOW));
    jobs__entry_free(entry);
}

/* A wrong clock is not mended by signing again and again. */
static void a_skewed_clock_does_not_pile_up_events(void **state)
{
    (void)state;
    struct jobs__entry *entry = proven(NOW - 110);
    assert_true(jobs__entry_may_sign_again(entry, NOW)); /* the first time it may have been another clock */
    memcpy(entry->replaces, JOB, 65);
    assert_false(jobs__entry_may_sign_again(entry, NOW));
    assert_true(jobs__fact_is_stale(entry, &entry->facts[0], NOW));
    assert_false(jobs__fact_is_stale(entry, &entry->facts[0], NOW + 900)); /* its own bytes may be in time by now */
    entry->facts[0].absent_at = entry->facts[1].absent_at = NOW + 4000;
    assert_true(jobs__entry_may_sign_again(entry, NOW + 4000));
    jobs__entry_free(entry);
}

static void a_refusal_for_its_time_waits_for_another_relay(void **state)
{
    (void)state;
    struct jobs__entry *entry = proven(NOW - 5000);
    jobs__entry_settle(entry);
    assert_int_equal(entry->facts[0].state, JOBS__RELAY_PENDING);
    assert_int_equal(jobs__entry_state(entry), JOBS_ENTRY_PENDING);
    entry->facts[1].state = JOBS__RELAY_CONFIRMED;
    jobs__entry_settle(entry);
    assert_int_equal(entry->facts[0].state, JOBS__RELAY_REJECTED);
    assert_int_equal(jobs__entry_state(entry), JOBS_ENTRY_SENT);
    jobs__entry_free(entry);
}

static void states_of_an_entry(void **state)
{
    (void)state;
    static const struct {
        enum jobs__relay_state a, b;
        enum jobs_entry_state entry;
    } cases[] = {
        {JOBS__RELAY_CONFIRMED, JOBS__RELAY_PENDING, JOBS_ENTRY_PENDING},
        {JOBS__RELAY_CONFIRMED, JOBS__RELAY_UNSEEN, JOBS_ENTRY_PENDING},
        {JOBS__RELAY_CONFIRMED, JOBS__RELAY_ACCEPTED, JOBS_ENTRY_SENT},
        {JOBS__RELAY_ACCEPTED, JOBS__RELAY_REJECTED, JOBS_ENTRY_SENT},
        {JOBS__RELAY_REJECTED, JOBS__RELAY_REJECTED, JOBS_ENTRY_REJECTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct jobs__entry *entry = room_entry(JOB, "done", NULL, NOW);
        jobs__entry_fact(entry, URL_B, true)->state = cases[i].b;
        entry->facts[0].state = cases[i].a;
        assert_int_equal(jobs__entry_state(entry), cases[i].entry);
        jobs__entry_free(entry);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_open, room_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(verdicts_become_states),
        TEST(times_and_counts),
        TEST(signing_again_needs_every_piece),
        TEST(a_skewed_clock_does_not_pile_up_events),
        TEST(a_refusal_for_its_time_waits_for_another_relay),
        TEST(states_of_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
