/* list.c - `jobs list`: the handoffs of a channel that stand, newest last. */
#include "client.h"
#include "feed_fold.h"
#include "feed_query.h"
#include "print.h"
#include "progress.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listing {
    struct feed_query query;
    struct feed_line *lines; /* all that were read: an older one may be taken back by any of them */
    size_t count, capacity;
    size_t matching;  /* of them: those that would be shown if none were folded */
    size_t enough_at; /* so many must match before it is worth while to fold again */
    size_t folded;
    int failed;
};

static bool matches(const struct listing *listing, const struct feed_line *line)
{
    const char *wanted = listing->query.disposition;
    return wanted == NULL || (line->card && strcmp(line->disposition, wanted) == 0);
}

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
    listing->matching += matches(listing, line);
    return 0;
}

/* Enough when so many as are wanted stand and are newer than `oldest`: a second that a page cut in two is read whole.
 */
static bool more(void *context, int64_t oldest)
{
    struct listing *listing = context;
    size_t limit = listing->query.query.limit, shown = 0;
    if (limit == 0 || listing->matching < limit || listing->matching < listing->enough_at)
        return true;
    if (feed_fold(listing->lines, listing->count) != JOBS_OK)
        return true; /* whatever it is, the end will say so */
    for (size_t i = 0; i < listing->count; i++) {
        const struct feed_line *line = &listing->lines[i];
        shown += !line->gone && matches(listing, line) && line->created_at > oldest;
    }
    if (shown >= limit)
        return false;
    listing->enough_at = listing->matching + (limit - shown);
    return true;
}

/* Leaves the lines that are shown, oldest first. */
static void fold(struct listing *listing)
{
    struct feed_line *lines = listing->lines;
    size_t kept = 0;
    listing->failed = feed_fold(lines, listing->count);
    if (listing->failed != JOBS_OK)
        return;
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
}

/* What was left out, and which relays did not give everything, is said where it disturbs no data. */
static void tell_counts(struct run *run, const struct listing *listing, size_t listed,
                        const struct jobs_read_counts *counts)
{
    if (print_is_for_person(run, STDERR_FILENO)) {
        char text[256];
        snprintf(text, sizeof text, "%zu folded, %zu foreign and %zu malformed left out", listing->folded,
                 counts->foreign, counts->malformed);
        if (listing->folded + counts->foreign + counts->malformed > 0)
            print_note(run, text);
        for (size_t i = 0; i < counts->fault_count; i++) {
            snprintf(text, sizeof text, "not all from %.120s: %.120s", counts->faults[i].url,
                     counts->faults[i].message);
            print_note(run, text);
        }
        return;
    }
    json_t *faults = json_array();
    for (size_t i = 0; i < counts->fault_count; i++)
        json_array_append_new(faults, json_pack("{s:o, s:s, s:o}", "url", print_string(counts->faults[i].url), "error",
                                                jobs_code_category((int)counts->faults[i].code), "message",
                                                print_string(counts->faults[i].message)));
    if (listing->folded + counts->foreign + counts->malformed + counts->fault_count == 0) {
        json_decref(faults);
        return;
    }
    int ignored =
        print_line_to(STDERR_FILENO, json_pack("{s:I, s:I, s:I, s:I, s:o}", "listed", (json_int_t)listed, "folded",
                                               (json_int_t)listing->folded, "foreign", (json_int_t)counts->foreign,
                                               "malformed", (json_int_t)counts->malformed, "incomplete", faults));
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
    listing.query.query.more = more;
    signals_hold();
    if (code == JOBS_OK)
        code = jobs_read_list(&listing.query.query, &client.options, take, &listing, &counts, &run->error);
    if (listing.failed == JOBS_OK)
        fold(&listing);
    if (listing.failed != JOBS_OK)
        code = jobs_error_set(&run->error, listing.failed, "out of memory");
    /* When it ended early, what was read is shown nevertheless, and the exit status says that it is not all. */
    size_t first = limit > 0 && listing.count > limit ? listing.count - limit : 0;
    progress_erase();
    for (size_t i = first; i < listing.count && (code == JOBS_OK || listing.failed == JOBS_OK); i++) {
        int printed = feed_line_print(run, &listing.lines[i]);
        if (printed != JOBS_OK) {
            code = printed;
            break;
        }
    }
    if (code == JOBS_OK)
        tell_counts(run, &listing, listing.count - first, &counts);

    for (size_t i = 0; i < listing.count; i++)
        feed_line_wipe(&listing.lines[i]);
    free(listing.lines);
    jobs_read_counts_wipe(&counts);
    feed_query_free(&listing.query);
    client_free(&client);
    return code;
}
