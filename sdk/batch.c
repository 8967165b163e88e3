/* batch.c - see batch.h. Phases: question, events, question, end; the first thing that is not plain ends it.
 */
#include "batch.h"

#include "../core/text.h"

#include "answer.h"
#include "frame.h"
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS    2000
#define OK_MS     5000 /* since the last OK */
#define READ_MS   5000
#define FRAME_MAX ((size_t)4 << 20)

enum phase {
    PHASE_ASK,
    PHASE_SEND,
    PHASE_READ,
    PHASE_DONE
};

struct jobs__batch {
    struct jobs__engine engine; /* first */
    struct jobs__batch_item *items;
    size_t count;
    bool read_back;
    uint64_t seed;
    int64_t deadline;

    enum phase phase;
    bool dialled, up;
    bool plain; /* nothing is owed on the connection, and nothing odd was said on it */
    struct jobs__carried carried;
    bool there[JOBS__BATCH_MAX]; /* something of ours is there already for its job */
    bool answered[JOBS__BATCH_MAX];
    bool asked; /* the question is out */
    char subscription[16], close[16];
    size_t next, unanswered; /* events: to be sent next; sent without an OK so far */
    size_t events;           /* that the question brought */
    bool news;               /* of a job that had not been shown before */
    int64_t limit;           /* of the wait for the next answer */
    bool throttled;
    int retry_in; /* s, the longest that was named */
    char words[JOBS_RELAY_MESSAGE_MAX + 1];

    struct jobs__frame_reader reader;
    struct jobs__buffer out;
};

static struct jobs__batch *of(struct jobs__engine *engine)
{
    return (struct jobs__batch *)engine;
}

/* Something is not as it should be: what is not confirmed by now is somebody else's, on another connection. */
static void give_up(struct jobs__batch *b)
{
    b->plain = false;
    b->phase = PHASE_DONE;
}

/* A quarter of what is left at most: a relay that falls silent is left to a session, which has its own patience. */
static void wait_for(struct jobs__batch *b, int64_t now, int64_t ms)
{
    int64_t share = (b->deadline - now) / 4;
    b->limit = now + (ms < share ? ms : share);
}

/* --- what happened --- */

static void opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened)
{
    struct jobs__batch *b = of(engine);
    (void)now;
    b->up = true;
    if (opened->carried_len == sizeof b->carried)
        memcpy(&b->carried, opened->carried, sizeof b->carried);
    else
        give_up(b); /* a new connection, which knows neither whether it needs AUTH nor how the relay answers */
}

static void closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed)
{
    (void)now;
    (void)closed;
    give_up(of(engine));
}

static void explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    (void)engine;
    (void)now;
    (void)text;
    (void)len;
}

static void note_wait(struct jobs__batch *b, enum jobs__answer answer, const struct jobs__frame *frame)
{
    if (answer != JOBS__ANSWER_THROTTLED)
        return;
    int seconds = jobs__answer_retry_in(frame->text, frame->text_len);
    b->throttled = true;
    b->retry_in = seconds > b->retry_in ? seconds : b->retry_in;
    jobs__text_one_line(b->words, JOBS_RELAY_MESSAGE_MAX, frame->text, frame->text_len);
}

static void read_next_or_end(struct jobs__batch *b)
{
    bool any = false;
    for (size_t i = 0; i < b->count; i++)
        any = any || b->items[i].stored;
    b->asked = false;
    b->phase = any && b->read_back ? PHASE_READ : PHASE_DONE;
}

static void on_ok(struct jobs__batch *b, int64_t now, const struct jobs__frame *frame)
{
    enum jobs__answer answer = jobs__answer_refusal(frame->text, frame->text_len);
    if (frame->id_is != JOBS__ID_EVENT) { /* about which of them? */
        give_up(b);
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        struct jobs__batch_item *item = &b->items[i];
        if (!item->sent || b->answered[i] || strcmp(frame->id, jobs_event_id(item->event)) != 0)
            continue;
        b->answered[i] = true;
        b->unanswered--;
        wait_for(b, now, OK_MS);
        jobs__text_one_line(item->message, JOBS_RELAY_MESSAGE_MAX, frame->text, frame->text_len);
        item->duplicate = answer == JOBS__ANSWER_DUPLICATE;
        item->stored = frame->accepted && !item->duplicate;
        b->plain = b->plain && item->stored;
        if (!frame->accepted)
            note_wait(b, answer, frame);
        return;
    }
}

/* Before anything was sent: whose job is it about? */
static void found(struct jobs__batch *b, const struct jobs__frame *frame)
{
    struct jobs_event *event = NULL;
    const char *job = NULL;
    bool any = false;
    if (jobs_event_parse(&event, frame->event, frame->event_len, NULL) == JOBS_OK)
        job = jobs_event_reply(event);
    for (size_t i = 0; job != NULL && i < b->count; i++) {
        if (strcmp(job, jobs_event_reply(b->items[i].event)) != 0)
            continue;
        b->news = b->news || !b->there[i];
        any = b->there[i] = true;
    }
    jobs_event_free(event);
    if (!any)
        give_up(b);
}

