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

#define SEEN_MAX                                                                                                       \
    ((size_t)393216)             /* ids a watch remembers; then the older half is forgotten, and refused from then on */
#define HELD_MAX   ((size_t)512) /* stored events of a watch that wait to be put into order */
#define HELD_BYTES ((size_t)4 << 20)
#define HELD_MS    200 /* they wait for the rest of their page at most so long */
#define PAGE_MIN   50U
#define PAGE_MAX   500U
#define PAGE_FIRST 100U /* of a watch: somebody waits for the first line */

struct reading {
    const struct jobs_query *query;
    const struct jobs_client_options *options;
    int (*visit)(void *context, const struct jobs_event *event);
    void *context;
    struct jobs_read_counts *counts;
    struct jobs__seen seen;
    struct source {
        struct jobs__signer signer; /* first */
        struct reading *reading;
        const char *url;
        struct jobs__feed *feed;
    } * sources;
    size_t source_count;
    struct jobs__relays relays;
    bool live, enough;
    int code;    /* what ended it */
    int64_t end; /* of a watch, ms; INT64_MAX: none */
    struct jobs_event *held[HELD_MAX];
    size_t held_count, held_bytes;
    int64_t held_since;
};

/* --- what matches --- */

static bool is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, list[i]) == 0)
            return true;
    return count == 0;
}

static bool names_a_job(const struct jobs_event *event, const struct jobs_query *query)
{
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        if (tag.count >= 2 && strcmp(tag.values[0], "e") == 0 &&
            is_one_of(tag.values[1], query->jobs, query->job_count))
            return true;
    }
    return query->job_count == 0;
}

static bool matches(const struct jobs_query *query, const struct jobs_event *event)
{
    bool kind = false;
    for (size_t i = 0; i < query->kind_count; i++)
        kind |= query->kinds[i] == jobs_event_kind(event);
    const char *channel = jobs_event_channel(event);
    int64_t at = jobs_event_created_at(event);
    return kind && (query->from_now || at >= query->since) && (query->until == 0 || at <= query->until) &&
           is_one_of(jobs_event_author(event), query->authors, query->author_count) &&
           (query->channel == NULL || (channel != NULL && strcmp(channel, query->channel) == 0)) &&
           names_a_job(event, query);
}

/* --- handing out --- */

static void hand_out(struct reading *r, const struct jobs_event *event)
{
    if (r->enough || r->code != JOBS_OK)
        return;
    r->counts->events += event != NULL;
    r->enough = r->visit(r->context, event) < 0;
}

/* NIP-01: of one second the lowest id is the newest. */
static int oldest_first(const void *left, const void *right)
{
    const struct jobs_event *a = *(struct jobs_event *const *)left, *b = *(struct jobs_event *const *)right;
    int64_t x = jobs_event_created_at(a), y = jobs_event_created_at(b);
    return x != y ? (x > y) - (x < y) : -strcmp(jobs_event_id(a), jobs_event_id(b));
}

static void release(struct reading *r)
{
    qsort(r->held, r->held_count, sizeof *r->held, oldest_first);
    for (size_t i = 0; i < r->held_count; i++) {
        hand_out(r, r->held[i]);
        jobs_event_free(r->held[i]);
    }
    r->held_count = r->held_bytes = 0;
}

static void rest(void *context)
{
    struct reading *r = ((struct source *)context)->reading;
    release(r);
    hand_out(r, NULL);
}

static void hold(struct reading *r, struct jobs_event *event, size_t len)
{
    r->held[r->held_count++] = event;
    r->held_bytes += len;
    r->held_since = jobs__loop_now();
    if (r->held_count == HELD_MAX || r->held_bytes >= HELD_BYTES)
        release(r);
}

/* Memory is kept from growing by forgetting. */
static bool remember(struct reading *r, const char *id, int64_t created_at)
{
    if (r->live && r->seen.count >= SEEN_MAX && !jobs__seen_halve(&r->seen))
        r->code = JOBS_NO_MEMORY;
    enum jobs__seen_what what = jobs__seen_add(&r->seen, id, created_at);
    if (what == JOBS__SEEN_NO_MEMORY)
        r->code = JOBS_NO_MEMORY;
    return what == JOBS__SEEN_NEW;
}

