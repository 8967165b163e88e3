/* replay_ring.c - see replay_ring.h. */
#include "replay_ring.h"

#include "../core/hex.h"

#include <stdlib.h>
#include <string.h>

#define KEPT ((size_t)16 * 1024) /* memory that a slot keeps for its next event */
#define LOW  (JOBS__RING / 8)    /* free slots before the filling thread is woken */

int jobs__ring_new(struct jobs__ring **out)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return JOBS_NO_MEMORY;
    pthread_mutex_init(&(*out)->lock, NULL);
    pthread_cond_init(&(*out)->room, NULL);
    for (uint64_t i = 0; i < JOBS__RING; i++)
        (*out)->slots[i].frame.max = JOBS_EVENT_LINE_MAX + 64;
    return JOBS_OK;
}

void jobs__ring_free(struct jobs__ring *ring)
{
    if (ring == NULL)
        return;
    for (uint64_t i = 0; i < JOBS__RING; i++) {
        jobs__buffer_free(&ring->slots[i].frame);
        free(ring->slots[i].message);
    }
    pthread_cond_destroy(&ring->room);
    pthread_mutex_destroy(&ring->lock);
    free(ring);
}

/* --- filling --- */

static bool has_room(struct jobs__ring *ring)
{
    uint64_t held = atomic_load(&ring->filled) - atomic_load(&ring->emptied);
    return held == 0 || (held < JOBS__RING && atomic_load(&ring->bytes) < JOBS__RING_BYTES);
}

struct jobs__slot *jobs__ring_claim(struct jobs__ring *ring)
{
    if (!has_room(ring)) {
        pthread_mutex_lock(&ring->lock);
        atomic_store(&ring->waiting, true);
        while (!has_room(ring) && !ring->stop)
            pthread_cond_wait(&ring->room, &ring->lock);
        atomic_store(&ring->waiting, false);
        pthread_mutex_unlock(&ring->lock);
    }
    if (ring->stop)
        return NULL;
    struct jobs__slot *slot = jobs__ring_at(ring, atomic_load(&ring->filled));
    slot->hex[0] = '\0';
    slot->maybe_sent = slot->settled = slot->remembered = slot->was_sent = false;
    return slot;
}

void jobs__ring_fill(struct jobs__ring *ring)
{
    uint64_t number = atomic_load(&ring->filled);
    atomic_fetch_add(&ring->bytes, jobs__ring_at(ring, number)->frame.len);
    atomic_store(&ring->filled, number + 1);
}

void jobs__ring_end(struct jobs__ring *ring)
{
    atomic_store(&ring->ended, true);
}

int jobs__slot_event(struct jobs__slot *slot, const char *hex, const char *json, size_t len)
{
    struct jobs__buffer *frame = &slot->frame;
    memcpy(slot->hex, hex, 65);
    jobs__buffer_add(frame, "[\"EVENT\",", 9);
    jobs__buffer_add(frame, json, len);
    jobs__buffer_add(frame, "]", 1);
    return !frame->failed && jobs__hex_read(slot->id, sizeof slot->id, hex) ? JOBS_OK : JOBS_NO_MEMORY;
}

int jobs__slot_settle(struct jobs__slot *slot, const char *verdict, const char *message)
{
    size_t len = strnlen(verdict, sizeof slot->verdict - 1);
    memcpy(slot->verdict, verdict, len);
    slot->verdict[len] = '\0';
    slot->settled = true;
    slot->message = message != NULL && message[0] != '\0' ? strdup(message) : NULL;
    return message == NULL || message[0] == '\0' || slot->message != NULL ? JOBS_OK : JOBS_NO_MEMORY;
}

/* --- emptying --- */

/* Ids are evenly spread: whoever makes some that are not costs us at most a walk over the ring. */
static uint16_t *bucket_of(struct jobs__ring *ring, const unsigned char id[32])
{
    return &ring->buckets[(id[0] | (unsigned)id[1] << 8) % (2 * JOBS__RING)];
}

uint64_t jobs__ring_filled(struct jobs__ring *ring)
{
    uint64_t filled = atomic_load(&ring->filled);
    for (; ring->indexed < filled; ring->indexed++) {
        struct jobs__slot *slot = jobs__ring_at(ring, ring->indexed);
        if (slot->settled)
            continue;
        uint16_t *bucket = bucket_of(ring, slot->id);
        slot->next = *bucket;
        *bucket = (uint16_t)(ring->indexed % JOBS__RING + 1);
    }
    return filled;
}

uint64_t jobs__ring_find(const struct jobs__ring *ring, const char *hex, uint64_t from)
{
    unsigned char id[32];
    uint64_t emptied = atomic_load(&ring->emptied), found = UINT64_MAX;
    if (!jobs__hex_read(id, sizeof id, hex))
        return found;
    for (uint16_t i = ring->buckets[(id[0] | (unsigned)id[1] << 8) % (2 * JOBS__RING)]; i != 0;
         i = ring->slots[i - 1].next) {
        uint64_t number = emptied + (i - 1 - emptied) % JOBS__RING;
        if (number >= from && number < found && memcmp(ring->slots[i - 1].id, id, sizeof id) == 0)
            found = number;
    }
    return found;
}

void jobs__ring_empty(struct jobs__ring *ring)
{
    uint64_t number = atomic_load(&ring->emptied);
    struct jobs__slot *slot = jobs__ring_at(ring, number);
    if (!slot->settled) {
        uint16_t *link = bucket_of(ring, slot->id);
        while (*link != number % JOBS__RING + 1)
            link = &ring->slots[*link - 1].next;
        *link = slot->next;
    }
    atomic_fetch_sub(&ring->bytes, slot->frame.len);
    if (slot->frame.capacity > KEPT)
        jobs__buffer_free(&slot->frame);
    else
        jobs__buffer_clear(&slot->frame);
    free(slot->message);
    slot->message = NULL;
    atomic_store(&ring->emptied, number + 1);
    uint64_t held = atomic_load(&ring->filled) - (number + 1);
    if (atomic_load(&ring->waiting) && (held <= JOBS__RING - LOW || atomic_load(&ring->bytes) < JOBS__RING_BYTES / 2)) {
        pthread_mutex_lock(&ring->lock);
        pthread_cond_signal(&ring->room);
        pthread_mutex_unlock(&ring->lock);
    }
}
