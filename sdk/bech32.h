/* bech32.h - BIP-173 text for the bytes of NIP-19 and NIP-49, without BIP-173's limit of 90 characters. */
#ifndef JOBS_BECH32_H
#define JOBS_BECH32_H

#include <stdbool.h>
#include <stddef.h>

#define JOBS__BECH32_PREFIX_MAX 16 /* longest prefix that is read, without its "1" */

/* Decodes one word: one case throughout, good checksum, whole bytes, no stray bits. prefix is written in lower case and
 * NUL-terminated; at most max bytes are written to out. False when the word is anything else, and then nothing that was
 * decoded stays in memory. */
bool jobs__bech32_decode(char prefix[JOBS__BECH32_PREFIX_MAX + 1], unsigned char *out, size_t *len, size_t max,
                         const char *text, size_t text_len);

/* Whether the word is bech32 with this lower-case prefix and a good checksum, whatever it holds. */
bool jobs__bech32_is(const char *prefix, const char *text, size_t text_len);

/* Writes the word and a NUL; out has room for strlen(prefix) + 1 + (len * 8 + 4) / 5 + 6 + 1. */
void jobs__bech32_encode(char *out, const char *prefix, const unsigned char *bytes, size_t len);

#endif
