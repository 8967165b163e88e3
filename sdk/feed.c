/* feed.c - see feed.h. Two subscriptions at most: `live` stays, `page` asks for one page of what is stored. */
#include "feed.h"

#include "../core/text.h"
#include "answer.h"
#include "auth.h"
#include "frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_FIRST              500
#define PAGE_LAST               5000 /* for a second that holds more events than a page */
#define OVERLAP_S               1200 /* a relay may take events that are 900 s old */
#define TRIES                   3    /* for stored events; a live feed never gives up */
#define PATIENCE_FOR_MEMBERSHIP 3000
#define OUT_MAX                 ((size_t)1 << 20)

enum line {
    LINE_OFF,
    LINE_DIALING,
    LINE_UP,
    LINE_DROP
};

struct subscription {
    bool wanted; /* to be sent */
    bool out;    /* sent, its EOSE not seen */
    int64_t not_before, limit;
    char name[16];
};

struct jobs__feed {
    struct jobs__engine engine; /* first */
    struct jobs__feed_options options;
    char *auth_url, *filter;
    uint64_t random;

    enum line line;
    int64_t dial_at, dial_limit;
    unsigned failures; /* in a row, without an answer between them */
    struct jobs__auth auth;

    struct subscription live, page;
    unsigned numbered;
    bool close_page;
    int64_t until; /* of the next page; 0: the newest */
    unsigned page_size;
    size_t page_new, page_count;
    int64_t page_oldest;
    int64_t newest; /* created_at, never in the future: where a reconnect goes on */
    int64_t floor;  /* how far back the pages go */
    int64_t restricted_since;

    bool done;
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

static void end(struct jobs__feed *f, enum jobs_code code)
{
    f->result.complete = f->result.complete || code == JOBS_OK;
    f->result.code = f->result.complete ? JOBS_OK : code;
    f->done = true;
}

/* --- pages --- */

static void begin_pages(struct jobs__feed *f, int64_t now, int64_t until)
{
    f->until = until;
    f->page_size = PAGE_FIRST;
    f->page.wanted = true;
    f->page.not_before = now;
}

/* A connection is up: subscribe (again), or go on with the page that was lost. */
static void begin_talk(struct jobs__feed *f, int64_t now)
{
    f->page.out = f->live.out = false;
    f->close_page = false;
    if (f->options.live) {
        f->floor = f->options.since;
        if (f->newest > 0 && f->newest - OVERLAP_S > f->floor)
            f->floor = f->newest - OVERLAP_S;
        f->live.wanted = true;
        f->live.not_before = now;
        f->page.wanted = false;
    } else {
        f->page.wanted = true;
        f->page.not_before = now;
    }
}

/* What one page leads to: an older one, a larger one for a crowded second, or the end. */
static void end_page(struct jobs__feed *f, int64_t now)
{
    f->page.out = false;
    f->close_page = true;
    if (f->page_count == 0 || (f->options.more != NULL && !f->options.more(f->options.context))) {
        f->result.complete = true;
        if (!f->options.live)
            end(f, JOBS_OK);
        return;
    }
    if (f->page_new > 0 || f->until == 0 || f->page_oldest < f->until) {
        f->until = f->page_oldest;
    } else if (f->page_count >= f->page_size && f->page_size < PAGE_LAST) {
        f->page_size *= 2;
    } else {
        f->until = f->page_oldest - 1;
        f->page_size = PAGE_FIRST;
    }
    if (f->until <= 0 || (f->floor > 0 && f->until < f->floor)) {
        f->result.complete = true;
        if (!f->options.live)
            end(f, JOBS_OK);
        return;
    }
    f->page.wanted = true;
    f->page.not_before = now;
}

static void write_request(struct jobs__feed *f, struct subscription *s, int64_t now)
{
    s->wanted = false;
    s->out = true;
    s->limit = now + f->options.timeout;
    snprintf(s->name, sizeof s->name, "feed-%u", ++f->numbered);
    jobs__buffer_format(&f->out, "[\"REQ\",\"%s\",{%s", s->name, f->filter);
    if (f->floor > 0)
        jobs__buffer_format(&f->out, ",\"since\":%" PRId64, f->floor);
    if (s == &f->page) {
        if (f->until > 0)
            jobs__buffer_format(&f->out, ",\"until\":%" PRId64, f->until);
        jobs__buffer_format(&f->out, ",\"limit\":%u", f->page_size);
        f->page_count = f->page_new = 0;
        f->page_oldest = INT64_MAX;
    }
    jobs__buffer_text(&f->out, "}]");
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

static void fail_line(struct jobs__feed *f, int64_t now, enum jobs_code code)
{
    f->failures++;
    f->dial_at = now + backoff(f);
    if (!f->options.live && f->failures > TRIES)
        end(f, code);
}

static void drop_line(struct jobs__feed *f, int64_t now, enum jobs_code code)
{
    f->line = LINE_DROP;
    fail_line(f, now, code);
}

static void auth_failed(struct jobs__feed *f, int64_t now)
{
    if (f->auth.failures >= JOBS__AUTH_FAILURES || f->options.sign_auth == NULL)
        end(f, JOBS_DENIED);
    else
        drop_line(f, now, JOBS_DENIED);
}

static void opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened)
{
    (void)opened;
    struct jobs__feed *f = of(engine);
    if (f->done || f->line != LINE_DIALING)
        return;
    f->line = LINE_UP;
    jobs__auth_reset(&f->auth);
    begin_talk(f, now);
}

static void closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed)
{
    struct jobs__feed *f = of(engine);
    if (f->done || f->line == LINE_OFF || f->line == LINE_DROP)
        return;
    f->line = LINE_OFF;
    if (closed->len > 0)
        say(f, closed->text, closed->len);
    if (closed->ending == JOBS__END_HTTP) {
        snprintf(f->result.message, sizeof f->result.message, "the relay answered the upgrade with HTTP status %d",
                 closed->status);
        f->result.retry_after = closed->retry_after;
        enum jobs__http what = jobs__answer_http(closed->status);
        if (what == JOBS__HTTP_DENIED || (what != JOBS__HTTP_AGAIN && !f->options.live)) {
            end(f, what == JOBS__HTTP_DENIED ? JOBS_DENIED : JOBS_REFUSED);
            return;
        }
    }
    if (closed->ending == JOBS__END_TLS) {
        end(f, JOBS_UNREACHABLE);
        return;
    }
    fail_line(f, now, JOBS_UNREACHABLE);
}

