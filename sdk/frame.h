/* frame.h - one message of a relay (NIP-01, NIP-42), taken apart.
 *
 * Strict where it decides something: a boolean is true or false, an id is a string. What is malformed is
 * JOBS__FRAME_BAD and never trusted. Nothing here outlives the frame; memory is kept between frames, but never much of
 * it.
 */
#ifndef JOBS_FRAME_H
#define JOBS_FRAME_H

#include "../core/json.h"

enum jobs__frame_type {
    JOBS__FRAME_BAD,    /* no JSON, or not the shape its first word promises */
    JOBS__FRAME_OTHER,  /* a well-formed message that nobody asked for (COUNT, …) */
    JOBS__FRAME_OK,     /* id, accepted, text */
    JOBS__FRAME_NOTICE, /* text */
    JOBS__FRAME_CLOSED, /* subscription, text */
    JOBS__FRAME_EOSE,   /* subscription */
    JOBS__FRAME_EVENT,  /* subscription, event */
    JOBS__FRAME_AUTH    /* text: the challenge */
};

enum jobs__frame_id {
    JOBS__ID_NONE, /* empty, null, a placeholder: whatever is no 32 bytes, or 32 zero bytes */
    JOBS__ID_EVENT /* 64 hex digits, in `id` as lower case */
};

struct jobs__frame {
    enum jobs__frame_type type;
    bool accepted;
    enum jobs__frame_id id_is;
    char id[65]; /* of OK, or what the EVENT claims to be ("" when it claims nothing readable) */
    char subscription[65];
    const char *event; /* span of the event's JSON in the input */
    size_t event_len;
    const char *text; /* decoded; may hold NUL; never NULL */
    size_t text_len;
};

struct jobs__frame_reader {
    struct jobs__json doc;
    struct jobs__buffer text;
};

void jobs__frame_read(struct jobs__frame *out, struct jobs__frame_reader *reader, const char *text, size_t len);
void jobs__frame_reader_free(struct jobs__frame_reader *reader);

#endif
