/* feed_transcript.h - a feed's test reads like the transcript of a talk with a relay; see transcript.h for a session's.
 *
 * The events are stand-ins of the feed's own making ({"id","created_at"}): what an event is worth is its owner's
 * judgement, and here the owner is the test.
 */
#ifndef FEED_TRANSCRIPT_H
#define FEED_TRANSCRIPT_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exact.h"
#include "support.h"

#include "../feed.h"

#define START 1000000
#define TODAY INT64_C(1800000000)

static struct {
    struct jobs__feed *feed;
    struct jobs__engine *engine;
    int64_t now;
    char request[1024];      /* the last REQ's filter */
    char subscription[65];   /* the last REQ's */
    char live[65], page[65]; /* the last of each */
    int64_t since, until;    /* of the last REQ; 0: none */
    unsigned limit;
    unsigned requests, closes, auths;
    char auth_id[65], challenge[2048];
    bool cannot_sign, enough;
    /* what was handed in */
    char known[4096][65];
    size_t known_count;
    size_t given, again, baseline, rests;
    char last_given[65];
    char oldest_id[65]; /* as `more` was told; "unordered": it was not */
} t;

static inline enum jobs__feed_taken on_take(void *context, const char *id, const char *json, size_t len, bool baseline,
                                            int64_t *created_at)
{
    (void)context;
    const char *at = len > 0 ? memmem(json, len, "\"created_at\":", 13) : NULL;
    if (at == NULL || id[0] == '\0')
        return JOBS__TAKEN_FOREIGN;
    *created_at = strtoll(at + 13, NULL, 10);
    for (size_t i = 0; i < t.known_count; i++)
        if (strcmp(t.known[i], id) == 0) {
            t.again++;
            return JOBS__TAKEN_KNOWN;
        }
    assert_true(t.known_count < sizeof t.known / sizeof *t.known);
    memcpy(t.known[t.known_count++], id, 65);
    memcpy(t.last_given, id, 65);
    t.given++;
    t.baseline += baseline;
    return JOBS__TAKEN_NEW;
}

static inline void on_rest(void *context)
{
    (void)context;
    t.rests++;
}

static inline bool on_more(void *context, int64_t oldest, const char *oldest_id)
{
    (void)context;
    (void)oldest;
    snprintf(t.oldest_id, sizeof t.oldest_id, "%s", oldest_id != NULL ? oldest_id : "unordered");
    return !t.enough;
}

static inline int on_sign(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                          char id[65])
{
    (void)context;
    assert_string_equal(url, "wss://relay.example");
    snprintf(t.challenge, sizeof t.challenge, "%s", challenge);
    if (t.cannot_sign)
        return JOBS_BAD_KEY;
    snprintf(t.auth_id, sizeof t.auth_id, "%064u", ++t.auths + 900000U);
    memcpy(id, t.auth_id, 65);
    *json = "{}";
    *len = 2;
    return JOBS_OK;
}

enum talk {
    LISTS = 0,
    WATCHES = 1,
    WITHOUT_KEY = 2
};

static inline struct jobs__feed_options feed_options(int talk)
{
    return (struct jobs__feed_options){
        .auth_url = "wss://relay.example",
        .start = START,
        .unix_start = TODAY,
        .give_up = START + 30000,
        .wake = INT64_MAX,
        .timeout = 10000,
        .connect_timeout = 15000,
        .seed = 7,
        .filter = "\"kinds\":[43004]",
        .page = 4,
        .live = (talk & WATCHES) != 0,
        .sign_auth = (talk & WITHOUT_KEY) ? NULL : on_sign,
        .take = on_take,
        .rest = on_rest,
        .more = (talk & WATCHES) ? NULL : on_more,
    };
}

static inline void hang_up(void)
{
    jobs__feed_free(t.feed);
    memset(&t, 0, sizeof t);
}

static inline void begin_with(const struct jobs__feed_options *options)
{
    hang_up();
    t.now = START;
    assert_int_equal(jobs__feed_new(&t.feed, options), JOBS_OK);
    t.engine = jobs__feed_engine(t.feed);
}

static inline void begin(int talk)
{
    const struct jobs__feed_options options = feed_options(talk);
    begin_with(&options);
}

static inline const struct jobs__feed_result *result(void)
{
    return jobs__feed_result(t.feed);
}

/* --- what the relay does --- */

static inline void after(int64_t ms)
{
    t.now += ms;
}

__attribute__((format(printf, 1, 2))) static inline void says(const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(len >= 0 && (size_t)len < sizeof text);
    exact_frame(t.engine, t.now, text, (size_t)len);
}

static inline void gives_to(const char *subscription, unsigned number, int64_t created_at)
{
    says("[\"EVENT\",\"%s\",{\"id\":\"%064u\",\"created_at\":%" PRId64 "}]", subscription, number, created_at);
}

static inline void gives(unsigned number, int64_t created_at)
{
    gives_to(t.subscription, number, created_at);
}

