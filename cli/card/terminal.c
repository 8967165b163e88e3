/* terminal.c - a card for a terminal: titles in a gutter where there is room, else on lines of their own. */
#include "pen.h"
#include "rich.h"
#include "wrap.h"

#include "glyph.h"

#include <string.h>

enum {
    GUTTER = 14,
    GUTTER_FROM = 72, /* columns */
    NAMES = 9         /* columns of a fact's name */
};

static const char gutter[] = "              ";

struct terminal {
    struct pen pen;
    struct wrap wrap;
    size_t items; /* of this section */
};

static struct wrap *wrap_of(struct pen *pen)
{
    return &((struct terminal *)pen)->wrap;
}

static enum wrap_style style_of(enum pen_tone tone)
{
    static const enum wrap_style styles[] = {STYLE_BOLD, STYLE_GREEN, STYLE_YELLOW, STYLE_RED, STYLE_DIM};
    return styles[tone];
}

static void put(struct wrap *wrap, enum wrap_style style, const char *foreign)
{
    size_t len = strlen(foreign);
    glyph_trim(&foreign, &len);
    wrap_add(wrap, style, foreign, len);
    wrap_flush(wrap);
}

/* The label stands at the other end of the line where there is room. */
static void head(struct pen *pen, enum pen_tone tone, const char *headline, const char *label)
{
    struct wrap *wrap = wrap_of(pen);
    const size_t taken = 2 + strlen(headline) + strlen(label);
    char blanks[CARD_WIDTH_MAX + 1];
    int gap = wrap->width > taken + 2 ? (int)(wrap->width - taken) : 2;
    snprintf(blanks, sizeof blanks, "%*s", gap, "");
    wrap_push(wrap, style_of(tone), "● ", "  ");
    wrap_own(wrap, style_of(tone), headline);
    wrap_own(wrap, STYLE_PLAIN, blanks);
    wrap_own(wrap, style_of(tone), label);
    wrap_flush(wrap);
    wrap_pop(wrap);
    wrap_rule(wrap, "─");
}

static bool has_gutter(const struct wrap *wrap)
{
    return wrap->width >= GUTTER_FROM;
}

static void section(struct pen *pen, enum pen_tone tone, const char *title, const char *note)
{
    struct wrap *wrap = wrap_of(pen);
    char padded[GUTTER + 8];
    ((struct terminal *)pen)->items = 0;
    wrap_gap(wrap);
    if (has_gutter(wrap)) {
        snprintf(padded, sizeof padded, "%-*s", GUTTER, title);
        wrap_push(wrap, style_of(tone), padded, gutter);
    } else {
        wrap_own(wrap, style_of(tone), title);
        wrap_flush(wrap);
        wrap_push(wrap, STYLE_PLAIN, "  ", "  ");
    }
    if (note != NULL)
        put(wrap, STYLE_DIM, note);
}

static void section_end(struct pen *pen)
{
    wrap_pop(wrap_of(pen));
}

static void text(struct pen *pen, const char *foreign)
{
    put(wrap_of(pen), STYLE_PLAIN, foreign);
}

static void markdown(struct pen *pen, const char *foreign, size_t len)
{
    struct wrap *wrap = wrap_of(pen);
    if (rich_terminal(wrap, foreign, len) != JOBS_OK)
        wrap->failed = true;
}

static void item(struct pen *pen, enum pen_tone tone, const char *word, const char *foreign)
{
    struct wrap *wrap = wrap_of(pen);
    char first[64];
    if (((struct terminal *)pen)->items++ > 0)
        wrap_gap(wrap);
    snprintf(first, sizeof first, "%s  ", word);
    wrap_push(wrap, tone == TONE_PLAIN ? STYLE_CODE : style_of(tone), first, "  ");
    put(wrap, tone == TONE_QUIET ? STYLE_PLAIN : STYLE_BOLD, foreign);
    wrap_pop(wrap);
    if (!has_gutter(wrap))
        wrap_push(wrap, STYLE_PLAIN, "  ", "  ");
}

static void item_end(struct pen *pen)
{
    if (!has_gutter(wrap_of(pen)))
        wrap_pop(wrap_of(pen));
}

/* In the gutter, where there is one: an id of 64 digits then fits on a line of 80 columns. */
static void push_name(struct wrap *wrap, const char *name)
{
    char padded[GUTTER + 8];
    if (has_gutter(wrap)) {
        snprintf(padded, sizeof padded, "  %-*s", GUTTER - 2, name);
        wrap_pop(wrap);
        wrap_push(wrap, STYLE_DIM, padded, gutter);
    } else {
        snprintf(padded, sizeof padded, "%-*s ", NAMES, name);
        wrap_push(wrap, STYLE_DIM, padded, "          ");
    }
}

static void fact(struct pen *pen, const char *name, enum pen_fact kind, const char *value)
{
    struct wrap *wrap = wrap_of(pen);
    if (name[0] != '\0')
        push_name(wrap, name);
    if (kind == FACT_LINK) {
        char *shown = rich_reference(value);
        if (shown == NULL)
            wrap->failed = true;
        else
            put(wrap, rich_is_link(shown, strlen(shown)) ? STYLE_LINK : STYLE_PLAIN, shown);
        free(shown);
    } else {
        put(wrap, STYLE_PLAIN, value);
    }
    if (name[0] != '\0' && !has_gutter(wrap))
        wrap_pop(wrap);
}

int pen_terminal(FILE *out, pen_draw *draw, const void *subject, const struct card_look *look)
{
    struct terminal terminal = {
        .pen = {out, head, section, section_end, text, markdown, item, item_end, fact},
        .wrap = {.out = out, .colours = look->colours},
    };
    terminal.wrap.width = look->width < CARD_WIDTH_MIN   ? CARD_WIDTH_MIN
                          : look->width > CARD_WIDTH_MAX ? CARD_WIDTH_MAX
                                                         : look->width;
    draw(&terminal.pen, subject, look);
    bool failed = terminal.wrap.failed;
    wrap_free(&terminal.wrap);
    return failed ? JOBS_NO_MEMORY : JOBS_OK;
}
