/* jobs/handoff.h - one handoff: whole, valid, never changing.
 *
 * A struct jobs_handoff exists only if every rule of docs/protocol/handoff.md holds for it; nobody who is given one
 * checks again. Strings it returns are NUL-terminated UTF-8 without control characters but \n and \t, and live as long
 * as it does. Optional strings are NULL when absent.
 */
#ifndef JOBS_HANDOFF_H
#define JOBS_HANDOFF_H

#include <jobs/error.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JOBS_KIND_REQUEST  43001
#define JOBS_KIND_ACCEPTED 43002
#define JOBS_KIND_PROGRESS 43003
#define JOBS_KIND_RESULT   43004
#define JOBS_KIND_CANCEL   43005
#define JOBS_KIND_ERROR    43006

#define JOBS_INPUT_MAX   ((size_t)1048576) /* bytes of a manifest */
#define JOBS_CONTENT_MAX ((size_t)65536)   /* bytes of the canonical payload */

struct jobs_handoff;

enum jobs_disposition {
    JOBS_COMPLETED,
    JOBS_PARTIAL,
    JOBS_BLOCKED,
    JOBS_FAILED,
    JOBS_NO_ARTIFACT
};
JOBS_PUBLIC const char *jobs_disposition_name(enum jobs_disposition d);     /* "no_artifact" */
JOBS_PUBLIC const char *jobs_disposition_label(enum jobs_disposition d);    /* "Completed without an artifact" */
JOBS_PUBLIC const char *jobs_disposition_headline(enum jobs_disposition d); /* "Job completed" */

struct jobs_artifact {
    const char *kind; /* one of the contract's words: "file", "pull_request", ... */
    const char *label;
    const char *reference; /* as published; a reader's is trimmed */
    const char *source_state;
    const char *sha256; /* additive fields from here on */
    const char *media_type;
    int64_t bytes; /* -1 when absent */
};

struct jobs_verification {
    const char *label;
    const char *status; /* "passed", "failed", "not_run" */
    const char *evidence;
    const char *claim_source; /* additive fields from here on */
    const char *command;
    const char *evidence_sha256;
    bool has_exit_code;
    int32_t exit_code;
};

struct jobs_finding {
    const char *id, *severity, *summary, *bucket;     /* bucket: "addressed", "unresolved", "observation" */
    const char *owner, *disposition, *filed_artifact; /* optional */
};

struct jobs_review {
    const char *role, *reviewer, *verdict;    /* verdict: "approve", "hold", "reject", "info" */
    const char *summary, *reference, *sha256; /* optional */
};

struct jobs_question {
    const char *id, *question;
    const char *const *options;
    size_t option_count;
};

/* Advice about what comes next; never authority. */
struct jobs_next {
    const char *owner, *intent, *text; /* optional */
    const char *const *targets;
    size_t target_count;
};

/* What a handoff was converted from. */
struct jobs_source {
    const char *format;
    const char *version, *producer, *native_outcome, *original; /* optional */
    const char *sha256;
    int64_t bytes;
    const char *const *repairs;
    size_t repair_count;
};

/* What stands beside a manifest, on the command line or from the job check. All may be NULL. */
struct jobs_given {
    const char *job_request; /* 64 lower-case hex: fills in a missing jobRequest; one that differs is a violation */
    const char *requested_outcome; /* likewise */
    const char *supersedes;        /* likewise, 64 lower-case hex */
    bool requested_outcome_later;  /* a missing requestedOutcome is no violation: the job check will bring it. Such a
                                      handoff cannot become an event; parse again when it is known */
};

