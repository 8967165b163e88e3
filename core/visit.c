/* visit.c - every text of a handoff, one after the other. Looks for nothing itself. */
#include "contract.h"
#include "json.h"

#include <string.h>

struct visitor {
    struct jobs__json doc;
    struct jobs__buffer pointer, text;
    int (*visit)(void *context, const char *pointer, const char *text, size_t len);
    void *context;
};

static int visit_string(struct visitor *v, uint32_t string)
{
    jobs__buffer_clear(&v->text);
    jobs__buffer_add(&v->text, "", 0); /* so that an empty text is one, too */
    jobs__json_string(&v->doc, string, &v->text);
    if (v->text.failed || v->pointer.failed)
        return JOBS_NO_MEMORY;
    return v->visit(v->context, v->pointer.bytes, v->text.bytes, v->text.len);
}

static void shorten(struct jobs__buffer *buffer, size_t len)
{
    if (buffer->failed)
        return;
    buffer->len = len;
    buffer->bytes[len] = '\0';
}

/* The pointer of the value is in v->pointer. Nests as deep as the reader of JSON allows. */
static int visit_value(struct visitor *v, uint32_t index)
{
    const struct jobs__json_value *value = &v->doc.values[index];
    if (value->type == JOBS__JSON_STRING)
        return visit_string(v, index);
    size_t len = v->pointer.len;
    int code = 0;
    if (value->type == JOBS__JSON_OBJECT) {
        uint32_t name = index + 1;
        for (uint32_t i = 0; i < value->count && code == 0; i++, name = v->doc.values[name + 1].after) {
            jobs__buffer_char(&v->pointer, '/');
            jobs__json_add_token(&v->doc, name, &v->pointer);
            code = visit_string(v, name);
            if (code == 0)
                code = visit_value(v, name + 1);
            shorten(&v->pointer, len);
        }
    } else if (value->type == JOBS__JSON_ARRAY) {
        uint32_t item = index + 1;
        for (uint32_t i = 0; i < value->count && code == 0; i++, item = v->doc.values[item].after) {
            jobs__buffer_format(&v->pointer, "/%u", i);
            code = v->pointer.failed ? JOBS_NO_MEMORY : visit_value(v, item);
            shorten(&v->pointer, len);
        }
    }
    return code;
}

int jobs_handoff_visit_texts(const struct jobs_handoff *handoff,
                             int (*visit)(void *context, const char *pointer, const char *text, size_t len),
                             void *context)
{
    struct visitor v = {.visit = visit, .context = context, .text = {.max = handoff->canonical_len}};
    v.pointer.max = 6 * handoff->canonical_len + 1024;
    int code = jobs__json_parse(&v.doc, handoff->canonical, handoff->canonical_len, NULL);
    if (code == JOBS_OK) {
        jobs__buffer_add(&v.pointer, "", 0);
        code = visit_value(&v, 0);
    }
    jobs__json_free(&v.doc);
    jobs__buffer_free(&v.pointer);
    jobs__buffer_free(&v.text);
    return code;
}
