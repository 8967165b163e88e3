/* failing_memory.h - malloc and its kin as a test wants them: counted, and the N-th of them fails.
 *
 * For tests whose name ends in _memory: those are linked with --wrap, so that the calls of our own code come here (see
 * cmake/rooms.cmake).
 */
#ifndef JOBS_TEST_FAILING_MEMORY_H
#define JOBS_TEST_FAILING_MEMORY_H

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static struct {
    bool watched;
    size_t allocations; /* since watch_memory */
    size_t failing;     /* which of them fails, from 1; 0: none */
    long pieces;        /* held now */
    size_t bytes;
} memory;

static inline void watch_memory(size_t failing)
{
    memory.watched = true;
    memory.allocations = 0;
    memory.failing = failing;
}

/* Whether it came to the allocation that was to fail. */
static inline bool unwatch_memory(void)
{
    memory.watched = false;
    return memory.failing > 0 && memory.allocations >= memory.failing;
}

static inline bool fails_now(void)
{
    if (!memory.watched || ++memory.allocations != memory.failing)
        return false;
    errno = ENOMEM;
    return true;
}

static inline void *born(void *piece)
{
    memory.pieces += piece != NULL;
    memory.bytes += piece != NULL ? malloc_usable_size(piece) : 0;
    return piece;
}

static inline void gone(void *piece)
{
    memory.pieces -= piece != NULL;
    memory.bytes -= piece != NULL ? malloc_usable_size(piece) : 0;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : born(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : born(__real_calloc(count, size));
}

void *__wrap_realloc(void *piece, size_t size)
{
    if (fails_now())
        return NULL;
    size_t before = piece != NULL ? malloc_usable_size(piece) : 0;
    void *larger = __real_realloc(piece, size);
    if (larger == NULL)
        return NULL;
    memory.pieces -= piece != NULL;
    memory.bytes -= before;
    return born(larger);
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

void __wrap_free(void *piece)
{
    gone(piece);
    __real_free(piece);
}

#endif
