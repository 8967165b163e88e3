/* replay_next.c - what a replaying line wants next: to connect, to authenticate, to ask, to send, or to wait. */
#include "replay_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS     2     /* for more events from the filling thread */
#define OK_MS       10000 /* for the answer to one event, before it is in doubt */
#define DISORDER    64U   /* places that an answer may come too late */
#define ASK_MS      5000
#define ASKS_FAILED 2 /* unanswered questions in a row: this relay answers none */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct jobs__step wait_until(int64_t at)
{
    return (struct jobs__step){.want = JOBS__WANT_WAIT, .at = at};
}

static size_t undecided(const struct jobs__replay_line *l)
{
    return l->counts[JOBS__ITEM_READY] + l->counts[JOBS__ITEM_OUT] + l->counts[JOBS__ITEM_DOUBT] +
           l->counts[JOBS__ITEM_ASKED];
}

/* The next of the ring gets an item. */
static void take_up(struct jobs__replay_line *l, int64_t now)
{
    uint64_t number = l->taken++;
    const struct jobs__slot *slot = jobs__ring_at(l->ring, number);
    struct jobs__item *item = jobs__replay_item(l, number);
    free(item->message);
    *item = (struct jobs__item){.state = JOBS__ITEM_READY};
    l->counts[JOBS__ITEM_READY]++;
    if (slot->settled) {
        item->state = JOBS__ITEM_DONE;
        l->counts[JOBS__ITEM_READY]--;
        l->counts[JOBS__ITEM_DONE]++;
    } else if (l->over) {
        jobs__item_finish(l, number, JOBS__ITEM_UNKNOWN, now, l->message, strlen(l->message));
    } else if (slot->maybe_sent || l->options.ask_only) {
        jobs__item_move(l, number, JOBS__ITEM_DOUBT);
    } else if (number < l->ready_from) {
        l->ready_from = number;
    }
}

/* --- the connection --- */

static struct jobs__step step_line(struct jobs__replay_line *l, int64_t now)
{
    if (undecided(l) == 0 && l->taken == atomic_load(&l->ring->filled))
        l->last_answer = now; /* nobody is kept waiting */
    int64_t end = (l->last_answer > l->pause_until ? l->last_answer : l->pause_until) + l->options.timeout;
    if (l->connection == JOBS__REPLAY_DROP) {
        l->connection = JOBS__REPLAY_OFF;
        return (struct jobs__step){.want = JOBS__WANT_HANG_UP, .at = l->dial_at};
    }
    if (l->connection == JOBS__REPLAY_DIALING && now >= l->dial_limit) {
        jobs__replay_drop(l, now, "no connection in time");
        return step_line(l, now);
    }
    if (l->connection == JOBS__REPLAY_DIALING)
        return wait_until(l->dial_limit);
    if (now >= end) {
        jobs__replay_give_up(l, now, "the relay could not be reached");
        return wait_until(now);
    }
    if (now < l->dial_at)
        return wait_until(least(l->dial_at, end));
    l->connection = JOBS__REPLAY_DIALING;
    l->dial_limit = least(now + l->options.connect_timeout, end);
    return (struct jobs__step){.want = JOBS__WANT_DIAL, .at = l->dial_limit};
}

static bool step_auth(struct jobs__replay_line *l, int64_t now, struct jobs__step *step)
{
    if (jobs__auth_expire(&l->auth, now) && l->auth.demanded)
        jobs__replay_auth_failed(l, now);
    if (l->over || l->connection != JOBS__REPLAY_UP || l->options.sign_auth == NULL || !jobs__auth_due(&l->auth))
        return false;
    const char *json = NULL;
    size_t len = 0;
    char id[65] = "";
    if (l->options.sign_auth(l->options.context, l->options.auth_url, l->auth.challenge, &json, &len, id) != JOBS_OK) {
        jobs__replay_give_up(l, now, "the AUTH event cannot be signed");
        return false;
    }
    jobs__buffer_text(&l->out, "[\"AUTH\",");
    jobs__buffer_add(&l->out, json, len);
    jobs__buffer_text(&l->out, "]");
    jobs__auth_sent(&l->auth, now, id);
    *step = (struct jobs__step){
        .want = JOBS__WANT_SEND, .bytes = l->out.bytes, .len = l->out.len, .at = now + JOBS__AUTH_PATIENCE};
    return true;
}

/* --- questions --- */

/* No question is answered here: what is in doubt is judged without. */
static void judge_unasked(struct jobs__replay_line *l, int64_t now)
{
    for (uint64_t n = atomic_load(&l->ring->emptied); n < l->taken && l->counts[JOBS__ITEM_DOUBT] > 0; n++)
        if (jobs__replay_item(l, n)->state == JOBS__ITEM_DOUBT)
            jobs__item_absent(l, n, now, false);
}

