/* feed_state.h - the inside of a feed, shared by feed*.c and nobody else.
 *
 *   feed.c          life, and what came of it
 *   feed_line.c     a connection that comes, is refused, breaks; waits and retries
 *   feed_answers.c  what a frame changes
 *   feed_next.c     what is wanted next
 *   feed_pages.c    how far back the next page goes
 *
 * Two subscriptions at most: `live` stays, `page` asks for one page of what is stored.
 */
#ifndef JOBS_FEED_STATE_H
#define JOBS_FEED_STATE_H

#include "answer.h"
#include "auth.h"
#include "feed.h"
#include "feed_pages.h"
#include "frame.h"

enum feed_line {
    LINE_OFF,
    LINE_DIALING,
    LINE_UP,
    LINE_DROP,
    LINE_EXPLAIN, /* the words behind an HTTP refusal are to be asked for */
    LINE_EXPLAINING
};

enum feed_subscription_state {
    SUBSCRIPTION_NONE,
    SUBSCRIPTION_WANTED, /* to be sent at not_before */
    SUBSCRIPTION_ASKED,  /* its EOSE not seen */
    SUBSCRIPTION_OPEN    /* live, and so without a limit */
};

struct feed_subscription {
    enum feed_subscription_state state;
    bool before_auth; /* it was sent before AUTH was answered */
    int64_t not_before, limit;
    size_t events;
    char name[24];
};

struct jobs__feed {
    struct jobs__engine engine; /* first */
    struct jobs__feed_options options;
    char *auth_url, *filter;
    uint64_t random;

    enum feed_line line;
    int64_t dial_at, dial_limit;
    unsigned failures; /* in a row, without a complete answer between them */
    unsigned tries;    /* to connect, in a row */
    struct jobs__auth auth;

    struct feed_subscription live, page;
    uint64_t numbered;
    char to_close[24]; /* a subscription that the relay may forget */
    struct jobs__pages pages;
    unsigned junk;  /* events in a row that were worth nothing */
    bool answered;  /* it has answered a question */
    bool synced;    /* everything stored was read since the last interruption */
    bool begun;     /* … for the first time: what is read from now on came after the beginning */
    int64_t newest; /* created_at, never in the future */
    int64_t restricted_since;

    bool resting, done;
    struct jobs__frame_reader reader;
    struct jobs__buffer out;
    struct jobs__feed_result result;
};

static inline struct jobs__feed *jobs__feed_of(struct jobs__engine *engine)
{
    return (struct jobs__feed *)engine;
}

static inline int64_t jobs__feed_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* feed.c: the relay's words, or ours, for the result; the end; whether it still has to be given up at some time;
 * whether its owner needs what is older than the page that is over. */
void jobs__feed_say(struct jobs__feed *f, const char *text, size_t len);
void jobs__feed_say_plain(struct jobs__feed *f, const char *text);
void jobs__feed_end(struct jobs__feed *f, enum jobs_code code);
bool jobs__feed_is_limited(const struct jobs__feed *f);
bool jobs__feed_needs_more(const struct jobs__feed *f);

/* feed_line.c. wait_fits: whether a wait, of so many seconds when the relay named them, ends before the feed does. Else
 * it is over. */
int64_t jobs__feed_backoff(struct jobs__feed *f);
bool jobs__feed_wait_fits(struct jobs__feed *f, int64_t now, int64_t wait, int seconds, enum jobs_code code);
void jobs__feed_drop_line(struct jobs__feed *f, int64_t now);
void jobs__feed_auth_failed(struct jobs__feed *f, int64_t now);
void jobs__feed_opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened);
void jobs__feed_closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed);
void jobs__feed_explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len);

/* feed_answers.c. want: the subscription is to be sent, not before that time. */
void jobs__feed_want(struct feed_subscription *s, int64_t at);
void jobs__feed_frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len);

/* feed_next.c */
struct jobs__step jobs__feed_next(struct jobs__engine *engine, int64_t now);
const char *jobs__feed_doing(const struct jobs__engine *engine);

#endif
