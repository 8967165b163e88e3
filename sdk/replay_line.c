/* replay_line.c - what the relay says, and what the connection does. See replay_line.h. */
#include "replay_line.h"

#include "../core/text.h"
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_FIRST   128
#define QUIET_MS       1000 /* without an answer, before what is unanswered goes again */
#define THROTTLES      60   /* in a row, without a decision */
#define LONGEST_WAIT_S 3600
#define FAILURES       3 /* connections in a row that decided nothing, before events go one by one */
#define OUT_MAX        ((size_t)1 << 16)

static struct jobs__replay_line *of(struct jobs__engine *engine)
{
    return (struct jobs__replay_line *)engine;
}

static void say(struct jobs__replay_line *l, const char *text, size_t len)
{
    jobs__answer_strip(&text, &len);
    jobs__text_one_line(l->message, JOBS_RELAY_MESSAGE_MAX, text, len);
}

int64_t jobs__replay_backoff(struct jobs__replay_line *l, unsigned step)
{
    static const int64_t caps[] = {500, 1500, 4000, 8000};
    const unsigned last = sizeof caps / sizeof caps[0] - 1;
    l->random = l->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 20 + (int64_t)((l->random >> 33) % (uint64_t)caps[step < last ? step : last]);
}

void jobs__replay_heard(struct jobs__replay_line *l, int64_t now)
{
    l->last_answer = now;
    l->swallowed_since = 0;
}

/* --- the line --- */

void jobs__replay_give_up(struct jobs__replay_line *l, int64_t now, const char *why)
{
    if (l->over)
        return;
    if (l->message[0] == '\0')
        say(l, why, strlen(why));
    l->over = true;
    for (uint64_t number = atomic_load(&l->ring->emptied); number < l->taken; number++) {
        struct jobs__item *item = jobs__replay_item(l, number);
        if (item->state == JOBS__ITEM_DONE)
            continue;
        bool refused = item->refused && !item->weakly && !item->was_there;
        const char *text = item->message == NULL ? l->message : "";
        jobs__item_finish(l, number, refused ? JOBS__ITEM_REJECTED : JOBS__ITEM_UNKNOWN, now, text, strlen(text));
    }
}

/* The connection is gone, or will be: what was out is in doubt. */
static void lost(struct jobs__replay_line *l, int64_t now)
{
    uint64_t from = atomic_load(&l->ring->emptied);
    l->failures++;
    l->dial_at = now + jobs__replay_backoff(l, l->failures > 0 ? l->failures - 1 : 0);
    l->ask_out = l->close_ask = false;
    l->quiet_at = 0;
    l->quiet_alone = false;
    l->unnamed = l->late = 0;
    if (l->counts[JOBS__ITEM_OUT] > 0 && l->failures > 1)
        l->window = l->window > 1 ? l->window / 2 : 1;
    for (uint64_t number = from; number < l->taken; number++) {
        struct jobs__item *item = jobs__replay_item(l, number);
        if (item->state == JOBS__ITEM_ASKED)
            jobs__item_move(l, number, JOBS__ITEM_DOUBT);
        if (item->state == JOBS__ITEM_OUT && l->counts[JOBS__ITEM_OUT] == 1)
            item->drops++;
        /* Others were decided on this connection: it did not end because of this one. */
        if (item->state == JOBS__ITEM_OUT && l->failures == 1 && item->tries > 1)
            item->tries--;
    }
    jobs__items_doubt(l, l->failures >= FAILURES);
}

void jobs__replay_drop(struct jobs__replay_line *l, int64_t now, const char *why)
{
    say(l, why, strlen(why));
    l->connection = JOBS__REPLAY_DROP;
    lost(l, now);
}

void jobs__replay_auth_failed(struct jobs__replay_line *l, int64_t now)
{
    if (l->auth.failures >= JOBS__AUTH_FAILURES)
        jobs__replay_give_up(l, now, "the relay wants AUTH and does not take ours");
    else
        jobs__replay_drop(l, now, "AUTH failed");
}

bool jobs__replay_demand_auth(struct jobs__replay_line *l, int64_t now)
{
    if (l->options.sign_auth == NULL) {
        jobs__replay_give_up(l, now, "the relay wants AUTH, and there is no key");
        return false;
    }
    if (l->auth.state != JOBS__AUTH_GOOD && !jobs__auth_demand(&l->auth, now))
        jobs__replay_auth_failed(l, now);
    return !l->over;
}

static void opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened)
{
    (void)opened;
    (void)now;
    struct jobs__replay_line *l = of(engine);
    if (l->over || l->connection != JOBS__REPLAY_DIALING)
        return;
    l->connection = JOBS__REPLAY_UP;
    l->ask_name[0] = '\0';
    jobs__auth_reset(&l->auth);
}

