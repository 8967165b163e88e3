/* print.c - the two descriptors and what may be written to them. What the lines mean is in lines.c and failure.c. */
#include "print.h"

#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>

void print_settle_descriptors(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* The wrong way round on purpose: reading a closed stdin or writing to a closed stdout must still fail. */
        int filler = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
        (void)filler; /* the lowest free number is this one */
    }
}

bool print_is_for_person(const struct run *run, int descriptor)
{
    return !run->json && isatty(descriptor);
}

const char *print_colour(const struct run *run, int descriptor, enum print_colour colour)
{
    static const char *const sequences[PRINT_COLOUR_COUNT] = {"\033[0m",  "\033[1m",  "\033[2m",
                                                              "\033[31m", "\033[32m", "\033[33m"};
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if (!print_is_for_person(run, descriptor) || (no_color != NULL && no_color[0] != '\0') || term == NULL ||
        term[0] == '\0' || strcmp(term, "dumb") == 0)
        return "";
    return sequences[colour];
}

json_t *print_string(const char *text)
{
    json_t *string = json_string(text);
    if (string != NULL)
        return string;
    size_t len = strlen(text);
    size_t size = len * 10 + 1; /* the longest escape of a byte */
    char *escaped = malloc(size);
    if (escaped == NULL)
        return NULL;
    string = json_string(escape_line(escaped, size, text, len));
    free(escaped);
    return string;
}

/* A descriptor that another program made non-blocking is waited for. */
static bool wait_for(int descriptor, short what)
{
    struct pollfd one = {.fd = descriptor, .events = what};
    return poll(&one, 1, -1) >= 0 || errno == EINTR;
}

static int write_all(int descriptor, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t wrote = write(descriptor, bytes, len);
        if (wrote < 0) {
            if (errno == EINTR || (errno == EAGAIN && wait_for(descriptor, POLLOUT)))
                continue;
            return -1;
        }
        bytes += wrote;
        len -= (size_t)wrote;
    }
    return 0;
}

static int unwritten(struct run *run)
{
    return jobs_error_set(&run->error, JOBS_SYSTEM, "standard output cannot be written: %s", strerror(errno));
}

int print_bytes(struct run *run, const char *bytes, size_t len)
{
    return write_all(STDOUT_FILENO, bytes, len) == 0 ? JOBS_OK : unwritten(run);
}

int print_text(struct run *run, const char *text)
{
    return print_bytes(run, text, strlen(text));
}

/* Within JSON whatever is not ASCII stands in strings, so that a hazard may be written as an escape of the same value.
 */
static char *dump(json_t *line, size_t *len)
{
    char *plain = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;
    if (plain == NULL)
        return NULL;
    size_t plain_len = strlen(plain);
    char *safe = malloc(plain_len * 6 + 2);
    size_t used = 0;
    for (size_t at = 0; safe != NULL && at < plain_len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t took =
            utf8proc_iterate((const utf8proc_uint8_t *)plain + at, (utf8proc_ssize_t)(plain_len - at), &c);
        if (took <= 0)
            took = 1; /* jansson writes only valid UTF-8 */
        else if (escape_is_hazard(c)) {
            used += (size_t)sprintf(safe + used, "\\u%04x", (unsigned)c);
            at += (size_t)took;
            continue;
        }
        memcpy(safe + used, plain + at, (size_t)took);
        used += (size_t)took;
        at += (size_t)took;
    }
    free(plain);
    if (safe == NULL)
        return NULL;
    safe[used++] = '\n';
    *len = used;
    return safe;
}

int print_line_to(int descriptor, json_t *line)
{
    size_t len = 0;
    char *text = dump(line, &len);
    json_decref(line);
    if (text == NULL)
        return JOBS_NO_MEMORY;
    int code = write_all(descriptor, text, len) == 0 ? JOBS_OK : JOBS_SYSTEM;
    int reason = errno;
    free(text);
    errno = reason;
    return code;
}

int print_line(struct run *run, json_t *line)
{
    int code = print_line_to(STDOUT_FILENO, line);
    if (code == JOBS_NO_MEMORY)
        return jobs_error_set(&run->error, code, "out of memory");
    return code == JOBS_OK ? code : unwritten(run);
}

void print_note(const struct run *run, const char *text)
{
    if (print_is_for_person(run, STDERR_FILENO))
        dprintf(STDERR_FILENO, "%s\n", text);
}
