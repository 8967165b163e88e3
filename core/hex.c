/* hex.c - see hex.h. No locale, no scanf: what is a digit does not depend on the environment. */
#include "hex.h"

/* Without branches: digits come in no order that could be guessed. *bad is set when it is none. */
static unsigned digit_value(char digit, unsigned *bad)
{
    unsigned c = (unsigned char)digit;
    *bad |= (unsigned)(c - '0' > 9) & (unsigned)((c | 0x20) - 'a' > 5);
    return (c & 15) + (c >> 6) * 9;
}

void jobs__hex_write(char *out, const unsigned char *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * len] = '\0';
}

bool jobs__hex_read(unsigned char *out, size_t len, const char *digits)
{
    unsigned bad = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned high = digit_value(digits[2 * i], &bad);
        unsigned low = digit_value(digits[2 * i + 1], &bad);
        out[i] = (unsigned char)(high << 4 | low);
    }
    return bad == 0;
}
