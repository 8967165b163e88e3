/* answer.h - what a relay's words mean. Tables of prefixes and codes; no state.
 *
 * The boolean of an OK decides first; the class is of what was refused.
 */
#ifndef JOBS_ANSWER_H
#define JOBS_ANSWER_H

#include "engine.h"

enum jobs__answer {
    JOBS__ANSWER_FINAL,     /* refused for good */
    JOBS__ANSWER_DUPLICATE, /* it says it has it already */
    JOBS__ANSWER_AUTH,      /* wants AUTH first */
    JOBS__ANSWER_DENIED,    /* restricted: about this key, unless it is about the kind */
    JOBS__ANSWER_KIND,      /* restricted: this relay does not take such kinds */
    JOBS__ANSWER_THROTTLED, /* again, later */
    JOBS__ANSWER_ERROR,     /* again: it could not this time */
    JOBS__ANSWER_NOTHING    /* a NOTICE that says nothing about an event */
};

/* The words without one leading "ERROR: ". */
void jobs__answer_strip(const char **text, size_t *len);

/* What an OK false, or a CLOSED, with these words says. Never NOTHING. */
enum jobs__answer jobs__answer_refusal(const char *text, size_t len);
/* What a NOTICE says about the one event, or the one question, that is out: AUTH, THROTTLED, FINAL or NOTHING. */
enum jobs__answer jobs__answer_notice(const char *text, size_t len);
/* Whether a close with this code refuses for good what was sent last. */
bool jobs__answer_close_is_final(int code);

/* The longest wait named by "retry in 5s" and its like, in seconds, at most a year; 0 when there is none. */
int jobs__answer_retry_in(const char *text, size_t len);
/* Whether a refusal is for the event's created_at. */
bool jobs__answer_speaks_of_time(const char *text, size_t len);
/* The range of seconds that such a refusal names ("+1800sec"), or 0. */
int jobs__answer_window(const char *text, size_t len);

/* What to do after an upgrade refused with this HTTP status. */
enum jobs__http {
    JOBS__HTTP_AGAIN,    /* flaps: retry, explain when it does not mend */
    JOBS__HTTP_DENIED,   /* 401, 403 */
    JOBS__HTTP_REDIRECT, /* never followed */
    JOBS__HTTP_FINAL
};
enum jobs__http jobs__answer_http(int status);

#endif
