/* fetch.h - one event by its id from relays that are already resolved: the job check and jobs_read_event. */
#ifndef JOBS_FETCH_H
#define JOBS_FETCH_H

#include "publisher.h"

/* *out is a copy whose id is `id` and whose signature holds. JOBS_OK, JOBS_NOT_FOUND (every relay answered without it),
 * JOBS_DENIED or JOBS_UNREACHABLE with a relay and its words, or what kept us from asking. */
int jobs__fetch_event(struct jobs_event **out, const char *id, const struct jobs__relays *relays,
                      const struct jobs_client_options *options, struct jobs_error *error);

#endif
