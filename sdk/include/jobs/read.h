/* jobs/read.h - what readers do: fetch, list, watch, verify, replay. Nothing unverified is ever handed out. */
#ifndef JOBS_READ_H
#define JOBS_READ_H

#include <jobs/publish.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fetch one event by id (64 lower-case hex) from the first relay that has it; its id and signature hold. JOBS_OK,
 * JOBS_NOT_FOUND (every relay answered without it), or the worst of the relays' faults. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_read_event(struct jobs_event **out, const char *event_id,
                                              const struct jobs_client_options *options, struct jobs_error *error);

#ifdef __cplusplus
}
#endif
#endif
