/* replay_ring.h - the events that are between the input and their verdict: a ring that one thread fills and one
 * empties.
 *
 * Its size bounds how many events are unanswered and how far the first undecided one may lie behind the last. The
 * filling thread (replay_source.c) reads, checks, and makes the frames; the emptying one sends and decides.
 */
#ifndef JOBS_REPLAY_RING_H
#define JOBS_REPLAY_RING_H

#include "../core/buffer.h"

#include <jobs/replay.h>

#include <pthread.h>
#include <stdatomic.h>

#define JOBS__RING       ((uint64_t)JOBS_REPLAY_WINDOW_MAX)
#define JOBS__RING_BYTES ((size_t)32 << 20) /* frames held at a time, but for one that alone is larger */

struct jobs__slot {
    struct jobs__buffer frame; /* ["EVENT",{…}] */
    uint64_t line;
    unsigned char id[32];
    char hex[65];     /* "" when the line says none */
    bool maybe_sent;  /* by an earlier run: to be asked for first */
    bool settled;     /* nothing is to be done about it: `verdict` says why */
    bool remembered;  /* settled by the journal */
    bool was_sent;    /* says the journal */
    char verdict[16]; /* of a settled one */
    char *message;    /* of a settled one; or NULL */
    uint16_t next;    /* in its bucket: index + 1 */
};

struct jobs__ring {
    struct jobs__slot slots[JOBS__RING];
    _Atomic uint64_t filled;  /* slots 0 … filled - 1 were ever filled */
    _Atomic uint64_t emptied; /* those below it are free again */
    _Atomic size_t bytes;
    atomic_bool ended;   /* nothing more will be filled */
    atomic_bool waiting; /* the filling thread waits for room */
    volatile sig_atomic_t stop;
    pthread_mutex_t lock;
    pthread_cond_t room;
    /* of the emptying thread */
    uint64_t indexed; /* slots below it are in the buckets until they are emptied */
    uint16_t buckets[2 * JOBS__RING];
};

int jobs__ring_new(struct jobs__ring **out);
void jobs__ring_free(struct jobs__ring *ring); /* NULL-safe */

static inline struct jobs__slot *jobs__ring_at(struct jobs__ring *ring, uint64_t number)
{
    return &ring->slots[number % JOBS__RING];
}

/* The filling thread: a clean slot, NULL when it is to stop; then hand it over. */
struct jobs__slot *jobs__ring_claim(struct jobs__ring *ring);
void jobs__ring_fill(struct jobs__ring *ring);
void jobs__ring_end(struct jobs__ring *ring);
/* Makes the slot one for an event: id and frame. JOBS_OK or JOBS_NO_MEMORY. */
int jobs__slot_event(struct jobs__slot *slot, const char *hex, const char *json, size_t len);
/* Makes it one about which nothing is to be done. */
int jobs__slot_settle(struct jobs__slot *slot, const char *verdict, const char *message);

/* The emptying thread. How many are filled, made findable by their id. */
uint64_t jobs__ring_filled(struct jobs__ring *ring);
/* The first of those with this id from `from` on; UINT64_MAX when there is none. */
uint64_t jobs__ring_find(const struct jobs__ring *ring, const char *hex, uint64_t from);
/* Gives the oldest one back. */
void jobs__ring_empty(struct jobs__ring *ring);

#endif