static bool step_ask(struct jobs__replay_line *l, int64_t now, struct jobs__step *step)
{
    if (l->ask_out || l->counts[JOBS__ITEM_DOUBT] == 0)
        return false;
    if (l->asks_refused) {
        judge_unasked(l, now);
        return false;
    }
    uint64_t emptied = atomic_load(&l->ring->emptied), number = l->doubt_from > emptied ? l->doubt_from : emptied;
    snprintf(l->ask_name, sizeof l->ask_name, "replay-%u", ++l->asked);
    jobs__buffer_format(&l->out, "[\"REQ\",\"%s\",{\"ids\":[", l->ask_name);
    size_t count = 0;
    for (; number < l->taken && count < JOBS__REPLAY_ASK_MAX; number++) {
        if (jobs__replay_item(l, number)->state != JOBS__ITEM_DOUBT)
            continue;
        jobs__buffer_format(&l->out, "%s\"%s\"", count++ > 0 ? "," : "", jobs__ring_at(l->ring, number)->hex);
        jobs__item_move(l, number, JOBS__ITEM_ASKED);
    }
    l->doubt_from = number;
    jobs__buffer_format(&l->out, "],\"limit\":%zu}]", count);
    l->ask_out = true;
    l->ask_limit = now + least(ASK_MS, l->options.timeout);
    *step = (struct jobs__step){.want = JOBS__WANT_SEND, .bytes = l->out.bytes, .len = l->out.len, .at = l->ask_limit};
    return true;
}

static void late_ask(struct jobs__replay_line *l, int64_t now)
{
    if (++l->asks_failed >= ASKS_FAILED)
        l->asks_refused = true;
    jobs__replay_drop(l, now, "the relay does not answer a question by id");
}

/* --- sending --- */

static bool may_send(struct jobs__replay_line *l, int64_t now, int64_t *look)
{
    /* one that wanted AUTH before will say so again, to the first event only */
    bool unknown = l->auth.demanded && l->auth.state != JOBS__AUTH_GOOD && l->options.sign_auth != NULL;
    size_t window = l->alone > 0 || unknown ? 1 : l->window;
    if (l->quiet_at != 0 || l->counts[JOBS__ITEM_OUT] >= window || l->options.ask_only)
        return false;
    if (l->options.rate == 0)
        return true;
    double rate = (double)l->options.rate, most = rate / 50 > 1 ? rate / 50 : 1;
    l->tokens += (double)(now - l->tokens_at) * rate / 1000;
    l->tokens_at = now;
    l->tokens = l->tokens > most ? most : l->tokens;
    if (l->tokens >= 1)
        return true;
    *look = least(*look, now + 1 + (int64_t)((1 - l->tokens) * 1000 / rate));
    return false;
}

/* The first that is to be sent, an older one before one that was never taken up; false when there is none. */
static bool find_ready(struct jobs__replay_line *l, int64_t now, uint64_t filled, uint64_t *number)
{
    uint64_t emptied = atomic_load(&l->ring->emptied);
    if (l->ready_from < emptied)
        l->ready_from = emptied;
    while (l->counts[JOBS__ITEM_READY] == 0 && l->taken < filled)
        take_up(l, now);
    if (l->counts[JOBS__ITEM_READY] == 0)
        return false;
    while (jobs__replay_item(l, l->ready_from)->state != JOBS__ITEM_READY)
        l->ready_from++;
    *number = l->ready_from++;
    return true;
}

static struct jobs__step send(struct jobs__replay_line *l, uint64_t number, int64_t now)
{
    struct jobs__item *item = jobs__replay_item(l, number);
    const struct jobs__buffer *frame = &jobs__ring_at(l->ring, number)->frame;
    jobs__item_move(l, number, JOBS__ITEM_OUT);
    if (l->counts[JOBS__ITEM_OUT] == 1 && l->last_answer < now)
        l->last_answer = now; /* nobody owed us one */
    item->sent = true;
    item->before = (uint16_t)l->counts[JOBS__ITEM_OUT];
    item->answered = l->answered;
    item->sent_at = now;
    item->tries = item->tries < UINT8_MAX ? item->tries + 1 : item->tries;
    item->as_known = l->auth.state == JOBS__AUTH_GOOD;
    l->tokens -= 1;
    return (struct jobs__step){
        .want = JOBS__WANT_SEND, .bytes = frame->bytes, .len = frame->len, .at = l->last_answer + l->options.timeout};
}

/* Nothing was answered for long; or answers to those that were sent before it and after it came, but not to it. A slow
 * relay that keeps some order is neither. */