static void explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    (void)engine;
    (void)now;
    (void)text;
    (void)len;
}

/* --- answers --- */

/* Why a question was not answered, and what to do: again after AUTH, again later, or the end. */
static void refused(struct jobs__feed *f, struct subscription *s, int64_t now, enum jobs__answer answer,
                    const char *text, size_t len)
{
    int seconds = jobs__answer_retry_in(text, len);
    say(f, text, len);
    s->out = false;
    s->wanted = true;
    s->not_before = now;
    switch (answer) {
    case JOBS__ANSWER_AUTH:
        if (f->auth.state == JOBS__AUTH_GOOD || f->options.sign_auth == NULL)
            end(f, JOBS_DENIED);
        else if (!jobs__auth_demand(&f->auth, now))
            auth_failed(f, now);
        return;
    case JOBS__ANSWER_THROTTLED:
    case JOBS__ANSWER_ERROR:
        if (++f->failures > TRIES && !f->options.live && seconds == 0) {
            end(f, JOBS_UNREACHABLE);
            return;
        }
        s->not_before = now + (seconds > 0 ? (int64_t)seconds * 1000 : backoff(f));
        f->result.retry_after = seconds;
        if (!f->options.live && s->not_before - now > f->options.timeout)
            end(f, JOBS_UNREACHABLE);
        return;
    case JOBS__ANSWER_DENIED:
        if (f->restricted_since == 0)
            f->restricted_since = now;
        if (now - f->restricted_since < PATIENCE_FOR_MEMBERSHIP) {
            s->not_before = now + backoff(f);
            return;
        }
        end(f, JOBS_DENIED);
        return;
    case JOBS__ANSWER_NOTHING:
        s->wanted = false;
        s->out = true;
        return;
    case JOBS__ANSWER_DUPLICATE:
    case JOBS__ANSWER_KIND:
    case JOBS__ANSWER_FINAL:
        end(f, JOBS_REFUSED);
        return;
    }
}

