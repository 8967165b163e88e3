/* outbox_batch.c - several entries of one channel and the same relays go out together, on connections that are there
 * already: a batch (batch.h) with each relay, side by side.
 *
 * What a relay has in the end is written down and told. All the rest stays for a session, as if nothing had been tried,
 * save that it is known to have been sent.
 */
#include "outbox_flush.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES ((size_t)1 << 20)
#define WAIT_MS     500 /* after words of throttling that name no time */

static size_t event_len(const struct jobs__entry *entry)
{
    size_t len;
    (void)jobs_event_json(entry->event, &len);
    return len;
}

/* Nothing is known of it but that it waits. */
static bool is_plain(const struct jobs__outgoing *one)
{
    const struct jobs__entry *entry = one->entry;
    if (one->code || entry == NULL || entry->event == NULL)
        return false;
    for (size_t i = 0; i < entry->fact_count; i++) {
        const struct jobs__fact *fact = &entry->facts[i];
        if (fact->state == JOBS__RELAY_UNSEEN || fact->refused_for_time)
            return false;
    }
    return true;
}

bool jobs__batch_alike(const struct jobs__outgoing *a, const struct jobs__outgoing *b)
{
    if (!is_plain(a) || !is_plain(b) || a->relays.count != b->relays.count ||
        strcmp(a->entry->channel, b->entry->channel) != 0)
        return false;
    for (size_t i = 0; i < a->relays.count; i++) {
        if (strcmp(a->relays.urls[i], b->relays.urls[i]) != 0)
            return false;
    }
    return true;
}

bool jobs__batch_is_ready(const struct jobs__flush *flush)
{
    const struct jobs__outgoing *first = &flush->outgoing[0];
    for (size_t i = 0; i < first->relays.count; i++) {
        if (!jobs__kept_has(flush->kept, first->relays.urls[i]))
            return false;
    }
    return is_plain(first);
}

size_t jobs__batch_size(const struct jobs__flush *flush)
{
    const struct jobs__outgoing *them = flush->outgoing;
    size_t count = 1, bytes = event_len(them[0].entry);
    while (count < flush->loaded && count < JOBS__BATCH_MAX && jobs__batch_alike(&them[0], &them[count])) {
        bytes += event_len(them[count].entry);
        if (bytes > BATCH_BYTES)
            break;
        count++;
    }
    return count;
}

/* --- running --- */

struct run {
    struct jobs__flush *flush;
    struct jobs__outgoing *them;
    size_t count, relays;
    struct jobs__batch_item *items; /* relay after relay, as many as there are entries for each */
    struct jobs__batch **batches;
    struct jobs__line *lines;
    struct jobs_error error;
};

static int set_up(struct run *run)
{
    const struct jobs_client_options *options = run->flush->options;
    int64_t now = jobs__loop_now();
    uint64_t seed = jobs__seed((uint64_t)now);
    run->items = calloc(run->relays * run->count, sizeof *run->items);
    run->batches = calloc(run->relays, sizeof *run->batches);
    run->lines = calloc(run->relays, sizeof *run->lines);
    if (run->items == NULL || run->batches == NULL || run->lines == NULL)
        return JOBS_NO_MEMORY;
    for (size_t r = 0; r < run->relays; r++) {
        struct jobs__batch_item *items = &run->items[r * run->count];
        for (size_t i = 0; i < run->count; i++)
            items[i].event = run->them[i].entry->event;
        const struct jobs__batch_options batch = {.start = now,
                                                  .timeout = jobs__timeout_ms(options),
                                                  .read_back = !options->skip_read_back,
                                                  .seed = seed + r,
                                                  .items = items,
                                                  .count = run->count};
        if (jobs__batch_new(&run->batches[r], &batch))
            return JOBS_NO_MEMORY;
        run->lines[r] =
            (struct jobs__line){.engine = jobs__batch_engine(run->batches[r]), .url = run->them[0].relays.urls[r]};
    }
    return JOBS_OK;
}

/* One at a time: what arrives must not wait for long. */
static bool load_meanwhile(void *context, int64_t now)
{
    const struct run *run = context;
    (void)now;
    (void)jobs__flush_load(run->flush);
    return true;
}

static int carry(struct run *run)
{
    const struct jobs_client_options *options = run->flush->options;
    const struct jobs__loop_options loop = {.ca_file = options->ca_file,
                                            .kept = run->flush->kept,
                                            .eager = true,
                                            .stop = options->stop,
                                            .turn = load_meanwhile,
                                            .context = run,
                                            .progress = options->progress,
                                            .progress_context = options->progress_context};
    int64_t latest = jobs__outbox_now() + jobs__timeout_ms(options) / 1000;
    for (size_t i = 0; i < run->count; i++) {
        int code = jobs__folder_mark(&run->them[i].folder, latest, &run->error);
        if (code)
            return code;
    }
    return jobs__loop_run(run->lines, run->relays, &loop, &run->error);
}

/* --- what came of it --- */

