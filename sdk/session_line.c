/* session_line.c - connections that fail, and how long to wait before the next try. Decides nothing about the event
 * that a lost connection does not decide.
 */
#include "session_state.h"

#include <stdio.h>
#include <string.h>

#define MS         1000
#define MEMBER_MIN 50

/* --- waiting --- */

static uint64_t next_random(struct jobs__session *s) /* splitmix64 */
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Full jitter under a growing cap, and no more than half of what is left, so that the last try is not wasted; but never
 * less than a growing floor, so that a relay that hangs up at once is not dialled more and more often at the end. */
int64_t jobs__session_backoff(struct jobs__session *s, int64_t now)
{
    static const int64_t caps[] = {500, 1500, 4000, 8000}, floors[] = {20, 100, 250, 500};
    const unsigned last = sizeof caps / sizeof *caps - 1;
    int64_t cap = caps[s->backoff_step], floor = floors[s->backoff_step];
    if (s->backoff_step < last)
        s->backoff_step++;
    int64_t wait = (int64_t)(next_random(s) % (uint64_t)(cap + 1));
    int64_t half = (s->deadline - now) / 2;
    if (wait > half)
        wait = half;
    return wait < floor ? floor : wait;
}

/* The relay asks for a pause; one that does not fit ends the conversation at once. */
static bool wait_fits(struct jobs__session *s, int64_t now, int seconds)
{
    s->result.retry_after = seconds;
    if ((int64_t)seconds * MS <= s->deadline - now)
        return true;
    jobs__session_give_up(s, true, false, "the relay asks for a longer pause than there is time");
    return false;
}

bool jobs__session_retry_at(struct jobs__session *s, int64_t now, const char *text, size_t len, int64_t *at)
{
    int seconds = jobs__answer_retry_in(text, len);
    if (seconds == 0) {
        *at = now + jobs__session_backoff(s, now);
        return true;
    }
    if (!wait_fits(s, now, seconds))
        return false;
    *at = now + (int64_t)seconds * MS;
    if (*at > s->not_before)
        s->not_before = *at;
    return true;
}

/* A membership may be granted a moment after it was asked for. */
bool jobs__session_still_restricted(struct jobs__session *s, int64_t now, int64_t *at)
{
    if (s->restricted_since == 0)
        s->restricted_since = now;
    int64_t left = s->restricted_since + SESSION_MEMBERSHIP_MS - now;
    if (left <= 0)
        return false;
    int64_t wait = jobs__session_backoff(s, now);
    wait = wait < left ? wait : left;
    *at = now + (wait < MEMBER_MIN ? MEMBER_MIN : wait);
    return true;
}

/* --- hanging up and dialling again --- */

void jobs__session_redial(struct jobs__session *s, int64_t now, int64_t at)
{
    if (s->phase == PHASE_QUERY && s->query.purpose == ASK_CONFIRM) { /* a read-back belongs to its OK's connection */
        jobs__session_query_end(s, now, FOUND_SILENT);
        return;
    }
    if (s->line == LINE_UP || s->line == LINE_DIALING)
        s->line = LINE_DROP;
    s->dial_failed = true;
    s->query.out = false;
    s->close_subscription[0] = '\0';
    s->dial_at = at;
}

void jobs__session_auth_failed(struct jobs__session *s, int64_t now)
{
    if (s->auth.failures < JOBS__AUTH_FAILURES) {
        jobs__session_redial(s, now, now + jobs__session_backoff(s, now));
        return;
    }
    bool silent = s->auth_lacks != NULL; /* which is no refusal */
    jobs__session_give_up(s, silent, !silent, "");
}

/* --- what a lost connection means --- */

enum hope {
    HOPE,       /* try again until the deadline */
    LITTLE,     /* a few times */
    NO_HOPE,    /* such a thing does not mend itself */
    HOPE_STATUS /* by the HTTP status */
};

static const struct {
    enum hope hope;
    const char *words;
} endings[] = {
    [JOBS__END_NO_ADDRESS] = {LITTLE, "the relay's name does not resolve"},
    [JOBS__END_NO_CONNECT] = {HOPE, "no connection"},
    [JOBS__END_TLS] = {NO_HOPE, "TLS"},
    [JOBS__END_HTTP] = {HOPE_STATUS, "the upgrade was refused with HTTP"},
    [JOBS__END_NOT_WEBSOCKET] = {LITTLE, "what answers is no WebSocket server"},
    [JOBS__END_CLOSED] = {HOPE, "the relay closed the connection"},
    [JOBS__END_BROKEN] = {HOPE, "the connection broke"},
    [JOBS__END_TOO_LARGE] = {HOPE, "the relay sent a message above 1 MiB"},
};

