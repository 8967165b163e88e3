/* check.c - the job check: the request is fetched by id from the relays and made sure of, before anything is signed.
 *
 * It reads only; what it brings (channel, requested outcome, whom to notify, the thread's root) the publisher uses.
 */
#include "fetch.h"

#include "../core/text.h"

#include <jansson.h>
#include <string.h>

#define OUTCOME_MAX 8192

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

/* Not had: the same fault, said of the request. */
static int explain(int code, struct jobs_error *error)
{
    if (error == NULL)
        return code;
    const struct jobs_error why = *error;
    if (code == JOBS_NOT_FOUND)
        jobs_error_set(error, code, "no relay has the request that --job names; nothing was signed");
    else if (code == JOBS_DENIED || code == JOBS_UNREACHABLE)
        jobs_error_set(error, code, "the request could not be fetched, nothing was signed: %s", why.message);
    error->retry_after = why.retry_after;
    return code;
}

int jobs__request_fetch(struct jobs__request *out, const char *job, const char *channel,
                        const struct jobs__relays *relays, const struct jobs_client_options *options,
                        struct jobs_error *error)
{
    *out = (struct jobs__request){0};
    if (relays->count == 0)
        return jobs_error_set(error, JOBS_USAGE, "no relay is named to fetch the request from");
    int code = jobs__fetch_event(&out->event, job, relays, options, error);
    return code ? explain(code, error) : make_sure(out, job, channel, error);
}

void jobs__request_free(struct jobs__request *request)
{
    jobs_event_free(request->event);
    *request = (struct jobs__request){0};
}
