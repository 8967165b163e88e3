/* session_model.h - a relay with a hidden truth, and the promise as invariants.
 *
 * model_run plays one whole conversation. A source of choices (random numbers, or a fuzzer's bytes) decides what the
 * relay does and when: dials that fail, frames of every kind in every order, lost lines, jumps of the clock, what of
 * the sent bytes is kept and when. The model knows whether the event is stored, the session does not. After every step
 * the invariants below are held against it; the first that is broken is named.
 *
 * An honest relay answers every attempt at most once, keeps what it said OK true to, does not keep what it refused with
 * its id, and tells the truth when it answers a question. Everything else it may do, and a dishonest one may do that
 * too. Some relays mend at a moment: from then on they do everything right, and what was not refused before has to
 * arrive.
 */
#ifndef SESSION_MODEL_H
#define SESSION_MODEL_H

#include "exact.h"

#include "../session_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_SENDS_MAX 200
#define MODEL_DIALS_MAX 400
#define MODEL_STEPS_MAX 50000
#define MODEL_INHERITED 5U
#define MODEL_ENOUGH    25000 /* ms in which a relay that does everything right is reached, whatever was before */

/* Made once: real events and what a liar makes of one. And what has been seen, so that nobody explores in vain. */
struct model_world {
    unsigned long verdicts[5], mended, left, inherited;
    const struct jobs_event *event, *earlier;
    char *event_json, *earlier_json, *forged_json;
    char event_frame[4096];
    char filter[512];
};

enum model_fate { /* of one attempt */
    FATE_NONE,    /* not kept */
    FATE_NOW,
    FATE_LATER
};

struct model {
    struct model_world *world;
    unsigned (*choose)(void *context, unsigned n); /* 0 … n-1; 0 is the tamest */
    void *context;
    const char *broken; /* the invariant, NULL while all hold */
    bool trace;         /* to stderr, for the person who mends it */

    struct jobs__session *session;
    struct jobs__engine *engine;
    int64_t now, start, deadline;
    bool honest, maybe_sent, given, settled, fetch;

    /* the truth */
    bool stored;
    int64_t stored_at; /* when it will be, or INT64_MAX */
    bool ever_ok, ever_given, refused_for_good;
    int64_t mends_at, given_at;

    /* the line */
    bool dialing, up, explaining;
    bool inherits;   /* the first connection was another session's, which used up MODEL_INHERITED names */
    bool unanswered; /* an attempt on this line awaits its OK */
    enum model_fate fate;
    char subscription[65]; /* the question that is out, "" for none */
    bool by_id;
    bool auth_out;
    char auth_id[65];

    unsigned sends, dials, steps, auths, idle;
};

static inline void model_broke(struct model *m, const char *what)
{
    if (m->broken == NULL)
        m->broken = what;
}

static inline unsigned model_choose(struct model *m, unsigned n)
{
    return m->choose(m->context, n);
}

/* The session does not look into its AUTH event, so that this one need not be signed. */
static inline int model_sign(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                             char id[65])
{
    struct model *m = context;
    (void)url;
    (void)challenge;
    if (model_choose(m, 50) == 49) {
        m->refused_for_good = true;
        return JOBS_BAD_KEY;
    }
    snprintf(m->auth_id, sizeof m->auth_id, "%064x", 0xa0000000U + ++m->auths);
    memcpy(id, m->auth_id, sizeof m->auth_id);
    *json = "{}";
    *len = 2;
    return JOBS_OK;
}

/* --- what the relay does --- */

static inline void model_keep(struct model *m)
{
    m->stored = true;
    m->stored_at = INT64_MAX;
}

static inline void model_advance(struct model *m, int64_t to)
{
    if (m->now < m->mends_at && to > m->mends_at) /* that moment is not slept through */
        to = m->mends_at;
    m->now = to > m->now ? to : m->now;
    if (m->now >= m->stored_at)
        model_keep(m);
}

