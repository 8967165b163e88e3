/* list.c - `jobs list`: the handoffs of a channel that stand, newest last. */
#include "client.h"
#include "listing.h"
#include "print.h"
#include "progress.h"
#include "signals.h"

#include <stdio.h>
#include <unistd.h>

/* What was left out, and which relays did not give everything, is said where it disturbs no data. */
static void tell_counts(struct run *run, const struct listing *listing, size_t listed)
{
    const struct jobs_read_counts *counts = &listing->counts;
    if (print_is_for_person(run, STDERR_FILENO)) {
        char text[256];
        snprintf(text, sizeof text, "%zu folded, %zu foreign and %zu malformed left out", listing->folded,
                 counts->foreign, counts->malformed);
        if (listing->folded + counts->foreign + counts->malformed > 0)
            print_note(run, text);
        print_faults_for_person(run, counts);
        return;
    }
    if (listing->folded + counts->foreign + counts->malformed + counts->fault_count == 0)
        return;
    int ignored = print_line_to(
        STDERR_FILENO, json_pack("{s:I, s:I, s:I, s:I, s:o}", "listed", (json_int_t)listed, "folded",
                                 (json_int_t)listing->folded, "foreign", (json_int_t)counts->foreign, "malformed",
                                 (json_int_t)counts->malformed, "incomplete", print_faults(counts)));
    (void)ignored;
}

int command_list(struct run *run)
{
    struct client client = {0};
    struct listing listing = {0};
    size_t limit = (size_t)options_number(&run->options, OPT_LIMIT);

    int code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_IF_THERE);
    if (code == JOBS_OK)
        code = feed_query_open(&listing.query, run);
    listing.query.query.limit = limit;
    signals_hold();
    if (code == JOBS_OK)
        code = listing_read(&listing, &client.options, run);
    /* When it ended early, what was read is shown nevertheless, and the exit status says that it is not all. */
    size_t first = limit > 0 && listing.count > limit ? listing.count - limit : 0;
    progress_erase();
    for (size_t i = first; i < listing.count && listing.failed == JOBS_OK; i++) {
        int printed = feed_line_print(run, &listing.lines[i]);
        if (printed != JOBS_OK) {
            code = printed;
            break;
        }
    }
    if (code == JOBS_OK)
        tell_counts(run, &listing, listing.count - first);

    feed_query_free(&listing.query);
    listing_free(&listing);
    client_free(&client);
    return code;
}
