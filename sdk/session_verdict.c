/* session_verdict.c - how a session ends, and in which words. Verdicts are set here and nowhere else.
 *
 * The relay's own words come first when it refused; when nothing was decided, ours say what happened and its words
 * follow, so that a timeout after a NOTICE still shows the NOTICE.
 */
#include "../core/text.h"
#include "session_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SKEW_WORTH_NAMING 30 /* s */

void jobs__session_say(char *out, const char *text, size_t len)
{
    jobs__text_one_line(out, JOBS_RELAY_MESSAGE_MAX, text, len);
}

/* Whether some attempt, now or in an earlier process, may have left the event there. */
bool jobs__session_in_doubt(const struct jobs__session *s)
{
    return s->maybe_sent || s->cleared < s->result.attempts;
}

/* Appends to the message, after "; " where there is something already, cut at a whole character. */
static void add_words(struct jobs__session *s, const char *before, const char *words)
{
    char *message = s->result.message;
    if (words[0] == '\0' || strstr(message, words) != NULL)
        return;
    struct jobs__buffer joined = {.max = 4 * (JOBS_RELAY_MESSAGE_MAX + 1)};
    jobs__buffer_format(&joined, "%s%s%s%s", message, message[0] != '\0' ? "; " : "", before, words);
    if (!joined.failed)
        jobs__session_say(message, joined.bytes, joined.len);
    jobs__buffer_free(&joined);
}

static void add_notices(struct jobs__session *s)
{
    size_t kept = jobs__session_notice_count(s);
    for (size_t i = kept; i > 0; i--)
        add_words(s, "notice: ", jobs__session_notice(s, i - 1));
}

const char *jobs__session_auth_lacks(const struct jobs__session *s)
{
    if (s->line == LINE_UP && s->auth.state == JOBS__AUTH_OUT)
        return "AUTH was not answered";
    if (s->line == LINE_UP && s->auth.owed_until != 0)
        return "the relay demands AUTH, but sends no challenge";
    return s->auth_lacks;
}

static bool clocks_differ(const struct jobs__session *s)
{
    return s->has_skew && (s->skew > SKEW_WORTH_NAMING || s->skew < -SKEW_WORTH_NAMING);
}

static void explain_clock(struct jobs__session *s, int window, const char *otherwise)
{
    char allowed[64] = "";
    if (window > 0)
        snprintf(allowed, sizeof allowed, ", and the relay allows %d s", window);
    if (clocks_differ(s))
        snprintf(s->result.hint, sizeof s->result.hint,
                 "this machine's clock is %" PRId64 " s %s the relay's (by its Date header)%s: set the clock",
                 s->skew < 0 ? -s->skew : s->skew, s->skew < 0 ? "behind" : "ahead of", allowed);
    else
        snprintf(s->result.hint, sizeof s->result.hint, "%s%s", otherwise, allowed);
}

static void add_hint(struct jobs__session *s)
{
    bool shut_out = s->result.denied || s->refusal.denied;
    if (s->refusal.is_set && s->refusal.kind)
        snprintf(s->result.hint, sizeof s->result.hint,
                 "this relay does not admit job kinds (43001 to 43006) yet: its operator has to");
    else if (s->result.refused_for_time)
        explain_clock(s, s->refusal.window,
                      s->has_skew ? "the clocks agree: the event's created_at is outside of what this relay takes"
                                  : "the event's created_at is outside of what this relay takes; check the clock");
    else if (shut_out && (s->auth_cannot || s->sign_auth == NULL))
        snprintf(s->result.hint, sizeof s->result.hint,
                 "the relay wants AUTH, and there is no key here that could answer its challenge");
    else if (s->auth_was_refused && (clocks_differ(s) || shut_out))
        explain_clock(s, 60,
                      "AUTH names the URL that was dialled: if the relay is known under another, use --auth-url");
    else if (shut_out)
        snprintf(s->result.hint, sizeof s->result.hint, "the relay has to let this key in: ask its operator");
}

static void finish(struct jobs__session *s, enum jobs_verdict verdict, enum jobs_read_back read_back)
{
    s->phase = PHASE_DONE;
    s->result.done = true;
    s->result.verdict = verdict;
    s->result.read_back = read_back;
    if (s->asked == JOBS__ASK_RUNNING)
        s->asked = JOBS__ASK_SILENT;
    if (verdict == JOBS_ACCEPTED || verdict == JOBS_DUPLICATE) {
        s->result.retryable = s->result.denied = false;
        s->result.retry_after = 0;
    } else {
        const char *lacks = jobs__session_auth_lacks(s);
        add_words(s, "", lacks != NULL ? lacks : "");
        add_notices(s);
        add_hint(s);
    }
}

