/* session_ask.c - questions: the filter of an ask, the events it brings, one question from REQ to its end. */
#include "session_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- filters (NIP-01): every member has to be met by one of its values --- */

struct session_filter {
    char *text;
    struct jobs__json doc;
};

int jobs__session_filter_new(struct session_filter **out, const char *text)
{
    int rc = JOBS_NO_MEMORY;
    struct jobs__json_fault fault;
    struct session_filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL || (filter->text = strdup(text)) == NULL)
        goto fail;
    rc = jobs__json_parse(&filter->doc, filter->text, strlen(filter->text), &fault);
    if (rc == JOBS_OK && filter->doc.values[0].type != JOBS__JSON_OBJECT)
        rc = JOBS_INVALID;
    if (rc != JOBS_OK)
        goto fail;
    *out = filter;
    return JOBS_OK;
fail:
    jobs__session_filter_free(filter);
    return rc;
}

void jobs__session_filter_free(struct session_filter *filter)
{
    if (filter == NULL)
        return;
    jobs__json_free(&filter->doc);
    free(filter->text);
    free(filter);
}

/* Whether the array at index holds the text. */
static bool holds(const struct jobs__json *doc, uint32_t index, const char *text)
{
    uint32_t at = index + 1;
    for (uint32_t i = 0; i < doc->values[index].count; i++, at = doc->values[at].after)
        if (doc->values[at].type == JOBS__JSON_STRING && jobs__json_equals(doc, at, text, strlen(text)))
            return true;
    return false;
}

static bool holds_kind(const struct jobs__json *doc, uint32_t index, uint32_t kind)
{
    uint32_t at = index + 1;
    for (uint32_t i = 0; i < doc->values[index].count; i++, at = doc->values[at].after) {
        int64_t value;
        if (jobs__json_integer(doc, at, &value) && value == (int64_t)kind)
            return true;
    }
    return false;
}

static bool holds_tag(const struct jobs__json *doc, uint32_t index, char name, const struct jobs_event *event)
{
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        if (tag.count >= 2 && tag.values[0][0] == name && tag.values[0][1] == '\0' && holds(doc, index, tag.values[1]))
            return true;
    }
    return false;
}

static bool filter_matches(const struct session_filter *filter, const struct jobs_event *event)
{
    const struct jobs__json *doc = &filter->doc;
    uint32_t at = 1;
    for (uint32_t i = 0; i < doc->values[0].count; i++) {
        uint32_t value = at + 1;
        const char *name = doc->text + doc->values[at].start + 1;
        if (doc->values[value].type == JOBS__JSON_ARRAY) {
            bool met = true;
            if (jobs__json_equals(doc, at, "ids", 3))
                met = holds(doc, value, jobs_event_id(event));
            else if (jobs__json_equals(doc, at, "authors", 7))
                met = holds(doc, value, jobs_event_author(event));
            else if (jobs__json_equals(doc, at, "kinds", 5))
                met = holds_kind(doc, value, jobs_event_kind(event));
            else if (name[0] == '#')
                met = holds_tag(doc, value, name[1], event);
            if (!met)
                return false;
        }
        at = doc->values[value].after;
    }
    return true;
}

/* --- one question --- */

static const char *asked_id(const struct jobs__session *s)
{
    return s->query.purpose == ASK_FETCH ? s->fetch_id : jobs_event_id(s->event);
}

void jobs__session_query_begin(struct jobs__session *s, int64_t now, enum session_purpose purpose)
{
    s->phase = PHASE_QUERY;
    memset(&s->query, 0, sizeof s->query);
    s->query.purpose = purpose;
    s->query.at = now;
}

/* How long an answer is awaited. Where silence is met by asking anew and then by sending, there must be time for both;
 * after an OK the answer is the last that is wanted. */
static int64_t patience(const struct jobs__session *s, int64_t now)
{
    if (s->query.purpose == ASK_JOB)
        return SESSION_ASK_MS;
    int64_t share = (s->deadline - now) / (s->query.repeated ? 3 : 2);
    if (s->query.purpose == ASK_CONFIRM || share > SESSION_QUESTION_MS)
        return SESSION_QUESTION_MS;
    return share < SESSION_OK_MIN_MS ? SESSION_OK_MIN_MS : share;
}

