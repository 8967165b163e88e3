/* engine.h - what the loop (ws.c) and a conversation's state machine say to each other.
 *
 * The engine owns no socket and no clock: it is told what happened and asked what it wants. Time is milliseconds of the
 * monotonic clock, always passed in. session.c (publishing) is one engine; the reader and replay have their own.
 *
 * The loop calls `next` after every event, after a SEND has left, and when step.at has come; and again at once when the
 * answer was DIAL, SEND, EXPLAIN, HANG_UP or (after `decide`) DECIDE, so what it answers is done when it returns:
 * - SEND counts as handed over (the loop keeps a copy). While that copy waits for a relay that does not read, `next` is
 *   called only at the `at` of the last step; set it in every step (0: none), or such a relay stops the clock.
 * - DIAL while a connection is there or being made, EXPLAIN while one runs, and HANG_UP without a connection change
 *   nothing; a second DECIDE in the same turn means WAIT.
 * - Every DIAL ends in exactly one `opened` or one `closed`; `opened` is followed by at most one `closed`. EXPLAIN ends
 *   in one `explained`. HANG_UP ends all three without a word.
 */
#ifndef JOBS_ENGINE_H
#define JOBS_ENGINE_H

#include "../core/buffer.h"

#include <stdint.h>

struct jobs__engine; /* each engine's first member is `struct jobs__engine { const struct jobs__engine_ops *ops; }` */

enum jobs__want {
    JOBS__WANT_WAIT,    /* nothing until step.at, or until something happens */
    JOBS__WANT_DIAL,    /* open a connection; must be up by step.at */
    JOBS__WANT_SEND,    /* one text frame; bytes live until the next call on this engine */
    JOBS__WANT_HANG_UP, /* close the connection; the engine is not told of the close it asked for */
    JOBS__WANT_EXPLAIN, /* one plain GET of the relay's URL, done by step.at: the words behind an HTTP refusal; or the
                           document of the type in step.bytes, a static string */
    JOBS__WANT_DECIDE,  /* the engine's owner is to look at it (session.h); the loop calls its `decide` */
    JOBS__WANT_DONE     /* over; the connection may be dropped */
};

struct jobs__step {
    enum jobs__want want;
    const char *bytes;
    size_t len;
    int64_t at;
};
/* DONE with bytes: nothing is owed on this connection in either direction, and another engine may go on with it. The
 * bytes are what that one has to know, and are for nobody else. */

struct jobs__opened {
    bool has_date; /* the upgrade carried a Date header */
    int64_t skew;  /* seconds: our clock minus the relay's, when has_date */
    /* whom it is that we are connected to; texts live during the call */
    const char *address;      /* numeric; the proxy's when there is one */
    const char *tls_protocol; /* "TLSv1.3", NULL without TLS */
    const char *tls_issuer;   /* foreign words, not yet escaped */
    int64_t tls_expires;      /* unix */
    /* the connection is not new: what its last engine left behind with DONE; else NULL */
    const char *carried;
    size_t carried_len;
};

/* How far a connection came that could not be had. */
enum jobs__reached {
    JOBS__REACHED_NOTHING, /* no address is known */
    JOBS__REACHED_ADDRESS, /* one is, but nothing accepts connections there */
    JOBS__REACHED_HOST,    /* connected, but no TLS */
    JOBS__REACHED_SERVER   /* asked for the upgrade, or further */
};

/* Why a connection is not, or no longer, there. */
enum jobs__ending {
    JOBS__END_NO_ADDRESS,    /* the name does not resolve */
    JOBS__END_NO_CONNECT,    /* refused, unreachable, timed out before the upgrade */
    JOBS__END_TLS,           /* the handshake or the certificate */
    JOBS__END_HTTP,          /* the upgrade was answered with `status` */
    JOBS__END_NOT_WEBSOCKET, /* an answer that is no HTTP, a wrong accept key, … */
    JOBS__END_CLOSED,        /* a close frame, `code` */
    JOBS__END_BROKEN,        /* reset, EOF without a close frame, no pong, protocol violation by the relay */
    JOBS__END_TOO_LARGE      /* a message above 1 MiB */
};

struct jobs__closed {
    enum jobs__ending ending;
    enum jobs__reached reached;
    int status;      /* HTTP */
    int code;        /* WebSocket close code, 0 when none */
    int retry_after; /* seconds, 0 when none */
    bool has_date;   /* HTTP refusals carry a Date too */
    int64_t skew;
    const char *text; /* the close reason or what exactly went wrong; foreign bytes, not yet escaped; len bytes */
    size_t len;
};

struct jobs__engine_ops {
    void (*opened)(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened);
    void (*frame)(struct jobs__engine *engine, int64_t now, const char *text, size_t len); /* one whole text message */
    void (*closed)(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed);
    void (*explained)(struct jobs__engine *engine, int64_t now, const char *text, size_t len); /* may be empty */
    struct jobs__step (*next)(struct jobs__engine *engine, int64_t now); /* also the tick: call it when `at` has come */
    const char *(*doing)(const struct jobs__engine *engine);             /* for a waiting person; see jobs_progress */
};

struct jobs__engine {
    const struct jobs__engine_ops *ops;
};

#endif
