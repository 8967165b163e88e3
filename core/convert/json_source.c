/* json_source.c - a JSON result as the converters read it, and the bytes of one that its owner hashes.
 *
 * Both go over the strict reader's spans: numbers beyond 64 bits are no reason to refuse a member that nobody needs,
 * and their digits count for the hash.
 */
#include "conversion.h"

#include "../json.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *number(const struct jobs__json *doc, uint32_t index)
{
    int64_t integer;
    if (jobs__json_integer(doc, index, &integer))
        return json_integer(integer);
    /* what follows a number in a document ends it */
    double real = strtod(doc->text + doc->values[index].start, NULL);
    return json_real(isfinite(real) ? real : copysign(DBL_MAX, real));
}

/* NULL with a violation, or out of memory. */
static json_t *string(struct jobs__conversion *c, const struct jobs__json *doc, uint32_t index)
{
    struct jobs__buffer text = {.max = JOBS__TEXT_MAX};
    json_t *value = NULL;
    jobs__json_string(doc, index, &text);
    if (text.len > 0 && memchr(text.bytes, '\0', text.len) != NULL) {
        struct jobs__buffer pointer = {.max = JOBS__TEXT_MAX};
        jobs__json_pointer(doc, index, &pointer);
        jobs__violate(c, "X105", pointer.bytes == NULL ? "" : pointer.bytes, "line %zu: a text holds NUL",
                      c->candidate.line + jobs__json_line(doc, index) - 1);
        jobs__buffer_free(&pointer);
    } else if (!text.failed) {
        value = json_stringn(text.len > 0 ? text.bytes : "", text.len);
    }
    jobs__close(c, &text);
    return value;
}

static json_t *build(struct jobs__conversion *c, const struct jobs__json *doc, uint32_t index);

