/* outbox_mark.c - the mark in a folder's lock file: see outbox.h.
 *
 * Without it an event that a killed process has just sent would look as if it had never left. Writing that into the
 * entry first would be two fsyncs more for each event that is sent.
 */
#include "outbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int jobs__folder_mark(struct jobs__folder *folder, int64_t until, struct jobs_error *error)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%" PRId64 "\n", until);
    folder->marked = true;
    int number = jobs__file_write(folder->lock, text, (size_t)len);
    if (number == 0)
        return JOBS_OK;
    jobs__folder_unmark(folder);
    return jobs__file_failed(error, "write into", "lock", number);
}

void jobs__folder_unmark(struct jobs__folder *folder)
{
    if (folder->marked && ftruncate(folder->lock, 0) == 0) /* else it is heeded in vain */
        folder->marked = false;
}

int jobs__folder_heed_mark(struct jobs__folder *folder, struct jobs_error *error)
{
    char text[32], *end;
    int64_t now = jobs__outbox_now();
    ssize_t got;
    do
        got = pread(folder->lock, text, sizeof text - 1, 0);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return JOBS_OK;
    if (got < 0)
        return jobs__file_failed(error, "read", "lock", errno);
    text[got] = '\0';
    int64_t until = strtoll(text, &end, 10);
    if (*end != '\n' || until <= 0) /* cut short: it was made by a clock like ours, a moment ago for all we know */
        until = now;
    int code = JOBS_OK;
    folder->marked = true;
    for (size_t i = 0; !code && i < folder->count; i++) {
        struct jobs__entry *entry = folder->entries[i];
        bool changed = false;
        for (size_t f = 0; f < entry->fact_count; f++) {
            struct jobs__fact *fact = &entry->facts[f];
            if (fact->state != JOBS__RELAY_PENDING || fact->last_send >= until)
                continue;
            fact->last_send = until;
            changed = true;
        }
        bool stored;
        if (changed && !folder->look_only)
            code = jobs__folder_store(folder, entry, &stored, error);
    }
    if (!code && !folder->look_only)
        jobs__folder_unmark(folder);
    return code;
}
