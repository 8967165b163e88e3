/* feed.h - a conversation that reads: stored events page by page, and what comes live. No socket, no clock.
 *
 * One feed is one relay. It asks backwards in time (feed_pages.h); live, it subscribes first and reads the stored ones
 * afterwards, so that there is no moment between the two. After an interruption it reads again what may have come
 * meanwhile. What an event is worth is its owner's judgement: the feed only needs to know whether it was new, and how
 * old it is.
 */
#ifndef JOBS_FEED_H
#define JOBS_FEED_H

#include "engine.h"

#include <jobs/read.h>

/* How far back an interruption reaches, beyond the newest event: relays take events that are 900 s old. */
#define JOBS__FEED_OVERLAP 1200

enum jobs__feed_taken {
    JOBS__TAKEN_NEW,
    JOBS__TAKEN_KNOWN,  /* was handed in before, by this relay or another */
    JOBS__TAKEN_FOREIGN /* forged, malformed, or not what was asked for */
};

struct jobs__feed_options {
    const char *auth_url;
    int64_t start, unix_start; /* the same moment: ms of the monotonic clock, seconds of the calendar's */
    int64_t give_up;           /* ms: the end of a feed that is not live; of a live one, unless it was answered */
    int64_t wake;              /* ms: the owner wants to be woken then; INT64_MAX: no need */
    int64_t timeout;           /* ms for an answer to what is out, and between two of its events */
    int64_t connect_timeout;   /* ms */
    uint64_t seed;             /* of the retries' jitter */
    const char *filter;        /* members of the filter without since, until and limit: "\"kinds\":[43004],…" */
    int64_t since, until;      /* seconds, 0: open */
    int64_t floor;             /* how far back stored events are read, at least since; 0: open */
    unsigned page;             /* events of a page */
    unsigned first_page;       /* of the first, which is waited for; 0: as many */
    bool selected;             /* not live: it is about events that were chosen by their ids (feed_pages.h) */
    bool live;                 /* goes on when everything stored was given; once answered it redials for ever */
    int (*sign_auth)(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                     char id[65]); /* NULL: no key */
    /* One event of the subscription. *created_at is set unless FOREIGN. id is what it claims to be. baseline: it was
     * stored before this feed began, or as good as. */
    enum jobs__feed_taken (*take)(void *context, const char *id, const char *json, size_t len, bool baseline,
                                  int64_t *created_at);
    /* A page is over, or an event that came live was taken: a good moment to hand things out. May be NULL. */
    void (*rest)(void *context);
    /* After a page of a feed that is not live: whether what is as old as its oldest event, or older, is needed still.
     * oldest_id: the page came in NIP-01's order (the newest first; of one second the lowest id), and this was its last
     * one, so that nothing that sorts before it is to come; NULL: it did not. May be NULL. */
    bool (*more)(void *context, int64_t oldest, const char *oldest_id);
    void *context;
};

struct jobs__feed;

int jobs__feed_new(struct jobs__feed **out, const struct jobs__feed_options *options);
void jobs__feed_free(struct jobs__feed *feed);
struct jobs__engine *jobs__feed_engine(struct jobs__feed *feed);

/* Whether it waits because `more` said no. When every feed of an owner does, or is over, each is asked to go on: what
 * one relay gave may have changed what is needed of another. go_on is false when nothing is needed still. */
bool jobs__feed_is_resting(const struct jobs__feed *feed);
bool jobs__feed_go_on(struct jobs__feed *feed, int64_t now);
/* Its owner has enough. */
void jobs__feed_stop(struct jobs__feed *feed);
bool jobs__feed_is_over(const struct jobs__feed *feed);

struct jobs__feed_result {
    bool complete; /* everything stored (or needed) was given at least once; not of one that had to end */
    enum jobs_code
        code; /* why not: JOBS_UNREACHABLE, JOBS_DENIED, JOBS_REFUSED, JOBS_NO_MEMORY; JOBS_OK when complete */
    int retry_after;
    char message[JOBS_RELAY_MESSAGE_MAX +
                 1]; /* the relay's own words, or ours about it, one escaped line; may be empty */
};
const struct jobs__feed_result *jobs__feed_result(const struct jobs__feed *feed);

#endif