/* A valid event of the query, or NULL and what is wrong counted. */
static struct jobs_event *read_event(struct reading *r, const char *id, const char *json, size_t len)
{
    struct jobs_event *event = NULL;
    int code = jobs_event_parse(&event, json, len, NULL);
    if (code == JOBS_NO_MEMORY)
        r->code = code;
    if (code != JOBS_OK || strcmp(jobs_event_id(event), id) != 0)
        r->counts->malformed++;
    else if (!matches(r->query, event))
        r->counts->foreign++;
    else if (jobs_event_check(event) != JOBS_EVENT_VALID)
        r->counts->malformed++;
    else
        return event;
    jobs_event_free(event);
    return NULL;
}

static enum jobs__feed_taken take(void *context, const char *id, const char *json, size_t len, bool baseline,
                                  int64_t *created_at)
{
    struct reading *r = ((struct source *)context)->reading;
    if (jobs__seen_find(&r->seen, id, created_at))
        return JOBS__TAKEN_KNOWN;
    struct jobs_event *event = read_event(r, id, json, len);
    if (event == NULL)
        return JOBS__TAKEN_FOREIGN;
    *created_at = jobs_event_created_at(event);
    enum jobs__feed_taken taken = remember(r, id, *created_at) ? JOBS__TAKEN_NEW : JOBS__TAKEN_KNOWN;
    bool before = r->query->from_now && baseline && *created_at < r->query->since;
    if (taken == JOBS__TAKEN_NEW && !before && r->live) {
        hold(r, event, len);
        return taken;
    }
    if (taken == JOBS__TAKEN_NEW && !before)
        hand_out(r, event);
    jobs_event_free(event);
    return taken;
}

static bool more(void *context, int64_t oldest, const char *oldest_id)
{
    const struct reading *r = ((struct source *)context)->reading;
    return r->query->more(r->context, oldest, oldest_id);
}

/* --- the filter --- */

static void add_list(struct jobs__buffer *text, const char *name, const char *const *list, size_t count)
{
    if (count == 0)
        return;
    jobs__buffer_format(text, ",\"%s\":", name);
    for (size_t i = 0; i < count; i++)
        jobs__buffer_format(text, "%c\"%s\"", i == 0 ? '[' : ',', list[i]);
    jobs__buffer_char(text, ']');
}

static char *filter_of(const struct jobs_query *query)
{
    struct jobs__buffer text = {.max = (size_t)1 << 20};
    jobs__buffer_text(&text, "\"kinds\":[");
    for (size_t i = 0; i < query->kind_count; i++)
        jobs__buffer_format(&text, "%s%" PRIu32, i > 0 ? "," : "", query->kinds[i]);
    jobs__buffer_text(&text, "]");
    if (query->channel != NULL)
        jobs__buffer_format(&text, ",\"#h\":[\"%s\"]", query->channel);
    add_list(&text, "#e", query->jobs, query->job_count);
    add_list(&text, "authors", query->authors, query->author_count);
    return jobs__buffer_take(&text);
}

/* --- running --- */

/* Relays that rest, because they had given enough, go on when it is not enough after all. */
static void wake_the_resting(struct reading *r, int64_t now)
{
    size_t resting = 0, over = 0;
    for (size_t i = 0; i < r->source_count; i++) {
        resting += jobs__feed_is_resting(r->sources[i].feed);
        over += jobs__feed_is_over(r->sources[i].feed);
    }
    if (resting == 0 || resting + over < r->source_count)
        return;
    bool went_on = false;
    for (size_t i = 0; i < r->source_count; i++)
        went_on = jobs__feed_go_on(r->sources[i].feed, now) || went_on;
    for (size_t i = 0; i < r->source_count && !went_on; i++)
        jobs__feed_stop(r->sources[i].feed);
}

static bool on_turn(void *context, int64_t now)
{
    struct reading *r = context;
    if (r->held_count > 0 && now - r->held_since >= HELD_MS)
        rest(&r->sources[0]);
    wake_the_resting(r, now);
    return !r->enough && r->code == JOBS_OK && now < r->end;
}

static void on_decide(void *context, size_t line)
{
    (void)context; /* a feed has nothing to decide */
    (void)line;
}

static unsigned page_size(const struct jobs_query *query)
{
    size_t wanted = query->limit + query->limit / 4; /* some are folded */
    return query->limit == 0 || wanted > PAGE_MAX ? PAGE_MAX : wanted < PAGE_MIN ? PAGE_MIN : (unsigned)wanted;
}

