/* outbox_entry_file.c - an entry as one JSON object, written, and read back with distrust. No disk.
 *
 * The format is described in docs/outbox.md; a change of it needs a new version number.
 */
#include "outbox.h"

#include "../core/json.h"
#include "../core/sha256.h"
#include "../core/text.h"

#include "preimage.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FORMAT_VERSION 1

enum form {
    FORM_HEX, /* 64 digits */
    FORM_HEX_OR_EMPTY,
    FORM_TEXT,
    FORM_INTEGER, /* int64_t, not negative */
    FORM_COUNT,   /* unsigned */
    FORM_BOOL
};

struct field {
    const char *name;
    size_t offset, size;
    enum form form;
};
#define FIELD(type, name, form)                                                                                        \
    {                                                                                                                  \
#name, offsetof(struct type, name), sizeof((struct type *)0)->name, form                                       \
    }

static const struct field entry_fields[] = {
    {"event_id", offsetof(struct jobs__entry, id), sizeof((struct jobs__entry *)0)->id, FORM_HEX},
    FIELD(jobs__entry, author, FORM_HEX),
    FIELD(jobs__entry, job, FORM_HEX),
    FIELD(jobs__entry, channel, FORM_TEXT),
    FIELD(jobs__entry, created_at, FORM_INTEGER),
    FIELD(jobs__entry, stored_at, FORM_INTEGER),
    FIELD(jobs__entry, digest, FORM_HEX_OR_EMPTY),
    FIELD(jobs__entry, digest_loose, FORM_HEX_OR_EMPTY),
    FIELD(jobs__entry, supersedes, FORM_HEX_OR_EMPTY),
    FIELD(jobs__entry, replaces, FORM_HEX_OR_EMPTY),
    FIELD(jobs__entry, superseded_by, FORM_HEX_OR_EMPTY),
};

static const struct field fact_fields[] = {
    FIELD(jobs__fact, message, FORM_TEXT),         FIELD(jobs__fact, attempts, FORM_COUNT),
    FIELD(jobs__fact, last_send, FORM_INTEGER),    FIELD(jobs__fact, absent_at, FORM_INTEGER),
    FIELD(jobs__fact, unseen_since, FORM_INTEGER), FIELD(jobs__fact, refused_for_time, FORM_BOOL),
    FIELD(jobs__fact, said_stored, FORM_BOOL),
};
#define COUNT(fields) (sizeof(fields) / sizeof *(fields))

#define CHECKSUM_BEFORE ",\"checksum\":\""
#define CHECKSUM_AFTER  "\"}\n"
#define CHECKSUM_LEN    (sizeof CHECKSUM_BEFORE - 1 + 64 + sizeof CHECKSUM_AFTER - 1)

/* --- writing --- */

static void write_text(struct jobs__buffer *out, const char *name, const char *text)
{
    jobs__buffer_format(out, ",\"%s\":", name);
    jobs__preimage_string(out, text, strlen(text));
}

static void write_fields(struct jobs__buffer *out, const struct field *fields, size_t count, const void *from)
{
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        const void *value = (const char *)from + field->offset;
        switch (field->form) {
        case FORM_HEX:
        case FORM_HEX_OR_EMPTY:
        case FORM_TEXT:
            write_text(out, field->name, value);
            break;
        case FORM_INTEGER:
            jobs__buffer_format(out, ",\"%s\":%" PRId64, field->name, *(const int64_t *)value);
            break;
        case FORM_COUNT:
            jobs__buffer_format(out, ",\"%s\":%u", field->name, *(const unsigned *)value);
            break;
        case FORM_BOOL:
            jobs__buffer_format(out, ",\"%s\":%s", field->name, *(const bool *)value ? "true" : "false");
            break;
        }
    }
}

