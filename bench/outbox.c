/* outbox.c - fills an outbox: bench-outbox STATE-DIR URL. Each event on stdin, one a line, becomes an entry that waits
 * for that relay.
 */
#include "../sdk/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int store(const char *state, const char *url, const char *json, size_t len, struct jobs_error *error)
{
    struct jobs_event *event = NULL;
    struct jobs__entry *entry = NULL;
    struct jobs__folder folder = {.root = -1, .pending = -1, .fd = -1, .lock = -1};
    char name[65];
    bool stored = false;
    int code = jobs_event_parse(&event, json, len, error);
    if (code == JOBS_OK)
        code = jobs__entry_new(&entry, event);
    if (code == JOBS_OK && jobs__entry_fact(entry, url, true) == NULL)
        code = JOBS_NO_MEMORY;
    if (code == JOBS_OK)
        code = jobs__folder_name(name, entry->author, entry->job);
    if (code == JOBS_OK)
        code = jobs__folder_open(&folder, state, name, true, 1000, NULL, error);
    if (code == JOBS_OK)
        code = jobs__folder_store(&folder, entry, &stored, error);
    jobs__folder_free(&folder);
    if (!stored)
        jobs__entry_free(entry);
    if (entry == NULL)
        jobs_event_free(event);
    return code;
}

int main(int argc, char **argv)
{
    struct jobs_error error = {0};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    int code = JOBS_OK;

    if (argc != 3) {
        fprintf(stderr, "usage: bench-outbox STATE-DIR URL <EVENTS\n");
        return 2;
    }
    while (code == JOBS_OK && (len = getline(&line, &capacity, stdin)) > 1)
        code = store(argv[1], argv[2], line, (size_t)len - 1, &error);
    free(line);
    if (code != JOBS_OK)
        fprintf(stderr, "bench-outbox: %d: %s\n", code, error.message);
    return code == JOBS_OK ? 0 : 1;
}
