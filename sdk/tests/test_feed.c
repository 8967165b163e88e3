/* test_feed.c - talks with relays that serve, cap, refuse, lie, flood, fall silent and drop the line. */
#include "feed_transcript.h"

#define T TODAY

/* --- pages --- */

static void an_empty_relay(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    assert_string_equal(strchr(t.request + 2, '{'), "{\"kinds\":[43004],\"limit\":4}]");
    says_eose();
    is_complete();
    assert_int_equal(t.rests, 1);
}

/* The second in which a page ends is asked for again; only an empty page is the end. */
static void pages_overlap_by_a_second(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    for (unsigned i = 0; i < 4; i++)
        gives(i, T - 10 - (i == 3 ? 1 : 0));
    says_eose();
    asks_page(0, T - 11, 4);
    gives(3, T - 11);
    gives(4, T - 11);
    gives(5, T - 20);
    says_eose();
    asks_page(0, T - 20, 4);
    gives(5, T - 20);
    says_eose();
    asks_page(0, T - 21, 4);
    says_eose();
    is_complete();
    was_given(6);
}

static void a_second_that_holds_more_than_a_page(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    for (unsigned i = 0; i < 4; i++)
        gives(i, T - 5);
    says_eose();
    asks_page(0, T - 5, 4);
    for (unsigned i = 0; i < 4; i++)
        gives(i, T - 5);
    says_eose();
    asks_page(0, T - 5, 16);
    for (unsigned i = 0; i < 7; i++)
        gives(i, T - 5);
    gives(7, T - 6);
    says_eose();
    asks_page(0, T - 6, 4);
    gives(7, T - 6);
    says_eose();
    asks_page(0, T - 7, 4);
    says_eose();
    is_complete();
    was_given(8);
}

/* It gives two at once, whatever is asked for; no second holds more. */
static void a_cap_below_what_is_asked(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    gives(1, T - 1);
    gives(2, T - 2);
    says_eose();
    asks_page(0, T - 2, 4);
    gives(2, T - 2);
    gives(3, T - 3);
    says_eose();
    asks_page(0, T - 3, 4);
    gives(3, T - 3);
    says_eose();
    asks_page(0, T - 4, 4);
    says_eose();
    is_complete();
    was_given(3);
}

static void crowded_second(void)
{
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    gives(1, T - 1);
    gives(2, T - 1);
    says_eose();
    asks_page(0, T - 1, 4);
    gives(1, T - 1);
    gives(2, T - 1);
    says_eose();
    asks_page(0, T - 2, 4);
    gives(4, T - 9);
    says_eose();
    asks_page(0, T - 1, 4); /* why did it not show that one before? */
    gives(1, T - 1);
    gives(2, T - 1);
}

/* … and here one does: what it holds back cannot be had, and that is said. */
static void a_cap_that_cuts_a_second(void **state)
{
    (void)state;
    crowded_second();
    says_eose();
    asks_page(0, T - 2, 4);
    gives(4, T - 9);
    says_eose();
    asks_page(0, T - 9, 4);
    gives(4, T - 9);
    says_eose();
    asks_page(0, T - 10, 4);
    says_eose();
    fails(JOBS_REFUSED, "holds events back");
    was_given(3);
}

