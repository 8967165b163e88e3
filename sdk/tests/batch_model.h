/* batch_model.h - a batch's conversation with a relay that does anything, in any order; what must hold is checked after
 * every step. The choices come from a number, or from a fuzzer's bytes.
 */
#ifndef BATCH_MODEL_H
#define BATCH_MODEL_H

#include "exact.h"
#include "support.h"

#include "../batch.h"
#include "../session.h"

#include <stdio.h>
#include <stdlib.h>

#define BATCH_MODEL_EVENTS 4
#define BATCH_MODEL_STEPS  120

struct batch_world {
    struct jobs_key *key;
    struct jobs_event *events[BATCH_MODEL_EVENTS + 1]; /* the last one is of a job that nobody asks for */
    struct jobs_event *others[BATCH_MODEL_EVENTS];     /* other handoffs for the same jobs */
    char *forged[BATCH_MODEL_EVENTS];                  /* changed content under the id */
};

static inline struct jobs_event *batch_world_event(const struct batch_world *world, size_t job, const char *content)
{
    char id[65];
    snprintf(id, sizeof id, "%064zx", job + 0x1000);
    const char *h[] = {"h", CHANNEL}, *e[] = {"e", id, "", "reply"};
    const struct jobs_tag tags[] = {{h, 2}, {e, 4}};
    struct jobs_event *event = NULL;
    if (jobs_event_new(&event, 43004, 1700000000, tags, 2, content, strlen(content), NULL) != JOBS_OK ||
        jobs_event_seal(event, world->key, NULL) != JOBS_OK)
        abort();
    return event;
}

static inline void batch_world_make(struct batch_world *world)
{
    world->key = NULL;
    if (jobs_key_from_text(&world->key, SECRET_ONE, strlen(SECRET_ONE), NULL) != JOBS_OK)
        abort();
    for (size_t i = 0; i <= BATCH_MODEL_EVENTS; i++) {
        size_t len;
        world->events[i] = batch_world_event(world, i, "{\"outcome\":\"done\"}");
        if (i == BATCH_MODEL_EVENTS)
            break;
        world->others[i] = batch_world_event(world, i, "{\"outcome\":\"not yet\"}");
        world->forged[i] = strdup(jobs_event_json(world->events[i], &len));
        if (world->forged[i] == NULL)
            abort();
        strstr(world->forged[i], "done")[0] = 'D';
    }
}

static inline void batch_world_free(struct batch_world *world)
{
    for (size_t i = 0; i <= BATCH_MODEL_EVENTS; i++)
        jobs_event_free(world->events[i]);
    for (size_t i = 0; i < BATCH_MODEL_EVENTS; i++) {
        jobs_event_free(world->others[i]);
        free(world->forged[i]);
    }
    jobs_key_free(world->key);
}

typedef unsigned batch_choose(void *context, unsigned n);

struct batch_model {
    const struct batch_world *world;
    batch_choose *choose;
    void *context;
    struct jobs__batch_item items[BATCH_MODEL_EVENTS];
    struct jobs__engine *engine;
    int64_t now, deadline;
    bool read_back, dialled, up, over, kept;
    char question[32]; /* the one that is out; "" when none is */
    bool reading;      /* and whether it is by ids */
    bool brought;      /* and brought something */
    bool asked;        /* the last ask was answered by EOSE, and brought nothing */
    unsigned sent[BATCH_MODEL_EVENTS];
    bool accepted[BATCH_MODEL_EVENTS], shown[BATCH_MODEL_EVENTS], there[BATCH_MODEL_EVENTS];
    const char *broken;
};

static inline unsigned batch_pick(struct batch_model *m, unsigned n)
{
    return m->choose(m->context, n);
}

static inline void batch_says(struct batch_model *m, const char *text)
{
    exact_frame(m->engine, m->now, text, strlen(text));
}

static inline void batch_broke(struct batch_model *m, const char *what)
{
    if (m->broken == NULL)
        m->broken = what;
}

