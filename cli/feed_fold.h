/* feed_fold.h - what of a feed still stands: which lines another line of the same author took back or said again.
 *
 * Only within one author, channel and job: nobody can take away what another said.
 */
#ifndef JOBS_CLI_FEED_FOLD_H
#define JOBS_CLI_FEED_FOLD_H

#include "feed_line.h"

/* Sorts the lines, and sets `gone` in those that do not stand: what another one supersedes; and of equal payloads all
 * but the newest. JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int feed_fold(struct feed_line *lines, size_t count);

/* Oldest first; of one second the lowest id is the newest (NIP-01). For qsort. */
int feed_by_time(const void *left, const void *right);

#endif