/* Nothing older follows that could tell: the ids do, or that a larger question brings no more. */
static void a_cap_that_cuts_the_oldest_second(void **state)
{
    (void)state;
    static const struct {
        unsigned cap, first, step; /* ids: first, first + step, … */
        bool to_the_end, selected, cut;
    } relays[] = {
        {120, 0, 1, false, false, true},     /* the lowest ids, in order, and none of the higher half */
        {120, 0, 1, true, false, false},     /* … up to the highest: it is whole */
        {128, 999, -1U, false, false, true}, /* in no order, and no more than fill the first page */
        {120, 0, 1, false, true, false},     /* those with the lowest ids are what was asked for */
    };
    for (size_t i = 0; i < sizeof relays / sizeof *relays; i++) {
        struct jobs__feed_options options = feed_options(LISTS);
        options.page = 128;
        options.selected = relays[i].selected;
        begin_with(&options);
        connects();
        struct jobs__step s = step();
        for (unsigned pages = 0; pages < 6 && read_request(&s); pages++, s = step()) {
            bool shows = t.until == 0 || t.until >= T - 5;
            for (unsigned n = 0; n < relays[i].cap && shows; n++)
                gives(relays[i].first + n * relays[i].step, T - 5);
            if (relays[i].to_the_end && shows)
                says("[\"EVENT\",\"%s\",{\"id\":\"f%063u\",\"created_at\":%" PRId64 "}]", t.subscription, 1, T - 5);
            says_eose();
        }
        if (relays[i].cut)
            fails(JOBS_REFUSED, "holds events back");
        else
            is_complete();
        was_given(relays[i].cap + relays[i].to_the_end);
    }
}

/* It came between two pages. */
static void an_old_event_that_comes_late(void **state)
{
    (void)state;
    crowded_second();
    gives(4, T - 9);
    says_eose();
    asks_page(0, T - 9, 4);
    gives(4, T - 9);
    says_eose();
    asks_page(0, T - 10, 4);
    says_eose();
    is_complete();
}

static void a_larger_page_is_refused(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    for (unsigned i = 0; i < 4; i++)
        gives(i, T - 5);
    says_eose();
    asks_page(0, T - 5, 4);
    for (unsigned i = 0; i < 4; i++)
        gives(i, T - 5);
    says_eose();
    asks_page(0, T - 5, 16);
    says_closed(t.page, "invalid: limit too large");
    asks_page(0, T - 6, 4);
    gives(9, T - 7);
    says_eose();
    asks_page(0, T - 7, 4);
    gives(9, T - 7);
    says_eose();
    asks_page(0, T - 8, 4);
    says_eose();
    fails(JOBS_REFUSED, "holds events back");
    was_given(5);
}

/* The newest ones, whatever the question: it ends, and does not claim to have read everything. */
static void a_relay_that_does_not_heed_until(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    for (unsigned pages = 0; pages < 20 && step().want != JOBS__WANT_DONE; pages++) {
        assert_true(pages < 12);
        says("[\"NOTICE\",\"hello\"]");
        snprintf(t.subscription, sizeof t.subscription, "feed-%u", pages + 1);
        for (unsigned i = 0; i < 4; i++)
            gives(i, T - 5 - (int64_t)i);
        says_eose();
    }
    fails(JOBS_REFUSED, "holds events back");
    was_given(4);
}

static void since_and_until(void **state)
{
    (void)state;
    struct jobs__feed_options options = feed_options(LISTS);
    options.since = T - 100;
    options.until = T - 50;
    begin_with(&options);
    connects();
    asks_page(T - 100, T - 50, 4);
    gives(1, T - 50);
    gives(2, T - 99);
    gives(3, T - 101); /* not asked for: moves nothing */
    says_eose();
    asks_page(T - 100, T - 99, 4);
    gives(2, T - 99);
    says_eose();
    asks_page(T - 100, T - 100, 4);
    says_eose();
    is_complete();
}

/* More events ahead of us than a page holds: our clock does not cut them off. */
static void events_of_the_future(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    for (unsigned i = 0; i < 4; i++)
        gives(i, T + 800 - (int64_t)i);
    says_eose();
    asks_page(0, T + 797, 4);
    gives(3, T + 797);
    gives(4, T + 700);
    says_eose();
    asks_page(0, T + 700, 4);
    gives(4, T + 700);
    says_eose();
    asks_page(0, T + 699, 4);
    says_eose();
    is_complete();
    was_given(5);
}

