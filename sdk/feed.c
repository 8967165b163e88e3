/* feed.c - see feed.h. Two subscriptions at most: `live` stays, `page` asks for one page of what is stored. */
#include "feed.h"

#include "../core/text.h"
#include "answer.h"
#include "auth.h"
#include "feed_pages.h"
#include "frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES      3    /* connections that come to nothing, of a feed that is not live */
#define MEMBERSHIP 3000 /* ms: granted a moment after it was asked for */
#define EXPLAIN    3000 /* ms for the words behind an HTTP refusal */
#define JUNK_MAX   10000U
#define PAGE_FLOOD 1000000U /* events of one page: no relay is asked for so many */
#define OUT_MAX    ((size_t)1 << 20)

enum line {
    LINE_OFF,
    LINE_DIALING,
    LINE_UP,
    LINE_DROP,
    LINE_EXPLAIN, /* the words behind an HTTP refusal are to be asked for */
    LINE_EXPLAINING
};

enum subscription_state {
    SUBSCRIPTION_NONE,
    SUBSCRIPTION_WANTED, /* to be sent at not_before */
    SUBSCRIPTION_ASKED,  /* its EOSE not seen */
    SUBSCRIPTION_OPEN    /* live, and so without a limit */
};

struct subscription {
    enum subscription_state state;
    bool before_auth; /* it was sent before AUTH was answered */
    int64_t not_before, limit;
    size_t events;
    char name[24];
};

struct jobs__feed {
    struct jobs__engine engine; /* first */
    struct jobs__feed_options options;
    char *auth_url, *filter;
    uint64_t random;

    enum line line;
    int64_t dial_at, dial_limit;
    unsigned failures; /* in a row, without a complete answer between them */
    unsigned tries;    /* to connect, in a row */
    struct jobs__auth auth;

    struct subscription live, page;
    uint64_t numbered;
    char to_close[24]; /* a subscription that the relay may forget */
    struct jobs__pages pages;
    unsigned junk;  /* events in a row that were worth nothing */
    bool answered;  /* it has answered a question */
    bool synced;    /* everything stored was read since the last interruption */
    bool begun;     /* … for the first time: what is read from now on came after the beginning */
    int64_t newest; /* created_at, never in the future */
    int64_t restricted_since;

    bool resting, done;
    struct jobs__frame_reader reader;
    struct jobs__buffer out;
    struct jobs__feed_result result;
};

static struct jobs__feed *of(struct jobs__engine *engine)
{
    return (struct jobs__feed *)engine;
}

static void say(struct jobs__feed *f, const char *text, size_t len)
{
    jobs__answer_strip(&text, &len);
    jobs__text_one_line(f->result.message, JOBS_RELAY_MESSAGE_MAX, text, len);
}

static void say_plain(struct jobs__feed *f, const char *text)
{
    say(f, text, strlen(text));
}

