/* convert.c - from an agent's answer to a manifest: extract, convert by format, assemble, check by the contract. */
#include "conversion.h"

#include "../sha256.h"

#include <jobs/handoff.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *reask;
    void (*convert)(struct jobs__conversion *c);
    const char *outcome, *blocker; /* where in the source these two texts stand */
} formats[] = {
    [JOBS_FORMAT_AUTO] = {"auto", NULL, NULL, "", ""},
    [JOBS_FORMAT_BUBBLES] = {"bubbles", NULL, jobs__convert_bubbles, "/summary", "/blocker/reason"},
    [JOBS_FORMAT_SKILL_OUTCOME] =
        {"skill-outcome",
         "Send your result once more as the last thing in your answer: one block fenced as json that holds a complete "
         "agentic-workflow/skill-outcome of version 1 with exactly the members contract, version, skill, status, "
         "summary, next, blockers, questions, discoveries and evidence_refs.",
         jobs__convert_skill_outcome, "/summary", "/blockers"},
    [JOBS_FORMAT_WORKFLOW_ENVELOPE] =
        {"workflow-envelope",
         "Send your result once more as the last thing in your answer: one block fenced as json that holds a complete "
         "Envelope v2 with exactly the members skill, state, summary, unit, phase, pr, gates, findings, blockers, "
         "dependencies, recommendations, needs_input, next and detail.",
         jobs__convert_workflow_envelope, "/summary", "/blockers"},
    [JOBS_FORMAT_SUBLATION_MANIFEST] = {"sublation-manifest", NULL, jobs__convert_sublation_manifest, "/scope/changes",
                                        "/validation/rejection_reason"},
    [JOBS_FORMAT_SUBLATION_REPORT] = {"sublation-report", NULL, jobs__convert_sublation_report, "/run_id", "/items"},
};
#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

static const char *const repair_names[JOBS__REPAIR_COUNT] = {
    [JOBS__REPAIR_TEXT_REDACTED] = "text-redacted",
    [JOBS__REPAIR_PLAIN_FORM] = "plain-form",
    [JOBS__REPAIR_BINDING_REDACTED] = "binding-redacted",
    [JOBS__REPAIR_LEGACY_INTENT] = "legacy-intent",
    [JOBS__REPAIR_DETAIL_DEFAULTED] = "detail-defaulted",
    [JOBS__REPAIR_DESIGN_CANDIDATES_MOVED] = "design-candidates-moved",
    [JOBS__REPAIR_PATH_RELATIVE] = "path-relative",
};

const char *jobs_format_name(enum jobs_format format)
{
    return formats[format].name;
}

bool jobs_format_from_name(enum jobs_format *out, const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0) {
            *out = (enum jobs_format)i;
            return true;
        }
    return false;
}

const char *jobs_format_reask(enum jobs_format format)
{
    return formats[format].reask;
}

static void set_buffer(struct jobs__conversion *c, json_t *object, const char *name, const struct jobs__buffer *text)
{
    if (text->failed)
        c->failed = JOBS_NO_MEMORY;
    else if (text->len > 0)
        jobs__set(c, object, name, json_stringn(text->bytes, text->len));
}

static void set_source(struct jobs__conversion *c, json_t *manifest)
{
    char hex[65];
    json_t *source = json_object(), *repairs = json_array();
    if (source == NULL || repairs == NULL) {
        json_decref(source);
        json_decref(repairs);
        c->failed = JOBS_NO_MEMORY;
        return;
    }
    jobs__sha256_hex(hex, c->input, c->input_len);
    jobs__set(c, source, "format", json_string(formats[c->candidate.format].name));
    jobs__put_text(c, source, "version", c->version);
    jobs__put_text(c, source, "producer", c->producer);
    /* one of the format's own words, checked: verbatim */
    jobs__set(c, source, "nativeOutcome", json_string(c->native_outcome));
    jobs__set(c, source, "sha256", json_string(hex));
    jobs__set(c, source, "bytes", json_integer((json_int_t)c->input_len));
    if (c->options->keep_original)
        jobs__put_original(c, source);
    for (int i = 0; i < JOBS__REPAIR_COUNT; i++)
        if (c->repairs[i] && json_array_append_new(repairs, json_string(repair_names[i])) != 0)
            c->failed = JOBS_NO_MEMORY;
    jobs__set(c, source, "repairs", repairs);
    jobs__set(c, manifest, "source", source);
}

