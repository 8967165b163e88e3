/* failure.c - why a run failed, told once: a line for programs, sentences for a person. */
#include "print.h"

#include "escape.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The message then strings together what each relay said; a person gets a list instead. */
static bool is_about_relays(int code)
{
    return code == JOBS_UNKNOWN || code == JOBS_UNREACHABLE || code == JOBS_REFUSED || code == JOBS_DENIED;
}

static size_t count_takers(const struct jobs_receipt *receipt)
{
    size_t count = 0;
    for (size_t i = 0; i < receipt->relay_count; i++)
        count += receipt->relays[i].verdict == JOBS_ACCEPTED || receipt->relays[i].verdict == JOBS_DUPLICATE;
    return count;
}

static void fail_for_person(const struct run *run, int code)
{
    const struct jobs_receipt *receipt = &run->receipt;
    const char *red = print_colour(run, STDERR_FILENO, PRINT_RED);
    const char *bold = print_colour(run, STDERR_FILENO, PRINT_BOLD);
    const char *plain = print_colour(run, STDERR_FILENO, PRINT_PLAIN);
    char line[2048];

    if (is_about_relays(code) && receipt->relay_count > 1) {
        dprintf(STDERR_FILENO, "%sjobs:%s %zu of %zu relays took it; %s\n", red, plain, count_takers(receipt),
                receipt->relay_count, jobs_code_sentence(code));
        for (size_t i = 0; i < receipt->relay_count; i++) {
            const struct jobs_relay_result *relay = &receipt->relays[i];
            char url[512];
            dprintf(STDERR_FILENO, "  %s%s%s %s%s%s\n", bold,
                    escape_line(url, sizeof url, relay->url, strlen(relay->url)), plain,
                    jobs_verdict_name(relay->verdict), relay->message[0] != '\0' ? ": " : "",
                    escape_line(line, sizeof line, relay->message, strlen(relay->message)));
        }
    } else {
        const char *message = run->error.message[0] != '\0' ? run->error.message : jobs_code_sentence(code);
        dprintf(STDERR_FILENO, "%sjobs:%s %s\n", red, plain, escape_line(line, sizeof line, message, strlen(message)));
    }
    print_violations_for_person(run, STDERR_FILENO, &run->report);
    if (receipt->event_id[0] != '\0')
        dprintf(STDERR_FILENO, "event %s%s\n", receipt->event_id, receipt->stored ? ", kept in the outbox" : "");
    if (run->error.retry_after > 0)
        dprintf(STDERR_FILENO, "the relay asks to wait %d s\n", run->error.retry_after);
    if (run->error.hint[0] != '\0')
        dprintf(STDERR_FILENO, "hint: %s\n", escape_line(line, sizeof line, run->error.hint, strlen(run->error.hint)));
}

static void fail_for_program(const struct run *run, int code)
{
    const struct jobs_error *error = &run->error;
    const struct jobs_receipt *receipt = &run->receipt;
    json_t *line = json_object();
    json_object_set_new(line, "error", json_string(jobs_code_category(code)));
    json_object_set_new(line, "message",
                        print_string(error->message[0] != '\0' ? error->message : jobs_code_sentence(code)));
    json_object_set_new(line, "retryable", json_boolean(error->retryable));
    if (receipt->event_id[0] != '\0') {
        json_object_set_new(line, "event_id", print_string(receipt->event_id));
        json_object_set_new(line, "stored", json_boolean(receipt->stored));
    }
    if (error->retry_after > 0)
        json_object_set_new(line, "retry_after", json_integer(error->retry_after));
    if (run->report.count > 0)
        json_object_set_new(line, "violations", print_violations(&run->report));
    if (receipt->relay_count > 0)
        json_object_set_new(line, "relays", print_relays(receipt));
    if (error->hint[0] != '\0')
        json_object_set_new(line, "hint", print_string(error->hint));
    if (receipt->warning_count > 0)
        json_object_set_new(line, "warnings", print_warning_list(receipt));
    if (run->counts != NULL)
        json_object_set(line, "counts", run->counts);
    /* Nobody is left to be told that stderr failed: the exit status says the rest. */
    int ignored = print_line_to(STDERR_FILENO, line);
    (void)ignored;
}

void print_counts(json_t *counts)
{
    int ignored = print_line_to(STDERR_FILENO, json_pack("{s:o}", "counts", counts));
    (void)ignored;
}

void print_failure(const struct run *run, int code)
{
    if (print_is_for_person(run, STDERR_FILENO))
        fail_for_person(run, code);
    else
        fail_for_program(run, code);
}

void print_warnings(const struct run *run)
{
    char line[1024];
    if (!print_is_for_person(run, STDERR_FILENO))
        return;
    for (size_t i = 0; i < run->receipt.warning_count; i++) {
        const char *text = run->receipt.warnings[i];
        dprintf(STDERR_FILENO, "%swarning:%s %s\n", print_colour(run, STDERR_FILENO, PRINT_YELLOW),
                print_colour(run, STDERR_FILENO, PRINT_PLAIN), escape_line(line, sizeof line, text, strlen(text)));
    }
}
