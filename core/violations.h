/* violations.h - broken rules as they are found, to become a jobs_report in document order. */
#ifndef JOBS_VIOLATIONS_H
#define JOBS_VIOLATIONS_H

#include <jobs/error.h>

#include <stdarg.h>

#define JOBS__VIOLATIONS_MAX ((size_t)10000) /* more are counted, not listed */
#define JOBS__NOWHERE        SIZE_MAX        /* the offset of what does not stand in the input; comes last */

struct jobs__found;

/* Starts zeroed; _free leaves it so. */
struct jobs__violations {
    struct jobs__found *found;
    size_t count;
    size_t capacity;
    size_t unlisted;
    bool no_memory;
};

void jobs__violations_add(struct jobs__violations *list, const char *rule, const char *pointer, size_t offset,
                          const char *format, va_list arguments) __attribute__((format(printf, 5, 0)));

/* Moves all to the report, ordered by their place in the text (by the order of adding where that is the same). Returns
 * JOBS_OK or JOBS_NO_MEMORY. report may be NULL. */
int jobs__violations_report(struct jobs__violations *list, const char *text, size_t len, struct jobs_report *report);

void jobs__violations_free(struct jobs__violations *list);

#endif
