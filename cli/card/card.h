/* card.h - one event as people read it: a card, or its content as the Markdown text it always was. Never half a card.
 *
 * All of it is foreign; every rendering escapes it for where it goes. A rendering is written to a FILE, which says
 * itself whether it could be.
 */
#ifndef JOBS_CLI_CARD_H
#define JOBS_CLI_CARD_H

#include <jobs/event.h>

#include <jansson.h>

#include <stdio.h>

struct card {
    const struct jobs_event *event; /* borrowed */
    struct jobs_handoff *handoff;   /* NULL: the fallback */
    const char *reason;             /* the fallback's, when it is not the content's fault; NULL: see `broken` */
    struct jobs_report broken;      /* the fallback's: the rules that the content breaks */
    struct jobs_report left_out;    /* additive fields that are not shown, with their rules */
    const char *hints[2];           /* sentences about hint tags that say otherwise than the content */
    size_t hint_count;
};

/* Makes sure of the event's id and signature, then reads its content. Returns JOBS_OK (card or fallback),
 * JOBS_INVALID (the event does not hold: nothing of it is to be shown) or JOBS_NO_MEMORY. Closed by the caller in any
 * case; the event must live as long. */
JOBS_MUST_USE int card_open(struct card *card, const struct jobs_event *event, struct jobs_error *error);
/* The same of an event that whoever handed it over has verified. JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int card_open_verified(struct card *card, const struct jobs_event *event);
void card_close(struct card *card);

/* "Job completed"; of a fallback what its kind says it is: "Job result", "Job request", … "Event". Static. */
const char *card_headline(const struct card *card);
/* "Completed without an artifact"; of a fallback "Not structured". Static. */
const char *card_label(const struct card *card);

enum {
    CARD_WIDTH_MIN = 40,
    CARD_WIDTH_MAX = 200
};

struct card_look {
    size_t width; /* of a terminal: columns, clamped to the limits above */
    bool colours; /* of a terminal */
    bool reason;  /* why it is no card, or what was left out of it */
};

/* JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int card_terminal(FILE *out, const struct card *card, const struct card_look *look);
JOBS_MUST_USE int card_markdown(FILE *out, const struct card *card, const struct card_look *look);
JOBS_MUST_USE int card_html(FILE *out, const struct card *card, const struct card_look *look); /* a whole page */
/* One line: what the feed says of it, then the payload as it is, or the content. */
JOBS_MUST_USE int card_json(FILE *out, const struct card *card, const struct card_look *look);
/* The event as one line of JSON, its own bytes but for characters that could change a terminal, which are escaped. */
void card_raw(FILE *out, const struct jobs_event *event);

/* JSON in which strings alone hold what is not ASCII, with such characters escaped. */
void card_put_json(FILE *out, const char *json, size_t len);

/* An object up to the colon of its last member: the facts, which it takes over, then the name. The caller writes the
 * value, its numbers as they were spelled, and the brace. JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int card_put_facts(FILE *out, json_t *facts, const char *name);

/* "2026-11-30 21:04:05 UTC" into out (32 bytes); returns out. */
char *card_time(char out[32], int64_t seconds);

#endif
