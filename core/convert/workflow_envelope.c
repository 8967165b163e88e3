/* workflow_envelope.c - agentic-workflow's Envelope v2; docs/protocol/convert-workflow.md has the mapping and rules. */
#include "workflow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

static const char *const states[] = {"OK",     "CONTINUE",    "READY_FOR_REVIEW", "READY_FOR_AUDIT", "MERGE_READY",
                                     "MERGED", "NEEDS_FIXES", "BLOCKED",          "NEEDS_INPUT",     "FAILED",
                                     "HALT",   NULL};
static const char *const unit_types[] = {"feature", "fix", "docs", "none", NULL};
static const char *const pr_states[] = {"open", "merged", "none", NULL};
static const char *const ci_states[] = {"green", "red", "pending", "none", NULL};
static const char *const gate_states[] = {"green", "red", "not-run", NULL};
static const char *const severities[] = {"high", "med", "low", NULL};
static const char *const tiers[] = {"strong", "cheap", NULL};

static const struct jobs__field unit_fields[] = {
    {"type", JOBS__STRING, JOBS__REQUIRED, unit_types, 0, NULL},
    {"id", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"issue", JOBS__INTEGER, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"branch", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape unit_shape = {true, unit_fields, COUNT(unit_fields)};

static const struct jobs__field phase_fields[] = {
    {"current", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"total", JOBS__INTEGER, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"completed", JOBS__INTEGER, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape phase_shape = {true, phase_fields, COUNT(phase_fields)};

static const struct jobs__field pr_fields[] = {
    {"number", JOBS__INTEGER, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"url", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"state", JOBS__STRING, JOBS__REQUIRED, pr_states, 0, NULL},
    {"head_sha", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"merge_ready", JOBS__BOOLEAN, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"ci", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, ci_states, 0, NULL},
};
static const struct jobs__shape pr_shape = {true, pr_fields, COUNT(pr_fields)};

static const struct jobs__field gates_fields[] = {
    {"verification", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, gate_states, 0, NULL},
    {"review_pending", JOBS__BOOLEAN, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"audit_pending", JOBS__BOOLEAN, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape gates_shape = {true, gates_fields, COUNT(gates_fields)};

static const struct jobs__field fix_fields[] = {
    {"id", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"file", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"axis", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"severity", JOBS__STRING, JOBS__REQUIRED, severities, 0, NULL},
    {"class", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"route", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"suggested_tier", JOBS__STRING, JOBS__REQUIRED, tiers, 0, NULL},
};
static const struct jobs__shape fix_shape = {true, fix_fields, COUNT(fix_fields)};

static const struct jobs__field findings_fields[] = {
    {"fix_now", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__OBJECT, &fix_shape},
    {"issues_filed", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__INTEGER, NULL},
    {"untriaged", JOBS__INTEGER, JOBS__REQUIRED | JOBS__NATURAL, NULL, 0, NULL},
    {"decisions_recorded", JOBS__INTEGER, JOBS__REQUIRED | JOBS__NATURAL, NULL, 0, NULL},
};
static const struct jobs__shape findings_shape = {true, findings_fields, COUNT(findings_fields)};

static const struct jobs__field dependency_fields[] = {
    {"unmet", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
    {"build_order", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape dependency_shape = {true, dependency_fields, COUNT(dependency_fields)};

static const struct jobs__field recommendation_fields[] = {
    {"product_audit", JOBS__BOOLEAN, JOBS__REQUIRED, NULL, 0, NULL},
    {"reason", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape recommendation_shape = {true, recommendation_fields, COUNT(recommendation_fields)};

static const struct jobs__field input_fields[] = {
    {"question", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"options", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape input_shape = {true, input_fields, COUNT(input_fields)};

static const struct jobs__field suggestion_fields[] = {
    {"command", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"trigger", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"source_skill", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
};
static const struct jobs__shape suggestion_shape = {true, suggestion_fields, COUNT(suggestion_fields)};

static const struct jobs__field next_fields[] = {
    {"recommended", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"alternatives", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
    {"tier", JOBS__STRING, JOBS__REQUIRED, tiers, 0, NULL},
    {"suggested", JOBS__ARRAY, 0, NULL, JOBS__OBJECT, &suggestion_shape},
    {"continuation", JOBS__ANY, 0, NULL, 0, NULL},
};
static const struct jobs__shape next_shape = {true, next_fields, COUNT(next_fields)};

static const struct jobs__field envelope_fields[] = {
    {"skill", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"state", JOBS__STRING, JOBS__REQUIRED, states, 0, NULL},
    {"summary", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"unit", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &unit_shape},
    {"phase", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &phase_shape},
    {"pr", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &pr_shape},
    {"gates", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &gates_shape},
    {"findings", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &findings_shape},
    {"blockers", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__OBJECT, &jobs__workflow_blocker_shape},
    {"dependencies", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &dependency_shape},
    {"recommendations", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &recommendation_shape},
    {"needs_input", JOBS__OBJECT, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, &input_shape},
    {"next", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &next_shape},
    {"detail", JOBS__ANY, JOBS__REQUIRED, NULL, 0, NULL},
};
static const struct jobs__shape envelope_shape = {true, envelope_fields, COUNT(envelope_fields)};
static const struct jobs__shape_rules shape_rules = {"E101", "E102", "E103", "E104"};

/* --- reading --- */

static const json_t *part(const struct jobs__conversion *c, const char *object, const char *name)
{
    return json_object_get(json_object_get(c->source, object), name);
}

static const char *word(const struct jobs__conversion *c, const char *object, const char *name)
{
    return jobs__text(json_object_get(c->source, object), name);
}

static bool word_is(const struct jobs__conversion *c, const char *object, const char *name, const char *expected)
{
    const char *text = word(c, object, name);
    return text != NULL && strcmp(text, expected) == 0;
}

static bool state_is(const struct jobs__conversion *c, const char *state)
{
    return strcmp(json_string_value(json_object_get(c->source, "state")), state) == 0;
}

/* The two spellings of older writers, put right and named. */
static void repair_root(struct jobs__conversion *c)
{
    if (json_object_get(c->source, "detail") == NULL) {
        jobs__repair(c, JOBS__REPAIR_DETAIL_DEFAULTED);
        jobs__set(c, c->source, "detail", json_null());
    }
    json_t *candidates = json_object_get(c->source, "design_candidates");
    json_t *detail = json_object_get(c->source, "detail");
    if (candidates == NULL)
        return;
    if (!json_is_null(detail) && !json_is_object(detail)) {
        jobs__break(c, "E105", "/detail");
        return;
    }
    json_t *moved = json_is_object(detail) ? json_incref(detail) : json_object();
    if (json_object_set(moved, "design_candidates", candidates) != 0 ||
        json_object_set_new(c->source, "detail", moved) != 0 || json_object_del(c->source, "design_candidates") != 0)
        c->failed = JOBS_NO_MEMORY;
    jobs__repair(c, JOBS__REPAIR_DESIGN_CANDIDATES_MOVED);
}

/* --- the contract --- */

static bool all_of_scope_run(const json_t *blockers)
{
    size_t i;
    json_t *entry;
    json_array_foreach(blockers, i, entry) if (strcmp(jobs__text(entry, "scope"), "run") != 0) return false;
    return true;
}

static void check_finished(struct jobs__conversion *c)
{
    if (word_is(c, "gates", "verification", "red"))
        jobs__break(c, "E206", "/gates/verification");
    if (word_is(c, "pr", "ci", "red"))
        jobs__break(c, "E206", "/pr/ci");
    if (json_array_size(part(c, "findings", "fix_now")) > 0)
        jobs__break(c, "E206", "/findings/fix_now");
    if (json_array_size(json_object_get(c->source, "blockers")) > 0)
        jobs__break(c, "E206", "/blockers");
}

static void check_merge_ready(struct jobs__conversion *c)
{
    if (!json_is_true(part(c, "pr", "merge_ready")))
        jobs__violate(c, "E207", "/pr/merge_ready", "must be true");
    if (json_is_true(part(c, "gates", "review_pending")))
        jobs__violate(c, "E207", "/gates/review_pending", "must not be true");
    if (json_is_true(part(c, "gates", "audit_pending")))
        jobs__violate(c, "E207", "/gates/audit_pending", "must not be true");
    if (word_is(c, "pr", "ci", "pending"))
        jobs__violate(c, "E207", "/pr/ci", "must not be pending");
    if (word(c, "pr", "head_sha") == NULL)
        jobs__violate(c, "E207", "/pr/head_sha", "name the revision");
}

static void check_contract(struct jobs__conversion *c)
{
    const json_t *blockers = json_object_get(c->source, "blockers");
    bool asks = json_is_object(json_object_get(c->source, "needs_input")) && word(c, "needs_input", "question") != NULL;
    if (state_is(c, "BLOCKED") && json_array_size(blockers) == 0)
        jobs__violate(c, "E201", "/blockers", "name at least one");
    if (state_is(c, "NEEDS_INPUT") ? !asks : json_is_object(json_object_get(c->source, "needs_input")))
        jobs__violate(c, "E202", "/needs_input", state_is(c, "NEEDS_INPUT") ? "ask the question" : "must be null");
    if (state_is(c, "FAILED") && json_array_size(blockers) == 0 && jobs__text(c->source, "summary") == NULL)
        jobs__violate(c, "E203", "/summary", "say why");
    if (state_is(c, "NEEDS_FIXES") && json_array_size(part(c, "findings", "fix_now")) == 0)
        jobs__violate(c, "E204", "/findings/fix_now", "list at least one");
    if (state_is(c, "HALT") && (json_array_size(blockers) == 0 || !all_of_scope_run(blockers)))
        jobs__break(c, "E205", "/blockers");
    if (state_is(c, "OK") || state_is(c, "MERGE_READY") || state_is(c, "MERGED"))
        check_finished(c);
    if (state_is(c, "MERGE_READY"))
        check_merge_ready(c);
    if (state_is(c, "MERGED") && !word_is(c, "pr", "state", "merged"))
        jobs__violate(c, "E208", "/pr/state", "must be merged");
}

/* --- the mapping --- */

static void put_artifacts(struct jobs__conversion *c, bool finished)
{
    char text[64], pointer[64];
    const char *url = word(c, "pr", "url"), *head = word(c, "pr", "head_sha"), *branch = word(c, "unit", "branch");
    size_t i;
    json_t *issue;
    if (url != NULL) {
        snprintf(text, sizeof text, "Pull request %" JSON_INTEGER_FORMAT, json_integer_value(part(c, "pr", "number")));
        bool numbered = json_is_integer(part(c, "pr", "number"));
        jobs__add_artifact(c, "pull_request", numbered ? text : "Pull request", url, head, "/pr/url", true);
    }
    if (head != NULL && (jobs__is_hex(head, 40) || jobs__is_hex(head, 64)))
        jobs__add_artifact(c, "commit", "Head revision", head, NULL, "/pr/head_sha", true);
    else
        jobs__outcome_line(c, "Head revision", head);
    /* a branch or an issue number alone is nothing that was produced, and no_artifact has no artifacts */
    bool with_names = !finished || c->nameable > 0;
    if (branch != NULL && with_names)
        jobs__add_artifact(c, "branch", "Branch", branch, NULL, "/unit/branch", false);
    else
        jobs__outcome_line(c, "Branch", branch);
    json_array_foreach(part(c, "findings", "issues_filed"), i, issue)
    {
        snprintf(text, sizeof text, "#%" JSON_INTEGER_FORMAT, json_integer_value(issue));
        snprintf(pointer, sizeof pointer, "/findings/issues_filed/%zu", i);
        if (with_names)
            jobs__add_artifact(c, "other", "Issue filed", text, NULL, pointer, false);
        else
            jobs__outcome_line(c, "Issue filed", text);
    }
}

static void put_gate(struct jobs__conversion *c, const char *label, const char *state, const char *pointer)
{
    char evidence[64];
    snprintf(evidence, sizeof evidence, "reported %s", state == NULL ? "nothing" : state);
    jobs__add_claim(c, label, state != NULL && strcmp(state, "red") == 0, evidence, pointer);
}

static void put_gates(struct jobs__conversion *c)
{
    static const struct {
        const char *name, *label, *pointer;
    } pending[] = {{"review_pending", "review", "/gates/review_pending"},
                   {"audit_pending", "audit", "/gates/audit_pending"}};
    put_gate(c, "verification gate", word(c, "gates", "verification"), "/gates/verification");
    put_gate(c, "CI", word(c, "pr", "ci"), "/pr/ci");
    for (size_t i = 0; i < COUNT(pending); i++) {
        const json_t *value = part(c, "gates", pending[i].name);
        put_gate(c, pending[i].label,
                 json_is_true(value)    ? "pending"
                 : json_is_false(value) ? "done"
                                        : NULL,
                 pending[i].pointer);
    }
}

static void put_findings(struct jobs__conversion *c)
{
    char pointer[64], number[32];
    size_t i;
    json_t *entry;
    json_array_foreach(part(c, "findings", "fix_now"), i, entry)
    {
        struct jobs__buffer summary = {.max = JOBS__TEXT_MAX};
        const char *id = jobs__text(entry, "id");
        snprintf(pointer, sizeof pointer, "/findings/fix_now/%zu", i);
        snprintf(number, sizeof number, "D%zu", i + 1);
        jobs__buffer_format(&summary, "%s, %s: %s", json_string_value(json_object_get(entry, "class")),
                            json_string_value(json_object_get(entry, "route")),
                            json_string_value(json_object_get(entry, "file")));
        jobs__add_finding(c, id == NULL ? number : id, jobs__text(entry, "severity"), summary.bytes, "unresolved",
                          pointer);
        jobs__close(c, &summary);
    }
    json_int_t untriaged = json_integer_value(part(c, "findings", "untriaged"));
    if (untriaged > 0) {
        char text[64];
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT " untriaged", untriaged);
        jobs__add_finding(c, "untriaged", NULL, text, "unresolved", "/findings/untriaged");
    }
}

static void put_progress(struct jobs__conversion *c)
{
    const char *current = word(c, "phase", "current");
    const json_t *total = part(c, "phase", "total"), *completed = part(c, "phase", "completed");
    if (current != NULL)
        jobs__append_text(c, &c->progress, current);
    if (json_is_integer(total) && json_is_integer(completed))
        jobs__buffer_format(&c->progress,
                            current != NULL ? " (%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT " phases done)"
                                            : "%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT " phases done",
                            json_integer_value(completed), json_integer_value(total));
}

static void join(struct jobs__conversion *c, struct jobs__buffer *to, const json_t *list, const char *between)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        jobs__buffer_text(to, i > 0 ? between : "");
        jobs__append_text(c, to, jobs__workflow_command(json_string_value(entry)));
    }
}

static void put_next(struct jobs__conversion *c)
{
    const json_t *alternatives = part(c, "next", "alternatives");
    struct jobs__buffer text = {.max = JOBS__TEXT_MAX};
    jobs__workflow_next(c, word(c, "next", "recommended"), NULL);
    if (word_is(c, "next", "recommended", "/loop-review-fold") || word_is(c, "next", "recommended", "loop-review-fold"))
        jobs__repair(c, JOBS__REPAIR_LEGACY_INTENT);
    const char *unit = word(c, "unit", "id");
    if (unit != NULL) {
        json_t *targets = json_pack("[s]", unit);
        if (targets == NULL)
            c->failed = JOBS_NO_MEMORY;
        jobs__workflow_next(c, NULL, targets);
        json_decref(targets);
    }
    if (json_array_size(alternatives) > 0) {
        jobs__buffer_text(&text, "Alternatives: ");
        join(c, &text, alternatives, ", ");
        jobs__put_text(c, c->next, "text", text.bytes);
    }
    jobs__close(c, &text);
}

static void open_gate(struct jobs__conversion *c, bool open, const char *what)
{
    if (open)
        jobs__buffer_format(&c->blocker, "%s%s", c->blocker.len > 0 ? "; " : "", what);
}

/* Why a result that is none of the final ones is not finished. */
static void put_open_gates(struct jobs__conversion *c)
{
    open_gate(c, word_is(c, "gates", "verification", "red"), "verification gate red");
    open_gate(c, word_is(c, "gates", "verification", "not-run"), "verification gate not run");
    open_gate(c, word_is(c, "pr", "ci", "red"), "CI red");
    open_gate(c, word_is(c, "pr", "ci", "pending"), "CI pending");
    open_gate(c, json_array_size(part(c, "findings", "fix_now")) > 0, "findings to fix now");
    open_gate(c, json_is_true(part(c, "gates", "review_pending")), "review pending");
    open_gate(c, json_is_true(part(c, "gates", "audit_pending")), "audit pending");
    open_gate(c, c->blocker.len == 0 && state_is(c, "READY_FOR_REVIEW"), "review pending");
    open_gate(c, c->blocker.len == 0 && state_is(c, "READY_FOR_AUDIT"), "audit pending");
    open_gate(c, c->blocker.len == 0, "not finished; the work continues");
}

static void put_unmet(struct jobs__conversion *c, bool into_blocker)
{
    const json_t *unmet = part(c, "dependencies", "unmet");
    struct jobs__buffer list = {.max = JOBS__TEXT_MAX};
    if (json_array_size(unmet) == 0)
        return;
    join(c, &list, unmet, ", ");
    if (into_blocker)
        jobs__buffer_format(&c->blocker, "%sunmet dependencies: %s", c->blocker.len > 0 ? "; " : "", list.bytes);
    else
        jobs__outcome_line(c, "Unmet dependencies", list.bytes);
    jobs__close(c, &list);
}

static void put_question(struct jobs__conversion *c)
{
    const char *question = word(c, "needs_input", "question");
    if (question == NULL)
        return;
    jobs__add_question(c, "needs-input", question, part(c, "needs_input", "options"), "/needs_input");
    jobs__buffer_text(&c->blocker, c->blocker.len > 0 ? "; " : "");
    jobs__append_text(c, &c->blocker, question);
}

static void put_disposition(struct jobs__conversion *c)
{
    const char *summary = jobs__text(c->source, "summary");
    bool finished = state_is(c, "OK") || state_is(c, "MERGE_READY") || state_is(c, "MERGED");
    bool blocked = state_is(c, "BLOCKED") || state_is(c, "NEEDS_INPUT");
    bool failed = state_is(c, "FAILED") || state_is(c, "HALT");
    if (finished) {
        c->disposition = c->nameable > 0 ? "completed" : "no_artifact";
        put_unmet(c, false);
        jobs__workflow_blockers(c);
        jobs__outcome_line(c, "Blockers", c->blocker.len > 0 ? c->blocker.bytes : NULL); /* level schema alone */
        c->blocker.len = 0;
        return;
    }
    c->disposition = blocked ? "blocked" : failed ? "failed" : "partial";
    jobs__workflow_blockers(c);
    put_question(c);
    put_unmet(c, blocked);
    if (!blocked && !failed)
        put_open_gates(c);
    if (c->blocker.len == 0)
        jobs__append_text(c, &c->blocker, summary != NULL ? summary : "no reason was given");
}

void jobs__convert_workflow_envelope(struct jobs__conversion *c)
{
    char count[32];
    jobs__workflow_numbers(c);
    repair_root(c);
    jobs__shape_check(c, &envelope_shape, &shape_rules, c->source, "");
    if (!jobs__violated(c) && !c->options->schema_level)
        check_contract(c);
    if (jobs__violated(c))
        return;

    const char *summary = jobs__text(c->source, "summary");
    c->version = "2";
    c->producer = jobs__text(c->source, "skill");
    c->native_outcome = jobs__text(c->source, "state");
    jobs__outcome_line(c, NULL, summary != NULL ? summary : c->native_outcome);
    if (state_is(c, "MERGE_READY"))
        jobs__outcome_line(c, NULL, "Ready to merge, not merged.");
    bool finished = state_is(c, "OK") || state_is(c, "MERGE_READY") || state_is(c, "MERGED");
    put_artifacts(c, finished);
    put_gates(c);
    put_findings(c);
    put_progress(c);
    put_disposition(c);
    put_next(c);
    json_int_t decisions = json_integer_value(part(c, "findings", "decisions_recorded"));
    if (decisions > 0 && strcmp(c->disposition, "blocked") != 0) {
        snprintf(count, sizeof count, "%" JSON_INTEGER_FORMAT, decisions);
        jobs__outcome_line(c, "Decisions recorded", count);
    }
}
