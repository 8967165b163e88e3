/* verify_threads.c - blocks of lines to as many threads as asked for, their verdicts out in the order of the input.
 *
 * All threads do the same: read the next block, check it, and print all that is next in line; so nothing waits for more
 * input, and nobody for a thread that only reads. A ring of slots holds what is checked or waits for its turn.
 */
#include "verify.h"

#include "signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct slot {
    struct jobs_lines_block block;
    struct stream out;
    struct verify_counts counts;
    bool done;
};

struct pool {
    struct verify_work *work;
    struct jobs_lines *lines;
    pthread_mutex_t reading; /* held by who reads, or waits for a slot to read into; taken before the lock */
    pthread_mutex_t lock;
    pthread_cond_t emptied;
    struct slot *slots;
    size_t slot_count;
    size_t read, printed; /* so many of the blocks; slot i % slot_count holds block i */
    bool printing, ended;
    int code;
};

static int out_of_memory(struct run *run)
{
    return jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory");
}

/* Called with the lock. The first failure counts, and its error with it. */
static void fail(struct pool *pool, int code, const struct jobs_error *error)
{
    if (pool->code == JOBS_OK) {
        pool->code = code;
        if (error != NULL)
            pool->work->run->error = *error;
        else
            (void)out_of_memory(pool->work->run);
    }
    pthread_cond_broadcast(&pool->emptied);
}

/* Called with the lock, which is given up while writing. */
static void print_what_is_next(struct pool *pool)
{
    if (pool->printing)
        return;
    pool->printing = true;
    while (pool->code == JOBS_OK && pool->printed < pool->read && pool->slots[pool->printed % pool->slot_count].done) {
        struct slot *slot = &pool->slots[pool->printed % pool->slot_count];
        pthread_mutex_unlock(&pool->lock);
        int code = stream_write(&slot->out, pool->work->run);
        pthread_mutex_lock(&pool->lock);
        slot->done = false;
        if (code != JOBS_OK) {
            struct jobs_error error = pool->work->run->error;
            fail(pool, code, &error);
            break;
        }
        verify_counts_add(&pool->work->counts, &slot->counts);
        pool->printed++;
        pthread_cond_signal(&pool->emptied);
    }
    pool->printing = false;
}

/* The next block, in its slot; NULL when there is none, or all is to end. */
static struct slot *read_next(struct pool *pool)
{
    struct verify_work *work = pool->work;
    struct slot *slot = NULL;
    struct jobs_error error = {0};
    pthread_mutex_lock(&pool->reading);
    pthread_mutex_lock(&pool->lock);
    while (pool->code == JOBS_OK && pool->read - pool->printed == pool->slot_count)
        pthread_cond_wait(&pool->emptied, &pool->lock);
    bool over = pool->ended || pool->code != JOBS_OK || signals_stop != 0;
    struct verify_counts so_far = work->counts;
    pthread_mutex_unlock(&pool->lock);
    if (!over) {
        slot = &pool->slots[pool->read % pool->slot_count]; /* `read` changes only here */
        if (work->tick != NULL)
            work->tick(work, &so_far);
        int code = jobs_lines_read(pool->lines, &slot->block, &error);
        pthread_mutex_lock(&pool->lock);
        if (code != JOBS_OK)
            fail(pool, code, &error);
        if (code != JOBS_OK || slot->block.count == 0) {
            pool->ended = true;
            slot = NULL;
        } else {
            pool->read++;
        }
        pthread_mutex_unlock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->reading);
    return slot;
}

static void *verify_on(void *context)
{
    struct pool *pool = context;
    struct jobs_verifier *verifier = NULL;
    struct slot *slot;
    int code = jobs_verifier_new(&verifier);
    while (code == JOBS_OK && (slot = read_next(pool)) != NULL) {
        slot->counts = (struct verify_counts){0};
        code = verify_block(&slot->out, &slot->counts, verifier, &slot->block, pool->work->root);
        pthread_mutex_lock(&pool->lock);
        slot->done = code == JOBS_OK;
        print_what_is_next(pool);
        pthread_mutex_unlock(&pool->lock);
    }
    if (code != JOBS_OK) {
        pthread_mutex_lock(&pool->lock);
        fail(pool, code, NULL);
        pthread_mutex_unlock(&pool->lock);
    }
    jobs_verifier_free(verifier);
    return NULL;
}

/* Threads beside the calling one; when no more can be had, there are fewer. Signals are for the calling one. */
static size_t start(pthread_t *threads, size_t count, struct pool *pool)
{
    size_t started = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (started < count && pthread_create(&threads[started], NULL, verify_on, pool) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int verify_run(struct verify_work *work)
{
    struct pool pool = {.work = work, .slot_count = work->threads * 4 - 3};
    pthread_t *threads = calloc(work->threads, sizeof *threads);
    pool.slots = calloc(pool.slot_count, sizeof *pool.slots);
    if (threads == NULL || pool.slots == NULL ||
        jobs_lines_new(&pool.lines, work->descriptor, &signals_stop) != JOBS_OK) {
        free(threads);
        free(pool.slots);
        return out_of_memory(work->run);
    }
    pthread_mutex_init(&pool.reading, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.emptied, NULL);
    size_t started = start(threads, work->threads - 1, &pool);
    verify_on(&pool);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < pool.slot_count; i++) {
        jobs_lines_block_free(&pool.slots[i].block);
        stream_free(&pool.slots[i].out);
    }
    pthread_cond_destroy(&pool.emptied);
    pthread_mutex_destroy(&pool.lock);
    pthread_mutex_destroy(&pool.reading);
    jobs_lines_free(pool.lines);
    free(pool.slots);
    free(threads);
    return pool.code;
}
