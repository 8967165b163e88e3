/* outbox_pending.c - outbox/pending/: one empty file an entry that waits, named CREATED_AT-ID, so that every write can
 * say how many others wait without opening a single folder.
 *
 * The markers are a hint for counting and nothing else: what is sent is decided by the entries. Flush puts them right.
 */
#include "outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

struct counting {
    struct jobs_receipt *receipt;
    const char *except;
    size_t looked_at;
};

static int count_one(void *context, const char *name)
{
    struct counting *counting = context;
    struct jobs_receipt *receipt = counting->receipt;
    char *end;
    if (counting->looked_at++ == JOBS__PENDING_MAX) {
        receipt->pending_more = true;
        return -1;
    }
    errno = 0;
    int64_t created_at = strtoll(name, &end, 10);
    if (errno != 0 || end == name || *end != '-' || strlen(end + 1) != 64 || strcmp(end + 1, counting->except) == 0)
        return JOBS_OK;
    if (receipt->pending_count == 0 || created_at < receipt->pending_oldest)
        receipt->pending_oldest = created_at;
    receipt->pending_count++;
    return JOBS_OK;
}

void jobs__pending_count(struct jobs_receipt *receipt, const char *state_dir, const char *except)
{
    char *path = NULL;
    int root = -1, pending = -1;
    struct counting counting = {.receipt = receipt, .except = except};
    if (jobs__state_dir(&path, state_dir, NULL) == JOBS_OK && jobs__outbox_open(&root, path, false, NULL) == JOBS_OK &&
        jobs__folder_open_in(&pending, root, "pending", false, NULL) == JOBS_OK &&
        jobs__names_visit(pending, count_one, &counting, NULL) != JOBS_OK)
        receipt->pending_count = 0; /* half a count is none */
    if (pending >= 0)
        close(pending);
    if (root >= 0)
        close(root);
    free(path);
}
