/* filter.h - what a REQ asks for (NIP-01): ids, authors, kinds, #x, since, until, limit.
 *
 * A filter is parsed once from the frame and owns what it holds. Whether a stored event matches is decided here; how
 * to find candidates quickly is the store's business.
 */
#ifndef RELAY_FILTER_H
#define RELAY_FILTER_H

#include "core/json.h"

#include <stdint.h>

#define FILTERS_MAX 20 /* filters of one REQ */

/* What the relay keeps in memory of one event: all that filters look at. */
struct record {
    unsigned char id[32];
    unsigned char author[32];
    int64_t created_at;
    uint32_t kind;
    uint32_t len;    /* of its JSON, in the store's file */
    uint64_t offset; /* where that begins */
    char *tags;      /* the single-letter tags' first values: letter, four bytes of length, value; and so on */
    uint32_t tags_len;
    bool hidden; /* removed by its author's kind 5: known, never shown */
};

/* Goes over record->tags; *at starts as 0. */
bool record_tag(const struct record *record, uint32_t *at, char *letter, const char **value, uint32_t *len);

struct filter_text {
    char *text;
    uint32_t len;
};

struct filter_tag {
    char letter;
    struct filter_text *values;
    size_t count;
};

struct filter {
    bool has_ids, has_authors, has_kinds;
    unsigned char (*ids)[32];
    size_t id_count;
    unsigned char (*authors)[32];
    size_t author_count;
    uint32_t *kinds;
    size_t kind_count;
    struct filter_tag *tags;
    size_t tag_count;
    int64_t since; /* INT64_MIN when not asked */
    int64_t until; /* INT64_MAX when not asked */
    size_t limit;  /* SIZE_MAX when not asked */
};

/* Parses the object at `index`. Returns NULL, or a static sentence saying what would be right (the filter is then
 * empty and need not be freed). */
const char *filter_parse(struct filter *filter, const struct jobs__json *doc, uint32_t index);
void filter_free(struct filter *filter);

/* Whether it matches, limit aside. */
bool filter_match(const struct filter *filter, const struct record *record);

bool hex_bytes(unsigned char out[32], const char *hex, size_t len); /* false unless 64 lower-case digits */

#endif
