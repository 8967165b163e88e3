/* verify_lines.c - JSON Lines from a descriptor, in blocks of whole lines and in flat memory. Knows no JSON. */
#include <jobs/read.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE ((size_t)256 * 1024)
#define CHUNK      ((size_t)64 * 1024)
#define CUT        (JOBS_EVENT_LINE_MAX + 2) /* still too long when a \r is taken off */
#define LOOK_MS    50                        /* between looks at `stop` while nothing comes */

struct jobs_lines {
    int descriptor;
    const volatile sig_atomic_t *stop;
    char *rest; /* what was read behind the last whole line */
    size_t rest_len, rest_capacity;
    uint64_t line, bytes_read;
    bool ended;
};

int jobs_lines_new(struct jobs_lines **out, int descriptor, const volatile sig_atomic_t *stop)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return JOBS_NO_MEMORY;
    **out = (struct jobs_lines){.descriptor = descriptor, .stop = stop, .line = 1};
    return JOBS_OK;
}

void jobs_lines_free(struct jobs_lines *lines)
{
    if (lines == NULL)
        return;
    free(lines->rest);
    free(lines);
}

void jobs_lines_block_free(struct jobs_lines_block *block)
{
    free(block->bytes);
    memset(block, 0, sizeof *block);
}

static bool grow(char **bytes, size_t *capacity, size_t wanted)
{
    if (wanted <= *capacity)
        return true;
    size_t size = *capacity < BLOCK_SIZE ? BLOCK_SIZE + CHUNK : *capacity;
    while (size < wanted)
        size += BLOCK_SIZE;
    char *more = realloc(*bytes, size);
    if (more == NULL)
        return false;
    *bytes = more;
    *capacity = size;
    return true;
}

static bool is_stopped(const struct jobs_lines *lines)
{
    return lines->stop != NULL && *lines->stop != 0;
}

/* Whether a read would not wait; true also when it would fail, which it then tells. */
static bool is_ready(const struct jobs_lines *lines, int wait)
{
    struct pollfd one = {.fd = lines->descriptor, .events = POLLIN};
    int ready = poll(&one, 1, wait);
    return ready > 0 || (ready < 0 && errno != EINTR);
}

/* Up to size bytes; 0 is the end, or that we are to stop; -1 an error. */
static ssize_t read_some(struct jobs_lines *lines, char *to, size_t size)
{
    while (!is_stopped(lines)) {
        if (!is_ready(lines, LOOK_MS))
            continue;
        ssize_t got = read(lines->descriptor, to, size);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got > 0)
            lines->bytes_read += (uint64_t)got;
        lines->ended = got <= 0;
        return got;
    }
    return 0;
}

static int keep_rest(struct jobs_lines *lines, const char *bytes, size_t len)
{
    if (!grow(&lines->rest, &lines->rest_capacity, len))
        return JOBS_NO_MEMORY;
    if (len > 0)
        memcpy(lines->rest, bytes, len);
    lines->rest_len = len;
    return JOBS_OK;
}

/* The block holds the beginning of a line that is too long: cuts it, and drops what comes up to its end. */
static int drop_to_newline(struct jobs_lines *lines, struct jobs_lines_block *block)
{
    char *scratch = block->bytes + CUT;
    size_t size = block->capacity - CUT;
    for (;;) {
        ssize_t got = read_some(lines, scratch, size);
        if (got < 0)
            return JOBS_SYSTEM;
        char *newline = got > 0 ? memchr(scratch, '\n', (size_t)got) : NULL;
        if (got > 0 && newline == NULL)
            continue;
        if (newline != NULL && keep_rest(lines, newline + 1, (size_t)(scratch + got - newline - 1)) != JOBS_OK)
            return JOBS_NO_MEMORY;
        block->len = CUT;
        if (newline != NULL)
            block->bytes[block->len++] = '\n';
        return JOBS_OK;
    }
}

/* Fills the block and sets *end behind its last whole line. */
static int fill(struct jobs_lines *lines, struct jobs_lines_block *block, size_t *end)
{
    const char *newline = block->len > 0 ? memrchr(block->bytes, '\n', block->len) : NULL;
    *end = newline != NULL ? (size_t)(newline + 1 - block->bytes) : 0;
    while (*end == 0 || (block->len < BLOCK_SIZE && is_ready(lines, 0))) {
        if (!grow(&block->bytes, &block->capacity, block->len + CHUNK))
            return JOBS_NO_MEMORY;
        if (*end == 0 && block->len > CUT) {
            int code = drop_to_newline(lines, block);
            *end = block->len;
            return code;
        }
        ssize_t got = read_some(lines, block->bytes + block->len, CHUNK);
        if (got < 0)
            return JOBS_SYSTEM;
        if (got == 0) { /* a last line without its newline; what was cut off by `stop` is none */
            *end = lines->ended ? block->len : *end;
            return JOBS_OK;
        }
        newline = memrchr(block->bytes + block->len, '\n', (size_t)got);
        block->len += (size_t)got;
        if (newline != NULL)
            *end = (size_t)(newline + 1 - block->bytes);
    }
    return JOBS_OK;
}

static uint64_t count_lines(const struct jobs_lines_block *block)
{
    uint64_t count = 0;
    const char *line;
    size_t len;
    for (size_t at = 0; jobs_lines_next(block, &at, &line, &len);)
        count++;
    return count;
}

int jobs_lines_read(struct jobs_lines *lines, struct jobs_lines_block *block, struct jobs_error *error)
{
    size_t end = 0;
    int code = JOBS_OK;
    block->len = 0;
    if (!grow(&block->bytes, &block->capacity, lines->rest_len + CHUNK))
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    if (lines->rest_len > 0)
        memcpy(block->bytes, lines->rest, lines->rest_len);
    block->len = lines->rest_len;
    lines->rest_len = 0;
    if (!lines->ended)
        code = fill(lines, block, &end);
    else
        end = block->len;
    if (code == JOBS_OK && lines->rest_len == 0)
        code = keep_rest(lines, block->bytes + end, block->len - end);
    if (code == JOBS_SYSTEM)
        return jobs_error_set(error, code, "the input cannot be read: %s", strerror(errno));
    if (code != JOBS_OK)
        return jobs_error_set(error, code, "out of memory");
    block->len = end;
    block->first = lines->line;
    block->count = count_lines(block);
    block->bytes_read = lines->bytes_read;
    lines->line += block->count;
    return JOBS_OK;
}

bool jobs_lines_next(const struct jobs_lines_block *block, size_t *at, const char **line, size_t *len)
{
    if (*at >= block->len)
        return false;
    const char *start = block->bytes + *at;
    const char *newline = memchr(start, '\n', block->len - *at);
    size_t size = newline != NULL ? (size_t)(newline - start) : block->len - *at;
    *at += size + (newline != NULL);
    *line = start;
    *len = size > 0 && start[size - 1] == '\r' ? size - 1 : size;
    return true;
}