static void end(struct jobs__feed *f, enum jobs_code code)
{
    f->result.complete = code == JOBS_OK || (f->result.complete && f->options.live);
    f->result.code = f->result.complete ? JOBS_OK : code;
    f->done = true;
    f->resting = false;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether this feed still has to be given up at some time. */
static bool is_limited(const struct jobs__feed *f)
{
    return !f->options.live || !f->answered;
}

/* --- pages --- */

static void want(struct subscription *s, int64_t at)
{
    s->state = SUBSCRIPTION_WANTED;
    s->not_before = at;
}

static void to_close(struct jobs__feed *f, struct subscription *s)
{
    memcpy(f->to_close, s->name, sizeof f->to_close);
    s->name[0] = '\0';
}

/* Everything stored was read. */
static void complete(struct jobs__feed *f)
{
    f->failures = 0;
    f->synced = f->begun = true;
    f->result.complete = true;
    f->result.code = JOBS_OK;
    f->result.message[0] = '\0';
    if (f->pages.cut) {
        f->result.complete = false;
        f->result.code = JOBS_REFUSED;
        say_plain(f, "the relay holds events back: it does not show the times it is asked for, or a second whole");
    }
    if (!f->options.live)
        end(f, f->result.code);
}

static void end_page(struct jobs__feed *f, int64_t now)
{
    f->answered = true;
    f->failures = 0;
    f->restricted_since = 0;
    f->page.state = SUBSCRIPTION_NONE;
    to_close(f, &f->page);
    int64_t oldest = f->pages.oldest;
    /* A page that is not full is the last one, most likely: should the line break now, what is read after it is new. */
    f->begun = f->begun || f->pages.taken < f->pages.size;
    bool more = jobs__pages_end(&f->pages);
    if (f->options.rest != NULL)
        f->options.rest(f->options.context);
    if (!more)
        complete(f);
    else if (!f->options.live && f->options.more != NULL && !f->options.more(f->options.context, oldest))
        f->resting = true;
    else
        want(&f->page, now);
}

bool jobs__feed_is_resting(const struct jobs__feed *feed)
{
    return feed->resting;
}

bool jobs__feed_go_on(struct jobs__feed *f, int64_t now)
{
    if (!f->resting || !f->options.more(f->options.context, f->pages.until))
        return false;
    f->resting = false;
    want(&f->page, now);
    return true;
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
        want(&f->live, now);
    else if (!f->resting)
        want(&f->page, now);
}

/* The live subscription stands: now for what was stored before it. */
static void begin_pages(struct jobs__feed *f, int64_t now)
{
    int64_t floor = f->options.floor;
    int64_t known = f->newest > 0 ? f->newest - JOBS__FEED_OVERLAP : 0;
    if (!f->synced) {
        jobs__pages_interrupt(&f->pages, known);
    } else {
        jobs__pages_start(&f->pages, known > floor ? known : floor, 0, f->options.page);
        f->synced = false;
    }
    want(&f->page, now);
}

static void write_request(struct jobs__feed *f, struct subscription *s, int64_t now)
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

/* --- the line --- */

static int64_t backoff(struct jobs__feed *f)
{
    static const int64_t caps[] = {250, 500, 1500, 4000, 8000};
    const unsigned last = sizeof caps / sizeof caps[0] - 1;
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int64_t cap = caps[f->failures < last ? f->failures : last];
    return 20 + (int64_t)((f->random >> 33) % (uint64_t)cap);
}

/* Whether a wait, of so many seconds when the relay named them, ends before the feed does. Else it is over. */
static bool wait_fits(struct jobs__feed *f, int64_t now, int64_t wait, int seconds, enum jobs_code code)
{
    f->result.retry_after = seconds;
    if (!is_limited(f) || now + wait < f->options.give_up)
        return true;
    if (seconds > 0)
        end(f, code);
    return false;
}

static void redial(struct jobs__feed *f, int64_t now, int seconds)
{
    int64_t wait = seconds > 0 ? (int64_t)seconds * 1000 : backoff(f);
    f->failures++;
    f->dial_at = now + wait;
    (void)wait_fits(f, now, wait, seconds, JOBS_UNREACHABLE);
}

static void drop_line(struct jobs__feed *f, int64_t now)
{
    f->line = LINE_DROP;
    redial(f, now, 0);
}

static void auth_failed(struct jobs__feed *f, int64_t now)
{
    if (f->auth.failures >= JOBS__AUTH_FAILURES || f->options.sign_auth == NULL)
        end(f, JOBS_DENIED);
    else
        drop_line(f, now);
}

static void opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened)
{
    (void)opened;
    struct jobs__feed *f = of(engine);
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
    int64_t wait = closed->retry_after > 0 ? (int64_t)closed->retry_after * 1000 : backoff(f);
    bool again = what == JOBS__HTTP_AGAIN || (f->answered && f->options.live && what != JOBS__HTTP_DENIED);
    f->failures++;
    f->dial_at = now + wait;
    f->result.retry_after = closed->retry_after;
    if (!again || (is_limited(f) && f->dial_at >= f->options.give_up))
        f->line = what == JOBS__HTTP_REDIRECT ? LINE_OFF : LINE_EXPLAIN;
    if (!again && what == JOBS__HTTP_REDIRECT)
        end(f, JOBS_REFUSED);
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

static void closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed)
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
    struct jobs__feed *f = of(engine);
    if (f->done || (f->line != LINE_DIALING && f->line != LINE_UP))
        return;
    bool asked = f->page.state == SUBSCRIPTION_ASKED || f->live.state == SUBSCRIPTION_ASKED;
    f->line = LINE_OFF;
    if (closed->ending == JOBS__END_HTTP) {
        refused_upgrade(f, now, closed);
        return;
    }
    if (closed->len > 0)
        say(f, closed->text, closed->len);
    else if (f->result.message[0] == '\0')
        say_plain(f, words[closed->ending]);
    if (is_hopeless(f, closed))
        end(f, JOBS_UNREACHABLE);
    else if (closed->ending == JOBS__END_CLOSED && jobs__answer_close_is_final(closed->code) && asked && !f->answered)
        end(f, JOBS_REFUSED);
    else
        redial(f, now, 0);
}