void jobs__session_query_request(struct jobs__session *s, int64_t now)
{
    s->query.out = true;
    s->query.authed = s->auth.state == JOBS__AUTH_GOOD;
    s->query.different = false;
    s->query.events = 0;
    s->query.limit = now + patience(s, now);
    snprintf(s->query.subscription, sizeof s->query.subscription, "jobs-%u", ++s->questions);
    jobs__buffer_format(&s->out, "[\"REQ\",\"%s\",", s->query.subscription);
    if (s->query.purpose == ASK_JOB)
        jobs__buffer_format(&s->out, "%.*s", (int)strlen(s->ask_text) - 1, s->ask_text);
    else
        jobs__buffer_format(&s->out, "{\"ids\":[\"%s\"]", asked_id(s));
    jobs__buffer_format(&s->out, ",\"limit\":%u}]", JOBS__QUESTION_LIMIT(s->seed, s->questions));
}

static bool is_found(const struct jobs__session *s, const char *id)
{
    for (size_t i = 0; i < s->found_count; i++)
        if (strcmp(jobs_event_id(s->found[i]), id) == 0)
            return true;
    return false;
}

/* Keeps one event that answers our question; the session owns it. */
static bool keep(struct jobs__session *s, struct jobs_event *event, size_t len)
{
    if (s->found_count >= SESSION_FOUND_MAX || s->found_bytes + len > SESSION_FOUND_BYTES)
        return false;
    s->found[s->found_count++] = event;
    s->found_bytes += len;
    return true;
}

static void job_event(struct jobs__session *s, const struct jobs__frame *frame)
{
    struct jobs_event *event = NULL;
    if (frame->id[0] == '\0' || is_found(s, frame->id) || s->found_count >= SESSION_FOUND_MAX ||
        jobs_event_parse(&event, frame->event, frame->event_len, NULL) != JOBS_OK)
        return;
    if (filter_matches(s->ask, event) && jobs_event_check(event) == JOBS_EVENT_VALID &&
        keep(s, event, frame->event_len))
        return;
    jobs_event_free(event);
}

/* An event given for a question by id: it, or something that only claims to be it. */
static void event_by_id(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    struct jobs_event *event = NULL;
    if (strcmp(frame->id, asked_id(s)) != 0)
        return;
    int rc = jobs_event_parse(&event, frame->event, frame->event_len, NULL);
    if (rc == JOBS_NO_MEMORY)
        return;
    bool is_it = rc == JOBS_OK && jobs_event_check(event) == JOBS_EVENT_VALID &&
                 (s->query.purpose == ASK_FETCH || jobs_event_same(event, s->event));
    if (is_it && s->query.purpose == ASK_FETCH && keep(s, event, frame->event_len))
        event = NULL;
    jobs_event_free(event);
    if (is_it)
        jobs__session_query_end(s, now, FOUND_THERE);
    else
        s->query.different = true;
}

void jobs__session_query_event(struct jobs__session *s, int64_t now, const struct jobs__frame *frame)
{
    if (s->phase != PHASE_QUERY || !s->query.out || strcmp(frame->subscription, s->query.subscription) != 0 ||
        ++s->query.events > SESSION_EVENTS_MAX)
        return;
    if (s->query.purpose == ASK_JOB)
        job_event(s, frame);
    else
        event_by_id(s, now, frame);
}

/* --- what its end leads to --- */

enum act {
    ACT_DECIDE,
    ACT_ACCEPT,
    ACT_SEND,   /* the same bytes (again) */
    ACT_REJECT, /* as it was refused */
    ACT_REJECT_UNLESS_DOUBT,
    ACT_UNCLEAR,
    ACT_GIVE_UP
};

static const enum act acts[ASK_PURPOSES][FOUND_OUTCOMES] = {
    /* there, absent, different, refused, silent */
    [ASK_JOB] = {ACT_DECIDE, ACT_DECIDE, ACT_DECIDE, ACT_DECIDE, ACT_DECIDE},
    [ASK_FETCH] = {ACT_ACCEPT, ACT_REJECT, ACT_UNCLEAR, ACT_REJECT, ACT_GIVE_UP},
    [ASK_CONFIRM] = {ACT_ACCEPT, ACT_ACCEPT, ACT_UNCLEAR, ACT_ACCEPT, ACT_ACCEPT},
    [ASK_RESEND] = {ACT_ACCEPT, ACT_SEND, ACT_UNCLEAR, ACT_SEND, ACT_SEND},
    [ASK_REFUSAL] = {ACT_ACCEPT, ACT_REJECT, ACT_UNCLEAR, ACT_REJECT_UNLESS_DOUBT, ACT_REJECT_UNLESS_DOUBT},
    [ASK_DUPLICATE] = {ACT_ACCEPT, ACT_UNCLEAR, ACT_UNCLEAR, ACT_UNCLEAR, ACT_UNCLEAR},
};