/* What it sent, looked at as a relay would. */
static inline void batch_heard(struct batch_model *m, const char *bytes, size_t len)
{
    char *text = strndup(bytes, len);
    size_t json_len;
    if (text == NULL)
        abort();
    if (strncmp(text, "[\"REQ\",\"", 8) == 0) {
        if (m->question[0] != '\0')
            batch_broke(m, "a question while another one is out");
        snprintf(m->question, sizeof m->question, "%.*s", (int)strcspn(text + 8, "\""), text + 8);
        m->reading = strstr(text, "\"ids\"") != NULL;
        m->brought = false;
        for (size_t i = 0; i < BATCH_MODEL_EVENTS; i++) {
            if (!m->reading && m->there[i] && strstr(text, jobs_event_reply(m->world->events[i])) != NULL)
                batch_broke(m, "asks for a job of which it knows");
        }
        if (m->reading && !m->read_back)
            batch_broke(m, "reads back though that is not wanted");
    }
    for (size_t i = 0; i < BATCH_MODEL_EVENTS && strncmp(text, "[\"EVENT\",", 9) == 0; i++) {
        const char *json = jobs_event_json(m->world->events[i], &json_len);
        if (len != json_len + 10 || memcmp(text + 9, json, json_len) != 0)
            continue;
        m->sent[i]++;
        if (!m->asked)
            batch_broke(m, "sent before the relay said what it has");
        if (m->there[i])
            batch_broke(m, "sent though the relay has one for this job");
    }
    free(text);
}

static inline void batch_check(struct batch_model *m)
{
    for (size_t i = 0; i < BATCH_MODEL_EVENTS; i++) {
        const struct jobs__batch_item *item = &m->items[i];
        if (m->sent[i] > 1)
            batch_broke(m, "sent twice");
        if (item->sent != (m->sent[i] == 1))
            batch_broke(m, "what is said to be sent is not what was sent");
        if (item->stored && !(m->sent[i] && m->accepted[i]))
            batch_broke(m, "stored without an OK");
        if (item->confirmed && !(item->stored && m->shown[i]))
            batch_broke(m, "confirmed without being shown");
        if (m->kept && item->sent && !(m->read_back ? item->confirmed : item->stored))
            batch_broke(m, "a connection on which something is owed is kept");
    }
}

static inline void batch_asks(struct batch_model *m)
{
    for (unsigned wants = 0; wants < 20 && !m->over && m->broken == NULL; wants++) {
        struct jobs__step step = m->engine->ops->next(m->engine, m->now);
        switch (step.want) {
        case JOBS__WANT_DIAL:
            if (m->dialled)
                batch_broke(m, "dials twice");
            m->dialled = true;
            break;
        case JOBS__WANT_SEND:
            if (!m->up)
                batch_broke(m, "sends without a connection");
            batch_heard(m, step.bytes, step.len);
            break;
        case JOBS__WANT_DONE:
            m->over = true;
            m->kept = step.len > 0;
            break;
        case JOBS__WANT_WAIT:
            if (step.at > m->deadline || step.at <= m->now)
                batch_broke(m, "waits beyond its deadline, or for what is past");
            return;
        default:
            batch_broke(m, "wants what it has no use for");
        }
    }
}

