/* index.h - from a value (an id, an author, a kind, a tag) to the numbers of the events that have it.
 *
 * A hash table of byte-string keys. It knows nothing of events.
 */
#ifndef RELAY_INDEX_H
#define RELAY_INDEX_H

#include "store.h"

struct posting {
    char *key;
    size_t len;
    struct numbers numbers;
};

struct index {
    struct posting *slots;
    size_t count;
    size_t capacity; /* a power of two */
};

void index_add(struct index *index, const void *key, size_t len, uint32_t number);
const struct numbers *index_get(const struct index *index, const void *key, size_t len); /* NULL when there is none */
void index_free(struct index *index);

#endif
