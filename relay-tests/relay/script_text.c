/* script_text.c - what the placeholders in a script's messages stand for. See relay-tests/hostile/README.md. */
#include "need.h"
#include "script_run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_escaped(struct jobs__buffer *out, const char *text)
{
    struct jobs__buffer quoted = {.max = 64u << 20};
    quote(&quoted, text, strlen(text));
    if (quoted.failed)
        give_up("out of memory (a placeholder)");
    jobs__buffer_add(out, quoted.bytes + 1, quoted.len - 2);
    jobs__buffer_free(&quoted);
}

struct jobs_event *script_subject(const struct relay *relay, const struct moment *moment)
{
    struct jobs__buffer json = {.max = 16u << 20};
    struct jobs_event *event = NULL;
    if (moment->event != NULL) {
        size_t len;
        const char *text = jobs_event_json(moment->event, &len);
        jobs__buffer_add(&json, text, len);
    } else {
        uint32_t number = store_count(relay->store);
        while (number > 0 && store_record(relay->store, number - 1)->kind != 43004)
            number--;
        if (number == 0)
            return NULL;
        store_read(relay->store, number - 1, &json);
    }
    if (json.failed || jobs_event_parse(&event, json.bytes, json.len, NULL) != JOBS_OK)
        give_up("an event cannot be read again");
    jobs__buffer_free(&json);
    return event;
}

void script_add_forged(struct jobs__buffer *out, const struct jobs_event *event)
{
    size_t len, content_len;
    const char *json = jobs_event_json(event, &len);
    (void)jobs_event_content(event, &content_len);
    const char *content = strstr(json, "\"content\":\"");
    if (content == NULL || content_len == 0)
        give_up("`forge` needs an event with content");
    size_t at = (size_t)(content - json) + strlen("\"content\":\"");
    jobs__buffer_add(out, json, at);
    jobs__buffer_text(out, "forged ");
    jobs__buffer_add(out, json + at, len - at);
}

/* The same kind, tags and content, signed by another key. */
static void add_strangers(struct jobs__buffer *out, const struct run *run, const struct jobs_event *event)
{
    struct jobs_event *other = NULL;
    struct jobs_error error = {0};
    size_t count = jobs_event_tag_count(event), len;
    struct jobs_tag *tags = need((count + 1) * sizeof *tags);
    for (size_t i = 0; i < count; i++)
        tags[i] = jobs_event_tag(event, i);
    const char *content = jobs_event_content(event, &len);
    if (jobs_event_new(&other, jobs_event_kind(event), jobs_event_created_at(event), tags, count, content, len,
                       &error) != JOBS_OK ||
        jobs_event_seal(other, run->stranger, &error) != JOBS_OK)
        give_up("`$strangers`: %s", error.message);
    const char *json = jobs_event_json(other, &len);
    jobs__buffer_add(out, json, len);
    jobs_event_free(other);
    free(tags);
}

static void add_times(struct jobs__buffer *out, char c, size_t times)
{
    char piece[1024];
    memset(piece, c, sizeof piece);
    for (; times > 0; times -= times < sizeof piece ? times : sizeof piece)
        jobs__buffer_add(out, piece, times < sizeof piece ? times : sizeof piece);
}

enum placeholder {
    FILL,
    OPEN,
    SHUT,
    ID,
    LOUD_ID,
    SUB,
    CHALLENGE,
    AUTHOR,
    URL,
    EVENT,
    FORGED,
    STRANGERS,
    DOLLAR
};
static const char *const placeholders[] = {
    [FILL] = "fill(",    [OPEN] = "open(",          [SHUT] = "shut(",    [ID] = "id",   [LOUD_ID] = "ID",
    [SUB] = "sub",       [CHALLENGE] = "challenge", [AUTHOR] = "author", [URL] = "url", [EVENT] = "event",
    [FORGED] = "forged", [STRANGERS] = "strangers", [DOLLAR] = "$",
};

static void add_placeholder(struct jobs__buffer *out, struct relay *relay, const struct moment *moment,
                            enum placeholder which, size_t number)
{
    static const char none[] = "0000000000000000000000000000000000000000000000000000000000000000";
    const struct peer *peer = relay_peer(relay, moment->peer);
    struct jobs_event *event =
        which == ID || which == LOUD_ID || which >= AUTHOR ? script_subject(relay, moment) : NULL;
    size_t len;
    const char *json;
    switch (which) {
    case FILL:
        add_times(out, 'a', number);
        break;
    case OPEN:
        add_times(out, '[', number);
        break;
    case SHUT:
        add_times(out, ']', number);
        break;
    case ID:
        jobs__buffer_text(out, event == NULL ? none : jobs_event_id(event));
        break;
    case LOUD_ID:
        for (const char *c = event == NULL ? none : jobs_event_id(event); *c != '\0'; c++)
            jobs__buffer_char(out, (char)toupper((unsigned char)*c));
        break;
    case AUTHOR:
        jobs__buffer_text(out, event == NULL ? none : jobs_event_author(event));
        break;
    case SUB:
        add_escaped(out, moment->wanted == NULL ? "" : moment->wanted->name);
        break;
    case CHALLENGE:
        add_escaped(out, peer == NULL || peer->challenge == NULL ? "" : peer->challenge);
        break;
    case URL:
        add_escaped(out, relay->url);
        break;
    case EVENT:
        if (event != NULL && (json = jobs_event_json(event, &len)) != NULL)
            jobs__buffer_add(out, json, len);
        break;
    case FORGED:
        if (event != NULL)
            script_add_forged(out, event);
        break;
    case STRANGERS:
        if (event != NULL)
            add_strangers(out, relay->run, event);
        break;
    case DOLLAR:
        jobs__buffer_char(out, '$');
        break;
    }
    jobs_event_free(event);
}

void script_expand(struct jobs__buffer *out, struct relay *relay, const struct moment *moment, const char *text,
                   size_t len)
{
    *out = (struct jobs__buffer){.max = 64u << 20};
    jobs__buffer_add(out, "", 0);
    for (size_t i = 0; i < len; i++) {
        size_t which = 0, count = sizeof placeholders / sizeof *placeholders;
        if (text[i] == '$')
            while (which < count && strncmp(text + i + 1, placeholders[which], strlen(placeholders[which])) != 0)
                which++;
        if (text[i] != '$' || which == count) {
            jobs__buffer_char(out, text[i]);
            continue;
        }
        i += strlen(placeholders[which]);
        size_t number = 0;
        if (which <= SHUT) {
            for (i++; text[i] >= '0' && text[i] <= '9'; i++)
                number = number * 10 + (size_t)(text[i] - '0');
        }
        add_placeholder(out, relay, moment, (enum placeholder)which, number);
    }
    if (out->failed || out->bytes == NULL)
        give_up("a message of the script needs more than 64 MiB");
}
