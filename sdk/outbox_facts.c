/* outbox_facts.c - what is known of one event at one relay, and what follows for the event.
 *
 * Pure: no disk, no socket, no clock of its own. Every rule here is a sentence of docs/delivery.md.
 */
#include "outbox.h"

#include <stdio.h>
#include <string.h>

#define SETTLE_SECONDS  60   /* a byte still on its way has arrived, or never will */
#define FUTILE_SECONDS  3600 /* a fresh event refused for its time, twice in a row, is about a clock */
#define RESEND_SECONDS  900  /* such an event may be in time later: its own bytes are tried again this often */
#define RESEND_GIVES_UP 86400

static const char *const state_names[] = {
#define X(state, name) name,
    JOBS__RELAY_STATES(X)
#undef X
};

const char *jobs__relay_state_name(enum jobs__relay_state state)
{
    return state_names[state];
}

bool jobs__relay_state_from_name(enum jobs__relay_state *out, const char *name)
{
    for (size_t i = 0; i < sizeof state_names / sizeof *state_names; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *out = (enum jobs__relay_state)i;
            return true;
        }
    }
    return false;
}

static bool took_it(const struct jobs__fact *fact)
{
    return fact->state == JOBS__RELAY_CONFIRMED || fact->state == JOBS__RELAY_ACCEPTED ||
           fact->state == JOBS__RELAY_UNSEEN;
}

static void mark_unseen(struct jobs__fact *fact, int64_t now)
{
    if (fact->state != JOBS__RELAY_UNSEEN || fact->unseen_since == 0)
        fact->unseen_since = now;
    fact->state = JOBS__RELAY_UNSEEN;
}

static void take_verdict(struct jobs__fact *fact, const struct jobs__session_result *result, int64_t now)
{
    switch (result->verdict) {
    case JOBS_ACCEPTED:
    case JOBS_DUPLICATE:
        fact->refused_for_time = false;
        if (result->read_back == JOBS_ABSENT || result->read_back == JOBS_DIFFERENT)
            mark_unseen(fact, now);
        else
            fact->state = result->read_back == JOBS_CONFIRMED ? JOBS__RELAY_CONFIRMED : JOBS__RELAY_ACCEPTED;
        return;
    case JOBS_UNCLEAR:
        if (result->said_stored && result->read_back == JOBS_DIFFERENT)
            mark_unseen(fact, now);
        break;
    case JOBS_REJECTED:
        /* It said OK once: a later refusal does not take that back; it stays unseen until its day is over. */
        if (fact->state == JOBS__RELAY_UNSEEN)
            break;
        fact->refused_for_time = result->refused_for_time;
        fact->state = result->refused_for_time || result->retryable ? JOBS__RELAY_PENDING : JOBS__RELAY_REJECTED;
        return;
    case JOBS_NOT_REACHED:
        break;
    }
    if (fact->state != JOBS__RELAY_UNSEEN)
        fact->state = JOBS__RELAY_PENDING;
}

void jobs__fact_update(struct jobs__fact *fact, const struct jobs__session_result *result, int64_t now, int64_t mono)
{
    take_verdict(fact, result, now);
    if (fact->state != JOBS__RELAY_UNSEEN)
        fact->unseen_since = 0;
    memcpy(fact->message, result->message, sizeof fact->message);
    fact->read_back = result->read_back;
    fact->attempts += result->attempts;
    fact->said_stored = fact->said_stored || result->said_stored;
    if (result->attempts > 0) {
        int64_t ago = result->last_sent > 0 && mono > result->last_sent ? (mono - result->last_sent) / 1000 : 0;
        fact->last_send = now - ago;
    }
    if (result->absent_at_end)
        fact->absent_at = now;
}

bool jobs__fact_is_open(const struct jobs__fact *fact)
{
    if (fact == NULL || fact->last_send == 0 || fact->state == JOBS__RELAY_REJECTED || fact->refused_for_time)
        return false;
    return fact->absent_at == 0 || fact->absent_at - fact->last_send < SETTLE_SECONDS;
}

void jobs__entry_settle(struct jobs__entry *entry)
{
    bool taken = false;
    for (size_t i = 0; i < entry->fact_count; i++)
        taken = taken || took_it(&entry->facts[i]);
    for (size_t i = 0; taken && i < entry->fact_count; i++) {
        struct jobs__fact *fact = &entry->facts[i];
        if (fact->state == JOBS__RELAY_PENDING && fact->refused_for_time)
            fact->state = JOBS__RELAY_REJECTED;
    }
}

void jobs__entry_mark_superseded(struct jobs__entry *entry, const char *by)
{
    memcpy(entry->superseded_by, by, sizeof entry->superseded_by);
    for (size_t i = 0; i < entry->fact_count; i++) {
        struct jobs__fact *fact = &entry->facts[i];
        if (fact->state == JOBS__RELAY_UNSEEN) {
            fact->state = JOBS__RELAY_ACCEPTED; /* it said OK; nobody waits to see it any more */
            fact->unseen_since = 0;
        } else if (fact->state == JOBS__RELAY_PENDING) {
            fact->state = JOBS__RELAY_REJECTED;
            snprintf(fact->message, sizeof fact->message, "superseded by %s", by);
        }
    }
}

enum jobs_entry_state jobs__entry_state(const struct jobs__entry *entry)
{
    bool taken = false;
    for (size_t i = 0; i < entry->fact_count; i++) {
        const struct jobs__fact *fact = &entry->facts[i];
        if (fact->state == JOBS__RELAY_PENDING || fact->state == JOBS__RELAY_UNSEEN)
            return JOBS_ENTRY_PENDING;
        taken = taken || took_it(fact);
    }
    return taken ? JOBS_ENTRY_SENT : JOBS_ENTRY_REJECTED;
}

/* Refused although it had just been signed: then it is a clock that is wrong, not the event that is old. */
static bool refused_when_fresh(const struct jobs__entry *entry, const struct jobs__fact *fact)
{
    return fact->refused_for_time && fact->last_send - entry->created_at < SETTLE_SECONDS;
}

bool jobs__entry_may_sign_again(const struct jobs__entry *entry, int64_t now)
{
    bool refused = false;
    if (entry->event == NULL || entry->superseded_by[0] != '\0')
        return false;
    for (size_t i = 0; i < entry->fact_count; i++) {
        const struct jobs__fact *fact = &entry->facts[i];
        if (fact->said_stored || took_it(fact) || fact->absent_at == 0)
            return false;
        /* A time in the future is a clock that was set back since: it counts as now. */
        int64_t sent = fact->last_send < now ? fact->last_send : now;
        int64_t absent = fact->absent_at < now ? fact->absent_at : now;
        if (absent - sent < SETTLE_SECONDS)
            return false;
        if (entry->replaces[0] != '\0' && refused_when_fresh(entry, fact) && now - sent < FUTILE_SECONDS)
            return false;
        refused = refused || fact->refused_for_time;
    }
    return refused;
}

bool jobs__fact_is_stale(const struct jobs__entry *entry, const struct jobs__fact *fact, int64_t now)
{
    if (!fact->refused_for_time || fact->state != JOBS__RELAY_PENDING)
        return false;
    bool later = refused_when_fresh(entry, fact) && now - fact->last_send >= RESEND_SECONDS &&
                 now - entry->created_at < RESEND_GIVES_UP;
    return !later;
}
