/* outbox_flush.h - what the parts of a flush share.
 *
 * outbox_waiting.c finds what waits; outbox_flush.c carries the run, and one entry over all its relays;
 * outbox_batch.c carries several at once, as far as all goes plainly. Nothing else includes this.
 */
#ifndef JOBS_SDK_OUTBOX_FLUSH_H
#define JOBS_SDK_OUTBOX_FLUSH_H

#include "batch.h"
#include "publisher.h"

struct jobs__waiting { /* one entry that waits */
    int64_t tried;     /* when it may last have been sent in vain; 0: never */
    int64_t created_at;
    char id[65], folder[65];
    bool elsewhere; /* it waits for none of the relays that were named */
};

struct jobs__resting { /* a relay that is left alone for the rest of this run */
    char *url;
    struct jobs_relay_result last; /* url NULL */
};

/* One entry on its way: locked, loaded, sent, reported. */
struct jobs__outgoing {
    struct jobs__waiting *waiting;
    struct jobs__folder folder;
    struct jobs__entry *entry;   /* NULL: it could not be had, and code says why */
    struct jobs__relays relays;  /* that are still to be asked; each by a session of its own */
    struct jobs__before *before; /* as many: what a batch left behind; or NULL */
    struct jobs_receipt receipt; /* with the relays of which all is known already */
    struct jobs_error error;
    int code;
};

struct jobs__flush {
    const struct jobs_client_options *options;
    struct jobs__relays only; /* the relays named, none: all */
    int (*visit)(void *context, const struct jobs_receipt *receipt, int code);
    void *context;
    struct jobs_error *error;
    char *state_dir;
    struct jobs__waiting *waiting;
    size_t count, capacity;
    size_t next;                     /* of those that wait: to be loaded next */
    struct jobs__outgoing *outgoing; /* loaded, in order */
    size_t loaded, room;             /* so many, at most so many */
    struct jobs__resting *resting;
    size_t resting_count;
    struct jobs__kept *kept;    /* one connection a relay, for all of the run */
    struct jobs__names markers; /* of pending/, as they were before we looked */
    bool *marker_used;
    bool some_unseen; /* a folder was locked, or could not be read */
    bool cut_short;   /* it was stopped before all was looked at */
    size_t left;      /* entries that still wait */
    size_t elsewhere; /* entries that wait for relays which were not named */
    int worst;        /* why: the code to return */
    int visit_code;   /* a non-zero return of visit ends the run */

    bool batch_is_known;         /* the entries that are being finished need no more talk */
    struct jobs__counter others; /* how many wait behind such a batch */
};

/* outbox_waiting.c: fills in `waiting`, in the order in which they are to be sent, and puts pending/ right. */
int jobs__flush_collect(struct jobs__flush *flush);

/* outbox_flush.c: a line for the caller about something that is not sent now; what says most about the run is kept. */
void jobs__flush_say(struct jobs__flush *flush, const char *id, bool stored, int code, const char *words);
void jobs__flush_say_damaged(struct jobs__flush *flush, const struct jobs__folder *folder); /* if something was */
void jobs__flush_note(struct jobs__flush *flush, int code);
/* Leaves a relay alone for the rest of the run, if by this result it is in vain to try on. JOBS_OK, JOBS_NO_MEMORY. */
int jobs__flush_let_rest(struct jobs__flush *flush, const struct jobs_relay_result *result);

/* Loads the next one; false when there is none, or no room, or when those that are loaded do not go together. */
bool jobs__flush_load(struct jobs__flush *flush);

/* outbox_batch.c: whether two entries may go together. */
bool jobs__batch_alike(const struct jobs__outgoing *a, const struct jobs__outgoing *b);
/* Whether the first that is loaded has a good connection to each of its relays. */
bool jobs__batch_is_ready(const struct jobs__flush *flush);
/* How many of those that are loaded go together then, one at least. */
size_t jobs__batch_size(const struct jobs__flush *flush);
/* Sends so many of them as far as that goes plainly, writes down what became of them, and moves relays that have it
 * into their receipts. Meanwhile more are loaded. An error (of memory, of the system) is left in those it concerns. */
void jobs__batch_send(struct jobs__flush *flush, size_t count);

#endif
