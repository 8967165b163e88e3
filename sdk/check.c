/* check.c - the job check: the request is fetched by id from the relays and made sure of, before anything is signed.
 *
 * It reads only; what it brings (channel, requested outcome, whom to notify, the thread's root) the publisher uses.
 */
#include "publisher.h"

#include "../core/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OUTCOME_MAX 8192

struct fetch {
    const struct jobs_client_options *options;
    struct jobs__post *posts;
    size_t count;
    const struct jobs_event *found;
};

static int sign_auth(void *context, const char *url, const char *challenge, const char **json, size_t *len, char id[65])
{
    struct jobs__post *post = context;
    jobs_event_free(post->auth);
    int code = jobs__sign_auth(&post->auth, post->options, url, challenge);
    if (code)
        return code;
    *json = jobs_event_json(post->auth, len);
    memcpy(id, jobs_event_id(post->auth), 65);
    return JOBS_OK;
}

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

static int run(struct fetch *fetch, const char *job, const struct jobs__relays *relays, struct jobs_error *error)
{
    struct jobs__line *lines = calloc(relays->count + 1, sizeof *lines);
    fetch->posts = calloc(relays->count + 1, sizeof *fetch->posts);
    int code = lines == NULL || fetch->posts == NULL ? JOBS_NO_MEMORY : JOBS_OK;
    int64_t start = jobs__loop_now();
    for (size_t i = 0; !code && i < relays->count; i++) {
        struct jobs__post *post = &fetch->posts[i];
        post->url = relays->urls[i];
        post->options = fetch->options;
        const struct jobs__session_options session = {
            .auth_url = fetch->options->auth_url != NULL ? fetch->options->auth_url : post->url,
            .start = start,
            .timeout = jobs__timeout_ms(fetch->options),
            .connect_timeout = jobs__connect_timeout_ms(fetch->options),
            .read_back = true,
            .seed = (uint64_t)start + i,
            .fetch_id = job,
            .sign_auth = fetch->options->key != NULL ? sign_auth : NULL,
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

/* Nobody had it: the relays' words, and the code that says most. */
static int explain(struct fetch *fetch, struct jobs_error *error)
{
    size_t absent = 0, denied = 0;
    const char *words = "", *url = "";
    int retry_after = 0;
    for (size_t i = 0; i < fetch->count; i++) {
        jobs__session_stop(fetch->posts[i].session);
        const struct jobs__session_result *result = jobs__session_result(fetch->posts[i].session);
        if (result->verdict == JOBS_REJECTED && result->read_back == JOBS_ABSENT) {
            absent++;
            continue;
        }
        denied += result->denied;
        words = result->message;
        url = fetch->posts[i].url;
        if (result->retry_after > retry_after)
            retry_after = result->retry_after;
    }
    if (absent == fetch->count)
        return jobs_error_set(error, JOBS_NOT_FOUND, "no relay has the request that --job names; nothing was signed");
    int code = jobs_error_set(error, denied == fetch->count - absent ? JOBS_DENIED : JOBS_UNREACHABLE,
                              "the request could not be fetched, nothing was signed: %s: %s", url, words);
    if (error != NULL)
        error->retry_after = retry_after;
    return code;
}

/* Text that could stand in a manifest as it is. JSON is another tool's structure, not a sentence. */
static bool is_plain_text(const char *text, size_t len)
{
    if (len == 0 || len > OUTCOME_MAX || !jobs__text_is_utf8(text, len))
        return false;
    bool blank = true;
    for (size_t at = 0; at < len;) {
        uint32_t c = jobs__text_next(text, len, &at);
        if (jobs__text_is_control(c) && c != '\n' && c != '\t')
            return false;
        blank = blank && jobs__text_is_space(c);
    }
    json_t *structure = json_loadb(text, len, 0, NULL);
    bool structured = structure != NULL;
    json_decref(structure);
    return !blank && !structured;
}

/* The root of the thread that a reply belongs to: the `e` marked root; of a direct reply, what it replies to. */
static const char *thread_root(const struct jobs_event *event)
{
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        if (tag.count >= 4 && strcmp(tag.values[0], "e") == 0 && strcmp(tag.values[3], "root") == 0 &&
            strlen(tag.values[1]) == 64 && jobs__text_is_hex(tag.values[1], 64, true))
            return tag.values[1];
    }
    const char *reply = jobs_event_reply(event);
    return reply != NULL && strlen(reply) == 64 && jobs__text_is_hex(reply, 64, true) ? reply : NULL;
}

static int make_sure(struct jobs__request *out, const char *job, const char *channel, struct jobs_error *error)
{
    const struct jobs_event *event = out->event;
    if (jobs_event_check(event) != JOBS_EVENT_VALID || strcmp(jobs_event_id(event), job) != 0)
        return jobs_error_set(error, JOBS_NOT_FOUND, "what the relay gave as the request is not it, or is forged");
    if (jobs_event_kind(event) != JOBS_KIND_REQUEST)
        return jobs_error_set(error, JOBS_USAGE, "the event that --job names is of kind %u, not a job request (43001)",
                              (unsigned)jobs_event_kind(event));
    out->channel = jobs_event_channel(event);
    if (out->channel == NULL || !jobs_channel_is_valid(out->channel))
        return jobs_error_set(error, JOBS_USAGE, "the request names no channel of its own");
    if (channel != NULL && strcmp(channel, out->channel) != 0)
        return jobs_error_set(error, JOBS_USAGE, "the request belongs to another channel, %s", out->channel);
    size_t len;
    const char *content = jobs_event_content(event, &len);
    out->author = jobs_event_author(event);
    out->outcome = is_plain_text(content, len) ? content : NULL;
    out->root = thread_root(event);
    return JOBS_OK;
}

int jobs__request_fetch(struct jobs__request *out, const char *job, const char *channel,
                        const struct jobs__relays *relays, const struct jobs_client_options *options,
                        struct jobs_error *error)
{
    struct fetch fetch = {.options = options};
    *out = (struct jobs__request){0};
    int code = JOBS_OK;
    if (relays->count == 0)
        code = jobs_error_set(error, JOBS_USAGE, "no relay is named to fetch the request from");
    if (!code)
        code = run(&fetch, job, relays, error);
    if (!code && fetch.found == NULL)
        code = explain(&fetch, error);
    if (!code) {
        size_t len;
        const char *json = jobs_event_json(fetch.found, &len);
        code = jobs_event_parse(&out->event, json, len, error);
    }
    if (!code)
        code = make_sure(out, job, channel, error);
    for (size_t i = 0; i < relays->count && fetch.posts != NULL; i++) {
        jobs__session_free(fetch.posts[i].session);
        jobs_event_free(fetch.posts[i].auth);
    }
    free(fetch.posts);
    return code;
}

void jobs__request_free(struct jobs__request *request)
{
    jobs_event_free(request->event);
    *request = (struct jobs__request){0};
}