static inline void model_says(struct model *m, const char *text)
{
    if (m->trace)
        fprintf(stderr, "%6lld <- %.120s\n", (long long)(m->now - m->start), text);
    exact_frame(m->engine, m->now, text, strlen(text));
}

static inline void model_line_is_gone(struct model *m)
{
    m->up = m->dialing = m->unanswered = m->auth_out = false;
    m->subscription[0] = '\0';
}

static inline void model_closes(struct model *m)
{
    static const int codes[] = {1006, 0, 1000, 1002, 1003, 1007, 1008, 1009, 1011, 1012, 4000};
    static const char *const reasons[] = {"", "relay restarting", "restricted: no", "auth-required: x", "\033[31m\n"};
    struct jobs__closed closed = {.ending = JOBS__END_BROKEN};
    unsigned which = model_choose(m, 13);
    if (which > 0 && which < 12) {
        closed.ending = JOBS__END_CLOSED;
        closed.code = codes[which - 1];
        closed.text = reasons[model_choose(m, 5)];
        closed.len = strlen(closed.text);
        m->refused_for_good =
            m->refused_for_good || (closed.code >= 1003 && closed.code <= 1009 && closed.code != 1006);
    } else if (which == 12) {
        closed.ending = JOBS__END_TOO_LARGE;
    }
    model_line_is_gone(m);
    m->engine->ops->closed(m->engine, m->now, &closed);
}

static inline void model_dial_fails(struct model *m)
{
    static const enum jobs__ending kinds[] = {JOBS__END_NO_CONNECT, JOBS__END_BROKEN,        JOBS__END_HTTP,
                                              JOBS__END_NO_ADDRESS, JOBS__END_NOT_WEBSOCKET, JOBS__END_TLS};
    static const int statuses[] = {503, 404, 500, 429, 401, 302, 400, 200};
    struct jobs__closed closed = {.ending = kinds[model_choose(m, 6)]};
    if (closed.ending == JOBS__END_HTTP) {
        unsigned which = model_choose(m, 8);
        closed.status = statuses[which];
        closed.retry_after = model_choose(m, 4) == 3 ? (int)model_choose(m, 100) : 0;
        m->refused_for_good = m->refused_for_good || which >= 4 || closed.retry_after > 3;
    }
    m->refused_for_good = m->refused_for_good || closed.ending == JOBS__END_TLS ||
                          closed.ending == JOBS__END_NO_ADDRESS || closed.ending == JOBS__END_NOT_WEBSOCKET;
    model_line_is_gone(m);
    m->engine->ops->closed(m->engine, m->now, &closed);
}

static inline void model_opens(struct model *m)
{
    struct jobs__opened opened = {.has_date = model_choose(m, 2) == 1, .skew = (int64_t)model_choose(m, 2000) - 1000};
    struct jobs__carried carried = {.questions = MODEL_INHERITED};
    if (m->inherits && m->dials == 1) {
        carried.auth.state = model_choose(m, 2) == 1 ? JOBS__AUTH_GOOD : JOBS__AUTH_NONE;
        opened.carried = (const char *)&carried;
        opened.carried_len = sizeof carried;
        m->world->inherited++;
    }
    m->dialing = false;
    m->up = true;
    m->engine->ops->opened(m->engine, m->now, &opened);
}

