/* outbox_files.h - the few file operations that the promise rests on: whole or not at all, and on the disk when they
 * return.
 *
 * They know nothing of events. All take folders as open descriptors, survive EINTR and short writes, and say in the
 * error what could not be done to which path.
 */
#ifndef JOBS_OUTBOX_FILES_H
#define JOBS_OUTBOX_FILES_H

#include "../core/buffer.h"

#include <signal.h>
#include <stdint.h>

/* Opens the folder at path. With make, it and its missing parents are made (0700), but not synced: see below. Returns
 * JOBS_OK, JOBS_NOT_FOUND (only without make), JOBS_SYSTEM or JOBS_NO_MEMORY. */
int jobs__folder_open_path(int *out, const char *path, bool make, struct jobs_error *error);

/* The same for one folder inside an open one; a symbolic link is not followed. */
int jobs__folder_open_in(int *out, int parent, const char *name, bool make, struct jobs_error *error);

/* Syncs every folder above this one, so that its name is on the disk, whoever made it and whatever became of him. Stops
 * where the file system does. */
int jobs__folder_sync_above(int folder, struct jobs_error *error);

/* The whole regular file `name`, appended to out. Returns 0 or an errno: ENOENT, EFBIG (more than out->max), EINVAL (no
 * regular file), ENOMEM, or what the system said. */
int jobs__file_read(struct jobs__buffer *out, int folder, const char *name);

/* Puts bytes under `name`, replacing what was there: temporary file, fsync, rename, and, if it is to be lasting, fsync
 * of the folder; else a power cut may bring back the old file, whole. On failure the old file is untouched, unless
 * *renamed says that only the folder's fsync failed. Needs the folder's lock: there is one temporary name. */
#define JOBS__TEMPORARY ".new"
int jobs__file_replace(int folder, const char *name, const char *bytes, size_t len, bool lasting, bool *renamed,
                       struct jobs_error *error);

/* Renames `name` to `name.damaged` (`name.2.damaged`, … when taken) and syncs the folder. */
int jobs__file_set_aside(int folder, const char *name, struct jobs_error *error);

/* An exclusive flock on folder/lock, made when missing, awaited up to timeout_ms (0: not at all) or until *stop.
 * Returns JOBS_OK with *out the descriptor that holds it (close it to let go), JOBS_BUSY, or JOBS_SYSTEM. */
int jobs__file_lock(int *out, int folder, int64_t timeout_ms, const volatile sig_atomic_t *stop,
                    struct jobs_error *error);

/* "cannot DOING NAME: …" for an errno: JOBS_SYSTEM or JOBS_NO_MEMORY, whether it may pass, and what to do. */
int jobs__file_failed(struct jobs_error *error, const char *doing, const char *name, int number);

/* All the bytes, at the file's beginning; 0 or an errno. */
int jobs__file_write(int fd, const char *bytes, size_t len);

/* fsync that survives EINTR; 0 or an errno. */
int jobs__file_sync(int fd);

/* The names in a folder, without "." and "..", sorted. Free with jobs__names_free. */
struct jobs__names {
    char **names;
    size_t count, capacity;
};
int jobs__names_read(struct jobs__names *out, int folder, struct jobs_error *error);
/* Where this name stands among them, or NULL. */
char **jobs__names_find(const struct jobs__names *names, const char *name);
void jobs__names_free(struct jobs__names *names);

#endif
