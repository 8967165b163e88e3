/* feed_line.h - one handoff of the feed: what list and watch show of an event, as a line for either reader. */
#ifndef JOBS_CLI_FEED_LINE_H
#define JOBS_CLI_FEED_LINE_H

#include "run.h"

#include <jansson.h>

struct feed_line {
    char id[65], author[65];
    char job[65]; /* "" when it names none, or more than one */
    char channel[37];
    int64_t created_at;
    bool card;               /* structured: the rest is set, else it is the fallback's first words */
    const char *disposition; /* static; NULL of a fallback */
    char *headline;          /* "Job completed: …"; foreign text, not yet escaped */
    char digest[65];         /* of a card: equal payloads have equal ones */
    char supersedes[65];     /* "" when none */
    bool gone;               /* another line stands for it; see feed_fold.h */
};

/* Reads a verified event. JOBS_OK or JOBS_NO_MEMORY; wiped by the caller in any case. */
JOBS_MUST_USE int feed_line_read(struct feed_line *out, const struct jobs_event *event);
void feed_line_wipe(struct feed_line *line);

/* {"event_id","created_at","author","channel","job","disposition","headline","card"} */
json_t *feed_line_json(const struct feed_line *line);
/* Prints it on stdout, for a person or a program. */
JOBS_MUST_USE int feed_line_print(struct run *run, const struct feed_line *line);

/* --since: seconds since 1970, or how long ago: 90s, 15m, 2h, 7d. JOBS_OK or JOBS_USAGE. */
JOBS_MUST_USE int feed_since(int64_t *out, const char *text, struct jobs_error *error);

#endif
