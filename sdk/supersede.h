/* supersede.h - what a handoff owes to the one it replaces. */
#ifndef JOBS_SUPERSEDE_H
#define JOBS_SUPERSEDE_H

#include <jobs/event.h>

#define JOBS__RULE_SUPERSEDE "S101"

/* Every finding of older (an event of kind 43004) must stand in newer's findings again, by its id: nothing is dropped
 * by being left out. JOBS_OK, JOBS_INVALID with a violation for each that is missing, JOBS_NO_MEMORY. An older one that
 * is no card owes nothing. */
int jobs__supersede_check(const struct jobs_handoff *newer, const struct jobs_event *older, struct jobs_report *report);

#endif
