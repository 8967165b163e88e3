/* rich.h - foreign Markdown and foreign links: what may be one, and how it is shown. Raw HTML is text. */
#ifndef JOBS_CLI_RICH_H
#define JOBS_CLI_RICH_H

#include <jobs/error.h>

#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>

struct wrap;

/* Whether it may become a link: http://, https://, buzz: or nostr:, and no space at either end. */
bool rich_is_link(const char *url, size_t len);

/* A reference as it is shown: trimmed, spaces and backslashes of a URL percent-encoded. Malloced; NULL is out of
 * memory. */
char *rich_reference(const char *foreign);

/* A URL for an attribute or a Markdown autolink: ASCII, whatever could end or change it percent-encoded. */
void rich_put_url(FILE *out, const char *url, size_t len);

/* An entity (&lt; &#x3c; …) as UTF-8 into out; 0 when it stands for itself. */
size_t rich_entity(char out[5], const char *entity, size_t len);

/* The decoded text of an attribute. Malloced, NUL-terminated; NULL is out of memory. */
char *rich_attribute(const MD_ATTRIBUTE *attribute);

/* Parses with the extensions we show. JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int rich_parse(const char *markdown, size_t len, MD_PARSER *parser, void *context);

/* JOBS_OK or JOBS_NO_MEMORY. */
JOBS_MUST_USE int rich_terminal(struct wrap *wrap, const char *markdown, size_t len);
JOBS_MUST_USE int rich_html(FILE *out, const char *markdown, size_t len);
/* Every line begins with prefix. */
JOBS_MUST_USE int rich_markdown(FILE *out, const char *prefix, const char *markdown, size_t len);

#endif
