/* listing.c - see listing.h.
 *
 * What is shown may have been taken back by anything newer, and by anything of its own second. So a second is read
 * whole; but one that holds very many is read only as far as its newest, and then asked whether it takes back any of
 * those that are to be shown: who may do so has their author and job.
 */
#include "listing.h"

#include "feed_fold.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMED_MAX 500 /* jobs, or authors, of one question */

static bool matches(const struct listing *listing, const struct feed_line *line)
{
    const char *wanted = listing->query.disposition;
    return wanted == NULL || (line->card && strcmp(line->disposition, wanted) == 0);
}

/* The line has a new owner, also on failure. */
static int push(struct listing *listing, struct feed_line *line)
{
    if (listing->count == listing->capacity) {
        size_t capacity = listing->capacity == 0 ? 256 : listing->capacity * 2;
        struct feed_line *lines = realloc(listing->lines, capacity * sizeof *lines);
        if (lines == NULL) {
            feed_line_wipe(line);
            return JOBS_NO_MEMORY;
        }
        listing->lines = lines;
        listing->capacity = capacity;
    }
    listing->lines[listing->count++] = *line;
    listing->matching += matches(listing, line);
    return JOBS_OK;
}

static int take(void *context, const struct jobs_event *event)
{
    struct listing *listing = context;
    struct feed_line line;
    listing->failed = feed_line_read(&line, event);
    if (listing->failed == JOBS_OK)
        listing->failed = push(listing, &line);
    else
        feed_line_wipe(&line);
    return listing->failed == JOBS_OK ? 0 : -1;
}

static void wipe_lines(struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        feed_line_wipe(&listing->lines[i]);
    listing->count = listing->matching = listing->enough_at = 0;
}

/* Of the folded lines: those to be shown that are newer than a second, and with an id those of it that are not older
 * than that one. */
static size_t count_shown(const struct listing *listing, int64_t second, const char *id)
{
    size_t shown = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const struct feed_line *line = &listing->lines[i];
        bool newer =
            line->created_at > second || (line->created_at == second && id != NULL && strcmp(line->id, id) <= 0);
        shown += newer && !line->gone && matches(listing, line);
    }
    return shown;
}

static void note_cut(struct listing *listing, int64_t second, const char *id)
{
    if (!listing->cut || second < listing->first)
        listing->first = second;
    if (!listing->cut || second > listing->last || (second == listing->last && strcmp(id, listing->last_id) < 0)) {
        listing->last = second;
        memcpy(listing->last_id, id, sizeof listing->last_id);
    }
    listing->cut = true;
}

/* One relay has shown all that is newer than `oldest`, and of that second all up to an id. */
static bool more(void *context, int64_t oldest, const char *oldest_id)
{
    struct listing *listing = context;
    size_t limit = listing->query.query.limit;
    if (limit == 0 || listing->matching < limit || listing->matching < listing->enough_at)
        return true;
    if (feed_fold(listing->lines, listing->count) != JOBS_OK)
        return true; /* whatever it is, the end will say so */
    if (count_shown(listing, oldest, NULL) >= limit)
        return false;
    size_t shown = count_shown(listing, oldest, listing->whole ? NULL : oldest_id);
    if (shown >= limit) {
        note_cut(listing, oldest, oldest_id);
        return false;
    }
    listing->enough_at = listing->matching + (limit - shown);
    return true;
}

/* --- the second that was cut --- */

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Sorts, and leaves each once. */
static size_t distinct(const char **texts, size_t count)
{
    size_t kept = 0;
    qsort(texts, count, sizeof *texts, by_text);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0)
            texts[kept++] = texts[i];
    return kept;
}

static bool is_cut(const struct listing *listing, const struct feed_line *line)
{
    return line->created_at >= listing->first && line->created_at <= listing->last;
}

/* All that one question is about. */
struct names {
    const char **jobs, **authors;
    struct jobs_known_event *known;
};

/* What the seconds that were cut hold of the authors and jobs that are to be shown. */
static int ask(struct listing *answer, const struct listing *listing, const struct names *names,
               const struct jobs_client_options *options, struct jobs_error *error)
{
    size_t count = 0, known = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const struct feed_line *line = &listing->lines[i];
        if (!is_cut(listing, line))
            continue;
        names->known[known++] = (struct jobs_known_event){line->id, line->created_at};
        if (line->gone || !matches(listing, line) || line->job[0] == '\0')
            continue;
        names->jobs[count] = line->job;
        names->authors[count++] = line->author;
    }
    if (count == 0)
        return JOBS_OK; /* they name no job, so nothing can take them back */
    struct jobs_query *query = &answer->query.query;
    *query = listing->query.query;
    query->jobs = names->jobs;
    query->job_count = distinct(names->jobs, count);
    query->authors = names->authors;
    query->author_count = distinct(names->authors, count);
    query->since = listing->first;
    query->until = listing->last;
    query->known = names->known;
    query->known_count = known;
    query->limit = 0;
    query->more = NULL;
    if (query->job_count > NAMED_MAX || query->author_count > NAMED_MAX)
        return JOBS_INVALID;
    int code = jobs_read_list(query, options, take, answer, &answer->counts, error);
    return code == JOBS_OK && answer->counts.fault_count > 0 ? JOBS_INVALID : code;
}

