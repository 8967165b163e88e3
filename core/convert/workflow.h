/* workflow.h - what the two formats of agentic-workflow share. */
#ifndef JOBS_WORKFLOW_H
#define JOBS_WORKFLOW_H

#include "conversion.h"

extern const char *const jobs__workflow_intents[];
extern const struct jobs__shape jobs__workflow_blocker_shape;

/* Level schema, where 1.0 and 1e0 are as good an integer as 1: makes them so. */
void jobs__workflow_numbers(struct jobs__conversion *c);
/* "[kind/scope] id: detail", joined with "; ". */
void jobs__workflow_blockers(struct jobs__conversion *c);
/* Every reference of the list by its looks: link, commit, file, else a claim that was not run. */
void jobs__workflow_evidence(struct jobs__conversion *c, const json_t *list, const char *pointer);
/* A command without its slash. A path keeps its own, so that it is known for one. */
const char *jobs__workflow_command(const char *text);
/* next.intent without its slash, next.targets. */
void jobs__workflow_next(struct jobs__conversion *c, const char *intent, const json_t *targets);

#endif
