/* json_value.c - looking at a document that was read: members, decoded strings, integers, pointers, lines.
 *
 * Trusts the reader's word that escapes and structure are whole. See json.h.
 */
#include "json.h"
#include "json_decode.h"

#include "text.h"

#include <string.h>

/* --- characters --- */

static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A' + 10);
    return 16;
}

uint32_t jobs__json_hex_four(const char *s)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = hex_digit(s[i]);
        if (digit > 15)
            return UINT32_MAX;
        value = value << 4 | digit;
    }
    return value;
}

uint32_t jobs__json_next(const char *text, size_t end, size_t *at)
{
    if (text[*at] != '\\')
        return jobs__text_next(text, end, at);
    char c = text[*at + 1];
    *at += 2;
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'u': {
        uint32_t unit = jobs__json_hex_four(text + *at);
        *at += 4;
        if (unit >= 0xd800 && unit < 0xdc00 && end - *at >= 6 && text[*at] == '\\' && text[*at + 1] == 'u') {
            uint32_t low = jobs__json_hex_four(text + *at + 2);
            if (low >= 0xdc00 && low < 0xe000) {
                *at += 6;
                return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        return unit;
    }
    default:
        return (unsigned char)c;
    }
}

static size_t encode(char out[4], uint32_t c)
{
    if (c >= 0xd800 && c < 0xe000)
        c = 0xfffd;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* --- values --- */

uint32_t jobs__json_member(const struct jobs__json *doc, uint32_t object, const char *name)
{
    const struct jobs__json_value *o = &doc->values[object];
    size_t len = strlen(name);
    uint32_t at = object + 1;
    for (uint32_t i = 0; i < o->count; i++) {
        if (jobs__json_equals(doc, at, name, len))
            return at + 1;
        at = doc->values[at + 1].after;
    }
    return 0;
}

void jobs__json_string(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out)
{
    const struct jobs__json_value *value = &doc->values[index];
    size_t at = value->start + 1, end = value->end - 1;
    while (at < end) {
        const char *slash = value->escaped ? memchr(doc->text + at, '\\', end - at) : NULL;
        size_t stop = slash != NULL ? (size_t)(slash - doc->text) : end;
        jobs__buffer_add(out, doc->text + at, stop - at);
        at = stop;
        while (at < end && doc->text[at] == '\\') {
            char bytes[4];
            size_t n = encode(bytes, jobs__json_next(doc->text, end, &at));
            jobs__buffer_add(out, bytes, n);
        }
    }
}

bool jobs__json_equals(const struct jobs__json *doc, uint32_t index, const char *text, size_t len)
{
    const struct jobs__json_value *value = &doc->values[index];
    size_t at = value->start + 1, end = value->end - 1;
    if (!value->escaped)
        return end - at == len && memcmp(doc->text + at, text, len) == 0;
    size_t text_at = 0;
    while (at < end && text_at < len) {
        if (jobs__json_next(doc->text, end, &at) != jobs__text_next(text, len, &text_at))
            return false;
    }
    return at >= end && text_at >= len;
}

bool jobs__json_integer(const struct jobs__json *doc, uint32_t index, int64_t *out)
{
    const struct jobs__json_value *value = &doc->values[index];
    if (value->type != JOBS__JSON_NUMBER)
        return false;
    size_t at = value->start;
    bool negative = doc->text[at] == '-';
    at += negative;
    /* Counted below zero, where int64 reaches one further. */
    int64_t number = 0;
    for (; at < value->end; at++) {
        char c = doc->text[at];
        if (c < '0' || c > '9' || number < (INT64_MIN + (c - '0')) / 10)
            return false;
        number = number * 10 - (c - '0');
    }
    if (negative ? number == 0 : number == INT64_MIN)
        return false;
    *out = negative ? number : -number;
    return true;
}

/* One character of a name as it stands in a pointer. */
static size_t token_piece(char piece[8], const char *text, size_t end, size_t *at)
{
    uint32_t c = jobs__json_next(text, end, at);
    if (c == '~' || c == '/') {
        piece[0] = '~';
        piece[1] = c == '~' ? '0' : '1';
        return 2;
    }
    char bytes[4];
    size_t n = encode(bytes, c), from = 0;
    return jobs__text_escape(piece, bytes, n, &from);
}

size_t jobs__json_token(char *out, size_t max, const struct jobs__json *doc, uint32_t index)
{
    static const char ellipsis[] = "…";
    const size_t ellipsis_len = sizeof ellipsis - 1;
    const struct jobs__json_value *value = &doc->values[index];
    size_t used = 0, safe = 0, end = value->end - 1;
    for (size_t at = value->start + 1; at < end;) {
        char piece[8];
        size_t n = token_piece(piece, doc->text, end, &at);
        if (used + n > max) {
            memcpy(out + safe, ellipsis, ellipsis_len);
            used = safe + ellipsis_len;
            break;
        }
        memcpy(out + used, piece, n);
        used += n;
        if (used + ellipsis_len <= max)
            safe = used;
    }
    out[used] = '\0';
    return used;
}

void jobs__json_add_token(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out)
{
    size_t end = doc->values[index].end - 1;
    for (size_t at = doc->values[index].start + 1; at < end;) {
        char piece[8];
        size_t n = token_piece(piece, doc->text, end, &at);
        jobs__buffer_add(out, piece, n);
    }
}

void jobs__json_pointer(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out)
{
    for (uint32_t in = 0; index != in;) {
        uint32_t child = in + 1;
        if (doc->values[in].type == JOBS__JSON_OBJECT) {
            while (doc->values[child + 1].after <= index)
                child = doc->values[child + 1].after;
            jobs__buffer_char(out, '/');
            jobs__json_add_token(doc, child, out);
            if (index == child)
                return; /* a name stands for its member */
            in = child + 1;
        } else {
            size_t item = 0;
            for (; doc->values[child].after <= index; item++)
                child = doc->values[child].after;
            jobs__buffer_format(out, "/%zu", item);
            in = child;
        }
    }
}

size_t jobs__json_line(const struct jobs__json *doc, uint32_t index)
{
    const char *at = doc->text, *end = doc->text + doc->values[index].start;
    size_t line = 1;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        line++;
        at++;
    }
    return line;
}
