/* text.c - characters and spans of UTF-8. Allocates nothing, knows nothing of JSON or of the contract. */
#include "text.h"

#include <stdio.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at s (1 to 4), 0 when there is none within len bytes. */
size_t jobs__text_sequence(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    if (len == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    /* The second byte's range excludes overlong forms (E0, F0), surrogates (ED) and what lies past U+10FFFF (F4). */
    size_t want;
    unsigned char low = 0x80, high = 0xbf;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        want = 2;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        want = 3;
        low = s[0] == 0xe0 ? 0xa0 : low;
        high = s[0] == 0xed ? 0x9f : high;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        want = 4;
        low = s[0] == 0xf0 ? 0x90 : low;
        high = s[0] == 0xf4 ? 0x8f : high;
    } else {
        return 0;
    }
    if (len < want || s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < want; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    return want;
}

bool jobs__text_is_utf8(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t step = jobs__text_sequence(text + at, len - at);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

uint32_t jobs__text_next(const char *text, size_t len, size_t *at)
{
    const unsigned char *s = (const unsigned char *)text + *at;
    size_t step = jobs__text_sequence(text + *at, len - *at);
    *at += step > 0 ? step : 1;
    switch (step) {
    case 1:
        return s[0];
    case 2:
        return (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f);
    case 3:
        return (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
    case 4:
        return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3f) << 12 | (uint32_t)(s[2] & 0x3f) << 6 |
               (s[3] & 0x3f);
    default:
        return 0xfffd;
    }
}

bool jobs__text_is_space(uint32_t c)
{
    if (c < 0x80)
        return c == ' ' || (c >= 9 && c <= 13);
    return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000 || c == 0xfeff;
}

bool jobs__text_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

void jobs__text_trim(const char **text, size_t *len)
{
    const char *s = *text;
    size_t begin = 0, end = *len;
    while (begin < end) {
        size_t at = begin;
        if (!jobs__text_is_space(jobs__text_next(s, end, &at)))
            break;
        begin = at;
    }
    while (end > begin) {
        size_t last = end - 1;
        while (last > begin && ((unsigned char)s[last] & 0xc0) == 0x80)
            last--;
        size_t at = last;
        if (!jobs__text_is_space(jobs__text_next(s, end, &at)) || at != end)
            break;
        end = last;
    }
    *text = s + begin;
    *len = end - begin;
}

bool jobs__text_is_hex(const char *text, size_t len, bool lower_only)
{
    unsigned bad = 0; /* without branches: digits come in no order that could be guessed */
    unsigned fold = lower_only ? 0 : 0x20;
    for (size_t i = 0; i < len; i++) {
        unsigned c = (unsigned char)text[i];
        bad |= (unsigned)(c - '0' > 9) & (unsigned)((c | fold) - 'a' > 5);
    }
    return bad == 0;
}

/* Characters that would move the cursor, start a line or turn the reading direction of what stands around them. */
static bool is_unruly(uint32_t c)
{
    return jobs__text_is_control(c) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x2028 ||
           c == 0x2029;
}

size_t jobs__text_escape(char piece[8], const char *text, size_t len, size_t *at)
{
    size_t step = jobs__text_sequence(text + *at, len - *at);
    if (step == 0)
        return (size_t)snprintf(piece, 8, "\\x%02x", (unsigned char)text[(*at)++]);
    const char *from = text + *at;
    uint32_t c = jobs__text_next(text, len, at);
    if (c == '\n' || c == '\t' || c == '\r')
        return (size_t)snprintf(piece, 8, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    if (is_unruly(c))
        return (size_t)snprintf(piece, 8, "\\u%04x", (unsigned)c & 0xffff);
    memcpy(piece, from, step);
    return step;
}

void jobs__text_one_line(char *out, size_t max, const char *text, size_t len)
{
    static const char ellipsis[] = "…";
    const size_t ellipsis_len = sizeof ellipsis - 1;
    size_t used = 0;
    size_t safe = 0; /* where "…" still fits behind */
    for (size_t at = 0; at < len;) {
        char piece[8];
        size_t piece_len = jobs__text_escape(piece, text, len, &at);
        if (used + piece_len > max) {
            used = safe;
            if (used + ellipsis_len <= max) {
                memcpy(out + used, ellipsis, ellipsis_len);
                used += ellipsis_len;
            }
            break;
        }
        memcpy(out + used, piece, piece_len);
        used += piece_len;
        if (used + ellipsis_len <= max)
            safe = used;
    }
    out[used] = '\0';
}
