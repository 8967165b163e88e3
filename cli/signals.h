/* signals.h - Ctrl-C and TERM: at once while nothing is at stake, with the verdict so far while something is. */
#ifndef JOBS_CLI_SIGNALS_H
#define JOBS_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* The signal that asked for the end, 0 when none did. */
extern volatile sig_atomic_t signals_stop;

/* Ignores SIGPIPE and SIGXFSZ, so that the write fails instead; from now on INT and TERM end the process with 128 +
 * signal and one line on stderr. */
void signals_start(bool json_line);

/* From now on the first of them only sets signals_stop; a second one ends at once. For the time in which something is
 * written or sent. */
void signals_hold(void);

#endif
