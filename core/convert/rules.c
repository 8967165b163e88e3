/* rules.c - the table of rules, and the one way to say that one is broken. */
#include "conversion.h"

#include "../text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *number, *sentence;
} rules[] = {
#define RULE(number, sentence) {number, sentence},
#include "rules.def"
#undef RULE
};

bool jobs__convert_rule(size_t i, const char **number, const char **sentence)
{
    if (i >= sizeof rules / sizeof rules[0])
        return false;
    *number = rules[i].number;
    *sentence = rules[i].sentence;
    return true;
}

/* The line of the nearest place above pointer that has one. */
static size_t line_of(const struct jobs__conversion *c, const char *pointer)
{
    char place[512];
    if (c->lines == NULL)
        return c->candidate.block == JOBS__BLOCK_JSON ? 0 : c->candidate.line;
    snprintf(place, sizeof place, "%s", pointer);
    for (;;) {
        const json_t *line = json_object_get(c->lines, place);
        if (line != NULL)
            return (size_t)json_integer_value(line);
        char *slash = strrchr(place, '/');
        if (slash == NULL)
            return c->candidate.line;
        *slash = '\0';
    }
}

void jobs__violate(struct jobs__conversion *c, const char *rule, const char *pointer, const char *format, ...)
{
    char message[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *sentence = "", *before = "", *behind = "";
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].number, rule) == 0) {
            rule = rules[i].number;
            sentence = rules[i].sentence;
        }
    if (message[0] == '\0')
        before = "must hold: ";
    else if (rule[1] == '1')
        sentence = ""; /* a rule of form: the message says all of it */
    else
        before = " (", behind = ")";
    /* the text forms have no pointers that their writer would know: the line goes into the words */
    size_t line = line_of(c, pointer);
    char where[32] = "";
    if (line > 0 && strncmp(message, "line ", 5) != 0)
        snprintf(where, sizeof where, "line %zu: ", line);
    if (jobs_report_add(c->report, rule, pointer, line, "%s%s%s%s%s", where, message, before, sentence, behind) !=
        JOBS_OK)
        c->failed = JOBS_NO_MEMORY;
}

void jobs__break(struct jobs__conversion *c, const char *rule, const char *pointer)
{
    jobs__violate(c, rule, pointer, "%s", "");
}

bool jobs__violated(const struct jobs__conversion *c)
{
    return c->failed != 0 || c->report->count > 0;
}
