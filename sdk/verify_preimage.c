/* verify_preimage.c - see verify_preimage.h. Its oracle is preimage.c, over decoded text. */
#include "verify_preimage.h"

#include <string.h>

#define EACH_BYTE(b) (UINT64_C(0x0101010101010101) * (b))

/* What the escapes of two characters that NIP-01 writes stand for. */
static const char short_escapes[256] = {
    ['n'] = '\n', ['r'] = '\r', ['t'] = '\t', ['b'] = '\b', ['f'] = '\f', ['"'] = '"', ['\\'] = '\\',
};

/* The character of \u00xx (text[0] is the backslash) where that is how NIP-01 writes it, else -1. */
static int long_escape(const char *text)
{
    char digit = text[5];
    if (text[1] != 'u' || text[2] != '0' || text[3] != '0' || (text[4] != '0' && text[4] != '1'))
        return -1;
    if (text[4] == '0' && strchr("89acd", digit) != NULL) /* \b \t \n \f \r have a short one */
        return -1;
    int high = (text[4] - '0') * 16;
    return digit >= '0' && digit <= '9'   ? high + digit - '0'
           : digit >= 'a' && digit <= 'f' ? high + digit - 'a' + 10
                                          : -1;
}

/* Copies plain characters up to the next backslash, eight at a time; returns how many. There is room for `len`. */
static size_t copy_plain(char *to, const char *text, size_t len)
{
    size_t at = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; len - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, 8);
        memcpy(to + at, &word, 8);
        uint64_t slash = word ^ EACH_BYTE('\\');
        uint64_t hit = (slash - EACH_BYTE(1)) & ~slash & EACH_BYTE(0x80); /* exact for its lowest, which is asked for */
        if (hit != 0)
            return at + (size_t)__builtin_ctzll(hit) / 8;
    }
#endif
    for (; at < len && text[at] != '\\'; at++)
        to[at] = text[at];
    return at;
}

/* Decodes what stands between a string's quotes. False when an escape is not the one NIP-01 writes: then the bytes are
 * not those of the preimage, and the slow way is taken. */
static bool decode_canonical(struct jobs__buffer *out, const char *text, size_t len)
{
    jobs__buffer_clear(out);
    jobs__buffer_add(out, text, len); /* no longer than this */
    if (out->failed)
        return true;
    const char *end = text + len;
    char *to = out->bytes;
    for (;;) {
        size_t plain = copy_plain(to, text, (size_t)(end - text));
        text += plain;
        to += plain;
        if (text == end)
            break;
        char c = short_escapes[(unsigned char)text[1]];
        if (c != '\0') {
            *to++ = c;
            text += 2;
        } else {
            int code = long_escape(text);
            if (code < 0)
                return false;
            *to++ = (char)code;
            text += 6;
        }
    }
    *to = '\0';
    out->len = (size_t)(to - out->bytes);
    return true;
}

/* Appends the string as NIP-01 spells it and leaves it decoded. */
static void add_string(struct jobs__buffer *out, struct jobs__buffer *decoded, const struct jobs__json *doc,
                       uint32_t index)
{
    const struct jobs__json_value *value = &doc->values[index];
    const char *text = doc->text + value->start;
    size_t len = value->end - value->start;
    if (decode_canonical(decoded, text + 1, len - 2)) {
        jobs__buffer_add(out, text, len);
        return;
    }
    jobs__buffer_clear(decoded);
    jobs__json_string(doc, index, decoded);
    if (!decoded->failed)
        jobs__preimage_string(out, decoded->bytes, decoded->len);
}

static void add_tag_string(struct jobs__buffer *out, struct jobs__buffer *scratch, const struct jobs__json *doc,
                           uint32_t index)
{
    const struct jobs__json_value *value = &doc->values[index];
    if (value->escaped)
        add_string(out, scratch, doc, index);
    else
        jobs__buffer_add(out, doc->text + value->start, value->end - value->start);
    if (scratch->failed)
        out->failed = scratch->failed; /* which the next string would forget */
}

static void add_span(struct jobs__buffer *out, const struct jobs__json *doc, uint32_t index)
{
    jobs__buffer_add(out, doc->text + doc->values[index].start, doc->values[index].end - doc->values[index].start);
}

/* Hex and the integers have one spelling only, which the shape has checked. */
void jobs__preimage_of_shape(struct jobs__buffer *out, struct jobs__buffer *content,
                             const struct jobs__event_shape *shape, const struct jobs__json *doc)
{
    jobs__buffer_add(out, "[0,", 3);
    add_span(out, doc, shape->members[JOBS__EVENT_AUTHOR]);
    jobs__buffer_char(out, ',');
    add_span(out, doc, shape->members[JOBS__EVENT_CREATED_AT]);
    jobs__buffer_char(out, ',');
    add_span(out, doc, shape->members[JOBS__EVENT_KIND]);
    jobs__buffer_add(out, ",[", 2);
    uint32_t tags = shape->members[JOBS__EVENT_TAGS];
    uint32_t tag = tags + 1;
    for (uint32_t t = 0; t < doc->values[tags].count; t++) {
        jobs__buffer_add(out, t == 0 ? "[" : ",[", t == 0 ? 1 : 2);
        for (uint32_t v = 0; v < doc->values[tag].count; v++) {
            if (v > 0)
                jobs__buffer_char(out, ',');
            add_tag_string(out, content, doc, tag + 1 + v);
        }
        jobs__buffer_char(out, ']');
        tag = doc->values[tag].after;
    }
    jobs__buffer_add(out, "],", 2);
    add_string(out, content, doc, shape->members[JOBS__EVENT_CONTENT]);
    jobs__buffer_char(out, ']');
}