/* Whoever has enough of a second that is not read whole must know whether the rest of it is older. */
static void whether_a_page_came_in_order_is_told(void **state)
{
    static const struct {
        unsigned number;
        int64_t at;
    } pages[][3] = {
        {{3, T}, {1, T - 1}, {2, T - 1}}, {{3, T}, {2, T - 1}, {1, T - 1}}, {{1, T - 1}, {2, T - 1}, {3, T}}};
    char last[65];
    (void)state;
    snprintf(last, sizeof last, "%064u", pages[0][2].number);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        begin(LISTS);
        connects();
        asks_page(0, 0, 4);
        for (size_t e = 0; e < 3; e++)
            gives(pages[i][e].number, pages[i][e].at);
        t.enough = true;
        says_eose();
        assert_string_equal(t.oldest_id, i == 0 ? last : "unordered");
    }
}

/* Somebody waits for a watch's first line. */
static void a_first_page_may_be_smaller(void **state)
{
    (void)state;
    struct jobs__feed_options options = feed_options(LISTS);
    options.first_page = 2;
    begin_with(&options);
    connects();
    asks_page(0, 0, 2);
    gives(1, T - 1);
    gives(2, T - 2);
    says_eose();
    asks_page(0, T - 2, 4);
    gives(2, T - 2);
    says_eose();
    asks_page(0, T - 3, 4);
    says_eose();
    is_complete();
}

/* A small first page is not a large one that could be made smaller. */
static void a_first_page_is_refused(void **state)
{
    (void)state;
    struct jobs__feed_options options = feed_options(LISTS);
    options.first_page = 2;
    begin_with(&options);
    connects();
    asks_page(0, 0, 2);
    says_closed(t.page, "invalid: no such filter");
    fails(JOBS_REFUSED, "no such filter");
}

static void enough_is_asked_about_again(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    gives(1, T - 1);
    t.enough = true;
    says_eose();
    listens();
    assert_true(jobs__feed_is_resting(t.feed));
    assert_false(jobs__feed_go_on(t.feed, t.now));
    t.enough = false;
    assert_true(jobs__feed_go_on(t.feed, t.now));
    asks_page(0, T - 1, 4);
    t.enough = true;
    gives(1, T - 1);
    says_eose();
    listens();
    after(60000); /* at rest nothing is late */
    listens();
    jobs__feed_stop(t.feed);
    is_complete();
}

/* --- refusals --- */

static void auth_when_it_is_asked_for(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    challenges("one");
    sends_auth();
    listens(); /* the question waits for the answer */
    says_auth_ok(true, "");
    asks_page(0, 0, 4);
    says_eose();
    is_complete();
}

/* The question was out already: NOTICE and CLOSED both say so, and a CLOSED may come late. */
static void auth_after_the_question(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    challenges("one");
    sends_auth();
    assert_string_equal(t.challenge, "one");
    says_auth_ok(true, "");
    listens();
    says_closed(t.page, "auth-required: not authenticated");
    asks_page(0, 0, 4);
    says_notice("auth-required: not authenticated");
    fails(JOBS_DENIED, "not authenticated");

    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    says_notice("auth-required: not authenticated");
    says_closed(t.page, "auth-required: not authenticated");
    listens();
    challenges("two");
    sends_auth();
    says_auth_ok(true, "");
    asks_page(0, 0, 4);
    says_eose();
    is_complete();
}

static void auth_demanded_without_a_challenge(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    says_closed(t.page, "auth-required: who are you");
    waits_at_most(5000);
    hangs_up();
    reconnects();
    waits_at_most(5000); /* this time for the challenge at once */
    fails(JOBS_DENIED, "wants AUTH");
}

static void auth_refused_twice(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    challenges("c");
    sends_auth();
    says_auth_ok(false, "auth-required: verification failed");
    asks_page(0, 0, 4);
    says_closed(t.page, "auth-required: not authenticated");
    hangs_up();
    reconnects();
    challenges("c");
    sends_auth();
    says_auth_ok(false, "auth-required: verification failed");
    fails(JOBS_DENIED, "verification failed");
}

