/* write.h - the events that need no outbox: requests and channel administration. */
#ifndef JOBS_CLI_WRITE_H
#define JOBS_CLI_WRITE_H

#include "client.h"

#include <jobs/event.h>

struct write_order {
    uint32_t kind;
    const struct jobs_tag *tags;
    size_t tag_count;
    const char *content;
    size_t content_len;
    const char *channel; /* printed behind the receipt */
    bool each_is_new;    /* never the event of an earlier run with the same words */
};

/* Seals an event with the client's key, publishes it, and prints the line of a write with its channel behind. */
JOBS_MUST_USE int write_event(struct run *run, const struct client *client, const struct write_order *order);

#endif
