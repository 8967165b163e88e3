/* skill_outcome.c - agentic-workflow's SkillOutcome v1, and what it shares with the envelope (workflow.h);
 * docs/protocol/convert-workflow.md has the mapping and the rules. */
#include "workflow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

static const char *const statuses[] = {"completed", "continue", "blocked", "needs-input", "failed", NULL};
static const char *const blocker_kinds[] = {"dependency", "issue", "gate", "merge-conflict",
                                            "substrate",  "input", NULL};
static const char *const blocker_scopes[] = {"unit", "run", NULL};
static const char *const discovery_kinds[] = {"defect",    "risk",    "opportunity", "environment",
                                              "scope-gap", "unknown", NULL};
static const char *const discovery_scopes[] = {"current-unit", "outside-unit", "run", NULL};
const char *const jobs__workflow_intents[] = {"init-workspace",
                                              "status",
                                              "discover-repository-state",
                                              "resolve-repository-state",
                                              "design-feature",
                                              "review-spec",
                                              "plan-feature",
                                              "review-plan",
                                              "plan-fix",
                                              "triage-issue",
                                              "execute-phase",
                                              "review-change",
                                              "audit-pr",
                                              "merge",
                                              "ask-human",
                                              "stop",
                                              "none",
                                              "loop-review-fold",
                                              NULL};