static void explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    (void)now;
    struct jobs__feed *f = of(engine);
    char words[JOBS_RELAY_MESSAGE_MAX + 1], line[2 * sizeof words + 2];
    if (f->done || f->line != LINE_EXPLAINING)
        return;
    if (len > 0) {
        jobs__text_one_line(words, JOBS_RELAY_MESSAGE_MAX, text, len);
        snprintf(line, sizeof line, "%s: %s", f->result.message, words);
        jobs__text_one_line(f->result.message, JOBS_RELAY_MESSAGE_MAX, line, strlen(line));
    }
    end(f, f->result.code);
}

/* --- answers --- */

/* The relay will not have the subscription: again after AUTH, again later, or the end. */
static void refused(struct jobs__feed *f, struct subscription *s, int64_t now, enum jobs__answer answer,
                    const char *text, size_t len)
{
    int seconds = jobs__answer_retry_in(text, len);
    bool was_open = s->state == SUBSCRIPTION_OPEN;
    int64_t wait;
    say(f, text, len);
    want(s, now);
    switch (answer) {
    case JOBS__ANSWER_AUTH:
        if (f->options.sign_auth == NULL || (f->auth.state == JOBS__AUTH_GOOD && !s->before_auth))
            end(f, JOBS_DENIED);
        else if (f->auth.state != JOBS__AUTH_GOOD && !jobs__auth_demand(&f->auth, now))
            auth_failed(f, now);
        return;
    case JOBS__ANSWER_DENIED:
        if (f->restricted_since == 0)
            f->restricted_since = now;
        wait = backoff(f);
        if (now + wait - f->restricted_since >= MEMBERSHIP)
            end(f, JOBS_DENIED);
        s->not_before = now + wait;
        return;
    case JOBS__ANSWER_THROTTLED:
    case JOBS__ANSWER_ERROR:
        break;
    case JOBS__ANSWER_DUPLICATE:
    case JOBS__ANSWER_KIND:
    case JOBS__ANSWER_FINAL:
    case JOBS__ANSWER_NOTHING:
        if (was_open)
            break; /* it was good before: asked again it will say what is the matter */
        if (s == &f->page && jobs__pages_shrink(&f->pages))
            return;
        end(f, JOBS_REFUSED);
        return;
    }
    wait = seconds > 0 ? (int64_t)seconds * 1000 : backoff(f);
    f->failures++;
    s->not_before = now + wait;
    (void)wait_fits(f, now, wait, seconds, JOBS_UNREACHABLE);
}

static struct subscription *named(struct jobs__feed *f, const char *name)
{
    if (name[0] == '\0')
        return NULL;
    if (strcmp(name, f->live.name) == 0)
        return &f->live;
    return strcmp(name, f->page.name) == 0 ? &f->page : NULL;
}

static void take_event(struct jobs__feed *f, struct subscription *s, int64_t now, const struct jobs__frame *frame)
{
    int64_t created_at = 0;
    enum jobs__feed_taken taken = JOBS__TAKEN_FOREIGN;
    if (s != NULL) {
        bool baseline = !f->begun && s->state != SUBSCRIPTION_OPEN;
        taken = f->options.take(f->options.context, frame->id, frame->event, frame->event_len, baseline, &created_at);
    }
    bool flood = s != NULL && s == &f->page && ++s->events > PAGE_FLOOD;
    f->junk = taken == JOBS__TAKEN_NEW ? 0 : f->junk + (taken == JOBS__TAKEN_FOREIGN);
    if (f->done)
        return;
    if (f->junk > JUNK_MAX || flood) {
        say_plain(f, "the relay sends what it was not asked for");
        drop_line(f, now);
        return;
    }
    if (taken == JOBS__TAKEN_FOREIGN)
        return;
    int64_t today = f->options.unix_start; /* moved on by next() */
    if (s->state == SUBSCRIPTION_ASKED)
        s->limit = now + f->options.timeout;
    if (s == &f->page)
        jobs__pages_take(&f->pages, created_at, taken == JOBS__TAKEN_NEW);
    else if (s->state == SUBSCRIPTION_OPEN && f->options.rest != NULL)
        f->options.rest(f->options.context);
    if (created_at > f->newest)
        f->newest = least(created_at, today);
}

