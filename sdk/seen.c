/* seen.c - see seen.h. Open addressing; an id is its own hash, for it is one. */
#include "seen.h"

#include "hex.h"

#include <stdlib.h>
#include <string.h>

struct jobs__seen_id {
    unsigned char id[32];
    int64_t created_at;
    bool used;
};

static struct jobs__seen_id *slot(const struct jobs__seen *seen, const unsigned char id[32])
{
    uint64_t hash;
    memcpy(&hash, id, sizeof hash);
    for (size_t at = (size_t)hash & (seen->capacity - 1);; at = (at + 1) & (seen->capacity - 1))
        if (!seen->slots[at].used || memcmp(seen->slots[at].id, id, 32) == 0)
            return &seen->slots[at];
}

static bool rebuild(struct jobs__seen *seen, size_t capacity, int64_t older_than)
{
    struct jobs__seen next = {.slots = calloc(capacity, sizeof *next.slots), .capacity = capacity};
    if (next.slots == NULL)
        return false;
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->slots[i].used && seen->slots[i].created_at >= older_than) {
            *slot(&next, seen->slots[i].id) = seen->slots[i];
            next.count++;
        }
    free(seen->slots);
    *seen = next;
    return true;
}

bool jobs__seen_add(struct jobs__seen *seen, const char *hex, int64_t created_at)
{
    unsigned char id[32];
    if (!jobs__hex_read(id, sizeof id, hex))
        return false;
    if ((seen->capacity == 0 || seen->count * 4 >= seen->capacity * 3) &&
        !rebuild(seen, seen->capacity == 0 ? 1024 : seen->capacity * 2, INT64_MIN))
        return false;
    struct jobs__seen_id *at = slot(seen, id);
    if (at->used)
        return true;
    memcpy(at->id, id, sizeof id);
    at->created_at = created_at;
    at->used = true;
    seen->count++;
    return false;
}

bool jobs__seen_find(const struct jobs__seen *seen, const char *hex, int64_t *created_at)
{
    unsigned char id[32];
    if (seen->capacity == 0 || !jobs__hex_read(id, sizeof id, hex))
        return false;
    const struct jobs__seen_id *at = slot(seen, id);
    if (at->used)
        *created_at = at->created_at;
    return at->used;
}

void jobs__seen_forget(struct jobs__seen *seen, int64_t older_than)
{
    (void)rebuild(seen, seen->capacity == 0 ? 1024 : seen->capacity, older_than);
}

void jobs__seen_free(struct jobs__seen *seen)
{
    free(seen->slots);
    *seen = (struct jobs__seen){0};
}
