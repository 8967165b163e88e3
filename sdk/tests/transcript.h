/* transcript.h - a session's test reads like the transcript of a talk with a relay.
 *
 * What the relay does: accepts, says, says_ok, …  What the session is then expected to do: dials, sends_event, …
 * Time stands still unless `after` or `waits` moves it. Nothing here is a double: events, keys and signatures are real.
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <stdio.h>
#include <stdlib.h>

#include "exact.h"
#include "support.h"

#include "../session.h"

#define URL     "wss://relay.example"
#define JOB     "1111111111111111111111111111111111111111111111111111111111111111"
#define OTHER   "2222222222222222222222222222222222222222222222222222222222222222"
#define START   1000000
#define TIMEOUT 30000

static struct {
    struct jobs__session *session;
    struct jobs__engine *engine;
    int64_t now;
    struct jobs_key *key;
    struct jobs_event *event;   /* what is published */
    struct jobs_event *earlier; /* another of ours for the same job */
    struct jobs_event *auth;    /* the last AUTH event */
    char filter[512];
    char subscription[65];
    unsigned last_limit; /* of the last question */
    char challenge[2048];
    unsigned auths, closes;
    bool cannot_sign;
} t;

static inline struct jobs_event *sealed(uint32_t kind, const char *job, const char *content)
{
    const char *h[] = {"h", CHANNEL}, *e[] = {"e", job, "", "reply"};
    const struct jobs_tag tags[] = {{h, 2}, {e, 4}};
    struct jobs_event *event = NULL;
    struct jobs_error error;
    assert_int_equal(jobs_event_new(&event, kind, 1700000000, tags, 2, content, strlen(content), &error), JOBS_OK);
    assert_int_equal(jobs_event_seal(event, t.key, &error), JOBS_OK);
    return event;
}

static inline int sign_auth(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                            char id[65])
{
    (void)context;
    assert_string_equal(url, URL);
    snprintf(t.challenge, sizeof t.challenge, "%s", challenge);
    if (t.cannot_sign)
        return JOBS_BAD_KEY;
    jobs_event_free(t.auth);
    t.auth = NULL;
    const char *relay[] = {"relay", url}, *said[] = {"challenge", challenge};
    const struct jobs_tag tags[] = {{relay, 2}, {said, 2}};
    struct jobs_error error;
    int rc = jobs_event_new(&t.auth, 22242, 1700000000 + ++t.auths, tags, 2, "", 0, &error);
    if (rc != JOBS_OK)
        return rc;
    assert_int_equal(jobs_event_seal(t.auth, t.key, &error), JOBS_OK);
    *json = jobs_event_json(t.auth, len);
    memcpy(id, jobs_event_id(t.auth), 65);
    return JOBS_OK;
}

/* --- beginning and end --- */

enum talk {
    PLAIN = 0,
    ASK = 1,        /* ask for the job's events first */
    READ_BACK = 2,  /* ask after OK true */
    MAYBE_SENT = 4, /* an earlier process may have sent it */
    FETCH = 8,      /* a job check of t.event */
    WAS_SENT = 16   /* an earlier process has sent it */
};

static inline struct jobs__session *new_session(int talk, int64_t timeout)
{
    snprintf(t.filter, sizeof t.filter, "{\"kinds\":[43004],\"authors\":[\"%s\"],\"#e\":[\"%s\"],\"#h\":[\"%s\"]}",
             jobs_key_public(t.key), JOB, CHANNEL);
    const struct jobs__session_options options = {
        .auth_url = URL,
        .start = START,
        .timeout = timeout,
        .connect_timeout = 15000,
        .read_back = (talk & READ_BACK) != 0,
        .seed = 7,
        .was_sent = (talk & WAS_SENT) != 0,
        .fetch_id = (talk & FETCH) ? jobs_event_id(t.event) : NULL,
        .ask_filter = (talk & ASK) ? t.filter : NULL,
        .sign_auth = sign_auth,
    };
    struct jobs__session *session = NULL;
    assert_int_equal(jobs__session_new(&session, &options), JOBS_OK);
    return session;
}

static inline void hang_up(void)
{
    jobs__session_free(t.session);
    jobs_event_free(t.event);
    jobs_event_free(t.earlier);
    jobs_event_free(t.auth);
    jobs_key_free(t.key);
    memset(&t, 0, sizeof t);
}

static inline void begin_within(int talk, int64_t timeout)
{
    hang_up();
    t.now = START;
    t.key = key_of(SECRET_ONE);
    t.event = sealed(43004, JOB, "{\"outcome\":\"done\"}");
    t.earlier = sealed(43004, JOB, "{\"outcome\":\"not yet\"}");
    t.session = new_session(talk, timeout);
    t.engine = jobs__session_engine(t.session);
    if (!(talk & (ASK | FETCH)))
        jobs__session_send(t.session, t.event, (talk & MAYBE_SENT) != 0);
}