static json_t *build_object(struct jobs__conversion *c, const struct jobs__json *doc, uint32_t index)
{
    json_t *object = json_object();
    for (uint32_t i = index + 1; i < doc->values[index].after; i = doc->values[i + 1].after) {
        json_t *name = string(c, doc, i), *value = name == NULL ? NULL : build(c, doc, i + 1);
        int rc = value == NULL ? -1 : json_object_set_new(object, json_string_value(name), value);
        json_decref(name);
        if (rc != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *build_array(struct jobs__conversion *c, const struct jobs__json *doc, uint32_t index)
{
    json_t *array = json_array();
    for (uint32_t i = index + 1; i < doc->values[index].after; i = doc->values[i].after) {
        json_t *value = build(c, doc, i);
        if (value == NULL || json_array_append_new(array, value) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *build(struct jobs__conversion *c, const struct jobs__json *doc, uint32_t index)
{
    switch ((enum jobs__json_type)doc->values[index].type) {
    case JOBS__JSON_NULL:
        return json_null();
    case JOBS__JSON_FALSE:
    case JOBS__JSON_TRUE:
        return json_boolean(doc->values[index].type == JOBS__JSON_TRUE);
    case JOBS__JSON_NUMBER:
        return number(doc, index);
    case JOBS__JSON_STRING:
        return string(c, doc, index);
    case JOBS__JSON_ARRAY:
        return build_array(c, doc, index);
    case JOBS__JSON_OBJECT:
        return build_object(c, doc, index);
    }
    return NULL;
}

json_t *jobs__json_read(struct jobs__conversion *c, const char *text, size_t len)
{
    struct jobs__json doc = {0};
    struct jobs__json_fault fault = {0};
    json_t *value = NULL;
    int rc = jobs__json_parse(&doc, text, len, &fault);
    if (rc == JOBS_OK)
        value = build(c, &doc, 0);
    else if (rc == JOBS_INVALID)
        jobs__violate(c, strcmp(fault.rule, "H108") == 0 ? "X106" : "X105", fault.pointer, "line %zu: %s",
                      c->candidate.line + fault.line - 1, fault.what);
    else
        c->failed = rc;
    jobs__json_free(&doc);
    return value;
}

/* --- the canonical bytes: sorted names, compact, non-ASCII raw, control characters escaped in lower case, no reals;
 * the way Python's json writes it with sort_keys, compact separators and ensure_ascii off --- */

static void write_string(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out)
{
    static const char *const shorts[] = {['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
                                         ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\"};
    struct jobs__buffer text = {.max = JOBS__TEXT_MAX};
    jobs__json_string(doc, index, &text);
    jobs__buffer_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        if (byte < sizeof shorts / sizeof shorts[0] && shorts[byte] != NULL)
            jobs__buffer_text(out, shorts[byte]);
        else if (byte < 0x20)
            jobs__buffer_format(out, "\\u%04x", byte);
        else
            jobs__buffer_char(out, (char)byte);
    }
    jobs__buffer_char(out, '"');
    if (text.failed)
        out->failed = text.failed;
    jobs__buffer_free(&text);
}

static bool is_left_out(const struct jobs__json *doc, uint32_t name, const char *const *left_out)
{
    for (; left_out != NULL && *left_out != NULL; left_out++)
        if (jobs__json_equals(doc, name, *left_out, strlen(*left_out)))
            return true;
    return false;
}

static bool write_value(const struct jobs__json *doc, uint32_t index, const char *const *left_out,
                        struct jobs__buffer *out);

static bool write_object(const struct jobs__json *doc, uint32_t index, const char *const *left_out,
                         struct jobs__buffer *out)
{
    size_t count = 0;
    bool good = true;
    uint32_t *names = calloc(2 * (size_t)doc->values[index].count + 1, sizeof *names);
    if (names == NULL) {
        out->failed = JOBS_NO_MEMORY;
        return false;
    }
    for (uint32_t i = index + 1; i < doc->values[index].after; i = doc->values[i + 1].after)
        if (!is_left_out(doc, i, left_out))
            names[count++] = i;
    jobs__json_sort(doc, names, count);
    jobs__buffer_char(out, '{');
    for (size_t i = 0; i < count && good; i++) {
        jobs__buffer_text(out, i > 0 ? "," : "");
        write_string(doc, names[i], out);
        jobs__buffer_char(out, ':');
        good = write_value(doc, names[i] + 1, NULL, out);
    }
    jobs__buffer_char(out, '}');
    free(names);
    return good;
}

static bool write_value(const struct jobs__json *doc, uint32_t index, const char *const *left_out,
                        struct jobs__buffer *out)
{
    const struct jobs__json_value *value = &doc->values[index];
    const char *text = doc->text + value->start;
    size_t len = value->end - value->start;
    bool good = true;
    switch ((enum jobs__json_type)value->type) {
    case JOBS__JSON_OBJECT:
        return write_object(doc, index, left_out, out);
    case JOBS__JSON_ARRAY:
        jobs__buffer_char(out, '[');
        for (uint32_t i = index + 1; i < value->after && good; i = doc->values[i].after) {
            jobs__buffer_text(out, i > index + 1 ? "," : "");
            good = write_value(doc, i, NULL, out);
        }
        jobs__buffer_char(out, ']');
        return good;
    case JOBS__JSON_STRING:
        write_string(doc, index, out);
        return true;
    case JOBS__JSON_NUMBER:
        if (memchr(text, '.', len) != NULL || memchr(text, 'e', len) != NULL || memchr(text, 'E', len) != NULL)
            return false;
        if (len == 2 && memcmp(text, "-0", 2) == 0)
            text++, len--;
        jobs__buffer_add(out, text, len);
        return true;
    case JOBS__JSON_NULL:
    case JOBS__JSON_FALSE:
    case JOBS__JSON_TRUE:
        jobs__buffer_add(out, text, len);
        return true;
    }
    return false;
}

bool jobs__json_canonical(struct jobs__conversion *c, const char *const *left_out, struct jobs__buffer *out)
{
    struct jobs__json doc = {0};
    struct jobs__json_fault fault;
    bool good = jobs__json_parse(&doc, c->input + c->candidate.start, c->candidate.len, &fault) == JOBS_OK;
    if (!good)
        out->failed = JOBS_NO_MEMORY; /* it was read before */
    else
        good = write_value(&doc, 0, left_out, out);
    jobs__json_free(&doc);
    return good;
}