/* A silent question by id: this connection may be dead, or its bytes be taken for something else's. Once more on
 * another. Not after an OK, which has decided already. */
static bool asks_anew(struct jobs__session *s, int64_t now, enum session_outcome outcome)
{
    enum session_purpose purpose = s->query.purpose;
    if (outcome != FOUND_SILENT || s->query.repeated || purpose == ASK_JOB || purpose == ASK_CONFIRM)
        return false;
    s->query.repeated = true;
    jobs__session_redial(s, now, now + jobs__session_backoff(s, now));
    return true;
}

static const char *why_unclear(const struct jobs__session *s, enum session_outcome outcome)
{
    if (outcome == FOUND_DIFFERENT)
        return "what the relay gives for this id is not this event";
    if (s->query.purpose == ASK_DUPLICATE)
        return outcome == FOUND_ABSENT ? "the relay says it has it, but does not give it out"
                                       : "the relay says it has it, but does not answer for its id";
    return "refused, but an earlier attempt may have arrived and the relay does not say";
}

static enum jobs_read_back read_back_of(enum session_outcome outcome)
{
    static const enum jobs_read_back names[] = {JOBS_CONFIRMED, JOBS_ABSENT, JOBS_DIFFERENT, JOBS_READ_REFUSED,
                                                JOBS_READ_REFUSED};
    return names[outcome];
}

static enum jobs__ask asked_of(enum session_outcome outcome)
{
    return outcome == FOUND_REFUSED  ? JOBS__ASK_REFUSED
           : outcome == FOUND_SILENT ? JOBS__ASK_SILENT
                                     : JOBS__ASK_ANSWERED;
}

void jobs__session_query_end(struct jobs__session *s, int64_t now, enum session_outcome outcome)
{
    enum session_purpose purpose = s->query.purpose;
    if (s->query.different && outcome != FOUND_THERE)
        outcome = FOUND_DIFFERENT;
    if (asks_anew(s, now, outcome))
        return;
    if (outcome != FOUND_REFUSED && s->query.out)
        snprintf(s->close_subscription, sizeof s->close_subscription, "%s", s->query.subscription);
    s->query.out = false;
    s->inherited = false;
    if (purpose != ASK_JOB)
        s->result.absent_at_end = outcome == FOUND_ABSENT;
    s->was_absent = s->was_absent || s->result.absent_at_end;

    switch (acts[purpose][outcome]) {
    case ACT_DECIDE:
        s->asked = asked_of(outcome);
        s->phase = PHASE_HOLD;
        s->decide_due = s->event == NULL || s->found_count > 0;
        break;
    case ACT_ACCEPT:
        jobs__session_accept(s, read_back_of(outcome),
                             purpose == ASK_CONFIRM || purpose == ASK_DUPLICATE ? s->said : "");
        break;
    case ACT_SEND:
        jobs__session_send_at(s, now);
        break;
    case ACT_REJECT:
        if (purpose == ASK_FETCH && outcome == FOUND_ABSENT)
            jobs__session_say(s->said, "the relay does not have it", strlen("the relay does not have it"));
        jobs__session_reject(s, read_back_of(outcome));
        break;
    case ACT_REJECT_UNLESS_DOUBT:
        if (jobs__session_in_doubt(s))
            jobs__session_unclear(s, read_back_of(outcome), why_unclear(s, outcome));
        else
            jobs__session_reject(s, read_back_of(outcome));
        break;
    case ACT_UNCLEAR:
        jobs__session_unclear(s, read_back_of(outcome), why_unclear(s, outcome));
        break;
    case ACT_GIVE_UP:
        jobs__session_give_up(s, true, false, "the relay does not answer questions");
        break;
    }
}

void jobs__session_deliver(struct jobs__session *s, int64_t now)
{
    for (size_t i = 0; i < s->found_count; i++)
        if (jobs_event_same(s->found[i], s->event)) {
            jobs__session_accept(s, JOBS_CONFIRMED, "");
            return;
        }
    if (s->maybe_sent)
        jobs__session_query_begin(s, now, ASK_RESEND);
    else
        jobs__session_send_at(s, now);
}

enum jobs__ask jobs__session_asked(const struct jobs__session *session)
{
    return session->asked == JOBS__ASK_RUNNING && session->noticed_early ? JOBS__ASK_SILENT : session->asked;
}

size_t jobs__session_found_count(const struct jobs__session *session)
{
    return session->found_count;
}

const struct jobs_event *jobs__session_found(const struct jobs__session *session, size_t i)
{
    return session->found[i];
}
