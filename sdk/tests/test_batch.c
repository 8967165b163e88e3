/* test_batch.c - several events over one good connection: the plain case, and that everything else ends it, leaving
 * what is not plainly there to others.
 */
#include "batch_model.h"

#define START   1000000
#define TIMEOUT 30000
#define EVENTS  3

static struct {
    struct jobs_key *key;
    struct jobs_event *events[EVENTS];
    struct jobs__batch_item items[EVENTS];
    struct jobs__batch *batch;
    struct jobs__engine *engine;
    int64_t now;
} t;

static struct jobs_event *sealed(const char *job, const char *content)
{
    const char *h[] = {"h", CHANNEL}, *e[] = {"e", job, "", "reply"};
    const struct jobs_tag tags[] = {{h, 2}, {e, 4}};
    struct jobs_event *event = NULL;
    assert_int_equal(jobs_event_new(&event, 43004, 1700000000, tags, 2, content, strlen(content), NULL), JOBS_OK);
    assert_int_equal(jobs_event_seal(event, t.key, NULL), JOBS_OK);
    return event;
}

static const char *job_of(size_t i)
{
    static const char *const jobs[] = {"1111111111111111111111111111111111111111111111111111111111111111",
                                       "2222222222222222222222222222222222222222222222222222222222222222",
                                       "3333333333333333333333333333333333333333333333333333333333333333",
                                       "4444444444444444444444444444444444444444444444444444444444444444"};
    return jobs[i];
}

static int hang_up(void **state)
{
    (void)state;
    jobs__batch_free(t.batch);
    for (size_t i = 0; i < EVENTS; i++)
        jobs_event_free(t.events[i]);
    jobs_key_free(t.key);
    memset(&t, 0, sizeof t);
    return 0;
}

/* --- the talk --- */

static struct jobs__step wants(enum jobs__want want)
{
    struct jobs__step step = t.engine->ops->next(t.engine, t.now);
    if (step.want != want)
        fail_msg("wants %d %.*s, not %d", (int)step.want, (int)(step.want == JOBS__WANT_SEND ? step.len : 0),
                 step.want == JOBS__WANT_SEND ? step.bytes : "", (int)want);
    return step;
}

static void sends(const char *text)
{
    struct jobs__step step = wants(JOBS__WANT_SEND);
    if (step.len < strlen(text) || memcmp(step.bytes, text, strlen(text)) != 0)
        fail_msg("sends %.*s, not %s", (int)step.len, step.bytes, text);
    assert_true(step.at > t.now);
}

static void sends_event(size_t i)
{
    char text[4096];
    size_t len;
    snprintf(text, sizeof text, "[\"EVENT\",%s]", jobs_event_json(t.events[i], &len));
    sends(text);
}

__attribute__((format(printf, 1, 2))) static void says(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int len = vasprintf(&text, format, arguments);
    va_end(arguments);
    assert_true(len >= 0);
    exact_frame(t.engine, t.now, text, (size_t)len);
    free(text);
}

static void says_ok(size_t i, bool accepted, const char *text)
{
    says("[\"OK\",\"%s\",%s,\"%s\"]", jobs_event_id(t.events[i]), accepted ? "true" : "false", text);
}

static void shows(const char *subscription, const struct jobs_event *event)
{
    size_t len;
    says("[\"EVENT\",\"%s\",%s]", subscription, jobs_event_json(event, &len));
}

static void opens(const struct jobs__carried *carried)
{
    const struct jobs__opened opened = {.carried = (const char *)carried,
                                        .carried_len = carried == NULL ? 0 : sizeof *carried};
    t.engine->ops->opened(t.engine, t.now, &opened);
}

static void begin(bool read_back)
{
    hang_up(NULL);
    t.key = key_of(SECRET_ONE);
    t.now = START;
    for (size_t i = 0; i < EVENTS; i++) {
        t.events[i] = sealed(job_of(i), "{\"outcome\":\"done\"}");
        t.items[i].event = t.events[i];
    }
    const struct jobs__batch_options options = {
        .start = START, .timeout = TIMEOUT, .read_back = read_back, .seed = 7, .items = t.items, .count = EVENTS};
    assert_int_equal(jobs__batch_new(&t.batch, &options), JOBS_OK);
    t.engine = jobs__batch_engine(t.batch);
    wants(JOBS__WANT_DIAL);
    wants(JOBS__WANT_WAIT);
}