/* A relay that challenges everybody and lets everybody read. */
static void auth_refused_and_not_demanded(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    challenges("c");
    sends_auth();
    says_auth_ok(false, "auth-required: who is that");
    asks_page(0, 0, 4);
    says_eose();
    is_complete();
}

static void auth_without_a_key(void **state)
{
    (void)state;
    begin(LISTS | WITHOUT_KEY);
    connects();
    challenges("c");
    asks_page(0, 0, 4);
    says_closed(t.page, "auth-required: not authenticated");
    fails(JOBS_DENIED, "not authenticated");
}

static void auth_that_cannot_be_signed(void **state)
{
    (void)state;
    begin(LISTS);
    t.cannot_sign = true;
    connects();
    challenges("c");
    fails(JOBS_DENIED, "could not be signed");
}

static void throttled(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    says_closed(t.page, "rate-limited: quota exceeded; retry in 5s");
    struct jobs__step s = expects(JOBS__WANT_WAIT);
    assert_int_equal(s.at - t.now, 5000);
    after(5000);
    asks_page(0, 0, 4);
    says_notice("rate-limited: quota exceeded; retry in 3s");
    s = expects(JOBS__WANT_WAIT);
    assert_int_equal(s.at - t.now, 3000);
    assert_int_equal(t.closes, 1);
    after(3000);
    asks_page(0, 0, 4);
    says_closed(t.page, "rate-limited: retry in 52s"); /* longer than there is time */
    fails(JOBS_UNREACHABLE, "retry in 52s");
    assert_int_equal(result()->retry_after, 52);
}

static void membership_is_granted_a_moment_later(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    says_closed(t.page, "restricted: not a channel member");
    waits_at_most(1000);
    asks_page(0, 0, 4);
    says_eose();
    is_complete();

    begin(LISTS);
    connects();
    int64_t began = t.now;
    for (;;) {
        struct jobs__step s = step();
        if (s.want == JOBS__WANT_DONE)
            break;
        if (read_request(&s))
            says_closed(t.subscription, "restricted: not a channel member");
        else
            t.now = s.at;
    }
    fails(JOBS_DENIED, "not a channel member");
    assert_in_range(t.now - began, 1500, 3000);
}

static void refused_for_good(void **state)
{
    (void)state;
    static const char *const words[] = {"invalid: bad filter", "blocked: no", "unsupported: filter", "just so"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        begin(LISTS);
        connects();
        asks_page(0, 0, 4);
        says_closed(t.page, words[i]);
        fails(JOBS_REFUSED, words[i]);
    }
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    says_notice("ERROR: bad msg: limit");
    fails(JOBS_REFUSED, "bad msg: limit");
}

static void errors_are_tried_again_until_the_end(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    for (;;) {
        struct jobs__step s = step();
        if (s.want == JOBS__WANT_DONE)
            break;
        if (read_request(&s))
            says_closed(t.subscription, "error: database");
        else
            t.now = s.at;
    }
    fails(JOBS_UNREACHABLE, "error: database");
    assert_int_equal(t.now, START + 30000);
    assert_in_range(t.requests, 4, 60);
}

/* --- the line --- */

static void nobody_there(void **state)
{
    (void)state;
    begin(LISTS);
    for (unsigned i = 0; i < 4; i++) {
        if (i > 0)
            waits_at_most(8020);
        dials();
        ends_line((struct jobs__closed){.ending = JOBS__END_NO_CONNECT, .text = "refused", .len = 7});
    }
    fails(JOBS_UNREACHABLE, "refused");
    assert_in_range(t.now - START, 0, 10000);
}

