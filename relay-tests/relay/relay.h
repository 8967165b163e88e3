/* relay.h - the relay without its sockets: peers, what they said, what they are to be told.
 *
 * A transport (server.c on libwebsockets, raw.c on bare sockets) makes a peer for every connection, hands over each
 * text message, asks for the next thing to do, and tells the time. Between two turns of its loop it calls relay_turn,
 * which syncs the store; only then may a peer hear of the events of that turn. All times are milliseconds of the
 * monotonic clock. Nothing in here knows a socket.
 */
#ifndef RELAY_RELAY_H
#define RELAY_RELAY_H

#include "profile.h"
#include "store.h"

struct relay;
struct peer;
struct script;

struct relay_options {
    const struct profile *profile;
    const char *dir;             /* NULL: memory */
    const struct script *script; /* NULL: none */
    bool refuse_jobs;
};

/* What a transport does for the relay. */
struct transport {
    void (*wake)(void *connection);             /* it has something to do: see peer_next */
    void (*read)(void *connection, bool go_on); /* stop or go on reading from it */
};

int relay_new(struct relay **out, const struct relay_options *options, const struct transport *transport,
              struct jobs_error *error);
void relay_free(struct relay *relay);
/* What the relay believes to be called, such as ws://127.0.0.1:40123; the transport knows it once it listens. */
void relay_set_url(struct relay *relay, const char *url);
int64_t relay_unix_time(const struct relay *relay); /* of the relay's clock, which a script may have set wrong */

/* Runs what is due, syncs the store, wakes who may hear of it. Returns the time at which it must be called again, or
 * INT64_MAX. */
int64_t relay_turn(struct relay *relay, int64_t now);
/* The process was told to end: every peer gets the profile's close. */
void relay_stop(struct relay *relay);

/* An HTTP answer instead of a WebSocket. status 0 means: go on with the upgrade. */
struct refusal {
    int status;
    int retry_after;      /* 0: none */
    const char *location; /* or NULL */
    const char *body;     /* or NULL */
};
/* A client asks for the upgrade; host is its Host header. Counts as the script's UPGRADE. */
struct refusal relay_upgrade(struct relay *relay, const char *host);
/* The same on the raw transport, where the script answers the upgrade itself; true when it does. */
bool peer_accepted(struct peer *peer);
bool peer_asks_upgrade(struct peer *peer);
/* A plain GET: the refusal an upgrade got last, or status 0 when there was none. */
struct refusal relay_get(const struct relay *relay);
/* The NIP-11 document; lives as long as the relay. */
const char *relay_information(struct relay *relay);

/* --- a peer --- */

struct peer *peer_new(struct relay *relay, void *connection, int64_t now);
void peer_opened(struct peer *peer); /* the upgrade is through */
void peer_free(struct peer *peer);   /* the connection is gone */
/* One whole text message. */
void peer_message(struct peer *peer, const char *text, size_t len);
size_t peer_frame_max(const struct peer *peer); /* longer messages must not be collected: */
void peer_too_long(struct peer *peer);

enum step_kind {
    STEP_NONE,    /* nothing to do now */
    STEP_TEXT,    /* send this message */
    STEP_BYTES,   /* raw.c only: these bytes as they are */
    STEP_FRAME,   /* raw.c only: this payload in a frame spoiled as frame says */
    STEP_UPGRADE, /* raw.c only: the 101; code 0 with the right key, 1 with a wrong one */
    STEP_CLOSE,   /* close frame with code (0: none) and text */
    STEP_DROP,    /* FIN without a close frame */
    STEP_RESET    /* RST */
};
/* How a frame of the raw transport differs from a proper one. */
struct frame {
    unsigned opcode; /* 1 is text */
    unsigned rsv;    /* the three reserved bits */
    bool more;       /* FIN not set */
    bool masked;     /* as only clients may */
    uint64_t claim;  /* the length that its head says, when not 0 */
    uint64_t cut;    /* only so many bytes of head and payload are sent, when not 0 */
    uint64_t pieces; /* of peer: payload in fragments of so many bytes, when not 0 */
    bool bytewise;   /* every byte in its own segment */
};
struct step {
    enum step_kind kind;
    const char *bytes; /* valid until the next call for this peer */
    size_t len;
    unsigned code;
    struct frame frame;
};
/* What to do next; it is then taken as done. Anything behind CLOSE, DROP or RESET is never asked for. */
struct step peer_next(struct peer *peer);

#endif
