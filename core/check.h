/* check.h - the rules of docs/protocol/handoff.md, on a JSON document that has been read. */
#ifndef JOBS_CHECK_H
#define JOBS_CHECK_H

#include "contract.h"
#include "json.h"
#include "violations.h"

#define JOBS__CHECK_DEPTH 8

/* Fill in the first group, zero the rest, run one of the functions, look at the second group. */
struct jobs__check {
    struct jobs__json *doc;
    struct jobs__buffer *text; /* scratch; its max must be at least the document's length */
    bool reader;               /* the reader's rules: references are looser, jobRequest must equal reply_id */
    bool card_only;            /* nothing is listed: additive fields are skipped and the first broken rule ends it */
    const char *reply_id;
    const struct jobs_given *given; /* the publisher's; may be NULL */
    struct jobs__violations *violations;
    struct jobs__violations *left_out; /* of the reader's additive fields; may be NULL */

    bool broken; /* a rule does not hold; those of additive fields do not count for a reader */
    enum jobs__rule first;
    bool no_memory;

    bool in_additive;
    bool additive_counts; /* of jobs__check_field */
    size_t depth;
    struct {
        const char *name; /* NULL: an item */
        size_t item;
    } path[JOBS__CHECK_DEPTH];
};

/* Everything about the document. */
void jobs__check_document(struct jobs__check *check);

/* One field on its own: whether it holds. false as well when out of memory (no_memory). */
bool jobs__check_field(struct jobs__check *check, const struct jobs__field *field, uint32_t value);

/* Tells of a broken rule at the current path. */
void jobs__check_violation(struct jobs__check *check, enum jobs__rule rule, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* field.c: the rules of one value that is no list and no object. */
void jobs__check_scalar(struct jobs__check *check, const struct jobs__field *field, uint32_t value);
/* A text or line from anywhere. */
void jobs__check_text(struct jobs__check *check, const char *text, size_t len, size_t offset, bool line, size_t max);
/* The decoded text of a string; lives until the next call. false when out of memory (no_memory). */
bool jobs__check_decode(struct jobs__check *check, uint32_t value, const char **text, size_t *len);

#endif
