/* contract.c - the tables of contract.h. Checks nothing: the words and limits of docs/protocol/handoff.md, in its
 * order. */
#include "contract.h"

#include <stddef.h>
#include <string.h>

#define NAME(text)          .name = (text), .name_len = sizeof(text) - 1
#define AT(type, member)    .offset = offsetof(struct type, member)
#define COUNT(type, member) .extra = offsetof(struct type, member)
#define SHAPE(table, type, empty)                                                                                      \
    {                                                                                                                  \
        .fields = (table), .count = sizeof(table) / sizeof *(table), .size = sizeof(struct type), .blank = &(empty)    \
    }

#define LINE_BYTES                 512
#define TEXT_BYTES                 4096
#define LIST_ITEMS                 200
#define LINE(type, text, member)   NAME(text), .kind = JOBS__FIELD_LINE, .max = LINE_BYTES, AT(type, member)
#define TEXT(type, text, member)   NAME(text), .kind = JOBS__FIELD_TEXT, .max = TEXT_BYTES, AT(type, member)
#define DIGEST(type, text, member) NAME(text), .kind = JOBS__FIELD_DIGEST, AT(type, member)
#define SIZE(type, member)         NAME("bytes"), .kind = JOBS__FIELD_SIZE, AT(type, member)
#define REFERENCE(type)            NAME("reference"), .kind = JOBS__FIELD_REFERENCE, .max = 2048, AT(type, reference)

static const struct jobs__field artifact_fields[] = {
    [JOBS__ARTIFACT_KIND] = {NAME("kind"), .kind = JOBS__FIELD_WORD, .required = true, .rule = JOBS__H212,
                             .words = {"file", "media", "branch", "commit", "pull_request", "canvas", "workflow_output",
                                       "build", "deployment", "link", "other"},
                             AT(jobs_artifact, kind)},
    [JOBS__ARTIFACT_LABEL] = {LINE(jobs_artifact, "label", label), .required = true},
    [JOBS__ARTIFACT_REFERENCE] = {REFERENCE(jobs_artifact), .required = true},
    {LINE(jobs_artifact, "sourceState", source_state)},
    {DIGEST(jobs_artifact, "sha256", sha256), .additive = true},
    {SIZE(jobs_artifact, bytes), .additive = true},
    {LINE(jobs_artifact, "mediaType", media_type), .additive = true},
};
static const struct jobs_artifact no_artifact = {.bytes = -1};
const struct jobs__shape jobs__artifact_shape = SHAPE(artifact_fields, jobs_artifact, no_artifact);

static const struct jobs__field verification_fields[] = {
    {LINE(jobs_verification, "label", label), .required = true},
    {NAME("status"), .kind = JOBS__FIELD_WORD, .required = true, .rule = JOBS__H213,
     .words = {"passed", "failed", "not_run"}, AT(jobs_verification, status)},
    {NAME("evidence"), .kind = JOBS__FIELD_TEXT, .max = 2048, AT(jobs_verification, evidence)},
    {NAME("claimSource"), .kind = JOBS__FIELD_WORD, .additive = true, .rule = JOBS__H504,
     .words = {"executed", "interpreted", "reported", "not_run"}, AT(jobs_verification, claim_source)},
    {TEXT(jobs_verification, "command", command), .additive = true},
    {NAME("exitCode"), .kind = JOBS__FIELD_EXIT, .additive = true, AT(jobs_verification, exit_code),
     COUNT(jobs_verification, has_exit_code)},
    {DIGEST(jobs_verification, "evidenceSha256", evidence_sha256), .additive = true},
};
static const struct jobs_verification no_verification;
static const struct jobs__shape verification_shape = SHAPE(verification_fields, jobs_verification, no_verification);

static const struct jobs__field finding_fields[] = {
    {LINE(jobs_finding, "id", id), .required = true},
    {LINE(jobs_finding, "severity", severity), .required = true},
    {TEXT(jobs_finding, "summary", summary), .required = true},
    {NAME("bucket"), .kind = JOBS__FIELD_WORD, .required = true, .rule = JOBS__H504,
     .words = {"addressed", "unresolved", "observation"}, AT(jobs_finding, bucket)},
    {LINE(jobs_finding, "owner", owner)},
    {LINE(jobs_finding, "disposition", disposition)},
    {LINE(jobs_finding, "filedArtifact", filed_artifact)},
};
static const struct jobs_finding no_finding;
static const struct jobs__shape finding_shape = SHAPE(finding_fields, jobs_finding, no_finding);

static const struct jobs__field review_fields[] = {
    {LINE(jobs_review, "role", role), .required = true},
    {LINE(jobs_review, "reviewer", reviewer), .required = true},
    {NAME("verdict"), .kind = JOBS__FIELD_WORD, .required = true, .rule = JOBS__H504,
     .words = {"approve", "hold", "reject", "info"}, AT(jobs_review, verdict)},
    {TEXT(jobs_review, "summary", summary)},
    {REFERENCE(jobs_review)},
    {DIGEST(jobs_review, "sha256", sha256)},
};
static const struct jobs_review no_review;
static const struct jobs__shape review_shape = SHAPE(review_fields, jobs_review, no_review);

