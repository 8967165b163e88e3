/* wrap.h - text in lines of a terminal: words, East Asian text and long addresses, behind prefixes, in colours. */
#ifndef JOBS_CLI_WRAP_H
#define JOBS_CLI_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum wrap_style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_RED,
    STYLE_GREEN,
    STYLE_YELLOW,
    STYLE_LINK,
    STYLE_CODE,
    STYLE_ITALIC,
    STYLE_STRUCK
};

/* What stands before each line: `first` once, then `rest`. Our own text. */
struct wrap_prefix {
    char first[64];
    char rest[64];
    enum wrap_style style;
    bool used;
};

enum {
    WRAP_PREFIXES_MAX = 24,
    WRAP_NARROWEST = 8 /* columns that are left to text: prefixes that would take them are not shown */
};

struct wrap {
    FILE *out;
    size_t width;
    bool colours;
    struct wrap_prefix prefixes[WRAP_PREFIXES_MAX];
    size_t depth;   /* may be more than there is room for: those are not shown */
    bool began;     /* a line was written */
    bool blank;     /* the last one was empty */
    bool wants_gap; /* an empty line before the next */
    struct wrap_cell *cells;
    size_t count, capacity;
    char *bytes;
    size_t len, size;
    bool failed; /* out of memory */
};

/* Adds foreign text to the paragraph, escaped. */
void wrap_add(struct wrap *wrap, enum wrap_style style, const char *foreign, size_t len);
/* Adds text of our own: it is escaped as well, and may hold what is not ASCII. */
void wrap_own(struct wrap *wrap, enum wrap_style style, const char *own);
/* Writes the paragraph, ended by a line's end; nothing when it is empty. Several empty lines become one. */
void wrap_flush(struct wrap *wrap);
/* An empty line before whatever comes next, if anything does. */
void wrap_gap(struct wrap *wrap);
/* A line of this own text as often as it fits. */
void wrap_rule(struct wrap *wrap, const char *own);

void wrap_push(struct wrap *wrap, enum wrap_style style, const char *first, const char *rest);
void wrap_pop(struct wrap *wrap);
size_t wrap_room(const struct wrap *wrap); /* columns behind the prefixes */

void wrap_free(struct wrap *wrap);

#endif
