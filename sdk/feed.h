/* feed.h - a conversation that reads: stored events page by page, and what comes live. No socket, no clock.
 *
 * One feed is one relay. It asks backwards in time (`until`), with an overlap at every border so that events of one
 * second are not lost between two pages; live, it subscribes first and fills the gap behind it afterwards. What an
 * event is worth is its owner's judgement: the feed only needs to know whether it was new, and how old it is.
 */
#ifndef JOBS_FEED_H
#define JOBS_FEED_H

#include "engine.h"

#include <jobs/read.h>

enum jobs__feed_taken {
    JOBS__TAKEN_NEW,
    JOBS__TAKEN_KNOWN,  /* was handed in before, by this relay or another */
    JOBS__TAKEN_FOREIGN /* forged, malformed, or not what was asked for */
};

struct jobs__feed_options {
    const char *auth_url;
    int64_t start, unix_start; /* the same moment: ms of the monotonic clock, seconds of the calendar's */
    int64_t timeout;           /* ms for an answer to what is out */
    int64_t connect_timeout;   /* ms */
    uint64_t seed;             /* of the retries' jitter */
    const char *filter;        /* members of the filter without since, until and limit: "\"kinds\":[43004],…" */
    int64_t since, until;      /* seconds, 0: open */
    bool live;                 /* goes on when everything stored was given; redials for ever */
    int (*sign_auth)(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                     char id[65]); /* NULL: no key */
    /* One event of the subscription. *created_at is set unless FOREIGN. id is what it claims to be. */
    enum jobs__feed_taken (*take)(void *context, const char *id, const char *json, size_t len, int64_t *created_at);
    /* After a page of stored events: false when this relay has given enough. May be NULL. */
    bool (*more)(void *context);
    void *context;
};

struct jobs__feed;

int jobs__feed_new(struct jobs__feed **out, const struct jobs__feed_options *options);
void jobs__feed_free(struct jobs__feed *feed);
struct jobs__engine *jobs__feed_engine(struct jobs__feed *feed);

/* Its owner has enough. */
void jobs__feed_stop(struct jobs__feed *feed);

struct jobs__feed_result {
    bool complete;       /* everything stored was given at least once */
    enum jobs_code code; /* why not: JOBS_UNREACHABLE, JOBS_DENIED, JOBS_REFUSED; JOBS_OK when complete */
    int retry_after;
    char message[JOBS_RELAY_MESSAGE_MAX + 1]; /* the relay's own words, one escaped line; may be empty */
};
const struct jobs__feed_result *jobs__feed_result(const struct jobs__feed *feed);

#endif