static void set_list(struct jobs__conversion *c, json_t *manifest, const char *name, json_t *list)
{
    if (json_array_size(list) > 0)
        jobs__set(c, manifest, name, json_incref(list));
}

static json_t *assemble(struct jobs__conversion *c)
{
    json_t *manifest = json_object();
    jobs__set(c, manifest, "schemaVersion", json_integer(1));
    if (c->options->job_request != NULL)
        jobs__set(c, manifest, "jobRequest", json_string(c->options->job_request));
    if (c->options->requested_outcome != NULL)
        jobs__set(c, manifest, "requestedOutcome", json_string(c->options->requested_outcome));
    set_buffer(c, manifest, "outcome", &c->outcome);
    set_buffer(c, manifest, "lastProgress", &c->progress);
    jobs__set(c, manifest, "disposition", json_string(c->disposition));
    set_list(c, manifest, "artifacts", c->artifacts);
    set_list(c, manifest, "verification", c->verification);
    set_buffer(c, manifest, "blocker", &c->blocker);
    set_list(c, manifest, "findings", c->findings);
    set_list(c, manifest, "reviews", c->reviews);
    set_list(c, manifest, "questions", c->questions);
    if (json_object_size(c->next) > 0)
        jobs__set(c, manifest, "next", json_incref(c->next));
    set_source(c, manifest);
    return manifest;
}

/* The source's pointer behind one into the manifest: of the entry it came from, of a list's last entry, of the text. */
static const char *origin_of(const struct jobs__conversion *c, const char *pointer)
{
    char entry[128];
    const json_t *const lists[] = {c->artifacts, c->verification, c->findings, c->reviews, c->questions};
    const char *const names[] = {"/artifacts", "/verification", "/findings", "/reviews", "/questions"};
    if (strcmp(pointer, "/outcome") == 0)
        return formats[c->candidate.format].outcome;
    if (strcmp(pointer, "/blocker") == 0)
        return formats[c->candidate.format].blocker;
    const char *slash = pointer[0] == '/' ? strchr(pointer + 1, '/') : NULL;
    size_t len = slash == NULL ? strlen(pointer) : strcspn(slash + 1, "/") + (size_t)(slash + 1 - pointer);
    if (len + 24 >= sizeof entry)
        return pointer;
    memcpy(entry, pointer, len);
    entry[len] = '\0';
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(entry, names[i]) == 0 && json_array_size(lists[i]) > 0)
            snprintf(entry + len, sizeof entry - len, "/%zu", json_array_size(lists[i]) - 1);
    const char *origin = json_string_value(json_object_get(c->origins, entry));
    return origin == NULL ? pointer : origin;
}

static int add_bytes(const char *bytes, size_t len, void *context)
{
    jobs__buffer_add(context, bytes, len);
    return 0;
}

/* Not by json_dumps: it goes on behind a name that memory did not hold. The buffer remembers. */
static void dump(struct jobs__conversion *c, struct jobs__buffer *out, const json_t *manifest)
{
    if (json_dump_callback(manifest, add_bytes, out, JSON_COMPACT) != 0 || out->failed)
        c->failed = JOBS_NO_MEMORY;
}