int jobs__entry_write(struct jobs__buffer *out, const struct jobs__entry *entry)
{
    char checksum[65];
    size_t len = 0;
    const char *event = entry->event == NULL ? NULL : jobs_event_json(entry->event, &len);
    if (entry->event != NULL && event == NULL)
        return JOBS_NO_MEMORY;
    jobs__buffer_format(out, "{\"version\":%d", FORMAT_VERSION);
    write_fields(out, entry_fields, COUNT(entry_fields), entry);
    jobs__buffer_text(out, ",\"event\":");
    if (event != NULL)
        jobs__preimage_string(out, event, len);
    else
        jobs__buffer_text(out, "null");
    jobs__buffer_text(out, ",\"relays\":[");
    for (size_t i = 0; i < entry->fact_count; i++) {
        const struct jobs__fact *fact = &entry->facts[i];
        jobs__buffer_text(out, i > 0 ? ",{\"url\":" : "{\"url\":");
        jobs__preimage_string(out, fact->url, strlen(fact->url));
        write_text(out, "state", jobs__relay_state_name(fact->state));
        write_text(out, "read_back", jobs_read_back_name(fact->read_back));
        write_fields(out, fact_fields, COUNT(fact_fields), fact);
        jobs__buffer_text(out, "}");
    }
    jobs__buffer_text(out, "]");
    if (out->failed)
        return out->failed;
    if (!jobs__text_is_utf8(out->bytes, out->len)) /* it could not be read again */
        return JOBS_INVALID;
    jobs__sha256_hex(checksum, out->bytes, out->len);
    jobs__buffer_text(out, CHECKSUM_BEFORE);
    jobs__buffer_text(out, checksum);
    jobs__buffer_text(out, CHECKSUM_AFTER);
    return out->failed;
}

/* --- reading --- */

struct reading {
    struct jobs__json doc;
    struct jobs__buffer text; /* the string that was asked for last */
    const char *why;
};

/* The member's decoded text; NULL when it is no string, holds NUL, or there is no memory. */
static const char *text_of(struct reading *reading, uint32_t object, const char *name)
{
    uint32_t at = jobs__json_member(&reading->doc, object, name);
    jobs__buffer_clear(&reading->text);
    if (at == 0 || reading->doc.values[at].type != JOBS__JSON_STRING)
        return NULL;
    jobs__json_string(&reading->doc, at, &reading->text);
    if (reading->text.failed)
        return NULL;
    const char *text = reading->text.bytes == NULL ? "" : reading->text.bytes;
    return strlen(text) == reading->text.len ? text : NULL;
}

static bool read_text(struct reading *reading, uint32_t object, const struct field *field, char *out)
{
    const char *text = text_of(reading, object, field->name);
    size_t len = text == NULL ? 0 : strlen(text);
    if (text == NULL || len >= field->size)
        return false;
    memcpy(out, text, len + 1);
    return field->form == FORM_TEXT || (field->form == FORM_HEX_OR_EMPTY && len == 0) ||
           (len == 64 && jobs__text_is_hex(out, len, true));
}

static bool read_integer(const struct reading *reading, uint32_t object, const char *name, int64_t *out)
{
    uint32_t at = jobs__json_member(&reading->doc, object, name);
    return at != 0 && jobs__json_integer(&reading->doc, at, out) && *out >= 0;
}

static bool read_fields(struct reading *reading, uint32_t object, const struct field *fields, size_t count, void *into)
{
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        void *out = (char *)into + field->offset;
        uint32_t at = jobs__json_member(&reading->doc, object, field->name);
        enum jobs__json_type type = at == 0 ? JOBS__JSON_NULL : (enum jobs__json_type)reading->doc.values[at].type;
        int64_t number;
        switch (field->form) {
        case FORM_HEX:
        case FORM_HEX_OR_EMPTY:
        case FORM_TEXT:
            if (!read_text(reading, object, field, out))
                return false;
            break;
        case FORM_INTEGER:
            if (!read_integer(reading, object, field->name, out))
                return false;
            break;
        case FORM_COUNT:
            if (!read_integer(reading, object, field->name, &number) || number > UINT32_MAX)
                return false;
            *(unsigned *)out = (unsigned)number;
            break;
        case FORM_BOOL:
            if (type != JOBS__JSON_TRUE && type != JOBS__JSON_FALSE)
                return false;
            *(bool *)out = type == JOBS__JSON_TRUE;
            break;
        }
    }
    return true;
}

static bool read_back_from_name(enum jobs_read_back *out, const char *name)
{
    for (int i = JOBS_CONFIRMED; name != NULL && i <= JOBS_NOT_ASKED; i++) {
        if (strcmp(name, jobs_read_back_name((enum jobs_read_back)i)) == 0) {
            *out = (enum jobs_read_back)i;
            return true;
        }
    }
    return false;
}

static int read_fact(struct reading *reading, uint32_t object, struct jobs__entry *entry)
{
    if (reading->doc.values[object].type != JOBS__JSON_OBJECT)
        return JOBS_INVALID;
    const char *url = text_of(reading, object, "url");
    if (url == NULL || jobs__entry_fact(entry, url, false) != NULL)
        return reading->text.failed ? reading->text.failed : JOBS_INVALID;
    struct jobs__fact *fact = jobs__entry_fact(entry, url, true);
    if (fact == NULL)
        return entry->fact_count >= JOBS__FACTS_MAX ? JOBS_INVALID : JOBS_NO_MEMORY;
    const char *state = text_of(reading, object, "state");
    bool good = state != NULL && jobs__relay_state_from_name(&fact->state, state) &&
                read_back_from_name(&fact->read_back, text_of(reading, object, "read_back")) &&
                read_fields(reading, object, fact_fields, COUNT(fact_fields), fact);
    return good ? JOBS_OK : reading->text.failed ? reading->text.failed : JOBS_INVALID;
}

