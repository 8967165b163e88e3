/* replay_verdict.c - one event at one relay: what a refusal means, what a question found, and when it is over. */
#include "replay_line.h"

#include "../core/text.h"
#include "answer.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE_FOR_MEMBERSHIP 3000
#define ERRORS                  6 /* "error: …" so often is an answer */
#define DROPS                   3 /* connections that ended instead of answering one event alone */
#define TRIES                   5

void jobs__item_move(struct jobs__replay_line *l, uint64_t number, enum jobs__item_state state)
{
    struct jobs__item *item = jobs__replay_item(l, number);
    l->counts[item->state]--;
    l->counts[state]++;
    item->state = (uint8_t)state;
    if (state == JOBS__ITEM_READY && number < l->ready_from)
        l->ready_from = number;
    if (state == JOBS__ITEM_DOUBT && number < l->doubt_from)
        l->doubt_from = number;
}

static void say(struct jobs__item *item, const char *text, size_t len)
{
    char line[JOBS_RELAY_MESSAGE_MAX + 1];
    jobs__answer_strip(&text, &len);
    if (len == 0)
        return;
    jobs__text_one_line(line, sizeof line - 1, text, len);
    free(item->message);
    item->message = strdup(line); /* without memory it stays unexplained */
}

static void set_alone(struct jobs__replay_line *l, struct jobs__item *item, bool alone)
{
    if (item->alone != alone)
        l->alone += alone ? (size_t)1 : (size_t)-1;
    item->alone = alone;
}

static void grow_window(struct jobs__replay_line *l)
{
    if (l->window >= l->window_max || l->alone > 0 || (l->slowed && ++l->grown < l->window))
        return;
    l->window++;
    l->grown = 0;
}

void jobs__item_finish(struct jobs__replay_line *l, uint64_t number, enum jobs__item_verdict verdict, int64_t now,
                       const char *text, size_t len)
{
    struct jobs__item *item = jobs__replay_item(l, number);
    say(item, text, len);
    item->verdict = (uint8_t)verdict;
    set_alone(l, item, false);
    jobs__item_move(l, number, JOBS__ITEM_DONE);
    if (verdict == JOBS__ITEM_UNKNOWN)
        l->last_answer = now;
    else
        jobs__replay_heard(l, now);
    l->failures = l->throttled = 0;
    if (verdict == JOBS__ITEM_ACCEPTED || verdict == JOBS__ITEM_DUPLICATE)
        grow_window(l);
}

/* Refused for good: called so only after the relay was asked whether it is there all the same. */
static void refuse(struct jobs__replay_line *l, uint64_t number, const char *text, size_t len, bool named)
{
    struct jobs__item *item = jobs__replay_item(l, number);
    item->refused = true;
    item->weakly = item->weakly || !named || item->tries > 1;
    say(item, text, len);
    if (item->state != JOBS__ITEM_ASKED)
        jobs__item_move(l, number, JOBS__ITEM_DOUBT);
}

/* An answer to an earlier send while the question is out: what the question finds will do. */
static void again(struct jobs__replay_line *l, uint64_t number)
{
    if (jobs__replay_item(l, number)->state == JOBS__ITEM_OUT)
        jobs__item_move(l, number, JOBS__ITEM_READY);
}

static void hold_back(struct jobs__replay_line *l, int64_t until)
{
    if (until > l->pause_until)
        l->pause_until = until;
}

void jobs__item_refused(struct jobs__replay_line *l, uint64_t number, int64_t now, const char *text, size_t len,
                        bool named)
{
    struct jobs__item *item = jobs__replay_item(l, number);
    switch (named ? jobs__answer_refusal(text, len) : JOBS__ANSWER_FINAL) {
    case JOBS__ANSWER_DUPLICATE:
        item->was_there = true;
        refuse(l, number, text, len, named);
        return;
    case JOBS__ANSWER_AUTH:
        if (item->as_known || l->options.sign_auth == NULL) {
            refuse(l, number, text, len, named);
            return;
        }
        say(item, text, len);
        again(l, number);
        jobs__replay_demand_auth(l, now);
        return;
    case JOBS__ANSWER_DENIED: /* membership may be granted a moment later */
        if (l->restricted_since == 0)
            l->restricted_since = now;
        if (now - l->restricted_since >= PATIENCE_FOR_MEMBERSHIP) {
            refuse(l, number, text, len, named);
            return;
        }
        again(l, number);
        hold_back(l, now + jobs__replay_backoff(l, 0));
        return;
    case JOBS__ANSWER_THROTTLED:
        again(l, number);
        jobs__replay_throttled(l, now, text, len);
        return;
    case JOBS__ANSWER_ERROR:
        if (++item->errors >= ERRORS) {
            refuse(l, number, text, len, named);
            return;
        }
        again(l, number);
        hold_back(l, now + jobs__replay_backoff(l, item->errors));
        return;
    case JOBS__ANSWER_KIND:
    case JOBS__ANSWER_FINAL:
    case JOBS__ANSWER_NOTHING:
        refuse(l, number, text, len, named);
        return;
    }
}

void jobs__item_absent(struct jobs__replay_line *l, uint64_t number, int64_t now, bool answered)
{
    static const char removed[] = "the relay calls it a duplicate, but does not return it";
    static const char dropped[] = "the relay ends the connection instead of answering";
    static const char silent[] = "sent several times, and neither answered nor stored";
    struct jobs__item *item = jobs__replay_item(l, number);
    if (l->options.ask_only) {
        if (answered && item->odd)
            jobs__item_finish(l, number, JOBS__ITEM_DIFFERENT, now, "", 0);
        else
            jobs__item_finish(l, number, answered ? JOBS__ITEM_ABSENT : JOBS__ITEM_UNKNOWN, now,
                              answered ? "" : l->message, answered ? 0 : strlen(l->message));
    } else if (item->was_there) {
        jobs__item_finish(l, number, JOBS__ITEM_UNKNOWN, now, removed, answered ? sizeof removed - 1 : 0);
    } else if (item->refused) {
        bool proven = answered || !item->weakly;
        jobs__item_finish(l, number, proven ? JOBS__ITEM_REJECTED : JOBS__ITEM_UNKNOWN, now, "", 0);
    } else if (item->drops >= DROPS) {
        jobs__item_finish(l, number, JOBS__ITEM_UNKNOWN, now, dropped, sizeof dropped - 1);
    } else if (item->tries >= TRIES + item->errors && item->alone) {
        jobs__item_finish(l, number, JOBS__ITEM_UNKNOWN, now, silent, sizeof silent - 1);
        if (l->swallowed_since != 0 && now >= l->swallowed_since + l->options.timeout)
            jobs__replay_give_up(l, now, "the relay answers no event and keeps none");
    } else {
        jobs__item_move(l, number, JOBS__ITEM_READY);
    }
}

/* The last try is one without company. */
void jobs__item_doubt(struct jobs__replay_line *l, uint64_t number, bool alone)
{
    struct jobs__item *item = jobs__replay_item(l, number);
    set_alone(l, item, item->alone || alone || item->tries + 1 >= TRIES + item->errors);
    jobs__item_move(l, number, JOBS__ITEM_DOUBT);
}

void jobs__items_doubt(struct jobs__replay_line *l, bool alone)
{
    uint64_t from = atomic_load(&l->ring->emptied);
    for (uint64_t number = from; number < l->taken && l->counts[JOBS__ITEM_OUT] > 0; number++) {
        if (jobs__replay_item(l, number)->state == JOBS__ITEM_OUT)
            jobs__item_doubt(l, number, alone);
    }
}
