/* feed_query.c - see feed_query.h. */
#include "feed_query.h"

#include "feed_line.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t result_kind = JOBS_KIND_RESULT;

static int take_authors(struct feed_query *query, struct run *run)
{
    size_t count = 0;
    const char *const *texts = options_texts(&run->options, OPT_AUTHOR, &count);
    query->keys = calloc(count + 1, sizeof *query->keys);
    query->authors = calloc(count + 1, sizeof *query->authors);
    if (query->keys == NULL || query->authors == NULL)
        return jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        struct jobs_reference author;
        int code = jobs_reference_author(&author, texts[i], &run->error);
        if (code != JOBS_OK)
            return code;
        memcpy(query->keys[i], author.hex, sizeof query->keys[i]);
        query->authors[i] = query->keys[i];
    }
    query->query.authors = query->authors;
    query->query.author_count = count;
    return JOBS_OK;
}

int feed_query_open(struct feed_query *query, struct run *run)
{
    const struct options *given = &run->options;
    memset(query, 0, sizeof *query);
    query->disposition = options_text(given, OPT_DISPOSITION);
    query->query.channel = options_text(given, OPT_CHANNEL);
    query->job = options_text(given, OPT_ONLY_JOB);
    query->query.jobs = &query->job;
    query->query.job_count = query->job != NULL;
    query->query.kinds = &result_kind;
    query->query.kind_count = 1;
    int code = JOBS_OK;
    if (options_has(given, OPT_SINCE))
        code = feed_since(&query->query.since, options_text(given, OPT_SINCE), &run->error);
    return code != JOBS_OK ? code : take_authors(query, run);
}

void feed_query_free(struct feed_query *query)
{
    free(query->keys);
    free(query->authors);
    memset(query, 0, sizeof *query);
}
