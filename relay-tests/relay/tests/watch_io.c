/* watch_io.c - preloaded into the relay by its tests: writes to the file named by WATCH_IO a line for every write to
 * and sync of a file, and every send, in the order they happen. With FAIL_FSYNC set, fsync of a file fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void note(const char *what, size_t len)
{
    const char *path = getenv("WATCH_IO");
    int fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    dprintf(fd, "%s %zu\n", what, len);
    close(fd);
}

static void *original(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off_t);
    *(void **)&real = original("pwrite");
    note("write", len);
    return real(fd, bytes, len, offset);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    int (*real)(int);
    *(void **)&real = original("fsync");
    note("fsync", 0);
    struct stat status;
    if (getenv("FAIL_FSYNC") != NULL && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}

__attribute__((visibility("default"))) ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    ssize_t (*real)(int, const void *, size_t, int);
    *(void **)&real = original("send");
    note(memmem(bytes, len, "[\"OK\"", 5) != NULL ? "send-ok" : "send", len);
    return real(fd, bytes, len, flags);
}
