/* input.c - bounded reading, and the usual accidents of what is read. Judges no content. */
#include "input.h"

#include "escape.h"
#include "print.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bad for this path, or bad for this machine? The first is the user's to mend. */
static int code_of(int reason)
{
    return reason == EIO || reason == ENOMEM || reason == EMFILE || reason == ENFILE ? JOBS_SYSTEM : JOBS_USAGE;
}

static int cannot(struct run *run, const char *path, int reason)
{
    char shown[256];
    const char *name = strcmp(path, "-") == 0 ? "standard input" : escape_line(shown, sizeof shown, path, strlen(path));
    return jobs_error_set(&run->error, code_of(reason), "cannot read %s: %s", name, strerror(reason));
}

/* Up to max + 1 bytes into input. */
static int read_some(struct input *input, struct run *run, const char *path, int descriptor, size_t max)
{
    size_t capacity = 0;
    while (input->len <= max) {
        if (input->len == capacity) {
            capacity = capacity == 0 ? 16384 : capacity * 2;
            if (capacity > max + 1)
                capacity = max + 1;
            char *more = realloc(input->bytes, capacity);
            if (more == NULL)
                return jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory");
            input->bytes = more;
        }
        ssize_t got = read(descriptor, input->bytes + input->len, capacity - input->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN) { /* made non-blocking by whom we share it with */
            struct pollfd one = {.fd = descriptor, .events = POLLIN};
            (void)poll(&one, 1, -1);
            continue;
        }
        if (got < 0)
            return cannot(run, path, errno);
        if (got == 0)
            return JOBS_OK;
        input->len += (size_t)got;
    }
    input->too_long = true;
    return JOBS_OK;
}

int input_read(struct input *out, struct run *run, const char *path, const char *what, size_t max)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct stat status;
    int code;
    memset(out, 0, sizeof *out);
    int descriptor = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return cannot(run, path, errno);
    if (fstat(descriptor, &status) != 0) {
        code = cannot(run, path, errno);
        goto out;
    }
    if (S_ISDIR(status.st_mode)) {
        code = cannot(run, path, EISDIR);
        goto out;
    }
    if (isatty(descriptor)) {
        char note[160];
        out->from_terminal = true;
        snprintf(note, sizeof note, "reading %s from this terminal: end it with Ctrl-D on a line of its own", what);
        print_note(run, note);
    }
    code = read_some(out, run, path, descriptor, max);
out:
    if (!is_stdin)
        close(descriptor);
    return code;
}

void input_free(struct input *input)
{
    free(input->bytes);
    memset(input, 0, sizeof *input);
}

static bool begins(const char *bytes, size_t len, const char *with, size_t with_len)
{
    return len >= with_len && memcmp(bytes, with, with_len) == 0;
}

static const char *manifest_hint(const struct input *input)
{
    const char *at = input->bytes;
    size_t len = input->len;
    if (begins(at, len, "\xFF\xFE", 2) || begins(at, len, "\xFE\xFF", 2) || begins(at, len, "{\0", 2) ||
        begins(at, len, "\0{", 2))
        return "this is UTF-16; save it as UTF-8 without a byte-order mark";
    if (begins(at, len, "\xEF\xBB\xBF", 3))
        return "save it as UTF-8 without a byte-order mark";
    while (len > 0 && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
        at++;
        len--;
    }
    if (len == 0)
        return input->from_terminal
                   ? "nothing was typed: give a file, or pipe the manifest in; `jobs template` prints one"
                   : "the input is empty: did the command before the pipe fail? `jobs template` prints "
                     "a manifest to start from";
    if (begins(at, len, "```", 3) || begins(at, len, "~~~", 3))
        return "take the Markdown fence off: the manifest is the JSON alone";
    if (input->from_terminal)
        return "the manifest was read from the terminal: a file or a pipe is easier; `jobs template` prints one";
    return NULL;
}

/* The two members that the command line can give instead: the contract's message cannot know the options' names. */
static const char *given_hint(const struct jobs_report *report)
{
    static const struct {
        const char *rule, *pointer, *hint;
    } hints[] = {
        {"H202", "/jobRequest", "--job ID gives the job request where the manifest leaves it out"},
        {"H214", "/jobRequest", "--job names another job request: take `jobRequest` out of the manifest, or mend it"},
        {"H202", "/requestedOutcome",
         "--requested-outcome TEXT gives it; `jobs handoff` --check-job takes it from the request"},
        {"H214", "/requestedOutcome",
         "--requested-outcome says something else: take it out of the manifest, or mend it"},
    };
    for (size_t h = 0; h < sizeof hints / sizeof *hints; h++) {
        for (size_t i = 0; i < report->count; i++) {
            const struct jobs_violation *violation = &report->violations[i];
            if (strcmp(violation->rule, hints[h].rule) == 0 && strcmp(violation->pointer, hints[h].pointer) == 0)
                return hints[h].hint;
        }
    }
    return NULL;
}

int input_blame_manifest(struct run *run, const struct input *input)
{
    size_t count = run->report.count;
    if (run->error.message[0] == '\0')
        jobs_error_set(&run->error, JOBS_INVALID, "the manifest breaks the contract in %zu place%s", count,
                       count == 1 ? "" : "s");
    const char *hint = manifest_hint(input);
    if (hint == NULL)
        hint = given_hint(&run->report);
    if (hint != NULL && run->error.hint[0] == '\0')
        snprintf(run->error.hint, sizeof run->error.hint, "%s", hint);
    return JOBS_INVALID;
}
