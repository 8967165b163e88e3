/* event_parse.c - events that came from elsewhere: their shape, before anybody asks whether id and signature hold.
 *
 * The shape is that of NIP-01: seven members, each of its type, tags non-empty arrays of strings. Whatever other
 * members there are is ignored; a name that stands twice is refused by the reader beneath.
 */
#include "../core/text.h"
#include "event_shape.h"

#include <string.h>

static const struct {
    const char *name;
    size_t name_len;
    enum jobs__json_type type;
    const char *wanted;
} members[JOBS__EVENT_MEMBERS] = {
    [JOBS__EVENT_ID] = {"id", 2, JOBS__JSON_STRING, "64 lower-case hex digits"},
    [JOBS__EVENT_AUTHOR] = {"pubkey", 6, JOBS__JSON_STRING, "64 lower-case hex digits"},
    [JOBS__EVENT_CREATED_AT] = {"created_at", 10, JOBS__JSON_NUMBER, "an integer of 0 to 2^53-1"},
    [JOBS__EVENT_KIND] = {"kind", 4, JOBS__JSON_NUMBER, "an integer of 0 to 65535"},
    [JOBS__EVENT_TAGS] = {"tags", 4, JOBS__JSON_ARRAY, "an array of non-empty arrays of strings"},
    [JOBS__EVENT_CONTENT] = {"content", 7, JOBS__JSON_STRING, "a string"},
    [JOBS__EVENT_SIGNATURE] = {"sig", 3, JOBS__JSON_STRING, "128 lower-case hex digits"},
};

/* Hex needs no decoding: an escaped spelling of a digit is not how an id is written. */
static bool is_hex_string(const struct jobs__json *doc, uint32_t index, size_t digits)
{
    const struct jobs__json_value *value = &doc->values[index];
    return !value->escaped && value->end - value->start == digits + 2 &&
           jobs__text_is_hex(doc->text + value->start + 1, digits, true);
}

static bool are_tags(const struct jobs__json *doc, uint32_t index, size_t *value_count)
{
    const struct jobs__json_value *values = doc->values;
    uint32_t tag = index + 1;
    *value_count = 0;
    for (uint32_t t = 0; t < values[index].count; t++) {
        if (values[tag].type != JOBS__JSON_ARRAY || values[tag].count == 0)
            return false;
        for (uint32_t v = 0; v < values[tag].count; v++) /* strings have no children: one after the other */
            if (values[tag + 1 + v].type != JOBS__JSON_STRING)
                return false;
        *value_count += values[tag].count;
        tag = values[tag].after;
    }
    return true;
}

static bool has_good_value(struct jobs__event_shape *shape, const struct jobs__json *doc, int member)
{
    uint32_t index = shape->members[member];
    switch (member) {
    case JOBS__EVENT_ID:
    case JOBS__EVENT_AUTHOR:
        return is_hex_string(doc, index, 64);
    case JOBS__EVENT_SIGNATURE:
        return is_hex_string(doc, index, 128);
    case JOBS__EVENT_CREATED_AT:
        return jobs__json_integer(doc, index, &shape->created_at) && shape->created_at >= 0 &&
               shape->created_at <= JOBS__CREATED_AT_MAX;
    case JOBS__EVENT_KIND:
        return jobs__json_integer(doc, index, &shape->kind) && shape->kind >= 0 && shape->kind <= JOBS__KIND_MAX;
    case JOBS__EVENT_TAGS:
        return are_tags(doc, index, &shape->tag_values);
    default:
        return true;
    }
}

/* Which member has this name; JOBS__EVENT_MEMBERS when it is none of the seven. */
static int member_of(const struct jobs__json *doc, uint32_t name)
{
    const struct jobs__json_value *value = &doc->values[name];
    size_t len = value->end - value->start - 2;
    int m = 0;
    while (m < JOBS__EVENT_MEMBERS && ((!value->escaped && members[m].name_len != len) ||
                                       !jobs__json_equals(doc, name, members[m].name, members[m].name_len)))
        m++;
    return m;
}

