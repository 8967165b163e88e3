/* session_state.h - the inside of a session, shared by session*.c and nobody else.
 *
 *   session.c          life, and the loop's face
 *   session_next.c     what is wanted next
 *   session_answers.c  what a frame changes
 *   session_line.c     what a lost connection changes; waits and retries
 *   session_ask.c      filters, events found, one question and its end
 *   session_verdict.c  how it ends, and in which words
 */
#ifndef JOBS_SESSION_STATE_H
#define JOBS_SESSION_STATE_H

#include "answer.h"
#include "frame.h"
#include "session.h"

#define SESSION_FOUND_MAX     64                /* events kept of an ask */
#define SESSION_FOUND_BYTES   ((size_t)8 << 20) /* and their bytes */
#define SESSION_EVENTS_MAX    1000              /* EVENT frames looked at, a question */
#define SESSION_NOTICES       8
#define SESSION_ASK_MS        2000  /* for the answer to the ask, and for a connection to ask on */
#define SESSION_QUESTION_MS   5000  /* for the answer to a question by id; less when there is less time */
#define SESSION_OK_MS         10000 /* for an OK, before we ask; never more than half of what is left */
#define SESSION_OK_MIN_MS     500
#define SESSION_MEMBERSHIP_MS 3000 /* how long `restricted:` may mend itself */
#define SESSION_EXPLAIN_MS    2000
#define SESSION_HOPELESS      3 /* dials that fail as if for ever */

enum session_phase {
    PHASE_HOLD,  /* the owner's turn */
    PHASE_QUERY, /* a question is to be sent, or out */
    PHASE_SEND,  /* the event is to be sent */
    PHASE_SENT,  /* it is out */
    PHASE_DONE
};

/* Why we ask. All but the first two are by the event's id. */
enum session_purpose {
    ASK_JOB,       /* our events of this job, before the first EVENT */
    ASK_FETCH,     /* the event of a job check */
    ASK_CONFIRM,   /* OK true was said */
    ASK_RESEND,    /* sent, and nobody said what became of it */
    ASK_REFUSAL,   /* refused, but it may have arrived before */
    ASK_DUPLICATE, /* OK false, `duplicate:` */
    ASK_PURPOSES
};

enum session_outcome {
    FOUND_THERE,
    FOUND_ABSENT,    /* EOSE without it; of an ask: EOSE */
    FOUND_DIFFERENT, /* something else under its id */
    FOUND_REFUSED,   /* CLOSED */
    FOUND_SILENT,    /* no answer in time */
    FOUND_OUTCOMES
};

enum session_line {
    LINE_OFF,
    LINE_DIALING,
    LINE_UP,
    LINE_DROP /* to be hung up */
};

struct session_filter;

struct jobs__session {
    struct jobs__engine engine; /* first */

    char *auth_url;
    char *ask_text;
    struct session_filter *ask;
    char fetch_id[65];
    bool read_back;
    bool keep;
    bool inherited; /* the connection, and no question of ours was answered on it yet */
    struct jobs__carried carried;
    int (*sign_auth)(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                     char id[65]);
    void *context;
    int64_t start, deadline, connect_timeout;
    uint64_t random;
    uint64_t seed; /* of the questions' limits */

    /* the line */
    enum session_line line;
    int64_t dial_at, dial_limit;
    bool dial_failed;
    unsigned hopeless;
    unsigned backoff_step;
    int http_status; /* of the last refused upgrade, 0 when none */
    bool explained, explaining;
    int64_t explain_until;
    bool explain_denied, explain_retryable; /* what give_up is told afterwards */
    bool has_skew;
    int64_t skew;
    struct jobs__auth auth;
    bool auth_was_refused, auth_cannot;
    const char *auth_lacks;   /* what AUTH waited for in vain, in words; NULL: nothing */
    int64_t restricted_since; /* 0: never was */

    /* the talk */
    enum session_phase phase;
    struct {
        enum session_purpose purpose;
        bool out;
        bool authed; /* sent after a good AUTH */
        bool different;
        bool repeated; /* silent once already */
        int64_t at, limit;
        char subscription[16];
        unsigned events;
    } query;
    char close_subscription[16];
    unsigned questions;
    bool decide_due, noticed_early, told_over;
    enum jobs__ask asked;
    struct jobs_event *found[SESSION_FOUND_MAX];
    size_t found_count, found_bytes;