static inline void says_eose(void)
{
    says("[\"EOSE\",\"%s\"]", t.subscription);
}

static inline void says_closed(const char *subscription, const char *words)
{
    says("[\"CLOSED\",\"%s\",\"%s\"]", subscription, words);
}

static inline void says_notice(const char *words)
{
    says("[\"NOTICE\",\"%s\"]", words);
}

static inline void challenges(const char *challenge)
{
    says("[\"AUTH\",\"%s\"]", challenge);
}

static inline void says_auth_ok(bool accepted, const char *words)
{
    says("[\"OK\",\"%s\",%s,\"%s\"]", t.auth_id, accepted ? "true" : "false", words);
}

static inline void accepts(void)
{
    const struct jobs__opened opened = {0};
    t.engine->ops->opened(t.engine, t.now, &opened);
}

static inline void ends_line(struct jobs__closed closed)
{
    t.engine->ops->closed(t.engine, t.now, &closed);
}

static inline void breaks(void)
{
    ends_line((struct jobs__closed){.ending = JOBS__END_BROKEN});
}

/* --- what the feed is expected to want --- */

static const char *const wants[] = {"WAIT", "DIAL", "SEND", "HANG_UP", "EXPLAIN", "DECIDE", "DONE"};

static inline struct jobs__step step(void)
{
    for (;;) {
        struct jobs__step s = t.engine->ops->next(t.engine, t.now);
        if (s.want == JOBS__WANT_SEND && s.len > 9 && memcmp(s.bytes, "[\"CLOSE\",", 9) == 0) {
            t.closes++; /* a courtesy */
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

static inline int64_t number_after(const char *text, const char *name)
{
    const char *found = strstr(text, name);
    return found == NULL ? 0 : strtoll(found + strlen(name), NULL, 10);
}

/* Reads a REQ; false when it is something else. */
static inline bool read_request(const struct jobs__step *s)
{
    if (s->want != JOBS__WANT_SEND || s->len < 8 || memcmp(s->bytes, "[\"REQ\",\"", 8) != 0)
        return false;
    assert_true(s->len < sizeof t.request);
    memcpy(t.request, s->bytes, s->len);
    t.request[s->len] = '\0';
    assert_int_equal(sscanf(t.request, "[\"REQ\",\"%64[^\"]\"", t.subscription), 1);
    t.since = number_after(t.request, "\"since\":");
    t.until = number_after(t.request, "\"until\":");
    t.limit = (unsigned)number_after(t.request, "\"limit\":");
    t.requests++;
    return true;
}

static inline void asks(int64_t since, int64_t until, unsigned limit)
{
    struct jobs__step s = expects(JOBS__WANT_SEND);
    if (!read_request(&s))
        fail_msg("sends %.*s, not REQ", (int)s.len, s.bytes);
    if (t.since != since || t.until != until || t.limit != limit)
        fail_msg("asks %s", t.request);
}

static inline void subscribes(int64_t since)
{
    asks(since, 0, 1);
    memcpy(t.live, t.subscription, sizeof t.live);
}

static inline void asks_page(int64_t since, int64_t until, unsigned limit)
{
    asks(since, until, limit);
    memcpy(t.page, t.subscription, sizeof t.page);
}

static inline void sends_auth(void)
{
    struct jobs__step s = expects(JOBS__WANT_SEND);
    if (s.len < 8 || memcmp(s.bytes, "[\"AUTH\",", 8) != 0)
        fail_msg("sends %.*s, not AUTH", (int)s.len, s.bytes);
}

static inline void dials(void)
{
    expects(JOBS__WANT_DIAL);
}

static inline void connects(void)
{
    dials();
    accepts();
}

static inline void hangs_up(void)
{
    expects(JOBS__WANT_HANG_UP);
}

static inline void listens(void)
{
    expects(JOBS__WANT_WAIT);
}

static inline void waits_at_most(int64_t ms)
{
    struct jobs__step s = expects(JOBS__WANT_WAIT);
    if (s.at <= t.now || s.at - t.now > ms)
        fail_msg("waits %" PRId64 " ms, not up to %" PRId64, s.at - t.now, ms);
    t.now = s.at;
}

static inline void reconnects(void)
{
    waits_at_most(8020);
    connects();
}

static inline void is_complete(void)
{
    expects(JOBS__WANT_DONE);
    if (!result()->complete || result()->code != JOBS_OK)
        fail_msg("ends with %d: %s", result()->code, result()->message);
}

static inline void fails(enum jobs_code code, const char *words)
{
    expects(JOBS__WANT_DONE);
    if (result()->complete || result()->code != code || strstr(result()->message, words) == NULL)
        fail_msg("ends with %d, %s: %s", result()->code, result()->complete ? "complete" : "incomplete",
                 result()->message);
}

static inline void was_given(size_t count)
{
    assert_int_equal(t.given, count);
}

#endif
