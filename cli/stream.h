/* stream.h - lines by the million: JSON put together by hand in one growing piece of memory, written in large pieces.
 */
#ifndef JOBS_CLI_STREAM_H
#define JOBS_CLI_STREAM_H

#include "run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream {
    char *bytes;
    size_t len, capacity;
    bool failed; /* out of memory: what was put since is lost, and stream_write says so */
};

void stream_put(struct stream *stream, const char *bytes, size_t len);
void stream_text(struct stream *stream, const char *text); /* as it stands */
void stream_number(struct stream *stream, uint64_t number);
/* A JSON string; what could change a terminal becomes \u00xx, invalid bytes are shown as \xff. */
void stream_string(struct stream *stream, const char *text);

/* Writes all of it to stdout and empties it, keeping the memory. As print_line. */
JOBS_MUST_USE int stream_write(struct stream *stream, struct run *run);
void stream_free(struct stream *stream);

/* The input of a command that reads events: the operand, stdin for none or "-". *size is that of a file, else -1. */
JOBS_MUST_USE int stream_open(int *descriptor, int64_t *size, struct run *run);
void stream_close(int descriptor);

#endif
