/* contract.h - the payload as tables: which members an object has, of what kind, and where a handoff keeps them.
 *
 * The order of a shape's fields is the canonical order. check.c, build.c and canonical.c walk these tables; a field
 * that is added here is validated, kept and written without another line of code.
 */
#ifndef JOBS_CONTRACT_H
#define JOBS_CONTRACT_H

#include <jobs/handoff.h>

#include "rules.h"

#include <stdint.h>

enum jobs__field_kind {
    JOBS__FIELD_VERSION,   /* the integer 1; kept nowhere */
    JOBS__FIELD_JOB,       /* 64 hex digits of any case */
    JOBS__FIELD_TEXT,      /* const char * */
    JOBS__FIELD_LINE,      /* const char * */
    JOBS__FIELD_REFERENCE, /* const char * */
    JOBS__FIELD_WORD,      /* const char *, one of `words` */
    JOBS__FIELD_DIGEST,    /* const char *, 64 lower-case hex digits */
    JOBS__FIELD_SIZE,      /* int64_t */
    JOBS__FIELD_EXIT,      /* int32_t, and a bool at `extra` */
    JOBS__FIELD_OBJECT,    /* pointer to one of `shape` */
    JOBS__FIELD_OBJECTS,   /* pointer to the first of `shape`, and a size_t at `extra` */
    JOBS__FIELD_TEXTS,     /* const char *const *, and a size_t at `extra` */
    JOBS__FIELD_LINES      /* likewise */
};

struct jobs__field {
    const char *name;
    size_t name_len;
    enum jobs__field_kind kind;
    bool required;
    bool additive;
    enum jobs__rule rule;  /* of a word */
    const char *words[12]; /* ends in NULL */
    size_t max;            /* bytes of a text, line or reference, items of a list */
    size_t item_max;       /* bytes of a list's text or line */
    bool unique_ids;       /* the `id` of each item is its own */
    size_t offset, extra;  /* in the shape's structure */
    const struct jobs__shape *shape;
};

struct jobs__shape {
    const struct jobs__field *fields;
    size_t count;
    size_t size;       /* of its structure */
    const void *blank; /* an empty one */
};

#define JOBS__FIELDS_MAX 16

enum jobs__root_field {
    JOBS__ROOT_VERSION,
    JOBS__ROOT_JOB,
    JOBS__ROOT_REQUESTED,
    JOBS__ROOT_OUTCOME,
    JOBS__ROOT_PROGRESS,
    JOBS__ROOT_DISPOSITION,
    JOBS__ROOT_ARTIFACTS,
    JOBS__ROOT_VERIFICATION,
    JOBS__ROOT_BLOCKER,
    JOBS__ROOT_FINDINGS,
    JOBS__ROOT_REVIEWS,
    JOBS__ROOT_QUESTIONS,
    JOBS__ROOT_NEXT,
    JOBS__ROOT_SUPERSEDES,
    JOBS__ROOT_SOURCE
};

enum jobs__artifact_field {
    JOBS__ARTIFACT_KIND,
    JOBS__ARTIFACT_LABEL,
    JOBS__ARTIFACT_REFERENCE
};

extern const struct jobs__shape jobs__root_shape, jobs__artifact_shape;

struct jobs_handoff {
    const char *job_request, *requested_outcome, *outcome, *last_progress, *disposition, *blocker, *supersedes;
    const struct jobs_artifact *artifacts;
    const struct jobs_verification *verification;
    const struct jobs_finding *findings;
    const struct jobs_review *reviews;
    const struct jobs_question *questions;
    const struct jobs_next *next;
    const struct jobs_source *source;
    size_t artifact_count, verification_count, finding_count, review_count, question_count;
    char *memory; /* everything the pointers above lead to */
    char *canonical;
    size_t canonical_len;
};

/* The field of that name, or NULL. Looks first at *hint, and leaves there where to look first for the member behind it,
 * so that members in canonical order are found at once. */
const struct jobs__field *jobs__field_find(const struct jobs__shape *shape, const char *name, size_t len, size_t *hint);

#endif
