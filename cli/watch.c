/* watch.c - `jobs watch`: handoffs as they come. With --first it is what an orchestrator waits with: it ends with the
 * card for one job that stands, be it stored already or new. */
#include "card/card.h"
#include "client.h"
#include "feed_fold.h"
#include "feed_query.h"
#include "print.h"
#include "progress.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct candidate {
    struct feed_line line;
    char *payload;
};

struct watching {
    struct run *run;
    struct feed_query query;
    bool first;
    struct candidate *candidates; /* with --first: the cards that have come, until it rests */
    size_t count;
    int code;
};

static bool matches(const struct watching *watching, const struct feed_line *line)
{
    const char *wanted = watching->query.disposition;
    return (!watching->first || line->card) &&
           (wanted == NULL || (line->card && strcmp(line->disposition, wanted) == 0));
}

static char *copy_payload(const struct jobs_handoff *handoff)
{
    size_t len;
    const char *payload = jobs_handoff_canonical(handoff, &len);
    return strndup(payload, len);
}

static int keep(struct watching *watching, struct feed_line *line, const struct jobs_event *event)
{
    struct candidate *more = realloc(watching->candidates, (watching->count + 1) * sizeof *more);
    if (more == NULL)
        return JOBS_NO_MEMORY;
    watching->candidates = more;
    struct card card;
    int code = card_open_verified(&card, event);
    char *payload = code == JOBS_OK ? copy_payload(card.handoff) : NULL;
    card_close(&card);
    more[watching->count++] = (struct candidate){*line, payload};
    memset(line, 0, sizeof *line); /* it has a new owner */
    return payload == NULL ? JOBS_NO_MEMORY : JOBS_OK;
}

/* Of what has come the newest that stands, or NULL. */
static int choose(struct candidate **out, struct watching *watching)
{
    struct feed_line *lines = calloc(watching->count + 1, sizeof *lines);
    const struct feed_line *best = NULL;
    *out = NULL;
    if (lines == NULL)
        return JOBS_NO_MEMORY;
    for (size_t i = 0; i < watching->count; i++)
        lines[i] = watching->candidates[i].line;
    int code = feed_fold(lines, watching->count);
    for (size_t i = 0; i < watching->count && code == JOBS_OK; i++)
        if (!lines[i].gone && matches(watching, &lines[i]) && (best == NULL || feed_by_time(best, &lines[i]) < 0))
            best = &lines[i];
    for (size_t i = 0; i < watching->count && best != NULL; i++)
        if (strcmp(watching->candidates[i].line.id, best->id) == 0)
            *out = &watching->candidates[i];
    free(lines);
    return code;
}

/* The line of the feed, and the payload itself, its numbers as they were spelled: one object has all that is decided
 * on.
 */
static int print_chosen(struct run *run, const struct candidate *chosen)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    int code = out != NULL ? card_put_facts(out, feed_line_json(&chosen->line), "handoff") : JOBS_NO_MEMORY;
    if (code == JOBS_OK) {
        card_put_json(out, chosen->payload, strlen(chosen->payload));
        fputs("}\n", out);
    }
    if (out != NULL && fclose(out) != 0)
        code = JOBS_NO_MEMORY;
    progress_erase();
    if (code == JOBS_OK)
        code = print_bytes(run, text, len);
    free(text);
    return code;
}

static int take(void *context, const struct jobs_event *event)
{
    struct watching *watching = context;
    struct feed_line line = {0};
    struct candidate *chosen = NULL;
    if (event == NULL) { /* it rests */
        if (watching->count > 0)
            watching->code = choose(&chosen, watching);
        if (chosen != NULL)
            watching->code = print_chosen(watching->run, chosen);
        return chosen != NULL || watching->code != JOBS_OK ? -1 : 0;
    }
    watching->code = feed_line_read(&line, event);
    if (watching->code == JOBS_OK && watching->first && line.card)
        watching->code = keep(watching, &line, event);
    else if (watching->code == JOBS_OK && matches(watching, &line)) {
        progress_erase();
        watching->code = feed_line_print(watching->run, &line);
    }
    feed_line_wipe(&line);
    return watching->code != JOBS_OK ? -1 : 0;
}

static int check_options(struct run *run)
{
    const struct options *given = &run->options;
    bool named = options_has(given, OPT_AUTHOR), any = options_has(given, OPT_ANY_AUTHOR);
    if (!options_has(given, OPT_FIRST))
        return any ? jobs_error_set(&run->error, JOBS_USAGE, "--any-author goes with --first") : JOBS_OK;
    if (!options_has(given, OPT_ONLY_JOB))
        return jobs_error_set(&run->error, JOBS_USAGE, "--first needs --job: the request whose result is waited for");
    if (named == any)
        return jobs_error_set(&run->error, JOBS_USAGE,
                              "--first needs either --author PUBKEY or --any-author: any key can sign a result");
    return JOBS_OK;
}

int command_watch(struct run *run)
{
    struct client client = {0};
    struct watching watching = {.run = run, .first = options_has(&run->options, OPT_FIRST)};
    struct jobs_read_counts counts = {0};
    int wait = options_has(&run->options, OPT_WAIT) ? (int)options_number(&run->options, OPT_WAIT) : 0;

    int code = check_options(run);
    if (code == JOBS_OK)
        code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_IF_THERE);
    if (code == JOBS_OK)
        code = feed_query_open(&watching.query, run);
    /* A feed begins now; a result that is waited for may be there already. */
    if (!watching.first && !options_has(&run->options, OPT_SINCE)) {
        watching.query.query.since = (int64_t)time(NULL);
        watching.query.query.from_now = true;
    }
    signals_hold();
    if (code == JOBS_OK)
        code = jobs_read_watch(&watching.query.query, &client.options, wait, take, &watching, &counts, &run->error);
    if (code == JOBS_OK && watching.code != JOBS_OK)
        code = watching.code;
    if (watching.code == JOBS_NO_MEMORY)
        jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory");

    for (size_t i = 0; i < watching.count; i++) {
        feed_line_wipe(&watching.candidates[i].line);
        free(watching.candidates[i].payload);
    }
    free(watching.candidates);
    jobs_read_counts_wipe(&counts);
    feed_query_free(&watching.query);
    client_free(&client);
    return code;
}
