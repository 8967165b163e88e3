/* feed_answers.c - what a relay's frames change. */
#include "feed_state.h"

#include <string.h>

#define MEMBERSHIP 3000 /* ms: granted a moment after it was asked for */
#define JUNK_MAX   10000U
#define PAGE_FLOOD 1000000U /* events of one page: no relay is asked for so many */

/* --- questions and their ends --- */

void jobs__feed_want(struct feed_subscription *s, int64_t at)
{
    s->state = SUBSCRIPTION_WANTED;
    s->not_before = at;
}

static void to_close(struct jobs__feed *f, struct feed_subscription *s)
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
        jobs__feed_say_plain(
            f, "the relay holds events back: it does not show the times it is asked for, or a second whole");
    }
    if (!f->options.live)
        jobs__feed_end(f, f->result.code);
}

static void end_page(struct jobs__feed *f, int64_t now)
{
    f->answered = true;
    f->failures = 0;
    f->restricted_since = 0;
    f->page.state = SUBSCRIPTION_NONE;
    to_close(f, &f->page);
    /* A page that is not full is the last one, most likely: should the line break now, what is read after it is new. */
    f->begun = f->begun || f->pages.taken < f->pages.size;
    bool more = jobs__pages_end(&f->pages);
    if (f->options.rest != NULL)
        f->options.rest(f->options.context);
    if (!more)
        complete(f);
    else if (!jobs__feed_needs_more(f))
        f->resting = true;
    else
        jobs__feed_want(&f->page, now);
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
    jobs__feed_want(&f->page, now);
}

/* --- refusals --- */

/* The relay will not have the subscription: again after AUTH, again later, or the end. */
static void refused(struct jobs__feed *f, struct feed_subscription *s, int64_t now, enum jobs__answer answer,
                    const char *text, size_t len)
{
    int seconds = jobs__answer_retry_in(text, len);
    bool was_open = s->state == SUBSCRIPTION_OPEN;
    int64_t wait;
    jobs__feed_say(f, text, len);
    if (f->result.message[0] == '\0')
        jobs__feed_say_plain(f, "refused without a reason");
    jobs__feed_want(s, now);
    switch (answer) {
    case JOBS__ANSWER_AUTH:
        if (f->options.sign_auth == NULL || (f->auth.state == JOBS__AUTH_GOOD && !s->before_auth))
            jobs__feed_end(f, JOBS_DENIED);
        else if (f->auth.state != JOBS__AUTH_GOOD && !jobs__auth_demand(&f->auth, now))
            jobs__feed_auth_failed(f, now);
        return;
    case JOBS__ANSWER_DENIED:
        if (f->restricted_since == 0)
            f->restricted_since = now;
        wait = jobs__feed_backoff(f);
        if (now + wait - f->restricted_since >= MEMBERSHIP)
            jobs__feed_end(f, JOBS_DENIED);
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
        jobs__feed_end(f, JOBS_REFUSED);
        return;
    }
    wait = seconds > 0 ? (int64_t)seconds * 1000 : jobs__feed_backoff(f);
    f->failures++;
    s->not_before = now + wait;
    (void)jobs__feed_wait_fits(f, now, wait, seconds, JOBS_UNREACHABLE);
}

/* --- frames --- */

static struct feed_subscription *named(struct jobs__feed *f, const char *name)
{
    if (name[0] == '\0')
        return NULL;
    if (strcmp(name, f->live.name) == 0)
        return &f->live;
    return strcmp(name, f->page.name) == 0 ? &f->page : NULL;
}

static void take_event(struct jobs__feed *f, struct feed_subscription *s, int64_t now, const struct jobs__frame *frame)
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
        jobs__feed_say_plain(f, "the relay sends what it was not asked for");
        jobs__feed_drop_line(f, now);
        return;
    }
    if (taken == JOBS__TAKEN_FOREIGN)
        return;
    int64_t today = f->options.unix_start; /* moved on by next() */
    if (s->state == SUBSCRIPTION_ASKED)
        s->limit = now + f->options.timeout;
    if (s == &f->page)
        jobs__pages_take(&f->pages, frame->id, created_at, taken == JOBS__TAKEN_NEW);
    else if (s->state == SUBSCRIPTION_OPEN && f->options.rest != NULL)
        f->options.rest(f->options.context);
    if (created_at > f->newest)
        f->newest = jobs__feed_least(created_at, today);
}

static void take_eose(struct jobs__feed *f, struct feed_subscription *s, int64_t now)
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

static void take_closed(struct jobs__feed *f, struct feed_subscription *s, int64_t now, const struct jobs__frame *frame)
{
    if (s == NULL || s->state == SUBSCRIPTION_WANTED || s->state == SUBSCRIPTION_NONE)
        return;
    refused(f, s, now, jobs__answer_refusal(frame->text, frame->text_len), frame->text, frame->text_len);
}

/* A notice is about the question that is out, when there is one. */
static void take_notice(struct jobs__feed *f, int64_t now, const struct jobs__frame *frame)
{
    struct feed_subscription *s = f->page.state == SUBSCRIPTION_ASKED   ? &f->page
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
    jobs__feed_say(f, frame->text, frame->text_len);
    if (jobs__auth_is_lost(&f->auth))
        jobs__feed_auth_failed(f, now);
}

void jobs__feed_frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct jobs__feed *f = jobs__feed_of(engine);
    struct jobs__frame frame;
    if (f->done || f->line != LINE_UP)
        return;
    jobs__frame_read(&frame, &f->reader, text, len);
    struct feed_subscription *s = named(f, frame.subscription);
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
