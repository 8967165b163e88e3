/* handoff.c - a handoff's life: parsed by the publisher's or the reader's rules, looked at, freed.
 *
 * Whatever comes out of here holds; the rules themselves are check.c's.
 */
#include "build.h"
#include "canonical.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* The canonical form of len bytes at most: every one of them an escape of six. */
static size_t canonical_max(size_t len)
{
    return 6 * len + 1024;
}

struct parse {
    struct jobs__json doc;
    struct jobs__buffer text, canonical;
    struct jobs__violations violations, left_out;
    struct jobs__check check;
};

static void list_violation(struct jobs__violations *list, const char *rule, const char *pointer, size_t offset,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));

static void list_violation(struct jobs__violations *list, const char *rule, const char *pointer, size_t offset,
                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    jobs__violations_add(list, rule, pointer, offset, format, arguments);
    va_end(arguments);
}

static void list_fault(void *context, const struct jobs__json_fault *fault)
{
    list_violation(context, fault->rule, fault->pointer, fault->offset, "%s", fault->what);
}

static void list_size(struct parse *p, const char *what, size_t max, size_t len)
{
    list_violation(&p->violations, jobs__rule_number(JOBS__H109), "", 0,
                   "the %s must have at most %zu bytes, but has %zu", what, max, len);
}

/* Checks everything, publisher or reader, and leaves the canonical form in p->canonical. */
static int check_bytes(struct parse *p, const char *text, size_t len)
{
    bool reader = p->check.reader;
    size_t max = reader ? JOBS_CONTENT_MAX : JOBS_INPUT_MAX;
    if (len > max) {
        if (reader)
            list_size(p, "payload", max, len);
        else /* how many there are is not known: whoever read them may have stopped here */
            list_violation(&p->violations, jobs__rule_number(JOBS__H101), "", 0,
                           "the input must have at most %zu bytes, but has more", max);
        return JOBS_OK;
    }
    int code = jobs__json_parse_all(&p->doc, text, len, list_fault, &p->violations);
    if (code != JOBS_OK)
        return code == JOBS_INVALID ? JOBS_OK : code;
    p->text.max = len;
    p->check.doc = &p->doc;
    p->check.text = &p->text;
    p->check.violations = &p->violations;
    jobs__check_document(&p->check);
    if (p->check.no_memory)
        return JOBS_NO_MEMORY;
    const struct jobs_given *given = p->check.given;
    p->canonical.max =
        canonical_max(len) +
        (given != NULL && given->requested_outcome != NULL ? canonical_max(strlen(given->requested_outcome)) : 0);
    const struct jobs__canonical options = {.given = given};
    jobs__canonical_write(&p->canonical, &p->doc, &options);
    if (p->canonical.failed)
        return JOBS_NO_MEMORY;
    if (!reader && p->canonical.len > JOBS_CONTENT_MAX)
        list_size(p, "canonical payload", JOBS_CONTENT_MAX, p->canonical.len);
    return JOBS_OK;
}

/* Everything comes from the canonical form, so that what the structures say is what is signed. */
static int make(struct jobs_handoff **out, struct parse *p)
{
    struct jobs_handoff *handoff = calloc(1, sizeof *handoff);
    if (handoff == NULL)
        return JOBS_NO_MEMORY;
    handoff->canonical_len = p->canonical.len;
    handoff->canonical = jobs__buffer_take(&p->canonical);
    int code = jobs__json_parse(&p->doc, handoff->canonical, handoff->canonical_len, NULL);
    if (code == JOBS_OK)
        code = jobs__build(handoff, &p->doc, p->check.reader);
    if (code != JOBS_OK) {
        jobs_handoff_free(handoff);
        return code;
    }
    *out = handoff;
    return JOBS_OK;
}

static int parse(struct jobs_handoff **out, struct parse *p, const char *text, size_t len, struct jobs_report *report)
{
    *out = NULL;
    int code = check_bytes(p, text, len);
    if (code == JOBS_OK)
        code = jobs__violations_report(&p->violations, text, len, report);
    if (code == JOBS_OK)
        code = p->violations.count > 0 ? JOBS_INVALID : make(out, p);
    return code;
}

static void finish(struct parse *p)
{
    jobs__json_free(&p->doc);
    jobs__buffer_free(&p->text);
    jobs__buffer_free(&p->canonical);
    jobs__violations_free(&p->violations);
    jobs__violations_free(&p->left_out);
}

int jobs_handoff_parse(struct jobs_handoff **out, const char *json, size_t len, const struct jobs_given *given,
                       struct jobs_report *report)
{
    struct parse p = {.check = {.given = given}};
    int code = parse(out, &p, json, len, report);
    finish(&p);
    return code;
}

