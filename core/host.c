/* host.c - whether a URL's host is one that every URL parser reads the same way. Resolves nothing.
 *
 * Narrower than WHATWG's host parser where that one guesses (numbers of fewer parts, octal and hexadecimal ones,
 * percent-encoded letters, other Unicode); libidn2 is the judge of international names.
 */
#include "reference.h"
#include "text.h"

#include <idn2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BIT       JOBS__REFERENCE_BIT
#define LABEL_MAX 255 /* longer than any that libidn2 takes (63) */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Four decimal numbers up to 255 without leading zeros, joined by dots. */
static bool is_ipv4(const char *s, size_t len)
{
    size_t at = 0;
    for (int part = 0; part < 4; part++) {
        if (part > 0 && (at >= len || s[at++] != '.'))
            return false;
        size_t begin = at;
        int number = 0;
        while (at < len && at - begin < 3 && is_digit(s[at]))
            number = number * 10 + (s[at++] - '0');
        if (at == begin || number > 255 || (at - begin > 1 && s[begin] == '0'))
            return false;
    }
    return at == len;
}

/* RFC 4291's text form: up to eight groups of hexadecimal digits, one gap, perhaps an IPv4 address at the end. */
static bool is_ipv6(const char *s, size_t len)
{
    int groups = 0;
    bool gap = false;
    size_t at = 0;
    if (len >= 2 && s[0] == ':' && s[1] == ':') {
        gap = true;
        at = 2;
    }
    while (at < len) {
        size_t begin = at;
        while (at < len && at - begin < 4 && jobs__text_is_hex(s + at, 1, false))
            at++;
        if (at < len && s[at] == '.') {
            groups += 2;
            if (groups > 8 || !is_ipv4(s + begin, len - begin))
                return false;
            break;
        }
        if (at == begin || ++groups > 8)
            return false;
        if (at == len)
            break;
        if (s[at] != ':')
            return false;
        at++;
        if (at < len && s[at] == ':') {
            if (gap)
                return false;
            gap = true;
            at++;
        } else if (at == len) {
            return false; /* ends in a single colon */
        }
    }
    return gap ? groups < 8 : groups == 8;
}

static bool is_label_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}

static bool is_international(const char *label, size_t len)
{
    return len >= 4 && strncasecmp(label, "xn--", 4) == 0;
}

struct bidi {
    bool present; /* some label is written from right to left */
    bool fits;    /* every xn-- label may stand beside such a one */
};

/* Round trip of one xn-- label through Unicode. */
static uint32_t round_trip(const char *label, size_t len, struct bidi *bidi)
{
    if (len > LABEL_MAX)
        return BIT(JOBS__H409);
    char lower[LABEL_MAX + 1];
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)(label[i] >= 'A' && label[i] <= 'Z' ? label[i] - 'A' + 'a' : label[i]);
    lower[len] = '\0';
    uint32_t faults = 0;
    bool fits;
    char *name = NULL, *again = NULL;
    int code = idn2_to_unicode_8z8z(lower, &name, 0);
    if (code == IDN2_OK)
        code = idn2_to_ascii_8z(name, &again, IDN2_NONTRANSITIONAL);
    if (code == IDN2_MALLOC) {
        faults = JOBS__REFERENCE_NO_MEMORY;
    } else if (code != IDN2_OK || strcmp(lower, again) != 0) {
        faults = BIT(JOBS__H409);
    } else {
        bidi->present = jobs__label_is_bidi(name, strlen(name), &fits) || bidi->present;
        bidi->fits = bidi->fits && fits;
    }
    idn2_free(name);
    idn2_free(again);
    return faults;
}

/* The label at *at, which is moved behind it and its dot. false when there is none left. */
static bool next_label(const char *host, size_t len, size_t *at, const char **label, size_t *label_len)
{
    if (*at > len)
        return false;
    *label = host + *at;
    const char *dot = memchr(*label, '.', len - *at);
    *label_len = dot != NULL ? (size_t)(dot - *label) : len - *at;
    *at += *label_len + 1;
    return true;
}

/* Whether the ASCII labels, too, may stand in a host that is partly written from right to left. */
static bool all_fit(const char *host, size_t len)
{
    const char *label;
    size_t label_len;
    bool fits, all = true;
    for (size_t at = 0; next_label(host, len, &at, &label, &label_len);) {
        if (is_international(label, label_len))
            continue;
        jobs__label_is_bidi(label, label_len, &fits);
        all = all && fits;
    }
    return all;
}

static uint32_t name_faults(const char *host, size_t len)
{
    if (len > 0 && host[len - 1] == '.')
        len--;
    uint32_t faults = 0;
    struct bidi bidi = {.fits = true};
    const char *label = host;
    size_t label_len = 0;
    for (size_t at = 0; next_label(host, len, &at, &label, &label_len);) {
        bool plain = label_len > 0;
        for (size_t i = 0; i < label_len; i++)
            plain = plain && is_label_character(label[i]);
        if (!plain)
            faults |= BIT(JOBS__H405);
        else if (is_international(label, label_len))
            faults |= round_trip(label, label_len, &bidi);
    }
    if (bidi.present && !(bidi.fits && all_fit(host, len)))
        faults |= BIT(JOBS__H409);
    /* label is the last one now: one that is a number makes others read the whole host as an IPv4 address. */
    bool number = label_len > 0;
    for (size_t i = 0; i < label_len; i++)
        number = number && is_digit(label[i]);
    if (number || (label_len >= 2 && strncasecmp(label, "0x", 2) == 0))
        faults |= BIT(JOBS__H405);
    return faults;
}

uint32_t jobs__host_faults(const char *host, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)host[i] >= 0x80)
            return BIT(JOBS__H408);
    }
    if (len > 0 && host[0] == '[')
        return host[len - 1] == ']' && is_ipv6(host + 1, len - 2) ? 0 : BIT(JOBS__H405);
    return is_ipv4(host, len) ? 0 : name_faults(host, len);
}
