/* life.h - all that is known of one job, on one time line: request, acceptance, progress, results, cancellation, error.
 *
 * Parts may be missing and come in any order. Every event was verified by whoever handed it over.
 */
#ifndef JOBS_CLI_LIFE_H
#define JOBS_CLI_LIFE_H

#include "card.h"

struct life_event {
    struct jobs_event *event;
    struct card card;
    const struct life_event *replaced_by; /* a later result of the same author and channel that says so */
};

struct life {
    char job[65];
    struct life_event *events; /* in order of time once life_settle was called */
    size_t count, capacity;
    size_t elsewhere; /* events that name the job in another channel than its request: left out */
    bool has_request;
    const char *channel; /* the request's; NULL when it has none or is not known */
};

/* Copies an event that was verified. JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int life_add(struct life *life, const struct jobs_event *event);
/* Orders what was added and works out what replaces what. JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int life_settle(struct life *life);
void life_free(struct life *life);

JOBS_MUST_USE int life_terminal(FILE *out, const struct life *life, const struct card_look *look);
JOBS_MUST_USE int life_markdown(FILE *out, const struct life *life, const struct card_look *look);
JOBS_MUST_USE int life_html(FILE *out, const struct life *life, const struct card_look *look);
JOBS_MUST_USE int life_json(FILE *out, const struct life *life);
void life_raw(FILE *out, const struct life *life); /* JSON Lines, oldest first */

#endif
