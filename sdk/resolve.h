/* resolve.h - a name into addresses, without ever making the loop wait.
 *
 * Addresses and localhost are answered at once, without asking anybody. Anything else is looked up in a thread of its
 * own, which a silent name server may hold as long as it likes: nobody joins it.
 */
#ifndef JOBS_RESOLVE_H
#define JOBS_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#define JOBS__ADDRESSES_MAX 16

struct jobs__addresses {
    size_t count;
    char text[JOBS__ADDRESSES_MAX][64]; /* numeric, IPv6 without brackets; in the order to try them */
};

/* True when the host needs no look-up. */
bool jobs__resolve_at_once(struct jobs__addresses *out, const char *host);

struct jobs__lookup;

/* Starts a look-up; wake(context) is called from its thread when it has ended, but never after jobs__lookup_free.
 * Returns JOBS_OK, JOBS_NO_MEMORY or JOBS_SYSTEM (no thread to be had). */
int jobs__lookup_start(struct jobs__lookup **out, const char *host, void (*wake)(void *context), void *context);

/* True once it has ended: with addresses, or none and *problem, a static text. */
bool jobs__lookup_ended(struct jobs__lookup *lookup, struct jobs__addresses *out, const char **problem);

/* Ended or not; NULL-safe. */
void jobs__lookup_free(struct jobs__lookup *lookup);

#endif
