/* build.c - copies a checked document into structures, along the tables of contract.c.
 *
 * Runs twice over the same code: once to see how much memory everything takes, once to fill that one piece.
 */
#include "build.h"

#include "check.h"
#include "text.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    struct jobs__json *doc;
    struct jobs__check check;
    struct jobs__buffer text;
    bool reader;
    char *memory; /* NULL while measuring */
    size_t used;
};

static void *take(struct builder *b, size_t size, size_t align)
{
    b->used = (b->used + align - 1) / align * align;
    void *memory = b->memory != NULL ? b->memory + b->used : NULL;
    b->used += size;
    return memory;
}

static const char *build_text(struct builder *b, uint32_t value)
{
    const struct jobs__json_value *v = &b->doc->values[value];
    char *copy = take(b, v->end - v->start - 1, 1); /* as spelled without quotes, and a NUL: decoded is never longer */
    const char *text;
    size_t len;
    if (copy == NULL || !jobs__check_decode(&b->check, value, &text, &len))
        return NULL;
    if (b->reader)
        jobs__text_trim(&text, &len);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

static const char *build_word(const struct builder *b, const struct jobs__field *field, uint32_t value)
{
    size_t i = 0;
    while (field->words[i] != NULL && !jobs__json_equals(b->doc, value, field->words[i], strlen(field->words[i])))
        i++;
    return field->words[i];
}

static void build_members(struct builder *b, const struct jobs__shape *shape, uint32_t object, char *target);

static const char *build_objects(struct builder *b, const struct jobs__shape *shape, uint32_t first, size_t count)
{
    char *items = take(b, count * shape->size, alignof(max_align_t));
    uint32_t item = first;
    for (size_t i = 0; i < count; i++, item = b->doc->values[item].after) {
        char *target = items != NULL ? items + i * shape->size : NULL;
        if (target != NULL)
            memcpy(target, shape->blank, shape->size);
        build_members(b, shape, item, target);
    }
    return items;
}

static const char *const *build_texts(struct builder *b, uint32_t list)
{
    size_t count = b->doc->values[list].count;
    const char **texts = take(b, count * sizeof *texts, alignof(const char *));
    uint32_t item = list + 1;
    for (size_t i = 0; i < count; i++, item = b->doc->values[item].after) {
        const char *text = build_text(b, item);
        if (texts != NULL)
            texts[i] = text;
    }
    return texts;
}

/* target is the structure the field is in, NULL while measuring. */
static void build_field(struct builder *b, const struct jobs__field *field, uint32_t value, char *target)
{
    size_t count = b->doc->values[value].count;
    const void *pointer = NULL;
    int64_t number = 0;
    switch (field->kind) {
    case JOBS__FIELD_VERSION:
        return;
    case JOBS__FIELD_SIZE:
    case JOBS__FIELD_EXIT:
        if (target == NULL || !jobs__json_integer(b->doc, value, &number))
            return;
        if (field->kind == JOBS__FIELD_SIZE) {
            memcpy(target + field->offset, &number, sizeof number);
        } else {
            int32_t status = (int32_t)number;
            memcpy(target + field->offset, &status, sizeof status);
            memcpy(target + field->extra, &(bool){true}, sizeof(bool));
        }
        return;
    case JOBS__FIELD_WORD:
        pointer = build_word(b, field, value);
        break;
    case JOBS__FIELD_OBJECT:
        pointer = build_objects(b, field->shape, value, 1);
        break;
    case JOBS__FIELD_OBJECTS:
        pointer = build_objects(b, field->shape, value + 1, count);
        break;
    case JOBS__FIELD_TEXTS:
    case JOBS__FIELD_LINES:
        pointer = build_texts(b, value);
        break;
    default:
        pointer = build_text(b, value);
        break;
    }
    if (target == NULL)
        return;
    memcpy(target + field->offset, &pointer, sizeof pointer);
    if (field->kind == JOBS__FIELD_OBJECTS || field->kind == JOBS__FIELD_TEXTS || field->kind == JOBS__FIELD_LINES)
        memcpy(target + field->extra, &count, sizeof count);
}

static void build_members(struct builder *b, const struct jobs__shape *shape, uint32_t object, char *target)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct jobs__field *field = &shape->fields[i];
        uint32_t value = jobs__json_member(b->doc, object, field->name);
        if (value == 0 || b->doc->values[value].type == JOBS__JSON_NULL)
            continue;
        if (b->reader && field->additive && !jobs__check_field(&b->check, field, value))
            continue;
        build_field(b, field, value, target);
    }
}

int jobs__build(struct jobs_handoff *handoff, struct jobs__json *doc, bool reader)
{
    struct builder b = {.doc = doc, .reader = reader, .text = {.max = doc->len}};
    b.check = (struct jobs__check){.doc = doc, .text = &b.text, .reader = reader};
    build_members(&b, &jobs__root_shape, 0, NULL);
    handoff->memory = malloc(b.used + 1);
    if (handoff->memory != NULL) {
        b.memory = handoff->memory;
        b.used = 0;
        build_members(&b, &jobs__root_shape, 0, (char *)handoff);
    }
    bool failed = handoff->memory == NULL || b.check.no_memory;
    jobs__buffer_free(&b.text);
    return failed ? JOBS_NO_MEMORY : JOBS_OK;
}
