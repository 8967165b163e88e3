/* watch.c - `jobs watch`: handoffs as they come. With --first it is what an orchestrator waits with: it ends with the
 * first card for one job, be it stored already or new. */
#include "client.h"
#include "feed_line.h"
#include "feed_query.h"
#include "print.h"
#include "signals.h"

#include <string.h>
#include <time.h>

struct watching {
    struct run *run;
    struct feed_query query;
    bool first;
    int code;
};

/* The line of the feed, and with --first the payload itself: one object has all that is decided on. */
static int print_first(struct run *run, const struct feed_line *line, const struct jobs_event *event)
{
    size_t len;
    const char *content = jobs_event_content(event, &len);
    json_t *object = feed_line_json(line);
    json_object_set_new(object, "handoff", json_loadb(content, len, 0, NULL));
    return print_line(run, object);
}

static int take(void *context, const struct jobs_event *event)
{
    struct watching *watching = context;
    struct feed_line line;
    const char *wanted = watching->query.disposition;
    bool done = false;
    watching->code = feed_line_read(&line, event);
    bool shown = watching->code == JOBS_OK && (!watching->first || line.card) &&
                 (wanted == NULL || (line.card && strcmp(line.disposition, wanted) == 0));
    if (shown) {
        watching->code =
            watching->first ? print_first(watching->run, &line, event) : feed_line_print(watching->run, &line);
        done = watching->first;
    }
    feed_line_wipe(&line);
    return done || watching->code != JOBS_OK ? -1 : 0;
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
    if (!watching.first && watching.query.query.since == 0)
        watching.query.query.since = (int64_t)time(NULL);
    signals_hold();
    if (code == JOBS_OK)
        code = jobs_read_watch(&watching.query.query, &client.options, wait, take, &watching, &counts, &run->error);
    if (code == JOBS_OK && watching.code != JOBS_OK)
        code = watching.code;
    if (code == JOBS_OK && signals_stop != 0)
        code = jobs_error_set(&run->error, JOBS_UNREACHABLE, "stopped");

    jobs_read_counts_wipe(&counts);
    feed_query_free(&watching.query);
    client_free(&client);
    return code;
}
