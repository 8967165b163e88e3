/* outbox_pending.c - outbox/pending/: one empty file an entry that waits, named CREATED_AT-ID, so that every write can
 * say how many others wait without opening a single folder.
 *
 * The markers are a hint for counting and nothing else: what is sent is decided by the entries. Flush puts them right.
 */
#include "outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void jobs__pending_name(char out[JOBS__PENDING_NAME], int64_t created_at, const char *id)
{
    snprintf(out, JOBS__PENDING_NAME, "%" PRId64 "-%.64s", created_at, id);
}

/* Made only after every folder above the outbox was synced: so whoever finds it need not do that again, and after a
 * kill between the making and the syncing the next one does it. Its own name, and those of the jobs' folders, are
 * synced with the first entry of each (outbox_folder.c). */
int jobs__pending_open(int *out, int root, struct jobs_error *error)
{
    int code = jobs__folder_open_in(out, root, "pending", false, error);
    if (code != JOBS_NOT_FOUND)
        return code;
    code = jobs__folder_sync_above(root, error);
    return code ? code : jobs__folder_open_in(out, root, "pending", true, error);
}

int jobs__pending_add(int pending, int64_t created_at, const char *id, struct jobs_error *error)
{
    char name[JOBS__PENDING_NAME];
    jobs__pending_name(name, created_at, id);
    int fd;
    do
        fd = openat(pending, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot make a marker in the outbox's pending/: %s", strerror(errno));
    close(fd);
    return JOBS_OK;
}

void jobs__pending_remove(int pending, int64_t created_at, const char *id)
{
    char name[JOBS__PENDING_NAME];
    jobs__pending_name(name, created_at, id);
    unlinkat(pending, name, 0);
}

static void count_one(struct jobs__counter *counter, const char *name, const char *except)
{
    char *end;
    errno = 0;
    int64_t created_at = strtoll(name, &end, 10);
    if (errno != 0 || end == name || *end != '-' || strlen(end + 1) != 64 || strcmp(end + 1, except) == 0)
        return;
    if (counter->count == 0 || created_at < counter->oldest)
        counter->oldest = created_at;
    counter->count++;
}

static void open_pending(struct jobs__counter *counter, const char *state_dir)
{
    char *path = NULL;
    int root = -1, pending = -1;
    if (jobs__state_dir(&path, state_dir, NULL) == JOBS_OK && jobs__outbox_open(&root, path, false, NULL) == JOBS_OK &&
        jobs__folder_open_in(&pending, root, "pending", false, NULL) == JOBS_OK)
        counter->stream = fdopendir(pending);
    if (counter->stream == NULL && pending >= 0)
        close(pending);
    if (root >= 0)
        close(root);
    free(path);
    counter->over = counter->stream == NULL;
}

void jobs__counter_step(struct jobs__counter *counter, const char *state_dir, const char *except, size_t names)
{
    if (!counter->over && counter->stream == NULL)
        open_pending(counter, state_dir);
    for (size_t i = 0; !counter->over && i < names; i++) {
        errno = 0;
        const struct dirent *entry = readdir(counter->stream);
        if (entry == NULL) {
            counter->over = true;
            if (errno != 0) /* half a count is none */
                counter->count = 0;
        } else if (entry->d_name[0] == '.') { /* itself, and its parent */
            continue;
        } else if (counter->looked_at++ == JOBS__PENDING_MAX) {
            counter->more = counter->over = true;
        } else {
            count_one(counter, entry->d_name, except);
        }
    }
    if (counter->over)
        jobs__counter_close(counter);
}

void jobs__counter_close(struct jobs__counter *counter)
{
    if (counter->stream != NULL)
        closedir(counter->stream);
    counter->stream = NULL;
}

void jobs__counter_tell(struct jobs__counter *counter, struct jobs_receipt *receipt, const char *state_dir,
                        const char *except)
{
    jobs__counter_step(counter, state_dir, except, SIZE_MAX);
    receipt->pending_count = counter->count;
    receipt->pending_oldest = counter->oldest;
    receipt->pending_more = counter->more;
}

void jobs__pending_count(struct jobs_receipt *receipt, const char *state_dir, const char *except)
{
    struct jobs__counter counter = {0};
    jobs__counter_tell(&counter, receipt, state_dir, except);
}
