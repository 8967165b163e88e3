/* escape.c - makes foreign text harmless; knows nothing of where it goes. */
#include "escape.h"

#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

bool escape_is_hazard(int32_t c)
{
    static const struct {
        int32_t first, last;
    } hazards[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200E, 0x200F},
                   {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};
    for (size_t i = 0; i < sizeof hazards / sizeof *hazards; i++)
        if (c >= hazards[i].first && c <= hazards[i].last)
            return true;
    return false;
}

/* One character or invalid byte at text as it is to be shown; returns the bytes it took. */
static size_t show_one(char shown[16], size_t *shown_len, const char *text, size_t len)
{
    utf8proc_int32_t c;
    utf8proc_ssize_t took = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, &c);
    int n;
    if (took <= 0) {
        took = 1;
        n = snprintf(shown, 16, "\\x%02x", (unsigned)(unsigned char)text[0]);
    } else if (c == '\n' || c == '\t' || c == '\r') {
        n = snprintf(shown, 16, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    } else if (escape_is_hazard(c)) {
        n = snprintf(shown, 16, "\\u%04x", (unsigned)c);
    } else {
        memcpy(shown, text, (size_t)took);
        n = (int)took;
    }
    *shown_len = (size_t)n;
    return (size_t)took;
}

char *escape_line(char *out, size_t size, const char *text, size_t len)
{
    static const char ellipsis[] = "…";
    size_t used = 0;
    size_t fits = 0; /* where the ellipsis could still go */
    for (size_t at = 0; at < len;) {
        char shown[16];
        size_t shown_len;
        at += show_one(shown, &shown_len, text + at, len - at);
        if (used + shown_len >= size) {
            if (size >= sizeof ellipsis)
                memcpy(out + fits, ellipsis, sizeof ellipsis);
            else
                out[fits] = '\0';
            return out;
        }
        memcpy(out + used, shown, shown_len);
        used += shown_len;
        if (used + sizeof ellipsis <= size)
            fits = used;
    }
    out[used] = '\0';
    return out;
}

size_t escape_width(const char *text)
{
    size_t width = 0;
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t took = utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &c);
        if (took <= 0) {
            at++;
            width++;
            continue;
        }
        int columns = utf8proc_charwidth(c);
        width += columns > 0 ? (size_t)columns : 0;
        at += (size_t)took;
    }
    return width;
}

void escape_fit(char *text, size_t columns)
{
    static const char ellipsis[] = "…";
    size_t len = strlen(text), width = 0, fits = 0;
    if (columns == 0 || escape_width(text) <= columns)
        return;
    for (size_t at = 0; at < len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t took = utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &c);
        int columns_of_it = took > 0 ? utf8proc_charwidth(c) : 1;
        width += columns_of_it > 0 ? (size_t)columns_of_it : 0;
        if (width > columns - 1)
            break;
        at += took > 0 ? (size_t)took : 1;
        fits = at;
    }
    /* what is cut off is at least one column, of at least one byte: an ellipsis may need two bytes more */
    if (len - fits >= sizeof ellipsis - 1)
        memcpy(text + fits, ellipsis, sizeof ellipsis);
    else
        memcpy(text + fits, ".", 2);
}
