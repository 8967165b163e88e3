/* show.c - `jobs show`: one event, made sure of, as a card, or the life of a job, in the form that was asked for. */
#include "card/card.h"
#include "card/life.h"
#include "card/pager.h"
#include "client.h"
#include "input.h"
#include "print.h"

#include <jobs/read.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HINTS_MAX = 8
};

/* From the relays that were named, and from those the id hints at only when the person said so. */
static int fetch(struct jobs_event **event, struct run *run)
{
    struct client client = {0};
    struct jobs_reference reference;
    int code = jobs_reference_event(&reference, run->options.operand, &run->error);
    if (code == JOBS_OK)
        code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_IF_THERE);
    const size_t named = client.options.relay_count;
    const char **relays = code == JOBS_OK ? calloc(named + HINTS_MAX, sizeof *relays) : NULL;
    if (code == JOBS_OK && relays == NULL)
        code = jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory");
    if (code == JOBS_OK) {
        memcpy(relays, client.options.relays, named * sizeof *relays);
        size_t count = named;
        for (size_t i = 0; options_has(&run->options, OPT_FOLLOW_HINTS) && i < reference.relay_count; i++) {
            char *url;
            /* A hint is somebody else's: one that is no relay is left out. */
            if (count < named + HINTS_MAX && jobs_relay_url(&url, reference.relays[i], NULL) == JOBS_OK) {
                relays[count++] = reference.relays[i];
                free(url);
            }
        }
        client.options.relays = relays;
        client.options.relay_count = count;
        code = jobs_read_event(event, reference.hex, &client.options, &run->error);
        if (code == JOBS_NOT_FOUND && run->error.hint[0] == '\0' && reference.relay_count > 0 && count == named)
            snprintf(run->error.hint, sizeof run->error.hint,
                     "the id names %zu relay%s; --follow-hints asks there, too", reference.relay_count,
                     reference.relay_count == 1 ? "" : "s");
    }
    free(relays);
    client_free(&client);
    return code;
}

static int read_stdin(struct jobs_event **event, struct run *run)
{
    struct input input;
    int code = input_read(&input, run, "-", "the event", JOBS_EVENT_LINE_MAX);
    if (code == JOBS_OK && input.too_long)
        code = jobs_error_set(&run->error, JOBS_INVALID, "an event has at most %zu bytes", JOBS_EVENT_LINE_MAX);
    if (code == JOBS_OK)
        code = jobs_event_parse(event, input.bytes != NULL ? input.bytes : "", input.len, &run->error);
    input_free(&input);
    return code;
}

enum format {
    FORMAT_TERMINAL,
    FORMAT_MARKDOWN,
    FORMAT_HTML,
    FORMAT_JSON,
    FORMAT_RAW
};

/* Not named: a card for a person, an object for a program. */
static enum format format_of(const struct run *run)
{
    static const char *const names[] = {"terminal", "markdown", "html", "json", "raw"};
    const char *name = options_text(&run->options, OPT_FORMAT);
    for (enum format format = FORMAT_TERMINAL; name != NULL && format <= FORMAT_RAW; format++)
        if (strcmp(name, names[format]) == 0)
            return format;
    return print_is_for_person(run, STDOUT_FILENO) ? FORMAT_TERMINAL : FORMAT_JSON;
}

/* One of the two. */
struct subject {
    const struct card *card;
    const struct life *life;
};

static int render(FILE *out, const struct subject *subject, enum format format, const struct card_look *look)
{
    const struct card *card = subject->card;
    const struct life *life = subject->life;
    switch (format) {
    case FORMAT_TERMINAL:
        return life != NULL ? life_terminal(out, life, look) : card_terminal(out, card, look);
    case FORMAT_MARKDOWN:
        return life != NULL ? life_markdown(out, life, look) : card_markdown(out, card, look);
    case FORMAT_HTML:
        return life != NULL ? life_html(out, life, look) : card_html(out, card, look);
    case FORMAT_JSON:
        return life != NULL ? life_json(out, life) : card_json(out, card, look);
    case FORMAT_RAW:
        if (life != NULL)
            life_raw(out, life);
        else
            card_raw(out, card->event);
        return JOBS_OK;
    }
    return JOBS_OK;
}

