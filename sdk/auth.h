/* auth.h - NIP-42 with one relay: challenges, our AUTH event, what became of it. No frames, no clock of its own.
 *
 * A relay may challenge first, late, again, or never; may refuse for good or only on this socket; may not answer at
 * all. What all that means for the event is the session's business.
 */
#ifndef JOBS_AUTH_H
#define JOBS_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOBS__CHALLENGE_MAX ((size_t)1024) /* bytes of one we sign; what is longer is no challenge */
#define JOBS__AUTH_PATIENCE 5000           /* ms for an answer to AUTH, and for a challenge that is owed */
#define JOBS__AUTH_FAILURES 2              /* one socket's refusal may be bad luck; two are an answer */

enum jobs__auth_state {
    JOBS__AUTH_NONE,    /* nothing was sent on this connection */
    JOBS__AUTH_OUT,     /* sent, unanswered */
    JOBS__AUTH_GOOD,    /* OK true */
    JOBS__AUTH_REFUSED, /* OK false: on this socket nothing helps any more, but for a newer challenge */
    JOBS__AUTH_SILENT   /* never answered: the relay may not need it */
};

struct jobs__auth {
    /* of this connection */
    enum jobs__auth_state state;
    char challenge[JOBS__CHALLENGE_MAX + 1]; /* the newest */
    bool fresh;                              /* no AUTH has used it yet */
    char id[65];                             /* of the AUTH event that is out, or was answered */
    int64_t limit;                           /* of the wait for its answer */
    unsigned sent;
    int64_t owed_until; /* a challenge is waited for until then; 0: nobody waits */
    /* of all connections */
    bool demanded;     /* an answer said auth-required */
    unsigned failures; /* refused, unanswered, or demanded without a challenge */
};

/* A new connection: the demand and the failures stay. */
void jobs__auth_reset(struct jobs__auth *auth);
/* Remembers a challenge; false when it is none we would sign. */
bool jobs__auth_challenge(struct jobs__auth *auth, const char *text, size_t len);
/* Whether an AUTH event is to be sent now. */
bool jobs__auth_due(const struct jobs__auth *auth);
void jobs__auth_sent(struct jobs__auth *auth, int64_t now, const char id[65]);
void jobs__auth_answered(struct jobs__auth *auth, bool accepted);
/* After a refusal: whether this connection is of no more use. A relay that has not asked for AUTH may do without, and
 * one that has challenged anew gets a second answer. */
bool jobs__auth_is_lost(const struct jobs__auth *auth);
/* Whether something that needs AUTH should wait: for the answer, or for a challenge that is owed. */
bool jobs__auth_pending(const struct jobs__auth *auth);
/* The relay wants AUTH. Returns false when this connection can no longer give it. */
bool jobs__auth_demand(struct jobs__auth *auth, int64_t now);
/* The time has come: true when a wait ended without an answer, which counts as a failure. */
bool jobs__auth_expire(struct jobs__auth *auth, int64_t now);
/* When expire has to be asked again; INT64_MAX when never. */
int64_t jobs__auth_deadline(const struct jobs__auth *auth);

#endif
