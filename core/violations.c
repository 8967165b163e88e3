/* violations.c - collects broken rules and puts them in order. Decides nothing. */
#include "violations.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct jobs__found {
    const char *rule;
    char *pointer, *message;
    size_t offset;
    size_t order; /* of adding */
};

void jobs__violations_add(struct jobs__violations *list, const char *rule, const char *pointer, size_t offset,
                          const char *format, va_list arguments)
{
    if (list->no_memory)
        return;
    if (list->count == JOBS__VIOLATIONS_MAX) {
        list->unlisted++;
        return;
    }
    char message[512];
    vsnprintf(message, sizeof message, format, arguments);
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        struct jobs__found *found = realloc(list->found, capacity * sizeof *found);
        if (found == NULL) {
            list->no_memory = true;
            return;
        }
        list->found = found;
        list->capacity = capacity;
    }
    struct jobs__found *new = &list->found[list->count];
    *new = (struct jobs__found){
        .rule = rule, .pointer = strdup(pointer), .message = strdup(message), .offset = offset, .order = list->count};
    if (new->pointer == NULL || new->message == NULL) {
        free(new->pointer);
        free(new->message);
        list->no_memory = true;
        return;
    }
    list->count++;
}

static int compare(const void *a, const void *b)
{
    const struct jobs__found *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

int jobs__violations_report(struct jobs__violations *list, const char *text, size_t len, struct jobs_report *report)
{
    if (list->no_memory)
        return JOBS_NO_MEMORY;
    if (report == NULL || list->count == 0)
        return JOBS_OK;
    qsort(list->found, list->count, sizeof *list->found, compare);
    size_t line = 1, at = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct jobs__found *found = &list->found[i];
        for (; at < len && at < found->offset; at++)
            line += text[at] == '\n';
        int code = jobs_report_add(report, found->rule, found->pointer, found->offset == JOBS__NOWHERE ? 0 : line, "%s",
                                   found->message);
        if (code != JOBS_OK)
            return code;
    }
    if (list->unlisted > 0) {
        const struct jobs__found *last = &list->found[list->count - 1];
        return jobs_report_add(report, last->rule, "", 0, "%zu more broken rules are not listed", list->unlisted);
    }
    return JOBS_OK;
}

void jobs__violations_free(struct jobs__violations *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->found[i].pointer);
        free(list->found[i].message);
    }
    free(list->found);
    *list = (struct jobs__violations){0};
}
