/* verify_threads.c - blocks of lines to as many threads as asked for, their verdicts out in the order of the input.
 *
 * The calling thread reads. A ring of slots holds the blocks; a thread that has finished one prints all that is next in
 * line, so that nothing waits for more input. With one thread nothing of this is used.
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
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    struct slot *slots;
    size_t slot_count;
    size_t printed, taken, read; /* so many of the blocks; slot i % slot_count holds block i */
    bool printing, ended;
    int code;
};

static bool is_stopped(void)
{
    return signals_stop != 0;
}

static int out_of_memory(struct run *run)
{
    return jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory");
}

/* --- one thread --- */

static int run_alone(struct verify_work *work, struct jobs_lines *lines)
{
    struct jobs_verifier *verifier = NULL;
    struct jobs_lines_block block = {0};
    struct stream out = {0};
    int code = jobs_verifier_new(&verifier) == JOBS_OK ? JOBS_OK : out_of_memory(work->run);
    while (code == JOBS_OK && !is_stopped()) {
        code = jobs_lines_read(lines, &block, &work->run->error);
        if (code != JOBS_OK || block.count == 0)
            break;
        if (verify_block(&out, &work->counts, verifier, &block, work->root) != JOBS_OK)
            code = out_of_memory(work->run);
        if (code == JOBS_OK)
            code = stream_write(&out, work->run);
        if (work->tick != NULL)
            work->tick(work, &work->counts);
    }
    stream_free(&out);
    jobs_lines_block_free(&block);
    jobs_verifier_free(verifier);
    return code;
}

/* --- many --- */

static void fail(struct pool *pool, int code)
{
    if (pool->code == JOBS_OK)
        pool->code = code;
    pthread_cond_broadcast(&pool->filled);
    pthread_cond_broadcast(&pool->emptied);
}

/* Called with the lock, which is given up while writing. */
static void print_what_is_next(struct pool *pool)
{
    if (pool->printing)
        return;
    pool->printing = true;
    while (pool->code == JOBS_OK && pool->printed < pool->taken && pool->slots[pool->printed % pool->slot_count].done) {
        struct slot *slot = &pool->slots[pool->printed % pool->slot_count];
        pthread_mutex_unlock(&pool->lock);
        int code = stream_write(&slot->out, pool->work->run);
        pthread_mutex_lock(&pool->lock);
        slot->done = false;
        if (code != JOBS_OK) {
            fail(pool, code);
            break;
        }
        verify_counts_add(&pool->work->counts, &slot->counts);
        pool->printed++;
        pthread_cond_signal(&pool->emptied);
    }
    pool->printing = false;
}

static void *verify_on(void *context)
{
    struct pool *pool = context;
    struct jobs_verifier *verifier = NULL;
    int code = jobs_verifier_new(&verifier);
    pthread_mutex_lock(&pool->lock);
    if (code != JOBS_OK)
        fail(pool, out_of_memory(pool->work->run));
    for (;;) {
        while (pool->code == JOBS_OK && pool->taken == pool->read && !pool->ended)
            pthread_cond_wait(&pool->filled, &pool->lock);
        if (pool->code != JOBS_OK || pool->taken == pool->read)
            break;
        struct slot *slot = &pool->slots[pool->taken++ % pool->slot_count];
        pthread_mutex_unlock(&pool->lock);
        slot->counts = (struct verify_counts){0};
        code = verify_block(&slot->out, &slot->counts, verifier, &slot->block, pool->work->root);
        pthread_mutex_lock(&pool->lock);
        slot->done = true;
        if (code != JOBS_OK)
            fail(pool, out_of_memory(pool->work->run));
        print_what_is_next(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    jobs_verifier_free(verifier);
    return NULL;
}

static void read_all(struct pool *pool, struct jobs_lines *lines)
{
    struct verify_work *work = pool->work;
    pthread_mutex_lock(&pool->lock);
    while (pool->code == JOBS_OK && !is_stopped()) {
        while (pool->code == JOBS_OK && pool->read - pool->printed == pool->slot_count)
            pthread_cond_wait(&pool->emptied, &pool->lock);
        if (pool->code != JOBS_OK)
            break;
        struct slot *slot = &pool->slots[pool->read % pool->slot_count];
        struct verify_counts so_far = work->counts;
        struct jobs_error error = {0};
        pthread_mutex_unlock(&pool->lock);
        if (work->tick != NULL)
            work->tick(work, &so_far);
        int code = jobs_lines_read(lines, &slot->block, &error);
        pthread_mutex_lock(&pool->lock);
        if (code != JOBS_OK && pool->code == JOBS_OK)
            work->run->error = error;
        if (code != JOBS_OK)
            fail(pool, code);
        if (code != JOBS_OK || slot->block.count == 0)
            break;
        pool->read++;
        pthread_cond_signal(&pool->filled);
    }
    pool->ended = true;
    pthread_cond_broadcast(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
}

static int run_pool(struct verify_work *work, struct jobs_lines *lines)
{
    struct pool pool = {.work = work, .slot_count = work->threads * 2 + 1};
    pthread_t *threads = calloc(work->threads, sizeof *threads);
    size_t started = 0;
    sigset_t all, before;
    pool.slots = calloc(pool.slot_count, sizeof *pool.slots);
    if (threads == NULL || pool.slots == NULL) {
        free(threads);
        free(pool.slots);
        return out_of_memory(work->run);
    }
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.filled, NULL);
    pthread_cond_init(&pool.emptied, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are for the thread that reads */
    while (started < work->threads && pthread_create(&threads[started], NULL, verify_on, &pool) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started > 0)
        read_all(&pool, lines);
    else
        pool.code = jobs_error_set(&work->run->error, JOBS_SYSTEM, "no thread can be started");
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < pool.slot_count; i++) {
        jobs_lines_block_free(&pool.slots[i].block);
        stream_free(&pool.slots[i].out);
    }
    pthread_cond_destroy(&pool.emptied);
    pthread_cond_destroy(&pool.filled);
    pthread_mutex_destroy(&pool.lock);
    free(pool.slots);
    free(threads);
    return pool.code;
}

int verify_run(struct verify_work *work)
{
    struct jobs_lines *lines = NULL;
    if (jobs_lines_new(&lines, work->descriptor, &signals_stop) != JOBS_OK)
        return out_of_memory(work->run);
    int code = work->threads > 1 ? run_pool(work, lines) : run_alone(work, lines);
    jobs_lines_free(lines);
    return code;
}
