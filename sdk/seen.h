/* seen.h - which events were handed out already: ids in a hash table, with their time. */
#ifndef JOBS_SEEN_H
#define JOBS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jobs__seen {
    struct jobs__seen_id *slots;
    size_t count, capacity; /* capacity is a power of two */
    int64_t horizon;        /* whatever is not newer counts as seen; set to -1 at first: nothing */
};

enum jobs__seen_what {
    JOBS__SEEN_NEW,
    JOBS__SEEN_BEFORE,
    JOBS__SEEN_NO_MEMORY
};

/* Adds. hex is 64 lower-case digits. */
enum jobs__seen_what jobs__seen_add(struct jobs__seen *seen, const char *hex, int64_t created_at);
/* Whether it is there; its time goes to *created_at. */
bool jobs__seen_find(const struct jobs__seen *seen, const char *hex, int64_t *created_at);
/* Forgets the older half, and raises the horizon so that none of it can come back. Returns false when memory ran out:
 * then nothing was forgotten. */
bool jobs__seen_halve(struct jobs__seen *seen);
void jobs__seen_free(struct jobs__seen *seen);

#endif
