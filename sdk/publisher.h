/* publisher.h - one event to its relays: the conversations of a delivery run side by side on one loop, what is on the
 * disk is kept in step, and a receipt says what came of it.
 *
 * publisher.c decides what is published (orders), publisher_delivery.c carries it out, publisher_receipt.c reports,
 * publisher_sign.c makes events. Nothing here knows a socket.
 */
#ifndef JOBS_PUBLISHER_H
#define JOBS_PUBLISHER_H

#include "outbox.h"
#include "ws.h"

/* --- options, made sure of --- */

struct jobs__relays {
    char **urls; /* normalised, each once, in the order given */
    size_t count;
    size_t require; /* 1 ... count */
};
/* JOBS_OK, JOBS_USAGE (no relay, a bad URL, more required than named, auth_url with several), JOBS_NO_MEMORY. */
int jobs__relays_resolve(struct jobs__relays *out, const struct jobs_client_options *options, struct jobs_error *error);
void jobs__relays_free(struct jobs__relays *relays);

int64_t jobs__timeout_ms(const struct jobs_client_options *options);
int64_t jobs__connect_timeout_ms(const struct jobs_client_options *options);
bool jobs__stopped(const struct jobs_client_options *options);
/* Of an engine's jitter and limits: random where the system has it at once, else `otherwise`; nothing else hangs on it.
 */
uint64_t jobs__seed(uint64_t otherwise);

/* --- signing (publisher_sign.c) --- */

/* The AUTH event for a challenge, sealed. */
int jobs__sign_auth(struct jobs_event **out, const struct jobs_client_options *options, const char *url,
                    const char *challenge);
/* What an engine's sign_auth needs of its owner: the first member of whatever stands behind the engine's context. */
struct jobs__signer {
    const struct jobs_client_options *options;
    struct jobs_event *last; /* the AUTH event made last; the owner frees it */
};
/* Fits sign_auth of sessions, feeds and replays; context begins with a struct jobs__signer. */
int jobs__signer_sign(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                      char id[65]);
/* The same content and tags with today's time and attestation. JOBS_OK, JOBS_BAD_KEY (its attestation does not allow
 * it), … */
int jobs__sign_again(struct jobs_event **out, const struct jobs_event *old, const struct jobs_client_options *options,
                     int64_t now, struct jobs_error *error);

/* --- one delivery (publisher_delivery.c) --- */

struct jobs__post {                /* one relay of it */
    struct jobs__signer signer;    /* first */
    const char *url;               /* borrowed from the delivery's relays or the entry */
    struct jobs__session *session; /* NULL: not contacted */
    int64_t sent_before;           /* the fact's last_send before this run */
    enum jobs__ask asked;          /* how the ask ended */
    bool decided;                  /* the session said DECIDE */
    bool given;                    /* it got the event, or was settled */
    bool proof_only;               /* asked only, to learn that the event is not there either */
    bool held;                     /* not sent: known to be refused for its time */
    bool conflict;                 /* it holds a different handoff of ours */
    bool recorded;
    struct jobs_relay_result result; /* url NULL; the receipt copies it */
    char hint[256];
};

struct jobs__before {   /* what is known of a relay from earlier in this run */
    bool sent;          /* the event went there, and it has not been seen there */
    bool stored;        /* OK true was said to it */
    bool absent;        /* and then it was not shown */
    bool duplicate;     /* it was called one: somebody had brought it there before */
    int64_t not_before; /* ms: the relay asked not to be sent anything until then; 0: it did not */
};

struct jobs__delivery {
    const struct jobs_client_options *options;
    const struct jobs__relays *relays;
    const struct jobs__before *before; /* as many as there are relays, or NULL */
    struct jobs_receipt *receipt;      /* gets warnings */
    struct jobs_error *error;

    /* A handoff: its folder and entry, or no entry yet. A plain event: event alone. */
    struct jobs__folder *folder;
    struct jobs__entry *entry;
    const struct jobs_event *event;
    const char *channel, *job; /* for the ask */
    bool ask;                  /* ask for our own handoffs of this job first */
    bool must_know;            /* a relay that is slow to connect is awaited for its answer */
    bool maybe_sent;           /* an earlier process may have sent it */
    struct jobs__kept *kept;   /* connections of earlier deliveries; or NULL */
    /* Called once, when every relay was asked and there is no event yet: brings `entry`, or says why not. */
    int (*when_asked)(void *context, struct jobs__delivery *delivery);
    void *context;

    struct jobs__post *posts;
    size_t count;
    bool concluded; /* the asks are over and answered */
    bool fresh;     /* the entry was made by this run: no byte of it has ever left */
    bool facts_failed;
    bool uncounted;               /* the receipt is not to say how many others wait */
    struct jobs__counter counter; /* of them, while relays work on their answers */
    unsigned turns;
    int64_t started;
    int code; /* what ended it early */
};

/* Runs it. Returns JOBS_OK when every relay has a verdict (whatever it is), or what ended it early, nothing sent. Free
 * in any case. */
int jobs__delivery_run(struct jobs__delivery *delivery);
void jobs__delivery_free(struct jobs__delivery *delivery);

/* For when_asked: into the folder with what the relays showed; whether every relay answered. */
int jobs__delivery_adopt(struct jobs__delivery *delivery, bool *all_answered);
/* For when_asked, or before a run without an ask: a fresh sealed event into the folder, as an entry for the delivery's
 * relays and those of the entry it replaces (or NULL). Takes over event in any case. */
int jobs__delivery_store(struct jobs__delivery *delivery, struct jobs_event *event, const struct jobs__entry *replaced);

/* --- the receipt (publisher_receipt.c) --- */

int jobs__receipt_warn(struct jobs_receipt *receipt, const char *format, ...) __attribute__((format(printf, 2, 3)));
int jobs__receipt_warn_of_facts(struct jobs_receipt *receipt); /* they could not be written down */
/* About a relay that took it and does not show it. said: the words with which it would not tell, or "". */
int jobs__receipt_warn_of_reading(struct jobs_receipt *receipt, const struct jobs_relay_result *result,
                                  const char *said);
bool jobs__result_holds(const struct jobs_relay_result *result); /* the relay has it */
/* Fills in relays, warnings, pending; decides accepted and the code by the table of docs/delivery.md. */
int jobs__receipt_conclude(struct jobs_receipt *receipt, const struct jobs__delivery *delivery,
                           struct jobs_error *error);

/* --- the job check (check.c) --- */

struct jobs__request {
    struct jobs_event *event;
    const char *channel; /* borrowed from event */
    const char *author;
    const char *outcome; /* its content, NULL when it cannot be a requested outcome */
    const char *root;    /* the thread's root when the request is a reply, or NULL */
};
/* Fetches the request and makes sure of it; channel is what it must name, or NULL. JOBS_OK, JOBS_NOT_FOUND,
 * JOBS_USAGE (it is another kind or of another channel), or the relays' fault. Free in any case. */
int jobs__request_fetch(struct jobs__request *out, const char *job, const char *channel,
                        const struct jobs__relays *relays, const struct jobs_client_options *options,
                        struct jobs_error *error);
void jobs__request_free(struct jobs__request *request);

#endif