static const struct jobs__field blocker_fields[] = {
    {"kind", JOBS__STRING, JOBS__REQUIRED, blocker_kinds, 0, NULL},
    {"id", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"scope", JOBS__STRING, JOBS__REQUIRED, blocker_scopes, 0, NULL},
    {"detail", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
};
const struct jobs__shape jobs__workflow_blocker_shape = {true, blocker_fields, COUNT(blocker_fields)};

static const struct jobs__field question_fields[] = {
    {"id", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"question", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"options", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape question_shape = {true, question_fields, COUNT(question_fields)};

static const struct jobs__field discovery_fields[] = {
    {"kind", JOBS__STRING, JOBS__REQUIRED, discovery_kinds, 0, NULL},
    {"scope", JOBS__STRING, JOBS__REQUIRED, discovery_scopes, 0, NULL},
    {"summary", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"evidence_refs", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
    {"proposed_intent", JOBS__STRING, JOBS__REQUIRED, jobs__workflow_intents, 0, NULL},
};
static const struct jobs__shape discovery_shape = {true, discovery_fields, COUNT(discovery_fields)};

static const struct jobs__field next_fields[] = {
    {"intent", JOBS__STRING, JOBS__REQUIRED, jobs__workflow_intents, 0, NULL},
    {"targets", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape next_shape = {true, next_fields, COUNT(next_fields)};

static const char *const contracts[] = {"agentic-workflow/skill-outcome", NULL};
static const struct jobs__field outcome_fields[] = {
    {"contract", JOBS__STRING, JOBS__REQUIRED, contracts, 0, NULL},
    {"version", JOBS__INTEGER, JOBS__REQUIRED, NULL, 0, NULL},
    {"skill", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"status", JOBS__STRING, JOBS__REQUIRED, statuses, 0, NULL},
    {"summary", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"next", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &next_shape},
    {"blockers", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__OBJECT, &jobs__workflow_blocker_shape},
    {"questions", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__OBJECT, &question_shape},
    {"discoveries", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__OBJECT, &discovery_shape},
    {"evidence_refs", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape outcome_shape = {true, outcome_fields, COUNT(outcome_fields)};
static const struct jobs__shape_rules shape_rules = {"O101", "O102", "O103", "O104"};

/* --- shared with the envelope --- */

static json_t *integral(const json_t *value)
{
    double number = json_real_value(value);
    bool exact = json_is_real(value) && number >= -9007199254740992.0 && number <= 9007199254740992.0 &&
                 number == (double)(json_int_t)number;
    return exact ? json_integer((json_int_t)number) : NULL;
}

static void make_integral(struct jobs__conversion *c, json_t *value)
{
    const char *name;
    json_t *child, *number;
    size_t i;
    if (json_is_object(value)) {
        json_object_foreach(value, name, child)
        {
            if ((number = integral(child)) == NULL)
                make_integral(c, child);
            else if (json_object_set_new(value, name, number) != 0)
                c->failed = JOBS_NO_MEMORY;
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, child)
        {
            if ((number = integral(child)) == NULL)
                make_integral(c, child);
            else if (json_array_set_new(value, i, number) != 0)
                c->failed = JOBS_NO_MEMORY;
        }
    }
}

void jobs__workflow_numbers(struct jobs__conversion *c)
{
    if (c->options->schema_level)
        make_integral(c, c->source);
}

void jobs__workflow_blockers(struct jobs__conversion *c)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, "blockers"), i, entry)
    {
        struct jobs__buffer line = {.max = JOBS__TEXT_MAX};
        jobs__buffer_format(
            &line, "%s[%s/%s] %s: %s", c->blocker.len > 0 ? "; " : "",
            json_string_value(json_object_get(entry, "kind")), json_string_value(json_object_get(entry, "scope")),
            json_string_value(json_object_get(entry, "id")), json_string_value(json_object_get(entry, "detail")));
        if (line.bytes != NULL)
            jobs__append_text(c, &c->blocker, line.bytes);
        jobs__close(c, &line);
    }
}

/* A relative path, by its looks: it has a slash and no @. Words about one ("ran ctest in build/x") are none. */
static bool is_path(const char *reference)
{
    return strpbrk(reference, " \t\n") == NULL && strchr(reference, '/') != NULL && strchr(reference, '@') == NULL &&
           strstr(reference, "://") == NULL;
}

void jobs__workflow_evidence(struct jobs__conversion *c, const json_t *list, const char *pointer)
{
    char place[128];
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        const char *reference = json_string_value(entry);
        snprintf(place, sizeof place, "%s/%zu", pointer, i);
        if (jobs__refuse_local(c, reference, place) || jobs__add_link(c, reference, place))
            continue;
        if (is_path(reference))
            jobs__add_artifact(c, "file", reference, reference, NULL, place, true);
        else
            jobs__add_claim(c, jobs__is_blank(reference) ? "a reference without text" : reference, false, NULL, place);
    }
}

const char *jobs__workflow_command(const char *text)
{
    size_t len =
        text[0] != '/' ? 0 : strspn(text + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:");
    return len > 0 && (text[1 + len] == '\0' || text[1 + len] == ' ') ? text + 1 : text;
}

void jobs__workflow_next(struct jobs__conversion *c, const char *intent, const json_t *targets)
{
    json_t *texts = jobs__texts(c, targets);
    if (intent != NULL)
        jobs__put_text(c, c->next, "intent", jobs__workflow_command(intent));
    if (json_array_size(texts) > 0)
        jobs__set(c, c->next, "targets", json_incref(texts));
    json_decref(texts);
}

/* --- the contract --- */

static bool status_is(const struct jobs__conversion *c, const char *word)
{
    return strcmp(json_string_value(json_object_get(c->source, "status")), word) == 0;
}

static size_t size_of(const struct jobs__conversion *c, const char *list)
{
    return json_array_size(json_object_get(c->source, list));
}

static bool asks(const struct jobs__conversion *c)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, "questions"), i,
                       entry) if (jobs__text(entry, "question") != NULL) return true;
    return false;
}

static void check_contract(struct jobs__conversion *c)
{
    if (status_is(c, "blocked") && size_of(c, "blockers") == 0)
        jobs__violate(c, "O201", "/blockers", "name at least one");
    if (status_is(c, "needs-input") && !asks(c))
        jobs__violate(c, "O202", "/questions", "ask at least one");
    if (status_is(c, "failed") && size_of(c, "blockers") == 0 && jobs__text(c->source, "summary") == NULL)
        jobs__violate(c, "O203", "/summary", "say why");
    if (status_is(c, "completed") && size_of(c, "blockers") > 0)
        jobs__violate(c, "O204", "/blockers", "must be empty");
    if (status_is(c, "completed") && size_of(c, "questions") > 0)
        jobs__violate(c, "O204", "/questions", "must be empty");
}

/* --- the mapping --- */

static void put_discoveries(struct jobs__conversion *c)
{
    char id[32], pointer[64];
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, "discoveries"), i, entry)
    {
        snprintf(id, sizeof id, "D%zu", i + 1);
        snprintf(pointer, sizeof pointer, "/discoveries/%zu", i);
        jobs__add_finding(c, id, NULL, jobs__text(entry, "summary"), "observation", pointer);
        snprintf(pointer, sizeof pointer, "/discoveries/%zu/evidence_refs", i);
        jobs__workflow_evidence(c, json_object_get(entry, "evidence_refs"), pointer);
    }
}