/* No success, unless there was one before this session. */
static void fall_short(struct jobs__session *s, enum jobs_verdict verdict, enum jobs_read_back read_back)
{
    if (!s->was_stored || read_back == JOBS_DIFFERENT) {
        finish(s, verdict, read_back);
        return;
    }
    s->result.refused_for_time = false;
    s->result.in_vain = verdict == JOBS_UNCLEAR || verdict == JOBS_NOT_REACHED;
    if (s->result.in_vain)
        memcpy(s->result.closed, s->result.message, sizeof s->result.closed);
    s->result.message[0] = '\0';
    finish(s, JOBS_ACCEPTED, s->was_absent ? JOBS_ABSENT : JOBS_READ_REFUSED);
}

void jobs__session_accept(struct jobs__session *s, enum jobs_read_back read_back, const char *text)
{
    /* Only the first look at an event can find that somebody else's copy was there before ours. */
    unsigned seen = s->result.attempts - s->cleared;
    bool before = seen == 0 || (seen == 1 && s->query.purpose == ASK_DUPLICATE && s->phase == PHASE_QUERY) ||
                  (seen == 1 && strncmp(text, "duplicate:", strlen("duplicate:")) == 0);
    snprintf(s->result.message, sizeof s->result.message, "%s", text);
    finish(s, before && s->fetch_id[0] == '\0' ? JOBS_DUPLICATE : JOBS_ACCEPTED, read_back);
}

void jobs__session_reject(struct jobs__session *s, enum jobs_read_back read_back)
{
    s->result.denied = s->refusal.denied;
    s->result.refused_for_time = s->refusal.for_time && !s->result.said_stored;
    add_words(s, "", s->said[0] != '\0' ? s->said : "refused without a reason");
    fall_short(s, JOBS_REJECTED, read_back);
}

static void add_what_was_said(struct jobs__session *s)
{
    add_words(s, "the relay said: ", s->said);
    add_words(s, "", s->ending);
}

void jobs__session_unclear(struct jobs__session *s, enum jobs_read_back read_back, const char *own_words)
{
    s->result.retryable = true;
    add_words(s, "", own_words);
    add_what_was_said(s);
    fall_short(s, JOBS_UNCLEAR, read_back);
}

static bool is_asking(const struct jobs__session *s, enum session_purpose purpose)
{
    return s->phase == PHASE_QUERY && s->query.purpose == purpose;
}

void jobs__session_give_up(struct jobs__session *s, bool retryable, bool denied, const char *own_words)
{
    bool in_doubt = jobs__session_in_doubt(s);
    if (is_asking(s, ASK_CONFIRM)) {
        jobs__session_accept(s, JOBS_READ_REFUSED, s->said);
        return;
    }
    if (s->was_sent || (s->result.attempts > 0 && in_doubt)) {
        s->refusal.denied = s->refusal.denied || denied; /* no verdict, but a hint */
        jobs__session_unclear(s, s->phase == PHASE_QUERY ? JOBS_READ_REFUSED : JOBS_NOT_ASKED, own_words);
        return;
    }
    if (s->refusal.is_set && !in_doubt) {
        jobs__session_reject(s, JOBS_READ_REFUSED);
        return;
    }
    enum jobs_read_back read_back = s->fetch_id[0] != '\0' ? JOBS_READ_REFUSED : JOBS_NOT_ASKED;
    if (s->result.attempts > 0) { /* every attempt was met with "not you" or "not before AUTH", and that did not mend */
        s->refusal.denied = true;
        jobs__session_reject(s, read_back);
        return;
    }
    s->result.retryable = retryable;
    s->result.denied = denied;
    if (!denied)
        add_words(s, "", own_words);
    add_what_was_said(s);
    fall_short(s, denied && !in_doubt ? JOBS_REJECTED : JOBS_NOT_REACHED, read_back);
}

void jobs__session_settle(struct jobs__session *session, enum jobs_verdict verdict, enum jobs_read_back read_back,
                          const char *message)
{
    if (session->phase == PHASE_DONE)
        return;
    session->told_over = true;
    jobs__session_say(session->result.message, message, strlen(message));
    session->notice_count = 0; /* the owner's words stand alone */
    finish(session, verdict, read_back);
}

void jobs__session_stop(struct jobs__session *session)
{
    if (session->phase == PHASE_DONE)
        return;
    session->told_over = true;
    jobs__session_give_up(session, true, false, "stopped");
}

const struct jobs__session_result *jobs__session_result(const struct jobs__session *session)
{
    return &session->result;
}

size_t jobs__session_notice_count(const struct jobs__session *session)
{
    return session->notice_count < SESSION_NOTICES ? session->notice_count : SESSION_NOTICES;
}

const char *jobs__session_notice(const struct jobs__session *session, size_t i)
{
    size_t oldest = session->notice_count - jobs__session_notice_count(session);
    return session->notices[(oldest + i) % SESSION_NOTICES];
}
