/* text.h - what UTF-8 text is here: valid, blank, a line, escaped for a log.
 *
 * "Space" is what ECMAScript's trim removes: Unicode White_Space without U+0085, plus U+FEFF.
 */
#ifndef JOBS_TEXT_H
#define JOBS_TEXT_H

#include "buffer.h"

#include <stdint.h>

bool jobs__text_is_utf8(const char *text, size_t len); /* no surrogates, no overlong forms, ≤ U+10FFFF; NUL is fine */
/* Length (1 to 4) of the valid sequence at text, 0 when there is none within len bytes. */
size_t jobs__text_sequence(const char *text, size_t len);
/* Decodes the character at *at and moves *at behind it; an invalid byte is U+FFFD. */
uint32_t jobs__text_next(const char *text, size_t len, size_t *at);
bool jobs__text_is_space(uint32_t c);
bool jobs__text_is_control(uint32_t c); /* C0, DEL, C1 */
/* The span without spaces at both ends. */
void jobs__text_trim(const char **text, size_t *len);
bool jobs__text_is_hex(const char *text, size_t len, bool lower_only);

/* The character (or invalid byte) at *at as jobs__text_one_line shows it; moves *at, returns the piece's length. */
size_t jobs__text_escape(char piece[8], const char *text, size_t len, size_t *at);

/* Foreign text as one harmless line of at most max bytes in out (size max + 1): control characters, bidirectional
 * overrides and isolates, line separators and invalid bytes become \n, \t, \u001b, \xff; cut with "…", never within a
 * character. */
void jobs__text_one_line(char *out, size_t max, const char *text, size_t len);

#endif
