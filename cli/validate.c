/* validate.c - `jobs validate`: everything that would keep `jobs handoff` from signing. No network, and no key needed.
 */
#include "client.h"
#include "input.h"
#include "print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The secrets guard knows our own key when there is one. A key that is none is not what was asked about. */
static int check_secrets(struct run *run, const struct jobs_handoff *handoff, const struct jobs_key *key)
{
    size_t count;
    const char *const *allowed = options_texts(&run->options, OPT_ALLOW_SECRET, &count);
    struct jobs_secret_options options = {.key = key, .allowed = allowed, .allowed_count = count};
    return jobs_secrets_check_handoff(handoff, &options, &run->report);
}

static int tell_valid(struct run *run, size_t bytes)
{
    char line[128];
    if (!print_is_for_person(run, STDOUT_FILENO))
        return print_line(run, json_pack("{s:b, s:I}", "valid", 1, "bytes", (json_int_t)bytes));
    snprintf(line, sizeof line, "%svalid%s, %zu of %zu bytes\n", print_colour(run, STDOUT_FILENO, PRINT_GREEN),
             print_colour(run, STDOUT_FILENO, PRINT_PLAIN), bytes, JOBS_CONTENT_MAX);
    return print_text(run, line);
}

/* The violations are on stdout; the failure on stderr only counts them. */
static int tell_invalid(struct run *run, const struct input *input)
{
    int code = JOBS_OK;
    if (print_is_for_person(run, STDOUT_FILENO))
        print_violations_for_person(run, STDOUT_FILENO, &run->report);
    else
        code = print_line(run, json_pack("{s:b, s:o}", "valid", 0, "violations", print_violations(&run->report)));
    if (code == JOBS_OK)
        code = input_blame_manifest(run, input);
    jobs_report_wipe(&run->report);
    return code;
}

int command_validate(struct run *run)
{
    struct input input = {0};
    struct jobs_handoff *handoff = NULL;
    struct jobs_key *key = NULL;
    struct jobs_given given = {
        .job_request = options_text(&run->options, OPT_JOB),
        .requested_outcome = options_text(&run->options, OPT_REQUESTED_OUTCOME),
    };

    int code = client_read_key(&key, run, CLIENT_KEY_IF_THERE);
    if (code != JOBS_OK)
        memset(&run->error, 0, sizeof run->error);
    code = input_read(&input, run, run->options.operand, "the manifest", JOBS_INPUT_MAX);
    if (code != JOBS_OK)
        goto out;
    code = jobs_handoff_parse(&handoff, input.bytes, input.len, &given, &run->report);
    if (code == JOBS_OK)
        code = check_secrets(run, handoff, key);
    if (code == JOBS_OK) {
        size_t bytes;
        (void)jobs_handoff_canonical(handoff, &bytes);
        code = tell_valid(run, bytes);
    } else if (code == JOBS_INVALID) {
        code = tell_invalid(run, &input);
    }
out:
    jobs_handoff_free(handoff);
    input_free(&input);
    jobs_key_free(key);
    return code;
}
