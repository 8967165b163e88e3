/* need.c - see need.h. */
#include "need.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("jobs-relay: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void *need(size_t size)
{
    void *memory = calloc(1, size ? size : 1);
    if (memory == NULL)
        give_up("out of memory (%zu bytes)", size);
    return memory;
}

void *need_more(void *memory, size_t count, size_t size)
{
    void *more = count > SIZE_MAX / size ? NULL : realloc(memory, count * size);
    if (more == NULL)
        give_up("out of memory (%zu times %zu bytes)", count, size);
    return more;
}

char *need_copy(const char *text, size_t len)
{
    char *copy = need(len + 1);
    if (len > 0)
        memcpy(copy, text, len);
    return copy;
}
