/* jobs/read.h - what readers do: fetch, list, watch, verify, replay. Nothing unverified is ever handed out. */
#ifndef JOBS_READ_H
#define JOBS_READ_H

#include <jobs/publish.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fetch one event by id (64 lower-case hex) from the first relay that has it; its id and signature hold. JOBS_OK,
 * JOBS_NOT_FOUND (every relay answered without it), or the worst of the relays' faults. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_read_event(struct jobs_event **out, const char *event_id,
                                              const struct jobs_client_options *options, struct jobs_error *error);

/* --- feeds: what is stored, and what comes --- */

/* What is asked for. Only events that verify and match are ever handed out, each once, from whichever relay. */
struct jobs_query {
    const char *channel;        /* NULL: any */
    const char *const *jobs;    /* 64 lower-case hex each: an `e` tag names one of them */
    size_t job_count;           /* 0: any */
    const char *const *authors; /* 64 lower-case hex each */
    size_t author_count;
    const uint32_t *kinds;
    size_t kind_count;    /* at least one */
    int64_t since, until; /* seconds, both inclusive; 0: open */
    size_t limit;         /* of jobs_read_list: so many newest ones are wanted, as `more` says; 0: all */
    const struct jobs_known_event {
        const char *id;
        int64_t created_at;
    } * known; /* were handed out by an earlier call, and are not again */
    size_t known_count;
    /* Of jobs_read_list, NULL: never enough. A relay has given all it has that is newer than `oldest` and, unless
     * oldest_id is NULL, of that second all with a lower id: is something else needed still? Asked again when other
     * relays have given more. */
    bool (*more)(void *context, int64_t oldest, const char *oldest_id);
    /* Of jobs_read_watch: what was stored before, and is older than `since`, is not handed out, but what comes
     * afterwards is, however old it says it is: a publisher's clock may be behind. Else `since` is kept to. */
    bool from_now;
};

/* What came of it beside the events. */
struct jobs_read_counts {
    size_t events;    /* handed out */
    size_t foreign;   /* not what was asked for: left out */
    size_t malformed; /* no event, or its id or signature does not hold: left out */
    struct jobs_relay_fault {
        char *url;
        enum jobs_code code;
        char message[JOBS_RELAY_MESSAGE_MAX + 1];
    } * faults; /* relays that did not give everything */
    size_t fault_count;
};
JOBS_PUBLIC void jobs_read_counts_wipe(struct jobs_read_counts *counts);

/* All stored events of the query, roughly newest first, each as soon as it was checked. visit returns a number below 0
 * when it has enough. Each relay's whole answer takes at most options->timeout. Returns JOBS_OK when at least one relay
 * gave all it has (or all that is needed; counts names the others), or visit had enough; JOBS_UNREACHABLE with the
 * error's message "stopped" when options->stop was set before; else the worst of the relays' faults. What was handed
 * out is true in any case, but not all. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_read_list(const struct jobs_query *query, const struct jobs_client_options *options,
                                             int (*visit)(void *context, const struct jobs_event *event), void *context,
                                             struct jobs_read_counts *counts, struct jobs_error *error);

/* The same, and whatever comes afterwards, for `wait` seconds (0: for ever). A relay that has answered once is dialled
 * again whenever its connection drops, with an overlap, until then; one that never does, for options->timeout (with
 * `wait`, until then). What is stored is handed out oldest first a page, and visit is called with NULL when all that
 * has come so far was handed out. Returns JOBS_OK when visit had enough; JOBS_UNREACHABLE when the time was up, or
 * options->stop was set; JOBS_DENIED, JOBS_REFUSED or JOBS_UNREACHABLE when no relay lets us read. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_read_watch(const struct jobs_query *query, const struct jobs_client_options *options,
                                              int wait, int (*visit)(void *context, const struct jobs_event *event),
                                              void *context, struct jobs_read_counts *counts, struct jobs_error *error);

/* --- very many events: JSON Lines --- */

#define JOBS_EVENT_LINE_MAX ((size_t)1048576) /* bytes of one event; longer ones are malformed */

/* A piece of a stream: whole lines, each with its newline; the last one of the stream may have none. Starts zeroed. */
struct jobs_lines_block {
    char *bytes;
    size_t len, capacity;
    uint64_t first;      /* number of its first line, from 1 */
    uint64_t count;      /* of its lines */
    uint64_t bytes_read; /* of the whole stream, so far */
};

/* Reads a descriptor in blocks of some 256 KiB, and of less when it has no more at the moment. A line that is longer
 * than an event can be is handed out cut to a length that is still too long, so that memory stays flat. */
struct jobs_lines;
JOBS_PUBLIC JOBS_MUST_USE int jobs_lines_new(struct jobs_lines **out, int descriptor,
                                             const volatile sig_atomic_t *stop); /* JOBS_OK or JOBS_NO_MEMORY */
JOBS_PUBLIC void jobs_lines_free(struct jobs_lines *lines);                      /* NULL-safe; closes nothing */
/* The next block; its count is 0 at the end, or when *stop was set. JOBS_OK, JOBS_NO_MEMORY or JOBS_SYSTEM. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_lines_read(struct jobs_lines *lines, struct jobs_lines_block *block,
                                              struct jobs_error *error);
/* The line at *at, without its \n or \r\n; moves *at behind it; false behind the last one. */
JOBS_PUBLIC bool jobs_lines_next(const struct jobs_lines_block *block, size_t *at, const char **line, size_t *len);
JOBS_PUBLIC void jobs_lines_block_free(struct jobs_lines_block *block);

/* --- very many events: verify --- */

enum jobs_verified_event {
    JOBS_VERIFIED_VALID,
    JOBS_VERIFIED_MALFORMED,
    JOBS_VERIFIED_BAD_ID,
    JOBS_VERIFIED_BAD_SIGNATURE
};
JOBS_PUBLIC const char *jobs_verified_name(enum jobs_verified_event event); /* "valid" ... "bad_signature" */

enum jobs_card {
    JOBS_CARD_UNKNOWN, /* the event is not valid, or of another kind than 43004 */
    JOBS_CARD_YES,
    JOBS_CARD_NO
};

struct jobs_verified {
    enum jobs_verified_event event;
    enum jobs_card card;
    char id[65];        /* what the event says its id is; "" when it says none */
    int32_t kind;       /* -1 when it says none */
    const char *rule;   /* of docs/protocol: why it is no card; else NULL */
    const char *reason; /* one sentence: why it is not valid, or no card; NULL when there is nothing to say. Lives until
                           the next check or the verifier's end */
};

/* Checks events one after the other: shape, id, signature, and whether a handoff is a card. It keeps its memory and the
 * parsed keys of the last 256 authors, so that a steady stream allocates nothing. One a thread: verifiers share
 * nothing.
 */
struct jobs_verifier;
JOBS_PUBLIC JOBS_MUST_USE int jobs_verifier_new(struct jobs_verifier **out); /* JOBS_OK or JOBS_NO_MEMORY */
JOBS_PUBLIC void jobs_verifier_free(struct jobs_verifier *verifier);         /* NULL-safe */

/* One event as JSON of len bytes (a line, its end left out). Returns JOBS_OK, whatever the verdict, or JOBS_NO_MEMORY.
 */
JOBS_PUBLIC JOBS_MUST_USE int jobs_verifier_check(struct jobs_verified *out, struct jobs_verifier *verifier,
                                                  const char *json, size_t len);

#ifdef __cplusplus
}
#endif
#endif
