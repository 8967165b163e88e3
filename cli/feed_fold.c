/* feed_fold.c - see feed_fold.h. */
#include "feed_fold.h"

#include <stdlib.h>
#include <string.h>

int feed_by_time(const void *left, const void *right)
{
    const struct feed_line *a = left, *b = right;
    if (a->created_at != b->created_at)
        return a->created_at < b->created_at ? -1 : 1;
    return -strcmp(a->id, b->id);
}

static int by_subject(const struct feed_line *a, const struct feed_line *b)
{
    int order = strcmp(a->author, b->author);
    order = order != 0 ? order : strcmp(a->channel, b->channel);
    return order != 0 ? order : strcmp(a->job, b->job);
}

/* Equal payloads of one subject side by side, the newest last. */
static int by_payload(const void *left, const void *right)
{
    const struct feed_line *a = left, *b = right;
    int order = by_subject(a, b);
    order = order != 0 ? order : strcmp(a->digest, b->digest);
    return order != 0 ? order : feed_by_time(a, b);
}

static int by_superseded(const void *left, const void *right)
{
    const struct feed_line *const *a = left, *const *b = right;
    int order = by_subject(*a, *b);
    return order != 0 ? order : strcmp((*a)->supersedes, (*b)->supersedes);
}

struct superseding {
    const struct feed_line **lines; /* by subject and by what they supersede */
    size_t count;
};

/* One that supersedes this line, or NULL. */
static const struct feed_line *superseding(const struct superseding *all, const struct feed_line *line)
{
    struct feed_line wanted = *line;
    const struct feed_line *key = &wanted;
    memcpy(wanted.supersedes, line->id, sizeof wanted.supersedes);
    const struct feed_line **found = bsearch(&key, all->lines, all->count, sizeof *all->lines, by_superseded);
    return found != NULL ? *found : NULL;
}

/* Equal payloads: the newest that nobody took back stands for all, unless one of them was taken back after it. */
static void fold_equal(const struct superseding *all, struct feed_line *lines, size_t count)
{
    struct feed_line *shown = NULL;
    bool taken_back = false;
    for (size_t i = 0; i < count; i++) {
        lines[i].gone = true;
        if (superseding(all, &lines[i]) == NULL)
            shown = &lines[i];
    }
    for (size_t i = 0; shown != NULL && i < count; i++) {
        const struct feed_line *by = superseding(all, &lines[i]);
        taken_back |= by != NULL && by->created_at >= shown->created_at && strcmp(by->digest, shown->digest) != 0;
    }
    /* What supersedes something was said on purpose, and again. */
    if (shown != NULL && (!taken_back || shown->supersedes[0] != '\0'))
        shown->gone = false;
}

int feed_fold(struct feed_line *lines, size_t count)
{
    if (count == 0)
        return JOBS_OK;
    struct superseding all = {.lines = calloc(count, sizeof *all.lines)};
    if (all.lines == NULL)
        return JOBS_NO_MEMORY;
    qsort(lines, count, sizeof *lines, by_payload);
    for (size_t i = 0; i < count; i++)
        if (lines[i].supersedes[0] != '\0')
            all.lines[all.count++] = &lines[i];
    qsort(all.lines, all.count, sizeof *all.lines, by_superseded);
    for (size_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && lines[i].card && by_subject(&lines[i], &lines[end]) == 0 &&
               strcmp(lines[i].digest, lines[end].digest) == 0)
            end++;
        fold_equal(&all, lines + i, end - i);
    }
    free(all.lines);
    return JOBS_OK;
}