static struct subscription *named(struct jobs__feed *f, const char *name)
{
    if (strcmp(name, f->live.name) == 0)
        return &f->live;
    return strcmp(name, f->page.name) == 0 ? &f->page : NULL;
}

static void take_event(struct jobs__feed *f, struct subscription *s, const struct jobs__frame *frame)
{
    int64_t created_at = 0;
    enum jobs__feed_taken taken =
        f->options.take(f->options.context, frame->id, frame->event, frame->event_len, &created_at);
    if (taken == JOBS__TAKEN_FOREIGN || f->done)
        return;
    int64_t today = f->options.unix_start; /* moved on by next() */
    if (created_at > f->newest)
        f->newest = created_at < today ? created_at : today;
    if (s != &f->page)
        return;
    f->page_count++;
    f->page_new += taken == JOBS__TAKEN_NEW;
    if (created_at < f->page_oldest)
        f->page_oldest = created_at;
}

static void take_notice(struct jobs__feed *f, int64_t now, const struct jobs__frame *frame)
{
    struct subscription *s = f->page.out ? &f->page : f->live.out ? &f->live : NULL;
    enum jobs__answer answer = jobs__answer_notice(frame->text, frame->text_len);
    say(f, frame->text, frame->text_len);
    if (s != NULL && answer != JOBS__ANSWER_NOTHING)
        refused(f, s, now, answer, frame->text, frame->text_len);
}

