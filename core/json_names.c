/* json_names.c - names in order, and the repeated ones among them, by what they decode to.
 *
 * An input may name a million members: nothing here is slower than n log n. See json.h.
 */
#include "json.h"
#include "json_decode.h"

#include <string.h>

/* Orders two names by the characters they decode to. */
static int compare_names(const struct jobs__json *doc, uint32_t a, uint32_t b)
{
    const struct jobs__json_value *x = &doc->values[a], *y = &doc->values[b];
    size_t x_at = x->start + 1, x_end = x->end - 1, y_at = y->start + 1, y_end = y->end - 1;
    if (!x->escaped && !y->escaped) {
        size_t x_len = x_end - x_at, y_len = y_end - y_at;
        int order = memcmp(doc->text + x_at, doc->text + y_at, x_len < y_len ? x_len : y_len);
        return order != 0 ? order : (x_len > y_len) - (x_len < y_len);
    }
    while (x_at < x_end && y_at < y_end) {
        uint32_t c = jobs__json_next(doc->text, x_end, &x_at), d = jobs__json_next(doc->text, y_end, &y_at);
        if (c != d)
            return c < d ? -1 : 1;
    }
    return (x_at < x_end) - (y_at < y_end);
}

static bool same_name(const struct jobs__json *doc, uint32_t a, uint32_t b)
{
    const struct jobs__json_value *x = &doc->values[a], *y = &doc->values[b];
    if (!x->escaped && !y->escaped && x->end - x->start != y->end - y->start)
        return false;
    return compare_names(doc, a, b) == 0;
}

static int compare_indices(const struct jobs__json *doc, uint32_t a, uint32_t b)
{
    (void)doc;
    return (a > b) - (a < b);
}

/* Stable bottom-up merge sort; spare has room for n as well. No input makes it slower than n log n. */
static void sort(uint32_t *items, uint32_t *spare, size_t n, const struct jobs__json *doc,
                 int (*compare)(const struct jobs__json *, uint32_t, uint32_t))
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            size_t left = low, right = middle;
            for (size_t to = low; to < high; to++) {
                if (left < middle && (right >= high || compare(doc, items[left], items[right]) <= 0))
                    spare[to] = items[left++];
                else
                    spare[to] = items[right++];
            }
        }
        memcpy(items, spare, n * sizeof *items);
    }
}

void jobs__json_sort(const struct jobs__json *doc, uint32_t *strings, size_t n)
{
    sort(strings, strings + n, n, doc, compare_names);
}

size_t jobs__json_repeats(const struct jobs__json *doc, uint32_t *strings, size_t n)
{
    size_t found = 0;
    if (n <= JOBS__JSON_FEW) {
        uint32_t repeats[JOBS__JSON_FEW];
        for (size_t i = 1; i < n; i++) {
            size_t k = 0;
            while (k < i && !same_name(doc, strings[i], strings[k]))
                k++;
            if (k < i)
                repeats[found++] = strings[i];
        }
        memcpy(strings, repeats, found * sizeof *strings);
        return found;
    }
    uint32_t *spare = strings + n;
    sort(strings, spare, n, doc, compare_names);
    for (size_t i = 1; i < n; i++) {
        if (same_name(doc, strings[i - 1], strings[i]))
            spare[found++] = strings[i];
    }
    memcpy(strings, spare, found * sizeof *strings);
    sort(strings, spare, found, doc, compare_indices);
    return found;
}
