/* handoff.c - `jobs handoff`: one order to the publisher, one receipt to the user. */
#include "client.h"
#include "convert.h"
#include "input.h"
#include "print.h"
#include "signals.h"

#include <stdio.h>
#include <string.h>

/* It would go on with what was sent before, of which only the facts are left. */
static int say_pruned(struct jobs_error *error)
{
    jobs_error_set(error, JOBS_USAGE,
                   "nothing would be signed: this handoff was sent before, and its bytes were removed since (prune)");
    snprintf(error->hint, sizeof error->hint, "with --new it would be signed and sent as another event");
    return JOBS_USAGE;
}

/* What says how to convert says nothing where nothing is converted: somebody believes that it does. */
static int check_options(struct run *run)
{
    static const enum option_id of_from[] = {OPT_INDEX, OPT_EVIDENCE_ROOT, OPT_KEEP_ORIGINAL};
    for (size_t i = 0; i < sizeof of_from / sizeof *of_from && !options_has(&run->options, OPT_FROM_FORMAT); i++)
        if (options_has(&run->options, of_from[i]))
            return jobs_error_set(&run->error, JOBS_USAGE, "--%s goes with --from", option_table[of_from[i]].name);
    return JOBS_OK;
}

int command_handoff(struct run *run)
{
    const struct options *given = &run->options;
    struct client client = {0};
    struct input manifest = {0};
    struct jobs_event *event = NULL;
    bool dry_run = options_has(given, OPT_DRY_RUN);
    const char *notify = options_text(given, OPT_NOTIFY_WHOM);
    bool notify_requester = notify != NULL && strcmp(notify, "requester") == 0;

    int code = check_options(run);
    if (code == JOBS_OK)
        code = client_open(&client, run, OPT_RELAY, dry_run ? CLIENT_KEY_IF_THERE : CLIENT_KEY_NEEDED);
    if (code == JOBS_OK)
        code = input_read(&manifest, run, options_text(given, OPT_MANIFEST), "the manifest", JOBS_INPUT_MAX);
    if (code == JOBS_OK && options_text(given, OPT_FROM_FORMAT) != NULL)
        code = convert_input(run, &manifest, OPT_FROM_FORMAT, true);
    if (code != JOBS_OK)
        goto out;

    struct jobs_handoff_order order = {
        .manifest = manifest.bytes,
        .manifest_len = manifest.len,
        .given = {.job_request = options_text(given, OPT_JOB),
                  .requested_outcome = options_text(given, OPT_REQUESTED_OUTCOME)},
        .channel = options_text(given, OPT_KNOWN_CHANNEL),
        .check_job = options_has(given, OPT_CHECK_JOB),
        .notify_requester = notify_requester,
        .notify = notify_requester ? NULL : notify,
        .supersede = options_has(given, OPT_SUPERSEDE),
        .again = options_has(given, OPT_NEW),
        .dry_run = dry_run,
    };
    order.allowed_secrets = options_texts(given, OPT_ALLOW_SECRET, &order.allowed_secret_count);
    signals_hold();
    code = jobs_publish_handoff(&run->receipt, &event, &order, &client.options, &run->report, &run->error);
    if (code == JOBS_OK && dry_run)
        code = event != NULL ? print_line(run, print_event(event)) : say_pruned(&run->error);
    else if (code == JOBS_OK)
        code = print_line(run, print_receipt(&run->receipt, true));
    else if (code == JOBS_INVALID)
        code = input_blame_manifest(run, &manifest);
out:
    jobs_event_free(event);
    input_free(&manifest);
    client_free(&client);
    return code;
}
