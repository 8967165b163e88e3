/* hex.h - bytes as lower-case hex and back. */
#ifndef JOBS_HEX_H
#define JOBS_HEX_H

#include <stdbool.h>
#include <stddef.h>

/* Writes 2 * len digits and a NUL. */
void jobs__hex_write(char *out, const unsigned char *bytes, size_t len);

/* Reads 2 * len digits of either case; false, and out undefined, when one is none. All of them are looked at: there
 * must be so many bytes. */
bool jobs__hex_read(unsigned char *out, size_t len, const char *digits);

#endif
