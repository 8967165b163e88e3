/* doctor.c - `jobs doctor`: what a handoff would meet at each relay and in the outbox, for a person as a list, for
 * programs one line a relay.
 */
#include "client.h"
#include "escape.h"
#include "print.h"
#include "signals.h"

#include <jobs/doctor.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- for programs --- */

static json_t *outbox_of(const struct jobs_outbox_health *outbox)
{
    json_t *object =
        json_pack("{s:o, s:b, s:o, s:I, s:I, s:b}", "path", print_string(outbox->path), "writable", outbox->usable,
                  "message", print_string(outbox->message), "free_bytes", (json_int_t)outbox->free_bytes, "pending",
                  (json_int_t)outbox->pending_count, "more", outbox->pending_more);
    if (outbox->pending_count > 0)
        json_object_set_new(object, "oldest", json_integer(outbox->pending_oldest));
    return object;
}

static json_t *information_of(const struct jobs_examination *found)
{
    json_t *object = json_object(), *nips = json_array();
    if (found->name[0] != '\0')
        json_object_set_new(object, "name", print_string(found->name));
    if (found->software[0] != '\0')
        json_object_set_new(object, "software", print_string(found->software));
    if (found->version[0] != '\0')
        json_object_set_new(object, "version", print_string(found->version));
    for (size_t i = 0; i < found->nip_count; i++)
        json_array_append_new(nips, json_integer(found->nips[i]));
    json_object_set_new(object, "supported_nips", nips);
    if (found->max_message_length > 0)
        json_object_set_new(object, "max_message_length", json_integer(found->max_message_length));
    return object;
}

static json_t *line_of(const struct jobs_examination *found, const struct jobs_outbox_health *outbox)
{
    json_t *checks = json_object();
    for (int i = 0; i < JOBS_CHECK_COUNT; i++)
        json_object_set_new(checks, jobs_check_name((enum jobs_check)i),
                            json_pack("{s:s, s:o}", "state", jobs_check_state_name(found->checks[i].state), "message",
                                      print_string(found->checks[i].message)));
    int code = outbox->usable ? found->code : JOBS_SYSTEM;
    json_t *line = json_pack("{s:o, s:b}", "url", print_string(found->url), "ok", code == JOBS_OK);
    if (code != JOBS_OK)
        json_object_set_new(line, "error", json_string(jobs_code_category(code)));
    json_object_set_new(line, "checks", checks);
    if (found->has_skew)
        json_object_set_new(line, "skew", json_integer(found->skew));
    json_object_set_new(line, "auth",
                        json_pack("{s:b, s:b}", "asked", found->auth_asked, "accepted", found->auth_accepted));
    if (found->tls_protocol[0] != '\0')
        json_object_set_new(line, "tls",
                            json_pack("{s:s, s:o, s:I}", "protocol", found->tls_protocol, "issuer",
                                      print_string(found->tls_issuer), "expires", (json_int_t)found->tls_expires));
    if (found->informed)
        json_object_set_new(line, "information", information_of(found));
    json_object_set_new(line, "outbox", outbox_of(outbox));
    return line;
}

/* --- for a person --- */

static int print_check(struct run *run, const char *name, enum jobs_check_state state, const char *message)
{
    static const enum print_colour colours[] = {PRINT_DIM, PRINT_GREEN, PRINT_YELLOW, PRINT_RED};
    char words[2 * JOBS_RELAY_MESSAGE_MAX], line[sizeof words + 128];
    snprintf(line, sizeof line, "  %s%-8s%s%-9s%s\n", print_colour(run, STDOUT_FILENO, colours[state]),
             jobs_check_state_name(state), print_colour(run, STDOUT_FILENO, PRINT_PLAIN), name,
             escape_line(words, sizeof words, message, strlen(message)));
    return print_text(run, line);
}

static int print_relay(struct run *run, const struct jobs_examination *found)
{
    char url[2048], words[512], line[sizeof url + sizeof words + 64];
    snprintf(words, sizeof words, "%s%s%s%s", found->name[0] != '\0' ? " (" : "", found->name,
             found->software[0] != '\0' ? ", " : "", found->software);
    snprintf(line, sizeof line, "%s%s%s%s%s\n", print_colour(run, STDOUT_FILENO, PRINT_BOLD),
             escape_line(url, sizeof url, found->url, strlen(found->url)),
             print_colour(run, STDOUT_FILENO, PRINT_PLAIN), found->name[0] != '\0' ? words : "",
             found->name[0] != '\0' ? ")" : "");
    int code = print_text(run, line);
    for (int i = 0; i < JOBS_CHECK_COUNT && code == JOBS_OK; i++)
        if (found->checks[i].message[0] != '\0')
            code =
                print_check(run, jobs_check_name((enum jobs_check)i), found->checks[i].state, found->checks[i].message);
    return code;
}

static int print_outbox(struct run *run, const struct jobs_outbox_health *outbox)
{
    char words[2048], line[sizeof words + 64];
    snprintf(line, sizeof line, "outbox %s\n", escape_line(words, sizeof words, outbox->path, strlen(outbox->path)));
    int code = print_text(run, line);
    if (outbox->usable)
        snprintf(words, sizeof words, "%llu MiB free, %zu%s waiting", (unsigned long long)(outbox->free_bytes >> 20),
                 outbox->pending_count, outbox->pending_more ? " or more" : "");
    return code ? code
                : print_check(run, "disk", outbox->usable ? JOBS_CHECK_OK : JOBS_CHECK_FAILED,
                              outbox->usable ? words : outbox->message);
}

int command_doctor(struct run *run)
{
    struct client client = {0};
    struct jobs_diagnosis diagnosis = {0};
    int code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_IF_THERE);
    if (code == JOBS_OK) {
        code = jobs_diagnose(&diagnosis, options_text(&run->options, OPT_DOCTOR_CHANNEL),
                             options_text(&run->options, OPT_DOCTOR_JOB), &client.options, &run->error);
        bool for_person = print_is_for_person(run, STDOUT_FILENO);
        int printed = JOBS_OK;
        for (size_t i = 0; i < diagnosis.relay_count && printed == JOBS_OK; i++)
            printed = for_person ? print_relay(run, &diagnosis.relays[i])
                                 : print_line(run, line_of(&diagnosis.relays[i], &diagnosis.outbox));
        if (printed == JOBS_OK && for_person && diagnosis.relay_count > 0)
            printed = print_outbox(run, &diagnosis.outbox);
        code = printed != JOBS_OK ? printed : code;
    }
    jobs_diagnosis_wipe(&diagnosis);
    client_free(&client);
    return code;
}