/* What was assembled must be a handoff; what is not is refused here, with the contract's own rule and words. */
static void finish(struct jobs__conversion *c, char **out, size_t *out_len)
{
    json_t *manifest = assemble(c);
    struct jobs__buffer text = {.max = 8 * JOBS__TEXT_MAX}; /* escapes; what is too long is the contract's to say */
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    struct jobs_given given = {.requested_outcome_later = c->options->job_later};
    if (c->options->job_later && c->options->job_request == NULL)
        given.job_request = zeros; /* stands in for this check alone */
    if (!jobs__violated(c))
        dump(c, &text, manifest);
    int rc = jobs__violated(c) ? JOBS_INVALID : jobs_handoff_parse(&handoff, text.bytes, text.len, &given, &report);
    for (size_t i = 0; i < report.count; i++) {
        const struct jobs_violation *v = &report.violations[i];
        jobs__violate(c, "X108", origin_of(c, v->pointer), "the handoff made of it breaks %s at %s: %s", v->rule,
                      v->pointer, v->message);
    }
    if (rc == JOBS_NO_MEMORY)
        c->failed = rc;
    if (rc == JOBS_OK && given.job_request != NULL) {
        *out_len = text.len;
        *out = jobs__buffer_take(&text);
    } else if (rc == JOBS_OK) {
        const char *canonical = jobs_handoff_canonical(handoff, out_len);
        *out = strndup(canonical, *out_len);
        if (*out == NULL)
            c->failed = JOBS_NO_MEMORY;
    }
    jobs_report_wipe(&report);
    jobs_handoff_free(handoff);
    jobs__buffer_free(&text);
    json_decref(manifest);
}

static void require_job(struct jobs__conversion *c)
{
    const struct jobs_convert_options *o = c->options;
    if (o->job_later)
        return;
    if (o->job_request == NULL)
        jobs__violate(c, "X109", "/jobRequest", "give the request's id with --job");
    if (o->requested_outcome == NULL)
        jobs__violate(c, "X109", "/requestedOutcome",
                      "give it with --requested-outcome, or publish with handoff --from and --check-job");
}

static bool set_up(struct jobs__conversion *c)
{
    c->artifacts = json_array();
    c->verification = json_array();
    c->findings = json_array();
    c->reviews = json_array();
    c->questions = json_array();
    c->next = json_object();
    c->origins = json_object();
    c->ids = json_object();
    c->hidden = json_array();
    c->outcome.max = c->blocker.max = c->progress.max = JOBS__TEXT_MAX;
    return c->artifacts != NULL && c->verification != NULL && c->findings != NULL && c->reviews != NULL &&
           c->questions != NULL && c->next != NULL && c->origins != NULL && c->ids != NULL && c->hidden != NULL;
}

static void tear_down(struct jobs__conversion *c)
{
    json_t *const owned[] = {c->source,    c->lines, c->artifacts, c->verification, c->findings, c->reviews,
                             c->questions, c->next,  c->origins,   c->ids,          c->hidden};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        json_decref(owned[i]);
    jobs__buffer_free(&c->outcome);
    jobs__buffer_free(&c->blocker);
    jobs__buffer_free(&c->progress);
}

int jobs_convert(char **manifest, size_t *manifest_len, enum jobs_format *format, const char *input, size_t input_len,
                 const struct jobs_convert_options *options, struct jobs_report *report)
{
    struct jobs__conversion c = {.options = options, .input = input, .input_len = input_len, .report = report};
    *manifest = NULL;
    *manifest_len = 0;
    if (format != NULL)
        *format = options->format;
    if (!set_up(&c))
        c.failed = JOBS_NO_MEMORY;
    else
        jobs__extract(&c);
    if (format != NULL && c.candidate.format != JOBS_FORMAT_AUTO)
        *format = c.candidate.format;
    if (!jobs__violated(&c)) {
        jobs__collect_hidden(&c, c.source, NULL);
        formats[c.candidate.format].convert(&c);
        require_job(&c);
        if (!jobs__violated(&c))
            finish(&c, manifest, manifest_len);
    }
    tear_down(&c);
    if (c.failed != 0) {
        jobs_report_wipe(report);
        free(*manifest);
        *manifest = NULL;
        return JOBS_NO_MEMORY;
    }
    return report->count > 0 ? JOBS_INVALID : JOBS_OK;
}
