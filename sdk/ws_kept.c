/* ws_kept.c - connections between two runs of the loop: what one engine leaves behind for the next of the same relay.
 *
 * What arrives meanwhile is read by the next one, whose business it is to know late words from new ones, and an end
 * from a refusal. If it arrives while the loop runs for other relays, nobody is there to hear it: then the connection
 * ends, unless it is the end of a question: an EOSE, which comes behind the event that was asked for and is not waited
 * for, or the CLOSED with which some relays answer our CLOSE.
 */
#include "ws_line.h"

#include <stdlib.h>
#include <string.h>

int jobs__kept_new(struct jobs__kept **out)
{
    *out = calloc(1, sizeof(**out));
    return *out == NULL ? JOBS_NO_MEMORY : JOBS_OK;
}

bool jobs__kept_has(const struct jobs__kept *kept, const char *url)
{
    for (size_t i = 0; i < kept->count; i++) {
        if (kept->lines[i].lws != NULL && strcmp(kept->lines[i].url, url) == 0)
            return true;
    }
    return false;
}

static void hang_up(struct jobs__kept_line *line)
{
    if (line->lws == NULL)
        return;
    lws_close_reason(line->lws, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
    lws_set_timeout(line->lws, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
    line->lws = NULL;
}

void jobs__kept_free(struct jobs__kept *kept)
{
    struct jobs__pipe_guard guard;
    if (kept == NULL)
        return;
    jobs__pipe_guard(&guard);
    for (size_t i = 0; i < kept->count; i++)
        hang_up(&kept->lines[i]);
    if (kept->context != NULL) {
        (void)!lws_service(kept->context, -1); /* the close frames */
        lws_context_destroy(kept->context);
    }
    for (size_t i = 0; i < kept->count; i++) {
        jobs__tls_free(kept->lines[i].tls);
        free(kept->lines[i].url);
    }
    free(kept->lines);
    free(kept);
    jobs__pipe_unguard(&guard);
}

bool jobs__kept_is_late(struct lws *lws, const char *text, size_t len)
{
    static const char *const ends[] = {"[\"EOSE\"", "[\"CLOSED\""};
    bool late = false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        late = late || (len >= strlen(ends[i]) && memcmp(text, ends[i], strlen(ends[i])) == 0);
    return late && lws_is_first_fragment(lws);
}

void jobs__kept_forget(struct lws *lws)
{
    struct jobs__kept *kept = lws_context_user(lws_get_context(lws));
    for (size_t i = 0; kept != NULL && i < kept->count; i++) {
        if (kept->lines[i].lws == lws)
            kept->lines[i].lws = NULL;
    }
}

void jobs__wire_find_kept(struct jobs__wire *wire)
{
    struct jobs__kept *kept = wire->loop->options->kept;
    for (size_t i = 0; kept != NULL && i < kept->count; i++) {
        struct jobs__kept_line *line = &kept->lines[i];
        if (strcmp(line->url, wire->line->url) != 0 || (wire->url.secure && line->tls == NULL))
            continue;
        wire->kept = line;
        wire->tls = line->tls;
        wire->vhost = line->vhost;
        line->tls = NULL;
    }
}

bool jobs__wire_take_kept(struct jobs__wire *wire)
{
    struct jobs__kept_line *line = wire->kept;
    wire->kept = NULL;
    if (line == NULL || line->lws == NULL)
        return false;
    wire->lws = line->lws;
    line->lws = NULL;
    lws_set_opaque_user_data(wire->lws, wire);
    wire->stage = JOBS__STAGE_OPEN;
    wire->addresses = line->addresses;
    wire->address = line->address;
    wire->ping_at = line->ping_at;
    wire->opened = line->opened;
    wire->opened.address = wire->addresses.text[wire->address];
    wire->opened.carried = line->carried;
    wire->opened.carried_len = line->carried_len;
    wire->event = true;
    wire->line->engine->ops->opened(wire->line->engine, jobs__loop_now(), &wire->opened);
    wire->opened.carried = NULL;
    return true;
}

static struct jobs__kept_line *line_for(struct jobs__kept *kept, const char *url)
{
    for (size_t i = 0; i < kept->count; i++) {
        if (strcmp(kept->lines[i].url, url) == 0)
            return &kept->lines[i];
    }
    struct jobs__kept_line *more = realloc(kept->lines, (kept->count + 1) * sizeof(*more));
    if (more == NULL)
        return NULL;
    kept->lines = more;
    more[kept->count] = (struct jobs__kept_line){.url = strdup(url)};
    return more[kept->count].url == NULL ? NULL : &more[kept->count++];
}

void jobs__wire_give_back(struct jobs__wire *wire)
{
    struct jobs__kept *kept = wire->loop->options->kept;
    struct jobs__kept_line *line = kept == NULL ? NULL : line_for(kept, wire->line->url);
    if (line == NULL) /* for want of memory: it ends with this run */
        return;
    line->tls = wire->tls;
    line->vhost = wire->vhost;
    wire->tls = NULL;
    if (wire->carried_len == 0 || wire->stage != JOBS__STAGE_OPEN || wire->pong_by != 0 || wire->ping_owed)
        return;
    hang_up(line); /* a second one, when the same relay was on two lines */
    line->lws = wire->lws;
    line->addresses = wire->addresses;
    line->address = wire->address;
    line->ping_at = wire->ping_at;
    line->opened = wire->opened;
    memcpy(line->carried, wire->carried, wire->carried_len);
    line->carried_len = wire->carried_len;
    lws_set_opaque_user_data(wire->lws, NULL);
    wire->lws = NULL;
    wire->stage = JOBS__STAGE_IDLE;
}
