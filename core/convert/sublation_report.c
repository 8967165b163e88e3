/* sublation_report.c - Sublation's final report; docs/protocol/convert-sublation.md has the mapping and the rules. */
#include "conversion.h"

#include "../sha256.h"
#include "../text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

static const char *const states[] = {"PARTIAL", "USER_DECISION_REQUIRED", "BLOCKED", "CLOSED", NULL};

static const struct jobs__field evidence_fields[] = {
    {"path", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"sha256", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape evidence_shape = {false, evidence_fields, COUNT(evidence_fields)};

static const struct jobs__field item_fields[] = {
    {"item_id", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"status", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"target", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"disposition", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"summary", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"candidate_id", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"candidate_path", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"candidate_tree_hash", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"patch_path", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"patch_hash", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"evidence", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__OBJECT, &evidence_shape},
    {"blockers", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__ANY, NULL},
};
static const struct jobs__shape item_shape = {false, item_fields, COUNT(item_fields)};

static const struct jobs__field report_fields[] = {
    {"schema_version", JOBS__INTEGER, JOBS__REQUIRED, NULL, 0, NULL},
    {"run_id", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"report_version", JOBS__INTEGER, JOBS__REQUIRED, NULL, 0, NULL},
    {"scope_revision", JOBS__ANY, JOBS__REQUIRED, NULL, 0, NULL},
    {"generated_at", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"state", JOBS__STRING, JOBS__REQUIRED, states, 0, NULL},
    {"items", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__OBJECT, &item_shape},
    {"approval_items", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__ANY, NULL},
    {"approval_code", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"report_hash", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
};
static const struct jobs__shape report_shape = {false, report_fields, COUNT(report_fields)};
static const struct jobs__shape_rules shape_rules = {"R101", "R101", "R103", "R104"};

/* --- report_hash --- */

static void check_hash(struct jobs__conversion *c)
{
    static const char *const left_out[] = {"report_hash", "plain_report_sha256", "delivery", NULL};
    struct jobs__buffer bytes = {.max = 8 * JOBS_CONVERT_INPUT_MAX};
    const char *stated = json_string_value(json_object_get(c->source, "report_hash"));
    char text[72] = "sha256:";
    bool written = jobs__json_canonical(c, left_out, &bytes);
    if (!written && !bytes.failed) {
        jobs__violate(c, "R201", "/report_hash",
                      "the report holds a number with a fraction, whose bytes are not certain");
    } else if (bytes.failed) {
        c->failed = JOBS_NO_MEMORY;
    } else {
        jobs__sha256_hex(text + 7, bytes.bytes, bytes.len);
        if (strcmp(stated, text) != 0)
            jobs__violate(c, "R201", "/report_hash", "the report was changed after it was written");
    }
    jobs__buffer_free(&bytes);
}

/* --- the contract --- */

static bool item_is(const json_t *item, const char *status)
{
    return strcmp(json_string_value(json_object_get(item, "status")), status) == 0;
}

static size_t count_items(const struct jobs__conversion *c, const char *status)
{
    size_t i, count = 0;
    json_t *item;
    json_array_foreach(json_object_get(c->source, "items"), i, item) count += item_is(item, status);
    return count;
}

static void check_state(struct jobs__conversion *c)
{
    size_t waiting = count_items(c, "APPROVAL_READY"), blocked = count_items(c, "BLOCKED");
    const char *follows = waiting > 0 && blocked > 0 ? "PARTIAL"
                          : waiting > 0              ? "USER_DECISION_REQUIRED"
                          : blocked > 0              ? "BLOCKED"
                                                     : "CLOSED";
    if (strcmp(json_string_value(json_object_get(c->source, "state")), follows) != 0)
        jobs__violate(c, "R202", "/state", "from the items follows %s", follows);
}

/* The 64 digits of a hash, with or without its prefix; NULL for anything else. */
static const char *digest_of(const json_t *object, const char *name)
{
    const char *hash = jobs__text(object, name);
    if (hash != NULL && strncmp(hash, "sha256:", 7) == 0)
        hash += 7;
    return hash != NULL && strlen(hash) == 64 && jobs__text_is_hex(hash, 64, true) ? hash : NULL;
}

static bool hash_is_good(const json_t *object, const char *name)
{
    const char *hash = jobs__text(object, name);
    return hash == NULL || digest_of(object, name) != NULL;
}

static void check_hashes(struct jobs__conversion *c)
{
    static const char *const names[] = {"candidate_tree_hash", "patch_hash"};
    char pointer[96];
    size_t i, k;
    json_t *item, *evidence;
    json_array_foreach(json_object_get(c->source, "items"), i, item)
    {
        for (size_t n = 0; n < COUNT(names); n++) {
            snprintf(pointer, sizeof pointer, "/items/%zu/%s", i, names[n]);
            if (!hash_is_good(item, names[n]))
                jobs__violate(c, "R103", pointer, "must be sha256: and 64 lower-case hex digits");
        }
        json_array_foreach(json_object_get(item, "evidence"), k, evidence)
        {
            snprintf(pointer, sizeof pointer, "/items/%zu/evidence/%zu/sha256", i, k);
            if (!hash_is_good(evidence, "sha256"))
                jobs__violate(c, "R103", pointer, "must be sha256: and 64 lower-case hex digits");
        }
    }
}

/* --- the mapping --- */

/* A path of the report as one that may leave: below the candidate CANDIDATE_ID/rest, elsewhere its last component. */
static char *shown_path(struct jobs__conversion *c, const json_t *item, const char *path)
{
    const char *root = jobs__text(item, "candidate_path"), *id = jobs__text(item, "candidate_id");
    size_t len = root == NULL ? 0 : strlen(root);
    char *shown = NULL;
    while (len > 1 && root[len - 1] == '/')
        len--;
    if (root != NULL && id != NULL && strncmp(path, root, len) == 0 && (path[len] == '/' || path[len] == '\0')) {
        const char *rest = path + len;
        if (asprintf(&shown, "%s%s", id, strcmp(rest, "/") == 0 ? "" : rest) < 0)
            shown = NULL;
    } else if (jobs__is_local(path)) {
        size_t end = strlen(path), start;
        while (end > 1 && memchr("/\\", path[end - 1], 2) != NULL)
            end--;
        for (start = end; start > 0 && memchr("/\\", path[start - 1], 2) == NULL;)
            start--;
        shown = strndup(path + start, end - start);
    } else {
        return strdup(path);
    }
    jobs__repair(c, JOBS__REPAIR_PATH_RELATIVE);
    return shown;
}

static void put_item_artifacts(struct jobs__conversion *c, const json_t *item, size_t i)
{
    const char *patch = jobs__text(item, "patch_path"), *hash = digest_of(item, "patch_hash");
    const char *root = jobs__text(item, "candidate_path"), *tree = jobs__text(item, "candidate_tree_hash");
    char pointer[64];
    if (patch != NULL && hash != NULL) {
        char *path = shown_path(c, item, patch);
        snprintf(pointer, sizeof pointer, "/items/%zu/patch_path", i);
        json_t *artifact = path == NULL ? NULL : jobs__add_artifact(c, "file", path, path, NULL, pointer, true);
        if (artifact != NULL)
            jobs__set(c, artifact, "sha256", json_string(hash));
        free(path);
    }
    if (root != NULL && tree != NULL) {
        char *path = shown_path(c, item, root);
        snprintf(pointer, sizeof pointer, "/items/%zu/candidate_path", i);
        if (path != NULL)
            jobs__add_artifact(c, "other", "Candidate tree", path, tree, pointer, true);
        free(path);
    }
}

static void put_item_evidence(struct jobs__conversion *c, const json_t *item, size_t i)
{
    char pointer[96];
    size_t k;
    json_t *evidence;
    json_array_foreach(json_object_get(item, "evidence"), k, evidence)
    {
        char *path = shown_path(c, item, jobs__text(evidence, "path"));
        snprintf(pointer, sizeof pointer, "/items/%zu/evidence/%zu", i, k);
        if (path == NULL)
            c->failed = JOBS_NO_MEMORY;
        else
            jobs__add_evidence(c, path, digest_of(evidence, "sha256"), pointer);
        free(path);
    }
}

static void add_blocker(struct jobs__conversion *c, const char *id, const char *text)
{
    jobs__buffer_text(&c->blocker, c->blocker.len > 0 ? "; " : "");
    jobs__append_text(c, &c->blocker, id);
    jobs__buffer_text(&c->blocker, ": ");
    jobs__append_text(c, &c->blocker, text);
}

static void put_item_blockers(struct jobs__conversion *c, const json_t *item)
{
    const char *id = jobs__text(item, "item_id"), *summary = jobs__text(item, "summary");
    size_t i, said = 0;
    json_t *blocker;
    if (!item_is(item, "BLOCKED"))
        return;
    json_array_foreach(json_object_get(item, "blockers"), i, blocker)
    {
        const char *text = json_is_string(blocker) ? json_string_value(blocker) : jobs__text(blocker, "summary");
        text = text == NULL ? jobs__text(blocker, "reason") : text;
        if (text != NULL && !jobs__is_blank(text)) {
            add_blocker(c, id, text);
            said++;
        }
    }
    if (said == 0)
        add_blocker(c, id, summary == NULL ? "blocked" : summary);
}

static void put_waiting(struct jobs__conversion *c)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(c->source, "items"), i, item)
    {
        if (!item_is(item, "APPROVAL_READY"))
            continue;
        jobs__buffer_text(&c->blocker, c->blocker.len == 0 ? "waiting for the user's decision on " : ", ");
        jobs__append_text(c, &c->blocker, jobs__text(item, "item_id"));
    }
}

static void put_items(struct jobs__conversion *c, bool with_artifacts)
{
    char pointer[64];
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(c->source, "items"), i, item)
    {
        bool open = item_is(item, "BLOCKED") || item_is(item, "APPROVAL_READY");
        snprintf(pointer, sizeof pointer, "/items/%zu", i);
        json_t *finding = jobs__add_finding(c, jobs__text(item, "item_id"), NULL, jobs__text(item, "summary"),
                                            open ? "unresolved" : "addressed", pointer);
        jobs__put_text(c, finding, "disposition", jobs__text(item, "disposition"));
        if (with_artifacts)
            put_item_artifacts(c, item, i);
        put_item_evidence(c, item, i);
        put_item_blockers(c, item);
    }
}

