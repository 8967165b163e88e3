/* markdown_text.c - see markdown_text.h. Written for CommonMark and for what GitHub adds to it. */
#include "markdown_text.h"

#include "glyph.h"

#include <string.h>

struct place {
    FILE *out;
    const char *prefix;
    bool at_start;  /* of a line */
    bool in_number; /* nothing but digits since then */
    int32_t before; /* the last character */
};

/* Ends the line; empty ones that follow make a paragraph of the rest. */
static void put_break(struct place *place, struct glyphs *glyphs)
{
    bool paragraph = false;
    for (;;) {
        struct glyphs ahead = *glyphs;
        struct glyph glyph;
        bool more = true;
        while ((more = glyph_next(&ahead, &glyph)) && glyph.kind == GLYPH_SPACE)
            continue;
        if (!more || glyph.kind != GLYPH_NEWLINE)
            break;
        paragraph = true;
        *glyphs = ahead;
    }
    size_t visible = strlen(place->prefix);
    while (visible > 0 && place->prefix[visible - 1] == ' ')
        visible--;
    if (paragraph)
        fprintf(place->out, "\n%.*s", (int)visible, place->prefix);
    else if (!place->at_start)
        fputc('\\', place->out);
    fprintf(place->out, "\n%s", place->prefix);
    place->at_start = true;
    place->in_number = false;
    place->before = '\n';
}

static bool is_letter(int32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool needs_escape(const struct place *place, int32_t c, char next)
{
    if (c <= 0 || c > 126)
        return false;
    if (strchr("\\`*_[]<>|~&$#@^{}!", c) != NULL)
        return true;
    if (strchr("-+=:", c) != NULL && place->at_start)
        return true;
    if ((c == '.' || c == ')') && place->in_number)
        return true;
    /* https://…, www.… and mail addresses become links without any markup. */
    if (c == ':')
        return is_letter(place->before) && next != ' ' && next != '\n' && next != '\0';
    return c == '.' && (place->before == 'w' || place->before == 'W');
}

void markdown_text(FILE *out, const char *prefix, const char *foreign, size_t len, bool at_start)
{
    struct glyphs glyphs = {foreign, 0, len};
    struct glyph glyph;
    struct place place = {out, prefix, at_start, at_start, '\n'};
    while (glyph_next(&glyphs, &glyph)) {
        if (glyph.kind == GLYPH_NEWLINE) {
            put_break(&place, &glyphs);
            continue;
        }
        if (glyph.kind == GLYPH_SPACE && place.at_start) {
            for (size_t i = 0; i < glyph.len; i++)
                fputs("&nbsp;", out);
            place.before = ' ';
            continue;
        }
        char next = glyphs.at < glyphs.len ? glyphs.text[glyphs.at] : '\0';
        if (glyph.is_escape || needs_escape(&place, glyph.first, next))
            fputc('\\', out);
        fwrite(glyph.bytes, 1, glyph.len, out);
        bool digit = glyph.first >= '0' && glyph.first <= '9';
        place.in_number = digit && (place.at_start || place.in_number);
        place.at_start = false;
        place.before = glyph.first;
    }
}

size_t markdown_ticks(const char *text, size_t len)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < len; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_ticks(FILE *out, size_t count, bool space_before, bool space_behind)
{
    if (space_before)
        fputc(' ', out);
    while (count-- > 0)
        fputc('`', out);
    if (space_behind)
        fputc(' ', out);
}

void markdown_code(FILE *out, const char *prefix, const char *foreign, size_t len)
{
    struct glyphs glyphs = {foreign, 0, len};
    struct glyph glyph;
    const size_t ticks = markdown_ticks(foreign, len) + 1;
    bool open = false, padded = false;
    while (glyph_next(&glyphs, &glyph)) {
        if (glyph.kind == GLYPH_NEWLINE) {
            if (open) {
                struct place place = {.out = out, .prefix = prefix};
                put_ticks(out, ticks, padded, false);
                put_break(&place, &glyphs);
            }
            open = false;
            continue;
        }
        if (!open) {
            /* One space at each end is taken off again; what begins with one, or holds ticks, needs it. */
            padded = ticks > 1 || glyph.kind == GLYPH_SPACE;
            put_ticks(out, ticks, false, padded);
            open = true;
        }
        fwrite(glyph.bytes, 1, glyph.len, out);
    }
    if (open)
        put_ticks(out, ticks, padded, false);
}