static const struct jobs__field question_fields[] = {
    {LINE(jobs_question, "id", id), .required = true},
    {TEXT(jobs_question, "question", question), .required = true},
    {NAME("options"), .kind = JOBS__FIELD_TEXTS, .max = LIST_ITEMS, .item_max = TEXT_BYTES, AT(jobs_question, options),
     COUNT(jobs_question, option_count)},
};
static const struct jobs_question no_question;
static const struct jobs__shape question_shape = SHAPE(question_fields, jobs_question, no_question);

static const struct jobs__field next_fields[] = {
    {LINE(jobs_next, "owner", owner)},
    {LINE(jobs_next, "intent", intent)},
    {NAME("targets"), .kind = JOBS__FIELD_LINES, .max = LIST_ITEMS, .item_max = LINE_BYTES, AT(jobs_next, targets),
     COUNT(jobs_next, target_count)},
    {TEXT(jobs_next, "text", text)},
};
static const struct jobs_next no_next;
static const struct jobs__shape next_shape = SHAPE(next_fields, jobs_next, no_next);

static const struct jobs__field source_fields[] = {
    {LINE(jobs_source, "format", format), .required = true},
    {LINE(jobs_source, "version", version)},
    {LINE(jobs_source, "producer", producer)},
    {LINE(jobs_source, "nativeOutcome", native_outcome)},
    {DIGEST(jobs_source, "sha256", sha256), .required = true},
    {SIZE(jobs_source, bytes), .required = true},
    {NAME("repairs"), .kind = JOBS__FIELD_TEXTS, .required = true, .max = LIST_ITEMS, .item_max = TEXT_BYTES,
     AT(jobs_source, repairs), COUNT(jobs_source, repair_count)},
    {TEXT(jobs_source, "original", original)},
};
static const struct jobs_source no_source;
static const struct jobs__shape source_shape = SHAPE(source_fields, jobs_source, no_source);

#define OBJECTS(text, limit, member, number)                                                                           \
    NAME(text), .kind = JOBS__FIELD_OBJECTS, .max = (limit), AT(jobs_handoff, member), COUNT(jobs_handoff, number)
#define BIG_TEXT(text, limit, member) NAME(text), .kind = JOBS__FIELD_TEXT, .max = (limit), AT(jobs_handoff, member)

static const struct jobs__field root_fields[] = {
    [JOBS__ROOT_VERSION] = {NAME("schemaVersion"), .kind = JOBS__FIELD_VERSION, .required = true},
    [JOBS__ROOT_JOB] = {NAME("jobRequest"), .kind = JOBS__FIELD_JOB, .required = true, AT(jobs_handoff, job_request)},
    [JOBS__ROOT_REQUESTED] = {BIG_TEXT("requestedOutcome", 8192, requested_outcome), .required = true},
    [JOBS__ROOT_OUTCOME] = {BIG_TEXT("outcome", 8192, outcome), .required = true},
    [JOBS__ROOT_PROGRESS] = {BIG_TEXT("lastProgress", 4096, last_progress)},
    [JOBS__ROOT_DISPOSITION] = {NAME("disposition"), .kind = JOBS__FIELD_WORD, .required = true, .rule = JOBS__H209,
                                .words = {"completed", "partial", "blocked", "failed", "no_artifact"},
                                AT(jobs_handoff, disposition)},
    [JOBS__ROOT_ARTIFACTS] = {OBJECTS("artifacts", 50, artifacts, artifact_count), .shape = &jobs__artifact_shape},
    [JOBS__ROOT_VERIFICATION] = {OBJECTS("verification", 50, verification, verification_count),
                                 .shape = &verification_shape},
    [JOBS__ROOT_BLOCKER] = {BIG_TEXT("blocker", 4096, blocker)},
    [JOBS__ROOT_FINDINGS] = {OBJECTS("findings", LIST_ITEMS, findings, finding_count), .additive = true,
                             .unique_ids = true, .shape = &finding_shape},
    [JOBS__ROOT_REVIEWS] = {OBJECTS("reviews", LIST_ITEMS, reviews, review_count), .additive = true,
                            .shape = &review_shape},
    [JOBS__ROOT_QUESTIONS] = {OBJECTS("questions", LIST_ITEMS, questions, question_count), .additive = true,
                              .unique_ids = true, .shape = &question_shape},
    [JOBS__ROOT_NEXT] = {NAME("next"), .kind = JOBS__FIELD_OBJECT, .additive = true, AT(jobs_handoff, next),
                         .shape = &next_shape},
    [JOBS__ROOT_SUPERSEDES] = {DIGEST(jobs_handoff, "supersedes", supersedes), .additive = true},
    [JOBS__ROOT_SOURCE] = {NAME("source"), .kind = JOBS__FIELD_OBJECT, .additive = true, AT(jobs_handoff, source),
                           .shape = &source_shape},
};
static const struct jobs_handoff no_handoff;
const struct jobs__shape jobs__root_shape = SHAPE(root_fields, jobs_handoff, no_handoff);

const struct jobs__field *jobs__field_find(const struct jobs__shape *shape, const char *name, size_t len, size_t *hint)
{
    for (size_t i = 0; i < shape->count; i++) {
        size_t at = *hint + i < shape->count ? *hint + i : *hint + i - shape->count;
        const struct jobs__field *field = &shape->fields[at];
        if (field->name_len == len && memcmp(field->name, name, len) == 0) {
            *hint = at + 1 < shape->count ? at + 1 : 0;
            return field;
        }
    }
    return NULL;
}
