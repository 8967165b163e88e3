/* lines.c - the objects that scripts rely on: their members, and the order of them. */
#include "print.h"

#include "escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *print_relays(const struct jobs_receipt *receipt)
{
    json_t *relays = json_array();
    for (size_t i = 0; i < receipt->relay_count; i++) {
        const struct jobs_relay_result *relay = &receipt->relays[i];
        json_t *one = json_object();
        json_object_set_new(one, "url", print_string(relay->url));
        json_object_set_new(one, "verdict", json_string(jobs_verdict_name(relay->verdict)));
        json_object_set_new(one, "message", print_string(relay->message));
        json_object_set_new(one, "read_back", json_string(jobs_read_back_name(relay->read_back)));
        json_object_set_new(one, "attempts", json_integer((json_int_t)relay->attempts));
        json_array_append_new(relays, one);
    }
    return relays;
}

json_t *print_warning_list(const struct jobs_receipt *receipt)
{
    json_t *warnings = json_array();
    for (size_t i = 0; i < receipt->warning_count; i++)
        json_array_append_new(warnings, print_string(receipt->warnings[i]));
    return warnings;
}

json_t *print_receipt(const struct jobs_receipt *receipt, bool accepted)
{
    json_t *line = json_object();
    json_object_set_new(line, "accepted", json_boolean(accepted));
    json_object_set_new(line, "event_id", print_string(receipt->event_id));
    json_object_set_new(line, "message", print_string(receipt->message));
    json_object_set_new(line, "relays", print_relays(receipt));
    if (receipt->warning_count > 0)
        json_object_set_new(line, "warnings", print_warning_list(receipt));
    if (receipt->pending_count > 0) {
        json_t *pending = json_object();
        json_object_set_new(pending, "count", json_integer((json_int_t)receipt->pending_count));
        json_object_set_new(pending, "oldest", json_integer(receipt->pending_oldest));
        json_object_set_new(pending, "more", json_boolean(receipt->pending_more));
        json_object_set_new(line, "pending", pending);
    }
    return line;
}

/* Bytes that are no JSON have no pointer: the line stands in the words, if it does not yet. */
static json_t *message_of(const struct jobs_violation *violation)
{
    char *text = NULL;
    if (violation->line == 0 || violation->pointer[0] != '\0' || strncmp(violation->message, "line ", 5) == 0 ||
        asprintf(&text, "line %zu: %s", violation->line, violation->message) < 0)
        return print_string(violation->message);
    json_t *message = print_string(text);
    free(text);
    return message;
}

json_t *print_violations(const struct jobs_report *report)
{
    json_t *violations = json_array();
    for (size_t i = 0; i < report->count; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "rule", print_string(report->violations[i].rule));
        json_object_set_new(one, "pointer", print_string(report->violations[i].pointer));
        json_object_set_new(one, "message", message_of(&report->violations[i]));
        json_array_append_new(violations, one);
    }
    return violations;
}

json_t *print_faults(const struct jobs_read_counts *counts)
{
    json_t *faults = json_array();
    for (size_t i = 0; i < counts->fault_count; i++) {
        const struct jobs_relay_fault *fault = &counts->faults[i];
        json_array_append_new(faults,
                              json_pack("{s:o, s:s, s:o}", "url", print_string(fault->url), "error",
                                        jobs_code_category((int)fault->code), "message", print_string(fault->message)));
    }
    return faults;
}

void print_faults_for_person(const struct run *run, const struct jobs_read_counts *counts)
{
    for (size_t i = 0; i < counts->fault_count; i++) {
        char text[2 * JOBS_RELAY_MESSAGE_MAX];
        snprintf(text, sizeof text, "not all from %.200s: %s", counts->faults[i].url, counts->faults[i].message);
        print_note(run, text);
    }
}

/* A template has no bytes yet: its members one by one. */
static json_t *unsigned_event(const struct jobs_event *event)
{
    json_t *object = json_object();
    size_t content_len;
    const char *content = jobs_event_content(event, &content_len);
    json_object_set_new(object, "created_at", json_integer(jobs_event_created_at(event)));
    json_object_set_new(object, "kind", json_integer(jobs_event_kind(event)));
    json_t *tags = json_array();
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        json_t *values = json_array();
        for (size_t v = 0; v < tag.count; v++)
            json_array_append_new(values, print_string(tag.values[v]));
        json_array_append_new(tags, values);
    }
    json_object_set_new(object, "tags", tags);
    json_object_set_new(object, "content", json_stringn(content, content_len));
    return object;
}

json_t *print_event(const struct jobs_event *event)
{
    size_t len;
    if (jobs_event_id(event)[0] == '\0')
        return unsigned_event(event);
    const char *json = jobs_event_json(event, &len);
    return json != NULL ? json_loadb(json, len, JSON_ALLOW_NUL, NULL) : NULL;
}

void print_violations_for_person(const struct run *run, int descriptor, const struct jobs_report *report)
{
    const char *bold = print_colour(run, descriptor, PRINT_BOLD);
    const char *plain = print_colour(run, descriptor, PRINT_PLAIN);
    for (size_t i = 0; i < report->count; i++) {
        const struct jobs_violation *violation = &report->violations[i];
        char pointer[512], message[1024];
        const char *where = violation->pointer[0] != '\0' ? violation->pointer : "the whole document";
        if (violation->line > 0)
            dprintf(descriptor, "  line %zu, ", violation->line);
        else
            dprintf(descriptor, "  ");
        dprintf(descriptor, "%s%s%s: %s [%s]\n", bold, escape_line(pointer, sizeof pointer, where, strlen(where)),
                plain, escape_line(message, sizeof message, violation->message, strlen(violation->message)),
                violation->rule);
    }
}
