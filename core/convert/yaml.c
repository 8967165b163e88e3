/* yaml.c - a YAML fence as a JSON value: scalars, lists and maps, nothing that YAML could do behind the reader's back.
 *
 * Anchors, aliases, tags, block scalars, several documents, names that are no scalars and names that stand twice are
 * refused with their line. An unquoted null, ~, true, false or integer is what it looks like; the rest is text.
 */
#include "conversion.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 32

struct yaml {
    struct jobs__conversion *c;
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    size_t base; /* line of the block's first line */
};

static size_t line_of(const struct yaml *y)
{
    return y->base + y->event.start_mark.line;
}

static bool advance(struct yaml *y)
{
    if (y->has_event)
        yaml_event_delete(&y->event);
    y->has_event = yaml_parser_parse(&y->parser, &y->event) != 0;
    if (!y->has_event && y->parser.error == YAML_MEMORY_ERROR) {
        y->c->failed = JOBS_NO_MEMORY;
        return false;
    }
    if (!y->has_event) {
        jobs__violate(y->c, "X105", "", "line %zu: this is no YAML that can be read",
                      y->base + y->parser.problem_mark.line);
        return false;
    }
    return true;
}

static json_t *refuse(struct yaml *y, const char *why)
{
    jobs__violate(y->c, "X105", "", "line %zu: %s", line_of(y), why);
    return NULL;
}

static json_t *plain_scalar(const char *text, size_t len)
{
    if (len == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)
        return json_null();
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_boolean(text[0] == 't');
    size_t digits = strspn(text + (text[0] == '-'), "0123456789");
    if (digits > 0 && digits + (text[0] == '-') == len && !(digits > 1 && text[text[0] == '-'] == '0')) {
        errno = 0;
        long long number = strtoll(text, NULL, 10);
        if (errno == 0)
            return json_integer(number);
    }
    return json_stringn(text, len);
}

static json_t *scalar(struct yaml *y)
{
    const char *text = (const char *)y->event.data.scalar.value;
    size_t len = y->event.data.scalar.length;
    yaml_scalar_style_t style = y->event.data.scalar.style;
    if (y->event.data.scalar.anchor != NULL || y->event.data.scalar.tag != NULL)
        return refuse(y, "anchors and tags are not read");
    if (style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE)
        return refuse(y, "block scalars are not read; write the text on one line");
    if (memchr(text, '\0', len) != NULL)
        return refuse(y, "a text holds NUL");
    return style == YAML_PLAIN_SCALAR_STYLE ? plain_scalar(text, len) : json_stringn(text, len);
}

static void note_line(struct yaml *y, const char *pointer)
{
    jobs__set(y->c, y->c->lines, pointer, json_integer((json_int_t)line_of(y)));
}

static json_t *value(struct yaml *y, struct jobs__buffer *pointer, int depth);

static json_t *sequence(struct yaml *y, struct jobs__buffer *pointer, int depth)
{
    json_t *list = json_array();
    size_t len = pointer->len;
    while (advance(y)) {
        if (y->event.type == YAML_SEQUENCE_END_EVENT)
            return list;
        jobs__buffer_format(pointer, "/%zu", json_array_size(list));
        json_t *item = value(y, pointer, depth);
        pointer->len = len;
        if (item == NULL || json_array_append_new(list, item) != 0)
            break;
    }
    json_decref(list);
    return NULL;
}

static json_t *mapping(struct yaml *y, struct jobs__buffer *pointer, int depth)
{
    json_t *map = json_object();
    size_t len = pointer->len;
    while (advance(y)) {
        if (y->event.type == YAML_MAPPING_END_EVENT)
            return map;
        if (y->event.type != YAML_SCALAR_EVENT || y->event.data.scalar.anchor != NULL ||
            y->event.data.scalar.tag != NULL || memchr(y->event.data.scalar.value, '\0', y->event.data.scalar.length)) {
            refuse(y, "a name must be plain text");
            break;
        }
        char *name = strndup((const char *)y->event.data.scalar.value, y->event.data.scalar.length);
        if (name == NULL) {
            y->c->failed = JOBS_NO_MEMORY;
            break;
        }
        bool twice = json_object_get(map, name) != NULL;
        bool merge = strcmp(name, "<<") == 0;
        json_t *member = NULL;
        if (twice || merge)
            refuse(y, twice ? "this name stands twice" : "merge keys are not read");
        else if (jobs__buffer_format(pointer, "/%s", name), advance(y))
            member = value(y, pointer, depth);
        pointer->len = len;
        int rc = member == NULL ? -1 : json_object_set_new(map, name, member);
        free(name);
        if (rc != 0)
            break;
    }
    json_decref(map);
    return NULL;
}

static json_t *value(struct yaml *y, struct jobs__buffer *pointer, int depth)
{
    if (depth > DEPTH_MAX) {
        jobs__violate(y->c, "X106", "", "line %zu: must not nest more than %d levels deep", line_of(y), DEPTH_MAX);
        return NULL;
    }
    if (pointer->bytes != NULL)
        pointer->bytes[pointer->len] = '\0';
    note_line(y, pointer->bytes == NULL ? "" : pointer->bytes);
    switch (y->event.type) {
    case YAML_SCALAR_EVENT:
        return scalar(y);
    case YAML_SEQUENCE_START_EVENT:
        if (y->event.data.sequence_start.anchor != NULL || y->event.data.sequence_start.tag != NULL)
            return refuse(y, "anchors and tags are not read");
        return sequence(y, pointer, depth + 1);
    case YAML_MAPPING_START_EVENT:
        if (y->event.data.mapping_start.anchor != NULL || y->event.data.mapping_start.tag != NULL)
            return refuse(y, "anchors and tags are not read");
        return mapping(y, pointer, depth + 1);
    default:
        return refuse(y, "aliases are not read");
    }
}

static json_t *document(struct yaml *y)
{
    struct jobs__buffer pointer = {.max = 65536};
    json_t *result = NULL;
    bool good = advance(y) && advance(y); /* stream start, document start */
    if (good && y->event.type == YAML_STREAM_END_EVENT) {
        refuse(y, "the block is empty");
        good = false;
    }
    if (good && advance(y))
        result = value(y, &pointer, 1);
    if (result != NULL && (!advance(y) || !advance(y) || y->event.type != YAML_STREAM_END_EVENT)) {
        if (!jobs__violated(y->c))
            refuse(y, "the block holds more than one document");
        json_decref(result);
        result = NULL;
    }
    jobs__buffer_free(&pointer);
    return result;
}

json_t *jobs__yaml_read(struct jobs__conversion *c, const char *text, size_t len, size_t line)
{
    struct yaml y = {.c = c, .base = line};
    c->lines = json_object();
    if (c->lines == NULL || !yaml_parser_initialize(&y.parser)) {
        c->failed = JOBS_NO_MEMORY;
        return NULL;
    }
    yaml_parser_set_input_string(&y.parser, (const unsigned char *)text, len);
    yaml_parser_set_encoding(&y.parser, YAML_UTF8_ENCODING);
    json_t *result = document(&y);
    if (y.has_event)
        yaml_event_delete(&y.event);
    yaml_parser_delete(&y.parser);
    return result;
}
