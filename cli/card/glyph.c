/* glyph.c - see glyph.h. Decides what is harmless to show, not where it goes. */
#include "glyph.h"

#include "../escape.h"

#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

static utf8proc_ssize_t decode(const struct glyphs *glyphs, utf8proc_int32_t *c)
{
    return utf8proc_iterate((const utf8proc_uint8_t *)glyphs->text + glyphs->at,
                            (utf8proc_ssize_t)(glyphs->len - glyphs->at), c);
}

static bool is_space(int32_t c)
{
    return c == ' ' || (c >= 9 && c <= 13) || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

void glyph_trim(const char **text, size_t *len)
{
    struct glyphs glyphs = {*text, 0, *len};
    size_t begin = 0, end = 0;
    bool begun = false;
    while (glyphs.at < glyphs.len) {
        utf8proc_int32_t c;
        utf8proc_ssize_t took = decode(&glyphs, &c);
        bool space = took > 0 && is_space(c);
        if (!space && !begun)
            begin = glyphs.at;
        begun = begun || !space;
        glyphs.at += took > 0 ? (size_t)took : 1;
        if (!space)
            end = glyphs.at;
    }
    *text += begin;
    *len = end - begin;
}

static bool escape(struct glyph *out, char how, unsigned value)
{
    out->kind = GLYPH_SHOWN;
    out->is_escape = true;
    out->first = -1;
    int n = how == 'u'   ? snprintf(out->bytes, sizeof out->bytes, "\\u%04x", value)
            : how == 'x' ? snprintf(out->bytes, sizeof out->bytes, "\\x%02x", value)
                         : snprintf(out->bytes, sizeof out->bytes, "\\%c", how);
    out->len = out->width = (size_t)n;
    return true;
}

static bool is_mark(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

static bool special(struct glyphs *glyphs, struct glyph *out, int32_t c)
{
    if (c == '\r' && glyphs->at + 1 < glyphs->len && glyphs->text[glyphs->at + 1] == '\n') {
        glyphs->at++;
        c = '\n';
    }
    if (c == '\n' || c == '\t' || c == ' ') {
        out->kind = c == '\n' ? GLYPH_NEWLINE : GLYPH_SPACE;
        out->first = c;
        out->width = out->len = c == '\n' ? 0 : c == '\t' ? 4 : 1;
        memset(out->bytes, ' ', out->len);
        glyphs->at++;
        return true;
    }
    return false;
}

bool glyph_next(struct glyphs *glyphs, struct glyph *out)
{
    static const char circle[] = "\u25CC"; /* what carries a mark that has nothing to stand on */
    utf8proc_int32_t c, next, state = 0;
    memset(out, 0, sizeof *out);
    if (glyphs->at >= glyphs->len)
        return false;
    utf8proc_ssize_t took = decode(glyphs, &c);
    if (took <= 0)
        return escape(out, 'x', (unsigned)(unsigned char)glyphs->text[glyphs->at++]);
    /* A space may carry a mark: then it is no space. */
    bool carries = false;
    if (c == ' ' && glyphs->at + 1 < glyphs->len) {
        struct glyphs behind = {glyphs->text, glyphs->at + 1, glyphs->len};
        carries = decode(&behind, &next) > 0 && is_mark(next);
    }
    if (!carries && special(glyphs, out, c))
        return true;
    if (escape_is_hazard(c)) {
        glyphs->at += (size_t)took;
        return escape(out, c == '\r' ? 'r' : 'u', (unsigned)c);
    }
    out->first = c;
    bool flag = false, picture = false;
    if (is_mark(c)) {
        memcpy(out->bytes, circle, sizeof circle - 1);
        out->len = sizeof circle - 1;
        out->width = 1;
    }
    for (size_t count = 0;; count++) {
        if (count < GLYPH_CHARACTERS_MAX) {
            memcpy(out->bytes + out->len, glyphs->text + glyphs->at, (size_t)took);
            out->len += (size_t)took;
            int width = utf8proc_charwidth(c);
            out->width += width > 0 ? (size_t)width : 0;
        }
        flag = flag || (c >= 0x1F1E6 && c <= 0x1F1FF && count > 0);
        picture = picture || c == 0xFE0F;
        glyphs->at += (size_t)took;
        if (glyphs->at >= glyphs->len)
            break;
        took = decode(glyphs, &next);
        if (took <= 0 || escape_is_hazard(next) || utf8proc_grapheme_break_stateful(c, next, &state))
            break;
        c = next;
    }
    if (flag || picture || out->width > 2)
        out->width = 2;
    return true;
}
