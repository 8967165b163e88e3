/* convert.c - from an agent's answer to a manifest: extract, convert by format, assemble, check by the contract. */
#include "conversion.h"

#include "../json.h"
#include "../text.h"

#include <jobs/handoff.h>

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *reask;
    void (*convert)(struct jobs__conversion *c);
} formats[] = {
    [JOBS_FORMAT_AUTO] = {"auto", NULL, NULL},
    [JOBS_FORMAT_BUBBLES] = {"bubbles", NULL, jobs__convert_bubbles},
    [JOBS_FORMAT_SKILL_OUTCOME] =
        {"skill-outcome",
         "Send your result once more as the last thing in your answer: one block fenced as json that holds a complete "
         "agentic-workflow/skill-outcome of version 1 with exactly the members contract, version, skill, status, "
         "summary, next, blockers, questions, discoveries and evidence_refs.",
         jobs__convert_skill_outcome},
    [JOBS_FORMAT_WORKFLOW_ENVELOPE] =
        {"workflow-envelope",
         "Send your result once more as the last thing in your answer: one block fenced as json that holds a complete "
         "Envelope v2 with exactly the members skill, state, summary, unit, phase, pr, gates, findings, blockers, "
         "dependencies, recommendations, needs_input, next and detail.",
         jobs__convert_workflow_envelope},
    [JOBS_FORMAT_SUBLATION_MANIFEST] = {"sublation-manifest", NULL, jobs__convert_sublation_manifest},
    [JOBS_FORMAT_SUBLATION_REPORT] = {"sublation-report", NULL, jobs__convert_sublation_report},
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

static void set(struct jobs__conversion *c, json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value) != 0)
        c->failed = JOBS_NO_MEMORY;
}

static void set_buffer(struct jobs__conversion *c, json_t *object, const char *name, const struct jobs__buffer *text)
{
    if (text->failed)
        c->failed = JOBS_NO_MEMORY;
    else if (text->len > 0)
        set(c, object, name, json_stringn(text->bytes, text->len));
}

/* The three edits that make a local repository binding the redacted one, in the text as it was given: spans of the
 * root, the visibility and the actionable flag, in the order of the text. */
static void append_binding_edits(struct jobs__conversion *c, struct jobs__buffer *out)
{
    struct edit {
        uint32_t value;
        const char *text;
    } edits[3];
    size_t count = 0, at = 0;
    const char *text = c->input + c->candidate.start;
    struct jobs__json doc = {0};
    struct jobs__json_fault fault;
    if (jobs__json_parse(&doc, text, c->candidate.len, &fault) != JOBS_OK) {
        c->failed = JOBS_NO_MEMORY;
        jobs__json_free(&doc);
        return;
    }
    uint32_t resolution = jobs__json_member(&doc, 0, "repositoryResolution");
    edits[count++] = (struct edit){jobs__json_member(&doc, 0, "repositoryRoot"), "\"<redacted-local-root>\""};
    edits[count++] = (struct edit){jobs__json_member(&doc, resolution, "pathVisibility"), "\"redacted\""};
    edits[count++] = (struct edit){jobs__json_member(&doc, resolution, "actionable"), "false"};
    jobs__redact(c, c->input, c->candidate.start, out);
    for (size_t done = 0; done < count; done++) {
        const struct edit *next = NULL;
        for (size_t i = 0; i < count; i++)
            if (doc.values[edits[i].value].start >= at &&
                (next == NULL || doc.values[edits[i].value].start < doc.values[next->value].start))
                next = &edits[i];
        if (next == NULL)
            break;
        jobs__redact(c, text + at, doc.values[next->value].start - at, out);
        jobs__buffer_text(out, next->text);
        at = doc.values[next->value].end;
    }
    jobs__redact(c, text + at, c->input_len - c->candidate.start - at, out);
    jobs__json_free(&doc);
}

static void set_original(struct jobs__conversion *c, json_t *source)
{
    struct jobs__buffer original = {.max = 4 * JOBS_CONVERT_INPUT_MAX};
    if (c->local_binding && c->candidate.block == JOBS__BLOCK_JSON)
        append_binding_edits(c, &original);
    else
        jobs__redact(c, c->input, c->input_len, &original);
    if (original.len > 4096)
        jobs__violate(c, "X110", "", "the redacted input has %zu bytes; leave out --keep-original", original.len);
    else
        set_buffer(c, source, "original", &original);
    jobs__buffer_free(&original);
}

