/* session_answers.c - what a relay's message changes. The meaning of words is answer.c's; here is the state they meet.
 *
 * Only an OK with our id (or with no id, while ours is the one thing out), and what a question by id brings, decide
 * about the event. Everything else is kept as a notice at most.
 */
#include "session_state.h"

#include <stdio.h>
#include <string.h>

static bool is_asking(const struct jobs__session *s, enum session_purpose purpose)
{
    return s->phase == PHASE_QUERY && s->query.purpose == purpose;
}

static void keep_notice(struct jobs__session *s, const char *text, size_t len)
{
    char line[JOBS_RELAY_MESSAGE_MAX + 1];
    jobs__session_say(line, text, len);
    size_t kept = jobs__session_notice_count(s);
    if (line[0] == '\0' || (kept > 0 && strcmp(line, jobs__session_notice(s, kept - 1)) == 0))
        return;
    memcpy(s->notices[s->notice_count++ % SESSION_NOTICES], line, sizeof line);
}

static void remember(struct jobs__session *s, const char *text, size_t len)
{
    jobs__answer_strip(&text, &len);
    if (len > 0)
        jobs__session_say(s->said, text, len);
}

void jobs__session_send_at(struct jobs__session *s, int64_t at)
{
    s->phase = PHASE_SEND;
    s->send_at = at > s->not_before ? at : s->not_before;
}

void jobs__session_refused(struct jobs__session *s, int64_t now, bool by_id)
{
    s->refusal.is_set = true;
    bool could_be_there = s->maybe_sent || s->result.attempts > (by_id ? 1U : 0U);
    if (by_id)
        s->cleared++;
    if (could_be_there && s->event != NULL)
        jobs__session_query_begin(s, now, ASK_REFUSAL);
    else if (could_be_there) /* nobody has said yet what to ask for */
        jobs__session_give_up(s, false, s->refusal.denied, "");
    else
        jobs__session_reject(s, JOBS_NOT_ASKED);
}

static void refused_with(struct jobs__session *s, int64_t now, const struct jobs__frame *frame,
                         enum jobs__answer answer, bool by_id)
{
    s->refusal.kind = answer == JOBS__ANSWER_KIND;
    s->refusal.denied = answer == JOBS__ANSWER_DENIED || answer == JOBS__ANSWER_AUTH;
    s->refusal.for_time = answer == JOBS__ANSWER_FINAL && jobs__answer_speaks_of_time(frame->text, frame->text_len);
    s->refusal.window = jobs__answer_window(frame->text, frame->text_len);
    jobs__session_refused(s, now, by_id);
}

/* auth-required: for what was sent last. Holds it back until AUTH is through; false when that is in vain. */
static bool authenticate_first(struct jobs__session *s, int64_t now, bool sent_after_auth)
{
    if (sent_after_auth)
        return false;
    s->query.out = false;
    if (s->sign_auth == NULL) { /* no challenge will help */
        s->auth_cannot = true;
        s->auth.failures = JOBS__AUTH_FAILURES;
    } else if (s->auth.state == JOBS__AUTH_GOOD || jobs__auth_demand(&s->auth, now)) {
        return true;
    }
    jobs__session_auth_failed(s, now);
    return true;
}

/* The relay said OK false. by_id: with our id, else with none while ours was out. */
static void event_refused(struct jobs__session *s, int64_t now, const struct jobs__frame *frame, bool by_id)
{
    enum jobs__answer answer = jobs__answer_refusal(frame->text, frame->text_len);
    int64_t at;
    remember(s, frame->text, frame->text_len);
    switch (answer) {
    case JOBS__ANSWER_DUPLICATE:
        s->result.said_stored = true;
        jobs__session_query_begin(s, now, ASK_DUPLICATE);
        return;
    case JOBS__ANSWER_AUTH:
        if (!s->event_authed) {
            s->cleared += by_id;
            jobs__session_send_at(s, now);
            (void)authenticate_first(s, now, false);
            return;
        }
        break;
    case JOBS__ANSWER_DENIED:
        if (jobs__session_still_restricted(s, now, &at)) {
            s->cleared += by_id;
            jobs__session_send_at(s, at);
            return;
        }
        break;
    case JOBS__ANSWER_THROTTLED:
    case JOBS__ANSWER_ERROR:
        if (!jobs__session_retry_at(s, now, frame->text, frame->text_len, &at))
            return;
        if (answer == JOBS__ANSWER_ERROR && s->result.attempts > 1) { /* it may have been kept in spite of an error */
            jobs__session_query_begin(s, now, ASK_RESEND);
            s->query.at = at;
        } else {
            jobs__session_send_at(s, at);
        }
        return;
    case JOBS__ANSWER_KIND:
    case JOBS__ANSWER_FINAL:
    case JOBS__ANSWER_NOTHING:
        break;
    }
    refused_with(s, now, frame, answer, by_id);
}

