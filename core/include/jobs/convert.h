/* jobs/convert.h - machine-readable results of other systems, turned into a manifest without upgrading anything.
 *
 * Five formats of three systems; docs/protocol/convert-*.md has their mapping and numbered rules. Nothing is read from
 * disk here: evidence is hashed through a callback. The same input and options give the same bytes.
 */
#ifndef JOBS_CONVERT_H
#define JOBS_CONVERT_H

#include <jobs/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JOBS_CONVERT_INPUT_MAX ((size_t)1048576) /* bytes of a source */

enum jobs_format {
    JOBS_FORMAT_AUTO,
    JOBS_FORMAT_BUBBLES,
    JOBS_FORMAT_SKILL_OUTCOME,
    JOBS_FORMAT_WORKFLOW_ENVELOPE,
    JOBS_FORMAT_SUBLATION_MANIFEST,
    JOBS_FORMAT_SUBLATION_REPORT
};
JOBS_PUBLIC const char *jobs_format_name(enum jobs_format format); /* "auto", "bubbles", ... */
/* False when there is no format of that name. */
JOBS_PUBLIC bool jobs_format_from_name(enum jobs_format *out, const char *name);
/* What to send back to a model whose result could not be read: one sentence, static; NULL where there is none. */
JOBS_PUBLIC const char *jobs_format_reask(enum jobs_format format);

enum jobs_evidence {
    JOBS_EVIDENCE_HASHED,
    JOBS_EVIDENCE_MISSING,
    JOBS_EVIDENCE_UNREADABLE
};

struct jobs_convert_options {
    enum jobs_format format;
    bool schema_level;             /* what the owner's program accepts; such a manifest is to be looked at, not sent */
    size_t index;                  /* the N-th candidate of the input, from 1; 0 when there must be just one */
    bool keep_original;            /* the redacted input goes into source.original */
    const char *job_request;       /* 64 lower-case hex */
    const char *requested_outcome; /* text */
    bool job_later;                /* both may be NULL: they are known only at publication */
    /* SHA-256 of the file at a relative path below the evidence root, as 64 lower-case hex; NULL: nothing is hashed. */
    enum jobs_evidence (*hash_evidence)(void *context, const char *path, char hex[65]);
    /* The first credential in text, as start and length; false when there is none. NULL: not searched. */
    bool (*find_secret)(void *context, const char *text, size_t len, size_t *start, size_t *length);
    void *context;
};

/* On success *manifest is malloced: canonical JSON of *len bytes, valid by docs/protocol/handoff.md (but for what
 * job_later leaves out). On JOBS_INVALID report lists every broken rule; pointers and lines are of the source. *format
 * (may be NULL) is the format that was recognised, JOBS_FORMAT_AUTO when none was. Also JOBS_NO_MEMORY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_convert(char **manifest, size_t *manifest_len, enum jobs_format *format,
                                           const char *input, size_t input_len,
                                           const struct jobs_convert_options *options, struct jobs_report *report);

#ifdef __cplusplus
}
#endif
#endif
