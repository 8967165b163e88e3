/* batch.h - the conversation that publishes several events over one good connection: one question whether they are
 * there, all of them, one question whether they arrived. No socket, no clock, no allocation it does not bound.
 *
 * It knows the plain case alone. Whatever else happens (a refusal, a demand for AUTH, a wait, silence, words that may
 * mean something, an event where none was expected) leaves the events it concerns to a session each (session.h), which
 * asks before it sends. So nothing is judged here but what is plainly there.
 */
#ifndef JOBS_BATCH_H
#define JOBS_BATCH_H

#include "engine.h"

#include <jobs/publish.h>

#define JOBS__BATCH_MAX 32 /* events; with more, a relay's limit on the values of a filter would be met */

struct jobs__batch_item {
    const struct jobs_event *event; /* sealed, borrowed; of the others' key and channel, and of a job of its own */

    bool sent;                                /* or about to be: its bytes went to the loop */
    bool stored;                              /* OK true, and not as a duplicate */
    bool duplicate;                           /* called one, by an OK true or false */
    bool absent;                              /* stored, and not shown by an answer that came to its end */
    bool unread;                              /* stored, and no answer came to the question */
    bool confirmed;                           /* shown when asked; never set when that is not asked */
    int64_t sent_at;                          /* ms, as of the loop's clock */
    char message[JOBS_RELAY_MESSAGE_MAX + 1]; /* of that OK, one escaped line */
};

struct jobs__batch_options {
    int64_t start, timeout; /* ms, as of the loop's clock; all of it */
    bool read_back;
    uint64_t seed;                  /* of the questions' limits */
    struct jobs__batch_item *items; /* borrowed; written to while it runs */
    size_t count;                   /* 1 ... JOBS__BATCH_MAX */
};

struct jobs__batch;
/* JOBS_OK, JOBS_NO_MEMORY. */
int jobs__batch_new(struct jobs__batch **out, const struct jobs__batch_options *options);
void jobs__batch_free(struct jobs__batch *batch);
/* Whether the relay asked to wait; for how long (s), 0 when it did not say; in which words, one escaped line. */
bool jobs__batch_throttled(const struct jobs__batch *batch, int *retry_in, const char **words);
struct jobs__engine *jobs__batch_engine(struct jobs__batch *batch);

#endif
