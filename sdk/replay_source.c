/* replay_source.c - see replay_source.h. Knows no relay. */
#include "replay_source.h"

#include "verify.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an earlier run said of it; JOBS_NOT_FOUND when nothing. */
static int recall(struct jobs__source *source, struct jobs__slot *slot, const char *hex)
{
    struct jobs__memory memory;
    if (source->journal == NULL)
        return JOBS_NOT_FOUND;
    int code = jobs__journal_recall(&memory, source->journal, slot->line);
    if (code == JOBS_OK && strcmp(memory.event_id, hex) != 0)
        return jobs_error_set(&source->error, JOBS_USAGE,
                              "the journal is of another input: line %" PRIu64
                              " was a different event; give it another path",
                              slot->line);
    if (code == JOBS_OK) {
        slot->remembered = true;
        slot->was_sent = memory.sent;
        memcpy(slot->hex, hex, 65);
        code = jobs__slot_settle(slot, memory.verdict, memory.message);
    } else if (code == JOBS_NOT_FOUND) {
        slot->maybe_sent =
            slot->line <= jobs__journal_last(source->journal) + JOBS__RING && jobs__journal_is_resumed(source->journal);
    }
    if (code == JOBS_SYSTEM)
        jobs_error_set(&source->error, code, "the journal cannot be read");
    return code;
}

static int fill(struct jobs__source *source, struct jobs__slot *slot, const char *line, size_t len)
{
    struct jobs_verified verdict;
    int code = source->verify ? jobs_verifier_check(&verdict, source->verifier, line, len)
                              : jobs__verifier_check_id(&verdict, source->verifier, line, len);
    if (code == JOBS_OK)
        code = recall(source, slot, verdict.id);
    if (code != JOBS_NOT_FOUND)
        return code;
    if (verdict.event == JOBS_VERIFIED_VALID)
        return jobs__slot_event(slot, verdict.id, line, len);
    memcpy(slot->hex, verdict.id, 65);
    return jobs__slot_settle(slot, jobs_verified_name(verdict.event), verdict.reason);
}

/* All lines of the block; JOBS_NOT_FOUND when it is to stop. */
static int fill_block(struct jobs__source *source, const struct jobs_lines_block *block)
{
    const char *line;
    size_t len;
    uint64_t number = block->first;
    for (size_t at = 0; jobs_lines_next(block, &at, &line, &len); number++) {
        struct jobs__slot *slot = jobs__ring_claim(source->ring);
        if (slot == NULL)
            return JOBS_NOT_FOUND;
        slot->line = number;
        int code = fill(source, slot, line, len);
        if (code != JOBS_OK)
            return code;
        jobs__ring_fill(source->ring);
    }
    return JOBS_OK;
}

static void *run(void *context)
{
    struct jobs__source *source = context;
    struct jobs_lines *lines = NULL;
    struct jobs_lines_block block = {0};
    uint64_t last = 0;
    int code = jobs_lines_new(&lines, source->descriptor, &source->ring->stop);
    while (code == JOBS_OK) {
        code = jobs_lines_read(lines, &block, &source->error);
        if (code != JOBS_OK || block.count == 0)
            break;
        last = block.first + block.count - 1;
        code = fill_block(source, &block);
    }
    if (code == JOBS_OK && !source->ring->stop && source->journal != NULL && last < jobs__journal_last(source->journal))
        code = jobs_error_set(&source->error, JOBS_USAGE,
                              "the journal is of another input: that one had %" PRIu64
                              " lines or more; give it another path",
                              jobs__journal_last(source->journal));
    if (code == JOBS_NO_MEMORY)
        jobs_error_set(&source->error, code, "out of memory");
    source->code = code == JOBS_NOT_FOUND ? JOBS_OK : code;
    jobs_lines_block_free(&block);
    jobs_lines_free(lines);
    jobs__ring_end(source->ring);
    return NULL;
}

int jobs__source_start(struct jobs__source *source, struct jobs_error *error)
{
    sigset_t all, before;
    if (jobs_verifier_new(&source->verifier) != JOBS_OK)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the caller's */
    source->running = pthread_create(&source->thread, NULL, run, source) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return source->running ? JOBS_OK : jobs_error_set(error, JOBS_SYSTEM, "no thread can be started");
}

void jobs__source_stop(struct jobs__source *source)
{
    if (source->running) {
        pthread_mutex_lock(&source->ring->lock);
        source->ring->stop = 1;
        pthread_cond_signal(&source->ring->room);
        pthread_mutex_unlock(&source->ring->lock);
        pthread_join(source->thread, NULL);
    }
    source->running = false;
    jobs_verifier_free(source->verifier);
    source->verifier = NULL;
}
