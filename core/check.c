/* check.c - walks a document along the tables of contract.c and tells of every rule that does not hold.
 *
 * A value of the wrong shape is told of and not looked into; everything beside it is. Values are never part of a
 * message. field.c knows single values, reference.c references.
 */
#include "check.h"

#include "reference.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- telling --- */

static void write_path(const struct jobs__check *check, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < check->depth && used < size; i++) {
        int n = check->path[i].name != NULL ? snprintf(out + used, size - used, "/%s", check->path[i].name)
                                            : snprintf(out + used, size - used, "/%zu", check->path[i].item);
        used += (size_t)n;
    }
}

void jobs__check_violation(struct jobs__check *check, enum jobs__rule rule, size_t offset, const char *format, ...)
{
    bool left_out = check->reader && check->in_additive && !check->additive_counts;
    if (!left_out && !check->broken) {
        check->broken = true;
        check->first = rule;
    }
    struct jobs__violations *list = left_out ? check->left_out : check->violations;
    if (list == NULL)
        return;
    char pointer[JOBS__CHECK_DEPTH * 24];
    write_path(check, pointer, sizeof pointer);
    va_list arguments;
    va_start(arguments, format);
    jobs__violations_add(list, jobs__rule_number(rule), pointer, offset, format, arguments);
    va_end(arguments);
}

static void enter(struct jobs__check *check, const char *name, size_t item)
{
    check->path[check->depth].name = name;
    check->path[check->depth++].item = item;
}

static void leave(struct jobs__check *check)
{
    check->depth--;
}

/* Nothing more needs to be known. */
static bool is_done(const struct jobs__check *check)
{
    return check->no_memory || (check->card_only && check->broken);
}

/* --- objects and lists --- */

static void check_value(struct jobs__check *check, const struct jobs__field *field, uint32_t value);

static void check_artifact(struct jobs__check *check, uint32_t kind, uint32_t reference)
{
    static const char *const by_url[] = {"media", "pull_request", "build", "deployment", "link"};
    struct jobs__json *doc = check->doc;
    if (kind == 0 || reference == 0 || doc->values[kind].type != JOBS__JSON_STRING ||
        doc->values[reference].type != JOBS__JSON_STRING)
        return;
    const char *text;
    size_t len;
    if (!jobs__check_decode(check, reference, &text, &len) || jobs__reference_is_url(text, len))
        return;
    enum jobs__rule rule = JOBS__RULE_COUNT;
    for (size_t i = 0; i < sizeof by_url / sizeof *by_url; i++) {
        if (jobs__json_equals(doc, kind, by_url[i], strlen(by_url[i])))
            rule = JOBS__H412;
    }
    if (jobs__json_equals(doc, kind, "commit", 6) && !jobs__reference_is_object_id(text, len))
        rule = JOBS__H413;
    if (rule == JOBS__RULE_COUNT)
        return;
    enter(check, "reference", 0);
    jobs__check_violation(check, rule, doc->values[reference].start, "%s", jobs__reference_advice(rule));
    leave(check);
}

/* Checks the members; found[i] becomes the value of the shape's field i, 0 where it is absent or null. */
static void check_members(struct jobs__check *check, const struct jobs__shape *shape, uint32_t object, uint32_t *found)
{
    const struct jobs__json *doc = check->doc;
    bool there[JOBS__FIELDS_MAX] = {false};
    size_t hint = 0;
    memset(found, 0, shape->count * sizeof *found);
    uint32_t name = object + 1;
    for (uint32_t i = 0; i < doc->values[object].count && !is_done(check); i++) {
        uint32_t value = name + 1;
        const struct jobs__json_value *n = &doc->values[name];
        const struct jobs__field *field = NULL;
        if (!n->escaped) {
            field = jobs__field_find(shape, doc->text + n->start + 1, n->end - n->start - 2, &hint);
        } else {
            const char *text;
            size_t len;
            if (jobs__check_decode(check, name, &text, &len))
                field = jobs__field_find(shape, text, len, &hint);
        }
        name = doc->values[value].after;
        if (field == NULL)
            continue;
        size_t index = (size_t)(field - shape->fields);
        /* null means absent where absence is allowed; the two lists of the first version may not be null. */
        bool may_be_null = !field->required && (field->additive || field->kind != JOBS__FIELD_OBJECTS);
        bool is_null = doc->values[value].type == JOBS__JSON_NULL;
        there[index] = there[index] || !is_null || !may_be_null;
        if (is_null && may_be_null)
            continue;
        if (found[index] == 0)
            found[index] = value;
        check_value(check, field, value);
    }
    for (size_t i = 0; i < shape->count && !is_done(check); i++) {
        const struct jobs__field *field = &shape->fields[i];
        if (!field->required || there[i])
            continue;
        bool supplied = false;
        if (shape == &jobs__root_shape && check->given != NULL) {
            supplied = (i == JOBS__ROOT_JOB && check->given->job_request != NULL) ||
                       (i == JOBS__ROOT_REQUESTED &&
                        (check->given->requested_outcome != NULL || check->given->requested_outcome_later));
        }
        if (supplied)
            continue;
        enter(check, field->name, 0);
        jobs__check_violation(check, JOBS__H202, doc->values[object].end - 1, "is missing and must be there");
        leave(check);
    }
}