static inline void begin(int talk)
{
    begin_within(talk, TIMEOUT);
}

static inline const struct jobs__session_result *result(void)
{
    return jobs__session_result(t.session);
}

/* --- what the relay does --- */

static inline void after(int64_t ms)
{
    t.now += ms;
}

static inline void says_bytes(const char *text, size_t len)
{
    exact_frame(t.engine, t.now, text, len);
}

static inline void says(const char *text)
{
    says_bytes(text, strlen(text));
}

__attribute__((format(printf, 1, 2))) static inline void says_format(const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(len >= 0 && (size_t)len < sizeof text);
    says(text);
}

static inline void says_ok(bool accepted, const char *text)
{
    says_format("[\"OK\",\"%s\",%s,\"%s\"]", jobs_event_id(t.event), accepted ? "true" : "false", text);
}

static inline void says_auth_ok(bool accepted, const char *text)
{
    assert_non_null(t.auth);
    says_format("[\"OK\",\"%s\",%s,\"%s\"]", jobs_event_id(t.auth), accepted ? "true" : "false", text);
}

static inline void says_notice(const char *text)
{
    says_format("[\"NOTICE\",\"%s\"]", text);
}

static inline void challenges(const char *challenge)
{
    says_format("[\"AUTH\",\"%s\"]", challenge);
}

static inline void says_closed(const char *text)
{
    says_format("[\"CLOSED\",\"%s\",\"%s\"]", t.subscription, text);
}

static inline void says_eose(void)
{
    says_format("[\"EOSE\",\"%s\"]", t.subscription);
}

static inline void gives_json(const char *json)
{
    says_format("[\"EVENT\",\"%s\",%s]", t.subscription, json);
}

static inline void gives(const struct jobs_event *event)
{
    size_t len;
    gives_json(jobs_event_json(event, &len));
}

/* The event with one character of its content changed: its id and signature no longer hold. */
static inline void gives_forged(const struct jobs_event *event)
{
    size_t len;
    char *json = strdup(jobs_event_json(event, &len));
    assert_non_null(json);
    char *content = strstr(json, "outcome");
    assert_non_null(content);
    content[0] = 'O';
    gives_json(json);
    free(json);
}

static inline void closes(int code, const char *reason)
{
    const struct jobs__closed closed = {
        .ending = JOBS__END_CLOSED, .code = code, .text = reason, .len = strlen(reason)};
    t.engine->ops->closed(t.engine, t.now, &closed);
}

static inline void breaks(void)
{
    const struct jobs__closed closed = {.ending = JOBS__END_BROKEN};
    t.engine->ops->closed(t.engine, t.now, &closed);
}

static inline void refuses_upgrade(int status, int retry_after)
{
    const struct jobs__closed closed = {.ending = JOBS__END_HTTP, .status = status, .retry_after = retry_after};
    t.engine->ops->closed(t.engine, t.now, &closed);
}

static inline void fails_to_open(enum jobs__ending ending, const char *why)
{
    const struct jobs__closed closed = {.ending = ending, .text = why, .len = strlen(why)};
    t.engine->ops->closed(t.engine, t.now, &closed);
}

static inline void accepts_with_skew(int64_t skew)
{
    const struct jobs__opened opened = {.has_date = true, .skew = skew};
    t.engine->ops->opened(t.engine, t.now, &opened);
}

static inline void accepts(void)
{
    const struct jobs__opened opened = {0};
    t.engine->ops->opened(t.engine, t.now, &opened);
}

/* --- what the session is expected to want --- */

static const char *const wants[] = {"WAIT", "DIAL", "SEND", "HANG_UP", "EXPLAIN", "DECIDE", "DONE"};

/* CLOSE is a courtesy that may come between any two steps. */
static inline struct jobs__step step(void)
{
    for (;;) {
        struct jobs__step s = t.engine->ops->next(t.engine, t.now);
        if (s.want == JOBS__WANT_SEND && s.len > 9 && memcmp(s.bytes, "[\"CLOSE\",", 9) == 0) {
            t.closes++;
            continue;
        }
        return s;
    }
}

static inline struct jobs__step expects(enum jobs__want want)
{
    struct jobs__step s = step();
    if (s.want != want)
        fail_msg("wants %s%s%.*s, not %s; message: %s", wants[s.want], s.want == JOBS__WANT_SEND ? " of " : "",
                 s.want == JOBS__WANT_SEND ? (int)s.len : 0, s.want == JOBS__WANT_SEND ? s.bytes : "", wants[want],
                 result()->message);
    return s;
}

static inline void sends_text(const char *text)
{
    struct jobs__step s = expects(JOBS__WANT_SEND);
    if (s.len != strlen(text) || memcmp(s.bytes, text, s.len) != 0)
        fail_msg("sends %.*s, not %s", (int)s.len, s.bytes, text);
}

