/* json_decode.h - the characters that an escaped string stands for; between the files of the JSON reader only. */
#ifndef JOBS_JSON_DECODE_H
#define JOBS_JSON_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* The four digits behind \u, or a number above 0xffff when they are none. */
uint32_t jobs__json_hex_four(const char *digits);

/* The next character of an already parsed string: text[*at] up to end (its closing quote). A lone surrogate is itself.
 */
uint32_t jobs__json_next(const char *text, size_t end, size_t *at);

#endif