static inline void model_answers_event(struct model *m)
{
    static const char *const words[] = {"error: database",
                                        "rate-limited: retry in 1s",
                                        "rate-limited: x",
                                        "auth-required: x",
                                        "restricted: not a member",
                                        "invalid: x",
                                        "invalid: created_at too early",
                                        "blocked: x",
                                        "restricted: unknown kind",
                                        "duplicate: x",
                                        "",
                                        "rate-limited: retry in 100s"};
    static const char *const others[] = {"\"\"", "null", "\"x\""};
    char text[512];
    unsigned which = model_choose(m, 12), form = model_choose(m, 8);
    bool told = false;
    if (form <= 2) { /* OK true */
        if (!m->honest || m->fate != FATE_NONE) {
            if (m->honest || model_choose(m, 2) == 0)
                model_keep(m);
            m->ever_ok = true;
            snprintf(text, sizeof text, "[\"OK\",\"%s\",true,\"%s\"]", jobs_event_id(m->world->event),
                     model_choose(m, 2) == 1 ? "duplicate: have it" : "");
            told = true;
        }
    } else if (form <= 5) {                                       /* OK false with our id */
        bool leaves_it = which <= 2 || which == 9 || which == 11; /* may have kept it nevertheless */
        bool lies = m->fate != FATE_NONE && !leaves_it;
        if (which == 9 && m->honest && !m->stored)
            lies = true;
        if (!m->honest || !lies) {
            snprintf(text, sizeof text, "[\"OK\",\"%s\",false,\"%s\"]", jobs_event_id(m->world->event), words[which]);
            told = true;
        }
    } else if (form == 6) { /* without an id */
        snprintf(text, sizeof text, "[\"OK\",%s,%s,\"%s\"]", others[model_choose(m, 3)],
                 model_choose(m, 3) == 2 ? "true" : "false", words[which]);
        told = true;
    } else {
        static const char *const notices[] = {"rate-limited: retry in 1s",  "rate-limited: x",  "invalid: x",
                                              "ERROR: bad msg: x",          "auth-required: x", "hello",
                                              "rate-limited: retry in 100s"};
        which = model_choose(m, 7);
        snprintf(text, sizeof text, "[\"NOTICE\",\"%s\"]", notices[which]);
        m->refused_for_good = m->refused_for_good || which >= 2;
        model_says(m, text);
        return;
    }
    if (!told)
        return;
    m->refused_for_good = m->refused_for_good || (form > 2 && which >= 3);
    m->unanswered = false;
    model_says(m, text);
}

static inline void model_tells(struct model *m) /* the truth, about the question that is out */
{
    char text[8192];
    snprintf(text, sizeof text, "[\"EVENT\",\"%s\",%s]", m->subscription, m->world->event_json);
    if (m->stored) {
        m->ever_given = true;
        model_says(m, text);
    }
    snprintf(text, sizeof text, "[\"EOSE\",\"%s\"]", m->subscription);
    m->subscription[0] = '\0';
    model_says(m, text);
}

static inline void model_answers_question(struct model *m)
{
    static const char *const words[] = {"error: x",
                                        "rate-limited: x",
                                        "auth-required: x",
                                        "restricted: x",
                                        "invalid: x",
                                        "rate-limited: retry in 100s",
                                        "rate-limited: retry in 1s"};
    char text[8192];
    unsigned form = model_choose(m, 10);
    if (form == 9) {
        snprintf(text, sizeof text, "[\"CLOSED\",\"%s\",\"%s\"]", m->subscription, words[model_choose(m, 7)]);
        m->refused_for_good = true;
    } else if (!m->honest && form >= 6) {
        const char *what = form == 6   ? m->world->forged_json
                           : form == 7 ? m->world->earlier_json
                                       : m->world->event_json;
        m->ever_given = m->ever_given || form == 8;
        snprintf(text, sizeof text, "[\"EVENT\",\"%s\",%s]", m->subscription, what);
        model_says(m, text);
        return;
    } else {
        model_tells(m);
        return;
    }
    m->subscription[0] = '\0';
    model_says(m, text);
}

