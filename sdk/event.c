/* event.c - events of our own: templates within what a publisher may write, and sealing.
 *
 * It does not read foreign events (event_parse.c), does not know what a handoff is (event_handoff.c), and touches
 * secret keys only by asking for a signature.
 */
#include "../core/hex.h"
#include "../core/sha256.h"
#include "../core/text.h"
#include "event_body.h"
#include "signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct jobs_event *jobs__event_allocate(size_t tag_count, size_t value_count)
{
    struct jobs_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        return NULL;
    event->tags = calloc(tag_count + 1, sizeof *event->tags);
    event->values = calloc(value_count + 1, sizeof *event->values);
    event->texts.max = event->tags_json.max = event->content.max = event->json.max = JOBS__EVENT_TEXT_MAX;
    if (event->tags == NULL || event->values == NULL) {
        jobs_event_free(event);
        return NULL;
    }
    return event;
}

void jobs_event_free(struct jobs_event *event)
{
    if (event == NULL)
        return;
    free(event->tags);
    free(event->values);
    jobs__buffer_free(&event->texts);
    jobs__buffer_free(&event->tags_json);
    jobs__buffer_free(&event->content);
    jobs__buffer_free(&event->json);
    free(event);
}

void jobs__event_tag_begin(struct jobs_event *event)
{
    jobs__buffer_text(&event->tags_json, event->tag_count == 0 ? "[[" : "],[");
    event->tag_count++;
}

void jobs__event_tag_value(struct jobs_event *event, const char *text, size_t len)
{
    struct jobs_tag *tag = &event->tags[event->tag_count - 1];
    if (tag->count > 0)
        jobs__buffer_char(&event->tags_json, ',');
    jobs__preimage_string(&event->tags_json, text, len);
    tag->count++;
    while (len > 0) {
        size_t plain = strnlen(text, len);
        jobs__buffer_add(&event->texts, text, plain);
        if (plain < len) {
            jobs__buffer_text(&event->texts, "\xEF\xBF\xBD");
            plain++;
        }
        text += plain;
        len -= plain;
    }
    jobs__buffer_char(&event->texts, '\0');
}

int jobs__event_tags_end(struct jobs_event *event)
{
    jobs__buffer_text(&event->tags_json, event->tag_count == 0 ? "[]" : "]]");
    if (event->texts.failed || event->tags_json.failed)
        return event->texts.failed ? event->texts.failed : event->tags_json.failed;
    const char *text = event->texts.bytes;
    size_t next = 0;
    for (size_t t = 0; t < event->tag_count; t++) {
        event->tags[t].values = event->values + next;
        for (size_t v = 0; v < event->tags[t].count; v++) {
            event->values[next++] = text;
            text += strlen(text) + 1;
        }
    }
    return JOBS_OK;
}

int jobs__event_write(struct jobs_event *event)
{
    struct jobs__buffer *json = &event->json;
    bool sealed = event->id[0] != '\0';
    jobs__buffer_clear(json);
    jobs__buffer_char(json, '{');
    if (sealed)
        jobs__buffer_format(json, "\"id\":\"%s\",\"pubkey\":\"%s\",", event->id, event->author);
    jobs__buffer_format(json, "\"created_at\":%" PRId64 ",\"kind\":%" PRIu32 ",\"tags\":", event->created_at,
                        event->kind);
    jobs__buffer_add(json, event->tags_json.bytes, event->tags_json.len);
    jobs__buffer_text(json, ",\"content\":");
    jobs__preimage_string(json, event->content.bytes, event->content.len);
    if (sealed)
        jobs__buffer_format(json, ",\"sig\":\"%s\"", event->signature);
    jobs__buffer_char(json, '}');
    return json->failed ? JOBS_NO_MEMORY : JOBS_OK;
}

int jobs__event_hash(struct jobs_event *event)
{
    struct jobs__buffer preimage = {.max = JOBS__EVENT_TEXT_MAX};
    jobs__preimage_write(&preimage, event->author, event->created_at, event->kind, &event->tags_json,
                         event->content.bytes, event->content.len);
    bool good = !preimage.failed;
    if (good)
        jobs__sha256(event->digest, preimage.bytes, preimage.len);
    jobs__buffer_free(&preimage);
    return good ? JOBS_OK : JOBS_NO_MEMORY;
}

/* Relays disagree about the ids of events that hold these; \t \n \r all spell alike. */
static bool may_be_published(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
            return false;
    }
    return true;
}

static int check_publishable(const char *where, const char *text, size_t len, struct jobs_error *error)
{
    if (!jobs__text_is_utf8(text, len))
        return jobs_error_set(error, JOBS_INVALID, "the event's %s must be valid UTF-8", where);
    if (!may_be_published(text, len))
        return jobs_error_set(error, JOBS_INVALID,
                              "the event's %s must hold no control character but tab, line feed and carriage return: "
                              "relays disagree about the id of such an event",
                              where);
    return JOBS_OK;
}

