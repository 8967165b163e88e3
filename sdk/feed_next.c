/* feed_next.c - what a feed wants next: a connection, a question, or time. */
#include "feed_state.h"

#include <inttypes.h>
#include <stdio.h>

#define EXPLAIN 3000 /* ms for the words behind an HTTP refusal */

static struct jobs__step wait_until(const struct jobs__feed *f, int64_t at)
{
    at = jobs__feed_least(at, f->options.wake);
    return (struct jobs__step){.want = JOBS__WANT_WAIT,
                               .at = jobs__feed_is_limited(f) ? jobs__feed_least(at, f->options.give_up) : at};
}

static struct jobs__step send(struct jobs__feed *f, int64_t at)
{
    if (f->out.failed)
        jobs__feed_end(f, JOBS_NO_MEMORY);
    return (struct jobs__step){.want = f->done ? JOBS__WANT_DONE : JOBS__WANT_SEND,
                               .bytes = f->out.bytes,
                               .len = f->out.len,
                               .at = wait_until(f, at).at};
}

static bool step_auth(struct jobs__feed *f, int64_t now, struct jobs__step *step)
{
    if (jobs__auth_expire(&f->auth, now) && f->auth.demanded) {
        jobs__feed_say_plain(f, "the relay wants AUTH, and does not go on with it");
        jobs__feed_auth_failed(f, now);
    }
    if (f->done || f->line != LINE_UP || f->options.sign_auth == NULL || !jobs__auth_due(&f->auth))
        return false;
    const char *json = NULL;
    size_t len = 0;
    char id[65] = "";
    int code = f->options.sign_auth(f->options.context, f->auth_url, f->auth.challenge, &json, &len, id);
    if (code != JOBS_OK) {
        jobs__feed_say_plain(f, "the AUTH event could not be signed");
        jobs__feed_end(f, code == JOBS_NO_MEMORY ? JOBS_NO_MEMORY : JOBS_DENIED);
        return false;
    }
    jobs__buffer_text(&f->out, "[\"AUTH\",");
    jobs__buffer_add(&f->out, json, len);
    jobs__buffer_text(&f->out, "]");
    jobs__auth_sent(&f->auth, now, id);
    *step = send(f, f->auth.limit);
    return true;
}

static bool step_close(struct jobs__feed *f, struct jobs__step *step)
{
    if (f->to_close[0] == '\0')
        return false;
    jobs__buffer_format(&f->out, "[\"CLOSE\",\"%s\"]", f->to_close);
    f->to_close[0] = '\0';
    *step = send(f, INT64_MAX);
    return true;
}

static void write_request(struct jobs__feed *f, struct feed_subscription *s, int64_t now)
{
    bool live = s == &f->live;
    int64_t since = live ? f->options.since : f->pages.floor;
    s->state = SUBSCRIPTION_ASKED;
    s->limit = now + f->options.timeout;
    s->before_auth = f->auth.state != JOBS__AUTH_GOOD;
    s->events = 0;
    snprintf(s->name, sizeof s->name, "feed-%" PRIu64, ++f->numbered);
    jobs__buffer_format(&f->out, "[\"REQ\",\"%s\",{%s", s->name, f->filter);
    if (since > 0)
        jobs__buffer_format(&f->out, ",\"since\":%" PRId64, since);
    if (!live) {
        jobs__pages_ask(&f->pages);
        if (f->pages.until > 0)
            jobs__buffer_format(&f->out, ",\"until\":%" PRId64, f->pages.until);
    }
    /* What is stored is read by pages; and an event may be as old as it likes when it comes. */
    jobs__buffer_format(&f->out, ",\"limit\":%u}]", live ? 1 : f->pages.size);
}

