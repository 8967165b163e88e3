/* stream.c - see stream.h. */
#include "stream.h"

#include "escape.h"
#include "print.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utf8proc.h>

static bool make_room(struct stream *stream, size_t len)
{
    if (stream->len + len <= stream->capacity)
        return true;
    size_t capacity = stream->capacity == 0 ? 65536 : stream->capacity;
    while (capacity < stream->len + len)
        capacity *= 2;
    char *more = stream->failed ? NULL : realloc(stream->bytes, capacity);
    if (more == NULL) {
        stream->failed = true;
        return false;
    }
    stream->bytes = more;
    stream->capacity = capacity;
    return true;
}

void stream_put(struct stream *stream, const char *bytes, size_t len)
{
    if (!make_room(stream, len))
        return;
    memcpy(stream->bytes + stream->len, bytes, len);
    stream->len += len;
}

void stream_text(struct stream *stream, const char *text)
{
    stream_put(stream, text, strlen(text));
}

void stream_number(struct stream *stream, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    stream_put(stream, digits + at, sizeof digits - at);
}

/* The character at text as it stands in a JSON string; returns the bytes it took. */
static size_t put_character(struct stream *stream, const char *text, size_t len)
{
    char escape[16];
    utf8proc_int32_t c;
    utf8proc_ssize_t took = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, &c);
    if (took <= 0) {
        snprintf(escape, sizeof escape, "\\\\x%02x", (unsigned)(unsigned char)text[0]);
        stream_text(stream, escape);
        return 1;
    }
    if (c == '"' || c == '\\') {
        stream_put(stream, "\\", 1);
        stream_put(stream, text, 1);
    } else if (escape_is_hazard(c)) {
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
        stream_text(stream, escape);
    } else {
        stream_put(stream, text, (size_t)took);
    }
    return (size_t)took;
}

void stream_string(struct stream *stream, const char *text)
{
    size_t len = strlen(text);
    stream_put(stream, "\"", 1);
    for (size_t at = 0; at < len;) {
        size_t plain = at;
        while (plain < len && text[plain] >= ' ' && text[plain] <= '~' && text[plain] != '"' && text[plain] != '\\')
            plain++;
        stream_put(stream, text + at, plain - at);
        at = plain;
        if (at < len)
            at += put_character(stream, text + at, len - at);
    }
    stream_put(stream, "\"", 1);
}

int stream_write(struct stream *stream, struct run *run)
{
    if (stream->failed)
        return jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory");
    int code = stream->len > 0 ? print_bytes(run, stream->bytes, stream->len) : JOBS_OK;
    stream->len = 0;
    return code;
}

void stream_free(struct stream *stream)
{
    free(stream->bytes);
    memset(stream, 0, sizeof *stream);
}

int stream_open(int *descriptor, int64_t *size, struct run *run)
{
    const char *path = run->options.operand;
    bool is_stdin = path == NULL || strcmp(path, "-") == 0;
    struct stat status = {0};
    char shown[256];
    const char *name = is_stdin ? "standard input" : escape_line(shown, sizeof shown, path, strlen(path));
    *size = -1;
    *descriptor = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int reason = *descriptor < 0 || fstat(*descriptor, &status) != 0 ? errno : 0;
    if (reason == 0 && S_ISDIR(status.st_mode))
        reason = EISDIR;
    if (reason != 0) {
        stream_close(*descriptor);
        *descriptor = -1;
        return jobs_error_set(&run->error, JOBS_USAGE, "cannot read %s: %s", name, strerror(reason));
    }
    if (S_ISREG(status.st_mode))
        *size = status.st_size;
    if (isatty(*descriptor))
        print_note(run, "reading events from this terminal: end them with Ctrl-D on a line of its own");
    return JOBS_OK;
}

void stream_close(int descriptor)
{
    if (descriptor > STDERR_FILENO)
        close(descriptor);
}
