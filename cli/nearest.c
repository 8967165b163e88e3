/* nearest.c - what a mistyped name was probably meant to be. */
#include "options.h"

#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap neighbours) between two short names. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    enum {
        LONGEST = 40
    };
    size_t rows[3][LONGEST + 1];
    if (a_len > LONGEST || b_len > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], two_before[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

const char *options_nearest(const char *typed, size_t typed_len, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = typed_len < 4 ? 2 : typed_len / 3 + 1; /* this far is no longer near */
    for (size_t i = 0; i < count; i++) {
        size_t name_len = strlen(names[i]);
        /* A beginning of a name is near, however much is missing. */
        bool begins = typed_len >= 2 && typed_len < name_len && strncmp(names[i], typed, typed_len) == 0;
        size_t d = begins ? 1 : distance(typed, typed_len, names[i], name_len);
        if (d < best_distance || (begins && best == NULL)) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
