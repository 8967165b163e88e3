/* life.c - puts a job's events in order; life_show.c shows them. */
#include "life.h"

#include <stdlib.h>
#include <string.h>

int life_add(struct life *life, const struct jobs_event *event)
{
    size_t len;
    const char *json = jobs_event_json(event, &len);
    struct jobs_error error;
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
    if (jobs_event_parse(&added->event, json, len, &error) != JOBS_OK)
        return JOBS_NO_MEMORY; /* it was parsed before */
    int code = card_open(&added->card, added->event, &error);
    if (code == JOBS_OK) {
        life->count++;
        return code;
    }
    card_close(&added->card);
    jobs_event_free(added->event);
    return code == JOBS_INVALID ? JOBS_OK : code;
}

static void drop(struct life *life, size_t i)
{
    card_close(&life->events[i].card);
    jobs_event_free(life->events[i].event);
    memmove(&life->events[i], &life->events[i + 1], (life->count - i - 1) * sizeof *life->events);
    life->count--;
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
    for (size_t i = life->count; life->channel != NULL && i-- > 0;)
        if (!same(jobs_event_channel(life->events[i].event), life->channel)) {
            drop(life, i);
            life->elsewhere++;
        }
}

static bool replaces(const struct life_event *later, const struct life_event *earlier)
{
    return later->card.handoff != NULL && earlier->card.handoff != NULL && later != earlier &&
           same(jobs_handoff_supersedes(later->card.handoff), jobs_event_id(earlier->event)) &&
           same(jobs_event_author(later->event), jobs_event_author(earlier->event)) &&
           same(jobs_event_channel(later->event), jobs_event_channel(earlier->event)) &&
           same(jobs_handoff_job_request(later->card.handoff), jobs_handoff_job_request(earlier->card.handoff));
}

void life_settle(struct life *life)
{
    leave_out_elsewhere(life);
    if (life->count > 1)
        qsort(life->events, life->count, sizeof *life->events, by_time);
    for (size_t i = 0; i < life->count; i++)
        for (size_t j = 0; j < life->count; j++)
            if (replaces(&life->events[j], &life->events[i]))
                life->events[i].replaced_by = &life->events[j];
}

void life_free(struct life *life)
{
    while (life->count > 0)
        drop(life, life->count - 1);
    free(life->events);
    memset(life, 0, sizeof *life);
}