static int check_template(uint32_t kind, int64_t created_at, const struct jobs_tag *tags, size_t tag_count,
                          const char *content, size_t content_len, size_t *value_count, struct jobs_error *error)
{
    size_t bytes = content_len;
    *value_count = 0;
    if (kind > JOBS__KIND_MAX)
        return jobs_error_set(error, JOBS_INVALID, "the event's kind must be 0 to %d", JOBS__KIND_MAX);
    if (created_at < 0 || created_at > JOBS__CREATED_AT_MAX)
        return jobs_error_set(error, JOBS_INVALID, "the event's time must be 0 to 2^53-1 seconds");
    int code = check_publishable("content", content, content_len, error);
    for (size_t t = 0; t < tag_count && code == JOBS_OK; t++) {
        if (tags[t].count == 0)
            return jobs_error_set(error, JOBS_INVALID, "each tag of the event must hold at least one string");
        for (size_t v = 0; v < tags[t].count && code == JOBS_OK; v++) {
            size_t len = strlen(tags[t].values[v]);
            code = check_publishable("tags", tags[t].values[v], len, error);
            bytes += len;
            ++*value_count;
        }
    }
    if (code == JOBS_OK && bytes > JOBS__EVENT_INPUT_MAX)
        code = jobs_error_set(error, JOBS_INVALID, "the event's text is %zu bytes; %zu are the most", bytes,
                              JOBS__EVENT_INPUT_MAX);
    return code;
}

int jobs_event_new(struct jobs_event **out, uint32_t kind, int64_t created_at, const struct jobs_tag *tags,
                   size_t tag_count, const char *content, size_t content_len, struct jobs_error *error)
{
    *out = NULL;
    size_t value_count;
    int code = check_template(kind, created_at, tags, tag_count, content, content_len, &value_count, error);
    if (code != JOBS_OK)
        return code;
    struct jobs_event *event = jobs__event_allocate(tag_count, value_count);
    if (event == NULL)
        goto no_memory;
    event->kind = kind;
    event->created_at = created_at;
    for (size_t t = 0; t < tag_count; t++) {
        jobs__event_tag_begin(event);
        for (size_t v = 0; v < tags[t].count; v++)
            jobs__event_tag_value(event, tags[t].values[v], strlen(tags[t].values[v]));
    }
    jobs__buffer_add(&event->content, content, content_len);
    if (jobs__event_tags_end(event) != JOBS_OK || event->content.failed || jobs__event_write(event) != JOBS_OK)
        goto no_memory;
    *out = event;
    return JOBS_OK;
no_memory:
    jobs_event_free(event);
    return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
}

int jobs_event_seal(struct jobs_event *event, const struct jobs_key *key, struct jobs_error *error)
{
    unsigned char signature[64];
    memcpy(event->author, jobs_key_public(key), sizeof event->author);
    int code = jobs__event_hash(event);
    if (code == JOBS_OK)
        code = jobs__sign(signature, key, event->digest, sizeof event->digest);
    if (code == JOBS_OK) {
        jobs__hex_write(event->id, event->digest, sizeof event->digest);
        jobs__hex_write(event->signature, signature, sizeof signature);
        code = jobs__event_write(event);
    }
    if (code == JOBS_OK && jobs_event_check(event) != JOBS_EVENT_VALID)
        code = JOBS_SYSTEM;
    if (code == JOBS_OK)
        return code;
    event->author[0] = event->id[0] = event->signature[0] = '\0'; /* still a template */
    return jobs_error_set(error, code, code == JOBS_NO_MEMORY ? "out of memory" : "the event could not be signed");
}

enum jobs_event_check jobs_event_check(const struct jobs_event *event)
{
    unsigned char id[32];
    unsigned char author[32];
    unsigned char signature[64];
    if (!jobs__hex_read(id, sizeof id, event->id) || memcmp(id, event->digest, sizeof id) != 0)
        return JOBS_EVENT_BAD_ID;
    if (!jobs__hex_read(author, sizeof author, event->author) ||
        !jobs__hex_read(signature, sizeof signature, event->signature) ||
        !jobs__verify(signature, event->digest, sizeof event->digest, author))
        return JOBS_EVENT_BAD_SIGNATURE;
    return JOBS_EVENT_VALID;
}

bool jobs_channel_is_valid(const char *channel)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        char c = channel[i];
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (shape[i] == 'x' ? !hex : c != '-') /* a NUL is neither */
            return false;
    }
    return channel[sizeof shape - 1] == '\0';
}
