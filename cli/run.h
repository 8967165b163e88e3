/* run.h - one run of one command: what it was asked, and what went wrong, told once at the end by main. */
#ifndef JOBS_CLI_RUN_H
#define JOBS_CLI_RUN_H

#include "options.h"

#include <jobs/publish.h>

struct json_t;

struct run {
    struct options options;
    bool json; /* --json: no sentences, also on a terminal */
    /* A command that fails leaves the reason here; main prints it and frees. */
    struct jobs_error error;
    struct jobs_receipt receipt;
    struct jobs_report report;
    struct json_t *counts; /* of a command that counts: goes into the failure's line */
};

#endif
