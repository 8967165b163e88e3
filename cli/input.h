/* input.h - a manifest or a text from a file or stdin, never more of it than asked for. */
#ifndef JOBS_CLI_INPUT_H
#define JOBS_CLI_INPUT_H

#include "run.h"

struct input {
    char *bytes; /* not NUL-terminated; NULL when len is 0 */
    size_t len;
    bool too_long; /* there is more than max: len is max + 1 */
    bool from_terminal;
};

/* Reads path, or stdin for "-". what is said to a person who is expected to type it ("the manifest"). Returns JOBS_OK
 * (also for an empty or too long one), JOBS_USAGE, JOBS_SYSTEM or JOBS_NO_MEMORY with run->error set. */
JOBS_MUST_USE int input_read(struct input *out, struct run *run, const char *path, const char *what, size_t max);
void input_free(struct input *input);

/* Says in run->error that the manifest is wrong in as many places as run->report lists, and what probably happened to
 * one that is none: empty, typed, fenced, UTF-16. Returns JOBS_INVALID. */
int input_blame_manifest(struct run *run, const struct input *input);

#endif
