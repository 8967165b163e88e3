/* wrap.c - see wrap.h. Where lines may be broken is decided here; what is harmless was decided in glyph.c. */
#include "wrap.h"

#include "../escape.h"
#include "glyph.h"

#include <stdlib.h>
#include <string.h>

struct wrap_cell {
    uint32_t at;
    uint8_t len, width, kind, style;
    int32_t first;
};

static const char *const sequences[] = {
    [STYLE_PLAIN] = "\033[0m",    [STYLE_BOLD] = "\033[1m",      [STYLE_DIM] = "\033[2m",   [STYLE_RED] = "\033[1;31m",
    [STYLE_GREEN] = "\033[1;32m", [STYLE_YELLOW] = "\033[1;33m", [STYLE_LINK] = "\033[36m", [STYLE_CODE] = "\033[36m",
    [STYLE_ITALIC] = "\033[3m",   [STYLE_STRUCK] = "\033[9m",
};

static void set_style(const struct wrap *wrap, enum wrap_style style)
{
    if (wrap->colours)
        fputs(sequences[style], wrap->out);
}

static void *grown(struct wrap *wrap, void *old, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return old;
    size_t more = needed * 2 + 64;
    void *memory = realloc(old, more * size);
    if (memory == NULL) {
        wrap->failed = true;
        return old;
    }
    *capacity = more;
    return memory;
}

void wrap_add(struct wrap *wrap, enum wrap_style style, const char *foreign, size_t len)
{
    struct glyphs glyphs = {foreign, 0, len};
    struct glyph glyph;
    while (!wrap->failed && glyph_next(&glyphs, &glyph)) {
        wrap->cells = grown(wrap, wrap->cells, &wrap->capacity, wrap->count + 1, sizeof *wrap->cells);
        wrap->bytes = grown(wrap, wrap->bytes, &wrap->size, wrap->len + glyph.len, 1);
        if (wrap->failed)
            return;
        memcpy(wrap->bytes + wrap->len, glyph.bytes, glyph.len);
        wrap->cells[wrap->count++] = (struct wrap_cell){
            .at = (uint32_t)wrap->len,
            .len = (uint8_t)glyph.len,
            .width = (uint8_t)glyph.width,
            .kind = (uint8_t)glyph.kind,
            .style = (uint8_t)style,
            .first = glyph.first,
        };
        wrap->len += glyph.len;
    }
}

void wrap_own(struct wrap *wrap, enum wrap_style style, const char *own)
{
    wrap_add(wrap, style, own, strlen(own));
}

/* --- prefixes --- */

void wrap_push(struct wrap *wrap, enum wrap_style style, const char *first, const char *rest)
{
    if (wrap->depth < WRAP_PREFIXES_MAX) {
        struct wrap_prefix *prefix = &wrap->prefixes[wrap->depth];
        *prefix = (struct wrap_prefix){.style = style};
        snprintf(prefix->first, sizeof prefix->first, "%s", first);
        snprintf(prefix->rest, sizeof prefix->rest, "%s", rest);
    }
    wrap->depth++;
}

void wrap_pop(struct wrap *wrap)
{
    wrap->depth--;
}

/* How many of the prefixes leave room for text; returns it in *room. */
static size_t shown_depth(const struct wrap *wrap, size_t *room)
{
    size_t depth = 0;
    *room = wrap->width;
    while (depth < wrap->depth && depth < WRAP_PREFIXES_MAX) {
        const struct wrap_prefix *prefix = &wrap->prefixes[depth];
        size_t taken = escape_width(prefix->used ? prefix->rest : prefix->first);
        if (*room < taken + WRAP_NARROWEST)
            break;
        *room -= taken;
        depth++;
    }
    return depth;
}

size_t wrap_room(const struct wrap *wrap)
{
    size_t room;
    (void)shown_depth(wrap, &room);
    return room;
}

/* Of an empty line only what is to be seen of the prefixes. */
static void put_prefixes(struct wrap *wrap, bool empty)
{
    size_t room, count = shown_depth(wrap, &room);
    while (empty && count > 0) {
        const struct wrap_prefix *last = &wrap->prefixes[count - 1];
        const char *text = last->used ? last->rest : last->first;
        if (text[strspn(text, " ")] != '\0')
            break;
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        struct wrap_prefix *prefix = &wrap->prefixes[i];
        const char *text = prefix->used ? prefix->rest : prefix->first;
        size_t blanks = strspn(text, " ");
        bool styled = text[blanks] != '\0' && prefix->style != STYLE_PLAIN;
        size_t len = strlen(text);
        while (empty && i + 1 == count && len > 0 && text[len - 1] == ' ')
            len--;
        if (styled)
            set_style(wrap, prefix->style);
        fwrite(text, 1, len, wrap->out);
        if (styled)
            set_style(wrap, STYLE_PLAIN);
        prefix->used = true;
    }
}

static void put_empty(struct wrap *wrap)
{
    if (!wrap->blank && wrap->began) {
        put_prefixes(wrap, true);
        fputc('\n', wrap->out);
    }
    wrap->blank = true;
}

