/* seen.c - see seen.h. Open addressing; an id is its own hash, for it is one, and half of it tells any two apart. */
#include "seen.h"

#include "../core/hex.h"

#include <stdlib.h>
#include <string.h>

#define KEPT       16 /* bytes of an id */
#define FIRST_SIZE 1024

struct jobs__seen_id {
    unsigned char id[KEPT];
    int64_t created_at; /* UNUSED: a free slot */
};

#define UNUSED INT64_MIN

static struct jobs__seen_id *slot(const struct jobs__seen *seen, const unsigned char id[KEPT])
{
    uint64_t hash;
    memcpy(&hash, id, sizeof hash);
    for (size_t at = (size_t)hash & (seen->capacity - 1);; at = (at + 1) & (seen->capacity - 1))
        if (seen->slots[at].created_at == UNUSED || memcmp(seen->slots[at].id, id, KEPT) == 0)
            return &seen->slots[at];
}

/* Into a table of another size, without what is not newer than the horizon. */
static bool rebuild(struct jobs__seen *seen, size_t capacity, int64_t horizon)
{
    struct jobs__seen next = {.slots = calloc(capacity, sizeof *next.slots), .capacity = capacity, .horizon = horizon};
    if (next.slots == NULL)
        return false;
    for (size_t i = 0; i < capacity; i++)
        next.slots[i].created_at = UNUSED;
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->slots[i].created_at != UNUSED && seen->slots[i].created_at > horizon) {
            *slot(&next, seen->slots[i].id) = seen->slots[i];
            next.count++;
        }
    free(seen->slots);
    *seen = next;
    return true;
}

enum jobs__seen_what jobs__seen_add(struct jobs__seen *seen, const char *hex, int64_t created_at)
{
    unsigned char id[32];
    if (!jobs__hex_read(id, sizeof id, hex) || created_at <= seen->horizon)
        return JOBS__SEEN_BEFORE;
    if ((seen->capacity == 0 || seen->count * 4 >= seen->capacity * 3) &&
        !rebuild(seen, seen->capacity == 0 ? FIRST_SIZE : seen->capacity * 2, seen->horizon))
        return JOBS__SEEN_NO_MEMORY;
    struct jobs__seen_id *at = slot(seen, id);
    if (at->created_at != UNUSED)
        return JOBS__SEEN_BEFORE;
    memcpy(at->id, id, KEPT);
    at->created_at = created_at;
    seen->count++;
    return JOBS__SEEN_NEW;
}

bool jobs__seen_find(const struct jobs__seen *seen, const char *hex, int64_t *created_at)
{
    unsigned char id[32];
    if (seen->capacity == 0 || !jobs__hex_read(id, sizeof id, hex))
        return false;
    const struct jobs__seen_id *at = slot(seen, id);
    if (at->created_at == UNUSED)
        return false;
    *created_at = at->created_at;
    return true;
}

static int by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

bool jobs__seen_halve(struct jobs__seen *seen)
{
    int64_t *times = malloc((seen->count + 1) * sizeof *times);
    size_t count = 0;
    if (times == NULL)
        return false;
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->slots[i].created_at != UNUSED)
            times[count++] = seen->slots[i].created_at;
    qsort(times, count, sizeof *times, by_time);
    int64_t middle = count > 0 ? times[count / 2] : seen->horizon;
    free(times);
    return rebuild(seen, seen->capacity > 0 ? seen->capacity : FIRST_SIZE, middle);
}

void jobs__seen_free(struct jobs__seen *seen)
{
    free(seen->slots);
    *seen = (struct jobs__seen){0};
}
