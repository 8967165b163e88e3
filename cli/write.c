/* write.c - seal, publish, print: what `request` and `channel` have in common. */
#include "write.h"

#include "print.h"
#include "signals.h"

#include <stdio.h>
#include <time.h>

int write_event(struct run *run, const struct client *client, uint32_t kind, const struct jobs_tag *tags,
                size_t tag_count, const char *content, size_t content_len, const char *channel)
{
    struct jobs_event *event = NULL;
    int code = jobs_event_new(&event, kind, (int64_t)time(NULL), tags, tag_count, content, content_len, &run->error);
    if (code == JOBS_OK)
        code = jobs_event_seal(event, client->key, &run->error);
    if (code != JOBS_OK)
        goto out;
    signals_hold();
    code = jobs_publish_event(&run->receipt, event, &client->options, &run->error);
    if (code == JOBS_OK) {
        json_t *line = print_receipt(&run->receipt, true);
        json_object_set_new(line, "channel", json_string(channel));
        code = print_line(run, line);
    } else if (code == JOBS_UNKNOWN) {
        /* Nothing of this lies in the outbox: the same command again would sign another event. */
        run->error.retryable = false;
        if (run->error.hint[0] == '\0')
            snprintf(run->error.hint, sizeof run->error.hint,
                     "the same command again would publish a second event: look for this one's id first");
    }
out:
    jobs_event_free(event);
    return code;
}
