/* bubbles.c - the Bubbles result envelope; docs/protocol/convert-bubbles.md has the mapping and the rules. */
#include "conversion.h"

#include "../text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const outcomes[] = {"completed_owned", "completed_diagnostic", "route_required", "blocked", NULL};
static const char *const severities[] = {"info", "warn", "blocker", NULL};
static const char *const goal_impacts[] = {"required", "blocking-external", "independent", NULL};
static const char *const dispositions[] = {"fixed-in-session", "bug-filed",       "spec-filed", "ops-filed",
                                           "routed",           "status-adjusted", NULL};
static const char *const learnings[] = {"captured", "not-applicable", "deferred", NULL};
static const char *const levels[] = {"low", "medium", NULL};

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

static const struct jobs__field finding_fields[] = {
    {"id", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"severity", JOBS__STRING, JOBS__NULLABLE, severities, 0, NULL},
    {"owner", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"summary", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"goalImpact", JOBS__STRING, JOBS__NULLABLE, goal_impacts, 0, NULL},
    {"disposition", JOBS__STRING, JOBS__NULLABLE, dispositions, 0, NULL},
    {"filedArtifact", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape finding_shape = {false, finding_fields, COUNT(finding_fields)};

static const struct jobs__field observation_fields[] = {
    {"id", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"severity", JOBS__STRING, JOBS__REQUIRED, levels, 0, NULL},
    {"summary", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"followUpOwner", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"followUpAction", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape observation_shape = {false, observation_fields, COUNT(observation_fields)};

static const struct jobs__field blocker_fields[] = {
    {"reason", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"owner", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"missingInput", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape blocker_shape = {false, blocker_fields, COUNT(blocker_fields)};

static const struct jobs__field learning_fields[] = {
    {"disposition", JOBS__STRING, JOBS__REQUIRED, learnings, 0, NULL},
    {"lessonId", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"reason", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape learning_shape = {false, learning_fields, COUNT(learning_fields)};

static const struct jobs__field resolution_fields[] = {
    {"sessionId", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"decisionId", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"controlRevision", JOBS__INTEGER, JOBS__REQUIRED | JOBS__NATURAL, NULL, 0, NULL},
    {"controlPathDigest", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"authority", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"transition", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"scopeKind", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"scopeId", JOBS__STRING, JOBS__REQUIRED | JOBS__NULLABLE, NULL, 0, NULL},
    {"targetKind", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"pathVisibility", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"actionable", JOBS__BOOLEAN, JOBS__REQUIRED, NULL, 0, NULL},
};
static const struct jobs__shape resolution_shape = {false, resolution_fields, COUNT(resolution_fields)};

static const struct jobs__field envelope_fields[] = {
    {"agent", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"outcome", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"spec", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"scope", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"summary", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"findings", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__OBJECT, &finding_shape},
    {"addressedFindings", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
    {"unresolvedFindings", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
    {"observations", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__OBJECT, &observation_shape},
    {"evidenceRefs", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
    {"toolCalls", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
    {"artifactsCreated", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
    {"artifactsUpdated", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
    {"nextRequiredOwner", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"nextOwner", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"blocker", JOBS__OBJECT, JOBS__NULLABLE, NULL, 0, &blocker_shape},
    {"blockedReason", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"reason", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"learning", JOBS__OBJECT, JOBS__NULLABLE, NULL, 0, &learning_shape},
    {"repositoryRoot", JOBS__STRING, JOBS__NULLABLE | JOBS__FILLED, NULL, 0, NULL},
    {"repositoryAlias", JOBS__STRING, JOBS__NULLABLE | JOBS__FILLED, NULL, 0, NULL},
    {"repositoryResolution", JOBS__OBJECT, JOBS__NULLABLE, NULL, 0, &resolution_shape},
};
static const struct jobs__shape envelope_shape = {false, envelope_fields, COUNT(envelope_fields)};
static const struct jobs__shape_rules shape_rules = {"B101", "B101", "B103", "B104"};

/* --- reading --- */

static const char *outcome_of(const struct jobs__conversion *c)
{
    return json_string_value(json_object_get(c->source, "outcome"));
}

static bool outcome_is(const struct jobs__conversion *c, const char *word)
{
    return strcmp(outcome_of(c), word) == 0;
}

static const char *next_owner(const struct jobs__conversion *c)
{
    const char *owner = jobs__text(c->source, "nextRequiredOwner");
    owner = owner == NULL ? jobs__text(c->source, "nextOwner") : owner;
    return owner == NULL || strcasecmp(owner, "none") == 0 ? NULL : owner;
}

static const char *blocked_reason(const struct jobs__conversion *c)
{
    const char *reason = jobs__text(json_object_get(c->source, "blocker"), "reason");
    if (reason == NULL)
        reason = jobs__text(c->source, "blockedReason");
    return reason == NULL ? jobs__text(c->source, "reason") : reason;
}

/* An item of addressedFindings or unresolvedFindings is an id, or "id: text"; returns the length of the id. */
static size_t id_length(const struct jobs__conversion *c, const char *item)
{
    const char *colon = strstr(item, ": ");
    return colon == NULL || json_object_get(c->ids, item) != NULL ? strlen(item) : (size_t)(colon - item);
}

/* The ids that findings and observations give themselves: in such a one ": " is no end. */
static void note_ids(struct jobs__conversion *c, const char *list)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, list), i, entry)
    {
        jobs__set(c, c->ids, jobs__text(entry, "id"), json_true());
    }
}

/* The id of an entry of any of the lists, which begins at what is returned. */
static const char *entry_id(const struct jobs__conversion *c, const json_t *entry, size_t *len)
{
    const char *item = json_is_string(entry) ? json_string_value(entry) : jobs__text(entry, "id");
    *len = json_is_string(entry) ? id_length(c, item) : strlen(item);
    return item;
}

/* How often the id stands in a list of the envelope. */
static size_t count_in(const struct jobs__conversion *c, const char *list, const char *id, size_t len)
{
    const json_t *entries = json_object_get(c->source, list);
    size_t i, own, count = 0;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        const char *item = entry_id(c, entry, &own);
        count += own == len && memcmp(item, id, len) == 0;
    }
    return count;
}

static const json_t *finding_details(const struct jobs__conversion *c, const char *id, size_t len, size_t *index)
{
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(c->source, "findings"), i, finding)
    {
        const char *other = jobs__text(finding, "id");
        if (other != NULL && strlen(other) == len && memcmp(other, id, len) == 0) {
            if (index != NULL)
                *index = i;
            return finding;
        }
    }
    return NULL;
}

/* --- the contract --- */

static const char *const finding_lists[] = {"addressedFindings", "unresolvedFindings", "observations"};

static void check_placing(struct jobs__conversion *c, const char *id, size_t len, const char *pointer)
{
    size_t places = 0;
    for (size_t i = 0; i < COUNT(finding_lists); i++)
        places += count_in(c, finding_lists[i], id, len);
    if (places != 1)
        jobs__violate(c, "B205", pointer, "this id stands %zu times in the three lists; once is right", places);
}

static void check_findings(struct jobs__conversion *c)
{
    char pointer[128];
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, "findings"), i, entry)
    {
        const char *id = jobs__text(entry, "id"), *impact = jobs__text(entry, "goalImpact");
        const char *disposition = jobs__text(entry, "disposition");
        bool routed = disposition != NULL && strcmp(disposition, "routed") == 0;
        size_t first = i;
        snprintf(pointer, sizeof pointer, "/findings/%zu/id", i);
        finding_details(c, id, strlen(id), &first);
        if (first != i)
            jobs__violate(c, "B206", pointer, "this id is already that of finding %zu", first);
        else
            check_placing(c, id, strlen(id), pointer);
        if ((routed || (impact != NULL && strcmp(impact, "blocking-external") == 0)) &&
            count_in(c, "addressedFindings", id, strlen(id)) > 0)
            jobs__violate(c, "B207", pointer, "list it as unresolved");
        if ((routed || (impact != NULL && strcmp(impact, "independent") == 0)) &&
            jobs__text(entry, "filedArtifact") == NULL) {
            snprintf(pointer, sizeof pointer, "/findings/%zu/filedArtifact", i);
            jobs__violate(c, "B208", pointer, "name the bug, spec or work item that was filed");
        }
    }
    for (size_t list = 0; list < COUNT(finding_lists); list++) {
        json_array_foreach(json_object_get(c->source, finding_lists[list]), i, entry)
        {
            size_t len;
            const char *item = entry_id(c, entry, &len);
            snprintf(pointer, sizeof pointer, "/%s/%zu", finding_lists[list], i);
            if (finding_details(c, item, len, NULL) == NULL)
                check_placing(c, item, len, pointer);
        }
    }
}

static void check_outcome(struct jobs__conversion *c)
{
    const char *owner = next_owner(c);
    if (outcome_is(c, "route_required") && (owner == NULL || strcmp(owner, "bubbles.workflow") == 0))
        jobs__violate(c, "B202", "/nextRequiredOwner", "name the agent or person that must act next");
    if (outcome_is(c, "blocked") && blocked_reason(c) == NULL)
        jobs__violate(c, "B203", "/blocker/reason", "say what is missing");
    if (outcome_is(c, "completed_owned") && json_array_size(json_object_get(c->source, "unresolvedFindings")) > 0)
        jobs__violate(c, "B204", "/unresolvedFindings", "must be empty, or the outcome another one");
    if (strncmp(outcome_of(c), "completed_", 10) != 0 &&
        json_array_size(json_object_get(c->source, "observations")) > 0)
        jobs__violate(c, "B209", "/observations", "make findings of them");
}

static void check_learning(struct jobs__conversion *c)
{
    const json_t *learning = json_object_get(c->source, "learning");
    const char *disposition = jobs__text(learning, "disposition"), *reason = jobs__text(learning, "reason");
    if (disposition == NULL)
        return;
    if (strcmp(disposition, "captured") == 0 && jobs__text(learning, "lessonId") == NULL)
        jobs__violate(c, "B210", "/learning/lessonId", "name the lesson");
    if (strcmp(disposition, "deferred") == 0) {
        size_t characters = 0, at = 0;
        while (reason != NULL && at < strlen(reason)) {
            jobs__text_next(reason, strlen(reason), &at);
            characters++;
        }
        if (characters < 20)
            jobs__violate(c, "B210", "/learning/reason", "say why, in at least 20 characters");
    }
}

static void check_evidence(struct jobs__conversion *c)
{
    char pointer[64];
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, "evidenceRefs"), i, entry)
    {
        const char *reference = json_string_value(entry);
        snprintf(pointer, sizeof pointer, "/evidenceRefs/%zu", i);
        if (strncmp(reference, "recall-", 7) == 0 && jobs__is_hex(reference + 7, 64))
            jobs__violate(c, "B211", pointer, "a memory is no evidence; name the file or the run");
    }
}

/* NULL as transition stands for any of established, confirmed, switched. */
static const struct {
    const char *authority, *transition, *target;
} bindings[] = {
    {"explicit-repository-root", NULL, "repository-root"},
    {"concrete-target", NULL, "absolute-target"},
    {"concrete-target", NULL, "relative-target"},
    {"resolved-natural-language", NULL, "natural-language"},
    {"durable-work-boundary", "continued", "inherited-boundary"},
    {"single-eligible-repository", "established", "sole-eligible-repository"},
    {"scoped-scenario-node", "scoped-override", "goal-node"},
};

static bool binding_fits(const json_t *resolution)
{
    static const char *const established[] = {"established", "confirmed", "switched", NULL};
    const char *authority = jobs__text(resolution, "authority"), *target = jobs__text(resolution, "targetKind");
    const char *transition = jobs__text(resolution, "transition");
    if (authority == NULL || target == NULL || transition == NULL)
        return false;
    for (size_t i = 0; i < COUNT(bindings); i++)
        if (strcmp(bindings[i].authority, authority) == 0 && strcmp(bindings[i].target, target) == 0 &&
            (bindings[i].transition == NULL ? jobs__is_one_of(transition, established)
                                            : strcmp(bindings[i].transition, transition) == 0))
            return true;
    return false;
}

static void check_repository(struct jobs__conversion *c)
{
    const json_t *resolution = json_object_get(c->source, "repositoryResolution");
    const char *root = json_string_value(json_object_get(c->source, "repositoryRoot"));
    bool alias = json_is_string(json_object_get(c->source, "repositoryAlias")), resolved = json_is_object(resolution);
    if (root == NULL && !alias && !resolved)
        return;
    if (root == NULL || !alias || !resolved) {
        jobs__violate(c, "B212",
                      root == NULL ? "/repositoryRoot"
                      : !alias     ? "/repositoryAlias"
                                   : "/repositoryResolution",
                      "add it, or leave out the other two");
        return;
    }
    if (!binding_fits(resolution))
        jobs__break(c, "B213", "/repositoryResolution/authority");
    if (strcmp(json_string_value(json_object_get(resolution, "pathVisibility")), "redacted") != 0)
        return;
    if (strcmp(root, "<redacted-local-root>") != 0)
        jobs__violate(c, "B214", "/repositoryRoot", "write <redacted-local-root>");
    if (json_is_true(json_object_get(resolution, "actionable")))
        jobs__violate(c, "B214", "/repositoryResolution/actionable", "must be false");
}

static void check_words(struct jobs__conversion *c)
{
    const char *agent = json_string_value(json_object_get(c->source, "agent")), *outcome = outcome_of(c);
    size_t len = agent == NULL ? 0 : strlen(agent);
    size_t named = len > 8 ? strspn(agent + 8, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
    if (agent != NULL && (len <= 8 || strncmp(agent, "bubbles.", 8) != 0 || named != len - 8))
        jobs__break(c, "B105", "/agent");
    if (outcome != NULL && !jobs__is_one_of(outcome, outcomes))
        jobs__violate(c, "B201", "/outcome",
                      "must be one of: completed_owned, completed_diagnostic, route_required, blocked");
}

/* --- the mapping --- */

static void put_finding(struct jobs__conversion *c, const char *id, const char *own_text, const json_t *details,
                        const char *bucket, const char *pointer, const char *filed_pointer)
{
    bool observed = strcmp(bucket, "observation") == 0;
    const char *summary = jobs__text(details, "summary"), *impact = jobs__text(details, "goalImpact");
    const char *filed = jobs__text(details, "filedArtifact");
    json_t *finding = jobs__add_finding(c, id, jobs__text(details, "severity"), summary == NULL ? own_text : summary,
                                        bucket, pointer);
    jobs__put_text(c, finding, "owner", jobs__text(details, observed ? "followUpOwner" : "owner"));
    jobs__put_text(c, finding, "disposition", jobs__text(details, observed ? "followUpAction" : "disposition"));
    if (filed != NULL && !jobs__refuse_local(c, filed, filed_pointer))
        jobs__put_text(c, finding, "filedArtifact", filed);
    if (impact != NULL) {
        struct jobs__buffer line = {.max = JOBS__TEXT_MAX};
        jobs__buffer_format(&line, "%s %s", id, impact);
        jobs__outcome_line(c, "Goal impact", line.bytes);
        jobs__close(c, &line);
    }
}

/* Entry i of a list: an id, "id: text", or an object with an id. What was put already is not put again. */
static void put_entry(struct jobs__conversion *c, json_t *seen, const char *list, size_t i, const json_t *entry,
                      const char *bucket)
{
    size_t len, index = i;
    const char *item = entry_id(c, entry, &len);
    const json_t *details = json_is_string(entry) ? finding_details(c, item, len, &index) : entry;
    char *id = strndup(item, len), pointer[64], filed_pointer[64];
    snprintf(pointer, sizeof pointer, "/%s/%zu", list, i);
    snprintf(filed_pointer, sizeof filed_pointer, "/findings/%zu/filedArtifact", index);
    if (id != NULL && json_object_get(seen, id) == NULL)
        put_finding(c, id, item[len] == ':' ? item + len + 2 : NULL, details, bucket, pointer, filed_pointer);
    if (id == NULL)
        c->failed = JOBS_NO_MEMORY;
    else
        jobs__set(c, seen, id, json_true());
    free(id);
}

static void put_findings(struct jobs__conversion *c)
{
    /* an id in several lists (schema level) counts as unresolved: never better than the worst */
    static const char *const buckets[][2] = {{"unresolvedFindings", "unresolved"},
                                             {"addressedFindings", "addressed"},
                                             {"observations", "observation"},
                                             {"findings", "unresolved"}};
    json_t *entry, *seen = json_object();
    size_t i;
    for (size_t list = 0; list < COUNT(buckets); list++) {
        json_array_foreach(json_object_get(c->source, buckets[list][0]), i, entry)
            put_entry(c, seen, buckets[list][0], i, entry, buckets[list][1]);
    }
    json_decref(seen);
}

static void put_files(struct jobs__conversion *c, const char *list, bool as_claims)
{
    char pointer[64];
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, list), i, entry)
    {
        const char *path = json_string_value(entry);
        snprintf(pointer, sizeof pointer, "/%s/%zu", list, i);
        if (jobs__refuse_local(c, path, pointer))
            continue;
        if (as_claims)
            jobs__add_claim(c, path, false, NULL, pointer);
        else
            jobs__add_artifact(c, "file", path, path, NULL, pointer, true);
    }
}

static void put_evidence(struct jobs__conversion *c, bool as_claims)
{
    char pointer[64];
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->source, "evidenceRefs"), i, entry)
    {
        const char *reference = json_string_value(entry);
        snprintf(pointer, sizeof pointer, "/evidenceRefs/%zu", i);
        if (jobs__refuse_local(c, reference, pointer))
            continue;
        if (as_claims || !jobs__add_link(c, reference, pointer))
            jobs__add_claim(c, reference, false, NULL, pointer);
    }
    json_array_foreach(json_object_get(c->source, "toolCalls"), i, entry)
    {
        struct jobs__buffer label = {.max = JOBS__TEXT_MAX};
        snprintf(pointer, sizeof pointer, "/toolCalls/%zu", i);
        jobs__buffer_format(&label, "tool call %s", json_string_value(entry));
        jobs__add_claim(c, label.bytes, false, NULL, pointer);
        jobs__close(c, &label);
    }
}

static void put_learning(struct jobs__conversion *c)
{
    const json_t *learning = json_object_get(c->source, "learning");
    const char *disposition = jobs__text(learning, "disposition");
    const char *more = jobs__text(learning, "lessonId");
    more = more == NULL ? jobs__text(learning, "reason") : more;
    if (disposition == NULL)
        return;
    struct jobs__buffer line = {.max = JOBS__TEXT_MAX};
    jobs__buffer_format(&line, "%s%s%s", disposition, more == NULL ? "" : ", ", more == NULL ? "" : more);
    jobs__outcome_line(c, "Learning", line.bytes);
    jobs__close(c, &line);
}

static void put_blocked(struct jobs__conversion *c)
{
    const json_t *blocker = json_object_get(c->source, "blocker");
    const char *reason = blocked_reason(c), *owner = jobs__text(blocker, "owner");
    const char *missing = jobs__text(blocker, "missingInput");
    jobs__append_text(c, &c->blocker, reason);
    if (missing != NULL) {
        jobs__buffer_text(&c->blocker, "\nMissing input: ");
        jobs__append_text(c, &c->blocker, missing);
    }
    if (owner != NULL) {
        jobs__buffer_text(&c->blocker, "\nOwner: ");
        jobs__append_text(c, &c->blocker, owner);
    }
}

static void put_routed(struct jobs__conversion *c, const char *summary)
{
    const char *owner = next_owner(c);
    jobs__buffer_text(&c->blocker, "routed to ");
    jobs__append_text(c, &c->blocker, owner);
    jobs__buffer_text(&c->blocker, ": ");
    jobs__append_text(c, &c->blocker, summary);
}

static void put_disposition(struct jobs__conversion *c, const char *summary)
{
    bool produced =
        json_array_size(c->artifacts) > 0 || json_array_size(json_object_get(c->source, "addressedFindings")) > 0;
    if (outcome_is(c, "completed_diagnostic"))
        c->disposition = "no_artifact";
    else if (outcome_is(c, "completed_owned"))
        c->disposition = next_owner(c) != NULL ? "partial" : c->nameable > 0 ? "completed" : "no_artifact";
    else if (outcome_is(c, "route_required"))
        c->disposition = produced ? "partial" : "blocked";
    else
        c->disposition = "blocked";
    if (outcome_is(c, "route_required"))
        put_routed(c, summary);
    if (outcome_is(c, "blocked"))
        put_blocked(c);
}

void jobs__convert_bubbles(struct jobs__conversion *c)
{
    jobs__shape_check(c, &envelope_shape, &shape_rules, c->source, "");
    check_words(c);
    const char *summary = jobs__text(c->source, "summary");
    summary = summary == NULL ? blocked_reason(c) : summary;
    if (jobs__violated(c))
        return;
    note_ids(c, "findings");
    note_ids(c, "observations");
    /* level schema loosens nothing here: the owner's program has these rules too */
    check_outcome(c);
    check_findings(c);
    check_learning(c);
    check_evidence(c);
    check_repository(c);
    if (jobs__violated(c))
        return;

    const json_t *resolution = json_object_get(c->source, "repositoryResolution");
    const char *visibility = jobs__text(resolution, "pathVisibility");
    if (visibility != NULL && strcmp(visibility, "redacted") != 0) {
        c->local_binding = true;
        jobs__repair(c, JOBS__REPAIR_BINDING_REDACTED);
    }
    bool diagnostic = outcome_is(c, "completed_diagnostic");
    c->producer = json_string_value(json_object_get(c->source, "agent"));
    c->native_outcome = outcome_of(c);
    summary = summary == NULL ? c->native_outcome : summary;
    jobs__outcome_line(c, NULL, summary);
    jobs__outcome_line(c, "Spec", jobs__text(c->source, "spec"));
    jobs__outcome_line(c, "Scope", jobs__text(c->source, "scope"));
    put_files(c, "artifactsCreated", diagnostic);
    put_files(c, "artifactsUpdated", diagnostic);
    put_evidence(c, diagnostic);
    put_findings(c);
    put_learning(c);
    put_disposition(c, summary);
    jobs__put_text(c, c->next, "owner", next_owner(c));
}
