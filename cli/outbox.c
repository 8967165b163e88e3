/* outbox.c - `jobs outbox …`: what was signed, where it stands, and what to do about it. */
#include "client.h"
#include "escape.h"
#include "print.h"
#include "signals.h"

#include <jobs/outbox.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static json_t *relays_of(const struct jobs_entry *entry)
{
    json_t *relays = json_array();
    for (size_t i = 0; i < entry->relay_count; i++) {
        const struct jobs_entry_relay *relay = &entry->relays[i];
        json_array_append_new(relays, json_pack("{s:o, s:o, s:o, s:I}", "url", print_string(relay->url), "state",
                                                print_string(relay->state), "message", print_string(relay->message),
                                                "attempts", (json_int_t)relay->attempts));
    }
    return relays;
}

static json_t *line_of(const struct jobs_entry *entry)
{
    json_t *line = json_pack("{s:o, s:o, s:o, s:I, s:s, s:o}", "event_id", print_string(entry->event_id), "job",
                             print_string(entry->job), "channel", print_string(entry->channel), "created_at",
                             (json_int_t)entry->created_at, "state", jobs_entry_state_name(entry->state), "relays",
                             relays_of(entry));
    if (entry->damage != NULL)
        json_object_set_new(line, "message", print_string(entry->damage));
    return line;
}

/* --- list --- */

struct listing {
    struct run *run;
    size_t count;
};

/* "0123abcd…": enough to tell entries apart; show and drop want all of it. A relay that refused has it no more than one
 * that is still waited for. */
static int put_row(struct listing *listing, const struct jobs_entry *entry)
{
    static const enum print_colour colours[] = {PRINT_YELLOW, PRINT_GREEN, PRINT_RED, PRINT_RED};
    struct run *run = listing->run;
    char when[32] = "?", line[512], job[16];
    struct tm tm;
    time_t created_at = (time_t)entry->created_at;
    if (localtime_r(&created_at, &tm) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    size_t have = 0;
    for (size_t i = 0; i < entry->relay_count; i++)
        have += strcmp(entry->relays[i].state, "confirmed") == 0 || strcmp(entry->relays[i].state, "accepted") == 0;
    if (listing->count == 0) {
        int code = print_text(run, "STATE     SIGNED            JOB       RELAYS   EVENT\n");
        if (code != JOBS_OK)
            return code;
    }
    escape_line(job, 9 + sizeof "…", entry->job, strnlen(entry->job, 8));
    snprintf(line, sizeof line, "%s%-9s%s %-17s %-9s %zu of %zu   %s\n",
             print_colour(run, STDOUT_FILENO, colours[entry->state]), jobs_entry_state_name(entry->state),
             print_colour(run, STDOUT_FILENO, PRINT_PLAIN), when, job, have, entry->relay_count, entry->event_id);
    return print_text(run, line);
}

static int list_one(void *context, const struct jobs_entry *entry)
{
    struct listing *listing = context;
    int code = print_is_for_person(listing->run, STDOUT_FILENO) ? put_row(listing, entry)
                                                                : print_line(listing->run, line_of(entry));
    listing->count++;
    return code;
}

int command_outbox_list(struct run *run)
{
    struct listing listing = {.run = run};
    int code = jobs_outbox_list(options_text(&run->options, OPT_STATE_DIR), list_one, &listing, &run->error);
    if (code == JOBS_OK && listing.count == 0)
        print_note(run, "the outbox is empty");
    return code;
}

/* --- show, drop: one entry by its id --- */

static int take_id(struct jobs_reference *id, struct run *run)
{
    return jobs_reference_event(id, run->options.operand, &run->error);
}

static int show_one(void *context, const struct jobs_entry *entry)
{
    json_t *line = line_of(entry);
    json_object_set_new(line, "author", print_string(entry->author));
    json_object_set_new(line, "path", print_string(entry->path));
    json_object_set_new(line, "event", entry->event != NULL ? print_event(entry->event) : json_null());
    if (entry->state == JOBS_ENTRY_PENDING) {
        char hint[256];
        snprintf(
            hint, sizeof hint,
            "`jobs outbox flush` sends it; `jobs outbox drop %.64s` gives it up, if a relay is mistyped, say: then "
            "run the handoff again with the right one",
            entry->event_id);
        json_object_set_new(line, "hint", print_string(hint));
    }
    return print_line(context, line);
}

int command_outbox_show(struct run *run)
{
    struct jobs_reference id;
    int code = take_id(&id, run);
    if (code == JOBS_OK)
        code = jobs_outbox_show(options_text(&run->options, OPT_STATE_DIR), id.hex, show_one, run, &run->error);
    return code;
}

int command_outbox_drop(struct run *run)
{
    struct jobs_reference id;
    int code = take_id(&id, run);
    if (code == JOBS_OK) {
        signals_hold();
        code = jobs_outbox_drop(options_text(&run->options, OPT_STATE_DIR), id.hex, &run->error);
    }
    if (code == JOBS_OK)
        code = print_line(run, json_pack("{s:s}", "dropped", id.hex));
    return code;
}

/* --- flush, prune: all of it --- */

static int flush_one(void *context, const struct jobs_receipt *receipt, int code)
{
    struct run *run = context;
    /* What was skipped, or set aside, is no failure of the run, and was accepted by nobody either. */
    return print_line(run, print_receipt(receipt, code == JOBS_OK && receipt->accepted));
}

/* Entries that --relay left out. With a failure they are in its line. */
static void say_elsewhere(struct run *run, size_t count, int code)
{
    char words[128];
    snprintf(words, sizeof words, "%zu entr%s for other relays than those named", count,
             count == 1 ? "y waits" : "ies wait");
    print_note(run, words);
    if (print_is_for_person(run, STDERR_FILENO))
        return;
    json_t *counts = json_pack("{s:I}", "waiting_for_other_relays", (json_int_t)count);
    if (code == JOBS_OK)
        print_counts(counts);
    else
        run->counts = counts;
}

int command_outbox_flush(struct run *run)
{
    struct client client = {0};
    size_t elsewhere = 0;
    int code = client_open(&client, run, OPT_ONLY_RELAY, CLIENT_KEY_NEEDED);
    if (code == JOBS_OK) {
        signals_hold();
        code = jobs_outbox_flush(&client.options, flush_one, run, &elsewhere, &run->error);
    }
    client_free(&client);
    if (elsewhere > 0)
        say_elsewhere(run, elsewhere, code);
    return code;
}

int command_outbox_prune(struct run *run)
{
    size_t count = 0;
    signals_hold();
    int code = jobs_outbox_prune(options_text(&run->options, OPT_STATE_DIR),
                                 (unsigned)options_number(&run->options, OPT_DAYS), &count, &run->error);
    if (code == JOBS_OK)
        code = print_line(run, json_pack("{s:I}", "pruned", (json_int_t)count));
    return code;
}