static inline void model_chatters(struct model *m)
{
    static const char *const frames[] = {
        "[\"NOTICE\",\"hello\"]",
        "[\"EOSE\",\"another\"]",
        "[\"CLOSED\",\"another\",\"error: x\"]",
        "[\"OK\",\"2222222222222222222222222222222222222222222222222222222222222222\",true,\"\"]",
        "[\"OK\",\"\",\"true\",\"\"]",
        "[[[[[[[",
        "",
        "[\"COUNT\"]",
        "[\"NOTICE\",\"rate-limited: x\"]",
        "[\"NOTICE\",\"\\u001b]0;x\\u0007\\n\"]",
    };
    static const char *const late[] = {"[\"EOSE\",\"jobs-3\"]", "[\"CLOSED\",\"jobs-2\",\"error: x\"]"};
    if (m->inherits && m->dials == 1 && model_choose(m, 3) == 2) /* meant for the session before */
        model_says(m, late[model_choose(m, 2)]);
    else
        model_says(m, frames[model_choose(m, 10)]);
}

static inline void model_speaks(struct model *m)
{
    char text[256];
    switch (model_choose(m, 6)) {
    case 0:
    case 1:
        if (m->unanswered)
            model_answers_event(m);
        else if (m->subscription[0] != '\0')
            model_answers_question(m);
        break;
    case 2:
        if (m->subscription[0] != '\0')
            model_answers_question(m);
        break;
    case 3:
        if (m->auth_out) {
            static const char *const words[] = {"auth-required: failed", "restricted: x", "error: x"};
            bool good = model_choose(m, 3) != 2;
            m->auth_out = false;
            m->refused_for_good = m->refused_for_good || !good;
            snprintf(text, sizeof text, "[\"OK\",\"%s\",%s,\"%s\"]", m->auth_id, good ? "true" : "false",
                     good ? "" : words[model_choose(m, 3)]);
            model_says(m, text);
        }
        break;
    case 4:
        snprintf(text, sizeof text, "[\"AUTH\",\"challenge %u\"]", model_choose(m, 100));
        model_says(m, text);
        break;
    default:
        model_chatters(m);
        break;
    }
}

/* A relay that has mended: the right answer to whatever is out. */
static inline void model_serves(struct model *m)
{
    char text[256];
    if (m->auth_out) {
        m->auth_out = false;
        snprintf(text, sizeof text, "[\"OK\",\"%s\",true,\"\"]", m->auth_id);
        model_says(m, text);
    } else if (m->unanswered) {
        m->unanswered = false;
        m->ever_ok = true;
        snprintf(text, sizeof text, "[\"OK\",\"%s\",true,\"%s\"]", jobs_event_id(m->world->event),
                 m->stored ? "duplicate:" : "");
        model_keep(m);
        model_says(m, text);
    } else if (m->subscription[0] != '\0') {
        model_tells(m);
    }
}

/* --- the invariants --- */

static inline void model_receives(struct model *m, const struct jobs__step *step)
{
    const char *event = m->world->event_frame;
    if (!m->up)
        model_broke(m, "sends without a connection");
    if (step->len >= 8 && memcmp(step->bytes, "[\"EVENT\"", 8) == 0) {
        if (step->len != strlen(event) || memcmp(step->bytes, event, step->len) != 0)
            model_broke(m, "sends other bytes than the event's");
        if (!m->given)
            model_broke(m, "sends an event it was not given");
        if (++m->sends > MODEL_SENDS_MAX)
            model_broke(m, "sends without end");
        m->unanswered = true;
        m->fate = (enum model_fate)model_choose(m, 3);
        if (m->fate == FATE_NOW)
            model_keep(m);
        else if (m->fate == FATE_LATER && !m->stored)
            m->stored_at = m->now + 1 + model_choose(m, 4000);
    } else if (step->len >= 6 && memcmp(step->bytes, "[\"REQ\"", 6) == 0) {
        char text[1024];
        snprintf(text, sizeof text, "%.*s", (int)(step->len < 1000 ? step->len : 1000), step->bytes);
        if (sscanf(text, "[\"REQ\",\"%64[^\"]\"", m->subscription) != 1)
            model_broke(m, "asks in another form");
        unsigned number = 0;
        if (m->inherits && m->dials == 1 &&
            (sscanf(m->subscription, "jobs-%u", &number) != 1 || number <= MODEL_INHERITED))
            model_broke(m, "asks under a name that was used on this connection");
    } else if (step->len >= 7 && memcmp(step->bytes, "[\"AUTH\"", 7) == 0) {
        m->auth_out = true;
    } else if (step->len < 8 || memcmp(step->bytes, "[\"CLOSE\"", 8) != 0) {
        model_broke(m, "sends what is no message");
    } else {
        m->subscription[0] = '\0'; /* whatever it was, nobody waits for it any more */
    }
}

