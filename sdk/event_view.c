/* event_view.c - what an event shows of itself; nothing here changes one. */
#include "event_body.h"

#include <string.h>

const char *jobs_event_id(const struct jobs_event *event)
{
    return event->id;
}

const char *jobs_event_author(const struct jobs_event *event)
{
    return event->author;
}

uint32_t jobs_event_kind(const struct jobs_event *event)
{
    return event->kind;
}

int64_t jobs_event_created_at(const struct jobs_event *event)
{
    return event->created_at;
}

const char *jobs_event_content(const struct jobs_event *event, size_t *len)
{
    if (len != NULL)
        *len = event->content.len;
    return event->content.bytes;
}

size_t jobs_event_tag_count(const struct jobs_event *event)
{
    return event->tag_count;
}

struct jobs_tag jobs_event_tag(const struct jobs_event *event, size_t i)
{
    return event->tags[i];
}

const char *jobs_event_json(const struct jobs_event *event, size_t *len)
{
    if (len != NULL)
        *len = event->json.len;
    return event->json.bytes;
}

const char *jobs_event_tag_value(const struct jobs_event *event, const char *name)
{
    for (size_t t = 0; t < event->tag_count; t++)
        if (strcmp(event->tags[t].values[0], name) == 0)
            return event->tags[t].count > 1 ? event->tags[t].values[1] : NULL;
    return NULL;
}

const char *jobs_event_reply(const struct jobs_event *event)
{
    const char *found = NULL;
    for (size_t t = 0; t < event->tag_count; t++) {
        const struct jobs_tag *tag = &event->tags[t];
        if (tag->count < 4 || strcmp(tag->values[0], "e") != 0 || strcmp(tag->values[3], "reply") != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = tag->values[1];
    }
    return found;
}

const char *jobs_event_channel(const struct jobs_event *event)
{
    const char *found = NULL;
    for (size_t t = 0; t < event->tag_count; t++) {
        const struct jobs_tag *tag = &event->tags[t];
        if (strcmp(tag->values[0], "h") != 0)
            continue;
        if (found != NULL || tag->count < 2)
            return NULL;
        found = tag->values[1];
    }
    return found;
}

bool jobs_event_same(const struct jobs_event *a, const struct jobs_event *b)
{
    return strcmp(a->id, b->id) == 0 && strcmp(a->author, b->author) == 0 && a->created_at == b->created_at &&
           a->kind == b->kind && a->tags_json.len == b->tags_json.len &&
           memcmp(a->tags_json.bytes, b->tags_json.bytes, a->tags_json.len) == 0 && a->content.len == b->content.len &&
           memcmp(a->content.bytes, b->content.bytes, a->content.len) == 0;
}
