/* listing.h - which handoffs `jobs list` shows: the newest that stand, read as far back as that takes and no further.
 */
#ifndef JOBS_CLI_LISTING_H
#define JOBS_CLI_LISTING_H

#include "feed_line.h"
#include "feed_query.h"

struct listing {
    struct feed_query query;
    struct feed_line *lines; /* once read: those that are shown and perhaps older ones, oldest first */
    size_t count, capacity;
    size_t folded; /* so many do not stand */
    struct jobs_read_counts counts;
    /* while it reads */
    size_t matching;  /* of the lines: those that would be shown if none were folded */
    size_t enough_at; /* so many must match before it is worth while to fold again */
    bool whole;       /* only whole seconds count */
    bool cut;         /* else: the seconds `first` to `last` are not read whole, behind `last_id` of the last */
    int64_t first, last;
    char last_id[65];
    int failed;
};

/* Reads, folds and sorts. JOBS_OK, or a code with run->error; the lines are there in any case but JOBS_NO_MEMORY. */
JOBS_MUST_USE int listing_read(struct listing *listing, const struct jobs_client_options *options, struct run *run);
void listing_free(struct listing *listing);

#endif
