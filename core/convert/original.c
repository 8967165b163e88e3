/* original.c - the redacted input as a text, for --keep-original.
 *
 * Within a result of JSON or YAML each string is redacted as what it says, since an escape may hide a path; what lies
 * around the strings, and the key-and-item form, as it stands. A local repository binding becomes the redacted one by
 * three edits.
 */
#include "conversion.h"

#include "../json.h"
#include "../text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define ORIGINAL_MAX 4096

/* The three edits, by member: of the root, of repositoryResolution, of it too. */
static const char *const edits[] = {"\"<redacted-local-root>\"", "\"redacted\"", "false"};
#define EDITS (sizeof edits / sizeof edits[0])

/* Appends a string: spelled as it was when it says nothing to hide, else redacted and spelled in JSON's way, which is
 * YAML's too. */
static void append_string(struct jobs__conversion *c, struct jobs__buffer *out, const char *text, size_t len,
                          const char *spelled, size_t spelled_len)
{
    struct jobs__buffer clean = {.max = JOBS__TEXT_MAX};
    if (len > 0 && jobs__redact(c, text, len, &clean)) {
        json_t *string = json_stringn(clean.bytes, clean.len);
        char *quoted = json_dumps(string, JSON_ENCODE_ANY);
        if (quoted == NULL)
            c->failed = JOBS_NO_MEMORY;
        else
            jobs__buffer_text(out, quoted);
        free(quoted);
        json_decref(string);
    } else {
        jobs__buffer_add(out, spelled, spelled_len);
    }
    jobs__close(c, &clean);
}

/* --- JSON --- */

static void append_json(struct jobs__conversion *c, struct jobs__buffer *out, const char *source, size_t len)
{
    struct jobs__json doc = {0};
    struct jobs__json_fault fault;
    if (jobs__json_parse(&doc, source, len, &fault) != JOBS_OK) { /* it was read before */
        c->failed = JOBS_NO_MEMORY;
        jobs__json_free(&doc);
        return;
    }
    uint32_t resolution = jobs__json_member(&doc, 0, "repositoryResolution");
    const uint32_t edited[EDITS] = {jobs__json_member(&doc, 0, "repositoryRoot"),
                                    jobs__json_member(&doc, resolution, "pathVisibility"),
                                    jobs__json_member(&doc, resolution, "actionable")};
    size_t at = 0;
    for (uint32_t i = 0; i < doc.count; i++) {
        const struct jobs__json_value *value = &doc.values[i];
        const char *edit = NULL;
        for (size_t e = 0; e < EDITS && c->local_binding; e++)
            if (i > 0 && edited[e] == i)
                edit = edits[e];
        if (edit == NULL && value->type != JOBS__JSON_STRING)
            continue;
        jobs__buffer_add(out, source + at, value->start - at);
        at = value->end;
        if (edit != NULL) {
            jobs__buffer_text(out, edit);
            continue;
        }
        struct jobs__buffer text = {.max = JOBS__TEXT_MAX};
        jobs__json_string(&doc, i, &text);
        append_string(c, out, text.bytes, text.len, source + value->start, value->end - value->start);
        jobs__close(c, &text);
    }
    jobs__buffer_add(out, source + at, len - at);
    jobs__json_free(&doc);
}

/* --- YAML --- */

static const yaml_node_t *member(yaml_document_t *doc, const yaml_node_t *object, const char *name)
{
    if (object == NULL || object->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *pair = object->data.mapping.pairs.start; pair < object->data.mapping.pairs.top; pair++)
        if (strcmp((const char *)yaml_document_get_node(doc, pair->key)->data.scalar.value, name) == 0)
            return yaml_document_get_node(doc, pair->value);
    return NULL;
}

/* libyaml counts characters. Moves *at, which is behind `*characters` of them, to the place of mark. */
static void move_to(const char *source, size_t len, size_t *at, size_t *characters, const yaml_mark_t *mark)
{
    for (; *characters < mark->index && *at < len; (*characters)++)
        jobs__text_next(source, len, at);
}

static void append_nodes(struct jobs__conversion *c, struct jobs__buffer *out, const char *source, size_t len,
                         yaml_document_t *doc)
{
    const yaml_node_t *root = yaml_document_get_root_node(doc), *resolution = member(doc, root, "repositoryResolution");
    const yaml_node_t *const edited[EDITS] = {member(doc, root, "repositoryRoot"),
                                              member(doc, resolution, "pathVisibility"),
                                              member(doc, resolution, "actionable")};
    size_t at = 0, characters = 0;
    for (const yaml_node_t *node = doc->nodes.start; node < doc->nodes.top; node++) {
        const char *text = (const char *)node->data.scalar.value, *edit = NULL;
        size_t from = at;
        if (node->type != YAML_SCALAR_NODE)
            continue;
        for (size_t e = 0; e < EDITS && c->local_binding; e++)
            if (edited[e] == node)
                edit = edits[e];
        move_to(source, len, &at, &characters, &node->start_mark);
        jobs__redact(c, source + from, at - from, out); /* comments */
        from = at;
        move_to(source, len, &at, &characters, &node->end_mark);
        if (edit != NULL)
            jobs__buffer_text(out, edit);
        else if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(text, "~") == 0)
            jobs__buffer_char(out, '~'); /* null, no home */
        else
            append_string(c, out, text, node->data.scalar.length, source + from, at - from);
    }
    jobs__redact(c, source + at, len - at, out);
}

static void append_yaml(struct jobs__conversion *c, struct jobs__buffer *out, const char *source, size_t len)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    if (!yaml_parser_initialize(&parser)) {
        c->failed = JOBS_NO_MEMORY;
        return;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)source, len);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    if (yaml_parser_load(&parser, &doc)) {
        append_nodes(c, out, source, len, &doc);
        yaml_document_delete(&doc);
    } else {
        c->failed = JOBS_NO_MEMORY; /* it was read before */
    }
    yaml_parser_delete(&parser);
}

/* --- all of it --- */

static bool has_controls(const struct jobs__buffer *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (((unsigned char)text->bytes[i] < ' ' && text->bytes[i] != '\n' && text->bytes[i] != '\t') ||
            text->bytes[i] == 0x7f)
            return true;
    return false;
}

void jobs__put_original(struct jobs__conversion *c, json_t *source)
{
    struct jobs__buffer original = {.max = JOBS__TEXT_MAX};
    size_t start = c->candidate.start, end = start + c->candidate.len;
    jobs__redact(c, c->input, start, &original);
    if (c->candidate.block == JOBS__BLOCK_JSON)
        append_json(c, &original, c->input + start, end - start);
    else if (c->candidate.block == JOBS__BLOCK_YAML)
        append_yaml(c, &original, c->input + start, end - start);
    else
        jobs__redact(c, c->input + start, end - start, &original);
    jobs__redact(c, c->input + end, c->input_len - end, &original);
    if (original.len > ORIGINAL_MAX)
        jobs__violate(c, "X110", "", "the redacted input has %zu bytes; leave out --keep-original", original.len);
    else if (has_controls(&original))
        jobs__violate(c, "X110", "",
                      "the input holds control characters (such as CR at its line ends), which a text may not; leave "
                      "out --keep-original");
    else if (!original.failed)
        jobs__set(c, source, "original", json_stringn(original.bytes, original.len));
    jobs__close(c, &original);
}
