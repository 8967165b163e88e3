/* html_text.c - see html_text.h. */
#include "html_text.h"

#include "glyph.h"
#include "rich.h"

void html_text(FILE *out, const char *foreign, size_t len)
{
    struct glyphs glyphs = {foreign, 0, len};
    struct glyph glyph;
    while (glyph_next(&glyphs, &glyph)) {
        if (glyph.kind == GLYPH_NEWLINE) {
            fputc('\n', out);
            continue;
        }
        switch (glyph.is_escape ? 0 : glyph.bytes[0]) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fwrite(glyph.bytes, 1, glyph.len, out);
            continue;
        }
        fwrite(glyph.bytes + 1, 1, glyph.len - 1, out); /* marks upon it */
    }
}

void html_link_open(FILE *out, const char *url, size_t len)
{
    fputs("<a rel=\"noreferrer noopener nofollow\" href=\"", out);
    rich_put_url(out, url, len);
    fputs("\">", out);
}
