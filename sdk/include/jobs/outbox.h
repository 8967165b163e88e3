/* jobs/outbox.h - what was signed and where it stands; the design is docs/delivery.md, "Outbox".
 *
 * One folder a job, locked while it is worked on; one file an event, written and synced before the first byte leaves.
 */
#ifndef JOBS_OUTBOX_H
#define JOBS_OUTBOX_H

#include <jobs/publish.h>

#ifdef __cplusplus
extern "C" {
#endif

enum jobs_entry_state {
    JOBS_ENTRY_PENDING,
    JOBS_ENTRY_SENT,
    JOBS_ENTRY_REJECTED,
    JOBS_ENTRY_DAMAGED
};
JOBS_PUBLIC const char *jobs_entry_state_name(enum jobs_entry_state state); /* "pending" ... */

struct jobs_entry_relay {
    const char *url;
    const char *state; /* "pending", "confirmed", "accepted", "unseen", "rejected" */
    const char *message;
    unsigned attempts;
};

struct jobs_entry {
    const char *event_id;               /* "" of a damaged one whose id cannot be read */
    const char *job, *channel, *author; /* hex, UUID, hex; "" when unknown */
    int64_t created_at;
    enum jobs_entry_state state;
    const struct jobs_entry_relay *relays;
    size_t relay_count;
    const struct jobs_event *event; /* NULL of a damaged or pruned one */
    const char *damage;             /* what is wrong with a damaged one: static; else NULL */
    const char *path;               /* where it lies */
};

/* Calls visit for every entry of every key, oldest first within a folder; stops at a non-zero return and returns it.
 * state_dir as in struct jobs_client_options. Read-only: takes no lock, makes no folder. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_outbox_list(const char *state_dir,
                                               int (*visit)(void *context, const struct jobs_entry *entry),
                                               void *context, struct jobs_error *error);

/* The one entry with this event id (64 lower-case hex); JOBS_NOT_FOUND when there is none. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_outbox_show(const char *state_dir, const char *event_id,
                                               int (*visit)(void *context, const struct jobs_entry *entry),
                                               void *context, struct jobs_error *error);

/* Sends what is pending of options->key, oldest first; relays come from the entries, or only options->relays when some
 * are named. visit is called once an entry with its receipt. *elsewhere (may be NULL) is how many entries were left
 * alone, or wait on, for relays that were not named. Returns JOBS_OK when nothing is left pending of what it was to
 * send. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_outbox_flush(const struct jobs_client_options *options,
                                                int (*visit)(void *context, const struct jobs_receipt *receipt,
                                                             int code),
                                                void *context, size_t *elsewhere, struct jobs_error *error);

/* Forgets one event, or removes the sent bytes older than `days` (digests and facts stay). *count is how many. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_outbox_drop(const char *state_dir, const char *event_id, struct jobs_error *error);
JOBS_PUBLIC JOBS_MUST_USE int jobs_outbox_prune(const char *state_dir, unsigned days, size_t *count,
                                                struct jobs_error *error);

#ifdef __cplusplus
}
#endif
#endif