static void put_questions(struct jobs__conversion *c)
{
    char pointer[64], number[32];
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, "questions"), i, entry)
    {
        const char *question = jobs__text(entry, "question"), *id = jobs__text(entry, "id");
        if (question == NULL)
            continue;
        snprintf(pointer, sizeof pointer, "/questions/%zu", i);
        snprintf(number, sizeof number, "Q%zu", i + 1);
        jobs__add_question(c, id == NULL ? number : id, question, json_object_get(entry, "options"), pointer);
        jobs__buffer_text(&c->blocker, c->blocker.len > 0 ? "; " : "");
        jobs__append_text(c, &c->blocker, question);
    }
}

static void put_disposition(struct jobs__conversion *c)
{
    const char *summary = jobs__text(c->source, "summary");
    if (status_is(c, "completed")) {
        c->disposition = c->nameable > 0 ? "completed" : "no_artifact";
        jobs__outcome_line(c, "Blockers", c->blocker.len > 0 ? c->blocker.bytes : NULL); /* level schema alone */
        c->blocker.len = 0;
        return;
    }
    c->disposition = status_is(c, "continue") ? "partial" : status_is(c, "failed") ? "failed" : "blocked";
    if (status_is(c, "continue") && c->blocker.len == 0) {
        jobs__buffer_text(&c->blocker, "not finished; continues with ");
        jobs__append_text(c, &c->blocker, jobs__text(json_object_get(c->source, "next"), "intent"));
    }
    if (c->blocker.len == 0)
        jobs__append_text(c, &c->blocker, summary != NULL ? summary : "no reason was given");
}

static bool names_legacy_intent(const struct jobs__conversion *c)
{
    size_t i;
    json_t *entry;
    bool found = strcmp(jobs__text(json_object_get(c->source, "next"), "intent"), "loop-review-fold") == 0;
    json_array_foreach(json_object_get(c->source, "discoveries"), i, entry) found |=
        strcmp(jobs__text(entry, "proposed_intent"), "loop-review-fold") == 0;
    return found;
}

void jobs__convert_skill_outcome(struct jobs__conversion *c)
{
    jobs__workflow_numbers(c);
    const json_t *version = json_object_get(c->source, "version");
    jobs__shape_check(c, &outcome_shape, &shape_rules, c->source, "");
    if (json_is_integer(version) && json_integer_value(version) != 1)
        jobs__break(c, "O105", "/version");
    if (!jobs__violated(c) && !c->options->schema_level)
        check_contract(c);
    if (jobs__violated(c))
        return;

    const json_t *next = json_object_get(c->source, "next");
    const char *intent = jobs__text(next, "intent"), *summary = jobs__text(c->source, "summary");
    c->version = "1";
    c->producer = jobs__text(c->source, "skill");
    c->native_outcome = jobs__text(c->source, "status");
    if (names_legacy_intent(c))
        jobs__repair(c, JOBS__REPAIR_LEGACY_INTENT);
    jobs__outcome_line(c, NULL, summary != NULL ? summary : c->native_outcome);
    jobs__workflow_evidence(c, json_object_get(c->source, "evidence_refs"), "/evidence_refs");
    jobs__add_claim(c, "self-report", false, "the skill's own word; nothing was checked", "");
    put_discoveries(c);
    jobs__workflow_blockers(c);
    put_questions(c);
    jobs__workflow_next(c, intent, json_object_get(next, "targets"));
    put_disposition(c);
}
