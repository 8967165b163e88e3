/* progress.h - one line that tells a waiting person what is going on, gone when it is over. */
#ifndef JOBS_CLI_PROGRESS_H
#define JOBS_CLI_PROGRESS_H

#include "run.h"

/* A callback of struct jobs_client_options; context is the run. Says nothing within the first second. */
void progress_show(void *context, const struct jobs_progress *progress);
/* Whether there is somebody to show it to, on a terminal that can take a line back. */
bool progress_is_wanted(const struct run *run);
/* A line of a command that knows its own progress. */
void progress_line(const struct run *run, const char *line);
/* Takes the line back, if there is one. */
void progress_erase(void);

#endif