static inline void batch_relay_does(struct batch_model *m)
{
    static const char *const notices[] = {"hello", "rate-limited: retry in 3s", "invalid: x", "auth-required: y"};
    static const char *const words[] = {"", "duplicate: had it", "rate-limited: z", "error: db", "fine"};
    char text[8192], id[65];
    size_t len;
    size_t i = batch_pick(m, BATCH_MODEL_EVENTS);
    const char *subscription = batch_pick(m, 8) == 0 ? "jobs-1" : m->question;
    bool ours = m->question[0] != '\0' && strcmp(subscription, m->question) == 0;
    snprintf(id, sizeof id, "%s", jobs_event_id(m->world->events[i]));
    switch (batch_pick(m, 10)) {
    case 0:
    case 1:
    case 2: {
        bool good = batch_pick(m, 5) != 0;
        unsigned word = batch_pick(m, 5);
        m->accepted[i] = m->accepted[i] || (good && word != 1 && m->sent[i]);
        snprintf(text, sizeof text, "[\"OK\",\"%s\",%s,\"%s\"]", id, good ? "true" : "false", words[word]);
        batch_says(m, text);
        break;
    }
    case 3:
        snprintf(text, sizeof text, "[\"OK\",\"\",%s,\"x\"]", batch_pick(m, 2) ? "true" : "false");
        batch_says(m, text);
        break;
    case 4:
    case 5: {
        unsigned which = batch_pick(m, 6);
        const char *json = which == 0   ? m->world->forged[i]
                           : which == 1 ? jobs_event_json(m->world->others[i], &len)
                           : which == 2 ? jobs_event_json(m->world->events[BATCH_MODEL_EVENTS], &len)
                                        : jobs_event_json(m->world->events[i], &len);
        if (ours && m->reading && which > 2)
            m->shown[i] = true;
        if (ours && !m->reading && which != 2)
            m->there[i] = true;
        m->brought = m->brought || ours;
        snprintf(text, sizeof text, "[\"EVENT\",\"%s\",%s]", subscription, json);
        batch_says(m, text);
        break;
    }
    case 6:
    case 7:
        m->asked = m->asked || (ours && !m->reading && !m->brought);
        snprintf(text, sizeof text, "[\"EOSE\",\"%s\"]", subscription);
        if (ours)
            m->question[0] = '\0';
        batch_says(m, text);
        break;
    case 8:
        switch (batch_pick(m, 6)) {
        case 0:
            snprintf(text, sizeof text, "[\"CLOSED\",\"%s\",\"error: x\"]", subscription);
            batch_says(m, text);
            break;
        case 1:
            snprintf(text, sizeof text, "[\"NOTICE\",\"%s\"]", notices[batch_pick(m, 4)]);
            batch_says(m, text);
            break;
        case 2:
            batch_says(m, "[\"AUTH\",\"again\"]");
            break;
        case 3:
            batch_says(m, "{]");
            break;
        default:
            break;
        }
        break;
    default:
        m->now += (int64_t[]){1, 10, 700, 2500, 6000, 31000}[batch_pick(m, 6)];
        break;
    }
}

/* NULL, or what was broken. */
static inline const char *batch_model_run(const struct batch_world *world, batch_choose *choose, void *context)
{
    struct batch_model m = {.world = world, .choose = choose, .context = context, .now = 1000, .deadline = 31000};
    struct jobs__batch *batch = NULL;
    const struct jobs__carried carried = {.questions = 3};
    m.read_back = batch_pick(&m, 4) != 0;
    for (size_t i = 0; i < BATCH_MODEL_EVENTS; i++)
        m.items[i].event = world->events[i];
    const struct jobs__batch_options options = {.start = 1000,
                                                .timeout = 30000,
                                                .read_back = m.read_back,
                                                .seed = batch_pick(&m, 400),
                                                .items = m.items,
                                                .count = BATCH_MODEL_EVENTS};
    if (jobs__batch_new(&batch, &options) != JOBS_OK)
        abort();
    m.engine = jobs__batch_engine(batch);
    batch_asks(&m);
    if (batch_pick(&m, 20) != 0) {
        bool known = batch_pick(&m, 20) != 0;
        const struct jobs__opened opened = {.carried = (const char *)&carried,
                                            .carried_len = known ? sizeof carried : 0};
        m.up = true;
        m.engine->ops->opened(m.engine, m.now, &opened);
    }
    for (int i = 0; i < BATCH_MODEL_STEPS && !m.over && m.broken == NULL; i++) {
        batch_asks(&m);
        batch_check(&m);
        if (m.over)
            break;
        if (batch_pick(&m, 60) == 0) {
            static const struct jobs__closed closed = {.ending = JOBS__END_BROKEN, .text = ""};
            m.up = false;
            m.engine->ops->closed(m.engine, m.now, &closed);
        } else if (m.up) {
            batch_relay_does(&m);
        } else {
            m.now += 1000;
        }
    }
    m.now = m.now > m.deadline ? m.now : m.deadline;
    for (int i = 0; i < 3; i++) /* a CLOSE may come before the end */
        batch_asks(&m);
    if (!m.over)
        batch_broke(&m, "goes on behind its deadline");
    batch_check(&m);
    jobs__batch_free(batch);
    return m.broken;
}

#endif