static inline void sends_event(void)
{
    size_t len;
    char text[4096];
    snprintf(text, sizeof text, "[\"EVENT\",%s]", jobs_event_json(t.event, &len));
    sends_text(text);
}

static inline void sends_auth(void)
{
    struct jobs__step s = expects(JOBS__WANT_SEND);
    size_t len;
    char text[4096];
    assert_non_null(t.auth);
    snprintf(text, sizeof text, "[\"AUTH\",%s]", jobs_event_json(t.auth, &len));
    if (s.len != strlen(text) || memcmp(s.bytes, text, s.len) != 0)
        fail_msg("sends %.*s, not AUTH", (int)s.len, s.bytes);
}

static inline void sends_request(const char *filter)
{
    struct jobs__step s = expects(JOBS__WANT_SEND);
    char text[1024];
    assert_true(s.len < sizeof text);
    memcpy(text, s.bytes, s.len);
    text[s.len] = '\0';
    int at = 0;
    if (sscanf(text, "[\"REQ\",\"%64[^\"]\",%n", t.subscription, &at) != 1 || at == 0)
        fail_msg("sends %s, not REQ", text);
    /* a limit that is another one each time, then what is asked */
    char *limit = strstr(text, ",\"limit\":");
    assert_non_null(limit);
    unsigned number = (unsigned)strtoul(limit + 9, NULL, 10);
    assert_in_range(number, 100, 499);
    assert_int_not_equal(number, t.last_limit);
    t.last_limit = number;
    strcpy(limit, "}");
    assert_string_equal(text + at, filter);
}

static inline void asks_for_job(void)
{
    sends_request(t.filter);
}

static inline void asks_by_id(void)
{
    char filter[128];
    snprintf(filter, sizeof filter, "{\"ids\":[\"%s\"]}", jobs_event_id(t.event));
    sends_request(filter);
}

static inline void dials(void)
{
    expects(JOBS__WANT_DIAL);
}

static inline void hangs_up(void)
{
    expects(JOBS__WANT_HANG_UP);
}

static inline void decides(void)
{
    expects(JOBS__WANT_DECIDE);
}

/* Nothing to do for a while that is at most so long; the clock goes there. */
static inline void waits_at_most(int64_t ms)
{
    struct jobs__step s = expects(JOBS__WANT_WAIT);
    if (s.at <= t.now || s.at - t.now > ms)
        fail_msg("waits %lld ms, not up to %lld", (long long)(s.at - t.now), (long long)ms);
    t.now = s.at;
}

static inline void waits(int64_t ms)
{
    struct jobs__step s = expects(JOBS__WANT_WAIT);
    if (s.at - t.now != ms)
        fail_msg("waits %lld ms, not %lld", (long long)(s.at - t.now), (long long)ms);
    t.now = s.at;
}

/* Waits for the relay, without the clock moving. */
static inline void listens(void)
{
    expects(JOBS__WANT_WAIT);
}

static inline void gives_event(void)
{
    jobs__session_send(t.session, t.event, false);
}

static inline void gives_event_that_may_be_there(void)
{
    jobs__session_send(t.session, t.event, true);
}

static inline void connects(void)
{
    dials();
    accepts();
}

/* Loses the line and gets a new one after a pause. */
static inline void reconnects(void)
{
    waits_at_most(500 + 1500 + 4000 + 8000);
    connects();
}

static inline void explains(const char *text)
{
    expects(JOBS__WANT_EXPLAIN);
    listens();
    t.engine->ops->explained(t.engine, t.now, text, strlen(text));
}

/* The question by id that is out stays unanswered: it is asked once more on another connection. */
static inline void is_silent_and_asked_anew(int64_t ms)
{
    waits(ms);
    hangs_up();
    reconnects();
    asks_by_id();
}

static inline void is_done(enum jobs_verdict verdict, enum jobs_read_back read_back)
{
    expects(JOBS__WANT_DONE);
    const struct jobs__session_result *r = result();
    if (!r->done || r->verdict != verdict || r->read_back != read_back)
        fail_msg("ends %s, %s (%s), not %s, %s", jobs_verdict_name(r->verdict), jobs_read_back_name(r->read_back),
                 r->message, jobs_verdict_name(verdict), jobs_read_back_name(read_back));
    assert_true(strlen(r->message) <= JOBS_RELAY_MESSAGE_MAX);
}

static inline void tells(const char *words)
{
    if (strstr(result()->message, words) == NULL)
        fail_msg("the message is: %s\nand lacks: %s", result()->message, words);
}

static inline void hints(const char *words)
{
    if (strstr(result()->hint, words) == NULL)
        fail_msg("the hint is: %s\nand lacks: %s", result()->hint, words);
}

#endif