static int print_subject(struct run *run, const struct subject *subject)
{
    const enum format format = format_of(run);
    const struct card_look look = {
        .width = pager_columns(),
        .colours = print_colour(run, STDOUT_FILENO, PRINT_PLAIN)[0] != '\0',
        .reason = options_has(&run->options, OPT_REASON),
    };
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    int code = out != NULL ? render(out, subject, format, &look) : JOBS_NO_MEMORY;
    bool failed = out != NULL && ferror(out) != 0;
    if (out != NULL && (fclose(out) != 0 || failed))
        code = JOBS_NO_MEMORY;
    if (code != JOBS_OK)
        jobs_error_set(&run->error, code, "out of memory");
    else if (format == FORMAT_TERMINAL || format == FORMAT_MARKDOWN)
        code = pager_print(run, text, len);
    else
        code = print_bytes(run, text, len);
    free(text);
    return code;
}

/* --- the life of a job --- */

struct collecting {
    struct life *life;
    int code;
};

static int collect(void *context, const struct jobs_event *event)
{
    struct collecting *collecting = context;
    collecting->code = life_add(collecting->life, event);
    return collecting->code == JOBS_OK ? 0 : -1;
}

/* A life that may lack something is shown, but not as if it were whole. */
static void tell_faults(const struct run *run, const struct jobs_read_counts *counts)
{
    print_faults_for_person(run, counts);
    if (counts->fault_count > 0 && !print_is_for_person(run, STDERR_FILENO)) {
        int ignored = print_line_to(STDERR_FILENO, json_pack("{s:o}", "incomplete", print_faults(counts)));
        (void)ignored;
    }
}

/* The request, which nothing but its id names, and all that names it. */
static int fetch_life(struct life *life, struct run *run)
{
    static const uint32_t kinds[] = {JOBS_KIND_ACCEPTED, JOBS_KIND_PROGRESS, JOBS_KIND_RESULT, JOBS_KIND_CANCEL,
                                     JOBS_KIND_ERROR};
    struct client client = {0};
    struct jobs_event *request = NULL;
    struct jobs_read_counts counts = {0};
    struct collecting collecting = {.life = life};
    const char *const job = life->job;
    const struct jobs_query query = {
        .jobs = &job, .job_count = 1, .kinds = kinds, .kind_count = sizeof kinds / sizeof *kinds};
    int code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_IF_THERE);
    if (code == JOBS_OK)
        code = jobs_read_event(&request, life->job, &client.options, &run->error);
    if (code == JOBS_OK)
        code = life_add(life, request);
    if (code == JOBS_OK || code == JOBS_NOT_FOUND)
        code = jobs_read_list(&query, &client.options, collect, &collecting, &counts, &run->error);
    if (code == JOBS_OK)
        code = collecting.code == JOBS_OK ? life_settle(life) : collecting.code;
    if (code == JOBS_NO_MEMORY)
        jobs_error_set(&run->error, code, "out of memory");
    if (code == JOBS_OK && life->count == 0)
        code = jobs_error_set(&run->error, JOBS_NOT_FOUND, "no relay has anything of this job");
    if (code == JOBS_OK)
        tell_faults(run, &counts);
    jobs_read_counts_wipe(&counts);
    jobs_event_free(request);
    client_free(&client);
    return code;
}

static int show_life(struct run *run)
{
    struct life life = {0};
    snprintf(life.job, sizeof life.job, "%s", options_text(&run->options, OPT_LIFE_OF));
    int code = fetch_life(&life, run);
    if (code == JOBS_OK)
        code = print_subject(run, &(const struct subject){.life = &life});
    life_free(&life);
    return code;
}

static int show_card(struct run *run)
{
    struct jobs_event *event = NULL;
    struct card card = {0};
    int code = strcmp(run->options.operand, "-") == 0 ? read_stdin(&event, run) : fetch(&event, run);
    if (code == JOBS_OK)
        code = card_open(&card, event, &run->error);
    if (code == JOBS_OK)
        code = print_subject(run, &(const struct subject){.card = &card});
    card_close(&card);
    jobs_event_free(event);
    return code;
}

int command_show(struct run *run)
{
    bool of_job = options_has(&run->options, OPT_LIFE_OF);
    if (of_job == (run->options.operand != NULL))
        return jobs_error_set(&run->error, JOBS_USAGE,
                              "show takes the id of an event, - or --job, and one of them only");
    return of_job ? show_life(run) : show_card(run);
}