int jobs__event_shape(struct jobs__event_shape *shape, const struct jobs__json *doc, uint32_t object,
                      struct jobs_error *error)
{
    int code = JOBS_OK;
    memset(shape, 0, sizeof *shape);
    if (doc->values[object].type != JOBS__JSON_OBJECT)
        return jobs_error_set(error, JOBS_INVALID, "an event must be a JSON object");
    uint32_t name = object + 1;
    for (uint32_t i = 0; i < doc->values[object].count; i++) {
        int m = member_of(doc, name);
        if (m < JOBS__EVENT_MEMBERS)
            shape->members[m] = name + 1;
        name = doc->values[name + 1].after;
    }
    for (int m = 0; m < JOBS__EVENT_MEMBERS; m++) {
        uint32_t index = shape->members[m];
        shape->good[m] = index != 0 && doc->values[index].type == members[m].type && has_good_value(shape, doc, m);
        if (shape->good[m] || code != JOBS_OK)
            continue;
        if (index == 0)
            code = jobs_error_set(error, JOBS_INVALID, "the event has no `%s`", members[m].name);
        else
            code =
                jobs_error_set(error, JOBS_INVALID, "the event's `%s` must be %s", members[m].name, members[m].wanted);
    }
    return code;
}

static void copy_hex(char *out, const struct jobs__json *doc, uint32_t index)
{
    const struct jobs__json_value *value = &doc->values[index];
    size_t len = value->end - value->start - 2;
    memcpy(out, doc->text + value->start + 1, len);
    out[len] = '\0';
}

/* Copies what the shape found; text is memory to decode into. */
static int fill(struct jobs_event *event, const struct jobs__event_shape *shape, const struct jobs__json *doc,
                struct jobs__buffer *text)
{
    copy_hex(event->id, doc, shape->members[JOBS__EVENT_ID]);
    copy_hex(event->author, doc, shape->members[JOBS__EVENT_AUTHOR]);
    copy_hex(event->signature, doc, shape->members[JOBS__EVENT_SIGNATURE]);
    event->kind = (uint32_t)shape->kind;
    event->created_at = shape->created_at;
    uint32_t tags = shape->members[JOBS__EVENT_TAGS];
    uint32_t tag = tags + 1;
    for (uint32_t t = 0; t < doc->values[tags].count; t++) {
        jobs__event_tag_begin(event);
        for (uint32_t v = 0; v < doc->values[tag].count; v++) {
            jobs__buffer_clear(text);
            jobs__json_string(doc, tag + 1 + v, text);
            if (text->failed)
                return JOBS_NO_MEMORY;
            jobs__event_tag_value(event, text->bytes, text->len);
        }
        tag = doc->values[tag].after;
    }
    jobs__buffer_add(&event->content, "", 0);
    jobs__json_string(doc, shape->members[JOBS__EVENT_CONTENT], &event->content);
    if (event->content.failed || jobs__event_tags_end(event) != JOBS_OK)
        return JOBS_NO_MEMORY;
    int code = jobs__event_hash(event);
    return code == JOBS_OK ? jobs__event_write(event) : code;
}

int jobs_event_parse(struct jobs_event **out, const char *json, size_t len, struct jobs_error *error)
{
    *out = NULL;
    struct jobs__json doc = {0};
    struct jobs__json_fault fault;
    struct jobs__event_shape shape;
    struct jobs__buffer text = {.max = JOBS__EVENT_TEXT_MAX};
    struct jobs_event *event = NULL;
    int code = jobs__json_parse(&doc, json, len, &fault);
    if (code == JOBS_INVALID) {
        jobs_error_set(error, code, "the event is not JSON as it must be: byte %zu: %s", fault.offset, fault.what);
        goto out;
    }
    if (code == JOBS_OK)
        code = jobs__event_shape(&shape, &doc, 0, error);
    if (code == JOBS_INVALID)
        goto out;
    if (code == JOBS_OK) {
        event = jobs__event_allocate(doc.values[shape.members[JOBS__EVENT_TAGS]].count, shape.tag_values);
        code = event == NULL ? JOBS_NO_MEMORY : fill(event, &shape, &doc, &text);
    }
    if (code != JOBS_OK) {
        jobs_error_set(error, code, "out of memory");
        goto out;
    }
    *out = event;
    event = NULL;
out:
    jobs_event_free(event);
    jobs__buffer_free(&text);
    jobs__json_free(&doc);
    return code;
}