void jobs__convert_sublation_report(struct jobs__conversion *c)
{
    if (json_object_get(c->source, "report_version") == NULL &&
        json_object_get(c->source, "configured_roots") != NULL) {
        jobs__break(c, "R105", "");
        return;
    }
    jobs__shape_check(c, &report_shape, &shape_rules, c->source, "");
    if (!jobs__violated(c)) {
        check_hash(c);
        check_state(c);
        if (!c->options->schema_level)
            check_hashes(c);
    }
    if (jobs__violated(c))
        return;

    const char *state = jobs__text(c->source, "state");
    size_t count = json_array_size(json_object_get(c->source, "items"));
    bool closed = strcmp(state, "CLOSED") == 0, blocked = strcmp(state, "BLOCKED") == 0;
    char text[128];
    snprintf(c->version_text, sizeof c->version_text, "%" JSON_INTEGER_FORMAT,
             json_integer_value(json_object_get(c->source, "schema_version")));
    c->version = c->version_text;
    c->producer = "sublation";
    c->native_outcome = state;
    jobs__outcome_line(c, "Run", jobs__text(c->source, "run_id"));
    snprintf(text, sizeof text, "%s, %zu item%s, %zu waiting for approval, %zu blocked", state, count,
             count == 1 ? "" : "s", count_items(c, "APPROVAL_READY"), count_items(c, "BLOCKED"));
    jobs__outcome_line(c, NULL, text);
    const json_t *policy = json_object_get(c->source, "review_policy");
    const char *mode = jobs__text(policy, "mode");
    if (json_is_true(json_object_get(policy, "single_agent_user_authorized")) ||
        (mode != NULL && strncmp(mode, "single_agent", 12) == 0))
        jobs__outcome_line(c, "Reviews", "no independent review");
    put_waiting(c);
    put_items(c, !closed);
    c->disposition = closed ? "no_artifact" : blocked ? "blocked" : "partial";
}
