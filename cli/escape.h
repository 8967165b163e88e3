/* escape.h - foreign text on its way to a terminal or a log. */
#ifndef JOBS_CLI_ESCAPE_H
#define JOBS_CLI_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Control characters, line and paragraph separators, bidirectional marks, overrides and isolates, byte-order marks:
 * what changes how the rest of a line is shown. */
bool escape_is_hazard(int32_t c);

/* One harmless line in out (size bytes with its NUL): hazards become \n, \t, \u001b, invalid bytes \xff; cut with "…",
 * never within a character. Returns out. */
char *escape_line(char *out, size_t size, const char *text, size_t len);

/* Columns the (escaped) text takes on a terminal. */
size_t escape_width(const char *text);

/* Cuts the (escaped) text to at most that many columns, "…" included. */
void escape_fit(char *text, size_t columns);

#endif