void wrap_gap(struct wrap *wrap)
{
    wrap->wants_gap = true;
}

static void begin_line(struct wrap *wrap)
{
    if (wrap->wants_gap && wrap->began && !wrap->blank) {
        /* A gap belongs to the prefixes that have already been seen. */
        size_t depth = wrap->depth;
        while (wrap->depth > 0 && (wrap->depth > WRAP_PREFIXES_MAX || !wrap->prefixes[wrap->depth - 1].used))
            wrap->depth--;
        put_empty(wrap);
        wrap->depth = depth;
    }
    wrap->wants_gap = false;
    put_prefixes(wrap, false);
    wrap->began = true;
    wrap->blank = false;
}

static void put_line(struct wrap *wrap, size_t from, size_t to)
{
    enum wrap_style style = STYLE_PLAIN;
    while (to > from && wrap->cells[to - 1].kind == GLYPH_SPACE)
        to--;
    if (from == to) {
        put_empty(wrap);
        return;
    }
    begin_line(wrap);
    for (size_t i = from; i < to; i++) {
        const struct wrap_cell *cell = &wrap->cells[i];
        if (cell->style != style) {
            set_style(wrap, STYLE_PLAIN);
            style = cell->style;
            if (style != STYLE_PLAIN)
                set_style(wrap, style);
        }
        fwrite(wrap->bytes + cell->at, 1, cell->len, wrap->out);
    }
    if (style != STYLE_PLAIN)
        set_style(wrap, STYLE_PLAIN);
    fputc('\n', wrap->out);
}

void wrap_rule(struct wrap *wrap, const char *own)
{
    begin_line(wrap);
    set_style(wrap, STYLE_DIM);
    for (size_t room = wrap_room(wrap); room > 0; room--)
        fputs(own, wrap->out);
    set_style(wrap, STYLE_PLAIN);
    fputc('\n', wrap->out);
}

/* --- where a line may end --- */

/* East Asian punctuation that does not begin a line. */
static bool clings(int32_t c)
{
    static const int32_t closing[] = {0x3001, 0x3002, 0x3009, 0x300B, 0x300D, 0x300F, 0x3011, 0x3015,
                                      0x30FB, 0xFF01, 0xFF09, 0xFF0C, 0xFF0E, 0xFF1A, 0xFF1B, 0xFF1F};
    for (size_t i = 0; i < sizeof closing / sizeof *closing; i++)
        if (c == closing[i])
            return true;
    return false;
}

static bool may_break_before(const struct wrap *wrap, size_t i)
{
    const struct wrap_cell *before = &wrap->cells[i - 1], *cell = &wrap->cells[i];
    if (before->kind == GLYPH_SPACE)
        return cell->kind != GLYPH_SPACE;
    if (cell->kind != GLYPH_SHOWN)
        return false;
    return (before->width == 2 || cell->width == 2) && !clings(cell->first);
}

/* A word longer than a line: behind a separator in the last part of the line, else anywhere. */
static size_t break_within(const struct wrap *wrap, size_t from, size_t to)
{
    for (size_t i = to; i > from + (to - from) * 2 / 3; i--) {
        int32_t c = wrap->cells[i - 1].first;
        if (c == '/' || c == '?' || c == '&' || c == '=' || c == '-' || c == '_' || c == '.' || c == ',')
            return i;
    }
    return to;
}

/* The end of the line that begins at from, within the paragraph's line that ends at `end`. */
static size_t line_end(const struct wrap *wrap, size_t from, size_t end)
{
    size_t room = wrap_room(wrap), width = 0, may = from;
    for (size_t i = from; i < end; i++) {
        const struct wrap_cell *cell = &wrap->cells[i];
        if (i > from && may_break_before(wrap, i))
            may = i;
        if (width + cell->width > room && cell->kind != GLYPH_SPACE && i > from)
            return may > from ? may : break_within(wrap, from, i);
        width += cell->width;
    }
    return end;
}

/* Indentation is kept while it leaves room for text. */
static size_t skip_deep_indent(const struct wrap *wrap, size_t from, size_t end)
{
    size_t at = from, width = 0;
    for (; at < end && wrap->cells[at].kind == GLYPH_SPACE; at++)
        width += wrap->cells[at].width;
    return width > wrap_room(wrap) / 2 ? at : from;
}

void wrap_flush(struct wrap *wrap)
{
    for (size_t at = 0; at < wrap->count && !wrap->failed;) {
        size_t end = at;
        while (end < wrap->count && wrap->cells[end].kind != GLYPH_NEWLINE)
            end++;
        at = skip_deep_indent(wrap, at, end);
        do {
            size_t stop = line_end(wrap, at, end);
            put_line(wrap, at, stop);
            for (at = stop; at < end && wrap->cells[at].kind == GLYPH_SPACE;)
                at++;
        } while (at < end);
        at = end + 1;
    }
    wrap->count = wrap->len = 0;
}

void wrap_free(struct wrap *wrap)
{
    free(wrap->cells);
    free(wrap->bytes);
    wrap->cells = NULL;
    wrap->bytes = NULL;
}
