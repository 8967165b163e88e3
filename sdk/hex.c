/* hex.c - see hex.h. No locale, no scanf: what is a digit does not depend on the environment. */
#include "hex.h"

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
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
    for (size_t i = 0; i < len; i++) {
        int high = digit_value(digits[2 * i]);
        int low = high < 0 ? -1 : digit_value(digits[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
