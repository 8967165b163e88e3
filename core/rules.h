/* rules.h - the rules of the contract by number. */
#ifndef JOBS_RULES_H
#define JOBS_RULES_H

enum jobs__rule {
#define RULE(number, sentence) JOBS__##number,
#include "rules.def"
#undef RULE
    JOBS__RULE_COUNT
};

/* Static: "H101" and its sentence. */
const char *jobs__rule_number(enum jobs__rule rule);
const char *jobs__rule_sentence(enum jobs__rule rule);

#endif
