/* rules.c - names of the rules. Checks nothing. */
#include "rules.h"

static const struct {
    const char *number, *sentence;
} rules[] = {
#define RULE(number, sentence) {#number, sentence},
#include "rules.def"
#undef RULE
};

const char *jobs__rule_number(enum jobs__rule rule)
{
    return rules[rule].number;
}

const char *jobs__rule_sentence(enum jobs__rule rule)
{
    return rules[rule].sentence;
}
