/* seen.h - which events were handed out already: ids in a hash table, with their time. */
#ifndef JOBS_SEEN_H
#define JOBS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jobs__seen {
    struct jobs__seen_id *slots;
    size_t count, capacity; /* capacity is a power of two */
};

/* Adds; true when it was there before, false when it is new or memory ran out. hex is 64 lower-case digits. */
bool jobs__seen_add(struct jobs__seen *seen, const char *hex, int64_t created_at);
/* Whether it is there; its time goes to *created_at. */
bool jobs__seen_find(const struct jobs__seen *seen, const char *hex, int64_t *created_at);
/* Forgets what is older. */
void jobs__seen_forget(struct jobs__seen *seen, int64_t older_than);
void jobs__seen_free(struct jobs__seen *seen);

#endif
