/* pen.h - what a card consists of, said once for all renderings.
 *
 * A pen_draw tells a pen, in reading order, what there is; the pen escapes and lays out. Strings named
 * `foreign` come from the event; all others are this program's own, ASCII without anything to escape.
 */
#ifndef JOBS_CLI_PEN_H
#define JOBS_CLI_PEN_H

#include "card.h"

enum pen_tone {
    TONE_PLAIN,
    TONE_GOOD,
    TONE_CAUTION,
    TONE_BAD,
    TONE_QUIET
};

enum pen_fact {
    FACT_LINE, /* foreign: one line */
    FACT_TEXT, /* foreign: may have several */
    FACT_CODE, /* foreign: what a machine would read, may have several lines */
    FACT_LINK, /* foreign: a reference; a link when it is a URL with one of the four schemes */
    FACT_OWN   /* our own words or digits */
};

struct pen {
    FILE *out;
    void (*head)(struct pen *pen, enum pen_tone tone, const char *headline, const char *label);
    /* A titled part; note stands right under the title. Only a part that begins with facts must have one. */
    void (*section)(struct pen *pen, enum pen_tone tone, const char *title, const char *note);
    void (*section_end)(struct pen *pen);
    void (*text)(struct pen *pen, const char *foreign);
    void (*markdown)(struct pen *pen, const char *foreign, size_t len);
    /* One of a list: its word ("pull request", "passed") and its foreign title, which may be NULL. */
    void (*item)(struct pen *pen, enum pen_tone tone, const char *word, const char *foreign);
    void (*item_end)(struct pen *pen);
    /* name is "" where the value speaks for itself. Within an item, or in a section of facts. */
    void (*fact)(struct pen *pen, const char *name, enum pen_fact kind, const char *value);
};

/* What is drawn: a card (draw.c), the life of a job (life.c). */
typedef void pen_draw(struct pen *pen, const void *subject, const struct card_look *look);

/* JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int pen_terminal(FILE *out, pen_draw *draw, const void *subject, const struct card_look *look);
JOBS_MUST_USE int pen_markdown(FILE *out, pen_draw *draw, const void *subject, const struct card_look *look);
JOBS_MUST_USE int pen_html(FILE *out, pen_draw *draw, const void *subject, const struct card_look *look);

#endif
