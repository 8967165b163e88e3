/* shape.c - checks a source against a table of members; says everything that is wrong, not the first. */
#include "conversion.h"

#include "../text.h"

#include <stdlib.h>
#include <string.h>

/* RFC 6901: ~ and / in a name are escaped; a foreign name is shown harmless. */
void jobs__pointer_add(struct jobs__buffer *pointer, const char *name)
{
    char shown[257];
    jobs__text_one_line(shown, 256, name, strlen(name));
    jobs__buffer_char(pointer, '/');
    for (const char *p = shown; *p != '\0'; p++) {
        if (*p == '~')
            jobs__buffer_text(pointer, "~0");
        else if (*p == '/')
            jobs__buffer_text(pointer, "~1");
        else
            jobs__buffer_char(pointer, *p);
    }
}

static void shorten(struct jobs__buffer *pointer, size_t len)
{
    pointer->len = len;
    if (pointer->bytes != NULL)
        pointer->bytes[len] = '\0';
}

static const char *const type_names[] = {"a string", "an integer", "true or false", "an array", "an object", ""};

static bool has_type(const json_t *value, enum jobs__shape_type type)
{
    switch (type) {
    case JOBS__STRING:
        return json_is_string(value);
    case JOBS__INTEGER:
        return json_is_integer(value);
    case JOBS__BOOLEAN:
        return json_is_boolean(value);
    case JOBS__ARRAY:
        return json_is_array(value);
    case JOBS__OBJECT:
        return json_is_object(value);
    case JOBS__ANY:
        return true;
    }
    return false;
}

static void check_words(struct jobs__conversion *c, const char *const *words, const char *rule, const json_t *value,
                        const char *pointer)
{
    if (words == NULL || jobs__is_one_of(json_string_value(value), words))
        return;
    struct jobs__buffer list = {.max = JOBS__TEXT_MAX};
    for (size_t i = 0; words[i] != NULL; i++)
        jobs__buffer_format(&list, "%s%s", i == 0 ? "" : ", ", words[i]);
    jobs__violate(c, rule, pointer, "must be one of: %s", list.bytes == NULL ? "" : list.bytes);
    jobs__close(c, &list);
}

static void check_value(struct jobs__conversion *c, const struct jobs__field *field,
                        const struct jobs__shape_rules *rules, const json_t *value, struct jobs__buffer *pointer)
{
    if (pointer->failed || (json_is_null(value) && (field->flags & JOBS__NULLABLE) != 0))
        return;
    const char *at = pointer->bytes;
    if (!has_type(value, field->type)) {
        jobs__violate(c, rules->type, at, "must be %s%s", type_names[field->type],
                      (field->flags & JOBS__NULLABLE) != 0 ? " or null" : "");
        return;
    }
    if (field->type == JOBS__STRING) {
        if ((field->flags & JOBS__FILLED) != 0 && jobs__is_blank(json_string_value(value)))
            jobs__violate(c, rules->type, at, "must be a string that is not blank");
        else
            check_words(c, field->words, rules->word, value, at);
    }
    if (field->type == JOBS__INTEGER && (field->flags & JOBS__NATURAL) != 0 && json_integer_value(value) < 0)
        jobs__violate(c, rules->type, at, "must not be negative");
    if (field->type == JOBS__OBJECT && field->object != NULL)
        jobs__shape_check(c, field->object, rules, value, at);
    if (field->type != JOBS__ARRAY)
        return;
    const struct jobs__field item = {.name = "",
                                     .type = field->items,
                                     .flags = field->flags & JOBS__FILLED,
                                     .words = field->words,
                                     .object = field->object};
    size_t i, len = pointer->len;
    json_t *element;
    json_array_foreach(value, i, element)
    {
        jobs__buffer_format(pointer, "/%zu", i);
        check_value(c, &item, rules, element, pointer);
        shorten(pointer, len);
    }
}

void jobs__shape_check(struct jobs__conversion *c, const struct jobs__shape *shape,
                       const struct jobs__shape_rules *rules, const json_t *object, const char *pointer)
{
    struct jobs__buffer at = {.max = JOBS__POINTER_MAX};
    const char *name;
    json_t *value;
    jobs__buffer_text(&at, pointer);
    size_t len = at.len;
    json_object_foreach((json_t *)object, name, value)
    {
        const struct jobs__field *field = NULL;
        for (size_t i = 0; i < shape->count && field == NULL; i++)
            if (strcmp(shape->fields[i].name, name) == 0)
                field = &shape->fields[i];
        jobs__pointer_add(&at, name);
        if (at.failed)
            break;
        if (field != NULL)
            check_value(c, field, rules, value, &at);
        else if (shape->closed)
            jobs__violate(c, rules->unknown, at.bytes, "is no member of this object; leave it out");
        shorten(&at, len);
    }
    for (size_t i = 0; i < shape->count && !at.failed; i++) {
        const struct jobs__field *field = &shape->fields[i];
        if ((field->flags & JOBS__REQUIRED) == 0 || json_object_get(object, field->name) != NULL)
            continue;
        jobs__pointer_add(&at, field->name);
        jobs__violate(c, rules->missing, at.bytes, "is missing");
        shorten(&at, len);
    }
    if (at.failed)
        c->failed = JOBS_NO_MEMORY;
    jobs__buffer_free(&at);
}

const char *jobs__text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL || jobs__is_blank(text) ? NULL : text;
}

bool jobs__is_blank(const char *text)
{
    size_t len = strlen(text);
    jobs__text_trim(&text, &len);
    return len == 0;
}

bool jobs__is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

bool jobs__is_hex(const char *text, size_t digits)
{
    return strlen(text) == digits && jobs__text_is_hex(text, digits, false);
}

bool jobs__is_sha256(const char *text)
{
    return strncmp(text, "sha256:", 7) == 0 && strlen(text + 7) == 64 && jobs__text_is_hex(text + 7, 64, true);
}
