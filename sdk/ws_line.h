/* ws_line.h - what the parts of the loop share: one line is one engine, its relay, and at most one connection to it.
 *
 * ws.c is the loop: time, what engines want, what they are told. ws_dial.c gets a connection, ws_wire.c sends on it and
 * ends it, ws_kept.c keeps it for another run, ws_events.c is what libwebsockets calls. Nothing else includes this.
 */
#ifndef JOBS_WS_LINE_H
#define JOBS_WS_LINE_H

#include "proxy.h"
#include "resolve.h"
#include "tls.h"
#include "ws.h"

#include <libwebsockets.h>
#include <signal.h>

#define JOBS__MESSAGE_IN_MAX  ((size_t)1024 * 1024)
#define JOBS__MESSAGE_OUT_MAX ((size_t)4 * 1024 * 1024)
#define JOBS__BODY_MAX        ((size_t)4096)  /* of words behind a refusal */
#define JOBS__DOCUMENT_MAX    ((size_t)65536) /* of a document that was asked for */

enum jobs__stage {
    JOBS__STAGE_IDLE,
    JOBS__STAGE_RESOLVING,
    JOBS__STAGE_CONNECTING, /* TCP, to the relay or its proxy */
    JOBS__STAGE_TUNNEL,     /* the proxy's answer to CONNECT */
    JOBS__STAGE_TLS,
    JOBS__STAGE_ANSWER, /* to the upgrade, or to the GET of EXPLAIN */
    JOBS__STAGE_OPEN,
    JOBS__STAGE_CLOSING /* the relay sent its close frame; libwebsockets echoes it */
};

#define JOBS__CARRIED_MAX 2048

/* What is left of a line when its run is over. */
struct jobs__kept_line {
    char *url;
    struct jobs__tls *tls;
    struct lws_vhost *vhost;
    struct lws *lws; /* NULL when the connection is not there any more */
    struct jobs__addresses addresses;
    size_t address;
    int64_t ping_at;
    struct jobs__opened opened;
    char carried[JOBS__CARRIED_MAX];
    size_t carried_len;
};

struct jobs__kept {
    struct lws_context *context; /* NULL until the first run */
    struct lws_vhost *plain;
    struct jobs__kept_line *lines;
    size_t count;
};

struct jobs__wire { /* one line; "wire" so as not to be mistaken for ws.h's jobs__line */
    struct jobs__loop *loop;
    const struct jobs__line *line;
    struct jobs__url url;
    struct jobs__proxy proxy;
    struct jobs__kept_line *kept; /* a connection that waits to be dialled; NULL: none */
    const char *unusable;         /* why this relay cannot be dialled at all, or NULL */
    char complaint[160];
    struct jobs__tls *tls;
    struct lws_vhost *vhost;

    /* what the engine wants */
    bool done;
    bool decided;  /* its owner was asked in this turn */
    bool deciding; /* and its last want was that */
    bool event;    /* it was told something since it was last asked */
    int64_t at;    /* when it wants to be asked again, 0 never */

    /* the connection */
    enum jobs__stage stage;
    bool explaining;    /* this connection is the GET of EXPLAIN */
    const char *accept; /* the type of document that it asks for, static; NULL: whatever comes */
    struct lws *lws;    /* NULL when there is none */
    struct jobs__lookup *lookup;
    struct jobs__addresses addresses;
    size_t address;     /* the one being tried */
    int64_t dial_by;    /* must be up by then; 0 when not dialling */
    int64_t attempt_by; /* then the next address is tried; 0 when it is the last */
    int64_t ping_at, pong_by, closing_by;
    char carried[JOBS__CARRIED_MAX]; /* of an engine that is done and leaves the connection to another */
    size_t carried_len;
    uint64_t come; /* bytes that had arrived when its deadline came */
    bool ping_owed;
    struct jobs__opened opened;
    struct jobs__buffer in;  /* a message in the making, or the body of EXPLAIN */
    struct jobs__buffer out; /* LWS_PRE bytes of room and the frame that waits; empty when none does */

    /* what happened, to be told when libwebsockets has returned */
    bool attempt_failed; /* this address: on to the next */
    bool ended;          /* `closed` holds how */
    bool explained;
    struct jobs__closed closed;
    char text[512];
};

struct jobs__loop {
    struct lws_context *context;
    const struct jobs__loop_options *options;
    struct jobs__wire *wires;
    size_t count;
    struct lws_vhost *plain; /* shared by all direct ws:// lines */
    lws_sorted_usec_list_t alarm;
    bool connecting; /* within lws_client_connect_via_info, whose result says all */
    bool busy;       /* some engine has more to say: do not wait */
    int64_t read_at; /* what had arrived by then has been read: no deadline after it is judged yet */
    int64_t progress_at, started;
    size_t progress_next;
};

/* ws.c: libwebsockets sets SIGPIPE to be ignored for the whole process, and OpenSSL's writes need that: so it is
 * blocked in this thread while connections are served, and the process's own choice is put back. */
struct jobs__pipe_guard {
    struct sigaction action;
    sigset_t mask;
    bool was_pending;
};
void jobs__pipe_guard(struct jobs__pipe_guard *guard);
void jobs__pipe_unguard(const struct jobs__pipe_guard *guard);

/* ws_dial.c */
void jobs__wire_dial(struct jobs__wire *wire, int64_t now, const struct jobs__step *step);
void jobs__wire_dial_on(struct jobs__wire *wire,
                        int64_t now);               /* the look-up ended, an attempt failed or took too long */
void jobs__wire_dial_late(struct jobs__wire *wire); /* dial_by has come */

/* ws_events.c */
extern const struct lws_protocols jobs__wire_protocols[];

/* ws_kept.c: finds what is kept for a wire; the connection is taken when it dials. Afterwards
 * everything that is worth it goes back. */
void jobs__wire_find_kept(struct jobs__wire *wire);
bool jobs__kept_is_late(struct lws *lws, const char *text, size_t len); /* and says nothing new */
void jobs__kept_forget(struct lws *lws); /* something came on it, or it is about to be freed */
bool jobs__wire_take_kept(struct jobs__wire *wire);
void jobs__wire_give_back(struct jobs__wire *wire);

/* ws_wire.c: forgets what a buffer holds; gives its memory back when it is much. */
void jobs__wire_empty(struct jobs__buffer *buffer);
/* Drops the connection, whatever its stage, without telling the engine. Politely: with a close frame; never while
 * libwebsockets is calling us. */
void jobs__wire_drop(struct jobs__wire *wire, bool politely);
/* Drops the connection and notes how it ended; the text is copied. */
void jobs__wire_end(struct jobs__wire *wire, enum jobs__ending ending, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether a frame is still on its way out of this process. */
bool jobs__wire_is_blocked(const struct jobs__wire *wire);
void jobs__wire_send(struct jobs__wire *wire, const struct jobs__step *step);
void jobs__wire_flush(struct jobs__wire *wire);                   /* what is owed, as far as it leaves */
void jobs__wire_keep_alive(struct jobs__wire *wire, int64_t now); /* pings when it is time, ends what does not answer */

#endif
