/* reader.c - jobs/read.h's feeds: one feed.c a relay on one loop, one table of what was handed out.
 *
 * Nothing is believed because a relay said it: each event is parsed, its id and signature checked, and held against the
 * query before anyone sees it.
 */
#include "feed.h"
#include "publisher.h"
#include "seen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEEN_MAX     ((size_t)200000) /* ids a watch remembers; older than the overlap are forgotten above */
#define SEEN_SECONDS 2400

struct reading {
    const struct jobs_query *query;
    const struct jobs_client_options *options;
    int (*visit)(void *context, const struct jobs_event *event);
    void *context;
    struct jobs_read_counts *counts;
    struct jobs__seen seen;
    struct source {
        struct reading *reading;
        const char *url;
        struct jobs__feed *feed;
        struct jobs_event *auth;
        size_t counted; /* towards the limit of the query */
    } * sources;
    size_t source_count;
    struct jobs__relays relays;
    bool live, enough;
    int64_t end; /* of a watch, ms; INT64_MAX: none */
};

static int sign_auth(void *context, const char *url, const char *challenge, const char **json, size_t *len, char id[65])
{
    struct source *source = context;
    jobs_event_free(source->auth);
    int code = jobs__sign_auth(&source->auth, source->reading->options, url, challenge);
    if (code)
        return code;
    *json = jobs_event_json(source->auth, len);
    memcpy(id, jobs_event_id(source->auth), 65);
    return JOBS_OK;
}

/* --- what matches --- */

static bool is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, list[i]) == 0)
            return true;
    return count == 0;
}

static bool names_job(const struct jobs_event *event, const char *job)
{
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        if (tag.count >= 2 && strcmp(tag.values[0], "e") == 0 && strcmp(tag.values[1], job) == 0)
            return true;
    }
    return false;
}

static bool matches(const struct jobs_query *query, const struct jobs_event *event)
{
    bool kind = false;
    for (size_t i = 0; i < query->kind_count; i++)
        kind |= query->kinds[i] == jobs_event_kind(event);
    const char *channel = jobs_event_channel(event);
    int64_t at = jobs_event_created_at(event);
    return kind && (query->since == 0 || at >= query->since) && (query->until == 0 || at <= query->until) &&
           is_one_of(jobs_event_author(event), query->authors, query->author_count) &&
           (query->channel == NULL || (channel != NULL && strcmp(channel, query->channel) == 0)) &&
           (query->job == NULL || names_job(event, query->job));
}

static enum jobs__feed_taken take(void *context, const char *id, const char *json, size_t len, int64_t *created_at)
{
    struct source *source = context;
    struct reading *r = source->reading;
    struct jobs_event *event = NULL;
    if (jobs__seen_find(&r->seen, id, created_at)) {
        source->counted += r->source_count > 1; /* from another relay, most likely */
        return JOBS__TAKEN_KNOWN;
    }
    if (jobs_event_parse(&event, json, len, NULL) != JOBS_OK || strcmp(jobs_event_id(event), id) != 0 ||
        !matches(r->query, event) || jobs_event_check(event) != JOBS_EVENT_VALID) {
        jobs_event_free(event);
        r->counts->foreign++;
        return JOBS__TAKEN_FOREIGN;
    }
    *created_at = jobs_event_created_at(event);
    if (r->live && r->seen.count > SEEN_MAX)
        jobs__seen_forget(&r->seen, (int64_t)time(NULL) - SEEN_SECONDS);
    jobs__seen_add(&r->seen, id, *created_at);
    if (!r->enough) {
        r->counts->events++;
        int made = r->visit(r->context, event);
        r->enough = made < 0;
        source->counted += made > 0;
    }
    jobs_event_free(event);
    return JOBS__TAKEN_NEW;
}

static bool more(void *context)
{
    const struct source *source = context;
    size_t limit = source->reading->query->limit;
    return limit == 0 || source->counted < limit;
}

/* --- the filter --- */

static char *filter_of(const struct jobs_query *query)
{
    struct jobs__buffer text = {.max = (size_t)1 << 20};
    jobs__buffer_text(&text, "\"kinds\":[");
    for (size_t i = 0; i < query->kind_count; i++)
        jobs__buffer_format(&text, "%s%" PRIu32, i > 0 ? "," : "", query->kinds[i]);
    jobs__buffer_text(&text, "]");
    if (query->channel != NULL)
        jobs__buffer_format(&text, ",\"#h\":[\"%s\"]", query->channel);
    if (query->job != NULL)
        jobs__buffer_format(&text, ",\"#e\":[\"%s\"]", query->job);
    for (size_t i = 0; i < query->author_count; i++)
        jobs__buffer_format(&text, "%s\"%s\"", i == 0 ? ",\"authors\":[" : ",", query->authors[i]);
    jobs__buffer_text(&text, query->author_count > 0 ? "]" : "");
    return jobs__buffer_take(&text);
}

/* --- running --- */

static bool on_turn(void *context, int64_t now)
{
    struct reading *r = context;
    return !r->enough && now < r->end;
}

static void on_decide(void *context, size_t line)
{
    (void)context; /* a feed has nothing to decide */
    (void)line;
}