static void closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed)
{
    struct jobs__replay_line *l = of(engine);
    if (l->over || l->connection == JOBS__REPLAY_OFF || l->connection == JOBS__REPLAY_DROP)
        return;
    bool was_up = l->connection == JOBS__REPLAY_UP;
    l->connection = JOBS__REPLAY_OFF;
    if (closed->len > 0)
        say(l, closed->text, closed->len);
    if (closed->ending == JOBS__END_HTTP) {
        snprintf(l->message, sizeof l->message, "the relay answered the upgrade with HTTP status %d", closed->status);
        if (jobs__answer_http(closed->status) != JOBS__HTTP_AGAIN) {
            jobs__replay_give_up(l, now, "");
            return;
        }
    } else if (closed->ending == JOBS__END_TLS || closed->ending == JOBS__END_NOT_WEBSOCKET) {
        jobs__replay_give_up(l, now, "there is no relay that can be trusted");
        return;
    } else if (closed->ending == JOBS__END_CLOSED && closed->len == 0)
        snprintf(l->message, sizeof l->message, "the relay closed the connection with code %d", closed->code);
    bool final = was_up && closed->ending == JOBS__END_CLOSED && jobs__answer_close_is_final(closed->code);
    if (final && l->counts[JOBS__ITEM_OUT] == 1) {
        for (uint64_t number = atomic_load(&l->ring->emptied); number < l->taken; number++)
            if (jobs__replay_item(l, number)->state == JOBS__ITEM_OUT)
                jobs__item_refused(l, number, now, l->message, strlen(l->message), false);
    } else if (final) {
        jobs__items_doubt(l, true);
    }
    lost(l, now);
    if (closed->retry_after > 0 && closed->retry_after <= LONGEST_WAIT_S) {
        l->dial_at = now + (int64_t)closed->retry_after * 1000;
        l->pause_until = l->dial_at > l->pause_until ? l->dial_at : l->pause_until;
    }
}

static void explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    (void)engine;
    (void)now;
    (void)text;
    (void)len;
}

/* --- answers --- */

void jobs__replay_throttled(struct jobs__replay_line *l, int64_t now, const char *text, size_t len)
{
    int seconds = jobs__answer_retry_in(text, len);
    bool first = now >= l->shrunk_until;
    say(l, text, len);
    if (seconds > LONGEST_WAIT_S || (first && ++l->throttled > THROTTLES)) {
        jobs__replay_give_up(l, now, "");
        return;
    }
    if (first) { /* those that come meanwhile are of the same burst */
        l->window = l->window > 1 ? l->window / 2 : 1;
        l->grown = 0;
        l->slowed = true;
        l->shrunk_until = now + jobs__replay_backoff(l, l->throttled);
    }
    int64_t until = seconds > 0 ? now + (int64_t)seconds * 1000 : l->shrunk_until;
    if (until > l->pause_until)
        l->pause_until = until;
    if (l->pause_until > l->shrunk_until)
        l->shrunk_until = l->pause_until;
}

static uint64_t the_one_out(struct jobs__replay_line *l)
{
    uint64_t number = atomic_load(&l->ring->emptied);
    while (jobs__replay_item(l, number)->state != JOBS__ITEM_OUT)
        number++;
    return number;
}

/* It refuses something without saying what. The one that is out, if it is the only one; but an answer that was given up
 * may come late and look like that, so that then it takes two. */
static void unnamed(struct jobs__replay_line *l, int64_t now, const char *text, size_t len)
{
    if (l->counts[JOBS__ITEM_OUT] == 0) {
        l->late -= l->late > 0;
        return;
    }
    if (l->counts[JOBS__ITEM_OUT] == 1 && l->unnamed == 0) {
        uint64_t number = the_one_out(l);
        struct jobs__item *item = jobs__replay_item(l, number);
        if (l->late > 0 && !item->suspected) {
            l->late--;
            item->suspected = true;
            jobs__items_doubt(l, true);
        } else {
            jobs__item_refused(l, number, now, text, len, false);
        }
        return;
    }
    l->unnamed++;
    l->quiet_at = l->counts[JOBS__ITEM_OUT] <= l->unnamed ? now : now + QUIET_MS;
    l->quiet_alone = true;
}

