/* sublation_manifest.c - Sublation's candidate manifest, schema 3; docs/protocol/convert-sublation.md has the mapping
 * and the rules. */
#include "conversion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

static const char *const candidate_types[] = {"spec-patch", "script-enhance", "infra-fix", "tooling", NULL};
static const char *const auditor_statuses[] = {"passed", "conditional", "failed", NULL};
static const char *const promotion_modes[] = {"none", "human_patch", "user_delegated_agent_patch", "rollback", NULL};
/* In the order of a candidate's life; rejected stands apart. */
static const char *const statuses[] = {
    "draft", "validated", "review_pending", "approved", "promoted", "observation_window", "closed", "rejected", NULL};
enum {
    APPROVED = 3,
    PROMOTED = 4,
    CLOSED = 6,
    REJECTED = 7
};
static const char *const verdicts[] = {"approve", "hold", "reject", "info", NULL};

static const struct jobs__field tree_fields[] = {
    {"path", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"tree_hash", JOBS__STRING, JOBS__REQUIRED, NULL, 0, NULL},
    {"files", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, NULL},
};
static const struct jobs__shape tree_shape = {false, tree_fields, COUNT(tree_fields)};

static const struct jobs__field scope_fields[] = {
    {"changes", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
    {"out_of_scope", JOBS__ARRAY, JOBS__REQUIRED, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape scope_shape = {false, scope_fields, COUNT(scope_fields)};

static const struct jobs__field report_fields[] = {
    {"reviewer", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"status", JOBS__STRING, JOBS__REQUIRED, verdicts, 0, NULL},
    {"focus", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"role", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"report_path", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape report_shape = {false, report_fields, COUNT(report_fields)};

static const struct jobs__field reproduction_fields[] = {
    {"status", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"performed_by", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__STRING, NULL},
    {"method", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"evidence", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape reproduction_shape = {false, reproduction_fields, COUNT(reproduction_fields)};

static const struct jobs__field delta_fields[] = {
    {"status", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"summary", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"evidence", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
    {"positive_delta_categories", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape delta_shape = {false, delta_fields, COUNT(delta_fields)};

static const struct jobs__field smoke_fields[] = {
    {"status", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"evidence", JOBS__ARRAY, JOBS__NULLABLE | JOBS__FILLED, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape smoke_shape = {false, smoke_fields, COUNT(smoke_fields)};

static const struct jobs__field safety_fields[] = {
    {"business_smoke_test", JOBS__OBJECT, JOBS__NULLABLE, NULL, 0, &smoke_shape},
};
static const struct jobs__shape safety_shape = {false, safety_fields, COUNT(safety_fields)};

static const struct jobs__field policy_fields[] = {
    {"mode", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"required_roles", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__STRING, NULL},
};
static const struct jobs__shape policy_shape = {false, policy_fields, COUNT(policy_fields)};

static const struct jobs__field validation_fields[] = {
    {"auditor_status", JOBS__STRING, JOBS__REQUIRED, auditor_statuses, 0, NULL},
    {"cross_reviewed_by", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"promotion_mode", JOBS__STRING, JOBS__REQUIRED, promotion_modes, 0, NULL},
    {"status", JOBS__STRING, JOBS__REQUIRED, statuses, 0, NULL},
    {"rejection_reason", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
    {"pre_promotion_reports", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__OBJECT, &report_shape},
    {"review_policy", JOBS__OBJECT, JOBS__NULLABLE, NULL, 0, &policy_shape},
    {"decision_history", JOBS__ARRAY, JOBS__NULLABLE, NULL, JOBS__OBJECT, NULL},
    {"independent_reproduction", JOBS__OBJECT, JOBS__NULLABLE, NULL, 0, &reproduction_shape},
    {"value_delta", JOBS__OBJECT, JOBS__NULLABLE, NULL, 0, &delta_shape},
    {"post_promotion_safety", JOBS__OBJECT, JOBS__NULLABLE, NULL, 0, &safety_shape},
};
static const struct jobs__shape validation_shape = {false, validation_fields, COUNT(validation_fields)};

static const struct jobs__field manifest_fields[] = {
    {"schema_version", JOBS__INTEGER, JOBS__REQUIRED, NULL, 0, NULL},
    {"candidate_id", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"candidate_type", JOBS__STRING, JOBS__REQUIRED, candidate_types, 0, NULL},
    {"source_skill", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &tree_shape},
    {"candidate", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &tree_shape},
    {"scope", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &scope_shape},
    {"validation", JOBS__OBJECT, JOBS__REQUIRED, NULL, 0, &validation_shape},
    {"created_by", JOBS__STRING, JOBS__REQUIRED | JOBS__FILLED, NULL, 0, NULL},
    {"created_at", JOBS__STRING, JOBS__NULLABLE, NULL, 0, NULL},
};
static const struct jobs__shape manifest_shape = {false, manifest_fields, COUNT(manifest_fields)};
static const struct jobs__shape_rules shape_rules = {"M101", "M101", "M103", "M104"};

/* --- reading --- */

static const json_t *validation(const struct jobs__conversion *c)
{
    return json_object_get(c->source, "validation");
}

static const json_t *section(const struct jobs__conversion *c, const char *name)
{
    return json_object_get(validation(c), name);
}

static int stage(const struct jobs__conversion *c)
{
    const char *status = jobs__text(validation(c), "status");
    for (int i = 0; statuses[i] != NULL; i++)
        if (strcmp(statuses[i], status) == 0)
            return i;
    return 0;
}

static bool is(const json_t *object, const char *name, const char *word)
{
    const char *text = jobs__text(object, name);
    return text != NULL && strcmp(text, word) == 0;
}

static bool filled_list(const json_t *object, const char *name)
{
    return json_array_size(json_object_get(object, name)) > 0;
}

static bool default_policy(const struct jobs__conversion *c)
{
    const char *mode = jobs__text(section(c, "review_policy"), "mode");
    return mode == NULL || strcmp(mode, "default_three_agent") == 0;
}

/* --- the contract --- */

static void break_hash(struct jobs__conversion *c, const char *tree, const char *member, const char *file)
{
    struct jobs__buffer pointer = {.max = JOBS__POINTER_MAX};
    jobs__buffer_format(&pointer, "/%s/%s", tree, member);
    if (file != NULL)
        jobs__pointer_add(&pointer, file);
    jobs__break(c, "M202", pointer.bytes == NULL ? "" : pointer.bytes);
    jobs__close(c, &pointer);
}

static void check_hashes(struct jobs__conversion *c, const char *tree)
{
    const json_t *object = json_object_get(c->source, tree);
    const char *hash = json_string_value(json_object_get(object, "tree_hash"));
    const char *name;
    json_t *value;
    if (!jobs__is_sha256(hash))
        break_hash(c, tree, "tree_hash", NULL);
    json_object_foreach(json_object_get(object, "files"), name, value)
    {
        if (!json_is_string(value) || !jobs__is_sha256(json_string_value(value)))
            break_hash(c, tree, "files", name);
    }
}

/* Whether the last report of this reviewer (or role) approves. */
static bool approved_by(const struct jobs__conversion *c, const char *key, const char *who)
{
    const char *last = NULL;
    size_t i;
    json_t *report;
    json_array_foreach(section(c, "pre_promotion_reports"), i, report) if (is(report, key, who)) last =
        jobs__text(report, "status");
    return last != NULL && strcmp(last, "approve") == 0;
}

/* Calls found for every required reviewer without an approval, with the place that requires it: the role's, or "" for
 * the three of the default policy. */
static void missing_reviews(struct jobs__conversion *c,
                            void (*found)(struct jobs__conversion *c, const char *who, const char *required_by))
{
    static const char *const reviewers[] = {"codex", "claude-code", "hermes", NULL};
    char pointer[80];
    size_t i;
    json_t *role;
    for (i = 0; reviewers[i] != NULL && default_policy(c); i++)
        if (!approved_by(c, "reviewer", reviewers[i]))
            found(c, reviewers[i], "");
    if (default_policy(c))
        return;
    json_array_foreach(json_object_get(section(c, "review_policy"), "required_roles"), i, role)
    {
        snprintf(pointer, sizeof pointer, "/validation/review_policy/required_roles/%zu", i);
        if (!approved_by(c, "role", json_string_value(role)))
            found(c, json_string_value(role), pointer);
    }
}

static void violate_review(struct jobs__conversion *c, const char *who, const char *required_by)
{
    if (required_by[0] == '\0')
        jobs__violate(c, "M205", "/validation/pre_promotion_reports", "the last report of %s must approve", who);
    else
        jobs__violate(c, "M205", required_by, "the last report of this role must approve");
}

static void check_approved(struct jobs__conversion *c)
{
    const json_t *delta = section(c, "value_delta"), *reproduction = section(c, "independent_reproduction");
    if (is(validation(c), "cross_reviewed_by", "none"))
        jobs__break(c, "M203", "/validation/cross_reviewed_by");
    if (is(validation(c), "auditor_status", "failed"))
        jobs__break(c, "M204", "/validation/auditor_status");
    if (!default_policy(c) && !filled_list(section(c, "review_policy"), "required_roles"))
        jobs__violate(c, "M205", "/validation/review_policy/required_roles", "name the roles that must approve");
    missing_reviews(c, violate_review);
    if (!is(delta, "status", "positive_delta") && !is(delta, "status", "not_applicable"))
        jobs__break(c, "M206", "/validation/value_delta/status");
    if (!is(reproduction, "status", "passed") && !is(reproduction, "status", "not_required"))
        jobs__break(c, "M207", "/validation/independent_reproduction/status");
}

static void check_promoted(struct jobs__conversion *c)
{
    if (is(validation(c), "promotion_mode", "none"))
        jobs__break(c, "M208", "/validation/promotion_mode");
    if (jobs__text(validation(c), "promoted_by") == NULL)
        jobs__break(c, "M208", "/validation/promoted_by");
    const char *at = jobs__text(validation(c), "promoted_at");
    if (at == NULL || !jobs__is_time(at))
        jobs__break(c, "M208", "/validation/promoted_at");
}

static void check_reproduction(struct jobs__conversion *c)
{
    const json_t *reproduction = section(c, "independent_reproduction");
    const char *author = jobs__text(c->source, "created_by");
    bool independent = false;
    size_t i;
    json_t *performer;
    if (!is(reproduction, "status", "passed"))
        return;
    json_array_foreach(json_object_get(reproduction, "performed_by"), i, performer) independent |=
        !jobs__is_blank(json_string_value(performer)) && strcmp(json_string_value(performer), author) != 0;
    if (!independent)
        jobs__violate(c, "M212", "/validation/independent_reproduction/performed_by", "name who else did it");
    if (!filled_list(reproduction, "evidence"))
        jobs__violate(c, "M212", "/validation/independent_reproduction/evidence", "name the evidence");
}

/* True, and whatever else is neither false nor nothing. */
static bool says_yes(const json_t *value)
{
    return json_is_true(value) || json_array_size(value) > 0 || json_object_size(value) > 0 ||
           (json_is_string(value) && !jobs__is_blank(json_string_value(value))) || json_number_value(value) != 0;
}

static void check_delta(struct jobs__conversion *c)
{
    const json_t *delta = section(c, "value_delta");
    static const struct {
        const char *name;
        bool list;
    } needs[] = {{"positive_delta_categories", true},
                 {"summary", false},
                 {"evidence", true},
                 {"fallback_or_rollback", false},
                 {"observation_acceptance", false}};
    char pointer[96];
    for (size_t i = 0; i < COUNT(needs) && is(delta, "status", "positive_delta"); i++) {
        bool there = needs[i].list ? filled_list(delta, needs[i].name) : jobs__text(delta, needs[i].name) != NULL;
        snprintf(pointer, sizeof pointer, "/validation/value_delta/%s", needs[i].name);
        if (!there)
            jobs__break(c, "M213", pointer);
    }
    const json_t *reduced = json_object_get(delta, "capability_reduction");
    if (says_yes(reduced) && jobs__text(delta, "user_approval_note") == NULL)
        jobs__break(c, "M214", "/validation/value_delta/user_approval_note");
}

static void check_policy(struct jobs__conversion *c)
{
    const json_t *policy = section(c, "review_policy");
    if (default_policy(c))
        return;
    if (!is(policy, "policy_authorized_by", "user"))
        jobs__violate(c, "M211", "/validation/review_policy/policy_authorized_by", "must be user");
    if (jobs__text(policy, "authorization_message_id") == NULL &&
        jobs__text(policy, "authorization_report_path") == NULL)
        jobs__violate(c, "M211", "/validation/review_policy/authorization_message_id",
                      "name the message, or authorization_report_path");
}

static void check_contract(struct jobs__conversion *c)
{
    int at = stage(c);
    if (at >= APPROVED && at != REJECTED)
        check_approved(c);
    if (at >= PROMOTED && at != REJECTED)
        check_promoted(c);
    if (at == REJECTED && !is(validation(c), "promotion_mode", "none"))
        jobs__violate(c, "M209", "/validation/promotion_mode", "must be none");
    if (is(validation(c), "rejection_reason", "obsolete_superseded") &&
        jobs__text(validation(c), "superseded_by") == NULL && jobs__text(c->source, "superseded_by") == NULL)
        jobs__break(c, "M210", "/validation/superseded_by");
    check_policy(c);
    check_reproduction(c);
    check_delta(c);
}

/* --- the mapping --- */

static void put_paths(struct jobs__conversion *c, const json_t *object, const char *pointer)
{
    char place[128];
    size_t i;
    json_t *path;
    json_array_foreach(json_object_get(object, "evidence"), i, path)
    {
        if (!json_is_string(path) || jobs__is_blank(json_string_value(path)))
            continue; /* of a scorecard, which may hold anything */
        snprintf(place, sizeof place, "%s/evidence/%zu", pointer, i);
        jobs__add_evidence(c, json_string_value(path), NULL, place);
    }
}

static void put_self_report(struct jobs__conversion *c, const char *label, const json_t *object, const char *pointer)
{
    const char *status = jobs__text(object, "status");
    char evidence[128];
    if (status == NULL)
        return;
    snprintf(evidence, sizeof evidence, "reported %.100s", status);
    jobs__add_claim(c, label, strcmp(status, "failed") == 0, evidence, pointer);
    put_paths(c, object, pointer);
}

/* A scorecard has no fixed members: its status, when it has one, and its evidence. */
static void put_scorecard(struct jobs__conversion *c)
{
    const json_t *scorecard = section(c, "scorecard");
    if (scorecard == NULL || json_is_null(scorecard))
        return;
    if (jobs__text(scorecard, "status") != NULL)
        put_self_report(c, "scorecard", scorecard, "/validation/scorecard");
    else
        jobs__add_claim(c, "scorecard", false, "reported", "/validation/scorecard");
}

static void put_reviews(struct jobs__conversion *c)
{
    char pointer[96];
    size_t i;
    json_t *report;
    json_array_foreach(section(c, "pre_promotion_reports"), i, report)
    {
        json_t *review = json_object();
        const char *role = jobs__text(report, "role"), *path = jobs__text(report, "report_path");
        role = role == NULL ? jobs__text(report, "focus") : role;
        snprintf(pointer, sizeof pointer, "/validation/pre_promotion_reports/%zu", i);
        jobs__put_text(c, review, "role", role == NULL ? "reviewer" : role);
        jobs__put_text(c, review, "reviewer", jobs__text(report, "reviewer"));
        jobs__put_text(c, review, "verdict", jobs__text(report, "status"));
        if (path != NULL && !jobs__refuse_local(c, path, pointer))
            jobs__set(c, review, "reference", json_string(path));
        char place[64];
        snprintf(place, sizeof place, "/reviews/%zu", i);
        jobs__set(c, c->origins, place, json_string(pointer));
        if (json_array_append_new(c->reviews, review) != 0)
            c->failed = JOBS_NO_MEMORY;
    }
}

static void name_review(struct jobs__conversion *c, const char *who, const char *required_by)
{
    (void)required_by;
    jobs__buffer_text(&c->blocker, c->blocker.len > 0 ? ", " : "reviews missing: ");
    jobs__append_text(c, &c->blocker, who);
}

static void put_disposition(struct jobs__conversion *c)
{
    const json_t *smoke = json_object_get(section(c, "post_promotion_safety"), "business_smoke_test");
    const char *reason = jobs__text(validation(c), "rejection_reason");
    bool smoked = is(smoke, "status", "passed") && filled_list(smoke, "evidence");
    int at = stage(c);
    c->disposition = at == REJECTED                                        ? "failed"
                     : at == CLOSED && smoked && !c->options->schema_level ? "completed"
                                                                           : "partial";
    if (at == REJECTED)
        jobs__append_text(c, &c->blocker, reason == NULL ? "rejected, without a reason given" : reason);
    else if (at == CLOSED && !smoked)
        jobs__buffer_text(&c->blocker, "closed, without a smoke test that passed with evidence");
    else if (at == CLOSED && c->options->schema_level)
        jobs__buffer_text(&c->blocker, "closed, its contract not checked");
    else if (at == APPROVED)
        jobs__buffer_text(&c->blocker, "approved, not promoted");
    else if (at >= PROMOTED && at < CLOSED)
        jobs__buffer_text(&c->blocker, "in observation window");
    else if (at < APPROVED) {
        missing_reviews(c, name_review);
        if (c->blocker.len == 0)
            jobs__buffer_text(&c->blocker, "all reviews are in, approval is pending");
    }
}

static void put_outcome(struct jobs__conversion *c)
{
    const json_t *changes = json_object_get(json_object_get(c->source, "scope"), "changes");
    struct jobs__buffer headline = {.max = JOBS__TEXT_MAX}, list = headline;
    size_t i;
    json_t *change;
    jobs__buffer_format(&headline, "Candidate %s (%s) for %s: %s", jobs__text(c->source, "candidate_id"),
                        jobs__text(c->source, "candidate_type"),
                        jobs__text(json_object_get(c->source, "source_skill"), "path"),
                        jobs__text(validation(c), "status"));
    jobs__outcome_line(c, NULL, headline.bytes);
    json_array_foreach(changes, i, change)
        jobs__buffer_format(&list, "%s%s", i > 0 ? "; " : "", json_string_value(change));
    jobs__outcome_line(c, "Changes", list.bytes);
    jobs__outcome_line(c, "Value", jobs__text(section(c, "value_delta"), "summary"));
    const char *mode = jobs__text(section(c, "review_policy"), "mode");
    if (mode != NULL && strncmp(mode, "single_agent", 12) == 0)
        jobs__outcome_line(c, "Reviews", "no independent review");
    jobs__close(c, &headline);
    jobs__close(c, &list);
}

void jobs__convert_sublation_manifest(struct jobs__conversion *c)
{
    const json_t *version = json_object_get(c->source, "schema_version");
    const char *created = jobs__text(c->source, "created_at");
    jobs__shape_check(c, &manifest_shape, &shape_rules, c->source, "");
    if (json_is_integer(version) && json_integer_value(version) != 3)
        jobs__break(c, "M105", "/schema_version");
    if (jobs__violated(c))
        return;
    bool timed = created != NULL && jobs__is_time(created);
    if (!c->options->schema_level) {
        if (!timed)
            jobs__break(c, "M201", "/created_at");
        check_hashes(c, "source_skill");
        check_hashes(c, "candidate");
    }
    /* the owner's program has no gates for a manifest without a time; that is what M201 is for */
    if (timed || !c->options->schema_level)
        check_contract(c);
    if (jobs__violated(c))
        return;

    const json_t *candidate = json_object_get(c->source, "candidate");
    const json_t *smoke = json_object_get(section(c, "post_promotion_safety"), "business_smoke_test");
    const char *auditor = jobs__text(validation(c), "auditor_status");
    char evidence[64];
    c->version = "3";
    c->producer = jobs__text(c->source, "created_by");
    c->native_outcome = jobs__text(validation(c), "status");
    put_outcome(c);
    jobs__add_artifact(c, "other", "Candidate tree", jobs__text(candidate, "path"), jobs__text(candidate, "tree_hash"),
                       "/candidate/path", true);
    snprintf(evidence, sizeof evidence, "reported %s", auditor);
    jobs__add_claim(c, "audit", strcmp(auditor, "failed") == 0, evidence, "/validation/auditor_status");
    put_self_report(c, "independent reproduction", section(c, "independent_reproduction"),
                    "/validation/independent_reproduction");
    put_paths(c, section(c, "value_delta"), "/validation/value_delta");
    put_self_report(c, "smoke test", smoke, "/validation/post_promotion_safety/business_smoke_test");
    put_scorecard(c);
    put_reviews(c);
    put_disposition(c);
}