static void take_eose(struct jobs__feed *f, struct subscription *s, int64_t now)
{
    if (s == NULL || s->state != SUBSCRIPTION_ASKED)
        return;
    if (s == &f->page) {
        end_page(f, now);
        return;
    }
    f->answered = true;
    f->restricted_since = 0;
    s->state = SUBSCRIPTION_OPEN;
    begin_pages(f, now);
}

static void take_closed(struct jobs__feed *f, struct subscription *s, int64_t now, const struct jobs__frame *frame)
{
    if (s == NULL || s->state == SUBSCRIPTION_WANTED || s->state == SUBSCRIPTION_NONE)
        return;
    refused(f, s, now, jobs__answer_refusal(frame->text, frame->text_len), frame->text, frame->text_len);
}

/* A notice is about the question that is out, when there is one. */
static void take_notice(struct jobs__feed *f, int64_t now, const struct jobs__frame *frame)
{
    struct subscription *s = f->page.state == SUBSCRIPTION_ASKED   ? &f->page
                             : f->live.state == SUBSCRIPTION_ASKED ? &f->live
                                                                   : NULL;
    enum jobs__answer answer = jobs__answer_notice(frame->text, frame->text_len);
    if (s == NULL || answer == JOBS__ANSWER_NOTHING)
        return;
    refused(f, s, now, answer, frame->text, frame->text_len);
    if (!f->done)
        to_close(f, s); /* it may be open there nevertheless */
}

static void take_ok(struct jobs__feed *f, int64_t now, const struct jobs__frame *frame)
{
    if (f->auth.state != JOBS__AUTH_OUT || strcmp(frame->id, f->auth.id) != 0)
        return;
    jobs__auth_answered(&f->auth, frame->accepted);
    if (frame->accepted)
        return;
    say(f, frame->text, frame->text_len);
    auth_failed(f, now);
}

static void frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct jobs__feed *f = of(engine);
    struct jobs__frame frame;
    if (f->done || f->line != LINE_UP)
        return;
    jobs__frame_read(&frame, &f->reader, text, len);
    struct subscription *s = named(f, frame.subscription);
    switch (frame.type) {
    case JOBS__FRAME_EVENT:
        take_event(f, s, now, &frame);
        break;
    case JOBS__FRAME_EOSE:
        take_eose(f, s, now);
        break;
    case JOBS__FRAME_CLOSED:
        take_closed(f, s, now, &frame);
        break;
    case JOBS__FRAME_AUTH:
        (void)jobs__auth_challenge(&f->auth, frame.text, frame.text_len);
        break;
    case JOBS__FRAME_OK:
        take_ok(f, now, &frame);
        break;
    case JOBS__FRAME_NOTICE:
        take_notice(f, now, &frame);
        break;
    case JOBS__FRAME_BAD:
    case JOBS__FRAME_OTHER:
        break;
    }
}

/* --- what is wanted --- */

static struct jobs__step wait_until(const struct jobs__feed *f, int64_t at)
{
    at = least(at, f->options.wake);
    return (struct jobs__step){.want = JOBS__WANT_WAIT, .at = is_limited(f) ? least(at, f->options.give_up) : at};
}

static struct jobs__step send(struct jobs__feed *f, int64_t at)
{
    if (f->out.failed)
        end(f, JOBS_NO_MEMORY);
    return (struct jobs__step){.want = f->done ? JOBS__WANT_DONE : JOBS__WANT_SEND,
                               .bytes = f->out.bytes,
                               .len = f->out.len,
                               .at = wait_until(f, at).at};
}