static int start(struct reading *r, struct jobs__line *lines, struct jobs_error *error)
{
    char *filter = filter_of(r->query);
    int code = filter == NULL ? JOBS_NO_MEMORY : JOBS_OK;
    int64_t now = jobs__loop_now();
    for (size_t i = 0; !code && i < r->relays.count; i++) {
        struct source *source = &r->sources[i];
        *source = (struct source){.reading = r, .url = r->relays.urls[i]};
        const struct jobs__feed_options feed = {
            .auth_url = r->options->auth_url != NULL ? r->options->auth_url : source->url,
            .start = now,
            .unix_start = (int64_t)time(NULL),
            .timeout = jobs__timeout_ms(r->options),
            .connect_timeout = jobs__connect_timeout_ms(r->options),
            .seed = (uint64_t)now + i,
            .filter = filter,
            .since = r->query->since,
            .until = r->query->until,
            .live = r->live,
            .sign_auth = r->options->key != NULL ? sign_auth : NULL,
            .take = take,
            .more = r->live ? NULL : more,
            .context = source,
        };
        code = jobs__feed_new(&source->feed, &feed);
        if (!code) {
            r->source_count++;
            lines[i] = (struct jobs__line){.engine = jobs__feed_engine(source->feed), .url = source->url};
        }
    }
    free(filter);
    return code ? jobs_error_set(error, code, "out of memory") : JOBS_OK;
}

static int note_faults(struct reading *r)
{
    for (size_t i = 0; i < r->source_count; i++) {
        const struct jobs__feed_result *result = jobs__feed_result(r->sources[i].feed);
        if (result->complete)
            continue;
        struct jobs_relay_fault *faults = realloc(r->counts->faults, (r->counts->fault_count + 1) * sizeof *faults);
        if (faults == NULL)
            return JOBS_NO_MEMORY;
        r->counts->faults = faults;
        struct jobs_relay_fault *fault = &faults[r->counts->fault_count];
        fault->code = result->code;
        fault->url = strdup(r->sources[i].url);
        memcpy(fault->message, result->message, sizeof fault->message);
        if (fault->url == NULL)
            return JOBS_NO_MEMORY;
        r->counts->fault_count++;
    }
    return JOBS_OK;
}

/* No relay gave what was asked for: the fault that says most. */
static int explain(const struct reading *r, struct jobs_error *error)
{
    const struct jobs__feed_result *worst = NULL;
    const char *url = "";
    for (size_t i = 0; i < r->source_count; i++) {
        const struct jobs__feed_result *result = jobs__feed_result(r->sources[i].feed);
        if (worst == NULL || (worst->code == JOBS_UNREACHABLE && result->code != JOBS_UNREACHABLE)) {
            worst = result;
            url = r->sources[i].url;
        }
    }
    int code = worst == NULL ? JOBS_UNREACHABLE : (int)worst->code;
    jobs_error_set(error, code, "%s could not be read: %s", url,
                   worst != NULL && worst->message[0] != '\0' ? worst->message : "no answer");
    if (error != NULL && worst != NULL)
        error->retry_after = worst->retry_after;
    return code;
}

static bool any_complete(const struct reading *r)
{
    for (size_t i = 0; i < r->source_count; i++)
        if (jobs__feed_result(r->sources[i].feed)->complete)
            return true;
    return false;
}

static int run(struct reading *r, struct jobs_error *error)
{
    int code = jobs__relays_resolve(&r->relays, r->options, error);
    struct jobs__line *lines = calloc(r->relays.count + 1, sizeof *lines);
    r->sources = calloc(r->relays.count + 1, sizeof *r->sources);
    if (!code && (lines == NULL || r->sources == NULL))
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    if (!code)
        code = start(r, lines, error);
    const struct jobs__loop_options loop = {
        .ca_file = r->options->ca_file,
        .stop = r->options->stop,
        .decide = on_decide,
        .turn = on_turn,
        .context = r,
        .progress = r->options->progress,
        .progress_context = r->options->progress_context,
    };
    if (!code)
        code = jobs__loop_run(lines, r->source_count, &loop, error);
    if (!code && note_faults(r) != JOBS_OK)
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    if (!code && !r->enough) {
        bool stopped = jobs__stopped(r->options), late = jobs__loop_now() >= r->end;
        if (r->live && !stopped && late && any_complete(r))
            code = jobs_error_set(error, JOBS_UNREACHABLE, "the time is up and what was waited for did not come");
        else if (!stopped && (r->live || !any_complete(r)))
            code = explain(r, error);
    }
    free(lines);
    return code;
}

static void finish(struct reading *r)
{
    for (size_t i = 0; i < r->source_count; i++) {
        jobs__feed_free(r->sources[i].feed);
        jobs_event_free(r->sources[i].auth);
    }
    free(r->sources);
    jobs__relays_free(&r->relays);
    jobs__seen_free(&r->seen);
}

int jobs_read_list(const struct jobs_query *query, const struct jobs_client_options *options,
                   int (*visit)(void *context, const struct jobs_event *event), void *context,
                   struct jobs_read_counts *counts, struct jobs_error *error)
{
    struct reading r = {
        .query = query, .options = options, .visit = visit, .context = context, .counts = counts, .end = INT64_MAX};
    int code = run(&r, error);
    finish(&r);
    return code;
}

int jobs_read_watch(const struct jobs_query *query, const struct jobs_client_options *options, int wait,
                    int (*visit)(void *context, const struct jobs_event *event), void *context,
                    struct jobs_read_counts *counts, struct jobs_error *error)
{
    struct reading r = {.query = query,
                        .options = options,
                        .visit = visit,
                        .context = context,
                        .counts = counts,
                        .live = true,
                        .end = wait > 0 ? jobs__loop_now() + (int64_t)wait * 1000 : INT64_MAX};
    int code = run(&r, error);
    finish(&r);
    return code;
}

void jobs_read_counts_wipe(struct jobs_read_counts *counts)
{
    for (size_t i = 0; i < counts->fault_count; i++)
        free(counts->faults[i].url);
    free(counts->faults);
    memset(counts, 0, sizeof *counts);
}