static void event_stored(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    s->result.said_stored = true;
    jobs__session_say(s->said, frame->text, frame->text_len);
    if (s->read_back)
        jobs__session_query_begin(s, now, ASK_CONFIRM);
    else
        jobs__session_accept(s, JOBS_NOT_ASKED, s->said);
}

static void auth_answered(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    int64_t at;
    if (frame->accepted) {
        jobs__auth_answered(&s->auth, true);
        s->auth_lacks = NULL;
        return;
    }
    remember(s, frame->text, frame->text_len);
    s->auth_was_refused = true;
    s->auth_lacks = NULL;
    enum jobs__answer answer = jobs__answer_refusal(frame->text, frame->text_len);
    if (answer == JOBS__ANSWER_THROTTLED || answer == JOBS__ANSWER_ERROR) { /* not about us: elsewhere, later */
        s->auth.state = JOBS__AUTH_REFUSED;
        if (jobs__session_retry_at(s, now, frame->text, frame->text_len, &at))
            jobs__session_redial(s, now, at);
        return;
    }
    if (answer == JOBS__ANSWER_DENIED && jobs__session_still_restricted(s, now, &at)) {
        s->auth.state = JOBS__AUTH_REFUSED;
        jobs__session_redial(s, now, at);
        return;
    }
    jobs__auth_answered(&s->auth, false);
    if (jobs__auth_is_lost(&s->auth))
        jobs__session_auth_failed(s, now);
}

static bool waits_for_ok(const struct jobs__session *s)
{
    return s->phase == PHASE_SENT || s->phase == PHASE_SEND || is_asking(s, ASK_RESEND);
}

static void on_ok(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    bool ours = s->event != NULL && s->result.attempts > 0 && frame->id_is == JOBS__ID_EVENT &&
                strcmp(frame->id, jobs_event_id(s->event)) == 0;
    bool auth_out = s->auth.state == JOBS__AUTH_OUT;
    if (auth_out && (frame->id_is == JOBS__ID_NONE || strcmp(frame->id, s->auth.id) == 0)) {
        auth_answered(s, now, frame);
        return;
    }
    if (ours && frame->accepted) {
        if (!is_asking(s, ASK_CONFIRM))
            event_stored(s, now, frame);
        return;
    }
    if (ours && s->phase == PHASE_SENT) {
        event_refused(s, now, frame, true);
        return;
    }
    if (ours && waits_for_ok(s)) { /* late: we were about to ask or to send again, and do so unless it is final */
        enum jobs__answer answer = jobs__answer_refusal(frame->text, frame->text_len);
        remember(s, frame->text, frame->text_len);
        if (answer == JOBS__ANSWER_FINAL || answer == JOBS__ANSWER_KIND)
            refused_with(s, now, frame, answer, false);
        return;
    }
    if (frame->id_is == JOBS__ID_NONE && s->phase == PHASE_SENT) {
        if (frame->accepted) /* stored, but what? */
            jobs__session_query_begin(s, now, ASK_RESEND);
        else
            event_refused(s, now, frame, false);
    }
}

/* Something that is out met a NOTICE which may be its answer. */
static void on_notice(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    int64_t at;
    keep_notice(s, frame->text, frame->text_len);
    bool sent = s->phase == PHASE_SENT;
    bool asking = s->phase == PHASE_QUERY && s->query.out;
    if (!sent && !asking)
        return;
    switch (jobs__answer_notice(frame->text, frame->text_len)) {
    case JOBS__ANSWER_AUTH:
        if (sent && s->event_authed) {
            remember(s, frame->text, frame->text_len);
            refused_with(s, now, frame, JOBS__ANSWER_AUTH, false);
        } else if (sent) {
            jobs__session_send_at(s, now);
            (void)authenticate_first(s, now, false);
        } else if (!s->query.authed && s->auth.state != JOBS__AUTH_OUT) {
            (void)authenticate_first(s, now, false);
        }
        return;
    case JOBS__ANSWER_THROTTLED: /* of a question CLOSED or silence will tell, but the event goes out later */
        if (!sent && jobs__answer_retry_in(frame->text, frame->text_len) == 0)
            return;
        if (jobs__session_retry_at(s, now, frame->text, frame->text_len, &at) && sent)
            jobs__session_send_at(s, at);
        return;
    case JOBS__ANSWER_FINAL:
        if (sent) {
            remember(s, frame->text, frame->text_len);
            refused_with(s, now, frame, JOBS__ANSWER_FINAL, false);
        }
        return;
    default:
        return;
    }
}