/* One subscription: late, due, or when to look again. */
static bool step_subscription(struct jobs__feed *f, struct feed_subscription *s, int64_t now, struct jobs__step *step,
                              int64_t *look)
{
    if (f->done || f->line != LINE_UP)
        return false;
    if (s->state == SUBSCRIPTION_ASKED) {
        *look = jobs__feed_least(*look, s->limit);
        if (now < s->limit)
            return false;
        jobs__feed_say_plain(f, "the relay does not answer");
        jobs__feed_drop_line(f, now);
        return false;
    }
    if (s->state != SUBSCRIPTION_WANTED || (f->options.sign_auth != NULL && jobs__auth_pending(&f->auth)))
        return false;
    *look = jobs__feed_least(*look, s->not_before);
    if (now < s->not_before)
        return false;
    write_request(f, s, now);
    *step = send(f, s->limit);
    return true;
}

static struct jobs__step step_talk(struct jobs__feed *f, int64_t now)
{
    struct jobs__step step;
    int64_t look = INT64_MAX;
    if (step_auth(f, now, &step) || (!f->done && f->line == LINE_UP && step_close(f, &step)) ||
        step_subscription(f, &f->live, now, &step, &look) || step_subscription(f, &f->page, now, &step, &look))
        return step;
    return wait_until(f, jobs__feed_least(look, jobs__auth_deadline(&f->auth)));
}

static struct jobs__step step_line(struct jobs__feed *f, int64_t now)
{
    switch (f->line) {
    case LINE_DROP:
        f->line = LINE_OFF;
        return (struct jobs__step){.want = JOBS__WANT_HANG_UP};
    case LINE_EXPLAIN:
        f->line = LINE_EXPLAINING;
        f->dial_limit = now + EXPLAIN;
        return (struct jobs__step){.want = JOBS__WANT_EXPLAIN, .at = f->dial_limit};
    case LINE_EXPLAINING:
        if (now >= f->dial_limit)
            jobs__feed_end(f, f->result.code);
        return (struct jobs__step){.want = JOBS__WANT_WAIT, .at = f->dial_limit};
    case LINE_DIALING:
        if (now < f->dial_limit)
            return wait_until(f, f->dial_limit);
        jobs__feed_say_plain(f, "no connection in time");
        jobs__feed_drop_line(f, now);
        return wait_until(f, now);
    case LINE_OFF:
    case LINE_UP:
        break;
    }
    if (now < f->dial_at)
        return wait_until(f, f->dial_at);
    f->line = LINE_DIALING;
    f->dial_limit = now + f->options.connect_timeout;
    return (struct jobs__step){.want = JOBS__WANT_DIAL, .at = wait_until(f, f->dial_limit).at};
}

static void give_up(struct jobs__feed *f)
{
    if (f->result.message[0] == '\0')
        jobs__feed_say_plain(f, f->line == LINE_UP ? "not everything came in time" : "no connection in time");
    jobs__feed_end(f, f->result.code != JOBS_OK ? f->result.code : JOBS_UNREACHABLE);
}

struct jobs__step jobs__feed_next(struct jobs__engine *engine, int64_t now)
{
    struct jobs__feed *f = jobs__feed_of(engine);
    struct jobs__step step;
    int64_t seconds = (now - f->options.start) / 1000;
    f->options.unix_start += seconds;
    f->options.start += seconds * 1000;
    jobs__buffer_clear(&f->out);
    if (!f->done && !f->resting && jobs__feed_is_limited(f) && now >= f->options.give_up && f->line != LINE_EXPLAINING)
        give_up(f);
    step = f->done ? wait_until(f, now) : f->line == LINE_UP ? step_talk(f, now) : step_line(f, now);
    if (!f->done && f->line == LINE_DROP)
        step = step_line(f, now); /* it was given up just now */
    return f->done ? (struct jobs__step){.want = JOBS__WANT_DONE} : step;
}

const char *jobs__feed_doing(const struct jobs__engine *engine)
{
    const struct jobs__feed *f = (const struct jobs__feed *)engine;
    if (f->line != LINE_UP)
        return "connecting";
    if (jobs__auth_pending(&f->auth))
        return "authenticating";
    return f->live.state == SUBSCRIPTION_OPEN && f->synced ? "watching" : "reading";
}
