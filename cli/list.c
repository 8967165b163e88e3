/* list.c - `jobs list`: the handoffs of a channel, newest last.
 *
 * What another one supersedes is left out, and of equal ones by one author for one job the newest stands for all. Both
 * count only within one author, channel and job: nobody can take away what another said.
 */
#include "client.h"
#include "feed_line.h"
#include "feed_query.h"
#include "print.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listing {
    struct feed_query query;
    struct feed_line *lines;
    size_t count, capacity, folded;
    int failed;
};

static int take(void *context, const struct jobs_event *event)
{
    struct listing *listing = context;
    if (listing->count == listing->capacity) {
        size_t capacity = listing->capacity == 0 ? 256 : listing->capacity * 2;
        struct feed_line *lines = realloc(listing->lines, capacity * sizeof *lines);
        if (lines == NULL) {
            listing->failed = JOBS_NO_MEMORY;
            return -1;
        }
        listing->lines = lines;
        listing->capacity = capacity;
    }
    struct feed_line *line = &listing->lines[listing->count++];
    listing->failed = feed_line_read(line, event);
    if (listing->failed != JOBS_OK)
        return -1;
    const char *wanted = listing->query.disposition;
    return wanted == NULL || (line->card && strcmp(line->disposition, wanted) == 0);
}

static int by_time(const void *left, const void *right)
{
    const struct feed_line *a = left, *b = right;
    if (a->created_at != b->created_at)
        return a->created_at < b->created_at ? -1 : 1;
    return -strcmp(a->id, b->id); /* NIP-01: of one second the lowest id is the newest */
}

static int by_subject(const struct feed_line *a, const struct feed_line *b)
{
    int order = strcmp(a->author, b->author);
    order = order != 0 ? order : strcmp(a->channel, b->channel);
    return order != 0 ? order : strcmp(a->job, b->job);
}

/* Equal payloads of one subject side by side, the newest last. */
static int by_payload(const void *left, const void *right)
{
    const struct feed_line *a = left, *b = right;
    int order = by_subject(a, b);
    order = order != 0 ? order : strcmp(a->digest, b->digest);
    return order != 0 ? order : by_time(a, b);
}

static int by_superseded(const void *left, const void *right)
{
    const struct feed_line *const *a = left, *const *b = right;
    int order = by_subject(*a, *b);
    return order != 0 ? order : strcmp((*a)->supersedes, (*b)->supersedes);
}

static bool is_superseded(const struct feed_line *const *superseding, size_t count, const struct feed_line *line)
{
    struct feed_line wanted = *line;
    const struct feed_line *key = &wanted;
    memcpy(wanted.supersedes, line->id, sizeof wanted.supersedes);
    return bsearch(&key, superseding, count, sizeof *superseding, by_superseded) != NULL;
}

static void fold(struct listing *listing)
{
    struct feed_line *lines = listing->lines;
    size_t count = listing->count, superseding_count = 0, kept = 0;
    const struct feed_line **superseding = calloc(count + 1, sizeof *superseding);
    bool *gone = calloc(count + 1, sizeof *gone);
    if (superseding == NULL || gone == NULL) {
        listing->failed = JOBS_NO_MEMORY;
        goto out;
    }
    qsort(lines, count, sizeof *lines, by_payload);
    for (size_t i = 0; i < count; i++)
        if (lines[i].supersedes[0] != '\0')
            superseding[superseding_count++] = &lines[i];
    qsort(superseding, superseding_count, sizeof *superseding, by_superseded);
    for (size_t i = 0; i < count; i++) {
        bool newer_equal = lines[i].card && i + 1 < count && by_subject(&lines[i], &lines[i + 1]) == 0 &&
                           strcmp(lines[i].digest, lines[i + 1].digest) == 0;
        gone[i] = newer_equal || is_superseded(superseding, superseding_count, &lines[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const char *wanted = listing->query.disposition;
        bool other = wanted != NULL && (!lines[i].card || strcmp(lines[i].disposition, wanted) != 0);
        listing->folded += gone[i];
        if (gone[i] || other)
            feed_line_wipe(&lines[i]);
        else
            lines[kept++] = lines[i];
    }
    listing->count = kept;
    qsort(lines, kept, sizeof *lines, by_time);
out:
    free(superseding);
    free(gone);
}

/* What was left out, and which relays did not give everything, is said where it disturbs no data. */
static void tell_counts(struct run *run, const struct listing *listing, const struct jobs_read_counts *counts)
{
    if (print_is_for_person(run, STDERR_FILENO)) {
        char text[256];
        snprintf(text, sizeof text, "%zu folded, %zu foreign left out", listing->folded, counts->foreign);
        if (listing->folded + counts->foreign > 0)
            print_note(run, text);
        for (size_t i = 0; i < counts->fault_count; i++) {
            snprintf(text, sizeof text, "not all from %.120s", counts->faults[i].url);
            print_note(run, text);
        }
        return;
    }
    json_t *faults = json_array();
    for (size_t i = 0; i < counts->fault_count; i++)
        json_array_append_new(faults, json_pack("{s:o, s:s, s:o}", "url", print_string(counts->faults[i].url), "error",
                                                jobs_code_category((int)counts->faults[i].code), "message",
                                                print_string(counts->faults[i].message)));
    if (listing->folded + counts->foreign + counts->fault_count == 0) {
        json_decref(faults);
        return;
    }
    int ignored = print_line_to(STDERR_FILENO, json_pack("{s:I, s:I, s:I, s:o}", "listed", (json_int_t)listing->count,
                                                         "folded", (json_int_t)listing->folded, "foreign",
                                                         (json_int_t)counts->foreign, "incomplete", faults));
    (void)ignored;
}

int command_list(struct run *run)
{
    struct client client = {0};
    struct listing listing = {0};
    struct jobs_read_counts counts = {0};
    size_t limit = (size_t)options_number(&run->options, OPT_LIMIT);

    int code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_IF_THERE);
    if (code == JOBS_OK)
        code = feed_query_open(&listing.query, run);
    listing.query.query.limit = limit;
    signals_hold();
    if (code == JOBS_OK)
        code = jobs_read_list(&listing.query.query, &client.options, take, &listing, &counts, &run->error);
    if (code == JOBS_OK && listing.failed == JOBS_OK)
        fold(&listing);
    if (code == JOBS_OK && listing.failed != JOBS_OK)
        code = jobs_error_set(&run->error, listing.failed, "out of memory");
    size_t first = limit > 0 && listing.count > limit ? listing.count - limit : 0;
    for (size_t i = first; i < listing.count && code == JOBS_OK; i++)
        code = feed_line_print(run, &listing.lines[i]);
    if (code == JOBS_OK)
        tell_counts(run, &listing, &counts);

    for (size_t i = 0; i < listing.count; i++)
        feed_line_wipe(&listing.lines[i]);
    free(listing.lines);
    jobs_read_counts_wipe(&counts);
    feed_query_free(&listing.query);
    client_free(&client);
    return code;
}