static void a_line_that_breaks_within_a_page(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    for (unsigned i = 0; i < 4; i++)
        gives(i, T - (int64_t)i);
    says_eose();
    asks_page(0, T - 3, 4);
    gives(3, T - 3);
    breaks();
    reconnects();
    asks_page(0, T - 3, 4);
    gives(3, T - 3);
    says_eose();
    asks_page(0, T - 4, 4);
    says_eose();
    is_complete();
    was_given(4);
}

static void a_relay_that_falls_silent(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    after(9000);
    gives(1, T); /* a sign of life */
    waits_at_most(10000);
    hangs_up();
    reconnects();
    asks_page(0, 0, 4);
    waits_at_most(10000);
    hangs_up();
    waits_at_most(8020);
    dials();
    t.now = START + 30000;
    fails(JOBS_UNREACHABLE, "does not answer");
}

static void upgrades_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        int status;
        bool explained;
        enum jobs_code code;
    } rows[] = {
        {401, true, JOBS_DENIED}, {403, true, JOBS_DENIED}, {302, false, JOBS_REFUSED}, {200, true, JOBS_REFUSED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(LISTS);
        dials();
        ends_line((struct jobs__closed){.ending = JOBS__END_HTTP, .status = rows[i].status});
        if (rows[i].explained) {
            expects(JOBS__WANT_EXPLAIN);
            t.engine->ops->explained(t.engine, t.now, "go away", 7);
        }
        fails(rows[i].code, rows[i].explained ? "go away" : "redirects are not followed");
    }
    begin(LISTS);
    dials();
    ends_line((struct jobs__closed){.ending = JOBS__END_HTTP, .status = 503, .retry_after = 4});
    waits_at_most(4000);
    assert_int_equal(t.now, START + 4000);
    dials();
    ends_line((struct jobs__closed){.ending = JOBS__END_HTTP, .status = 503, .retry_after = 40});
    expects(JOBS__WANT_EXPLAIN);
    t.engine->ops->explained(t.engine, t.now, "", 0);
    fails(JOBS_UNREACHABLE, "HTTP 503");
    assert_int_equal(result()->retry_after, 40);
}

static void a_certificate_that_is_no_good(void **state)
{
    (void)state;
    begin(LISTS);
    dials();
    ends_line((struct jobs__closed){.ending = JOBS__END_TLS, .text = "expired", .len = 7});
    fails(JOBS_UNREACHABLE, "expired");
}

static void closed_for_good(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    ends_line((struct jobs__closed){.ending = JOBS__END_CLOSED, .code = 1008, .text = "policy", .len = 6});
    fails(JOBS_REFUSED, "policy");
}

/* --- lies --- */

static void what_is_not_ours_changes_nothing(void **state)
{
    (void)state;
    begin(LISTS);
    connects();
    asks_page(0, 0, 4);
    gives_to("", 1, T);
    gives_to("other", 1, T);
    gives_to("feed-2", 1, T);
    says("[\"EOSE\",\"\"]");
    says("[\"EOSE\",\"feed-2\"]");
    says("[\"CLOSED\",\"\",\"\"]");
    says("[\"CLOSED\",\"other\",\"blocked: no\"]");
    says("[\"EVENT\",\"feed-1\",{}]");
    says("[\"EVENT\",\"feed-1\",17]");
    says("[\"OK\",\"%064u\",false,\"auth-required: no\"]", 1U);
    says("[\"COUNT\",\"feed-1\",{}]");
    says("no JSON");
    listens();
    says_eose();
    is_complete();
    was_given(0);
    assert_int_equal(t.requests, 1);
}

static void a_flood_of_junk(void **state)
{
    (void)state;
    begin(WATCHES);
    connects();
    subscribes(0);
    says_eose();
    asks_page(0, 0, 4);
    for (unsigned i = 0; i < 10001; i++)
        gives_to("other", i, T);
    hangs_up();
    assert_string_equal(result()->message, "the relay sends what it was not asked for");
    reconnects();
    subscribes(0);
}

/* --- live --- */

