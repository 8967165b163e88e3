/* event_body.h - what an event is inside the library: event.c makes and seals, event_parse.c reads, event_view.c shows.
 */
#ifndef JOBS_EVENT_BODY_H
#define JOBS_EVENT_BODY_H

#include "../core/json.h"
#include "preimage.h"

#include <jobs/event.h>

#define JOBS__KIND_MAX        65535
#define JOBS__CREATED_AT_MAX  ((INT64_C(1) << 53) - 1)
#define JOBS__EVENT_INPUT_MAX ((size_t)1048576) /* bytes of content and tags together that a publisher may write */

/* author, id and signature are lower-case hex, "" while it is a template. What is hashed and written is tags_json and
 * content; tags is the same as C strings, where a U+0000 (which only others write) shows as U+FFFD. */
struct jobs_event {
    char id[65];
    char author[65];
    char signature[129];
    uint32_t kind;
    int64_t created_at;
    unsigned char digest[32]; /* the id that the other fields ask for; of a parsed or sealed one */
    struct jobs_tag *tags;
    size_t tag_count;
    const char **values; /* of all tags, one after the other, into `texts` */
    struct jobs__buffer texts;
    struct jobs__buffer tags_json;
    struct jobs__buffer content;
    struct jobs__buffer json;
};

/* An empty one with room for this many tags and values; NULL when out of memory. */
struct jobs_event *jobs__event_allocate(size_t tag_count, size_t value_count);

/* Fill in the tags, in order: each begins, then gets its values. The room was asked for above. */
void jobs__event_tag_begin(struct jobs_event *event);
void jobs__event_tag_value(struct jobs_event *event, const char *text, size_t len);
/* All tags are there: ties the C strings to their places. JOBS_OK, JOBS_NO_MEMORY or JOBS_INVALID (too large). */
int jobs__event_tags_end(struct jobs_event *event);

/* Writes event->json anew. JOBS_OK or JOBS_NO_MEMORY. */
int jobs__event_write(struct jobs_event *event);

/* Computes event->digest. JOBS_OK or JOBS_NO_MEMORY. */
int jobs__event_hash(struct jobs_event *event);

#endif