static int start(struct reading *r, struct jobs__line *lines, struct jobs_error *error)
{
    char *filter = filter_of(r->query);
    const struct jobs_query *query = r->query;
    int code = filter == NULL ? JOBS_NO_MEMORY : JOBS_OK;
    int64_t now = jobs__loop_now();
    for (size_t i = 0; !code && i < r->relays.count; i++) {
        struct source *source = &r->sources[i];
        *source = (struct source){.signer.options = r->options, .reading = r, .url = r->relays.urls[i]};
        const struct jobs__feed_options feed = {
            .auth_url = r->options->auth_url != NULL ? r->options->auth_url : source->url,
            .start = now,
            .unix_start = (int64_t)time(NULL),
            .give_up = r->end != INT64_MAX ? r->end : now + jobs__timeout_ms(r->options),
            .wake = r->end,
            .timeout = jobs__timeout_ms(r->options),
            .connect_timeout = jobs__connect_timeout_ms(r->options),
            .seed = (uint64_t)now + i,
            .filter = filter,
            .since = query->from_now ? 0 : query->since,
            .until = query->until,
            .floor = query->from_now && query->since > JOBS__FEED_OVERLAP ? query->since - JOBS__FEED_OVERLAP : 0,
            .page = page_size(query),
            .first_page = r->live ? PAGE_FIRST : 0,
            .selected = query->known_count > 0, /* of a second that was cut: those that sort first */
            .live = r->live,
            .sign_auth = r->options->key != NULL ? jobs__signer_sign : NULL,
            .take = take,
            .rest = r->live ? rest : NULL,
            .more = r->live || query->more == NULL ? NULL : more,
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
    if (error != NULL && code == JOBS_DENIED && r->options->key == NULL)
        snprintf(error->hint, sizeof error->hint, "this relay wants to know who reads: give a key");
    return code;
}

static bool any_complete(const struct reading *r)
{
    for (size_t i = 0; i < r->source_count; i++)
        if (jobs__feed_result(r->sources[i].feed)->complete)
            return true;
    return false;
}

/* Nobody had enough: all that there is was given, or something came between. */
static int conclude(const struct reading *r, struct jobs_error *error)
{
    bool late = jobs__loop_now() >= r->end, any = any_complete(r);
    bool over = true;
    for (size_t i = 0; i < r->source_count; i++)
        over = over && jobs__feed_is_over(r->sources[i].feed);
    if (any && over && !r->live)
        return JOBS_OK;
    if (jobs__stopped(r->options))
        return jobs_error_set(error, JOBS_UNREACHABLE, "stopped");
    if (r->live && late && any)
        return jobs_error_set(error, JOBS_UNREACHABLE, "the time is up, and what was waited for did not come");
    return explain(r, error);
}

static int run(struct reading *r, struct jobs_error *error)
{
    int code = jobs__relays_resolve(&r->relays, r->options, error);
    struct jobs__line *lines = calloc(r->relays.count + 1, sizeof *lines);
    r->sources = calloc(r->relays.count + 1, sizeof *r->sources);
    for (size_t i = 0; i < r->query->known_count; i++)
        (void)remember(r, r->query->known[i].id, r->query->known[i].created_at);
    if (!code && (lines == NULL || r->sources == NULL || r->code != JOBS_OK))
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
    if (!code && r->held_count > 0)
        rest(&r->sources[0]);
    if (!code && r->code != JOBS_OK)
        code = jobs_error_set(error, r->code, "out of memory");
    if (!code && !r->enough)
        code = conclude(r, error);
    free(lines);
    return code;
}

static void finish(struct reading *r)
{
    for (size_t i = 0; i < r->source_count; i++) {
        jobs__feed_free(r->sources[i].feed);
        jobs_event_free(r->sources[i].signer.last);
    }
    for (size_t i = 0; i < r->held_count; i++)
        jobs_event_free(r->held[i]);
    free(r->sources);
    jobs__relays_free(&r->relays);
    jobs__seen_free(&r->seen);
}

int jobs_read_list(const struct jobs_query *query, const struct jobs_client_options *options,
                   int (*visit)(void *context, const struct jobs_event *event), void *context,
                   struct jobs_read_counts *counts, struct jobs_error *error)
{
    struct reading r = {.query = query,
                        .options = options,
                        .visit = visit,
                        .context = context,
                        .counts = counts,
                        .end = INT64_MAX,
                        .seen = {.horizon = -1}};
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
                        .seen = {.horizon = -1},
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
