/* feed_model.h - a feed against a relay that keeps its word but nothing else: events of random seconds are published at
 * random moments, pages are capped, questions are refused for a while, lines break at any frame. Whoever chooses
 * (a random number generator, a fuzzer), everything the relay keeps is handed in exactly once.
 */
#ifndef FEED_MODEL_H
#define FEED_MODEL_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../feed.h"

#define MODEL_EVENTS 256
#define MODEL_TODAY  INT64_C(1800000000)

typedef unsigned (*model_choose)(void *context, unsigned n); /* 0 … n - 1 */

struct feed_model {
    model_choose choose;
    void *context;
    bool live;
    struct {
        int64_t created_at;
        unsigned given;
    } events[MODEL_EVENTS];
    unsigned count, goal;
    int64_t now;
    struct jobs__feed *feed;
    struct jobs__engine *engine;
    unsigned page, cap, most_in_second;
    unsigned drops; /* how many there may still be */
    unsigned refusals;
    char live_name[65]; /* "" when there is none */
    bool up;
    unsigned steps;
    char message[JOBS_RELAY_MESSAGE_MAX + 1]; /* the feed's last words */
};

static inline enum jobs__feed_taken model_take(void *context, const char *id, const char *json, size_t len,
                                               bool baseline, int64_t *created_at)
{
    (void)json;
    (void)len;
    (void)baseline;
    struct feed_model *m = context;
    unsigned long number = strtoul(id, NULL, 10);
    if (number >= m->count)
        return JOBS__TAKEN_FOREIGN;
    *created_at = m->events[number].created_at;
    if (m->events[number].given > 0)
        return JOBS__TAKEN_KNOWN;
    m->events[number].given++;
    return JOBS__TAKEN_NEW;
}

static inline unsigned model_in_second(const struct feed_model *m, int64_t second)
{
    unsigned count = 0;
    for (unsigned i = 0; i < m->count; i++)
        count += m->events[i].created_at == second;
    return count;
}

static inline void model_says(struct feed_model *m, const char *text)
{
    if (m->up)
        m->engine->ops->frame(m->engine, m->now, text, strlen(text));
}

static inline void model_event(struct feed_model *m, const char *name, unsigned number)
{
    char text[256];
    snprintf(text, sizeof text, "[\"EVENT\",\"%s\",{\"id\":\"%064u\"}]", name, number);
    model_says(m, text);
}

static inline void model_drop(struct feed_model *m)
{
    const struct jobs__closed closed = {.ending = JOBS__END_BROKEN};
    if (!m->up || m->drops == 0)
        return;
    m->drops--;
    m->up = false;
    m->live_name[0] = '\0';
    m->engine->ops->closed(m->engine, m->now, &closed);
}

static inline void model_maybe_drop(struct feed_model *m, unsigned odds)
{
    if (m->drops > 0 && m->choose(m->context, odds) == 0)
        model_drop(m);
}

/* As old as relays take them; in a stored past further back. No second holds more than the relay can show. */
static inline void model_publish(struct feed_model *m, bool before)
{
    if (m->count == m->goal)
        return;
    int64_t clock = MODEL_TODAY + (m->now - 1000000) / 1000;
    int64_t at = clock - (int64_t)m->choose(m->context, before ? 4000 : 900);
    if (m->choose(m->context, 2) == 0)
        at -= at % 300; /* crowds */
    if (!before && at < clock - 900)
        at = clock - 900;
    while (model_in_second(m, at) >= m->most_in_second)
        at++;
    unsigned number = m->count++;
    m->events[number].created_at = at;
    if (m->live_name[0] != '\0') {
        model_event(m, m->live_name, number);
        model_maybe_drop(m, 20);
    }
}

/* The newest first, as NIP-01 wants. */
static inline void model_answer(struct feed_model *m, const char *name, int64_t since, int64_t until, unsigned limit)
{
    char text[256];
    bool sent[MODEL_EVENTS] = {false};
    unsigned count = limit < m->cap ? limit : m->cap;
    for (unsigned i = 0; i < count && m->up; i++) {
        unsigned best = MODEL_EVENTS;
        for (unsigned n = 0; n < m->count; n++) {
            int64_t at = m->events[n].created_at;
            if (!sent[n] && at >= since && (until == 0 || at <= until) &&
                (best == MODEL_EVENTS || at > m->events[best].created_at))
                best = n;
        }
        if (best == MODEL_EVENTS)
            break;
        sent[best] = true;
        model_event(m, name, best);
        model_maybe_drop(m, 200);
    }
    snprintf(text, sizeof text, "[\"EOSE\",\"%s\"]", name);
    model_says(m, text);
    model_maybe_drop(m, 40);
}

static inline int64_t model_number(const char *text, const char *name)
{
    const char *found = strstr(text, name);
    return found == NULL ? 0 : strtoll(found + strlen(name), NULL, 10);
}

