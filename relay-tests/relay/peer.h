/* peer.h - the insides of relay and peer, for relay.c, conversation.c, answers.c, script_run.c and the profiles. */
#ifndef RELAY_PEER_H
#define RELAY_PEER_H

#include "relay.h"

#define SUBSCRIPTION_MAX  64         /* bytes of a subscription's name (NIP-01) */
#define SUBSCRIPTIONS_MAX 64         /* open at once */
#define QUEUE_PAUSE_BYTES (4u << 20) /* with so much unsent, a peer is not read from */
#define QUEUE_PAUSE_ITEMS 10000u
#define QUEUE_BREAK_ITEMS 500000u /* live events for one who does not read: it is dropped */

struct subscription {
    char name[SUBSCRIPTION_MAX + 1];
    size_t name_len;
    struct filter filters[FILTERS_MAX];
    size_t filter_count;
    struct subscription *next;
};

enum out_kind {
    OUT_TEXT,
    OUT_OK, /* a text, too; a profile may let OKs overtake each other */
    OUT_BYTES,
    OUT_FRAME,
    OUT_UPGRADE,
    OUT_CLOSE,
    OUT_DROP,
    OUT_RESET,
    OUT_EVENTS /* the numbers, one message each */
};

struct out {
    struct out *next;
    enum out_kind kind;
    uint32_t mark; /* may leave when so many events are durable */
    unsigned code;
    struct frame frame;
    struct numbers numbers;
    size_t at; /* next of numbers */
    size_t len;
    char bytes[]; /* the message; of OUT_EVENTS the subscription's name */
};

struct peer {
    struct relay *relay;
    void *connection;
    uint64_t serial; /* never used twice */
    struct peer *next;
    bool open;
    char *challenge; /* the newest one sent, or NULL */
    bool authenticated;
    bool auth_failed;
    char author[65]; /* who authenticated, or "" */
    int64_t auth_deadline;
    struct frame style; /* of all its frames, on the raw transport */
    bool deaf;          /* never read from again */
    bool paused;
    bool ending; /* CLOSE, DROP or RESET is in the queue: nothing is queued behind it */
    struct subscription *subscriptions;
    size_t subscription_count;
    struct out *first, *last;
    size_t queued_bytes, queued_items;
    unsigned shuffle; /* state of the OKs' order */
    struct jobs__buffer scratch;
};

struct quota; /* profile_buzz.c's */
void quotas_free(struct quota *quotas);

struct relay {
    struct relay_options options;
    struct transport transport;
    struct store *store;
    struct peer *peers;
    uint64_t serials;
    char *url;
    struct jobs__json doc;
    struct jobs__buffer scratch;
    char said[256]; /* a verdict's text when it is made */
    int64_t now;    /* of this turn */
    struct refusal refused;
    char *information;
    struct run *run; /* the script's state, or NULL */
    struct quota *quotas;
};

/* --- conversation.c: from messages to answers --- */

/* "invalid: …" for a bad id or signature; NULL when both hold. */
const char *relay_check(const struct jobs_event *event);
/* Stores it, if it is new, and offers it to live subscriptions; true when it was new. */
bool relay_store(struct relay *relay, const struct jobs_event *event);
/* Whether the AUTH event answers this peer's challenge for this relay's URL. */
bool relay_auth_holds(struct relay *relay, const struct peer *peer, const struct jobs_event *event);
/* Answers as an ordinary relay does. */
void peer_event(struct peer *peer, const struct jobs_event *event);
void peer_req(struct peer *peer, struct subscription **wanted); /* keeps *wanted, then NULL, when it goes on live */
void peer_auth(struct peer *peer, const struct jobs_event *event);
void peer_greet(struct peer *peer);                                    /* what the profile says on connect */
void peer_query(struct peer *peer, const struct subscription *wanted); /* the EVENTs alone */
void subscription_free(struct subscription *subscription);             /* NULL-safe */
struct peer *relay_peer(struct relay *relay, uint64_t serial);         /* NULL when it is gone */

/* --- answers.c: what goes out --- */

void quote(struct jobs__buffer *out, const char *text, size_t len); /* appends it as a JSON string */
void say_ok(struct peer *peer, const char *id, bool ok, const char *text);
void say_notice(struct peer *peer, const char *text);
void say_closed(struct peer *peer, const char *name, const char *text);
void say_eose(struct peer *peer, const char *name);
void say_challenge(struct peer *peer, const char *challenge, size_t len); /* NULL: a fresh one */
void say_text(struct peer *peer, const char *text, size_t len);
void say_bytes(struct peer *peer, const char *bytes, size_t len);
void say_frame(struct peer *peer, const struct frame *frame, const char *bytes, size_t len);
void say_events(struct peer *peer, const char *name, size_t name_len, struct numbers *numbers); /* takes numbers */
void say_upgrade(struct peer *peer, bool right_key); /* raw: the 101, after which the peer is open */
void say_close(struct peer *peer, unsigned code, const char *text);
void say_end(struct peer *peer, enum out_kind kind);
void peer_free_queue(struct peer *peer);
void peer_set_reading(struct peer *peer);

#endif