/* Parse the len bytes at json (UTF-8, need not end in NUL) by the publisher's rules.
 *
 * On success *out is new and report is empty. Otherwise *out is NULL and report lists every broken rule, in document
 * order. given may be NULL. Returns JOBS_OK, JOBS_INVALID or JOBS_NO_MEMORY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_handoff_parse(struct jobs_handoff **out, const char *json, size_t len,
                                                 const struct jobs_given *given, struct jobs_report *report);

/* Parse an event's content by the reader's rules (docs/protocol/handoff.md, "Reader"): looser in what is named there,
 * and an additive field that breaks its own rule is left out and listed in `left_out` (may be NULL). reply_id is the
 * value of the event's one `e` tag marked reply, any case. On JOBS_INVALID the content is shown as the Markdown text
 * it always was; report says why. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_handoff_read(struct jobs_handoff **out, const char *content, size_t len,
                                                const char *reply_id, struct jobs_report *report,
                                                struct jobs_report *left_out);

JOBS_PUBLIC void jobs_handoff_free(struct jobs_handoff *handoff);

JOBS_PUBLIC const char *jobs_handoff_job_request(const struct jobs_handoff *handoff); /* 64 lower-case hex */
JOBS_PUBLIC const char *jobs_handoff_requested_outcome(const struct jobs_handoff *handoff);
JOBS_PUBLIC const char *jobs_handoff_outcome(const struct jobs_handoff *handoff);
JOBS_PUBLIC const char *jobs_handoff_last_progress(const struct jobs_handoff *handoff);
JOBS_PUBLIC enum jobs_disposition jobs_handoff_disposition(const struct jobs_handoff *handoff);
JOBS_PUBLIC const char *jobs_handoff_blocker(const struct jobs_handoff *handoff);
JOBS_PUBLIC const char *jobs_handoff_supersedes(const struct jobs_handoff *handoff);
JOBS_PUBLIC const struct jobs_artifact *jobs_handoff_artifacts(const struct jobs_handoff *handoff, size_t *count);
JOBS_PUBLIC const struct jobs_verification *jobs_handoff_verification(const struct jobs_handoff *handoff,
                                                                      size_t *count);
JOBS_PUBLIC const struct jobs_finding *jobs_handoff_findings(const struct jobs_handoff *handoff, size_t *count);
JOBS_PUBLIC const struct jobs_review *jobs_handoff_reviews(const struct jobs_handoff *handoff, size_t *count);
JOBS_PUBLIC const struct jobs_question *jobs_handoff_questions(const struct jobs_handoff *handoff, size_t *count);
JOBS_PUBLIC const struct jobs_next *jobs_handoff_next(const struct jobs_handoff *handoff);     /* NULL when absent */
JOBS_PUBLIC const struct jobs_source *jobs_handoff_source(const struct jobs_handoff *handoff); /* NULL when absent */

/* The bytes that are signed: compact JSON in canonical order, not NUL-terminated text of *len bytes. Borrowed. */
JOBS_PUBLIC const char *jobs_handoff_canonical(const struct jobs_handoff *handoff, size_t *len);

/* The bytes that decide whether two handoffs say the same: the canonical payload without `supersedes`, and without
 * `requestedOutcome` when so asked. Malloced into *out (*len bytes). Returns JOBS_OK or JOBS_NO_MEMORY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_handoff_comparable(char **out, size_t *len, const struct jobs_handoff *handoff,
                                                      bool without_requested_outcome);
/* SHA-256 of those bytes (with requestedOutcome), as 64 lower-case hex. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_handoff_digest(char hex[65], const struct jobs_handoff *handoff);

/* Walks every text and member name of a valid handoff, unknown fields included, decoded; used by the secrets guard.
 * Stops at the first non-zero return of visit and returns it. pointer is the JSON Pointer of the text. */
JOBS_PUBLIC int jobs_handoff_visit_texts(const struct jobs_handoff *handoff,
                                         int (*visit)(void *context, const char *pointer, const char *text, size_t len),
                                         void *context);

/* The JSON Schema (2020-12) of the manifest and a filled-in example to start from: static text. */
JOBS_PUBLIC const char *jobs_handoff_schema(void);
JOBS_PUBLIC const char *jobs_handoff_template(void);

#ifdef __cplusplus
}
#endif
#endif
