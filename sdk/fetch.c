/* fetch.c - one event by its id, from the first relay that has it. Judges nothing but that it is the one and holds. */
#include "fetch.h"

#include <jobs/read.h>

#include <stdlib.h>
#include <string.h>

struct fetch {
    const struct jobs_client_options *options;
    struct jobs__post *posts;
    size_t count;
    const struct jobs_event *found;
};

/* One relay that has it is enough. */
static bool on_turn(void *context, int64_t now)
{
    struct fetch *fetch = context;
    (void)now;
    for (size_t i = 0; i < fetch->count && fetch->found == NULL; i++) {
        const struct jobs__session *session = fetch->posts[i].session;
        if (jobs__session_found_count(session) > 0)
            fetch->found = jobs__session_found(session, 0);
    }
    return fetch->found == NULL;
}

static void on_decide(void *context, size_t line)
{
    (void)context; /* a fetch leaves nothing to decide */
    (void)line;
}

static int run(struct fetch *fetch, const char *id, const struct jobs__relays *relays, struct jobs_error *error)
{
    struct jobs__line *lines = calloc(relays->count + 1, sizeof *lines);
    fetch->posts = calloc(relays->count + 1, sizeof *fetch->posts);
    int code = lines == NULL || fetch->posts == NULL ? JOBS_NO_MEMORY : JOBS_OK;
    int64_t start = jobs__loop_now();
    for (size_t i = 0; !code && i < relays->count; i++) {
        struct jobs__post *post = &fetch->posts[i];
        post->url = relays->urls[i];
        post->signer.options = fetch->options;
        const struct jobs__session_options session = {
            .auth_url = fetch->options->auth_url != NULL ? fetch->options->auth_url : post->url,
            .start = start,
            .timeout = jobs__timeout_ms(fetch->options),
            .connect_timeout = jobs__connect_timeout_ms(fetch->options),
            .read_back = true,
            .seed = (uint64_t)start + i,
            .fetch_id = id,
            .sign_auth = fetch->options->key != NULL ? jobs__signer_sign : NULL,
            .context = post,
        };
        code = jobs__session_new(&post->session, &session);
        if (code)
            break;
        fetch->count++;
        lines[i] = (struct jobs__line){.engine = jobs__session_engine(post->session), .url = post->url};
    }
    if (code)
        jobs_error_set(error, code, "out of memory");
    const struct jobs__loop_options loop = {
        .ca_file = fetch->options->ca_file,
        .stop = fetch->options->stop,
        .decide = on_decide,
        .turn = on_turn,
        .context = fetch,
        .progress = fetch->options->progress,
        .progress_context = fetch->options->progress_context,
    };
    if (!code)
        code = jobs__loop_run(lines, fetch->count, &loop, error);
    if (!code)
        (void)on_turn(fetch, 0);
    free(lines);
    return code;
}

/* What the relay made of the question; JOBS_NOT_FOUND: it answered. */
static int code_of(const struct jobs__session_result *result)
{
    if (result->denied)
        return JOBS_DENIED;
    if (result->verdict == JOBS_REJECTED)
        return result->read_back == JOBS_ABSENT ? JOBS_NOT_FOUND : JOBS_REFUSED;
    return result->read_back == JOBS_DIFFERENT ? JOBS_REFUSED : JOBS_UNREACHABLE;
}

static int rank(int code)
{
    return code == JOBS_UNREACHABLE ? 2 : code == JOBS_REFUSED ? 1 : 0;
}

/* Nobody had it: a relay's words and what they mean. One that might still have it weighs most, one that lets nobody
 * in, or not us, less. */
static int explain(struct fetch *fetch, struct jobs_error *error)
{
    size_t absent = 0;
    const struct jobs__session_result *worst = NULL;
    const char *url = "";
    int retry_after = 0;
    for (size_t i = 0; i < fetch->count; i++) {
        jobs__session_stop(fetch->posts[i].session);
        const struct jobs__session_result *result = jobs__session_result(fetch->posts[i].session);
        if (code_of(result) == JOBS_NOT_FOUND) {
            absent++;
            continue;
        }
        if (worst == NULL || rank(code_of(result)) > rank(code_of(worst))) {
            worst = result;
            url = fetch->posts[i].url;
        }
        if (result->retry_after > retry_after)
            retry_after = result->retry_after;
    }
    if (absent == fetch->count)
        return jobs_error_set(error, JOBS_NOT_FOUND, "no relay has this event");
    int code = jobs_error_set(error, code_of(worst), "%s: %s", url, worst->message);
    if (error != NULL) {
        error->retry_after = retry_after;
        memcpy(error->hint, worst->hint, sizeof worst->hint);
    }
    return code;
}

int jobs__fetch_event(struct jobs_event **out, const char *id, const struct jobs__relays *relays,
                      const struct jobs_client_options *options, struct jobs_error *error)
{
    struct fetch fetch = {.options = options};
    *out = NULL;
    int code = run(&fetch, id, relays, error);
    if (!code && fetch.found == NULL)
        code = explain(&fetch, error);
    if (!code) {
        size_t len;
        const char *json = jobs_event_json(fetch.found, &len);
        code = jobs_event_parse(out, json, len, error);
    }
    for (size_t i = 0; i < relays->count && fetch.posts != NULL; i++) {
        jobs__session_free(fetch.posts[i].session);
        jobs_event_free(fetch.posts[i].signer.last);
    }
    free(fetch.posts);
    return code;
}

int jobs_read_event(struct jobs_event **out, const char *event_id, const struct jobs_client_options *options,
                    struct jobs_error *error)
{
    struct jobs__relays relays = {0};
    *out = NULL;
    int code = jobs__relays_resolve(&relays, options, error);
    if (!code)
        code = jobs__fetch_event(out, event_id, &relays, options, error);
    jobs__relays_free(&relays);
    return code;
}
