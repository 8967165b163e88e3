/* life.c - puts a job's events in order; life_show.c shows them. */
#include "life.h"

#include <stdlib.h>
#include <string.h>

static void wipe(struct life_event *event)
{
    card_close(&event->card);
    jobs_event_free(event->event);
}

int life_add(struct life *life, const struct jobs_event *event)
{
    size_t len;
    const char *json = jobs_event_json(event, &len);
    if (life->count == life->capacity) {
        size_t capacity = life->capacity * 2 + 16;
        struct life_event *more = realloc(life->events, capacity * sizeof *more);
        if (more == NULL)
            return JOBS_NO_MEMORY;
        life->events = more;
        life->capacity = capacity;
    }
    struct life_event *added = &life->events[life->count];
    memset(added, 0, sizeof *added);
    if (jobs_event_parse(&added->event, json, len, NULL) != JOBS_OK)
        return JOBS_NO_MEMORY; /* it was parsed before */
    int code = card_open_verified(&added->card, added->event);
    if (code == JOBS_OK)
        life->count++;
    else
        wipe(added);
    return code;
}

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Within a second in the order of the kinds, which is that of a job's life. */
static int by_time(const void *a, const void *b)
{
    const struct jobs_event *one = ((const struct life_event *)a)->event,
                            *other = ((const struct life_event *)b)->event;
    int64_t one_time = jobs_event_created_at(one), other_time = jobs_event_created_at(other);
    if (one_time != other_time)
        return one_time < other_time ? -1 : 1;
    if (jobs_event_kind(one) != jobs_event_kind(other))
        return jobs_event_kind(one) < jobs_event_kind(other) ? -1 : 1;
    return strcmp(jobs_event_id(one), jobs_event_id(other));
}

/* In the request's channel, if it has one. */
static void leave_out_elsewhere(struct life *life)
{
    for (size_t i = 0; i < life->count; i++)
        if (strcmp(jobs_event_id(life->events[i].event), life->job) == 0) {
            life->has_request = true;
            life->channel = jobs_event_channel(life->events[i].event);
        }
    size_t kept = 0;
    for (size_t i = 0; i < life->count; i++) {
        if (life->channel == NULL || same(jobs_event_channel(life->events[i].event), life->channel)) {
            life->events[kept++] = life->events[i];
        } else {
            wipe(&life->events[i]);
            life->elsewhere++;
        }
    }
    life->count = kept;
}

static bool replaces(const struct life_event *later, const struct life_event *earlier)
{
    return later->card.handoff != NULL && earlier->card.handoff != NULL && later != earlier &&
           same(jobs_event_author(later->event), jobs_event_author(earlier->event)) &&
           same(jobs_event_channel(later->event), jobs_event_channel(earlier->event)) &&
           same(jobs_handoff_job_request(later->card.handoff), jobs_handoff_job_request(earlier->card.handoff));
}

static int by_id(const void *a, const void *b)
{
    return strcmp(jobs_event_id((*(struct life_event *const *)a)->event),
                  jobs_event_id((*(struct life_event *const *)b)->event));
}

static int by_id_of(const void *id, const void *event)
{
    return strcmp(id, jobs_event_id((*(struct life_event *const *)event)->event));
}

int life_settle(struct life *life)
{
    leave_out_elsewhere(life);
    if (life->count == 0)
        return JOBS_OK;
    struct life_event **index = calloc(life->count, sizeof *index);
    if (index == NULL)
        return JOBS_NO_MEMORY;
    qsort(life->events, life->count, sizeof *life->events, by_time);
    for (size_t i = 0; i < life->count; i++)
        index[i] = &life->events[i];
    qsort(index, life->count, sizeof *index, by_id);
    for (size_t i = 0; i < life->count; i++) { /* the last that does so counts */
        const struct life_event *later = &life->events[i];
        const char *earlier = later->card.handoff != NULL ? jobs_handoff_supersedes(later->card.handoff) : NULL;
        struct life_event **found =
            earlier != NULL ? bsearch(earlier, index, life->count, sizeof *index, by_id_of) : NULL;
        if (found != NULL && replaces(later, *found))
            (*found)->replaced_by = later;
    }
    free(index);
    return JOBS_OK;
}

void life_free(struct life *life)
{
    for (size_t i = 0; i < life->count; i++)
        wipe(&life->events[i]);
    free(life->events);
    memset(life, 0, sizeof *life);
}
