/* life_show.c - the life of a job in the forms that a card has. */
#include "life.h"

#include "../print.h"
#include "pen.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
    BRIEF = 280 /* bytes of an event's own words */
};

/* How it stands: by the one result that nothing replaces, else by the last that is known. */
static const char *standing(const struct life *life, enum pen_tone *tone)
{
    static const enum pen_tone tones[] = {TONE_GOOD, TONE_CAUTION, TONE_BAD, TONE_BAD, TONE_GOOD};
    const struct life_event *result = NULL;
    size_t results = 0;
    *tone = TONE_PLAIN;
    for (size_t i = 0; i < life->count; i++)
        if (life->events[i].card.handoff != NULL && life->events[i].replaced_by == NULL) {
            result = &life->events[i];
            results++;
        }
    if (results > 1)
        return "Several results stand";
    if (results == 1) {
        *tone = tones[jobs_handoff_disposition(result->card.handoff)];
        return card_headline(&result->card);
    }
    return card_headline(&life->events[life->count - 1].card);
}

/* The outcome, or the beginning of what it says. */
static void brief(char out[BRIEF + 8], const struct life_event *event)
{
    size_t len;
    const char *text = jobs_event_content(event->event, &len);
    if (event->card.handoff != NULL) {
        text = jobs_handoff_outcome(event->card.handoff);
        len = strlen(text);
    }
    size_t used = len < BRIEF ? len : BRIEF;
    while (used < len && used > 0 && ((unsigned char)text[used] & 0xC0) == 0x80)
        used--;
    for (size_t i = 0; i < used; i++)
        out[i] = text[i] != '\0' ? text[i] : ' ';
    strcpy(out + used, used < len ? "…" : "");
}

static void draw_event(struct pen *pen, const struct life_event *event)
{
    static const enum pen_tone tones[] = {TONE_GOOD, TONE_CAUTION, TONE_BAD, TONE_BAD, TONE_GOOD};
    char words[BRIEF + 8], when[32];
    const struct jobs_handoff *handoff = event->card.handoff;
    const uint32_t kind = jobs_event_kind(event->event);
    enum pen_tone tone = handoff != NULL ? tones[jobs_handoff_disposition(handoff)]
                         : kind == JOBS_KIND_ERROR || kind == JOBS_KIND_CANCEL ? TONE_CAUTION
                                                                               : TONE_PLAIN;
    brief(words, event);
    pen->item(pen, event->replaced_by != NULL ? TONE_QUIET : tone, card_headline(&event->card), words);
    pen->fact(pen, "at", FACT_OWN, card_time(when, jobs_event_created_at(event->event)));
    pen->fact(pen, "by", FACT_CODE, jobs_event_author(event->event));
    pen->fact(pen, "event", FACT_CODE, jobs_event_id(event->event));
    if (handoff != NULL && jobs_handoff_supersedes(handoff) != NULL)
        pen->fact(pen, "replaces", FACT_CODE, jobs_handoff_supersedes(handoff));
    if (event->replaced_by != NULL)
        pen->fact(pen, "replaced by", FACT_CODE, jobs_event_id(event->replaced_by->event));
    pen->item_end(pen);
}

static void draw(struct pen *pen, const void *subject, const struct card_look *look)
{
    const struct life *life = subject;
    enum pen_tone tone;
    const char *label = standing(life, &tone);
    (void)look;
    pen->head(pen, tone, "Life of a job", label);
    pen->section(pen, TONE_PLAIN, "Job",
                 life->has_request ? "Its request, and what names it." : "No relay had the request itself.");
    pen->fact(pen, "request", FACT_CODE, life->job);
    if (life->channel != NULL)
        pen->fact(pen, "channel", FACT_CODE, life->channel);
    if (life->elsewhere > 0) {
        char count[48];
        snprintf(count, sizeof count, "%zu in other channels", life->elsewhere);
        pen->fact(pen, "left out", FACT_OWN, count);
    }
    pen->section_end(pen);
    pen->section(pen, TONE_PLAIN, "Time line", "Any key can sign any of these: look at who did.");
    for (size_t i = 0; i < life->count; i++)
        draw_event(pen, &life->events[i]);
    pen->section_end(pen);
}

int life_terminal(FILE *out, const struct life *life, const struct card_look *look)
{
    return pen_terminal(out, draw, life, look);
}

int life_markdown(FILE *out, const struct life *life, const struct card_look *look)
{
    return pen_markdown(out, draw, life, look);
}

int life_html(FILE *out, const struct life *life, const struct card_look *look)
{
    return pen_html(out, draw, life, look);
}

static json_t *string_or_null(const char *text)
{
    return text != NULL ? print_string(text) : json_null();
}

int life_json(FILE *out, const struct life *life)
{
    enum pen_tone tone;
    json_t *events = json_array();
    for (size_t i = 0; i < life->count; i++) {
        const struct life_event *event = &life->events[i];
        const struct jobs_handoff *handoff = event->card.handoff;
        char words[BRIEF + 8];
        brief(words, event);
        json_t *one = json_object();
        json_object_set_new(one, "event_id", print_string(jobs_event_id(event->event)));
        json_object_set_new(one, "created_at", json_integer(jobs_event_created_at(event->event)));
        json_object_set_new(one, "author", print_string(jobs_event_author(event->event)));
        json_object_set_new(one, "channel", string_or_null(jobs_event_channel(event->event)));
        json_object_set_new(one, "kind", json_integer(jobs_event_kind(event->event)));
        json_object_set_new(
            one, "disposition",
            string_or_null(handoff != NULL ? jobs_disposition_name(jobs_handoff_disposition(handoff)) : NULL));
        json_object_set_new(one, "headline", json_string(card_headline(&event->card)));
        json_object_set_new(one, "card", json_boolean(handoff != NULL));
        json_object_set_new(one, "text", print_string(words));
        json_object_set_new(one, "supersedes",
                            string_or_null(handoff != NULL ? jobs_handoff_supersedes(handoff) : NULL));
        json_object_set_new(
            one, "superseded_by",
            string_or_null(event->replaced_by != NULL ? jobs_event_id(event->replaced_by->event) : NULL));
        json_array_append_new(events, one);
    }
    json_t *whole = json_pack("{s:s, s:b, s:s, s:I, s:o}", "job", life->job, "request", life->has_request, "headline",
                              standing(life, &tone), "elsewhere", (json_int_t)life->elsewhere, "events", events);
    char *text = whole != NULL ? json_dumps(whole, JSON_COMPACT) : NULL;
    json_decref(whole);
    if (text == NULL)
        return JOBS_NO_MEMORY;
    card_put_json(out, text, strlen(text));
    fputc('\n', out);
    free(text);
    return JOBS_OK;
}

void life_raw(FILE *out, const struct life *life)
{
    for (size_t i = 0; i < life->count; i++)
        card_raw(out, life->events[i].event);
}
