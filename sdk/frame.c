/* frame.c - see frame.h. Knows shapes only; what a message means is decided elsewhere. */
#include "frame.h"

#include "../core/text.h"

#include <string.h>

#define TEXT_MAX  ((size_t)1 << 20) /* the longest frame there is */
#define KEPT_TEXT ((size_t)4096)    /* memory kept for the next frame */
#define KEPT_JSON ((size_t)4096)    /* values, likewise */

static uint8_t type_of(const struct jobs__json *doc, uint32_t index)
{
    return doc->values[index].type;
}

/* The id as lower case, when the string at index is one: 64 hex digits, plainly written. */
static bool read_id(char id[65], const struct jobs__json *doc, uint32_t index)
{
    const struct jobs__json_value *value = &doc->values[index];
    if (value->type != JOBS__JSON_STRING || value->escaped || value->end - value->start != 66)
        return false;
    const char *digits = doc->text + value->start + 1;
    if (!jobs__text_is_hex(digits, 64, false))
        return false;
    for (size_t i = 0; i < 64; i++)
        id[i] = digits[i] >= 'A' && digits[i] <= 'F' ? (char)(digits[i] - 'A' + 'a') : digits[i];
    id[64] = '\0';
    return true;
}

static bool is_string_or_absent(const struct jobs__json *doc, uint32_t index)
{
    return index == 0 || type_of(doc, index) == JOBS__JSON_STRING;
}

static void read_text(struct jobs__frame *out, struct jobs__frame_reader *reader, uint32_t index)
{
    if (index == 0)
        return;
    jobs__json_string(&reader->doc, index, &reader->text);
    if (reader->text.failed || reader->text.bytes == NULL)
        return;
    out->text = reader->text.bytes;
    out->text_len = reader->text.len;
}

/* Our subscriptions are short and plain; whatever is neither is none of ours. */
static bool read_subscription(struct jobs__frame *out, const struct jobs__json *doc, uint32_t index)
{
    if (index == 0 || type_of(doc, index) != JOBS__JSON_STRING)
        return false;
    const struct jobs__json_value *value = &doc->values[index];
    size_t len = value->end - value->start - 2;
    if (!value->escaped && len < sizeof out->subscription) {
        memcpy(out->subscription, doc->text + value->start + 1, len);
        out->subscription[len] = '\0';
    }
    return true;
}

static bool read_ok(struct jobs__frame *out, struct jobs__frame_reader *reader, const uint32_t at[4])
{
    const struct jobs__json *doc = &reader->doc;
    if (at[1] == 0 || at[2] == 0)
        return false;
    uint8_t id = type_of(doc, at[1]), accepted = type_of(doc, at[2]);
    if ((id != JOBS__JSON_STRING && id != JOBS__JSON_NULL) ||
        (accepted != JOBS__JSON_TRUE && accepted != JOBS__JSON_FALSE))
        return false;
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    if (read_id(out->id, doc, at[1]) && strcmp(out->id, zeros) != 0)
        out->id_is = JOBS__ID_EVENT;
    out->accepted = accepted == JOBS__JSON_TRUE;
    if (is_string_or_absent(doc, at[3])) /* the boolean decides; odd words are no words */
        read_text(out, reader, at[3]);
    return true;
}

static bool read_notice(struct jobs__frame *out, struct jobs__frame_reader *reader, const uint32_t at[4])
{
    if (at[1] == 0 || type_of(&reader->doc, at[1]) != JOBS__JSON_STRING)
        return false;
    read_text(out, reader, at[1]);
    return true;
}

static bool read_closed(struct jobs__frame *out, struct jobs__frame_reader *reader, const uint32_t at[4])
{
    if (!read_subscription(out, &reader->doc, at[1]))
        return false;
    if (is_string_or_absent(&reader->doc, at[2]))
        read_text(out, reader, at[2]);
    return true;
}

static bool read_eose(struct jobs__frame *out, struct jobs__frame_reader *reader, const uint32_t at[4])
{
    return read_subscription(out, &reader->doc, at[1]);
}

static bool read_event(struct jobs__frame *out, struct jobs__frame_reader *reader, const uint32_t at[4])
{
    const struct jobs__json *doc = &reader->doc;
    if (at[2] == 0 || type_of(doc, at[2]) != JOBS__JSON_OBJECT || !read_subscription(out, doc, at[1]))
        return false;
    uint32_t id = jobs__json_member(doc, at[2], "id");
    if (id != 0)
        read_id(out->id, doc, id);
    out->event = doc->text + doc->values[at[2]].start;
    out->event_len = doc->values[at[2]].end - doc->values[at[2]].start;
    return true;
}

static const struct shape {
    const char *word;
    enum jobs__frame_type type;
    bool (*read)(struct jobs__frame *out, struct jobs__frame_reader *reader, const uint32_t at[4]);
} shapes[] = {
    {"OK", JOBS__FRAME_OK, read_ok},             /* ["OK", id, true|false, text] */
    {"NOTICE", JOBS__FRAME_NOTICE, read_notice}, /* ["NOTICE", text] */
    {"CLOSED", JOBS__FRAME_CLOSED, read_closed}, /* ["CLOSED", subscription, text] */
    {"EOSE", JOBS__FRAME_EOSE, read_eose},       /* ["EOSE", subscription] */
    {"EVENT", JOBS__FRAME_EVENT, read_event},    /* ["EVENT", subscription, event] */
    {"AUTH", JOBS__FRAME_AUTH, read_notice},     /* ["AUTH", challenge] */
};

/* A hostile frame may have made the reader large; the next ones need not pay for it. */
static void trim(struct jobs__frame_reader *reader)
{
    if (reader->doc.capacity > KEPT_JSON || reader->doc.scratch_capacity > KEPT_JSON)
        jobs__json_free(&reader->doc);
    if (reader->text.capacity > KEPT_TEXT)
        jobs__buffer_free(&reader->text);
    reader->text.max = TEXT_MAX;
    jobs__buffer_clear(&reader->text);
}

void jobs__frame_read(struct jobs__frame *out, struct jobs__frame_reader *reader, const char *text, size_t len)
{
    *out = (struct jobs__frame){.type = JOBS__FRAME_BAD, .text = ""};
    trim(reader);
    struct jobs__json_fault fault;
    struct jobs__json *doc = &reader->doc;
    if (len > TEXT_MAX || jobs__json_parse(doc, text, len, &fault) != JOBS_OK || type_of(doc, 0) != JOBS__JSON_ARRAY ||
        doc->values[0].count == 0 || type_of(doc, 1) != JOBS__JSON_STRING)
        return;

    uint32_t at[4] = {0}; /* the first four elements; 0 is the root and so none of them */
    uint32_t next = 1;
    for (size_t i = 0; i < 4 && i < doc->values[0].count; i++) {
        at[i] = next;
        next = doc->values[next].after;
    }
    out->type = JOBS__FRAME_OTHER;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (jobs__json_equals(doc, 1, shapes[i].word, strlen(shapes[i].word)))
            out->type = shapes[i].read(out, reader, at) ? shapes[i].type : JOBS__FRAME_BAD;
}

void jobs__frame_reader_free(struct jobs__frame_reader *reader)
{
    if (reader == NULL)
        return;
    jobs__json_free(&reader->doc);
    jobs__buffer_free(&reader->text);
}
