/* outbox_files.c - see outbox_files.h. Knows nothing of events, keys or relays. */
#include "outbox_files.h"

#include "../core/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_MODE 0700
#define FILE_MODE   0600

/* A path is ours or the user's, but may hold anything: one harmless line of it. */
int jobs__file_failed(struct jobs_error *error, const char *doing, const char *name, int number)
{
    char line[256];
    jobs__text_one_line(line, sizeof line - 1, name, strlen(name));
    int code = jobs_error_set(error, number == ENOMEM ? JOBS_NO_MEMORY : JOBS_SYSTEM, "cannot %s %s: %s", doing, line,
                              strerror(number));
    if (error == NULL)
        return code;
    error->retryable = number == ENOSPC || number == EDQUOT || number == EIO || number == ENOMEM || number == EMFILE ||
                       number == ENFILE || number == EAGAIN;
    if (number == ENOSPC || number == EDQUOT)
        snprintf(error->hint, sizeof error->hint, "make room on the disk of the state folder, then run it again");
    else if (number == EROFS || number == EACCES || number == EPERM)
        snprintf(error->hint, sizeof error->hint, "name a folder you may write to with --state-dir");
    return code;
}

int jobs__file_sync(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

static int open_again(int folder, const char *name, int flags, mode_t mode)
{
    int fd;
    do
        fd = openat(folder, name, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Opens the folder, after making it when it is missing. Nobody who makes a folder syncs it: he may die before he comes
 * to it. Whoever needs its name on the disk does. */
static int open_or_make(int *out, int parent, const char *name, bool make, int extra_flags, const char *shown,
                        struct jobs_error *error)
{
    int flags = O_RDONLY | O_DIRECTORY | extra_flags;
    int fd = open_again(parent, name, flags, 0);
    if (fd < 0 && errno == ENOENT) {
        if (!make)
            return jobs_error_set(error, JOBS_NOT_FOUND, "there is no outbox yet");
        if (mkdirat(parent, name, FOLDER_MODE) != 0 && errno != EEXIST)
            return jobs__file_failed(error, "make the folder", shown, errno);
        fd = open_again(parent, name, flags, 0);
    }
    if (fd < 0)
        return jobs__file_failed(error, "open the folder", shown, errno);
    *out = fd;
    return JOBS_OK;
}

int jobs__folder_open_in(int *out, int parent, const char *name, bool make, struct jobs_error *error)
{
    return open_or_make(out, parent, name, make, O_NOFOLLOW, name, error);
}

int jobs__folder_open_path(int *out, const char *path, bool make, struct jobs_error *error)
{
    *out = -1;
    int direct = open_again(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0); /* the usual case: one call */
    if (direct >= 0) {
        *out = direct;
        return JOBS_OK;
    }
    char *copy = strdup(path);
    int fd = -1;
    int code = JOBS_OK;
    if (copy == NULL) {
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
        goto out;
    }
    fd = open_again(AT_FDCWD, path[0] == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        code = jobs__file_failed(error, "open the folder above", path, errno);
        goto out;
    }
    char *rest = NULL;
    for (char *part = strtok_r(copy, "/", &rest); part != NULL; part = strtok_r(NULL, "/", &rest)) {
        int next = -1;
        code = open_or_make(&next, fd, part, make, 0, path, error);
        if (code)
            goto out;
        close(fd);
        fd = next;
    }
    *out = fd;
    fd = -1;

out:
    if (fd >= 0)
        close(fd);
    free(copy);
    return code;
}

/* The folder above, on the same file system; -1 and 0 when there is none that we could have made something in. */
static int open_above(int *out, int folder)
{
    struct stat here, above;
    *out = -1;
    int fd = open_again(folder, "..", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return errno == EACCES || errno == EPERM ? 0 : errno;
    if (fstat(folder, &here) != 0 || fstat(fd, &above) != 0) {
        int failed = errno;
        close(fd);
        return failed;
    }
    if (here.st_dev == above.st_dev && here.st_ino != above.st_ino)
        *out = fd;
    else
        close(fd);
    return 0;
}

int jobs__folder_sync_above(int folder, struct jobs_error *error)
{
    int fd = -1;
    int failed = open_above(&fd, folder);
    while (!failed && fd >= 0) {
        int above = -1;
        failed = jobs__file_sync(fd);
        if (failed == EROFS || failed == EINVAL) /* nothing can have been made there, or it knows no sync */
            failed = 0;
        if (!failed)
            failed = open_above(&above, fd);
        close(fd);
        fd = above;
    }
    return failed ? jobs__file_failed(error, "sync the folders above", "the outbox", failed) : JOBS_OK;
}

int jobs__file_read(struct jobs__buffer *out, int folder, const char *name)
{
    /* A FIFO or a device must neither block nor be read; a link is no file of ours. */
    int fd = open_again(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return errno == ELOOP || errno == ENXIO ? EINVAL : errno;
    int failed = 0;
    struct stat about;
    if (fstat(fd, &about) != 0)
        failed = errno;
    else if (!S_ISREG(about.st_mode))
        failed = EINVAL;
    else if (about.st_size < 0 || (uint64_t)about.st_size > out->max)
        failed = EFBIG;
    char chunk[16384];
    while (!failed) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got == 0)
            break;
        if (got > 0)
            jobs__buffer_add(out, chunk, (size_t)got);
        else if (errno != EINTR)
            failed = errno;
        if (!failed && out->failed)
            failed = out->failed == JOBS_NO_MEMORY ? ENOMEM : EFBIG;
    }
    close(fd);
    return failed;
}

int jobs__file_write(int fd, const char *bytes, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t wrote = pwrite(fd, bytes + done, len - done, (off_t)done);
        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0)
            return EIO; /* no progress and no word why: never spin */
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

int jobs__file_replace(int folder, const char *name, const char *bytes, size_t len, bool lasting, bool *renamed,
                       struct jobs_error *error)
{
    *renamed = false;
    int fd = open_again(folder, JOBS__TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return jobs__file_failed(error, "make a file for", name, errno);
    int failed = jobs__file_write(fd, bytes, len);
    if (!failed)
        failed = jobs__file_sync(fd);
    /* On Linux the descriptor is gone whatever close says; its word may be a late write error (NFS). */
    if (close(fd) != 0 && errno != EINTR && !failed)
        failed = errno;
    if (!failed && renameat(folder, JOBS__TEMPORARY, folder, name) != 0)
        failed = errno;
    if (failed) {
        unlinkat(folder, JOBS__TEMPORARY, 0);
        return jobs__file_failed(error, "write", name, failed);
    }
    *renamed = true;
    failed = lasting ? jobs__file_sync(folder) : 0;
    if (failed)
        return jobs__file_failed(error, "sync the folder of", name, failed);
    return JOBS_OK;
}

int jobs__file_set_aside(int folder, const char *name, struct jobs_error *error)
{
    char aside[320];
    for (unsigned i = 1; i < 10000; i++) {
        if (i == 1)
            snprintf(aside, sizeof aside, "%.240s.damaged", name);
        else
            snprintf(aside, sizeof aside, "%.240s.%u.damaged", name, i);
        if (faccessat(folder, aside, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            continue; /* nothing that was set aside is ever written over */
        if (errno != ENOENT)
            return jobs__file_failed(error, "look at", aside, errno);
        if (renameat(folder, name, folder, aside) != 0)
            return jobs__file_failed(error, "set aside", name, errno);
        int failed = jobs__file_sync(folder);
        return failed ? jobs__file_failed(error, "sync the folder of", aside, failed) : JOBS_OK;
    }
    return jobs__file_failed(error, "find a free name for", name, EEXIST);
}

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int jobs__file_lock(int *out, int folder, int64_t timeout_ms, const volatile sig_atomic_t *stop,
                    struct jobs_error *error)
{
    *out = -1;
    int fd = open_again(folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return jobs__file_failed(error, "open", "lock", errno);
    /* Asked for again and again rather than awaited in flock(2): that could only be ended by a signal, and signals
     * belong to the process, not to a library. The kernel lets go of a lock whose holder died. */
    int64_t until = monotonic_ms() + timeout_ms;
    long pause_ms = 2;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK) {
            int number = errno;
            close(fd);
            return jobs__file_failed(error, "lock", "lock", number);
        }
        int64_t left = until - monotonic_ms();
        if (left <= 0 || (stop != NULL && *stop)) {
            close(fd);
            return jobs_error_set(error, JOBS_BUSY, "another process is still working on this job");
        }
        if (pause_ms > left)
            pause_ms = (long)left;
        struct timespec pause = {.tv_sec = 0, .tv_nsec = pause_ms * 1000000L};
        nanosleep(&pause, NULL);
        if (pause_ms < 50)
            pause_ms *= 2;
    }
    *out = fd;
    return JOBS_OK;
}

static int visit_names(int folder, int (*visit)(void *context, const char *name), void *context,
                       struct jobs_error *error)
{
    int code = JOBS_OK;
    DIR *stream = NULL;
    int fd = open_again(folder, ".", O_RDONLY | O_DIRECTORY, 0); /* own position, own life */
    if (fd < 0)
        return jobs__file_failed(error, "open", "a folder of the outbox", errno);
    stream = fdopendir(fd);
    if (stream == NULL) {
        code = jobs__file_failed(error, "read", "a folder of the outbox", errno);
        close(fd);
        return code;
    }
    while (code == JOBS_OK) {
        errno = 0;
        struct dirent *entry = readdir(stream);
        if (entry == NULL) {
            if (errno != 0)
                code = jobs__file_failed(error, "read", "a folder of the outbox", errno);
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            code = visit(context, entry->d_name);
    }
    closedir(stream);
    return code;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(void *context, const char *name)
{
    struct jobs__names *names = context;
    if (names->count == names->capacity) {
        size_t bigger = names->capacity == 0 ? 16 : names->capacity * 2;
        char **more = realloc(names->names, bigger * sizeof *more);
        if (more == NULL)
            return JOBS_NO_MEMORY;
        names->names = more;
        names->capacity = bigger;
    }
    names->names[names->count] = strdup(name);
    if (names->names[names->count] == NULL)
        return JOBS_NO_MEMORY;
    names->count++;
    return JOBS_OK;
}

int jobs__names_read(struct jobs__names *out, int folder, struct jobs_error *error)
{
    *out = (struct jobs__names){0};
    int code = visit_names(folder, add_name, out, error);
    if (code == JOBS_NO_MEMORY)
        jobs_error_set(error, code, "out of memory");
    if (code)
        jobs__names_free(out);
    else if (out->count > 1)
        qsort(out->names, out->count, sizeof *out->names, compare_names);
    return code;
}

char **jobs__names_find(const struct jobs__names *names, const char *name)
{
    return names->count == 0 ? NULL : bsearch(&name, names->names, names->count, sizeof *names->names, compare_names);
}

void jobs__names_free(struct jobs__names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct jobs__names){0};
}
