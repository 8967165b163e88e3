/* session_next.c - what a session wants next: one step of the line, of AUTH, or of the talk.
 *
 * Nothing is decided here but that a time has come; what that means is asked of the other files.
 */
#include "session_state.h"

#include <stdio.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Without an answer so far: ask what became of it while there is time to act on what is said. */
static int64_t patience(const struct jobs__session *s, int64_t now)
{
    int64_t half = (s->deadline - now) / 2;
    return half > SESSION_OK_MS ? SESSION_OK_MS : half < SESSION_OK_MIN_MS ? SESSION_OK_MIN_MS : half;
}

void jobs__session_explained(struct jobs__session *s)
{
    s->explaining = false;
    s->explained = true;
    jobs__session_give_up(s, s->explain_retryable, s->explain_denied, "");
}

static struct jobs__step step_of(enum jobs__want want, int64_t at)
{
    return (struct jobs__step){.want = want, .at = at};
}

/* A relay that cannot be asked yet must not hold up the others: its owner is told at this time. One that is there, but
 * wants AUTH first, has the time for that. */
static int64_t early_at(const struct jobs__session *s)
{
    return s->start + (s->line == LINE_UP ? JOBS__AUTH_PATIENCE : SESSION_ASK_MS);
}

static bool may_notice_early(const struct jobs__session *s)
{
    return s->phase == PHASE_QUERY && s->query.purpose == ASK_JOB && !s->query.out && s->line != LINE_DROP &&
           s->event == NULL && !s->noticed_early;
}

/* When the clock has to be looked at, if nothing happens until then. */
static int64_t next_look(const struct jobs__session *s, int64_t at)
{
    at = least(at, s->deadline);
    if (s->line == LINE_UP)
        at = least(at, jobs__auth_deadline(&s->auth));
    return may_notice_early(s) ? least(at, early_at(s)) : at;
}

static struct jobs__step wait_until(const struct jobs__session *s, int64_t at)
{
    return step_of(JOBS__WANT_WAIT, next_look(s, at));
}

static struct jobs__step send(const struct jobs__session *s, const struct jobs__buffer *bytes, int64_t at)
{
    return (struct jobs__step){
        .want = JOBS__WANT_SEND, .bytes = bytes->bytes, .len = bytes->len, .at = next_look(s, at)};
}

/* Every step_… below answers true with a step, or false when the next one has to be looked for. */

/* Whether the connection is as good as new: all that was sent on it was answered, by name, and nothing is owed. */
static bool may_be_kept(const struct jobs__session *s, int64_t now)
{
    const struct jobs__session_result *result = &s->result;
    bool holds = result->verdict == JOBS_ACCEPTED || result->verdict == JOBS_DUPLICATE;
    bool answered = result->attempts == 0 || (result->attempts == 1 && result->said_stored);
    bool known = s->auth.owed_until == 0 && (s->auth.state == JOBS__AUTH_NONE || s->auth.state == JOBS__AUTH_GOOD);
    return s->keep && now < s->deadline && s->line == LINE_UP && holds && answered && !s->query.out && known;
}

static bool step_close(struct jobs__session *s, struct jobs__step *step)
{
    if (s->close_subscription[0] == '\0')
        return false;
    jobs__buffer_format(&s->out, "[\"CLOSE\",\"%s\"]", s->close_subscription);
    s->close_subscription[0] = '\0';
    *step = send(s, &s->out, 0);
    return true;
}

static bool step_done(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    if (s->phase != PHASE_DONE)
        return false;
    bool kept = may_be_kept(s, now);
    if (kept && step_close(s, step))
        return true;
    bool owner_waits = s->event == NULL && s->fetch_id[0] == '\0' && !s->told_over;
    s->told_over = true;
    *step = step_of(owner_waits ? JOBS__WANT_DECIDE : JOBS__WANT_DONE, s->deadline);
    if (kept && !owner_waits) {
        s->carried = (struct jobs__carried){s->auth, s->questions};
        step->bytes = (const char *)&s->carried;
        step->len = sizeof s->carried;
    }
    return true;
}

