/* feed_query.h - what list and watch ask for, from their options. */
#ifndef JOBS_CLI_FEED_QUERY_H
#define JOBS_CLI_FEED_QUERY_H

#include "run.h"

#include <jobs/read.h>

struct feed_query {
    struct jobs_query query; /* borrows from here and from the run */
    char (*keys)[65];
    const char **authors;
    const char *job;
    const char *disposition; /* only cards of this one; NULL: whatever it is */
};

/* JOBS_OK, JOBS_USAGE or JOBS_NO_MEMORY with run->error set. Freed by the caller in any case. */
JOBS_MUST_USE int feed_query_open(struct feed_query *query, struct run *run);
void feed_query_free(struct feed_query *query);

#endif
