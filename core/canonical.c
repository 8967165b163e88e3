/* canonical.c - writes a payload compactly, known fields in the order of contract.c, unknown ones sorted behind them.
 *
 * Strings are escaped anew, numbers stay as they were spelled. Checks no rule.
 */
#include "canonical.h"

#include "contract.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

struct writer {
    struct jobs__buffer *out;
    const struct jobs__json *doc;
    const struct jobs__canonical *options;
    struct jobs__buffer decoded; /* scratch */
};

static void write_value(struct writer *w, const struct jobs__field *field, uint32_t value);

/* Escapes ", \, C0 and DEL, and nothing else. */
static void write_text(struct jobs__buffer *out, const char *text, size_t len)
{
    static const char short_escapes[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    jobs__buffer_char(out, '"');
    size_t begin = 0;
    for (size_t at = 0; at < len; at++) {
        unsigned char c = (unsigned char)text[at];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        jobs__buffer_add(out, text + begin, at - begin);
        begin = at + 1;
        char escape[] = {'\\', (char)c};
        if (c < sizeof short_escapes && short_escapes[c] != 0)
            escape[1] = short_escapes[c];
        else if (c != '"' && c != '\\')
            escape[1] = 'u';
        jobs__buffer_add(out, escape, 2);
        if (escape[1] == 'u')
            jobs__buffer_format(out, "%04x", c);
    }
    jobs__buffer_add(out, text + begin, len - begin);
    jobs__buffer_char(out, '"');
}

static void write_string(struct writer *w, uint32_t value, bool lower)
{
    jobs__buffer_clear(&w->decoded);
    jobs__buffer_add(&w->decoded, "", 0); /* so that an empty string has bytes, too */
    jobs__json_string(w->doc, value, &w->decoded);
    if (w->decoded.failed) {
        w->out->failed = w->decoded.failed;
        return;
    }
    for (size_t i = 0; lower && i < w->decoded.len; i++) {
        char *c = &w->decoded.bytes[i];
        if (*c >= 'A' && *c <= 'F')
            *c = (char)(*c - 'A' + 'a');
    }
    write_text(w->out, w->decoded.bytes, w->decoded.len);
}

/* Begins a member; *first says whether it is the object's first. */
static void write_name(struct jobs__buffer *out, bool *first, const char *name, size_t len)
{
    if (!*first)
        jobs__buffer_char(out, ',');
    *first = false;
    write_text(out, name, len);
    jobs__buffer_char(out, ':');
}

static bool is_list(enum jobs__field_kind kind)
{
    return kind == JOBS__FIELD_OBJECTS || kind == JOBS__FIELD_TEXTS || kind == JOBS__FIELD_LINES;
}

static void write_known(struct writer *w, const struct jobs__shape *shape, uint32_t object, bool *first)
{
    bool root = shape == &jobs__root_shape;
    const struct jobs_given *given = root ? w->options->given : NULL;
    for (size_t i = 0; i < shape->count; i++) {
        const struct jobs__field *field = &shape->fields[i];
        if (root && ((i == JOBS__ROOT_SUPERSEDES && w->options->without_supersedes) ||
                     (i == JOBS__ROOT_REQUESTED && w->options->without_requested_outcome)))
            continue;
        uint32_t value = jobs__json_member(w->doc, object, field->name);
        const struct jobs__json_value *v = &w->doc->values[value];
        /* Absent, null and empty are the same where absence is allowed, and absence is how it is written. */
        if (value != 0 && !field->required &&
            (v->type == JOBS__JSON_NULL || (is_list(field->kind) && v->type == JOBS__JSON_ARRAY && v->count == 0)))
            value = 0;
        const char *supplied = NULL;
        if (value == 0 && given != NULL)
            supplied = i == JOBS__ROOT_JOB          ? given->job_request
                       : i == JOBS__ROOT_REQUESTED  ? given->requested_outcome
                       : i == JOBS__ROOT_SUPERSEDES ? given->supersedes
                                                    : NULL;
        if (value == 0 && supplied == NULL)
            continue;
        write_name(w->out, first, field->name, field->name_len);
        if (value != 0)
            write_value(w, field, value);
        else
            write_text(w->out, supplied, strlen(supplied));
    }
}

static void write_unknown(struct writer *w, const struct jobs__shape *shape, uint32_t object, bool *first)
{
    enum {
        few = 16
    };
    const struct jobs__json_value *values = w->doc->values;
    size_t count = values[object].count, n = 0, hint = 0;
    uint32_t local[2 * few];
    uint32_t *names = count <= few ? local : malloc(2 * count * sizeof *names);
    if (names == NULL) {
        w->out->failed = JOBS_NO_MEMORY;
        return;
    }
    uint32_t name = object + 1;
    for (size_t i = 0; i < count; i++, name = values[name + 1].after) {
        bool known = false;
        if (shape != NULL) {
            jobs__buffer_clear(&w->decoded);
            jobs__json_string(w->doc, name, &w->decoded);
            known = w->decoded.len > 0 && jobs__field_find(shape, w->decoded.bytes, w->decoded.len, &hint) != NULL;
        }
        if (!known)
            names[n++] = name;
    }
    jobs__json_sort(w->doc, names, n);
    for (size_t i = 0; i < n; i++) {
        if (!*first)
            jobs__buffer_char(w->out, ',');
        *first = false;
        write_string(w, names[i], false);
        jobs__buffer_char(w->out, ':');
        write_value(w, NULL, names[i] + 1);
    }
    if (names != local)
        free(names);
}

static void write_object(struct writer *w, const struct jobs__shape *shape, uint32_t object)
{
    bool first = true;
    jobs__buffer_char(w->out, '{');
    if (shape != NULL)
        write_known(w, shape, object, &first);
    write_unknown(w, shape, object, &first);
    jobs__buffer_char(w->out, '}');
}

/* field is NULL for a value nobody knows. */
static void write_value(struct writer *w, const struct jobs__field *field, uint32_t value)
{
    const struct jobs__json_value *v = &w->doc->values[value];
    switch (v->type) {
    case JOBS__JSON_STRING:
        write_string(w, value, field != NULL && field->kind == JOBS__FIELD_JOB);
        break;
    case JOBS__JSON_OBJECT:
        write_object(w, field != NULL && field->kind == JOBS__FIELD_OBJECT ? field->shape : NULL, value);
        break;
    case JOBS__JSON_ARRAY: {
        jobs__buffer_char(w->out, '[');
        uint32_t item = value + 1;
        for (uint32_t i = 0; i < v->count; i++, item = w->doc->values[item].after) {
            if (i > 0)
                jobs__buffer_char(w->out, ',');
            if (field != NULL && field->kind == JOBS__FIELD_OBJECTS && w->doc->values[item].type == JOBS__JSON_OBJECT)
                write_object(w, field->shape, item);
            else
                write_value(w, NULL, item);
        }
        jobs__buffer_char(w->out, ']');
        break;
    }
    default:
        jobs__buffer_add(w->out, w->doc->text + v->start, v->end - v->start);
        break;
    }
}

void jobs__canonical_write(struct jobs__buffer *out, const struct jobs__json *doc,
                           const struct jobs__canonical *options)
{
    struct writer w = {.out = out, .doc = doc, .options = options, .decoded = {.max = doc->len}};
    if (doc->values[0].type == JOBS__JSON_OBJECT)
        write_object(&w, &jobs__root_shape, 0);
    else
        write_value(&w, NULL, 0);
    jobs__buffer_free(&w.decoded);
}
