/* main.c - finds the command, runs it, tells what went wrong, ends with the right status. */
#include "help.h"
#include "print.h"
#include "progress.h"
#include "signals.h"

#include <stdlib.h>
#include <unistd.h>

static int answer(struct run *run)
{
    if (run->options.asked == ASKED_VERSION)
        return print_text(run, "jobs " JOBS_VERSION "\n");
    if (run->options.asked == ASKED_RUN)
        return run->options.command->function(run);
    char *text = help_text(&run->options);
    int code = text != NULL ? print_text(run, text) : jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory");
    free(text);
    return code;
}

int main(int argc, char **argv)
{
    struct run run = {.json = options_want_json(argc, argv)};
    jobs_openssl_is_ours();
    print_settle_descriptors();
    signals_start(!print_is_for_person(&run, STDERR_FILENO));

    int code = options_parse(&run.options, argc, argv, &run.error);
    if (code == JOBS_OK)
        code = answer(&run);
    progress_erase();
    if (code == JOBS_OK)
        print_warnings(&run);
    else
        print_failure(&run, code);

    int status = jobs_code_exit(code);
    if (code != JOBS_OK && signals_stop != 0)
        status = 128 + (int)signals_stop;
    jobs_report_wipe(&run.report);
    jobs_receipt_wipe(&run.receipt);
    json_decref(run.counts);
    options_wipe(&run.options);
    return status;
}
