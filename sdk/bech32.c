/* bech32.c - see bech32.h. Works on the stack alone and keeps no copy of what it decodes: it may be a secret. */
#include "bech32.h"

#include <stdint.h>
#include <string.h>

#define CHECKSUM_LEN 6

static const char alphabet[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int symbol_value(char c)
{
    const char *at = c == '\0' ? NULL : strchr(alphabet, lower(c));
    return at == NULL ? -1 : (int)(at - alphabet);
}

/* One step of the BCH code over GF(32) that BIP-173 defines. */
static uint32_t checksum_step(uint32_t state, unsigned value)
{
    static const uint32_t generator[5] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
    uint32_t top = state >> 25;
    state = (state & 0x1ffffff) << 5 ^ value;
    for (int i = 0; i < 5; i++)
        if (top >> i & 1)
            state ^= generator[i];
    return state;
}

static uint32_t checksum_of_prefix(const char *prefix, size_t len)
{
    uint32_t state = 1;
    for (size_t i = 0; i < len; i++)
        state = checksum_step(state, (unsigned)(unsigned char)lower(prefix[i]) >> 5);
    state = checksum_step(state, 0);
    for (size_t i = 0; i < len; i++)
        state = checksum_step(state, (unsigned char)lower(prefix[i]) & 31);
    return state;
}

/* Finds the separator and proves case and checksum. */
static bool split(size_t *prefix_len, const char *text, size_t len)
{
    bool has_upper = false;
    bool has_lower = false;
    size_t separator = len;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < 33 || text[i] > 126)
            return false;
        has_upper = has_upper || (text[i] >= 'A' && text[i] <= 'Z');
        has_lower = has_lower || (text[i] >= 'a' && text[i] <= 'z');
        if (text[i] == '1')
            separator = i;
    }
    if (separator == len || separator == 0 || (has_upper && has_lower) || len - separator - 1 < CHECKSUM_LEN)
        return false;
    uint32_t state = checksum_of_prefix(text, separator);
    for (size_t i = separator + 1; i < len; i++) {
        int value = symbol_value(text[i]);
        if (value < 0)
            return false;
        state = checksum_step(state, (unsigned)value);
    }
    *prefix_len = separator;
    return state == 1;
}

bool jobs__bech32_is(const char *prefix, const char *text, size_t text_len)
{
    size_t len;
    if (!split(&len, text, text_len) || len != strlen(prefix))
        return false;
    for (size_t i = 0; i < len; i++)
        if (lower(text[i]) != prefix[i])
            return false;
    return true;
}

bool jobs__bech32_decode(char prefix[JOBS__BECH32_PREFIX_MAX + 1], unsigned char *out, size_t *len, size_t max,
                         const char *text, size_t text_len)
{
    size_t prefix_len;
    if (!split(&prefix_len, text, text_len) || prefix_len > JOBS__BECH32_PREFIX_MAX)
        return false;
    size_t symbols = text_len - prefix_len - 1 - CHECKSUM_LEN;
    if (symbols * 5 / 8 > max)
        return false;
    uint32_t bits = 0;
    unsigned count = 0;
    size_t written = 0;
    for (size_t i = 0; i < symbols; i++) {
        bits = (bits << 5 | (uint32_t)symbol_value(text[prefix_len + 1 + i])) & 0xfff;
        count += 5;
        if (count >= 8) {
            count -= 8;
            out[written++] = (unsigned char)(bits >> count);
        }
    }
    if (count >= 5 || (bits & ((1U << count) - 1)) != 0) {
        explicit_bzero(out, written);
        return false;
    }
    for (size_t i = 0; i < prefix_len; i++)
        prefix[i] = lower(text[i]);
    prefix[prefix_len] = '\0';
    *len = written;
    return true;
}

void jobs__bech32_encode(char *out, const char *prefix, const unsigned char *bytes, size_t len)
{
    size_t at = strlen(prefix);
    memcpy(out, prefix, at);
    out[at++] = '1';
    uint32_t state = checksum_of_prefix(prefix, at - 1);
    uint32_t bits = 0;
    unsigned count = 0;
    for (size_t i = 0; i < len || count > 0; i++) {
        if (i < len) {
            bits = (bits << 8 | bytes[i]) & 0xfff;
            count += 8;
        } else if (count < 5) { /* the last symbol is filled up with zeros */
            bits <<= 5 - count;
            count = 5;
        }
        while (count >= 5) {
            count -= 5;
            unsigned value = bits >> count & 31;
            out[at++] = alphabet[value];
            state = checksum_step(state, value);
        }
    }
    for (int i = 0; i < CHECKSUM_LEN; i++)
        state = checksum_step(state, 0);
    state ^= 1;
    for (int i = 0; i < CHECKSUM_LEN; i++)
        out[at++] = alphabet[state >> 5 * (CHECKSUM_LEN - 1 - i) & 31];
    out[at] = '\0';
}