static void shown(struct jobs__batch *b, const struct jobs__frame *frame)
{
    for (size_t i = 0; i < b->count; i++) {
        struct jobs__batch_item *item = &b->items[i];
        size_t len;
        if (!item->stored || item->confirmed || strcmp(frame->id, jobs_event_id(item->event)) != 0)
            continue;
        const char *json = jobs_event_json(item->event, &len);
        item->confirmed = frame->event_len == len && memcmp(frame->event, json, len) == 0;
        struct jobs_event *event = NULL;
        if (!item->confirmed && jobs_event_parse(&event, frame->event, frame->event_len, NULL) == JOBS_OK)
            item->confirmed = jobs_event_check(event) == JOBS_EVENT_VALID && jobs_event_same(event, item->event);
        jobs_event_free(event);
    }
}

static bool is_ours(const struct jobs__batch *b, const struct jobs__frame *frame)
{
    return b->asked && strcmp(frame->subscription, b->subscription) == 0;
}

static void on_eose(struct jobs__batch *b, int64_t now)
{
    memcpy(b->close, b->subscription, sizeof b->close);
    b->asked = false;
    if (b->phase == PHASE_ASK) {
        bool left = false;
        for (size_t i = 0; i < b->count; i++)
            left = left || !b->there[i];
        if (b->events > 0 && !b->news)
            give_up(b);
        else if (b->events == 0 || !left) /* else a relay that shows so many and no more may have kept some back */
            b->phase = PHASE_SEND;
        wait_for(b, now, OK_MS);
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        struct jobs__batch_item *item = &b->items[i];
        item->absent = item->stored && !item->confirmed;
        b->plain = b->plain && !item->absent;
    }
    b->phase = PHASE_DONE;
}

static void frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct jobs__batch *b = of(engine);
    struct jobs__frame frame;
    if (b->phase == PHASE_DONE)
        return;
    jobs__frame_read(&frame, &b->reader, text, len);
    switch (frame.type) {
    case JOBS__FRAME_OK:
        on_ok(b, now, &frame);
        break;
    case JOBS__FRAME_EVENT:
        if (!is_ours(b, &frame))
            break;
        if (++b->events > (size_t)2 * JOBS__BATCH_MAX) /* there is more to read than it may all have shown */
            give_up(b);
        else if (b->phase == PHASE_ASK)
            found(b, &frame);
        else
            shown(b, &frame);
        break;
    case JOBS__FRAME_EOSE:
        if (is_ours(b, &frame))
            on_eose(b, now);
        break;
    case JOBS__FRAME_CLOSED:
        if (!is_ours(b, &frame))
            break;
        note_wait(b, jobs__answer_refusal(frame.text, frame.text_len), &frame);
        give_up(b);
        break;
    case JOBS__FRAME_NOTICE:
        if (jobs__answer_notice(frame.text, frame.text_len) == JOBS__ANSWER_NOTHING)
            break;
        note_wait(b, jobs__answer_notice(frame.text, frame.text_len), &frame);
        give_up(b);
        break;
    case JOBS__FRAME_AUTH:
        (void)jobs__auth_challenge(&b->carried.auth, frame.text, frame.text_len); /* for the next one */
        break;
    case JOBS__FRAME_BAD:
    case JOBS__FRAME_OTHER:
        break;
    }
}

/* --- what is wanted --- */

static struct jobs__step step_of(const struct jobs__batch *b, enum jobs__want want)
{
    return (struct jobs__step){.want = want, .at = b->limit};
}

static struct jobs__step send(struct jobs__batch *b)
{
    if (b->out.failed) {
        give_up(b);
        return step_of(b, JOBS__WANT_DONE);
    }
    return (struct jobs__step){.want = JOBS__WANT_SEND, .bytes = b->out.bytes, .len = b->out.len, .at = b->limit};
}

static void add_list(struct jobs__buffer *out, const char *name, const struct jobs__batch *b,
                     const char *(*value)(const struct jobs_event *))
{
    const char *before = "";
    jobs__buffer_format(out, "\"%s\":[", name);
    for (size_t i = 0; i < b->count; i++) {
        if (b->phase == PHASE_ASK ? b->there[i] : !b->items[i].stored)
            continue;
        jobs__buffer_format(out, "%s\"%s\"", before, value(b->items[i].event));
        before = ",";
    }
    jobs__buffer_text(out, "]");
}

