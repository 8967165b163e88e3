/* replay_journal.h - what a replay decided, on disk: appended, synced before it counts, read again by the next run.
 *
 * A file of JSON Lines. Each run begins with a line that names its relays; behind it stands a line for each event that
 * was decided, in the order of the input. What stayed unknown is not there, so a later run may add it: runs are read
 * side by side, which needs memory for each run and none for an event. A torn last line is cut off.
 */
#ifndef JOBS_REPLAY_JOURNAL_H
#define JOBS_REPLAY_JOURNAL_H

#include "../core/buffer.h"

#include <jobs/replay.h>

struct jobs__journal;

/* What it remembers of a line. Texts live until the next question. */
struct jobs__memory {
    uint64_t line;
    const char *event_id; /* "" when there was none */
    const char *verdict, *message;
    bool sent;
};

/* Opens or makes it and begins a run. relays: the URLs, in order. JOBS_OK, JOBS_USAGE (not a journal, or one of other
 * relays), JOBS_BUSY (another replay has it), JOBS_SYSTEM or JOBS_NO_MEMORY. */
int jobs__journal_open(struct jobs__journal **out, const char *path, char *const *relays, size_t relay_count,
                       struct jobs_error *error);
void jobs__journal_close(struct jobs__journal *journal); /* NULL-safe */
/* It turned out to be of another input: as far as can be, it is left as it was before it was opened. NULL-safe. */
void jobs__journal_forget_run(struct jobs__journal *journal);

/* The last line it knew when it was opened; 0 when none. */
uint64_t jobs__journal_last(const struct jobs__journal *journal);
/* Whether there was a run before this one: what it sent last may be on the relay although nothing says so. */
bool jobs__journal_is_resumed(const struct jobs__journal *journal);
/* What it knew of a line when it was opened; lines are asked for in order, each once. JOBS_OK, JOBS_NOT_FOUND,
 * JOBS_SYSTEM, JOBS_NO_MEMORY. May be called by another thread than the rest. */
int jobs__journal_recall(struct jobs__memory *out, struct jobs__journal *journal, uint64_t line);

/* Appends in memory; nothing counts before a sync returned JOBS_OK. */
int jobs__journal_add(struct jobs__journal *journal, const struct jobs__memory *memory);
int jobs__journal_sync(struct jobs__journal *journal, struct jobs_error *error);

#endif