static void describe(struct jobs__session *s, const struct jobs__closed *closed)
{
    char number[32] = "";
    if (closed->ending == JOBS__END_HTTP)
        snprintf(number, sizeof number, " %d", closed->status);
    else if (closed->ending == JOBS__END_CLOSED && closed->code != 0)
        snprintf(number, sizeof number, " (%d)", closed->code);
    const char *kind = endings[closed->ending].words;
    char words[JOBS_RELAY_MESSAGE_MAX + 1], status[40];
    jobs__session_say(words, closed->len > 0 ? closed->text : "", closed->len);
    snprintf(status, sizeof status, "HTTP%s", number);
    if (closed->ending == JOBS__END_HTTP && strcmp(words, status) == 0) /* once is enough */
        words[0] = '\0';
    if (closed->ending != JOBS__END_CLOSED && strncmp(words, kind, strlen(kind)) == 0)
        kind = "";
    bool moved = closed->ending == JOBS__END_HTTP && jobs__answer_http(closed->status) == JOBS__HTTP_REDIRECT;
    char line[2 * sizeof words];
    int len = snprintf(line, sizeof line, "%s%s%s%s%s", kind, number, moved ? " (redirects are not followed)" : "",
                       words[0] != '\0' && kind[0] != '\0' ? ": " : "", words);
    jobs__session_say(s->ending, line, (size_t)len);
}

static void give_up_on_line(struct jobs__session *s, int64_t now, bool retryable, bool denied)
{
    if (s->http_status != 0 && !s->explained && jobs__answer_http(s->http_status) != JOBS__HTTP_REDIRECT) {
        s->explaining = true;
        s->explain_denied = denied;
        s->explain_retryable = retryable;
        s->explain_until = now + SESSION_EXPLAIN_MS < s->deadline ? now + SESSION_EXPLAIN_MS : s->deadline;
        return;
    }
    jobs__session_give_up(s, retryable, denied, denied ? "" : s->result.attempts > 0 ? "sent, but not answered" : "");
}

/* Whether a dial that failed leaves hope for another. */
static enum hope hope_after(struct jobs__session *s, const struct jobs__closed *closed)
{
    enum hope hope = endings[closed->ending].hope;
    if (hope == HOPE_STATUS)
        return jobs__answer_http(closed->status) == JOBS__HTTP_AGAIN ? HOPE : NO_HOPE;
    if (hope == LITTLE)
        return ++s->hopeless < SESSION_HOPELESS ? HOPE : NO_HOPE;
    return hope;
}

static void dial_failed(struct jobs__session *s, int64_t now, const struct jobs__closed *closed)
{
    s->dial_failed = true;
    if (closed->ending == JOBS__END_HTTP) {
        s->http_status = closed->status;
        s->explained = false;
    }
    if (hope_after(s, closed) == NO_HOPE) {
        bool denied = closed->ending == JOBS__END_HTTP && jobs__answer_http(closed->status) == JOBS__HTTP_DENIED;
        give_up_on_line(s, now, closed->ending == JOBS__END_NO_ADDRESS, denied);
        return;
    }
    if (closed->retry_after > 0) {
        if (wait_fits(s, now, closed->retry_after))
            s->dial_at = now + (int64_t)closed->retry_after * MS;
        return;
    }
    s->dial_at = now + jobs__session_backoff(s, now);
}

static void close_refuses(struct jobs__session *s, int64_t now, const struct jobs__closed *closed)
{
    enum jobs__answer answer = jobs__answer_refusal(closed->len > 0 ? closed->text : "", closed->len);
    memcpy(s->said, s->ending, sizeof s->said);
    s->refusal.denied = answer == JOBS__ANSWER_AUTH || answer == JOBS__ANSWER_DENIED;
    jobs__session_refused(s, now, false);
}

void jobs__session_lost(struct jobs__session *s, int64_t now, const struct jobs__closed *closed, bool dialing)
{
    bool refuses = closed->ending == JOBS__END_CLOSED && jobs__answer_close_is_final(closed->code);
    bool asks = s->phase == PHASE_QUERY;
    enum session_purpose purpose = s->query.purpose;
    s->line = LINE_OFF;
    s->query.out = false;
    s->close_subscription[0] = '\0';
    /* A try that the deadline cut short says less than one before it that came to its end. */
    if (!dialing || now < s->deadline || s->ending[0] == '\0')
        describe(s, closed);

    if (asks && purpose == ASK_CONFIRM) { /* the OK decided already */
        jobs__session_query_end(s, now, FOUND_SILENT);
        return;
    }
    if (s->inherited && asks) { /* it had ended before; nobody was refused anything */
        s->inherited = false;
        s->ending[0] = '\0';
        s->dial_at = now;
        return;
    }
    if (dialing) {
        dial_failed(s, now, closed);
        return;
    }
    s->dial_failed = true; /* it was up, but of no use to an ask */
    s->dial_at = now + jobs__session_backoff(s, now);
    if (refuses && asks && purpose == ASK_FETCH)
        memcpy(s->said, s->ending, sizeof s->said);
    if (refuses && asks && (purpose == ASK_REFUSAL || purpose == ASK_DUPLICATE || purpose == ASK_FETCH))
        jobs__session_query_end(s, now, FOUND_REFUSED);
    else if (refuses && s->phase != PHASE_HOLD)
        close_refuses(s, now, closed);
    else if (s->phase == PHASE_SENT)
        jobs__session_query_begin(s, now, ASK_RESEND);
}
