/* preimage.c - see preimage.h. */
#include "preimage.h"

#include <inttypes.h>

static const char *short_escape(unsigned char c)
{
    switch (c) {
    case '\n':
        return "\\n";
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    default:
        return NULL;
    }
}

void jobs__preimage_string(struct jobs__buffer *out, const char *text, size_t len)
{
    size_t plain = 0; /* start of what needs no escape and is not written yet */
    if (len == 0)
        text = ""; /* an empty content may be no pointer at all, and C adds not even 0 to that */
    jobs__buffer_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        jobs__buffer_add(out, text + plain, i - plain);
        plain = i + 1;
        const char *escape = short_escape(c);
        if (escape != NULL)
            jobs__buffer_text(out, escape);
        else
            jobs__buffer_format(out, "\\u%04x", (unsigned)c);
    }
    jobs__buffer_add(out, text + plain, len - plain);
    jobs__buffer_char(out, '"');
}

void jobs__preimage_write(struct jobs__buffer *out, const char *author, int64_t created_at, uint32_t kind,
                          const struct jobs__buffer *tags, const char *content, size_t content_len)
{
    jobs__buffer_format(out, "[0,\"%s\",%" PRId64 ",%" PRIu32 ",", author, created_at, kind);
    jobs__buffer_add(out, tags->bytes, tags->len);
    jobs__buffer_char(out, ',');
    jobs__preimage_string(out, content, content_len);
    jobs__buffer_char(out, ']');
}