static void take_notice(struct jobs__replay_line *l, int64_t now, const struct jobs__frame *frame)
{
    say(l, frame->text, frame->text_len);
    switch (jobs__answer_notice(frame->text, frame->text_len)) {
    case JOBS__ANSWER_THROTTLED:
        jobs__replay_heard(l, now);
        jobs__replay_throttled(l, now, frame->text, frame->text_len);
        if (!l->over && l->counts[JOBS__ITEM_OUT] > 0 && !l->quiet_alone)
            l->quiet_at = l->pause_until;
        return;
    case JOBS__ANSWER_AUTH:
        if (jobs__replay_demand_auth(l, now) && l->counts[JOBS__ITEM_OUT] > 0 && l->quiet_at == 0)
            l->quiet_at = now + QUIET_MS;
        return;
    case JOBS__ANSWER_FINAL:
        jobs__replay_heard(l, now);
        unnamed(l, now, frame->text, frame->text_len);
        return;
    default:
        return;
    }
}

/* The event of this id that waits for an answer; if none is out, one that was sent before. */
static uint64_t find(struct jobs__replay_line *l, const char *id)
{
    uint64_t found = UINT64_MAX;
    for (uint64_t n = jobs__ring_find(l->ring, id, 0); n < l->taken; n = jobs__ring_find(l->ring, id, n + 1)) {
        const struct jobs__item *item = jobs__replay_item(l, n);
        if (item->state == JOBS__ITEM_OUT)
            return n;
        if (item->sent && item->state != JOBS__ITEM_DONE && found == UINT64_MAX)
            found = n;
    }
    return found;
}

static bool says_duplicate(const char *text, size_t len)
{
    return len > 0 && jobs__answer_refusal(text, len) == JOBS__ANSWER_DUPLICATE;
}

static void take_ok(struct jobs__replay_line *l, int64_t now, const struct jobs__frame *frame)
{
    if (frame->id_is == JOBS__ID_EVENT && l->auth.state == JOBS__AUTH_OUT && strcmp(frame->id, l->auth.id) == 0) {
        jobs__replay_heard(l, now);
        jobs__auth_answered(&l->auth, frame->accepted);
        if (!frame->accepted) {
            say(l, frame->text, frame->text_len);
            if (jobs__auth_is_lost(&l->auth))
                jobs__replay_auth_failed(l, now);
        }
        return;
    }
    if (frame->id_is != JOBS__ID_EVENT) {
        if (frame->accepted)
            return; /* decides nothing */
        jobs__replay_heard(l, now);
        if (jobs__answer_refusal(frame->text, frame->text_len) == JOBS__ANSWER_THROTTLED) {
            jobs__replay_throttled(l, now, frame->text, frame->text_len);
            if (!l->over && !l->quiet_alone)
                l->quiet_at = l->pause_until;
        } else {
            unnamed(l, now, frame->text, frame->text_len);
        }
        return;
    }
    uint64_t number = find(l, frame->id);
    if (number == UINT64_MAX)
        return;
    jobs__replay_heard(l, now);
    l->answered++;
    if (jobs__replay_item(l, number)->state != JOBS__ITEM_OUT)
        l->late -= l->late > 0;
    if (!frame->accepted)
        jobs__item_refused(l, number, now, frame->text, frame->text_len, true);
    else
        jobs__item_finish(l, number,
                          says_duplicate(frame->text, frame->text_len) && jobs__replay_item(l, number)->tries < 2
                              ? JOBS__ITEM_DUPLICATE
                              : JOBS__ITEM_ACCEPTED,
                          now, frame->text, frame->text_len);
    if (l->quiet_at != 0 && l->unnamed > 0)
        l->quiet_at = l->counts[JOBS__ITEM_OUT] <= l->unnamed ? now : now + QUIET_MS;
}

/* --- questions --- */

static void take_event(struct jobs__replay_line *l, int64_t now, const struct jobs__frame *frame)
{
    struct jobs_verified verdict;
    bool holds = l->verifier != NULL || jobs_verifier_new(&l->verifier) == JOBS_OK;
    holds = holds && jobs_verifier_check(&verdict, l->verifier, frame->event, frame->event_len) == JOBS_OK &&
            verdict.event == JOBS_VERIFIED_VALID && strcmp(verdict.id, frame->id) == 0;
    for (uint64_t n = jobs__ring_find(l->ring, frame->id, 0); n < l->taken;
         n = jobs__ring_find(l->ring, frame->id, n + 1)) {
        struct jobs__item *item = jobs__replay_item(l, n);
        if (item->state != JOBS__ITEM_ASKED)
            continue;
        item->odd = item->odd || !holds;
        if (!holds)
            continue;
        bool before = (item->was_there || item->refused) && item->tries < 2;
        item->found = true;
        item->sent = item->sent || jobs__ring_at(l->ring, n)->maybe_sent;
        jobs__item_finish(l, n, before ? JOBS__ITEM_DUPLICATE : JOBS__ITEM_ACCEPTED, now, "", 0);
    }
    l->ask_limit = now + l->options.timeout;
}