static int merge(struct listing *listing, struct listing *answer)
{
    int code = answer->failed;
    size_t taken = 0;
    while (code == JOBS_OK && taken < answer->count)
        code = push(listing, &answer->lines[taken++]);
    if (taken > 0)
        memset(answer->lines, 0, taken * sizeof *answer->lines); /* they have a new owner */
    listing->counts.foreign += answer->counts.foreign;
    listing->counts.malformed += answer->counts.malformed;
    return code == JOBS_OK ? feed_fold(listing->lines, listing->count) : code;
}

/* JOBS_OK when what is to be shown stands; JOBS_INVALID when that cannot be known this way. */
static int settle_cut(struct listing *listing, const struct jobs_client_options *options, struct jobs_error *error)
{
    struct listing answer = {0};
    struct names names = {.jobs = calloc(listing->count, sizeof *names.jobs),
                          .authors = calloc(listing->count, sizeof *names.authors),
                          .known = calloc(listing->count, sizeof *names.known)};
    int code = names.jobs == NULL || names.authors == NULL || names.known == NULL
                   ? JOBS_NO_MEMORY
                   : feed_fold(listing->lines, listing->count);
    if (code == JOBS_OK)
        code = ask(&answer, listing, &names, options, error);
    if (code == JOBS_OK)
        code = merge(listing, &answer);
    if (code == JOBS_OK && count_shown(listing, listing->last, listing->last_id) < listing->query.query.limit)
        code = JOBS_INVALID;
    free(names.jobs);
    free(names.authors);
    free(names.known);
    listing_free(&answer);
    return code;
}

/* --- all of it --- */

/* Leaves the lines that are shown, oldest first. */
static int fold(struct listing *listing)
{
    struct feed_line *lines = listing->lines;
    size_t kept = 0;
    int code = feed_fold(lines, listing->count);
    if (code != JOBS_OK)
        return code;
    for (size_t i = 0; i < listing->count; i++) {
        listing->folded += lines[i].gone;
        if (lines[i].gone || !matches(listing, &lines[i]))
            feed_line_wipe(&lines[i]);
        else
            lines[kept++] = lines[i];
    }
    listing->count = kept;
    if (kept > 0)
        qsort(lines, kept, sizeof *lines, feed_by_time);
    return JOBS_OK;
}

static int64_t seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec;
}

/* All questions together have the time of one. */
static int read_again(struct listing *listing, const struct jobs_client_options *options, int64_t began,
                      struct jobs_error *error)
{
    struct jobs_client_options left = *options;
    int64_t seconds = began + options->timeout - seconds_now();
    left.timeout = seconds > 0 ? (int)seconds : 1;
    struct jobs_error ignored;
    int code = settle_cut(listing, &left, &ignored);
    if (code == JOBS_OK || code == JOBS_NO_MEMORY || signals_stop != 0)
        return code == JOBS_OK
                   ? code
                   : jobs_error_set(error, code, "%s", code == JOBS_NO_MEMORY ? "out of memory" : "stopped");
    wipe_lines(listing);
    jobs_read_counts_wipe(&listing->counts);
    listing->whole = true;
    seconds = began + options->timeout - seconds_now();
    left.timeout = seconds > 0 ? (int)seconds : 1;
    return jobs_read_list(&listing->query.query, &left, take, listing, &listing->counts, error);
}

int listing_read(struct listing *listing, const struct jobs_client_options *options, struct run *run)
{
    int64_t began = seconds_now();
    listing->query.query.more = more;
    int code = jobs_read_list(&listing->query.query, options, take, listing, &listing->counts, &run->error);
    if (code == JOBS_OK && listing->failed == JOBS_OK && listing->cut)
        code = read_again(listing, options, began, &run->error);
    if (listing->failed == JOBS_OK)
        listing->failed = fold(listing);
    return listing->failed == JOBS_OK ? code : jobs_error_set(&run->error, listing->failed, "out of memory");
}

void listing_free(struct listing *listing)
{
    wipe_lines(listing);
    free(listing->lines);
    jobs_read_counts_wipe(&listing->counts);
    memset(listing, 0, sizeof *listing);
}