static bool step_explain(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    if (!s->explaining)
        return false;
    if (now >= s->explain_until) {
        jobs__session_explained(s);
        return false;
    }
    bool first = !s->explained;
    s->explained = true;
    *step = step_of(first ? JOBS__WANT_EXPLAIN : JOBS__WANT_WAIT, s->explain_until);
    return true;
}

/* The time is nearly over and the relay never got further than an HTTP refusal: its page may say why. */
static bool time_to_explain(const struct jobs__session *s, int64_t now)
{
    int64_t reserve = least(SESSION_EXPLAIN_MS, (s->deadline - s->start) / 8);
    return s->http_status != 0 && !s->explained && now >= s->deadline - reserve;
}

static bool step_line(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    int64_t wanted = s->phase == PHASE_SEND ? s->send_at : s->phase == PHASE_QUERY ? s->query.at : now;
    int64_t reserve = s->http_status != 0 ? least(SESSION_EXPLAIN_MS, (s->deadline - s->start) / 8) : 0;
    switch (s->line) {
    case LINE_UP:
        return false;
    case LINE_DROP:
        s->line = LINE_OFF;
        *step = step_of(JOBS__WANT_HANG_UP, s->deadline);
        return true;
    case LINE_DIALING:
        if (now >= s->dial_limit) {
            static const char words[] = "no answer in time";
            const struct jobs__closed late = {.ending = JOBS__END_NO_CONNECT, .text = words, .len = sizeof words - 1};
            jobs__session_lost(s, now, &late, true);
            s->line = LINE_DROP;
            return s->phase == PHASE_DONE ? step_done(s, now, step) : step_line(s, now, step);
        }
        *step = wait_until(s, s->dial_limit);
        return true;
    case LINE_OFF:
        break;
    }
    if (time_to_explain(s, now)) {
        s->explaining = true;
        s->explain_denied = false;
        s->explain_retryable = true;
        s->explain_until = s->deadline;
        return step_explain(s, now, step);
    }
    int64_t at = s->dial_at > wanted ? s->dial_at : wanted;
    if (now < at) {
        *step = wait_until(s, least(at, s->deadline - (s->explained ? 0 : reserve)));
        return true;
    }
    s->line = LINE_DIALING;
    s->dial_limit = least(now + s->connect_timeout, s->deadline - (s->explained ? 0 : reserve));
    *step = step_of(JOBS__WANT_DIAL, next_look(s, s->dial_limit));
    return true;
}

/* AUTH, when a challenge is there and nothing stands against it. An event that is out goes first: its relay may not
 * want AUTH at all. */
static bool step_auth(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    const char *lacks = jobs__session_auth_lacks(s);
    if (jobs__auth_expire(&s->auth, now)) {
        s->auth_lacks = lacks;
        if (s->auth.demanded) {
            jobs__session_auth_failed(s, now);
            return false;
        }
    }
    if (!jobs__auth_due(&s->auth) || s->phase == PHASE_SENT)
        return false;
    const char *json = NULL;
    size_t len = 0;
    char id[65] = "";
    if (s->sign_auth == NULL || s->sign_auth(s->context, s->auth_url, s->auth.challenge, &json, &len, id) != JOBS_OK) {
        s->auth_cannot = true;
        s->auth.fresh = false;
        s->auth.state = JOBS__AUTH_REFUSED;
        s->auth.failures = JOBS__AUTH_FAILURES;
        if (s->auth.demanded)
            jobs__session_auth_failed(s, now);
        return false;
    }
    jobs__buffer_text(&s->out, "[\"AUTH\",");
    jobs__buffer_add(&s->out, json, len);
    jobs__buffer_text(&s->out, "]");
    jobs__auth_sent(&s->auth, now, id);
    *step = send(s, &s->out, s->deadline);
    return true;
}