static void set_source(struct jobs__conversion *c, json_t *manifest)
{
    unsigned char digest[32];
    char hex[65];
    json_t *source = json_object(), *repairs = json_array();
    if (source == NULL || repairs == NULL ||
        EVP_Digest(c->input, c->input_len, digest, NULL, EVP_sha256(), NULL) != 1) {
        json_decref(source);
        json_decref(repairs);
        c->failed = JOBS_NO_MEMORY;
        return;
    }
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    set(c, source, "format", json_string(formats[c->candidate.format].name));
    jobs__put_text(c, source, "version", c->version);
    jobs__put_text(c, source, "producer", c->producer);
    /* one of the format's own words, checked: verbatim */
    set(c, source, "nativeOutcome", json_string(c->native_outcome));
    set(c, source, "sha256", json_string(hex));
    set(c, source, "bytes", json_integer((json_int_t)c->input_len));
    if (c->options->keep_original)
        set_original(c, source);
    for (int i = 0; i < JOBS__REPAIR_COUNT; i++)
        if (c->repairs[i] && json_array_append_new(repairs, json_string(repair_names[i])) != 0)
            c->failed = JOBS_NO_MEMORY;
    set(c, source, "repairs", repairs);
    set(c, manifest, "source", source);
}

static void set_list(struct jobs__conversion *c, json_t *manifest, const char *name, json_t *list)
{
    if (json_array_size(list) > 0 && json_object_set(manifest, name, list) != 0)
        c->failed = JOBS_NO_MEMORY;
}

static json_t *assemble(struct jobs__conversion *c)
{
    json_t *manifest = json_object();
    set(c, manifest, "schemaVersion", json_integer(1));
    if (c->options->job_request != NULL)
        set(c, manifest, "jobRequest", json_string(c->options->job_request));
    if (c->options->requested_outcome != NULL)
        set(c, manifest, "requestedOutcome", json_string(c->options->requested_outcome));
    set_buffer(c, manifest, "outcome", &c->outcome);
    set_buffer(c, manifest, "lastProgress", &c->progress);
    set(c, manifest, "disposition", json_string(c->disposition));
    set_list(c, manifest, "artifacts", c->artifacts);
    set_list(c, manifest, "verification", c->verification);
    set_buffer(c, manifest, "blocker", &c->blocker);
    set_list(c, manifest, "findings", c->findings);
    set_list(c, manifest, "reviews", c->reviews);
    set_list(c, manifest, "questions", c->questions);
    if (json_object_size(c->next) > 0 && json_object_set(manifest, "next", c->next) != 0)
        c->failed = JOBS_NO_MEMORY;
    set_source(c, manifest);
    return manifest;
}

/* The source's pointer behind a pointer into the manifest: that of the entry it came from, else the manifest's own. */
static const char *origin_of(const struct jobs__conversion *c, const char *pointer)
{
    char entry[128];
    const char *slash = pointer[0] == '/' ? strchr(pointer + 1, '/') : NULL;
    size_t len = slash == NULL ? strlen(pointer) : strcspn(slash + 1, "/") + (size_t)(slash + 1 - pointer);
    if (len >= sizeof entry)
        return pointer;
    memcpy(entry, pointer, len);
    entry[len] = '\0';
    const char *origin = json_string_value(json_object_get(c->origins, entry));
    return origin == NULL ? pointer : origin;
}

/* What was assembled must be a handoff; what is not is refused here, with the contract's own rule and words. */
static void finish(struct jobs__conversion *c, char **out, size_t *out_len)
{
    json_t *manifest = assemble(c);
    char *text = jobs__violated(c) ? NULL : json_dumps(manifest, JSON_COMPACT);
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    struct jobs_given given = {.requested_outcome_later = c->options->job_later};
    if (c->options->job_later && c->options->job_request == NULL)
        given.job_request = zeros; /* stands in for this check alone */
    int rc = text == NULL ? (jobs__violated(c) ? JOBS_INVALID : JOBS_NO_MEMORY)
                          : jobs_handoff_parse(&handoff, text, strlen(text), &given, &report);
    for (size_t i = 0; i < report.count; i++) {
        const struct jobs_violation *v = &report.violations[i];
        jobs__violate(c, "X108", origin_of(c, v->pointer), "%s %s: %s", v->rule, v->pointer, v->message);
    }
    if (rc == JOBS_NO_MEMORY)
        c->failed = rc;
    if (rc == JOBS_OK && given.job_request != NULL) {
        *out = text;
        *out_len = strlen(text);
        text = NULL;
    } else if (rc == JOBS_OK) {
        const char *canonical = jobs_handoff_canonical(handoff, out_len);
        *out = strndup(canonical, *out_len);
        if (*out == NULL)
            c->failed = JOBS_NO_MEMORY;
    }
    jobs_report_wipe(&report);
    jobs_handoff_free(handoff);
    free(text);
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
    c->hidden = json_array();
    c->outcome.max = c->blocker.max = c->progress.max = 4 * JOBS_CONVERT_INPUT_MAX;
    return c->artifacts != NULL && c->verification != NULL && c->findings != NULL && c->reviews != NULL &&
           c->questions != NULL && c->next != NULL && c->origins != NULL && c->hidden != NULL;
}

static void tear_down(struct jobs__conversion *c)
{
    json_t *const owned[] = {c->source,  c->lines,     c->artifacts, c->verification, c->findings,
                             c->reviews, c->questions, c->next,      c->origins,      c->hidden};
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
