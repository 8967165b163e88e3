/* replay_source.h - the thread that fills a ring: reads, checks, and leaves out what the journal knows. */
#ifndef JOBS_REPLAY_SOURCE_H
#define JOBS_REPLAY_SOURCE_H

#include "replay_journal.h"
#include "replay_ring.h"

struct jobs__source {
    struct jobs__ring *ring;
    struct jobs__journal *journal; /* or NULL */
    int descriptor;
    bool verify;
    /* after jobs__source_stop */
    int code;
    struct jobs_error error;
    /* of its own */
    pthread_t thread;
    bool running;
    struct jobs_verifier *verifier;
};

/* Starts it. JOBS_OK, JOBS_NO_MEMORY or JOBS_SYSTEM. */
int jobs__source_start(struct jobs__source *source, struct jobs_error *error);
/* Ends it, wherever it is, and waits for it. */
void jobs__source_stop(struct jobs__source *source);

#endif