static void check_object(struct jobs__check *check, const struct jobs__shape *shape, uint32_t object)
{
    uint32_t found[JOBS__FIELDS_MAX];
    if (check->doc->values[object].type != JOBS__JSON_OBJECT) {
        jobs__check_violation(check, JOBS__H210, check->doc->values[object].start, "must be an object");
        return;
    }
    check_members(check, shape, object, found);
    if (shape == &jobs__artifact_shape && !is_done(check))
        check_artifact(check, found[JOBS__ARTIFACT_KIND], found[JOBS__ARTIFACT_REFERENCE]);
}

static void check_unique_ids(struct jobs__check *check, uint32_t list)
{
    struct jobs__json *doc = check->doc;
    size_t items = doc->values[list].count, n = 0;
    uint32_t *ids = malloc((2 * items + 1) * sizeof *ids);
    if (ids == NULL) {
        check->no_memory = true;
        return;
    }
    uint32_t item = list + 1;
    for (size_t i = 0; i < items; i++, item = doc->values[item].after) {
        uint32_t id = doc->values[item].type == JOBS__JSON_OBJECT ? jobs__json_member(doc, item, "id") : 0;
        if (id != 0 && doc->values[id].type == JOBS__JSON_STRING)
            ids[n++] = id;
    }
    size_t repeats = jobs__json_repeats(doc, ids, n), next = 0;
    item = list + 1;
    for (size_t i = 0; i < items && next < repeats; i++, item = doc->values[item].after) {
        if (ids[next] >= doc->values[item].after)
            continue;
        enter(check, NULL, i);
        enter(check, "id", 0);
        jobs__check_violation(check, JOBS__H505, doc->values[ids[next++]].start,
                              "must differ from the ids of the items before it");
        leave(check);
        leave(check);
    }
    free(ids);
}

static void check_list(struct jobs__check *check, const struct jobs__field *field, uint32_t list)
{
    const struct jobs__json *doc = check->doc;
    const struct jobs__json_value *value = &doc->values[list];
    if (value->type != JOBS__JSON_ARRAY) {
        jobs__check_violation(check, JOBS__H210, value->start, "must be an array");
        return;
    }
    if (value->count > field->max)
        jobs__check_violation(check, JOBS__H211, value->start, "must have at most %zu items, but has %zu", field->max,
                              (size_t)value->count);
    const struct jobs__field text = {.kind = field->kind == JOBS__FIELD_TEXTS ? JOBS__FIELD_TEXT : JOBS__FIELD_LINE,
                                     .max = field->item_max};
    uint32_t item = list + 1;
    for (size_t i = 0; i < value->count && !is_done(check); i++, item = doc->values[item].after) {
        enter(check, NULL, i);
        if (field->kind == JOBS__FIELD_OBJECTS)
            check_object(check, field->shape, item);
        else
            jobs__check_scalar(check, &text, item);
        leave(check);
    }
    if (field->unique_ids && !is_done(check))
        check_unique_ids(check, list);
}

/* The field's value, at the path of the object it is in. */
static void check_value(struct jobs__check *check, const struct jobs__field *field, uint32_t value)
{
    bool was_additive = check->in_additive;
    if (field->additive && check->card_only)
        return;
    check->in_additive = was_additive || field->additive;
    enter(check, field->name, 0);
    switch (field->kind) {
    case JOBS__FIELD_OBJECT:
        check_object(check, field->shape, value);
        break;
    case JOBS__FIELD_OBJECTS:
    case JOBS__FIELD_TEXTS:
    case JOBS__FIELD_LINES:
        check_list(check, field, value);
        break;
    default:
        jobs__check_scalar(check, field, value);
        break;
    }
    leave(check);
    check->in_additive = was_additive;
}

/* --- rules across fields --- */

static bool is_word(const struct jobs__check *check, uint32_t value, const char *word)
{
    return check->doc->values[value].type == JOBS__JSON_STRING &&
           jobs__json_equals(check->doc, value, word, strlen(word));
}