static void on_closed(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    if (s->phase != PHASE_QUERY || !s->query.out || strcmp(frame->subscription, s->query.subscription) != 0)
        return;
    enum jobs__answer answer = jobs__answer_refusal(frame->text, frame->text_len);
    enum session_purpose purpose = s->query.purpose;
    bool needed = purpose == ASK_FETCH || purpose == ASK_REFUSAL || purpose == ASK_DUPLICATE;
    if (purpose == ASK_FETCH)
        remember(s, frame->text, frame->text_len);
    if (answer == JOBS__ANSWER_AUTH && authenticate_first(s, now, s->query.authed))
        return;
    if (purpose != ASK_FETCH) /* the words about the event weigh more */
        keep_notice(s, frame->text, frame->text_len);
    int64_t at;
    bool again = false;
    bool later = answer == JOBS__ANSWER_THROTTLED || (answer == JOBS__ANSWER_ERROR && needed);
    if (later && purpose != ASK_CONFIRM) { /* there the OK stands, and reading is a courtesy */
        if (!jobs__session_retry_at(s, now, frame->text, frame->text_len, &at))
            return;
        again = needed;
        if (at > s->not_before)
            s->not_before = at;
    } else if (answer == JOBS__ANSWER_DENIED && purpose == ASK_FETCH) {
        again = jobs__session_still_restricted(s, now, &at);
    }
    if (again) {
        s->query.out = false;
        s->query.at = at;
        return;
    }
    jobs__session_say(s->result.closed, frame->text, frame->text_len);
    if (purpose == ASK_FETCH)
        s->refusal.denied = answer == JOBS__ANSWER_DENIED || answer == JOBS__ANSWER_AUTH;
    jobs__session_query_end(s, now, FOUND_REFUSED);
}

static void on_eose(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    if (s->phase == PHASE_QUERY && s->query.out && strcmp(frame->subscription, s->query.subscription) == 0)
        jobs__session_query_end(s, now, FOUND_ABSENT);
}

static void on_challenge(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    (void)now;
    if (!jobs__auth_challenge(&s->auth, frame->text, frame->text_len)) {
        static const char words[] = "(a challenge that is too long or holds NUL was left unanswered)";
        keep_notice(s, words, sizeof words - 1);
    }
}

void jobs__session_frame(struct jobs__session *s, int64_t now, const char *text, size_t len)
{
    struct jobs__frame frame;
    jobs__frame_read(&frame, &s->reader, text, len);
    if (frame.type == JOBS__FRAME_OK || frame.type == JOBS__FRAME_EOSE || frame.type == JOBS__FRAME_CLOSED)
        s->ending[0] = '\0'; /* it talks again: how an earlier connection ended explains nothing any more */
    switch (frame.type) {
    case JOBS__FRAME_OK:
        on_ok(s, now, &frame);
        break;
    case JOBS__FRAME_NOTICE:
        on_notice(s, now, &frame);
        break;
    case JOBS__FRAME_CLOSED:
        on_closed(s, now, &frame);
        break;
    case JOBS__FRAME_EOSE:
        on_eose(s, now, &frame);
        break;
    case JOBS__FRAME_EVENT:
        jobs__session_query_event(s, now, &frame);
        break;
    case JOBS__FRAME_AUTH:
        on_challenge(s, now, &frame);
        break;
    case JOBS__FRAME_BAD: {
        static const char before[] = "(not understood) ";
        char line[sizeof before + 80];
        size_t kept = len < 80 ? len : 80;
        memcpy(line, before, sizeof before - 1);
        memcpy(line + sizeof before - 1, text, kept);
        keep_notice(s, line, sizeof before - 1 + kept);
        break;
    }
    case JOBS__FRAME_OTHER:
        break;
    }
}