    /* the event */
    const struct jobs_event *event;
    struct jobs__buffer event_frame;
    bool maybe_sent, was_sent;
    bool was_stored, was_absent; /* OK true was said before this session; it was not shown after that */
    bool event_authed;
    unsigned cleared; /* attempts of which the relay said itself that it did not even look */
    int64_t send_at, ok_limit, not_before;
    struct {
        bool is_set;
        bool denied, for_time, kind;
        int window;
    } refusal;

    /* words, each one escaped line */
    char said[JOBS_RELAY_MESSAGE_MAX + 1];   /* the relay's last answer that was no success */
    char ending[JOBS_RELAY_MESSAGE_MAX + 1]; /* how the last connection ended */
    char notices[SESSION_NOTICES][JOBS_RELAY_MESSAGE_MAX + 1];
    size_t notice_count; /* ever; the newest is at (count - 1) % 8 */

    struct jobs__frame_reader reader;
    struct jobs__buffer out; /* the frame handed out by next */
    struct jobs__session_result result;
};

/* --- session_next.c --- */
struct jobs__step jobs__session_next(struct jobs__session *s, int64_t now);
void jobs__session_explained(struct jobs__session *s); /* the words behind an HTTP refusal came, or did not */

/* --- session_line.c --- */
void jobs__session_lost(struct jobs__session *s, int64_t now, const struct jobs__closed *closed, bool dialing);
void jobs__session_redial(struct jobs__session *s, int64_t now, int64_t at); /* hang up; dial again, not before `at` */
int64_t jobs__session_backoff(struct jobs__session *s, int64_t now);         /* ms to wait */
/* When to try again what was refused for now with these words. False when that is too late: then it is over. */
bool jobs__session_retry_at(struct jobs__session *s, int64_t now, const char *text, size_t len, int64_t *at);
/* AUTH failed on this connection: another one, or the end. */
void jobs__session_auth_failed(struct jobs__session *s, int64_t now);
bool jobs__session_still_restricted(struct jobs__session *s, int64_t now, int64_t *at); /* try again at *at */

/* --- session_ask.c --- */
int jobs__session_filter_new(struct session_filter **out, const char *text);
void jobs__session_filter_free(struct session_filter *filter);
void jobs__session_query_begin(struct jobs__session *s, int64_t now, enum session_purpose purpose);
void jobs__session_query_request(struct jobs__session *s, int64_t now); /* writes REQ into s->out */
void jobs__session_query_event(struct jobs__session *s, int64_t now, const struct jobs__frame *frame);
void jobs__session_query_end(struct jobs__session *s, int64_t now, enum session_outcome outcome);
void jobs__session_deliver(struct jobs__session *s, int64_t now); /* the event is given: on with it */

/* --- session_answers.c --- */
void jobs__session_frame(struct jobs__session *s, int64_t now, const char *text, size_t len);
/* Refused for good. by_id: by an OK with our id. What may have arrived before is asked for first. */
void jobs__session_refused(struct jobs__session *s, int64_t now, bool by_id);
void jobs__session_send_at(struct jobs__session *s, int64_t at);

/* --- session_verdict.c --- */
void jobs__session_say(char *out, const char *text,
                       size_t len); /* foreign text as one line of JOBS_RELAY_MESSAGE_MAX */
bool jobs__session_in_doubt(const struct jobs__session *s);
void jobs__session_accept(struct jobs__session *s, enum jobs_read_back read_back, const char *text);
void jobs__session_reject(struct jobs__session *s, enum jobs_read_back read_back);
void jobs__session_unclear(struct jobs__session *s, enum jobs_read_back read_back, const char *own_words);
/* What AUTH waits for, in words, or has waited for in vain; NULL: nothing. */
const char *jobs__session_auth_lacks(const struct jobs__session *s);
/* Nothing more can be done: the verdict that what is known allows. */
void jobs__session_give_up(struct jobs__session *s, bool retryable, bool denied, const char *own_words);

#endif