static enum jobs_read_back read_back_of(const struct jobs__batch_item *item)
{
    return item->confirmed ? JOBS_CONFIRMED
           : item->absent  ? JOBS_ABSENT
           : item->unread  ? JOBS_READ_REFUSED
                           : JOBS_NOT_ASKED;
}

static void take_result(struct jobs__fact *fact, const struct jobs__batch_item *item, bool is_there)
{
    struct jobs__session_result result = {.verdict = is_there || item->absent ? JOBS_ACCEPTED : JOBS_UNCLEAR,
                                          .read_back = read_back_of(item),
                                          .said_stored = item->stored || item->duplicate,
                                          .absent_at_end = item->absent,
                                          .attempts = 1,
                                          .last_sent = item->sent_at};
    memcpy(result.message, item->message, sizeof result.message);
    jobs__fact_update(fact, &result, jobs__outbox_now(), jobs__loop_now());
}

static int tell(struct jobs_receipt *receipt, char *url, const struct jobs__batch_item *item)
{
    struct jobs_relay_result *result = &receipt->relays[receipt->relay_count++];
    *result = (struct jobs_relay_result){
        .url = url, .verdict = JOBS_ACCEPTED, .read_back = read_back_of(item), .attempts = 1};
    memcpy(result->message, item->message, sizeof result->message);
    if (receipt->relay_count == 1)
        memcpy(receipt->message, item->message, sizeof receipt->message);
    return jobs__receipt_warn_of_reading(receipt, result, "");
}

static int64_t not_before(const struct run *run, size_t r)
{
    int seconds;
    const char *words;
    if (!jobs__batch_throttled(run->batches[r], &seconds, &words))
        return 0;
    return jobs__loop_now() + (seconds > 0 ? (int64_t)seconds * 1000 : WAIT_MS);
}

/* Of one entry: facts, file and receipt; what is left to ask stays in its relays. */
static void settle(const struct run *run, size_t at)
{
    struct jobs__outgoing *one = &run->them[at];
    struct jobs__relays *relays = &one->relays;
    size_t left = 0;
    bool any = false, failed = false;
    one->before = calloc(relays->count, sizeof *one->before);
    if (one->before == NULL) {
        one->code = jobs_error_set(&one->error, JOBS_NO_MEMORY, "out of memory");
        return;
    }
    for (size_t r = 0; r < run->relays; r++) {
        const struct jobs__batch_item *item = &run->items[r * run->count + at];
        bool is_there = item->confirmed || item->unread || (item->stored && run->flush->options->skip_read_back);
        char *url = relays->urls[r];
        any = any || item->sent;
        if (item->sent)
            take_result(jobs__entry_fact(one->entry, url, false), item, is_there);
        if (is_there) {
            failed = tell(&one->receipt, url, item) || failed;
        } else {
            one->before[left] = (struct jobs__before){.sent = item->sent,
                                                      .stored = item->stored,
                                                      .absent = item->absent,
                                                      .duplicate = item->duplicate,
                                                      .not_before = not_before(run, r)};
            relays->urls[left++] = url;
        }
    }
    relays->count = left;
    jobs__entry_settle(one->entry);
    if (!any)
        jobs__folder_unmark(&one->folder);
    else if (jobs__folder_note(&one->folder, one->entry, NULL))
        failed = jobs__receipt_warn_of_facts(&one->receipt) || failed;
    if (failed)
        one->code = jobs_error_set(&one->error, JOBS_NO_MEMORY, "out of memory");
}

/* A relay that asked for more time than there is, is left alone. */
static int let_rest(struct jobs__flush *flush, const struct run *run)
{
    int code = JOBS_OK;
    for (size_t r = 0; !code && r < run->relays; r++) {
        struct jobs_relay_result result = {.url = run->them[0].relays.urls[r], .verdict = JOBS_UNCLEAR};
        const char *words;
        if (!jobs__batch_throttled(run->batches[r], &result.retry_after, &words) ||
            result.retry_after < jobs__timeout_ms(flush->options) / 1000)
            continue;
        memcpy(result.message, words, sizeof result.message);
        code = jobs__flush_let_rest(flush, &result);
    }
    return code;
}

void jobs__batch_send(struct jobs__flush *flush, size_t count)
{
    struct jobs__outgoing *them = flush->outgoing;
    struct run run = {.flush = flush, .them = them, .count = count, .relays = them[0].relays.count};
    bool ready = set_up(&run) == JOBS_OK;
    int code = ready ? carry(&run) : jobs_error_set(&run.error, JOBS_NO_MEMORY, "out of memory");
    if (!code && let_rest(flush, &run))
        code = jobs_error_set(&run.error, JOBS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count && ready; i++)
        settle(&run, i);
    for (size_t i = 0; i < count && code; i++) {
        if (them[i].relays.count == 0)
            continue;
        them[i].code = code;
        them[i].error = run.error;
    }
    for (size_t r = 0; r < run.relays && run.batches != NULL; r++)
        jobs__batch_free(run.batches[r]);
    free(run.items);
    free(run.batches);
    free(run.lines);
}
