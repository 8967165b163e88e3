/* feed_line.c - the connection of a feed: dialled, refused, lost, dialled again. */
#include "feed_state.h"

#include "../core/text.h"

#include <stdio.h>
#include <string.h>

#define TRIES 3 /* connections that come to nothing, of a feed that is not live */

int64_t jobs__feed_backoff(struct jobs__feed *f)
{
    static const int64_t caps[] = {250, 500, 1500, 4000, 8000};
    const unsigned last = sizeof caps / sizeof caps[0] - 1;
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int64_t cap = caps[f->failures < last ? f->failures : last];
    return 20 + (int64_t)((f->random >> 33) % (uint64_t)cap);
}

/* Whether a wait, of so many seconds when the relay named them, ends before the feed does. Else it is over. */
bool jobs__feed_wait_fits(struct jobs__feed *f, int64_t now, int64_t wait, int seconds, enum jobs_code code)
{
    f->result.retry_after = seconds;
    if (!jobs__feed_is_limited(f) || now + wait < f->options.give_up)
        return true;
    if (seconds > 0)
        jobs__feed_end(f, code);
    return false;
}

static void redial(struct jobs__feed *f, int64_t now, int seconds)
{
    int64_t wait = seconds > 0 ? (int64_t)seconds * 1000 : jobs__feed_backoff(f);
    f->failures++;
    f->dial_at = now + wait;
    (void)jobs__feed_wait_fits(f, now, wait, seconds, JOBS_UNREACHABLE);
}

void jobs__feed_drop_line(struct jobs__feed *f, int64_t now)
{
    f->line = LINE_DROP;
    redial(f, now, 0);
}

void jobs__feed_auth_failed(struct jobs__feed *f, int64_t now)
{
    if (f->auth.failures >= JOBS__AUTH_FAILURES || f->options.sign_auth == NULL)
        jobs__feed_end(f, JOBS_DENIED);
    else
        jobs__feed_drop_line(f, now);
}

/* A connection is up: subscribe (again), or go on with the page that was lost. */
static void begin_talk(struct jobs__feed *f, int64_t now)
{
    f->to_close[0] = f->live.name[0] = f->page.name[0] = '\0';
    f->live.state = f->page.state = SUBSCRIPTION_NONE;
    f->junk = 0;
    f->restricted_since = 0;
    if (f->auth.demanded && f->options.sign_auth != NULL)
        (void)jobs__auth_demand(&f->auth, now); /* it will want it again: waits for its challenge */
    if (f->options.live)
        jobs__feed_want(&f->live, now);
    else if (!f->resting)
        jobs__feed_want(&f->page, now);
}

void jobs__feed_opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened)
{
    (void)opened;
    struct jobs__feed *f = jobs__feed_of(engine);
    if (f->done || f->line != LINE_DIALING)
        return;
    f->line = LINE_UP;
    f->tries = 0;
    jobs__auth_reset(&f->auth);
    begin_talk(f, now);
}

static void refused_upgrade(struct jobs__feed *f, int64_t now, const struct jobs__closed *closed)
{
    enum jobs__http what = jobs__answer_http(closed->status);
    snprintf(f->result.message, sizeof f->result.message, "the upgrade was refused with HTTP %d%s", closed->status,
             what == JOBS__HTTP_REDIRECT ? " (redirects are not followed)" : "");
    f->result.code = what == JOBS__HTTP_DENIED  ? JOBS_DENIED
                     : what == JOBS__HTTP_AGAIN ? JOBS_UNREACHABLE
                                                : JOBS_REFUSED;
    int64_t wait = closed->retry_after > 0 ? (int64_t)closed->retry_after * 1000 : jobs__feed_backoff(f);
    bool again = what == JOBS__HTTP_AGAIN || (f->answered && f->options.live && what != JOBS__HTTP_DENIED);
    f->failures++;
    f->dial_at = now + wait;
    f->result.retry_after = closed->retry_after;
    if (!again || (jobs__feed_is_limited(f) && f->dial_at >= f->options.give_up))
        f->line = what == JOBS__HTTP_REDIRECT ? LINE_OFF : LINE_EXPLAIN;
    if (!again && what == JOBS__HTTP_REDIRECT)
        jobs__feed_end(f, JOBS_REFUSED);
}

/* Whether a dial, or a line, that failed so leaves hope for another. */
static bool is_hopeless(struct jobs__feed *f, const struct jobs__closed *closed)
{
    if (f->options.live && f->answered)
        return false;
    switch (closed->ending) {
    case JOBS__END_TLS:
        return true;
    case JOBS__END_NO_ADDRESS:
    case JOBS__END_NOT_WEBSOCKET:
        return ++f->tries > TRIES;
    case JOBS__END_NO_CONNECT:
        return ++f->tries > TRIES && !f->options.live;
    default:
        return false;
    }
}

void jobs__feed_closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed)
{
    static const char *const words[] = {
        [JOBS__END_NO_ADDRESS] = "the relay's name does not resolve",
        [JOBS__END_NO_CONNECT] = "no connection",
        [JOBS__END_TLS] = "TLS failed",
        [JOBS__END_HTTP] = "",
        [JOBS__END_NOT_WEBSOCKET] = "what answers is no WebSocket server",
        [JOBS__END_CLOSED] = "the relay closed the connection",
        [JOBS__END_BROKEN] = "the connection broke",
        [JOBS__END_TOO_LARGE] = "the relay sent a message above 1 MiB",
    };
    struct jobs__feed *f = jobs__feed_of(engine);
    if (f->done || (f->line != LINE_DIALING && f->line != LINE_UP))
        return;
    bool asked = f->page.state == SUBSCRIPTION_ASKED || f->live.state == SUBSCRIPTION_ASKED;
    f->line = LINE_OFF;
    if (closed->ending == JOBS__END_HTTP) {
        refused_upgrade(f, now, closed);
        return;
    }
    if (closed->len > 0)
        jobs__feed_say(f, closed->text, closed->len);
    else if (f->result.message[0] == '\0')
        jobs__feed_say_plain(f, words[closed->ending]);
    if (is_hopeless(f, closed))
        jobs__feed_end(f, JOBS_UNREACHABLE);
    else if (closed->ending == JOBS__END_CLOSED && jobs__answer_close_is_final(closed->code) && asked && !f->answered)
        jobs__feed_end(f, JOBS_REFUSED);
    else
        redial(f, now, 0);
}

void jobs__feed_explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    (void)now;
    struct jobs__feed *f = jobs__feed_of(engine);
    char words[JOBS_RELAY_MESSAGE_MAX + 1], line[2 * sizeof words + 2];
    if (f->done || f->line != LINE_EXPLAINING)
        return;
    if (len > 0) {
        jobs__text_one_line(words, JOBS_RELAY_MESSAGE_MAX, text, len);
        snprintf(line, sizeof line, "%s: %s", f->result.message, words);
        jobs__text_one_line(f->result.message, JOBS_RELAY_MESSAGE_MAX, line, strlen(line));
    }
    jobs__feed_end(f, f->result.code);
}
