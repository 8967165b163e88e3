/* verify_preimage.c - see verify_preimage.h. Its oracle is preimage.c, over decoded text. */
#include "verify_preimage.h"

#include <string.h>

/* Whether the escape at text[0] == '\\' is the one NIP-01 writes; its length. The reader has checked that it is one. */
static size_t canonical_escape(const char *text)
{
    if (strchr("nrtbf\"\\", text[1]) != NULL)
        return 2;
    if (text[1] != 'u' || text[2] != '0' || text[3] != '0' || (text[4] != '0' && text[4] != '1'))
        return 0;
    bool low = text[4] == '0';
    char digit = text[5];
    bool lower_hex = (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
    bool has_short = low && strchr("89acd", digit) != NULL; /* \b \t \n \f \r */
    return lower_hex && !has_short ? 6 : 0;
}

static bool is_canonical(const char *text, const char *end)
{
    while ((text = memchr(text, '\\', (size_t)(end - text))) != NULL) {
        size_t len = canonical_escape(text);
        if (len == 0)
            return false;
        text += len;
    }
    return true;
}

static void add_string(struct jobs__buffer *out, const struct jobs__json *doc, uint32_t index,
                       struct jobs__buffer *scratch)
{
    const struct jobs__json_value *value = &doc->values[index];
    const char *text = doc->text + value->start;
    size_t len = value->end - value->start;
    if (!value->escaped || is_canonical(text, text + len)) {
        jobs__buffer_add(out, text, len);
        return;
    }
    jobs__buffer_clear(scratch);
    jobs__buffer_add(scratch, "", 0);
    jobs__json_string(doc, index, scratch);
    if (!scratch->failed)
        jobs__preimage_string(out, scratch->bytes, scratch->len);
    else
        out->failed = scratch->failed;
}

static void add_span(struct jobs__buffer *out, const struct jobs__json *doc, uint32_t index)
{
    jobs__buffer_add(out, doc->text + doc->values[index].start, doc->values[index].end - doc->values[index].start);
}

/* Hex and the integers have one spelling only, which the shape has checked. */
void jobs__preimage_of_shape(struct jobs__buffer *out, const struct jobs__event_shape *shape,
                             const struct jobs__json *doc, struct jobs__buffer *scratch)
{
    jobs__buffer_add(out, "[0,", 3);
    add_span(out, doc, shape->members[JOBS__EVENT_AUTHOR]);
    jobs__buffer_char(out, ',');
    add_span(out, doc, shape->members[JOBS__EVENT_CREATED_AT]);
    jobs__buffer_char(out, ',');
    add_span(out, doc, shape->members[JOBS__EVENT_KIND]);
    jobs__buffer_add(out, ",[", 2);
    uint32_t tags = shape->members[JOBS__EVENT_TAGS];
    uint32_t tag = tags + 1;
    for (uint32_t t = 0; t < doc->values[tags].count; t++) {
        jobs__buffer_add(out, t == 0 ? "[" : ",[", t == 0 ? 1 : 2);
        for (uint32_t v = 0; v < doc->values[tag].count; v++) {
            if (v > 0)
                jobs__buffer_char(out, ',');
            add_string(out, doc, tag + 1 + v, scratch);
        }
        jobs__buffer_char(out, ']');
        tag = doc->values[tag].after;
    }
    jobs__buffer_add(out, "],", 2);
    add_string(out, doc, shape->members[JOBS__EVENT_CONTENT], scratch);
    jobs__buffer_char(out, ']');
}
