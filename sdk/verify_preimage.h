/* verify_preimage.h - the bytes an id is the hash of, straight from an event's own bytes where they are spelled as
 * NIP-01 spells them already. */
#ifndef JOBS_VERIFY_PREIMAGE_H
#define JOBS_VERIFY_PREIMAGE_H

#include "event_shape.h"

/* Appends the preimage of the event found in the document, and leaves its content, decoded, in `content`: one pass does
 * both. What fails shows in the buffers' `failed`. */
void jobs__preimage_of_shape(struct jobs__buffer *out, struct jobs__buffer *content,
                             const struct jobs__event_shape *shape, const struct jobs__json *doc);

#endif
