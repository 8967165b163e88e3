/* buffer.c - see buffer.h. */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct jobs__buffer *buffer, size_t len)
{
    if (buffer->failed)
        return false;
    if (len > buffer->max || buffer->len > buffer->max - len) {
        buffer->failed = JOBS_INVALID;
        return false;
    }
    size_t need = buffer->len + len + 1;
    if (need <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity < 64 ? 64 : buffer->capacity;
    while (capacity < need)
        capacity *= 2;
    char *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL) {
        buffer->failed = JOBS_NO_MEMORY;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void jobs__buffer_add(struct jobs__buffer *buffer, const void *bytes, size_t len)
{
    if (!make_room(buffer, len))
        return;
    if (len > 0)
        memcpy(buffer->bytes + buffer->len, bytes, len);
    buffer->len += len;
    buffer->bytes[buffer->len] = '\0';
}

void jobs__buffer_text(struct jobs__buffer *buffer, const char *text)
{
    jobs__buffer_add(buffer, text, strlen(text));
}

void jobs__buffer_char(struct jobs__buffer *buffer, char c)
{
    jobs__buffer_add(buffer, &c, 1);
}

void jobs__buffer_format(struct jobs__buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (len < 0 || !make_room(buffer, (size_t)len))
        return;
    va_start(arguments, format);
    vsnprintf(buffer->bytes + buffer->len, (size_t)len + 1, format, arguments);
    va_end(arguments);
    buffer->len += (size_t)len;
}

void jobs__buffer_clear(struct jobs__buffer *buffer)
{
    buffer->len = 0;
    buffer->failed = 0;
    if (buffer->bytes != NULL)
        buffer->bytes[0] = '\0';
}

void jobs__buffer_free(struct jobs__buffer *buffer)
{
    if (buffer == NULL)
        return;
    free(buffer->bytes);
    *buffer = (struct jobs__buffer){.max = buffer->max};
}

char *jobs__buffer_take(struct jobs__buffer *buffer)
{
    char *bytes = buffer->failed ? NULL : buffer->bytes;
    if (bytes == NULL)
        free(buffer->bytes);
    *buffer = (struct jobs__buffer){.max = buffer->max};
    return bytes;
}
