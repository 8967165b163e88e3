/* verify.h - the half of a verifier that costs little. */
#ifndef JOBS_VERIFY_H
#define JOBS_VERIFY_H

#include <jobs/read.h>

/* jobs_verifier_check without signature and contract: what it calls valid is an event, and has the id it says. */
int jobs__verifier_check_id(struct jobs_verified *out, struct jobs_verifier *verifier, const char *json, size_t len);

#endif