static void check_disposition(struct jobs__check *check, const uint32_t *found)
{
    const struct jobs__json_value *values = check->doc->values;
    uint32_t disposition = found[JOBS__ROOT_DISPOSITION], artifacts = found[JOBS__ROOT_ARTIFACTS];
    size_t end = values[0].end - 1;
    if (disposition == 0)
        return;
    /* A list that is none has been told of; how long it would be is not known. */
    bool known = artifacts == 0 || values[artifacts].type == JOBS__JSON_ARRAY;
    size_t count = artifacts != 0 && known ? values[artifacts].count : 0;
    if (known) {
        enter(check, "artifacts", 0);
        size_t at = artifacts != 0 ? values[artifacts].start : end;
        if (count == 0 && is_word(check, disposition, "completed"))
            jobs__check_violation(check, JOBS__H301, at,
                                  "must list at least one artifact, since the disposition is completed");
        if (count > 0 && is_word(check, disposition, "no_artifact"))
            jobs__check_violation(check, JOBS__H302, at, "must be empty, since the disposition is no_artifact");
        leave(check);
    }
    if (found[JOBS__ROOT_BLOCKER] == 0 && is_word(check, disposition, "blocked")) {
        enter(check, "blocker", 0);
        jobs__check_violation(check, JOBS__H303, end, "must say what is in the way, since the disposition is blocked");
        leave(check);
    }
}

/* Compares one member with what was given beside the manifest, or checks the latter where the member is missing. */
static void check_given(struct jobs__check *check, enum jobs__root_field index, uint32_t value, const char *given)
{
    const struct jobs__field *field = &jobs__root_shape.fields[index];
    if (given == NULL)
        return;
    size_t given_len = strlen(given);
    enter(check, field->name, 0);
    if (value == 0) {
        bool lower = field->kind == JOBS__FIELD_DIGEST;
        if (field->kind == JOBS__FIELD_TEXT) {
            if (!jobs__text_is_utf8(given, given_len))
                jobs__check_violation(check, JOBS__H102, JOBS__NOWHERE, "must be valid UTF-8");
            jobs__check_text(check, given, given_len, JOBS__NOWHERE, false, field->max);
        } else if (given_len != 64 || !jobs__text_is_hex(given, given_len, lower)) {
            jobs__check_violation(check, lower ? JOBS__H501 : JOBS__H204, JOBS__NOWHERE,
                                  "must be 64 %shexadecimal digits", lower ? "lower-case " : "");
        }
    } else if (check->doc->values[value].type == JOBS__JSON_STRING) {
        const char *text;
        size_t len;
        if (!jobs__check_decode(check, value, &text, &len)) {
            leave(check);
            return;
        }
        bool hex = field->kind == JOBS__FIELD_JOB;
        bool well_formed = !hex || (len == 64 && jobs__text_is_hex(text, len, false));
        bool equal = len == given_len && (hex ? strncasecmp(text, given, len) : memcmp(text, given, len)) == 0;
        if (well_formed && !equal)
            jobs__check_violation(check, JOBS__H214, check->doc->values[value].start,
                                  "must equal the value given beside the manifest");
    }
    leave(check);
}

static void check_reply(struct jobs__check *check, uint32_t job)
{
    const char *text;
    size_t len;
    if (job == 0 || check->doc->values[job].type != JOBS__JSON_STRING || !jobs__check_decode(check, job, &text, &len) ||
        len != 64)
        return;
    if (check->reply_id != NULL && strlen(check->reply_id) == len && strncasecmp(text, check->reply_id, len) == 0)
        return;
    enter(check, "jobRequest", 0);
    jobs__check_violation(check, JOBS__H304, check->doc->values[job].start,
                          "must equal the event id that the result replies to");
    leave(check);
}

void jobs__check_document(struct jobs__check *check)
{
    uint32_t found[JOBS__FIELDS_MAX];
    if (check->doc->values[0].type != JOBS__JSON_OBJECT) {
        jobs__check_violation(check, JOBS__H201, check->doc->values[0].start, "the payload must be an object");
        return;
    }
    check_members(check, &jobs__root_shape, 0, found);
    if (is_done(check))
        return;
    check_disposition(check, found);
    if (check->given != NULL) {
        check_given(check, JOBS__ROOT_JOB, found[JOBS__ROOT_JOB], check->given->job_request);
        check_given(check, JOBS__ROOT_REQUESTED, found[JOBS__ROOT_REQUESTED], check->given->requested_outcome);
        check_given(check, JOBS__ROOT_SUPERSEDES, found[JOBS__ROOT_SUPERSEDES], check->given->supersedes);
    }
    if (check->reader)
        check_reply(check, found[JOBS__ROOT_JOB]);
}

bool jobs__check_field(struct jobs__check *check, const struct jobs__field *field, uint32_t value)
{
    struct jobs__check one = {.doc = check->doc, .text = check->text, .reader = check->reader, .additive_counts = true};
    check_value(&one, field, value);
    check->no_memory = check->no_memory || one.no_memory;
    return !one.broken && !one.no_memory;
}
