/* help.h - what `--help` prints, made from the tables. */
#ifndef JOBS_CLI_HELP_H
#define JOBS_CLI_HELP_H

#include "run.h"

/* The help of the program, of a group, or of a command, whichever run->options names. Malloced; NULL is out of memory.
 */
char *help_text(const struct options *options);

#endif