static void frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct jobs__feed *f = of(engine);
    struct jobs__frame frame;
    if (f->done || f->line != LINE_UP)
        return;
    jobs__frame_read(&frame, &f->reader, text, len);
    struct subscription *s =
        frame.type == JOBS__FRAME_EVENT || frame.type == JOBS__FRAME_EOSE || frame.type == JOBS__FRAME_CLOSED
            ? named(f, frame.subscription)
            : NULL;
    switch (frame.type) {
    case JOBS__FRAME_EVENT:
        if (s == NULL)
            break;
        s->limit = now + f->options.timeout;
        take_event(f, s, &frame);
        break;
    case JOBS__FRAME_EOSE:
        if (s == NULL || !s->out)
            break;
        f->failures = 0;
        f->restricted_since = 0;
        s->out = false;
        if (s == &f->page)
            end_page(f, now);
        else
            begin_pages(f, now, 0); /* what the live subscription gave may have been cut: make sure by pages */
        break;
    case JOBS__FRAME_CLOSED:
        if (s != NULL && (s->out || s == &f->live))
            refused(f, s, now, jobs__answer_refusal(frame.text, frame.text_len), frame.text, frame.text_len);
        break;
    case JOBS__FRAME_AUTH:
        jobs__auth_challenge(&f->auth, frame.text, frame.text_len);
        break;
    case JOBS__FRAME_OK:
        if (f->auth.state == JOBS__AUTH_OUT && strcmp(frame.id, f->auth.id) == 0) {
            jobs__auth_answered(&f->auth, frame.accepted);
            if (!frame.accepted) {
                say(f, frame.text, frame.text_len);
                auth_failed(f, now);
            }
        }
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

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct jobs__step wait_until(int64_t at)
{
    return (struct jobs__step){.want = JOBS__WANT_WAIT, .at = at};
}

static struct jobs__step send(struct jobs__feed *f, int64_t at)
{
    if (f->out.failed)
        end(f, JOBS_NO_MEMORY);
    return (struct jobs__step){
        .want = f->done ? JOBS__WANT_DONE : JOBS__WANT_SEND, .bytes = f->out.bytes, .len = f->out.len, .at = at};
}

static bool step_auth(struct jobs__feed *f, int64_t now, struct jobs__step *step)
{
    if (jobs__auth_expire(&f->auth, now) && f->auth.demanded)
        auth_failed(f, now);
    if (f->done || f->line != LINE_UP || f->options.sign_auth == NULL || !jobs__auth_due(&f->auth))
        return false;
    const char *json = NULL;
    size_t len = 0;
    char id[65] = "";
    if (f->options.sign_auth(f->options.context, f->auth_url, f->auth.challenge, &json, &len, id) != JOBS_OK) {
        end(f, JOBS_DENIED);
        return false;
    }
    jobs__buffer_text(&f->out, "[\"AUTH\",");
    jobs__buffer_add(&f->out, json, len);
    jobs__buffer_text(&f->out, "]");
    jobs__auth_sent(&f->auth, now, id);
    *step = send(f, now + JOBS__AUTH_PATIENCE);
    return true;
}

static struct jobs__step step_line(struct jobs__feed *f, int64_t now)
{
    if (f->line == LINE_DROP) {
        f->line = LINE_OFF;
        return (struct jobs__step){.want = JOBS__WANT_HANG_UP};
    }
    if (f->line == LINE_DIALING && now < f->dial_limit)
        return wait_until(f->dial_limit);
    if (f->line == LINE_DIALING) {
        drop_line(f, now, JOBS_UNREACHABLE);
        snprintf(f->result.message, sizeof f->result.message, "no connection in time");
        return step_line(f, now);
    }
    if (now < f->dial_at)
        return wait_until(f->dial_at);
    f->line = LINE_DIALING;
    f->dial_limit = now + f->options.connect_timeout;
    return (struct jobs__step){.want = JOBS__WANT_DIAL, .at = f->dial_limit};
}

/* One subscription: late, due, or when to look again. */
static bool step_subscription(struct jobs__feed *f, struct subscription *s, int64_t now, struct jobs__step *step,
                              int64_t *look)
{
    if (s->out && now >= s->limit) {
        snprintf(f->result.message, sizeof f->result.message, "the relay does not answer");
        drop_line(f, now, JOBS_UNREACHABLE);
        return false;
    }
    if (s->out)
        *look = least(*look, s->limit);
    if (!s->wanted || jobs__auth_pending(&f->auth))
        return false;
    if (now < s->not_before) {
        *look = least(*look, s->not_before);
        return false;
    }
    write_request(f, s, now);
    *step = send(f, s->limit);
    return true;
}

static struct jobs__step next(struct jobs__engine *engine, int64_t now)
{
    struct jobs__feed *f = of(engine);
    struct jobs__step step;
    int64_t look = INT64_MAX;
    f->options.unix_start += (now - f->options.start) / 1000;
    f->options.start += (now - f->options.start) / 1000 * 1000;
    jobs__buffer_clear(&f->out);
    if (f->line == LINE_UP && !f->done) {
        if (step_auth(f, now, &step))
            return step;
        if (f->close_page && !f->done) {
            f->close_page = false;
            jobs__buffer_format(&f->out, "[\"CLOSE\",\"%s\"]", f->page.name);
            f->page.name[0] = '\0';
            return send(f, now);
        }
        if (!f->done && f->line == LINE_UP && step_subscription(f, &f->live, now, &step, &look))
            return step;
        if (!f->done && f->line == LINE_UP && step_subscription(f, &f->page, now, &step, &look))
            return step;
    }
    if (f->done)
        return (struct jobs__step){.want = JOBS__WANT_DONE};
    if (f->line != LINE_UP) {
        step = step_line(f, now);
        return f->done ? (struct jobs__step){.want = JOBS__WANT_DONE} : step;
    }
    return wait_until(least(look, jobs__auth_deadline(&f->auth)));
}

static const char *doing(const struct jobs__engine *engine)
{
    const struct jobs__feed *f = (const struct jobs__feed *)engine;
    if (f->line != LINE_UP)
        return "connecting";
    if (jobs__auth_pending(&f->auth))
        return "authenticating";
    return f->page.out || f->live.out ? "reading" : "watching";
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
    f->floor = options->since;
    f->until = options->until;
    f->page_size = PAGE_FIRST;
    f->result.code = JOBS_UNREACHABLE;
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

const struct jobs__feed_result *jobs__feed_result(const struct jobs__feed *feed)
{
    return &feed->result;
}
