/* replay_line.h - the conversation that replays a ring of events to one relay. No socket, no clock, no thread of its
 * own.
 *
 * replay_line.c hears the relay, replay_verdict.c judges single events, replay_next.c says what is wanted next. An
 * event is sent, or sent again, only when it is known not to be there or was never sent; what is in doubt is asked for
 * by id, many at a time.
 */
#ifndef JOBS_REPLAY_LINE_H
#define JOBS_REPLAY_LINE_H

#include "auth.h"
#include "engine.h"
#include "frame.h"
#include "replay_ring.h"

#define JOBS__REPLAY_ASK_MAX 100 /* ids in one question */

struct jobs__replay_line_options {
    const char *auth_url;
    int64_t start;           /* ms of the monotonic clock */
    int64_t timeout;         /* ms since the last answer */
    int64_t connect_timeout; /* ms */
    uint64_t seed;           /* of the retries' jitter */
    size_t window;           /* 0: adaptive */
    size_t rate;             /* a second; 0: none */
    bool ask_only;           /* nothing is sent: whether the events are there, and are what they should be */
    int (*sign_auth)(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                     char id[65]); /* NULL: no key */
    void *context;
};

enum jobs__item_state {
    JOBS__ITEM_READY, /* to be sent (again) */
    JOBS__ITEM_OUT,   /* sent, unanswered */
    JOBS__ITEM_DOUBT, /* to be asked for */
    JOBS__ITEM_ASKED,
    JOBS__ITEM_DONE,
    JOBS__ITEM_STATES
};

enum jobs__item_verdict {
    JOBS__ITEM_NONE, /* settled before it came to a relay */
    JOBS__ITEM_ACCEPTED,
    JOBS__ITEM_DUPLICATE,
    JOBS__ITEM_REJECTED,
    JOBS__ITEM_UNKNOWN,
    JOBS__ITEM_ABSENT,   /* ask_only: not there */
    JOBS__ITEM_DIFFERENT /* ask_only: what the relay returned under its id is not it */
};

/* One event at one relay. */
struct jobs__item {
    uint8_t state, verdict;
    bool sent;      /* at least once */
    bool as_known;  /* the last time after a good AUTH */
    bool alone;     /* is sent while nothing else is out, so that an answer without a name is its own */
    bool refused;   /* for good; `message` says why; asked about before it is said */
    bool weakly;    /* by something that did not name it, or when it had been sent before */
    bool was_there; /* so says a refusal */
    bool found;     /* by a question */
    bool odd;       /* something came under its id that does not hold */
    bool suspected; /* an answer without a name may have been its own, or a late one to another */
    uint8_t tries, errors, drops;
    uint16_t before;   /* so many were out when it was sent */
    uint32_t answered; /* and so many had been answered */
    int64_t sent_at;
    char *message; /* one escaped line, or NULL */
};

enum jobs__replay_connection {
    JOBS__REPLAY_OFF,
    JOBS__REPLAY_DIALING,
    JOBS__REPLAY_UP,
    JOBS__REPLAY_DROP
};

struct jobs__replay_line {
    struct jobs__engine engine; /* first */
    struct jobs__replay_line_options options;
    struct jobs__ring *ring;
    uint64_t random;

    struct jobs__item items[JOBS__RING];
    uint64_t taken;      /* of the ring, so many have an item */
    uint64_t ready_from; /* no READY one lies below */
    uint64_t doubt_from; /* no DOUBT one lies below */
    size_t counts[JOBS__ITEM_STATES];
    size_t alone; /* undecided ones to be sent alone */

    enum jobs__replay_connection connection;
    int64_t dial_at, dial_limit;
    unsigned failures; /* connections in a row without a decision */
    struct jobs__auth auth;

    size_t window, window_max, grown;
    bool slowed;          /* was throttled once: grows by one a window */
    int64_t pause_until;  /* nothing is sent or asked before */
    int64_t shrunk_until; /* throttling until then has been answered for */
    unsigned throttled;   /* in a row, without a decision */
    int64_t quiet_at;     /* all that is out by then is in doubt; nothing is sent before; 0: none */
    bool quiet_alone;
    size_t unnamed; /* refusals without a name since */
    size_t late;    /* answers that may still come on this connection, to what was sent and is no longer waited for */
    int64_t restricted_since;
    double tokens;
    int64_t tokens_at;

    bool ask_out, close_ask, asks_refused;
    unsigned asked, asks_failed;
    char ask_name[24];
    int64_t ask_limit;

    int64_t last_answer, stale_at;
    int64_t swallowed_since; /* events are neither answered nor there, and nothing else was said of any; 0: they are */
    uint32_t answered;       /* events, so far */
    bool over;               /* the relay is given up: what is left is unknown */
    char message[JOBS_RELAY_MESSAGE_MAX + 1];

    struct jobs_verifier *verifier;
    struct jobs__frame_reader reader;
    struct jobs__buffer out;
};

int jobs__replay_line_new(struct jobs__replay_line **out, struct jobs__ring *ring,
                          const struct jobs__replay_line_options *options);
void jobs__replay_line_free(struct jobs__replay_line *line); /* NULL-safe */

/* The item of a taken one. */
static inline struct jobs__item *jobs__replay_item(struct jobs__replay_line *line, uint64_t number)
{
    return &line->items[number % JOBS__RING];
}

/* --- between its files --- */

/* replay_verdict.c */
void jobs__item_move(struct jobs__replay_line *line, uint64_t number, enum jobs__item_state state);
void jobs__item_finish(struct jobs__replay_line *line, uint64_t number, enum jobs__item_verdict verdict, int64_t now,
                       const char *text, size_t len);
/* The relay said no to this one, in these words; `named` when it said whom it meant. */
void jobs__item_refused(struct jobs__replay_line *line, uint64_t number, int64_t now, const char *text, size_t len,
                        bool named);
/* It is not there, says the relay; or, unless `answered`, will not say. */
void jobs__item_absent(struct jobs__replay_line *line, uint64_t number, int64_t now, bool answered);
/* Sent, and not answered: in doubt. `alone`: if it is to go again, then alone. */
void jobs__item_doubt(struct jobs__replay_line *line, uint64_t number, bool alone);
/* All that is out is. */
void jobs__items_doubt(struct jobs__replay_line *line, bool alone);

/* replay_line.c */
void jobs__replay_heard(struct jobs__replay_line *line, int64_t now); /* something about an event */
void jobs__replay_throttled(struct jobs__replay_line *line, int64_t now, const char *text, size_t len);
/* False when the relay was given up. */
bool jobs__replay_demand_auth(struct jobs__replay_line *line, int64_t now);
void jobs__replay_auth_failed(struct jobs__replay_line *line, int64_t now);
int64_t jobs__replay_backoff(struct jobs__replay_line *line, unsigned step);
void jobs__replay_drop(struct jobs__replay_line *line, int64_t now, const char *why);
void jobs__replay_give_up(struct jobs__replay_line *line, int64_t now, const char *why);

/* replay_next.c */
struct jobs__step jobs__replay_next(struct jobs__engine *engine, int64_t now);

#endif