static struct jobs__step question(struct jobs__batch *b, int64_t now)
{
    const struct jobs_event *first = b->items[0].event;
    snprintf(b->subscription, sizeof b->subscription, "jobs-%u", ++b->carried.questions);
    jobs__buffer_format(&b->out, "[\"REQ\",\"%s\",{", b->subscription);
    if (b->phase == PHASE_ASK) {
        jobs__buffer_format(&b->out, "\"kinds\":[%d],\"authors\":[\"%s\"],\"#h\":[\"%s\"],", JOBS_KIND_RESULT,
                            jobs_event_author(first), jobs_event_channel(first));
        add_list(&b->out, "#e", b, jobs_event_reply);
    } else {
        add_list(&b->out, "ids", b, jobs_event_id);
    }
    jobs__buffer_format(&b->out, ",\"limit\":%u}]", JOBS__QUESTION_LIMIT(b->seed, b->carried.questions));
    b->asked = true;
    b->events = 0;
    b->news = false;
    wait_for(b, now, b->phase == PHASE_ASK ? ASK_MS : READ_MS);
    return send(b);
}

static struct jobs__step event(struct jobs__batch *b, int64_t now)
{
    struct jobs__batch_item *item = &b->items[b->next++];
    size_t len;
    const char *json = jobs_event_json(item->event, &len);
    jobs__buffer_text(&b->out, "[\"EVENT\",");
    jobs__buffer_add(&b->out, json, len);
    jobs__buffer_text(&b->out, "]");
    item->sent = true;
    item->sent_at = now;
    b->unanswered++;
    wait_for(b, now, OK_MS);
    return send(b);
}

static struct jobs__step end(struct jobs__batch *b)
{
    struct jobs__step step = step_of(b, JOBS__WANT_DONE);
    if (b->plain) {
        step.bytes = (const char *)&b->carried;
        step.len = sizeof b->carried;
    }
    return step;
}

static struct jobs__step next(struct jobs__engine *engine, int64_t now)
{
    struct jobs__batch *b = of(engine);
    jobs__buffer_clear(&b->out);
    if (b->phase != PHASE_DONE && now >= b->deadline)
        give_up(b);
    if (b->phase != PHASE_DONE && !b->up) {
        b->limit = b->deadline;
        if (b->dialled)
            return step_of(b, JOBS__WANT_WAIT);
        b->dialled = true;
        return step_of(b, JOBS__WANT_DIAL);
    }
    if (b->phase == PHASE_SEND && b->unanswered > 0 && now >= b->limit) { /* those that were answered are there */
        b->plain = false;
        read_next_or_end(b);
    }
    if (b->asked && now >= b->limit) {
        for (size_t i = 0; b->phase == PHASE_READ && i < b->count; i++)
            b->items[i].unread = b->items[i].stored && !b->items[i].confirmed;
        give_up(b);
    }
    if (b->close[0] != '\0' && (b->phase != PHASE_DONE || b->plain)) {
        jobs__buffer_format(&b->out, "[\"CLOSE\",\"%s\"]", b->close);
        b->close[0] = '\0';
        return send(b);
    }
    while (b->phase == PHASE_SEND && b->next < b->count && b->there[b->next])
        b->next++;
    if (b->phase == PHASE_SEND && b->next < b->count && !b->throttled)
        return event(b, now);
    if (b->phase == PHASE_SEND && b->unanswered == 0)
        read_next_or_end(b);
    if (b->phase == PHASE_DONE)
        return end(b);
    if (b->phase != PHASE_SEND && !b->asked)
        return question(b, now);
    return step_of(b, JOBS__WANT_WAIT);
}

static const char *doing(const struct jobs__engine *engine)
{
    static const char *const words[] = {"asking", "sending", "reading back", ""};
    return words[((const struct jobs__batch *)engine)->phase];
}

/* --- its life --- */

static const struct jobs__engine_ops ops = {
    .opened = opened, .frame = frame, .closed = closed, .explained = explained, .next = next, .doing = doing};

int jobs__batch_new(struct jobs__batch **out, const struct jobs__batch_options *options)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return JOBS_NO_MEMORY;
    **out = (struct jobs__batch){.engine.ops = &ops,
                                 .items = options->items,
                                 .count = options->count,
                                 .read_back = options->read_back,
                                 .seed = options->seed,
                                 .deadline = options->start + options->timeout,
                                 .plain = true,
                                 .out.max = FRAME_MAX};
    return JOBS_OK;
}

void jobs__batch_free(struct jobs__batch *batch)
{
    if (batch == NULL)
        return;
    jobs__frame_reader_free(&batch->reader);
    jobs__buffer_free(&batch->out);
    free(batch);
}

bool jobs__batch_throttled(const struct jobs__batch *batch, int *retry_in, const char **words)
{
    *retry_in = batch->retry_in;
    *words = batch->words;
    return batch->throttled;
}

struct jobs__engine *jobs__batch_engine(struct jobs__batch *batch)
{
    return &batch->engine;
}