/* The question is over; what was not found is not there, or nobody knows. */
static void end_ask(struct jobs__replay_line *l, int64_t now, bool answered)
{
    l->ask_out = false;
    for (uint64_t n = atomic_load(&l->ring->emptied); n < l->taken && l->counts[JOBS__ITEM_ASKED] > 0; n++)
        if (jobs__replay_item(l, n)->state == JOBS__ITEM_ASKED)
            jobs__item_absent(l, n, now, answered);
}

static void ask_again(struct jobs__replay_line *l)
{
    l->ask_out = false;
    for (uint64_t n = atomic_load(&l->ring->emptied); n < l->taken && l->counts[JOBS__ITEM_ASKED] > 0; n++)
        if (jobs__replay_item(l, n)->state == JOBS__ITEM_ASKED)
            jobs__item_move(l, n, JOBS__ITEM_DOUBT);
}

static void take_closed(struct jobs__replay_line *l, int64_t now, const struct jobs__frame *frame)
{
    say(l, frame->text, frame->text_len);
    switch (jobs__answer_refusal(frame->text, frame->text_len)) {
    case JOBS__ANSWER_AUTH:
        if (l->auth.state != JOBS__AUTH_GOOD && l->options.sign_auth != NULL) {
            ask_again(l);
            jobs__replay_demand_auth(l, now);
            return;
        }
        break;
    case JOBS__ANSWER_THROTTLED:
    case JOBS__ANSWER_ERROR:
        ask_again(l);
        jobs__replay_throttled(l, now, frame->text, frame->text_len);
        return;
    default:
        break;
    }
    l->asks_refused = true;
    end_ask(l, now, false);
}

static void frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct jobs__replay_line *l = of(engine);
    struct jobs__frame frame;
    if (l->over || l->connection != JOBS__REPLAY_UP)
        return;
    jobs__frame_read(&frame, &l->reader, text, len);
    bool ours = l->ask_out && strcmp(frame.subscription, l->ask_name) == 0;
    switch (frame.type) {
    case JOBS__FRAME_OK:
        take_ok(l, now, &frame);
        break;
    case JOBS__FRAME_EVENT:
        if (ours)
            take_event(l, now, &frame);
        break;
    case JOBS__FRAME_EOSE:
        if (!ours)
            break;
        l->last_answer = now;
        l->asks_failed = 0;
        l->close_ask = true;
        end_ask(l, now, true);
        break;
    case JOBS__FRAME_CLOSED:
        if (!ours)
            break;
        l->last_answer = now;
        take_closed(l, now, &frame);
        break;
    case JOBS__FRAME_AUTH:
        jobs__auth_challenge(&l->auth, frame.text, frame.text_len);
        break;
    case JOBS__FRAME_NOTICE:
        take_notice(l, now, &frame);
        break;
    case JOBS__FRAME_BAD:
    case JOBS__FRAME_OTHER:
        break;
    }
}

static const char *doing(const struct jobs__engine *engine)
{
    const struct jobs__replay_line *l = (const struct jobs__replay_line *)engine;
    if (l->over)
        return "given up";
    if (l->connection != JOBS__REPLAY_UP)
        return "connecting";
    if (jobs__auth_pending(&l->auth))
        return "authenticating";
    return l->ask_out ? "asking" : "sending";
}

/* --- its life --- */

static const struct jobs__engine_ops ops = {.opened = opened,
                                            .frame = frame,
                                            .closed = closed,
                                            .explained = explained,
                                            .next = jobs__replay_next,
                                            .doing = doing};

int jobs__replay_line_new(struct jobs__replay_line **out, struct jobs__ring *ring,
                          const struct jobs__replay_line_options *options)
{
    struct jobs__replay_line *l = calloc(1, sizeof *l);
    *out = l;
    if (l == NULL)
        return JOBS_NO_MEMORY;
    l->engine.ops = &ops;
    l->options = *options;
    l->ring = ring;
    l->random = options->seed;
    l->out.max = OUT_MAX;
    l->dial_at = l->last_answer = l->tokens_at = options->start;
    l->window_max = options->window > 0 ? options->window : JOBS_REPLAY_WINDOW_MAX;
    l->window = options->window > 0 || l->window_max < WINDOW_FIRST ? l->window_max : WINDOW_FIRST;
    l->tokens = 1;
    return JOBS_OK;
}

void jobs__replay_line_free(struct jobs__replay_line *line)
{
    if (line == NULL)
        return;
    for (uint64_t i = 0; i < JOBS__RING; i++)
        free(line->items[i].message);
    jobs_verifier_free(line->verifier);
    jobs__frame_reader_free(&line->reader);
    jobs__buffer_free(&line->out);
    free(line);
}