static void watches(void)
{
    begin(WATCHES);
    connects();
    subscribes(0);
    says_eose();
    asks_page(0, 0, 4);
    says_eose();
    listens();
    assert_true(result()->complete);
}

static void what_comes_live(void **state)
{
    (void)state;
    watches();
    gives_to(t.live, 1, T + 5);
    gives_to(t.live, 2, T - 90000); /* as old as it likes */
    gives_to(t.live, 2, T - 90000);
    was_given(2);
    assert_int_equal(t.baseline, 0);
    after(INT64_C(86400000));
    struct jobs__step s = expects(JOBS__WANT_WAIT);
    assert_int_equal(s.at, INT64_MAX); /* silence is nothing strange */
}

/* What comes between the subscription and the first page is new; what the page shows was there before. */
static void the_beginning(void **state)
{
    (void)state;
    begin(WATCHES);
    connects();
    subscribes(0);
    says_eose();
    asks_page(0, 0, 4);
    gives_to(t.live, 1, T);
    assert_int_equal(t.baseline, 0);
    gives(2, T - 1);
    assert_int_equal(t.baseline, 1);
    says_eose(); /* not full: all there was */
    asks_page(0, T - 1, 4);
    breaks();
    reconnects();
    subscribes(0);
    says_eose();
    asks_page(0, 0, 4);
    gives(3, T - 700);
    assert_int_equal(t.baseline, 1);
}

static void an_interruption(void **state)
{
    (void)state;
    watches();
    gives_to(t.live, 1, T - 100);
    gives_to(t.live, 2, T + 5000); /* a lie about the time does not move the point where it goes on */
    breaks();
    reconnects();
    subscribes(0);
    says_eose();
    int64_t floor = T + (t.now - START) / 1000 - JOBS__FEED_OVERLAP;
    asks_page(floor, 0, 4);
    gives(3, T - 800); /* stored meanwhile, backdated */
    says_eose();
    asks_page(floor, T - 800, 4);
    gives(3, T - 800);
    says_eose();
    asks_page(floor, T - 801, 4);
    says_eose();
    listens();
    was_given(3);
    assert_int_equal(t.baseline, 0);
}

/* Cut before everything stored was read: first what came meanwhile, then on where it was. */
static void an_interruption_of_the_first_reading(void **state)
{
    (void)state;
    begin(WATCHES);
    connects();
    subscribes(0);
    says_eose();
    asks_page(0, 0, 4);
    for (unsigned i = 0; i < 4; i++)
        gives(i, T - 5000 * (int64_t)i);
    says_eose();
    asks_page(0, T - 15000, 4);
    breaks();
    reconnects();
    subscribes(0);
    says_eose();
    asks_page(0, 0, 4);
    gives(9, T - 1);
    gives(0, T);
    gives(1, T - 5000);
    says_eose();
    asks_page(0, T - 15000, 4); /* not once more through what is known */
    gives(3, T - 15000);
    gives(4, T - 16000);
    says_eose();
    asks_page(0, T - 16000, 4);
    gives(4, T - 16000);
    says_eose();
    asks_page(0, T - 16001, 4);
    says_eose();
    listens();
    was_given(6);
}

static void the_relay_ends_the_subscription(void **state)
{
    (void)state;
    static const char *const words[] = {"", "error: shutting down", "blocked: idle", "rate-limited: later"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        watches();
        says_closed(t.live, words[i]);
        waits_at_most(8020);
        subscribes(0);
        says_eose();
        asks_page(0, 0, 4);
        gives(1, T);
        says_eose();
        was_given(1);
    }
    watches();
    says_closed(t.live, "blocked: you");
    waits_at_most(8020);
    subscribes(0);
    says_closed(t.live, "blocked: you");
    fails(JOBS_REFUSED, "blocked: you");
    begin(WATCHES | WITHOUT_KEY);
    connects();
    subscribes(0);
    says_eose();
    asks_page(0, 0, 4);
    says_eose();
    says_closed(t.live, "auth-required: who are you");
    fails(JOBS_DENIED, "auth-required");
}