static inline bool model_is_one_line(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static inline void model_judges(struct model *m)
{
    const struct jobs__session_result *r = jobs__session_result(m->session);
    bool there = r->verdict == JOBS_ACCEPTED || r->verdict == JOBS_DUPLICATE;
    if (m->trace)
        fprintf(stderr, "       %s, %s: %s\n", jobs_verdict_name(r->verdict), jobs_read_back_name(r->read_back),
                r->message);
    if (!r->done)
        model_broke(m, "is over without a verdict");
    if (there && !m->ever_given && !(m->ever_ok && m->sends > 0))
        model_broke(m, "accepted, but no relay said so");
    if (there && m->honest && !m->stored)
        model_broke(m, "accepted, but not stored");
    if (r->verdict == JOBS_REJECTED && m->honest && m->stored && !m->fetch)
        model_broke(m, "rejected, but stored");
    if (r->verdict == JOBS_NOT_REACHED && m->sends > 0)
        model_broke(m, "unreachable, but sent");
    if (r->verdict == JOBS_REJECTED && r->retryable)
        model_broke(m, "rejected, but retryable");
    if (r->denied && r->verdict != JOBS_REJECTED && r->verdict != JOBS_NOT_REACHED)
        model_broke(m, "denied and not");
    if (r->read_back == JOBS_CONFIRMED && !m->ever_given)
        model_broke(m, "confirmed what was never given");
    if (r->attempts != m->sends)
        model_broke(m, "counts other attempts than were made");
    if (!model_is_one_line(r->message) || !model_is_one_line(r->hint))
        model_broke(m, "the message is not one line");
    bool in_time = m->mends_at <= m->deadline - MODEL_ENOUGH && m->given && m->given_at <= m->mends_at;
    if (in_time && m->now >= m->mends_at && m->honest && !m->refused_for_good && !m->settled && !m->fetch) {
        m->world->mended++;
        if (!there)
            model_broke(m, "the relay did everything right for long enough, and it is not there");
    }
    if (m->now > m->deadline + 60000)
        model_broke(m, "goes on after the deadline");
}

/* The owner's turn: at once, or later, or never; the event, or the end. */
static inline void model_decides(struct model *m)
{
    unsigned what = model_choose(m, 8);
    if (m->given || what == 7)
        return;
    if (what == 6) {
        m->settled = true;
        jobs__session_settle(m->session, JOBS_UNCLEAR, JOBS_NOT_ASKED, "settled by the owner");
        return;
    }
    m->given = true;
    m->given_at = m->now;
    jobs__session_send(m->session, m->world->event, m->maybe_sent);
}

static inline void model_waits(struct model *m, const struct jobs__step *step)
{
    if (step->at <= m->now)
        model_broke(m, "waits for what has passed");
    if (step->at > m->deadline)
        model_broke(m, "waits beyond the deadline");
    int64_t left = step->at > m->now ? step->at - m->now : 1;
    if (m->now >= m->mends_at) {
        bool owes = m->dialing || m->auth_out || m->unanswered || m->subscription[0] != '\0';
        model_advance(m, owes && left > 20 ? m->now + 20 : step->at);
        if (m->dialing)
            model_opens(m);
        else if (m->up)
            model_serves(m);
        return;
    }
    unsigned what = model_choose(m, 10);
    if (what == 0) {
        model_advance(m, step->at);
    } else if (what == 9) { /* stopped and resumed, or slow; something may have come meanwhile */
        model_advance(m, step->at + (int64_t)model_choose(m, 60000));
        if (m->up && model_choose(m, 2) == 1)
            model_speaks(m);
    } else if (what == 8) {
        model_advance(m, m->now + (int64_t)model_choose(m, (unsigned)left + 1));
        if (m->dialing)
            model_dial_fails(m);
        else if (m->up)
            model_closes(m);
    } else {
        model_advance(m, m->now + (int64_t)model_choose(m, (unsigned)(left < 3000 ? left : 3000) + 1));
        if (m->dialing)
            model_opens(m);
        else if (m->explaining)
            m->engine->ops->explained(m->engine, m->now, "why\nnot", model_choose(m, 2) == 1 ? 7 : 0);
        else if (m->up)
            model_speaks(m);
        else
            model_advance(m, step->at);
    }
}

static inline bool model_step(struct model *m) /* false when it is over */
{
    int64_t before = m->now;
    struct jobs__step step = m->engine->ops->next(m->engine, m->now);
    static const char *const wants[] = {"wait", "dial", "send", "hang up", "explain", "decide", "done"};
    if (m->trace)
        fprintf(stderr, "%6lld %s %.*s%s\n", (long long)(m->now - m->start), wants[step.want],
                step.want == JOBS__WANT_SEND ? (int)(step.len < 30 ? step.len : 30) : 0,
                step.want == JOBS__WANT_SEND ? step.bytes : "", m->stored ? " (stored)" : "");
    if (m->engine->ops->doing(m->engine) == NULL)
        model_broke(m, "does not say what it does");
    if (before >= m->deadline && step.want != JOBS__WANT_DONE && step.want != JOBS__WANT_DECIDE)
        model_broke(m, "goes on after the deadline");
    if (++m->steps > MODEL_STEPS_MAX)
        model_broke(m, "does not end");
    switch (step.want) {
    case JOBS__WANT_WAIT:
        m->idle = 0;
        model_waits(m, &step);
        return true;
    case JOBS__WANT_DIAL:
        if (m->up || m->dialing)
            model_broke(m, "dials with a connection there");
        if (step.at > m->deadline)
            model_broke(m, "dials beyond the deadline");
        if (++m->dials > MODEL_DIALS_MAX)
            model_broke(m, "dials without end");
        m->dialing = true;
        if (model_choose(m, 4) == 3 && m->now < m->mends_at)
            model_dial_fails(m);
        break;
    case JOBS__WANT_SEND:
        model_receives(m, &step);
        break;
    case JOBS__WANT_HANG_UP:
        model_line_is_gone(m);
        break;
    case JOBS__WANT_EXPLAIN:
        m->explaining = true;
        break;
    case JOBS__WANT_DECIDE:
        model_decides(m);
        break;
    case JOBS__WANT_DONE:
        if (step.len > 0) {
            enum jobs_verdict verdict = jobs__session_result(m->session)->verdict;
            if (!m->up || m->unanswered || m->auth_out || m->subscription[0] != '\0')
                model_broke(m, "leaves a connection to another on which something is owed");
            if (verdict != JOBS_ACCEPTED && verdict != JOBS_DUPLICATE)
                model_broke(m, "leaves a connection to another that was of no use itself");
            m->world->left++;
        }
        return false;
    }
    if (++m->idle > 20)
        model_broke(m, "never waits");
    return true;
}

/* One conversation. NULL, or the invariant that was broken. */
static inline const char *model_run(struct model_world *world, unsigned (*choose)(void *context, unsigned n),
                                    void *context)
{
    struct model m = {.world = world, .choose = choose, .context = context, .stored_at = INT64_MAX};
    m.trace = getenv("JOBS_MODEL_TRACE") != NULL;
    m.start = m.now = 1000000;
    m.honest = model_choose(&m, 3) != 2;
    m.fetch = model_choose(&m, 12) == 11;
    m.maybe_sent = model_choose(&m, 3) == 2;
    m.inherits = model_choose(&m, 3) == 2;
    m.stored = (m.maybe_sent || m.fetch) && model_choose(&m, 2) == 1;
    const int64_t timeout = 500 + (int64_t)model_choose(&m, 30000);
    m.deadline = m.start + timeout;
    m.mends_at = model_choose(&m, 2) == 1 ? m.start + (int64_t)model_choose(&m, 6000) : INT64_MAX;
    const struct jobs__session_options options = {
        .auth_url = "wss://relay.example",
        .start = m.start,
        .timeout = timeout,
        .connect_timeout = 15000,
        .read_back = model_choose(&m, 3) != 2,
        .seed = model_choose(&m, 1000),
        .maybe_sent = m.maybe_sent,
        .keep = model_choose(&m, 2) == 1,
        .fetch_id = m.fetch ? jobs_event_id(world->event) : NULL,
        .ask_filter = model_choose(&m, 3) != 2 ? world->filter : NULL,
        .sign_auth = model_sign,
        .context = &m,
    };
    if (jobs__session_new(&m.session, &options) != JOBS_OK)
        return "no session";
    m.engine = jobs__session_engine(m.session);
    while (m.broken == NULL && model_step(&m))
        ;
    model_judges(&m);
    world->verdicts[jobs__session_result(m.session)->verdict]++;
    if (m.broken == NULL) { /* what comes after the end changes nothing */
        const struct jobs__session_result before = *jobs__session_result(m.session);
        m.up = true;
        model_speaks(&m);
        model_closes(&m);
        m.engine->ops->next(m.engine, m.now + 1);
        if (memcmp(&before, jobs__session_result(m.session), sizeof before) != 0)
            model_broke(&m, "changes its mind after the end");
    }
    jobs__session_free(m.session);
    return m.broken;
}

/* --- the world --- */

static inline struct jobs_event *model_event(const struct jobs_key *key, const char *content)
{
    const char *h[] = {"h", "0f3c2a9e-5b1d-4c7f-8e6a-1234567890ab"};
    const char *e[] = {"e", "1111111111111111111111111111111111111111111111111111111111111111", "", "reply"};
    const struct jobs_tag tags[] = {{h, 2}, {e, 4}};
    struct jobs_event *event = NULL;
    if (jobs_event_new(&event, 43004, 1700000000, tags, 2, content, strlen(content), NULL) != JOBS_OK ||
        jobs_event_seal(event, key, NULL) != JOBS_OK)
        abort();
    return event;
}

static inline void model_world_make(struct model_world *world)
{
    static const char secret[] = "0000000000000000000000000000000000000000000000000000000000000001";
    struct jobs_key *key = NULL;
    size_t len;
    if (jobs_key_from_text(&key, secret, sizeof secret - 1, NULL) != JOBS_OK)
        abort();
    world->event = model_event(key, "the outcome");
    world->earlier = model_event(key, "an earlier outcome");
    world->event_json = strdup(jobs_event_json(world->event, &len));
    world->earlier_json = strdup(jobs_event_json(world->earlier, &len));
    world->forged_json = strdup(world->event_json);
    if (world->event_json == NULL || world->earlier_json == NULL || world->forged_json == NULL)
        abort();
    *strstr(world->forged_json, "outcome") = 'O';
    snprintf(world->event_frame, sizeof world->event_frame, "[\"EVENT\",%s]", world->event_json);
    snprintf(world->filter, sizeof world->filter, "{\"kinds\":[43004],\"authors\":[\"%s\"],\"#e\":[\"%.64s\"]}",
             jobs_key_public(key), "1111111111111111111111111111111111111111111111111111111111111111");
    jobs_key_free(key);
}

static inline void model_world_free(struct model_world *world)
{
    jobs_event_free((struct jobs_event *)world->event);
    jobs_event_free((struct jobs_event *)world->earlier);
    free(world->event_json);
    free(world->earlier_json);
    free(world->forged_json);
}

#endif