/* Asked, and answered: nothing is there. */
static void begin_asked(bool read_back)
{
    const struct jobs__carried carried = {.questions = 5, .auth.state = JOBS__AUTH_GOOD};
    begin(read_back);
    opens(&carried);
    sends("[\"REQ\",\"jobs-6\",{\"kinds\":[43004],\"authors\":[\"" PUBLIC_ONE "\"],\"#h\":[\"" CHANNEL "\"],"
          "\"#e\":[\"1111111111111111111111111111111111111111111111111111111111111111\","
          "\"2222222222222222222222222222222222222222222222222222222222222222\","
          "\"3333333333333333333333333333333333333333333333333333333333333333\"],\"limit\":113}]");
    wants(JOBS__WANT_WAIT);
}

static void begin_sent(bool read_back)
{
    begin_asked(read_back);
    says("[\"EOSE\",\"jobs-6\"]");
    sends("[\"CLOSE\",\"jobs-6\"]");
    for (size_t i = 0; i < EVENTS; i++)
        sends_event(i);
    wants(JOBS__WANT_WAIT);
}

static void begin_read(void)
{
    begin_sent(true);
    for (size_t i = 0; i < EVENTS; i++)
        says_ok(i, true, "");
    sends("[\"REQ\",\"jobs-7\",{\"ids\":[\"");
    wants(JOBS__WANT_WAIT);
}

static void is_over(bool kept)
{
    struct jobs__step step = wants(JOBS__WANT_DONE);
    assert_int_equal(step.len, kept ? sizeof(struct jobs__carried) : 0);
}

/* s: sent, S: and stored, C: and confirmed, -: none of it. */
static void came_to(const char *what)
{
    char is[EVENTS + 1] = "";
    for (size_t i = 0; i < EVENTS; i++) {
        const struct jobs__batch_item *item = &t.items[i];
        is[i] = item->confirmed ? 'C' : item->stored ? 'S' : item->sent ? 's' : '-';
    }
    assert_string_equal(is, what);
}

/* --- all goes plainly --- */

static void all_are_asked_for_sent_and_read_back(void **state)
{
    (void)state;
    struct jobs__carried left;
    begin_sent(true);
    t.now += 70;
    says_ok(2, true, "");
    says_ok(0, true, "kept\\u001b");
    says_ok(1, true, "");
    came_to("SSS");
    assert_string_equal(t.items[0].message, "kept\\u001b");
    assert_int_equal(t.items[0].sent_at, START);
    sends("[\"REQ\",\"jobs-7\",{\"ids\":[\"");
    for (size_t i = EVENTS; i > 0; i--)
        shows("jobs-7", t.events[i - 1]);
    wants(JOBS__WANT_WAIT);
    says("[\"EOSE\",\"jobs-7\"]");
    sends("[\"CLOSE\",\"jobs-7\"]");
    struct jobs__step step = wants(JOBS__WANT_DONE);
    came_to("CCC");
    assert_int_equal(step.len, sizeof left);
    memcpy(&left, step.bytes, sizeof left);
    assert_int_equal(left.questions, 7);
    assert_int_equal(left.auth.state, JOBS__AUTH_GOOD);
}

static void nothing_is_read_back_when_that_is_not_wanted(void **state)
{
    (void)state;
    begin_sent(false);
    for (size_t i = 0; i < EVENTS; i++)
        says_ok(i, true, "");
    is_over(true);
    came_to("SSS");
}

static void what_has_one_already_is_left_alone(void **state)
{
    (void)state;
    struct jobs_event *other = NULL;
    begin_asked(true);
    other = sealed(job_of(1), "{\"outcome\":\"not yet\"}");
    shows("jobs-6", other);
    shows("jobs-6", t.events[1]);
    says("[\"EOSE\",\"jobs-6\"]");
    sends("[\"CLOSE\"");
    sends("[\"REQ\",\"jobs-7\"");
    says("[\"EOSE\",\"jobs-7\"]");
    sends("[\"CLOSE\"");
    sends_event(0);
    sends_event(2);
    says_ok(0, true, "");
    says_ok(2, true, "");
    sends("[\"REQ\"");
    shows("jobs-8", t.events[0]);
    shows("jobs-8", t.events[2]);
    says("[\"EOSE\",\"jobs-8\"]");
    sends("[\"CLOSE\"");
    is_over(true);
    came_to("C-C");
    jobs_event_free(other);
}