int jobs_handoff_read(struct jobs_handoff **out, const char *content, size_t len, const char *reply_id,
                      struct jobs_report *report, struct jobs_report *left_out)
{
    struct parse p = {.check = {.reader = true, .reply_id = reply_id}};
    p.check.left_out = &p.left_out;
    int code = parse(out, &p, content, len, report);
    if (code == JOBS_OK && jobs__violations_report(&p.left_out, content, len, left_out) != JOBS_OK) {
        jobs_handoff_free(*out);
        *out = NULL;
        code = JOBS_NO_MEMORY;
    }
    finish(&p);
    return code;
}

void jobs_handoff_free(struct jobs_handoff *handoff)
{
    if (handoff == NULL)
        return;
    free(handoff->memory);
    free(handoff->canonical);
    free(handoff);
}

/* --- dispositions --- */

static const struct {
    const char *name, *label, *headline;
} dispositions[] = {
    [JOBS_COMPLETED] = {"completed", "Completed", "Job completed"},
    [JOBS_PARTIAL] = {"partial", "Partially completed", "Job partially completed"},
    [JOBS_BLOCKED] = {"blocked", "Blocked", "Job blocked"},
    [JOBS_FAILED] = {"failed", "Failed", "Job failed"},
    [JOBS_NO_ARTIFACT] = {"no_artifact", "Completed without an artifact", "Job completed"},
};

const char *jobs_disposition_name(enum jobs_disposition d)
{
    return dispositions[d].name;
}

const char *jobs_disposition_label(enum jobs_disposition d)
{
    return dispositions[d].label;
}

const char *jobs_disposition_headline(enum jobs_disposition d)
{
    return dispositions[d].headline;
}

/* --- looking at it --- */

const char *jobs_handoff_job_request(const struct jobs_handoff *handoff)
{
    return handoff->job_request;
}

const char *jobs_handoff_requested_outcome(const struct jobs_handoff *handoff)
{
    return handoff->requested_outcome;
}

const char *jobs_handoff_outcome(const struct jobs_handoff *handoff)
{
    return handoff->outcome;
}

const char *jobs_handoff_last_progress(const struct jobs_handoff *handoff)
{
    return handoff->last_progress;
}

enum jobs_disposition jobs_handoff_disposition(const struct jobs_handoff *handoff)
{
    enum jobs_disposition d = JOBS_COMPLETED;
    while (strcmp(dispositions[d].name, handoff->disposition) != 0)
        d++;
    return d;
}

const char *jobs_handoff_blocker(const struct jobs_handoff *handoff)
{
    return handoff->blocker;
}

const char *jobs_handoff_supersedes(const struct jobs_handoff *handoff)
{
    return handoff->supersedes;
}

const struct jobs_artifact *jobs_handoff_artifacts(const struct jobs_handoff *handoff, size_t *count)
{
    *count = handoff->artifact_count;
    return handoff->artifacts;
}

const struct jobs_verification *jobs_handoff_verification(const struct jobs_handoff *handoff, size_t *count)
{
    *count = handoff->verification_count;
    return handoff->verification;
}

const struct jobs_finding *jobs_handoff_findings(const struct jobs_handoff *handoff, size_t *count)
{
    *count = handoff->finding_count;
    return handoff->findings;
}

const struct jobs_review *jobs_handoff_reviews(const struct jobs_handoff *handoff, size_t *count)
{
    *count = handoff->review_count;
    return handoff->reviews;
}

const struct jobs_question *jobs_handoff_questions(const struct jobs_handoff *handoff, size_t *count)
{
    *count = handoff->question_count;
    return handoff->questions;
}

const struct jobs_next *jobs_handoff_next(const struct jobs_handoff *handoff)
{
    return handoff->next;
}

const struct jobs_source *jobs_handoff_source(const struct jobs_handoff *handoff)
{
    return handoff->source;
}

const char *jobs_handoff_canonical(const struct jobs_handoff *handoff, size_t *len)
{
    *len = handoff->canonical_len;
    return handoff->canonical;
}

int jobs_handoff_comparable(char **out, size_t *len, const struct jobs_handoff *handoff, bool without_requested_outcome)
{
    struct jobs__json doc = {0};
    struct jobs__buffer bytes = {.max = canonical_max(handoff->canonical_len)};
    const struct jobs__canonical options = {.without_supersedes = true,
                                            .without_requested_outcome = without_requested_outcome};
    *out = NULL;
    *len = 0;
    int code = jobs__json_parse(&doc, handoff->canonical, handoff->canonical_len, NULL);
    if (code == JOBS_OK) {
        jobs__canonical_write(&bytes, &doc, &options);
        *len = bytes.len;
        *out = jobs__buffer_take(&bytes);
        code = *out == NULL ? JOBS_NO_MEMORY : JOBS_OK;
    }
    jobs__json_free(&doc);
    return code;
}
