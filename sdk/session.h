/* session.h - the conversation that publishes one event to one relay. No socket, no clock, no allocation it does not
 * bound. docs/delivery.md says what each answer means.
 *
 * Phases: dial → (AUTH when asked) → ask (REQ for our own 43004 of this job) → DECIDE by the publisher → send → OK →
 * read back by id → done. Retries keep the same bytes. Everything unclear is resolved by asking.
 */
#ifndef JOBS_SESSION_H
#define JOBS_SESSION_H

#include "auth.h"
#include "engine.h"

#include <jobs/publish.h>

struct jobs__session;

/* What is left with a good connection for whoever goes on with it: who we are there, and which names of subscriptions
 * are used up ("jobs-1" to "jobs-N"). */
struct jobs__carried {
    struct jobs__auth auth;
    unsigned questions;
};
/* The limit of question n: one of no meaning, and another one each time. @nostr-relay/core answers the same filter from
 * a cache for a second, so that what was stored since would seem absent. */
#define JOBS__QUESTION_LIMIT(seed, n) (100 + (unsigned)((seed) % 400 + (n)) % 400)

struct jobs__session_options {
    const char *auth_url;    /* what the AUTH event names: the URL dialled, or --auth-url */
    int64_t start;           /* now, ms */
    int64_t timeout;         /* ms from start: the whole conversation */
    int64_t connect_timeout; /* ms: each dial */
    bool read_back;          /* ask after OK true */
    uint64_t seed;           /* of the retries' jitter and the questions' limits */
    bool maybe_sent; /* an earlier process may have sent what will be given: as in send, but known in time for an
                        end before that */
    bool was_sent;   /* an earlier process did send it to this relay, or nobody knows: never again NOT_REACHED */
    bool was_stored; /* OK true was said to it, a moment ago on another connection: that is taken back by nothing but
                        something else under its id */
    bool was_absent; /* and then it was not shown */
    /* Fetch one event (job check) instead of publishing: its id, 64 lower-case hex, or NULL. After AUTH as needed, REQ
     * by id; DONE when found, or EOSE came without it. */
    const char *fetch_id;
    int64_t not_before; /* ms: no EVENT before that, as the relay asked; 0: at once */
    bool keep;          /* leaves a good connection to another session for the same relay */
    /* The filter object (JSON text) asked before the first EVENT, or NULL to send at once. */
    const char *ask_filter;
    /* Makes the AUTH event (kind 22242, tags relay and challenge; the attestation when there is one), sealed; returns
     * it as JSON for "AUTH" frames and its id. *json is borrowed until the next call. 0, or a jobs_code. NULL when
     * there is no key. */
    int (*sign_auth)(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                     char id[65]);
    void *context;
};

int jobs__session_new(struct jobs__session **out, const struct jobs__session_options *options);
void jobs__session_free(struct jobs__session *session);
struct jobs__engine *jobs__session_engine(struct jobs__session *session); /* the session's face to the loop */

/* --- the publisher's side: in the loop's `decide` or `turn`, or before the loop runs ---
 *
 * The engine says DECIDE once when there is something to decide, and then waits; the owner may answer at once or later:
 *  - the ask has ended, or there is none to make;
 *  - the relay could not be reached for the ask (a dial failed, or 2 s passed without a connection): SILENT for now, so
 *    that it holds up nobody. The dialling goes on, and the ask is still made before a first EVENT;
 *  - such a late ask found events: the event given meanwhile goes out unless the owner settles the session now;
 *  - it is over (result's `done`) before it was given an event: nothing more comes, DONE follows. */

/* What the ask brought: events that verify and match the filter, at most 64. Borrowed. */
enum jobs__ask {
    JOBS__ASK_RUNNING,  /* not there yet */
    JOBS__ASK_ANSWERED, /* ended by EOSE, or there was nothing to ask */
    JOBS__ASK_REFUSED,  /* CLOSED */
    JOBS__ASK_SILENT    /* 2 s passed, or the connection could not be had */
};
enum jobs__ask jobs__session_asked(const struct jobs__session *session);
size_t jobs__session_found_count(const struct jobs__session *session);
const struct jobs_event *jobs__session_found(const struct jobs__session *session, size_t i);

/* Publish this sealed event, which must live until the session is freed. maybe_sent: an earlier process may have sent
 * it already, so it is asked for by id first, and any refusal is called one only after a read-back without it. A
 * session that was never given an event ends by settle or at its deadline. Nothing happens once it is over. */
void jobs__session_send(struct jobs__session *session, const struct jobs_event *event, bool maybe_sent);
/* End it with this verdict, nothing (more) is sent. */
void jobs__session_settle(struct jobs__session *session, enum jobs_verdict verdict, enum jobs_read_back read_back,
                          const char *message);
/* The user stopped it, or the loop ended early: the verdict as at the deadline. */
void jobs__session_stop(struct jobs__session *session);

struct jobs__session_result {
    bool done;
    enum jobs_verdict verdict;
    enum jobs_read_back read_back;
    bool denied;
    bool retryable;
    bool refused_for_time; /* the refusal speaks of created_at, and nothing says otherwise */
    bool said_stored;      /* OK true or duplicate: was said at least once */
    bool absent_at_end;    /* the last thing the relay said of it was EOSE without it */
    bool in_vain;          /* accepted by what was said before it; the session itself came to nothing */
    int retry_after;
    unsigned attempts;                       /* EVENT frames sent */
    int64_t last_sent;                       /* ms, 0 when never */
    char closed[JOBS_RELAY_MESSAGE_MAX + 1]; /* the relay's words when it last refused a question; why it was in vain */
    char message[JOBS_RELAY_MESSAGE_MAX + 1];
    char hint[256];
};
/* Valid once `done` is set: when the engine is DONE, or after stop.
 *
 * Of a fetch: found is ACCEPTED and CONFIRMED, an EOSE without it REJECTED and ABSENT, a forged one UNCLEAR and
 * DIFFERENT; else NOT_REACHED, or REJECTED and READ_REFUSED when the relay refused to tell.
 * Otherwise: REJECTED is final, and not retryable. What was refused for now (throttled, `error:`) is UNCLEAR. An AUTH
 * or an upgrade (401, 403) that is refused for good is REJECTED and denied. */
const struct jobs__session_result *jobs__session_result(const struct jobs__session *session);

/* The last NOTICEs of the relay (at most 8, oldest first), each one escaped line. A failure's message has them too. */
size_t jobs__session_notice_count(const struct jobs__session *session);
const char *jobs__session_notice(const struct jobs__session *session, size_t i);

#endif
