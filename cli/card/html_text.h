/* html_text.h - foreign text within HTML: characters, never markup. */
#ifndef JOBS_CLI_HTML_TEXT_H
#define JOBS_CLI_HTML_TEXT_H

#include <stddef.h>
#include <stdio.h>

void html_text(FILE *out, const char *foreign, size_t len);

/* <a href="url">; the URL was found to be one that may be followed. */
void html_link_open(FILE *out, const char *url, size_t len);

/* The style sheet of the page, and what its Content-Security-Policy says of it. */
extern const char html_style[];
extern const char html_style_digest[];

#endif
