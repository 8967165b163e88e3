/* glyph.h - foreign text as what a reader sees: grapheme clusters, spaces, ends of lines; hazards already escaped. */
#ifndef JOBS_CLI_GLYPH_H
#define JOBS_CLI_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum glyph_kind {
    GLYPH_SHOWN,
    GLYPH_SPACE, /* U+0020, or a tab, which counts as four */
    GLYPH_NEWLINE
};

enum {
    GLYPH_CHARACTERS_MAX = 16,                     /* of one cluster; marks beyond are not shown */
    GLYPH_BYTES_MAX = GLYPH_CHARACTERS_MAX * 4 + 4 /* and a dotted circle in front */
};

struct glyph {
    enum glyph_kind kind;
    char bytes[GLYPH_BYTES_MAX];
    size_t len;
    size_t width;   /* columns, 0 to 2; more of an escape */
    int32_t first;  /* its first character; -1 of an escape */
    bool is_escape; /* our own ASCII in place of a hazard, such as \u202e */
};

struct glyphs {
    const char *text;
    size_t at, len;
};

/* Without the spaces at both ends, as ECMAScript's trim takes them off. */
void glyph_trim(const char **text, size_t *len);

/* The next one; false at the end. Invalid bytes are escaped. */
bool glyph_next(struct glyphs *glyphs, struct glyph *out);

#endif