static void what_a_relay_keeps_back_is_asked_for(void **state)
{
    (void)state;
    begin_asked(true);
    for (size_t i = 0; i < 2; i++) {
        char question[32], jobs[256];
        shows(i == 0 ? "jobs-6" : "jobs-7", t.events[i]); /* it never shows more than one */
        says("[\"EOSE\",\"jobs-%zu\"]", 6 + i);
        sends("[\"CLOSE\"");
        snprintf(question, sizeof question, "[\"REQ\",\"jobs-%zu\"", 7 + i);
        snprintf(jobs, sizeof jobs, i == 0 ? "\"#e\":[\"%s\",\"%s\"]" : "\"#e\":[\"%s\"]", job_of(i + 1), job_of(2));
        struct jobs__step step = wants(JOBS__WANT_SEND);
        assert_memory_equal(step.bytes, question, strlen(question));
        assert_non_null(memmem(step.bytes, step.len, jobs, strlen(jobs)));
    }
    says("[\"EOSE\",\"jobs-8\"]");
    sends("[\"CLOSE\"");
    sends_event(2);
    begin_asked(true);
    for (size_t i = 0; i < EVENTS; i++)
        shows("jobs-6", t.events[i]);
    says("[\"EOSE\",\"jobs-6\"]");
    sends("[\"CLOSE\"");
    is_over(true); /* nothing is left to ask for */
    came_to("---");
    begin_asked(true);
    shows("jobs-6", t.events[0]);
    says("[\"EOSE\",\"jobs-6\"]");
    sends("[\"CLOSE\"");
    sends("[\"REQ\",\"jobs-7\"");
    shows("jobs-7", t.events[0]); /* which was not asked for again */
    says("[\"EOSE\",\"jobs-7\"]");
    is_over(false);
    came_to("---");
}

static void late_words_and_those_for_others_change_nothing(void **state)
{
    (void)state;
    begin_asked(true);
    says("[\"EOSE\",\"jobs-5\"]");
    says("[\"CLOSED\",\"jobs-5\",\"error: late\"]");
    shows("jobs-5", t.events[0]);
    says_ok(0, true, "before it was sent");
    says("[\"NOTICE\",\"good morning\"]");
    says("no JSON");
    says("[\"COUNT\",\"jobs-6\",{}]");
    wants(JOBS__WANT_WAIT);
    says("[\"EOSE\",\"jobs-6\"]");
    sends("[\"CLOSE\"");
    for (size_t i = 0; i < EVENTS; i++)
        sends_event(i);
    says("[\"OK\",\"%s\",false,\"another's\"]", job_of(3));
    for (size_t i = 0; i < EVENTS; i++) {
        says_ok(i, true, "");
        says_ok(i, false, "no after all");
    }
    came_to("SSS");
    sends("[\"REQ\",\"jobs-7\"");
}

static void a_challenge_is_kept_for_the_next(void **state)
{
    (void)state;
    begin_sent(false);
    says("[\"AUTH\",\"fresh\"]");
    for (size_t i = 0; i < EVENTS; i++)
        says_ok(i, true, "");
    struct jobs__carried left;
    struct jobs__step step = wants(JOBS__WANT_DONE);
    assert_int_equal(step.len, sizeof left);
    memcpy(&left, step.bytes, sizeof left);
    assert_true(left.auth.fresh);
    assert_string_equal(left.auth.challenge, "fresh");
}

/* --- it does not --- */

static void a_new_connection_is_not_good_enough(void **state)
{
    (void)state;
    begin(true);
    opens(NULL);
    is_over(false);
    came_to("---");
}

static void an_ask_that_is_not_plainly_answered_sends_nothing(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "[\"CLOSED\",\"jobs-6\",\"auth-required: who are you\"]",
        "[\"CLOSED\",\"jobs-6\",\"\"]",
        "[\"NOTICE\",\"rate-limited: retry in 5s\"]",
        "[\"NOTICE\",\"auth-required: x\"]",
        "[\"EVENT\",\"jobs-6\",{}]",
        "[\"OK\",\"\",false,\"invalid: x\"]",
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        begin_asked(true);
        says("%s", answers[i]);
        is_over(false);
        came_to("---");
    }
    begin_asked(true);
    t.now += 2000;
    is_over(false);
    came_to("---");
}

