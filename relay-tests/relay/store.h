/* store.h - the relay's events: JSON Lines on disk, everything that filters look at in memory.
 *
 * Appended events are numbered from 0 and visible to queries at once, but durable only after store_sync: nobody may be
 * told of an event whose number is not below store_synced(). A last line that a crash has cut off is removed when the
 * store is opened; other damaged lines are left where they are and not shown. The store never judges an event.
 */
#ifndef RELAY_STORE_H
#define RELAY_STORE_H

#include "filter.h"

#include <jobs/event.h>

#define STORE_FILE "events.jsonl"

struct store;

struct numbers {
    uint32_t *at;
    size_t count;
    size_t capacity;
};

/* dir is created when missing; NULL keeps everything in memory. Returns JOBS_OK, JOBS_SYSTEM (no such place, or another
 * relay holds it) */
int store_open(struct store **out, const char *dir, struct jobs_error *error);
void store_close(struct store *store); /* NULL-safe; does not sync */

/* false when it was there already; *number is its number either way. */
bool store_add(struct store *store, const struct jobs_event *event, uint32_t *number);

/* Writes and fsyncs what was added since the last time; stops the process when that fails, since what was promised
 * cannot be kept. */
void store_sync(struct store *store);
uint32_t store_count(const struct store *store);  /* events added */
uint32_t store_synced(const struct store *store); /* of these, the first so many are durable */

const struct record *store_record(const struct store *store, uint32_t number);
bool store_find(const struct store *store, const unsigned char id[32], uint32_t *number);
/* Appends the event's JSON. */
void store_read(const struct store *store, uint32_t number, struct jobs__buffer *out);
/* From now on no query finds it. (A kind 5 does this again when the store is opened.) */
void store_hide(struct store *store, uint32_t number);
/* Hides what a kind 5 names and may remove: events of its own author. */
void store_obey_deletion(struct store *store, const struct record *deletion);

/* What any of the filters matches: newest first, then lowest id; each filter's limit counts its own newest. */
void store_query(const struct store *store, const struct filter *filters, size_t count, struct numbers *out);
void numbers_add(struct numbers *numbers, uint32_t number);
void numbers_free(struct numbers *numbers);

#endif
