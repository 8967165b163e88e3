/* secrets.h - the table behind the secrets guard: what is taken for a credential, each under its rule of
 * docs/protocol/secrets.md.
 */
#ifndef JOBS_SECRETS_H
#define JOBS_SECRETS_H

#include <jobs/event.h>

/* H901 (our own key) and H913 (the environment) need more than the text and are looked for in secrets.c. */
#define JOBS__RULE_OWN_KEY     "H901"
#define JOBS__RULE_ENVIRONMENT "H913"

struct jobs__secret_shape {
    const char *rule;
    const char *what; /* "a GitHub token": what stands in the message, and in the document */
    /* 1 found, 0 not found, -1 out of memory */
    int (*find)(const struct jobs__secret_shape *shape, const char *text, size_t len);
    /* Of shapes that are a beginning and a run of characters: */
    const char *begin;  /* '?' stands for one lower-case letter */
    unsigned alphabet;  /* classes of the run's characters */
    unsigned glue;      /* classes that, standing before, make it the middle of something else */
    size_t least, most; /* length of the run */
    bool digit;         /* at least one is a digit */
};

extern const struct jobs__secret_shape jobs__secret_shapes[];
extern const size_t jobs__secret_shape_count;

/* Whether a word begins at text[at]: what stands before is no letter or digit (nor of the glue), or is the end of an
 * escape of JSON (\n, \u000a) or of a URL (%20). */
bool jobs__secret_begins(const char *text, size_t at, unsigned glue);
/* Whether a word ends before text[at]. */
bool jobs__secret_ends(const char *text, size_t len, size_t at);

#endif
