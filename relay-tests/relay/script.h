/* script.h - what a script file says: whom to answer how, and what its run is expected to bring.
 *
 * The grammar is in relay-tests/hostile/README.md. script.c reads it, script_run.c does it.
 */
#ifndef RELAY_SCRIPT_H
#define RELAY_SCRIPT_H

#include "relay.h"

struct subscription;
struct run;

/* What a rule can be about: its word in a script. REQ is both kinds of REQ. */
#define HEARD(X)                                                                                                       \
    X(HEARD_ACCEPT, "ACCEPT")   /* a connection, before any byte (raw) */                                              \
    X(HEARD_UPGRADE, "UPGRADE") /* the HTTP request */                                                                 \
    X(HEARD_CONNECT, "CONNECT") /* the WebSocket is open */                                                            \
    X(HEARD_AUTH, "AUTH")                                                                                              \
    X(HEARD_EVENT, "EVENT")                                                                                            \
    X(HEARD_ASK, "ASK")   /* a REQ without ids */                                                                      \
    X(HEARD_READ, "READ") /* a REQ with ids */                                                                         \
    X(HEARD_REQ, "REQ")                                                                                                \
    X(HEARD_CLOSE, "CLOSE")

enum heard {
#define X(name, word) name,
    HEARD(X)
#undef X
    HEARD_COUNT
};

/* What a rule can do. The third column is the shape of what follows the word. */
#define ACTIONS(X)                                                                                                     \
    X(DO_VERIFY, "verify", SHAPE_NONE)                                                                                 \
    X(DO_STORE, "store", SHAPE_NONE)                                                                                   \
    X(DO_ANSWER, "answer", SHAPE_NONE)                                                                                 \
    X(DO_OK, "ok", SHAPE_OK)                                                                                           \
    X(DO_NOTICE, "notice", SHAPE_TEXT)                                                                                 \
    X(DO_CLOSED, "closed", SHAPE_TEXT)                                                                                 \
    X(DO_EVENTS, "events", SHAPE_NONE)                                                                                 \
    X(DO_EOSE, "eose", SHAPE_NONE)                                                                                     \
    X(DO_FORGE, "forge", SHAPE_NONE)                                                                                   \
    X(DO_CHALLENGE, "challenge", SHAPE_MAYBE_TEXT)                                                                     \
    X(DO_SEND, "send", SHAPE_JSON)                                                                                     \
    X(DO_TEXT, "text", SHAPE_TEXT)                                                                                     \
    X(DO_CLOSE, "close", SHAPE_CLOSE)                                                                                  \
    X(DO_DROP, "drop", SHAPE_NONE)                                                                                     \
    X(DO_RESET, "reset", SHAPE_NONE)                                                                                   \
    X(DO_SILENCE, "silence", SHAPE_NONE)                                                                               \
    X(DO_DEAF, "deaf", SHAPE_NONE)                                                                                     \
    X(DO_AFTER, "after", SHAPE_TIME)                                                                                   \
    X(DO_STATUS, "status", SHAPE_STATUS)                                                                               \
    X(DO_UPGRADE, "upgrade", SHAPE_UPGRADE)                                                                            \
    X(DO_BYTES, "bytes", SHAPE_TEXT)                                                                                   \
    X(DO_FRAME, "frame", SHAPE_FRAME)                                                                                  \
    X(DO_STYLE, "style", SHAPE_STYLE)

enum what {
#define X(name, word, shape) name,
    ACTIONS(X)
#undef X
};

struct action {
    enum what what;
    size_t times;   /* how often, at least 1 */
    bool ok;        /* of ok; of upgrade: with the right key */
    int64_t number; /* ms of after, code of close or status */
    int retry_after;
    char *text; /* with its placeholders; NULL when there is none */
    size_t len;
    char *location;
    struct frame frame;
};

struct rule {
    enum heard heard;
    size_t from, to; /* which occurrences, from 1; to may be SIZE_MAX */
    size_t line;
    struct action *actions;
    size_t count;
};

struct script {
    const struct profile *profile; /* NULL: not said */
    bool raw;
    int64_t clock; /* seconds ahead of the true time */
    struct rule *rules;
    size_t count;
};

/* Returns JOBS_OK, JOBS_SYSTEM (cannot be read) or JOBS_INVALID: file, line, and what would be right. */
int script_load(struct script **out, const char *path, struct jobs_error *error);
void script_free(struct script *script); /* NULL-safe */
int64_t script_clock(const struct script *script);

/* --- script_run.c --- */

struct run *run_new(const struct script *script);
void run_free(struct run *run); /* NULL-safe */
/* Whether a rule has answered this. A rule that goes on later takes *event or *wanted and leaves NULL. */
bool script_hears(struct peer *peer, enum heard heard, struct jobs_event **event, struct subscription **wanted);
/* The same for an upgrade that libwebsockets handles: fills in the refusal. */
bool script_upgrade(struct relay *relay, struct refusal *refusal);
/* Does what is due; returns when the next thing is, or INT64_MAX. */
int64_t script_turn(struct relay *relay, int64_t now);

#endif