static void auth_again_after_an_interruption(void **state)
{
    (void)state;
    begin(WATCHES);
    for (unsigned i = 0; i < 5; i++) {
        if (i == 0)
            connects();
        else
            reconnects();
        if (i == 0) {
            subscribes(0);
            says_closed(t.live, "auth-required: first");
        } else {
            listens(); /* it knows by now */
        }
        challenges("c");
        sends_auth();
        says_auth_ok(true, "");
        subscribes(0);
        says_eose();
        asks_page(t.since, 0, 4);
        says_eose();
        listens();
        breaks();
    }
}

/* Once it has answered, it is dialled for ever; one that never did is given up. */
static void how_long_it_is_dialled(void **state)
{
    (void)state;
    watches();
    breaks();
    for (unsigned i = 0; i < 1000; i++) {
        waits_at_most(8020);
        dials();
        ends_line((struct jobs__closed){.ending = i % 2 ? JOBS__END_NO_CONNECT : JOBS__END_TLS});
    }
    begin(WATCHES);
    for (;;) {
        struct jobs__step s = step();
        if (s.want == JOBS__WANT_DONE)
            break;
        if (s.want == JOBS__WANT_DIAL)
            ends_line((struct jobs__closed){.ending = JOBS__END_NO_CONNECT, .text = "refused", .len = 7});
        else
            t.now = s.at;
    }
    fails(JOBS_UNREACHABLE, "refused");
    assert_int_equal(t.now, START + 30000);
}

static void its_owner_is_woken(void **state)
{
    (void)state;
    struct jobs__feed_options options = feed_options(WATCHES);
    options.wake = START + 1234;
    begin_with(&options);
    connects();
    subscribes(0);
    struct jobs__step s = expects(JOBS__WANT_WAIT);
    assert_int_equal(s.at, START + 1234);
}

static int teardown(void **state)
{
    (void)state;
    hang_up();
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_empty_relay),
        TEST(pages_overlap_by_a_second),
        TEST(a_second_that_holds_more_than_a_page),
        TEST(a_cap_below_what_is_asked),
        TEST(a_cap_that_cuts_a_second),
        TEST(a_cap_that_cuts_the_oldest_second),
        TEST(an_old_event_that_comes_late),
        TEST(a_larger_page_is_refused),
        TEST(a_relay_that_does_not_heed_until),
        TEST(since_and_until),
        TEST(events_of_the_future),
        TEST(whether_a_page_came_in_order_is_told),
        TEST(a_first_page_may_be_smaller),
        TEST(a_first_page_is_refused),
        TEST(enough_is_asked_about_again),
        TEST(auth_when_it_is_asked_for),
        TEST(auth_after_the_question),
        TEST(auth_demanded_without_a_challenge),
        TEST(auth_refused_twice),
        TEST(auth_refused_and_not_demanded),
        TEST(auth_without_a_key),
        TEST(auth_that_cannot_be_signed),
        TEST(throttled),
        TEST(membership_is_granted_a_moment_later),
        TEST(refused_for_good),
        TEST(errors_are_tried_again_until_the_end),
        TEST(nobody_there),
        TEST(a_line_that_breaks_within_a_page),
        TEST(a_relay_that_falls_silent),
        TEST(upgrades_that_are_refused),
        TEST(a_certificate_that_is_no_good),
        TEST(closed_for_good),
        TEST(what_is_not_ours_changes_nothing),
        TEST(a_flood_of_junk),
        TEST(what_comes_live),
        TEST(the_beginning),
        TEST(an_interruption),
        TEST(an_interruption_of_the_first_reading),
        TEST(the_relay_ends_the_subscription),
        TEST(auth_again_after_an_interruption),
        TEST(how_long_it_is_dialled),
        TEST(its_owner_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