static void an_event_of_no_job_that_was_asked_for_ends_it(void **state)
{
    (void)state;
    begin_asked(true);
    struct jobs_event *stranger = sealed(job_of(3), "{}");
    shows("jobs-6", stranger);
    is_over(false);
    came_to("---");
    jobs_event_free(stranger);
}

static void a_flood_of_events_ends_it(void **state)
{
    (void)state;
    begin_asked(true);
    for (size_t i = 0; i < (size_t)2 * JOBS__BATCH_MAX + 1; i++)
        shows("jobs-6", t.events[1]);
    is_over(false);
    came_to("---");
}

static void a_refusal_is_left_to_others_and_the_rest_is_read_back(void **state)
{
    (void)state;
    static const struct {
        bool accepted;
        const char *text;
    } refusals[] = {{false, "invalid: no"},
                    {false, "rate-limited: later"},
                    {false, "duplicate: have it"},
                    {true, "duplicate: have it"},
                    {false, ""},
                    {false, "auth-required: x"}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        begin_sent(true);
        says_ok(0, true, "");
        says_ok(1, refusals[i].accepted, refusals[i].text);
        wants(JOBS__WANT_WAIT);
        says_ok(2, true, "");
        sends("[\"REQ\",\"jobs-7\",{\"ids\":[\"");
        shows("jobs-7", t.events[0]);
        shows("jobs-7", t.events[2]);
        says("[\"EOSE\",\"jobs-7\"]");
        is_over(false);
        came_to("CsC");
    }
}

static void a_wait_that_is_asked_for_is_told(void **state)
{
    (void)state;
    int seconds;
    const char *words;
    begin_sent(true);
    assert_false(jobs__batch_throttled(t.batch, &seconds, &words));
    says_ok(0, false, "rate-limited: retry in 7s");
    says_ok(1, false, "rate-limited: retry in 5s");
    assert_true(jobs__batch_throttled(t.batch, &seconds, &words));
    assert_int_equal(seconds, 7);
    assert_string_equal(words, "rate-limited: retry in 5s");

    begin_asked(true);
    says("[\"CLOSED\",\"jobs-6\",\"rate-limited: enough\"]");
    is_over(false);
    assert_true(jobs__batch_throttled(t.batch, &seconds, &words));
    assert_int_equal(seconds, 0);

    begin_asked(true);
    says("[\"EOSE\",\"jobs-6\"]");
    sends("[\"CLOSE\"");
    sends_event(0);
    says("[\"OK\",\"%s\",false,\"rate-limited: x\"]", jobs_event_id(t.events[0]));
    is_over(false); /* the others are not even tried */
    came_to("s--");
}

static void words_that_name_none_of_them_end_it(void **state)
{
    (void)state;
    static const char *const words[] = {
        "[\"OK\",\"\",false,\"invalid: one of them\"]",
        "[\"OK\",null,true,\"\"]",
        "[\"OK\",\"0000000000000000000000000000000000000000000000000000000000000000\",false,\"\"]",
        "[\"NOTICE\",\"invalid: bad event\"]",
        "[\"NOTICE\",\"rate-limited: quota exceeded; retry in 5s\"]",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        begin_sent(true);
        says_ok(0, true, "");
        says("%s", words[i]);
        is_over(false);
        came_to("Sss");
    }
}

static void without_an_ok_the_others_are_read_back(void **state)
{
    (void)state;
    begin_sent(true);
    t.now += 4900;
    says_ok(2, true, "");
    t.now += 4999;
    wants(JOBS__WANT_WAIT);
    t.now += 1;
    sends("[\"REQ\",\"jobs-7\",{\"ids\":[\"");
    shows("jobs-7", t.events[2]);
    says("[\"EOSE\",\"jobs-7\"]");
    is_over(false);
    came_to("ssC");
}

