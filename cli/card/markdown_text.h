/* markdown_text.h - foreign text within Markdown: it is read as it was, and starts nothing. */
#ifndef JOBS_CLI_MARKDOWN_TEXT_H
#define JOBS_CLI_MARKDOWN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Escaped text. Its lines stay lines, those behind the first begin with prefix; an empty one begins a paragraph.
 * at_start: a line begins with it. */
void markdown_text(FILE *out, const char *prefix, const char *foreign, size_t len, bool at_start);

/* A code span a line. */
void markdown_code(FILE *out, const char *prefix, const char *foreign, size_t len);

/* The longest run of backticks. */
size_t markdown_ticks(const char *text, size_t len);

#endif
