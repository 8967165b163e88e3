/* build.h - from a checked document to the structures of jobs/handoff.h. */
#ifndef JOBS_BUILD_H
#define JOBS_BUILD_H

#include "contract.h"
#include "json.h"

/* Fills in the fields of a zeroed handoff. For a reader texts are trimmed, and an additive field that breaks its own
 * rule is left out. Returns JOBS_OK or JOBS_NO_MEMORY. */
int jobs__build(struct jobs_handoff *handoff, struct jobs__json *doc, bool reader);

#endif