static void what_is_not_shown_or_not_as_it_is_is_not_confirmed(void **state)
{
    (void)state;
    begin_read();
    size_t len;
    char *forged = strdup(jobs_event_json(t.events[0], &len));
    assert_non_null(forged);
    strstr(forged, "done")[0] = 'D';
    says("[\"EVENT\",\"jobs-7\",%s]", forged);
    shows("jobs-7", t.events[1]);
    says("[\"EOSE\",\"jobs-7\"]");
    is_over(false);
    came_to("SCS");
    assert_true(t.items[0].absent && t.items[2].absent && !t.items[1].absent && !t.items[0].unread);
    free(forged);
}

static void an_event_spelled_otherwise_is_the_same(void **state)
{
    (void)state;
    begin_read();
    size_t len;
    says("[\"EVENT\",\"jobs-7\", %s ]", jobs_event_json(t.events[0], &len));
    json_t *spelled = json_loads(jobs_event_json(t.events[1], &len), 0, NULL);
    char *sorted = json_dumps(spelled, JSON_SORT_KEYS | JSON_INDENT(1));
    says("[\"EVENT\",\"jobs-7\",%s]", sorted);
    free(sorted);
    json_decref(spelled);
    shows("jobs-7", t.events[2]);
    says("[\"EOSE\",\"jobs-7\"]");
    came_to("CCC");
}

static void a_question_that_stays_open_ends_it(void **state)
{
    (void)state;
    begin_read();
    shows("jobs-7", t.events[0]);
    t.now += 5000;
    is_over(false);
    came_to("CSS");
    assert_true(t.items[1].unread && !t.items[0].unread && !t.items[1].absent);
    begin_read();
    says("[\"CLOSED\",\"jobs-7\",\"error: \"]");
    is_over(false);
    came_to("SSS");
    assert_true(!t.items[0].unread && !t.items[0].absent); /* may be about so many ids at once */
}

static void a_connection_that_ends_ends_it(void **state)
{
    (void)state;
    static const struct jobs__closed closed = {.ending = JOBS__END_BROKEN, .text = ""};
    begin(true);
    t.engine->ops->closed(t.engine, t.now, &closed);
    is_over(false);
    came_to("---");
    begin_sent(true);
    says_ok(1, true, "");
    t.engine->ops->closed(t.engine, t.now, &closed);
    is_over(false);
    came_to("sSs");
    says_ok(0, true, "after the end");
    came_to("sSs");
}

static void the_deadline_is_for_all_of_it(void **state)
{
    (void)state;
    begin_sent(true);
    t.now = START + TIMEOUT - 1000;
    says_ok(0, true, "");
    assert_true(wants(JOBS__WANT_WAIT).at < START + TIMEOUT);
    t.now = START + TIMEOUT;
    is_over(false);
    came_to("Sss");
}

/* --- relays that do anything --- */

static unsigned random_choice(void *context, unsigned n)
{
    uint64_t *state = context;
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(*state >> 33) % n;
}

static void twenty_thousand_random_relays(void **state)
{
    (void)state;
    struct batch_world world;
    batch_world_make(&world);
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15U;
        const char *broken = batch_model_run(&world, random_choice, &random);
        if (broken != NULL)
            fail_msg("seed %llu: %s", (unsigned long long)seed, broken);
    }
    batch_world_free(&world);
}

#define TEST(name) cmocka_unit_test_teardown(name, hang_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_are_asked_for_sent_and_read_back),
        TEST(nothing_is_read_back_when_that_is_not_wanted),
        TEST(what_has_one_already_is_left_alone),
        TEST(what_a_relay_keeps_back_is_asked_for),
        TEST(late_words_and_those_for_others_change_nothing),
        TEST(a_challenge_is_kept_for_the_next),
        TEST(a_new_connection_is_not_good_enough),
        TEST(an_ask_that_is_not_plainly_answered_sends_nothing),
        TEST(an_event_of_no_job_that_was_asked_for_ends_it),
        TEST(a_flood_of_events_ends_it),
        TEST(a_refusal_is_left_to_others_and_the_rest_is_read_back),
        TEST(a_wait_that_is_asked_for_is_told),
        TEST(words_that_name_none_of_them_end_it),
        TEST(without_an_ok_the_others_are_read_back),
        TEST(what_is_not_shown_or_not_as_it_is_is_not_confirmed),
        TEST(an_event_spelled_otherwise_is_the_same),
        TEST(a_question_that_stays_open_ends_it),
        TEST(a_connection_that_ends_ends_it),
        TEST(the_deadline_is_for_all_of_it),
        TEST(twenty_thousand_random_relays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
