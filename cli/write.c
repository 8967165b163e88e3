/* write.c - seal, publish, print: what `request` and `channel` have in common. */
#include "write.h"

#include "print.h"
#include "signals.h"

#include <stdio.h>
#include <time.h>

/* The same words by the same key within one second are the same event: whoever asks twice would get one job. A relay
 * that had it before our only send tells. */
static bool is_twin(const struct jobs_receipt *receipt)
{
    for (size_t i = 0; i < receipt->relay_count; i++)
        if (receipt->relays[i].verdict != JOBS_DUPLICATE || receipt->relays[i].attempts > 1)
            return false;
    return receipt->relay_count > 0;
}

static void wait_for_next_second(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct timespec rest = {.tv_nsec = 1000000000L - now.tv_nsec - 1};
    nanosleep(&rest, NULL);
}

static int publish(struct run *run, const struct client *client, const struct write_order *order)
{
    struct jobs_event *event = NULL;
    int code = jobs_event_new(&event, order->kind, (int64_t)time(NULL), order->tags, order->tag_count, order->content,
                              order->content_len, &run->error);
    if (code == JOBS_OK)
        code = jobs_event_seal(event, client->key, &run->error);
    if (code == JOBS_OK) {
        signals_hold();
        code = jobs_publish_event(&run->receipt, event, &client->options, &run->error);
    }
    jobs_event_free(event);
    return code;
}

/* Nothing of this lies in the outbox: once a relay has it, the same command again signs another event beside it. */
static bool may_be_out(const struct jobs_receipt *receipt)
{
    for (size_t i = 0; i < receipt->relay_count; i++) {
        enum jobs_verdict verdict = receipt->relays[i].verdict;
        if (verdict == JOBS_ACCEPTED || verdict == JOBS_DUPLICATE || verdict == JOBS_UNCLEAR)
            return true;
    }
    return false;
}

int write_event(struct run *run, const struct client *client, const struct write_order *order)
{
    enum {
        TRIES = 5
    };
    int code = publish(run, client, order);
    for (int i = 1; order->each_is_new && code == JOBS_OK && is_twin(&run->receipt) && i < TRIES && signals_stop == 0;
         i++) {
        jobs_receipt_wipe(&run->receipt);
        wait_for_next_second();
        code = publish(run, client, order);
    }
    if (code == JOBS_OK) {
        json_t *line = print_receipt(&run->receipt, true);
        json_object_set_new(line, "channel", json_string(order->channel));
        return print_line(run, line);
    }
    if (may_be_out(&run->receipt)) {
        run->error.retryable = false;
        if (run->error.hint[0] == '\0')
            snprintf(run->error.hint, sizeof run->error.hint,
                     "a relay has it, or may have it: the same command again would publish a second event; look for "
                     "this one's id first");
    }
    return code;
}