static bool step_query(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    if (s->query.out && now >= s->query.limit) {
        if (jobs__auth_pending(&s->auth))
            s->query.out = false; /* unanswered because of that: ask again when it is through */
        else
            jobs__session_query_end(s, now, FOUND_SILENT);
        return false;
    }
    if (s->query.out || jobs__auth_pending(&s->auth)) {
        *step = wait_until(s, s->query.out ? s->query.limit : s->deadline);
        return true;
    }
    if (now < s->query.at) {
        *step = wait_until(s, s->query.at);
        return true;
    }
    jobs__session_query_request(s, now);
    *step = send(s, &s->out, s->query.limit);
    return true;
}

static bool step_send(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    if (jobs__auth_pending(&s->auth) || now < s->send_at) {
        *step = wait_until(s, now < s->send_at ? s->send_at : s->deadline);
        return true;
    }
    s->phase = PHASE_SENT;
    s->event_authed = s->auth.state == JOBS__AUTH_GOOD;
    s->result.attempts++;
    s->result.last_sent = now;
    s->result.absent_at_end = false;
    s->ok_limit = now + patience(s, now);
    *step = send(s, &s->event_frame, s->ok_limit);
    return true;
}

static bool step_hold(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    if (s->decide_due) {
        s->decide_due = false;
        *step = step_of(JOBS__WANT_DECIDE, s->deadline);
        return true;
    }
    if (s->event != NULL) {
        jobs__session_deliver(s, now);
        return false;
    }
    *step = wait_until(s, s->deadline);
    return true;
}

static bool step_early_notice(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    bool failed = s->dial_failed && s->line != LINE_UP;
    if (!may_notice_early(s) || !(failed || now >= early_at(s)))
        return false;
    s->noticed_early = true;
    *step = step_of(JOBS__WANT_DECIDE, s->deadline);
    return true;
}

static bool step_talk(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    switch (s->phase) {
    case PHASE_HOLD:
        return step_hold(s, now, step);
    case PHASE_QUERY:
        return step_query(s, now, step);
    case PHASE_SEND:
        return step_send(s, now, step);
    case PHASE_SENT:
        if (now >= s->ok_limit) {
            jobs__session_query_begin(s, now, ASK_RESEND);
            return false;
        }
        *step = wait_until(s, s->ok_limit);
        return true;
    case PHASE_DONE:
        break;
    }
    return false;
}

static bool is_off(const struct jobs__session *s)
{
    return s->line == LINE_OFF || s->line == LINE_DIALING;
}

/* One try; false: something changed, look again. */
static bool look(struct jobs__session *s, int64_t now, struct jobs__step *step)
{
    if (step_done(s, now, step))
        return true;
    if (s->explaining)
        return step_explain(s, now, step);
    if (now >= s->deadline) {
        jobs__session_give_up(s, true, false,
                              s->was_sent || s->result.attempts > 0 ? "sent, but nothing decided it in time"
                              : s->fetch_id[0] != '\0'              ? "no answer in time"
                                                                    : "not sent in time");
        return false;
    }
    if (step_early_notice(s, now, step))
        return true;
    if (s->phase == PHASE_HOLD && is_off(s)) /* nothing to dial for */
        return step_hold(s, now, step);
    if (step_line(s, now, step))
        return true;
    if (s->phase == PHASE_DONE || s->explaining || s->line != LINE_UP)
        return false;
    if (step_auth(s, now, step))
        return true;
    if (s->phase == PHASE_DONE || s->line != LINE_UP)
        return false;
    return step_close(s, step) || step_talk(s, now, step);
}

struct jobs__step jobs__session_next(struct jobs__session *s, int64_t now)
{
    struct jobs__step step = step_of(JOBS__WANT_WAIT, s->deadline);
    jobs__buffer_clear(&s->out);
    while (!look(s, now, &step))
        ;
    if (step.want == JOBS__WANT_SEND && (step.bytes == NULL || s->out.failed)) {
        jobs__session_give_up(s, true, false, "out of memory");
        step = step_of(JOBS__WANT_DONE, now);
    }
    return step;
}