static inline void model_hear(struct feed_model *m, const struct jobs__step *step)
{
    char text[1024], name[65], words[256];
    snprintf(text, sizeof text, "%.*s", (int)step->len, step->bytes);
    if (sscanf(text, "[\"REQ\",\"%64[^\"]\"", name) != 1)
        return; /* CLOSE */
    if (m->refusals > 0 && m->choose(m->context, 8) == 0) {
        static const char *const refusals[] = {"error: busy", "rate-limited: retry in 1s", "restricted: a moment"};
        m->refusals--; /* the last one may be the one that is final when it is said twice */
        snprintf(words, sizeof words, "[\"CLOSED\",\"%s\",\"%s\"]", name,
                 refusals[m->choose(m->context, m->refusals == 0 ? 3 : 2)]);
        model_says(m, words);
        return;
    }
    unsigned limit = (unsigned)model_number(text, "\"limit\":");
    if (m->live && limit == 1)
        memcpy(m->live_name, name, sizeof m->live_name);
    model_answer(m, name, model_number(text, "\"since\":"), model_number(text, "\"until\":"), limit);
    if (m->live_name[0] != '\0' && m->drops > 0 && m->choose(m->context, 30) == 0) { /* it ends the subscription */
        m->drops--;
        snprintf(words, sizeof words, "[\"CLOSED\",\"%s\",\"\"]", m->live_name);
        m->live_name[0] = '\0';
        model_says(m, words);
    }
}

/* Whether the feed has nothing more to say: it waits, on a line, for whatever comes. */
static inline bool model_step(struct feed_model *m)
{
    const struct jobs__opened opened = {0};
    struct jobs__step step = m->engine->ops->next(m->engine, m->now);
    switch (step.want) {
    case JOBS__WANT_DIAL:
        m->up = true;
        m->engine->ops->opened(m->engine, m->now, &opened);
        model_maybe_drop(m, 10);
        return false;
    case JOBS__WANT_SEND:
        model_hear(m, &step);
        return false;
    case JOBS__WANT_HANG_UP:
        m->up = false;
        m->live_name[0] = '\0';
        return false;
    case JOBS__WANT_DONE:
        return true;
    case JOBS__WANT_WAIT:
    case JOBS__WANT_EXPLAIN:
    case JOBS__WANT_DECIDE:
        break;
    }
    if (step.at == INT64_MAX || (m->up && m->live_name[0] != '\0' && step.at - m->now > 9000))
        return true;
    m->now = step.at > m->now ? step.at : m->now;
    return false;
}

/* NULL, or what was broken. */
static inline const char *feed_model_run(struct feed_model *m, model_choose choose, void *context)
{
    *m = (struct feed_model){.choose = choose, .context = context, .now = 1000000};
    m->live = choose(context, 2) == 1;
    m->page = 2 + choose(context, 12);
    m->cap = choose(context, 2) ? 2 + choose(context, m->page * 2) : 100000;
    m->most_in_second = m->cap < 100000 ? m->cap - 1 : 60; /* a full one cannot be told from one cut off */
    m->goal = choose(context, MODEL_EVENTS);
    m->drops = m->live ? choose(context, 30) : choose(context, 3);
    m->refusals = choose(context, 3);
    unsigned stored = m->goal == 0 ? 0 : choose(context, m->goal + 1);
    while (m->count < stored)
        model_publish(m, true);
    if (!m->live)
        m->goal = m->count;
    const struct jobs__feed_options options = {
        .auth_url = "wss://relay.example",
        .start = m->now,
        .unix_start = MODEL_TODAY,
        .give_up = INT64_C(1) << 50,
        .wake = INT64_MAX,
        .timeout = 10000,
        .connect_timeout = 15000,
        .seed = choose(context, 1000),
        .filter = "\"kinds\":[43004]",
        .page = m->page,
        .live = m->live,
        .take = model_take,
        .context = m,
    };
    if (jobs__feed_new(&m->feed, &options) != JOBS_OK)
        return "no memory";
    m->engine = jobs__feed_engine(m->feed);
    const char *broken = NULL;
    for (bool rests = false; broken == NULL && (!rests || m->count < m->goal); m->steps++) {
        rests = model_step(m);
        if (m->live && m->count < m->goal && (rests || choose(context, 6) == 0)) {
            model_publish(m, false);
            m->now += choose(context, 3000);
            model_maybe_drop(m, 15);
            rests = false;
        }
        if (m->steps > 100000)
            broken = "it does not come to an end";
    }
    const struct jobs__feed_result *result = jobs__feed_result(m->feed);
    if (broken == NULL && !result->complete)
        broken = "it does not call itself complete";
    for (unsigned i = 0; broken == NULL && i < m->count; i++)
        if (m->events[i].given != 1)
            broken = "an event was not handed in";
    memcpy(m->message, result->message, sizeof m->message);
    jobs__feed_free(m->feed);
    m->feed = NULL;
    return broken;
}

#endif
