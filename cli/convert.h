/* convert.h - another system's result in place of a manifest. */
#ifndef JOBS_CLI_CONVERT_H
#define JOBS_CLI_CONVERT_H

#include "input.h"

/* Puts the converted manifest in place of the input, by the run's options; from is the option that names the format.
 * job_later: the job and the requested outcome may come at publication. Returns JOBS_OK or a code with run->error and
 * run->report set; the manifest is never half converted. */
JOBS_MUST_USE int convert_input(struct run *run, struct input *input, enum option_id from, bool job_later);

#endif
