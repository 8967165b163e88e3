/* buffer.h - the one growable byte buffer, with a mandatory maximum.
 *
 * Zero it ({ .max = N }) and append; the first failure (no memory, or more than max bytes) sticks in `failed` and later
 * appends do nothing, so a writer checks once at its end. `bytes` is always NUL-terminated when it is not NULL.
 */
#ifndef JOBS_BUFFER_H
#define JOBS_BUFFER_H

#include <jobs/error.h>

struct jobs__buffer {
    char *bytes;
    size_t len;
    size_t capacity;
    size_t max;
    int failed; /* 0, JOBS_NO_MEMORY, or JOBS_INVALID when max was reached */
};

void jobs__buffer_add(struct jobs__buffer *buffer, const void *bytes, size_t len);
void jobs__buffer_text(struct jobs__buffer *buffer, const char *text);
void jobs__buffer_char(struct jobs__buffer *buffer, char c);
void jobs__buffer_format(struct jobs__buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void jobs__buffer_clear(struct jobs__buffer *buffer); /* keeps the memory, forgets content and failure */
void jobs__buffer_free(struct jobs__buffer *buffer);  /* NULL-safe; leaves { .max = max } */
char *jobs__buffer_take(struct jobs__buffer *buffer); /* the caller frees it; NULL when failed or empty of memory */

#endif
