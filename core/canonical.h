/* canonical.h - the one spelling of a payload. */
#ifndef JOBS_CANONICAL_H
#define JOBS_CANONICAL_H

#include <jobs/handoff.h>

#include "json.h"

struct jobs__canonical {
    const struct jobs_given *given; /* fills in what the document lacks; may be NULL */
    bool without_supersedes, without_requested_outcome;
};

/* Appends the canonical form of the payload doc (whose root is an object; anything else is written as it is). A
 * document that breaks rules is written as well as can be, so that its size can be told. */
void jobs__canonical_write(struct jobs__buffer *out, const struct jobs__json *doc,
                           const struct jobs__canonical *options);

#endif
