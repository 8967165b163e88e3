/* session.c - a conversation's life and its face to the loop: told what happened, asked what it wants.
 *
 * No socket, no clock. What it wants is in session_next.c, what a frame means in session_answers.c, what a lost
 * connection means in session_line.c, how it ends in session_verdict.c.
 */
#include "session_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_MAX ((size_t)1 << 21) /* a frame of ours: the event, escaped */

/* --- what happened --- */

static struct jobs__session *of(struct jobs__engine *engine)
{
    return (struct jobs__session *)engine;
}

static void note_skew(struct jobs__session *s, bool has_date, int64_t skew)
{
    if (!has_date)
        return;
    s->has_skew = true;
    s->skew = skew;
}

static void opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened)
{
    (void)now;
    struct jobs__session *s = of(engine);
    if (s->phase == PHASE_DONE || s->line != LINE_DIALING)
        return;
    s->line = LINE_UP;
    s->http_status = 0;
    s->hopeless = 0;
    note_skew(s, opened->has_date, opened->skew);
    s->inherited = opened->carried_len == sizeof s->carried;
    if (s->inherited) {
        memcpy(&s->carried, opened->carried, sizeof s->carried);
        s->auth = s->carried.auth;
        s->questions = s->carried.questions;
    } else {
        jobs__auth_reset(&s->auth);
    }
}

static void frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct jobs__session *s = of(engine);
    if (s->phase != PHASE_DONE && s->line == LINE_UP)
        jobs__session_frame(s, now, text, len);
}

static void closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed)
{
    struct jobs__session *s = of(engine);
    if (s->phase == PHASE_DONE || (s->line != LINE_UP && s->line != LINE_DIALING))
        return;
    note_skew(s, closed->has_date, closed->skew);
    jobs__session_lost(s, now, closed, s->line == LINE_DIALING);
}

static void explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    (void)now;
    struct jobs__session *s = of(engine);
    if (s->phase == PHASE_DONE || !s->explaining)
        return;
    if (len > 0 && s->said[0] == '\0')
        jobs__session_say(s->said, text, len);
    jobs__session_explained(s);
}

static struct jobs__step next(struct jobs__engine *engine, int64_t now)
{
    return jobs__session_next(of(engine), now);
}

static const char *doing(const struct jobs__engine *engine)
{
    const struct jobs__session *s = (const struct jobs__session *)engine;
    if (s->phase == PHASE_HOLD || s->phase == PHASE_DONE)
        return "";
    if (s->line != LINE_UP)
        return s->dial_failed ? "retrying" : "connecting";
    if (jobs__auth_pending(&s->auth))
        return "authenticating";
    if (s->phase == PHASE_SENT)
        return "sent, waiting for OK";
    if (s->phase == PHASE_SEND)
        return s->result.attempts > 0 ? "retrying" : "sending";
    return s->query.purpose == ASK_CONFIRM ? "reading back" : "asking";
}

/* --- its life --- */

static const struct jobs__engine_ops ops = {
    .opened = opened, .frame = frame, .closed = closed, .explained = explained, .next = next, .doing = doing};

int jobs__session_new(struct jobs__session **out, const struct jobs__session_options *options)
{
    int rc = JOBS_NO_MEMORY;
    *out = NULL;
    struct jobs__session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return rc;
    s->engine.ops = &ops;
    s->out.max = OUT_MAX;
    s->event_frame.max = OUT_MAX;
    s->start = options->start;
    s->deadline = options->start + options->timeout;
    s->connect_timeout = options->connect_timeout;
    s->dial_at = options->start;
    s->random = options->seed;
    s->seed = options->seed;
    s->read_back = options->read_back;
    s->maybe_sent = options->maybe_sent || options->was_sent;
    s->was_sent = options->was_sent;
    s->was_stored = options->was_stored;
    s->was_absent = options->was_absent;
    s->not_before = options->not_before;
    s->keep = options->keep;
    s->sign_auth = options->sign_auth;
    s->context = options->context;
    s->result.read_back = JOBS_NOT_ASKED;
    s->auth_url = strdup(options->auth_url);
    if (s->auth_url == NULL)
        goto fail;
    if (options->fetch_id != NULL) {
        snprintf(s->fetch_id, sizeof s->fetch_id, "%s", options->fetch_id);
        jobs__session_query_begin(s, s->start, ASK_FETCH);
    } else if (options->ask_filter != NULL) {
        s->ask_text = strdup(options->ask_filter);
        if (s->ask_text == NULL)
            goto fail;
        rc = jobs__session_filter_new(&s->ask, options->ask_filter);
        if (rc != JOBS_OK)
            goto fail;
        jobs__session_query_begin(s, s->start, ASK_JOB);
    } else {
        s->asked = JOBS__ASK_ANSWERED;
        s->decide_due = true;
    }
    *out = s;
    return JOBS_OK;
fail:
    jobs__session_free(s);
    return rc;
}

void jobs__session_free(struct jobs__session *session)
{
    if (session == NULL)
        return;
    for (size_t i = 0; i < session->found_count; i++)
        jobs_event_free(session->found[i]);
    jobs__session_filter_free(session->ask);
    jobs__frame_reader_free(&session->reader);
    jobs__buffer_free(&session->event_frame);
    jobs__buffer_free(&session->out);
    free(session->ask_text);
    free(session->auth_url);
    free(session);
}

struct jobs__engine *jobs__session_engine(struct jobs__session *session)
{
    return &session->engine;
}

void jobs__session_send(struct jobs__session *session, const struct jobs_event *event, bool maybe_sent)
{
    struct jobs__session *s = session;
    if (s->phase == PHASE_DONE || s->event != NULL)
        return;
    size_t len;
    const char *json = jobs_event_json(event, &len);
    s->event = event;
    s->maybe_sent = s->maybe_sent || maybe_sent;
    if (s->phase == PHASE_HOLD)
        s->decide_due = false;
    jobs__buffer_text(&s->event_frame, "[\"EVENT\",");
    if (json != NULL)
        jobs__buffer_add(&s->event_frame, json, len);
    jobs__buffer_text(&s->event_frame, "]");
    if (json == NULL || s->event_frame.failed)
        jobs__session_give_up(s, true, false, "out of memory");
}
