/* jobs/replay.h - very many events through relays, as they are: nothing is signed, nothing is changed. */
#ifndef JOBS_REPLAY_H
#define JOBS_REPLAY_H

#include <jobs/read.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JOBS_REPLAY_WINDOW_MAX 1024 /* events unanswered at a time, at most */

struct jobs_replay_options {
    int input;           /* descriptor: events as JSON Lines; read by a thread of its own */
    size_t window;       /* at most so many unanswered; 0: as many as the relay bears */
    size_t rate;         /* events a second to each relay, 0: no limit */
    bool verify;         /* the signature of each event is checked before it is sent, not only shape and id */
    const char *journal; /* what was decided, on disk before it is told; the same input goes on behind it; or NULL */
    int expect;          /* descriptor: events that every relay must return afterwards; -1: none */
};

/* What became of one line. Texts live only during the call. */
struct jobs_replayed {
    uint64_t line;
    const char *event_id; /* NULL when it says none */
    const char
        *verdict;        /* "accepted", "duplicate", "rejected", "unknown"; of a line that is no valid event
                            jobs_verified_name; of one that was expected "confirmed", "missing", "different", "unknown" */
    const char *message; /* the relay's words or ours, one escaped line */
    bool expected;       /* of the second pass: a line of `expect` */
    bool good;           /* accepted, duplicate or confirmed */
};

/* The lines behind one another make up lines = accepted + … + invalid; of earlier runs of the journal too. */
struct jobs_replay_counts {
    uint64_t sent; /* events of which a frame left */
    uint64_t accepted, duplicate, rejected, unknown, invalid;
    uint64_t confirmed, missing, different, unasked; /* of those expected */
};

/* Each line once, in the order of the input; those expected after all of them. visit returns a number other than 0 to
 * end it, which is then returned. options->timeout is the time since a relay's last answer. Returns JOBS_OK when
 * every event was accepted or a duplicate and every expected one confirmed, else JOBS_REFUSED or JOBS_UNKNOWN; or what
 * kept it from beginning or going on: JOBS_USAGE, JOBS_SYSTEM, JOBS_BUSY, JOBS_NO_MEMORY. counts are always filled in.
 */
JOBS_PUBLIC JOBS_MUST_USE int jobs_replay(const struct jobs_replay_options *replay,
                                          const struct jobs_client_options *options,
                                          int (*visit)(void *context, const struct jobs_replayed *replayed),
                                          void *context, struct jobs_replay_counts *counts, struct jobs_error *error);

#ifdef __cplusplus
}
#endif
#endif
