/* json.c - a card as one object: what the feed says, then the payload with its numbers as they were spelled. */
#include "card.h"

#include "../escape.h"
#include "../print.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* JSON whose strings alone may hold what is not ASCII: a hazard becomes an escape of the same value. */
void card_put_json(FILE *out, const char *json, size_t len)
{
    for (size_t at = 0; at < len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t took = utf8proc_iterate((const utf8proc_uint8_t *)json + at, (utf8proc_ssize_t)(len - at), &c);
        if (took > 0 && escape_is_hazard(c))
            fprintf(out, "\\u%04x", (unsigned)c);
        else
            fwrite(json + at, 1, took > 0 ? (size_t)took : 1, out);
        at += took > 0 ? (size_t)took : 1;
    }
}

static json_t *string_or_null(const char *text)
{
    return text != NULL ? print_string(text) : json_null();
}

/* The members before the payload. The job of a fallback is what it replies to. */
static json_t *facts_of(const struct card *card, const struct card_look *look)
{
    const struct jobs_event *event = card->event;
    const struct jobs_handoff *handoff = card->handoff;
    json_t *facts = json_object();
    json_object_set_new(facts, "event_id", print_string(jobs_event_id(event)));
    json_object_set_new(facts, "created_at", json_integer(jobs_event_created_at(event)));
    json_object_set_new(facts, "author", print_string(jobs_event_author(event)));
    json_object_set_new(facts, "channel", string_or_null(jobs_event_channel(event)));
    json_object_set_new(facts, "job",
                        string_or_null(handoff != NULL ? jobs_handoff_job_request(handoff) : jobs_event_reply(event)));
    json_object_set_new(facts, "disposition",
                        handoff != NULL ? json_string(jobs_disposition_name(jobs_handoff_disposition(handoff)))
                                        : json_null());
    json_object_set_new(facts, "headline", json_string(card_headline(card)));
    json_object_set_new(facts, "card", json_boolean(handoff != NULL));
    json_object_set_new(facts, "kind", json_integer(jobs_event_kind(event)));
    json_object_set_new(facts, "label", json_string(card_label(card)));
    if (card->hint_count > 0) {
        json_t *notes = json_array();
        for (size_t i = 0; i < card->hint_count; i++)
            json_array_append_new(notes, json_string(card->hints[i]));
        json_object_set_new(facts, "notes", notes);
    }
    if (look->reason && handoff != NULL)
        json_object_set_new(facts, "left_out", print_violations(&card->left_out));
    if (look->reason && card->reason != NULL)
        json_object_set_new(facts, "reason", json_string(card->reason));
    if (look->reason && handoff == NULL)
        json_object_set_new(facts, "violations", print_violations(&card->broken));
    return facts;
}

/* Content may hold a NUL, which jansson's strings do not like: written by hand. */
static void put_string(FILE *out, const char *text, size_t len)
{
    fputc('"', out);
    for (size_t at = 0; at < len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t took = utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &c);
        if (took <= 0) {
            took = 1;
            fputs("\\ufffd", out);
        } else if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", (char)c);
        } else if (escape_is_hazard(c)) {
            fprintf(out, "\\u%04x", (unsigned)c);
        } else {
            fwrite(text + at, 1, (size_t)took, out);
        }
        at += (size_t)took;
    }
    fputc('"', out);
}

int card_put_facts(FILE *out, json_t *facts, const char *name)
{
    char *text = facts != NULL ? json_dumps(facts, JSON_COMPACT) : NULL;
    json_decref(facts);
    if (text == NULL)
        return JOBS_NO_MEMORY;
    card_put_json(out, text, strlen(text) - 1);
    fprintf(out, ",\"%s\":", name);
    free(text);
    return JOBS_OK;
}

int card_json(FILE *out, const struct card *card, const struct card_look *look)
{
    size_t len;
    int code = card_put_facts(out, facts_of(card, look), card->handoff != NULL ? "payload" : "content");
    if (code != JOBS_OK)
        return code;
    if (card->handoff != NULL) {
        const char *payload = jobs_handoff_canonical(card->handoff, &len);
        card_put_json(out, payload, len);
    } else {
        const char *content = jobs_event_content(card->event, &len);
        put_string(out, content, len);
    }
    fputs("}\n", out);
    return JOBS_OK;
}

void card_raw(FILE *out, const struct jobs_event *event)
{
    size_t len;
    const char *json = jobs_event_json(event, &len);
    card_put_json(out, json, len);
    fputc('\n', out);
}