static bool is_stale(const struct jobs__replay_line *l, const struct jobs__item *item, int64_t now)
{
    int64_t patience = least(OK_MS, l->options.timeout / 2);
    return item->state == JOBS__ITEM_OUT && now - item->sent_at >= patience &&
           (now - l->last_answer >= patience || l->answered - item->answered >= item->before + DISORDER);
}

static void doubt_stale(struct jobs__replay_line *l, int64_t now)
{
    if (now < l->stale_at)
        return;
    l->stale_at = now + least(1000, l->options.timeout / 4);
    for (uint64_t n = atomic_load(&l->ring->emptied); n < l->taken; n++)
        if (is_stale(l, jobs__replay_item(l, n), now)) {
            if (l->swallowed_since == 0)
                l->swallowed_since = jobs__replay_item(l, n)->sent_at;
            jobs__item_doubt(l, n, false);
            l->late++;
        }
}

/* --- all of it --- */

/* With a connection: what is due, or how long there is nothing to do. */
static struct jobs__step step_talk(struct jobs__replay_line *l, int64_t now, uint64_t filled)
{
    struct jobs__step step;
    int64_t look = INT64_MAX;
    uint64_t number;
    bool silent = l->counts[JOBS__ITEM_OUT] == 0 && !l->ask_out && !jobs__auth_pending(&l->auth);
    if (silent)
        l->last_answer = now;
    int64_t end = (l->last_answer > l->pause_until ? l->last_answer : l->pause_until) + l->options.timeout;
    if (now >= end) {
        jobs__replay_give_up(l, now, "the relay does not answer");
        return wait_until(now);
    }
    if (l->ask_out && now >= l->ask_limit) {
        late_ask(l, now);
        return step_line(l, now);
    }
    if (l->close_ask) {
        l->close_ask = false;
        jobs__buffer_format(&l->out, "[\"CLOSE\",\"%s\"]", l->ask_name);
        return (struct jobs__step){.want = JOBS__WANT_SEND, .bytes = l->out.bytes, .len = l->out.len, .at = end};
    }
    if (l->quiet_at != 0 && now >= l->quiet_at) {
        if (l->counts[JOBS__ITEM_OUT] > l->unnamed)
            l->late += l->counts[JOBS__ITEM_OUT] - l->unnamed;
        jobs__items_doubt(l, l->quiet_alone);
        l->quiet_at = 0;
        l->quiet_alone = false;
        l->unnamed = 0;
    }
    doubt_stale(l, now);
    look = least(look, least(end, jobs__auth_deadline(&l->auth)));
    if (l->ask_out)
        look = least(look, l->ask_limit);
    if (l->quiet_at != 0)
        look = least(look, l->quiet_at);
    if (l->counts[JOBS__ITEM_OUT] > 0)
        look = least(look, l->stale_at);
    if (jobs__auth_pending(&l->auth))
        return wait_until(look);
    if (now < l->pause_until)
        return wait_until(least(look, l->pause_until));
    if (l->options.ask_only)
        while (l->taken < filled)
            take_up(l, now);
    if (step_ask(l, now, &step))
        return step;
    if (may_send(l, now, &look) && find_ready(l, now, filled, &number))
        return send(l, number, now);
    if (step_ask(l, now, &step)) /* about one that was just taken up */
        return step;
    bool starving = l->taken == jobs__ring_filled(l->ring) && !atomic_load(&l->ring->ended);
    return wait_until(starving ? least(look, now + LOOK_MS) : look);
}

struct jobs__step jobs__replay_next(struct jobs__engine *engine, int64_t now)
{
    struct jobs__replay_line *l = (struct jobs__replay_line *)engine;
    struct jobs__step step = {.want = JOBS__WANT_WAIT};
    bool ended = atomic_load(&l->ring->ended); /* before the count: what was filled by then is seen */
    uint64_t filled = jobs__ring_filled(l->ring);
    jobs__buffer_clear(&l->out);
    if (undecided(l) == 0)
        l->swallowed_since = 0;
    while (l->taken < filled && (l->over || jobs__ring_at(l->ring, l->taken)->settled))
        take_up(l, now);
    if (!l->over && l->connection == JOBS__REPLAY_UP && step_auth(l, now, &step))
        return step;
    if (!l->over && (undecided(l) > 0 || l->taken < filled || !ended))
        step = l->connection == JOBS__REPLAY_UP ? step_talk(l, now, filled) : step_line(l, now);
    while (l->over && l->taken < filled)
        take_up(l, now);
    if (undecided(l) == 0 && l->taken == filled && ended)
        return (struct jobs__step){.want = JOBS__WANT_DONE};
    return l->over ? wait_until(now + 20) : step;
}
