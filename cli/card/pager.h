/* pager.h - text for a person: on the terminal, through a pager when it is longer than the screen. */
#ifndef JOBS_CLI_PAGER_H
#define JOBS_CLI_PAGER_H

#include "../run.h"

/* Columns of the terminal on stdout, else $COLUMNS, else 80. */
size_t pager_columns(void);

/* To stdout. $PAGER is run by the shell; without one, `less -FRX` if it is there. JOBS_OK or JOBS_SYSTEM. */
JOBS_MUST_USE int pager_print(struct run *run, const char *text, size_t len);

#endif
