/* event_shape.h - where an event's seven members lie in a JSON document, once each has its right shape. Shared by
 * event_parse.c, which copies them, and the bulk verifier, which does not.
 */
#ifndef JOBS_EVENT_SHAPE_H
#define JOBS_EVENT_SHAPE_H

#include "event_body.h"

enum jobs__event_member {
    JOBS__EVENT_ID,
    JOBS__EVENT_AUTHOR,
    JOBS__EVENT_CREATED_AT,
    JOBS__EVENT_KIND,
    JOBS__EVENT_TAGS,
    JOBS__EVENT_CONTENT,
    JOBS__EVENT_SIGNATURE,
    JOBS__EVENT_MEMBERS
};

struct jobs__event_shape {
    uint32_t members[JOBS__EVENT_MEMBERS]; /* indexes into the document */
    bool good[JOBS__EVENT_MEMBERS];        /* there, and of the right shape; all of them on success */
    int64_t created_at;
    int64_t kind;
    size_t tag_values; /* strings of all tags together */
};

/* The value at index `object` of the document as an event. Returns JOBS_OK or JOBS_INVALID; allocates nothing. */
int jobs__event_shape(struct jobs__event_shape *shape, const struct jobs__json *doc, uint32_t object,
                      struct jobs_error *error);

#endif