static bool step_auth(struct jobs__feed *f, int64_t now, struct jobs__step *step)
{
    if (jobs__auth_expire(&f->auth, now) && f->auth.demanded) {
        say_plain(f, "the relay wants AUTH, and does not go on with it");
        auth_failed(f, now);
    }
    if (f->done || f->line != LINE_UP || f->options.sign_auth == NULL || !jobs__auth_due(&f->auth))
        return false;
    const char *json = NULL;
    size_t len = 0;
    char id[65] = "";
    int code = f->options.sign_auth(f->options.context, f->auth_url, f->auth.challenge, &json, &len, id);
    if (code != JOBS_OK) {
        say_plain(f, "the AUTH event could not be signed");
        end(f, code == JOBS_NO_MEMORY ? JOBS_NO_MEMORY : JOBS_DENIED);
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

/* One subscription: late, due, or when to look again. */
static bool step_subscription(struct jobs__feed *f, struct subscription *s, int64_t now, struct jobs__step *step,
                              int64_t *look)
{
    if (f->done || f->line != LINE_UP)
        return false;
    if (s->state == SUBSCRIPTION_ASKED) {
        *look = least(*look, s->limit);
        if (now < s->limit)
            return false;
        say_plain(f, "the relay does not answer");
        drop_line(f, now);
        return false;
    }
    if (s->state != SUBSCRIPTION_WANTED || (f->options.sign_auth != NULL && jobs__auth_pending(&f->auth)))
        return false;
    *look = least(*look, s->not_before);
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
    return wait_until(f, least(look, jobs__auth_deadline(&f->auth)));
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
            end(f, f->result.code);
        return (struct jobs__step){.want = JOBS__WANT_WAIT, .at = f->dial_limit};
    case LINE_DIALING:
        if (now < f->dial_limit)
            return wait_until(f, f->dial_limit);
        say_plain(f, "no connection in time");
        drop_line(f, now);
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
        say_plain(f, f->line == LINE_UP ? "not everything came in time" : "no connection in time");
    end(f, f->result.code != JOBS_OK ? f->result.code : JOBS_UNREACHABLE);
}

static struct jobs__step next(struct jobs__engine *engine, int64_t now)
{
    struct jobs__feed *f = of(engine);
    struct jobs__step step;
    int64_t seconds = (now - f->options.start) / 1000;
    f->options.unix_start += seconds;
    f->options.start += seconds * 1000;
    jobs__buffer_clear(&f->out);
    if (!f->done && !f->resting && is_limited(f) && now >= f->options.give_up && f->line != LINE_EXPLAINING)
        give_up(f);
    step = f->done ? wait_until(f, now) : f->line == LINE_UP ? step_talk(f, now) : step_line(f, now);
    if (!f->done && f->line == LINE_DROP)
        step = step_line(f, now); /* it was given up just now */
    return f->done ? (struct jobs__step){.want = JOBS__WANT_DONE} : step;
}

static const char *doing(const struct jobs__engine *engine)
{
    const struct jobs__feed *f = (const struct jobs__feed *)engine;
    if (f->line != LINE_UP)
        return "connecting";
    if (jobs__auth_pending(&f->auth))
        return "authenticating";
    return f->live.state == SUBSCRIPTION_OPEN && f->synced ? "watching" : "reading";
}

/* --- its life --- */

static const struct jobs__engine_ops ops = {
    .opened = opened, .frame = frame, .closed = closed, .explained = explained, .next = next, .doing = doing};

int jobs__feed_new(struct jobs__feed **out, const struct jobs__feed_options *options)
{
    struct jobs__feed *f = calloc(1, sizeof *f);
    *out = f;
    if (f == NULL)
        return JOBS_NO_MEMORY;
    f->engine.ops = &ops;
    f->options = *options;
    f->random = options->seed;
    f->out.max = OUT_MAX;
    f->dial_at = options->start;
    f->result.code = JOBS_UNREACHABLE;
    jobs__pages_start(&f->pages, options->floor > options->since ? options->floor : options->since, options->until,
                      options->page);
    f->options.floor = f->pages.floor;
    f->auth_url = strdup(options->auth_url);
    f->filter = strdup(options->filter);
    if (f->auth_url != NULL && f->filter != NULL)
        return JOBS_OK;
    jobs__feed_free(f);
    *out = NULL;
    return JOBS_NO_MEMORY;
}

void jobs__feed_free(struct jobs__feed *feed)
{
    if (feed == NULL)
        return;
    jobs__frame_reader_free(&feed->reader);
    jobs__buffer_free(&feed->out);
    free(feed->auth_url);
    free(feed->filter);
    free(feed);
}

struct jobs__engine *jobs__feed_engine(struct jobs__feed *feed)
{
    return &feed->engine;
}

void jobs__feed_stop(struct jobs__feed *feed)
{
    if (!feed->done)
        end(feed, JOBS_OK);
}

bool jobs__feed_is_over(const struct jobs__feed *feed)
{
    return feed->done;
}

const struct jobs__feed_result *jobs__feed_result(const struct jobs__feed *feed)
{
    return &feed->result;
}