/* The event that the fields speak of, whole and signed by the author they name. */
static int read_event(struct reading *reading, struct jobs__entry *entry)
{
    struct jobs_event *event = NULL;
    uint32_t at = jobs__json_member(&reading->doc, 0, "event");
    if (at != 0 && reading->doc.values[at].type == JOBS__JSON_NULL)
        return JOBS_OK; /* pruned: digests and facts are left */
    reading->why = "its event is not one";
    const char *json = text_of(reading, 0, "event");
    if (json == NULL)
        return reading->text.failed ? reading->text.failed : JOBS_INVALID;
    int code = jobs_event_parse(&event, json, reading->text.len, NULL);
    if (code)
        return code;
    entry->event = event; /* freed with the entry whatever comes */
    const char *job = jobs_event_reply(event);
    const char *channel = jobs_event_channel(event);
    reading->why = "its event's id or signature does not hold";
    if (jobs_event_check(event) != JOBS_EVENT_VALID)
        return JOBS_INVALID;
    reading->why = "its event is another than it says";
    if (jobs_event_kind(event) != JOBS_KIND_RESULT || strcmp(jobs_event_id(event), entry->id) != 0 ||
        strcmp(jobs_event_author(event), entry->author) != 0 || job == NULL || strcasecmp(job, entry->job) != 0 ||
        channel == NULL || strcmp(channel, entry->channel) != 0 || jobs_event_created_at(event) != entry->created_at)
        return JOBS_INVALID;
    return JOBS_OK;
}

static int read_entry(struct reading *reading, struct jobs__entry *entry, bool fields_only)
{
    const struct jobs__json *doc = &reading->doc;
    int64_t version;
    int code = JOBS_OK;
    if (doc->values[0].type != JOBS__JSON_OBJECT)
        return JOBS_INVALID;
    reading->why = "a field is missing or malformed";
    if (!read_integer(reading, 0, "version", &version) || version < 1)
        return JOBS_INVALID;
    if (version > FORMAT_VERSION) /* whole, but not for us: nothing is wrong with it, so it stays where it is */
        return JOBS_USAGE;
    uint32_t relays = jobs__json_member(doc, 0, "relays");
    if (!read_fields(reading, 0, entry_fields, COUNT(entry_fields), entry) || !jobs_channel_is_valid(entry->channel) ||
        relays == 0 || doc->values[relays].type != JOBS__JSON_ARRAY)
        return reading->text.failed ? reading->text.failed : JOBS_INVALID;
    for (uint32_t at = relays + 1; !code && at < doc->values[relays].after; at = doc->values[at].after)
        code = read_fact(reading, at, entry);
    return code || fields_only ? code : read_event(reading, entry);
}

int jobs__entry_read(struct jobs__entry **out, const char *bytes, size_t len, bool fields_only, const char **why)
{
    *out = NULL;
    *why = "it is cut short or was edited";
    if (len <= CHECKSUM_LEN)
        return JOBS_INVALID;
    const char *tail = bytes + len - CHECKSUM_LEN;
    char checksum[65];
    jobs__sha256_hex(checksum, bytes, len - CHECKSUM_LEN);
    if (memcmp(tail, CHECKSUM_BEFORE, sizeof CHECKSUM_BEFORE - 1) != 0 ||
        memcmp(tail + sizeof CHECKSUM_BEFORE - 1, checksum, 64) != 0 ||
        memcmp(tail + sizeof CHECKSUM_BEFORE - 1 + 64, CHECKSUM_AFTER, sizeof CHECKSUM_AFTER - 1) != 0)
        return JOBS_INVALID;
    struct reading reading = {.text.max = JOBS__ENTRY_FILE_MAX, .why = *why};
    struct jobs__json_fault fault;
    struct jobs__entry *entry = calloc(1, sizeof *entry);
    int code = entry == NULL ? JOBS_NO_MEMORY : jobs__json_parse(&reading.doc, bytes, len, &fault);
    if (!code)
        code = read_entry(&reading, entry, fields_only);
    jobs__json_free(&reading.doc);
    jobs__buffer_free(&reading.text);
    *why = reading.why;
    if (code) {
        jobs__entry_free(entry);
        return code;
    }
    *out = entry;
    return JOBS_OK;
}
