/* index.c - see index.h. Open addressing, FNV-1a. */
#include "index.h"

#include "need.h"

#include <stdlib.h>
#include <string.h>

void numbers_add(struct numbers *numbers, uint32_t number)
{
    if (numbers->count == numbers->capacity) {
        numbers->capacity = numbers->capacity ? numbers->capacity * 2 : 1;
        numbers->at = need_more(numbers->at, numbers->capacity, sizeof *numbers->at);
    }
    numbers->at[numbers->count++] = number;
}

void numbers_free(struct numbers *numbers)
{
    free(numbers->at);
    *numbers = (struct numbers){0};
}

static uint64_t hash(const char *key, size_t len)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)key[i]) * 1099511628211u;
    return h ^ (h >> 32);
}

static struct posting *slot_of(const struct index *index, const char *key, size_t len)
{
    size_t i = hash(key, len) & (index->capacity - 1);
    while (index->slots[i].key != NULL && (index->slots[i].len != len || memcmp(index->slots[i].key, key, len) != 0))
        i = (i + 1) & (index->capacity - 1);
    return &index->slots[i];
}

static void grow(struct index *index)
{
    struct index bigger = {.capacity = index->capacity ? index->capacity * 2 : 1024, .count = index->count};
    bigger.slots = need(bigger.capacity * sizeof *bigger.slots);
    for (size_t i = 0; i < index->capacity; i++)
        if (index->slots[i].key != NULL)
            *slot_of(&bigger, index->slots[i].key, index->slots[i].len) = index->slots[i];
    free(index->slots);
    *index = bigger;
}

void index_add(struct index *index, const void *key, size_t len, uint32_t number)
{
    if (index->count * 2 >= index->capacity)
        grow(index);
    struct posting *slot = slot_of(index, key, len);
    if (slot->key == NULL) {
        slot->key = need_copy(key, len);
        slot->len = len;
        index->count++;
    }
    numbers_add(&slot->numbers, number);
}

const struct numbers *index_get(const struct index *index, const void *key, size_t len)
{
    if (index->capacity == 0)
        return NULL;
    const struct posting *slot = slot_of(index, key, len);
    return slot->key == NULL ? NULL : &slot->numbers;
}

void index_free(struct index *index)
{
    for (size_t i = 0; i < index->capacity; i++) {
        free(index->slots[i].key);
        numbers_free(&index->slots[i].numbers);
    }
    free(index->slots);
    *index = (struct index){0};
}
