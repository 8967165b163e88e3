/* torture.c - preloaded into jobs (or jobs-relay): at one system call of its choice the process dies or the call fails.
 *
 *   TORTURE=KIND:N[:NAME]   the N-th call that KIND can befall; with NAME, only calls of that name are counted
 *   TORTURE_FIRED=PATH      a file that is made when it has happened
 *
 * Kinds: kill (before the call is made); nospc, io, nofile, interrupted (the call fails once); short (half of a
 * write, one byte of a read); reset (a socket's call); nospc+, rofs+, io+, nolinks (this call and all of its kind
 * behind it).
 *
 * What it wraps is what a program calls by name: calls that the C library makes within itself (the output of stdio) are
 * not seen.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* What a call is, so that a kind befalls only what it can in the world. */
enum {
    MAKES = 1,      /* may make or lengthen a file: no space, read only */
    TOUCHES = 2,    /* of the disk: an I/O error */
    WAITS = 4,      /* the kernel may interrupt it */
    PARTLY = 8,     /* may do less than was asked */
    TALKS = 16,     /* a socket's */
    HANDS_OUT = 32, /* gives a descriptor */
    LINKS = 64      /* gives a file a second name */
};

static const struct {
    const char *name;
    int befalls; /* 0: every call */
    int number;  /* errno */
    bool stays;
} kinds[] = {
    {"kill", 0, 0, false},           {"nospc", MAKES, ENOSPC, false},      {"nospc+", MAKES, ENOSPC, true},
    {"rofs+", MAKES, EROFS, true},   {"io", TOUCHES, EIO, false},          {"io+", TOUCHES, EIO, true},
    {"nolinks", LINKS, EPERM, true}, {"nofile", HANDS_OUT, EMFILE, false}, {"interrupted", WAITS, EINTR, false},
    {"short", PARTLY, 0, false},     {"reset", TALKS, ECONNRESET, false},
};

static size_t kind;
static long at;
static char only[32];
static const char *fired;
static atomic_long calls;

__attribute__((constructor)) static void start(void)
{
    const char *order = getenv("TORTURE");
    char name[16];
    fired = getenv("TORTURE_FIRED");
    if (order == NULL)
        return;
    if (sscanf(order, "%15[^:]:%ld:%31s", name, &at, only) < 2)
        abort();
    while (strcmp(kinds[kind].name, name) != 0) {
        if (++kind == sizeof kinds / sizeof *kinds)
            abort();
    }
}

static void say_so(void)
{
    if (fired == NULL)
        return;
    long fd = syscall(SYS_openat, AT_FDCWD, fired, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        syscall(SYS_close, (int)fd);
}

/* Whether this call is the one. Does not come back when it is to die. */
static bool befallen(const char *name, int what)
{
    if (at == 0 || (kinds[kind].befalls != 0 && (what & kinds[kind].befalls) == 0) ||
        (only[0] != '\0' && strcmp(only, name) != 0))
        return false;
    long count = atomic_fetch_add(&calls, 1) + 1;
    if (count < at || (count > at && !kinds[kind].stays))
        return false;
    say_so();
    if (kinds[kind].befalls == 0) {
        kill(getpid(), SIGKILL);
        pause();
    }
    errno = kinds[kind].number;
    return true;
}

static bool is_file(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

/* /dev/urandom neither interrupts nor cuts short what small readers ask of it. */
static bool is_device(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISCHR(about.st_mode);
}

#define REAL(name)                                                                                                     \
    static __typeof__(name) *real;                                                                                     \
    if (real == NULL)                                                                                                  \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

/* --- names and descriptors --- */

EXPORT int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    REAL(open);
    int what = TOUCHES | WAITS | HANDS_OUT | ((flags & O_CREAT) != 0 ? MAKES : 0);
    return befallen("open", what) ? -1 : real(path, flags, mode);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    REAL(openat);
    int what = TOUCHES | WAITS | HANDS_OUT | ((flags & O_CREAT) != 0 ? MAKES : 0);
    return befallen("openat", what) ? -1 : real(folder, path, flags, mode);
}

EXPORT int close(int fd)
{
    REAL(close);
    bool fails = befallen("close", is_file(fd) ? TOUCHES : 0);
    int number = errno;
    int result = real(fd); /* the descriptor is gone whatever close says */
    if (!fails)
        return result;
    errno = number;
    return -1;
}

#define CALL(name, what, parameters, ...)                                                                              \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        return befallen(#name, what) ? -1 : real(__VA_ARGS__);                                                         \
    }

CALL(mkdirat, MAKES | TOUCHES, (int folder, const char *path, mode_t mode), folder, path, mode)
CALL(mkdir, MAKES | TOUCHES, (const char *path, mode_t mode), path, mode)
CALL(renameat, MAKES | TOUCHES, (int from, const char *old, int to, const char *new), from, old, to, new)
CALL(rename, MAKES | TOUCHES, (const char *old, const char *new), old, new)
CALL(link, MAKES | TOUCHES | LINKS, (const char *old, const char *new), old, new)
CALL(unlinkat, TOUCHES, (int folder, const char *path, int flags), folder, path, flags)
CALL(unlink, TOUCHES, (const char *path), path)
CALL(faccessat, TOUCHES, (int folder, const char *path, int mode, int flags), folder, path, mode, flags)
CALL(fchmod, MAKES | TOUCHES, (int fd, mode_t mode), fd, mode)
CALL(fsync, MAKES | TOUCHES | WAITS, (int fd), fd)
CALL(fdatasync, MAKES | TOUCHES | WAITS, (int fd), fd)
CALL(ftruncate, TOUCHES, (int fd, off_t len), fd, len)
CALL(flock, WAITS, (int fd, int operation), fd, operation)

/* --- bytes --- */

EXPORT ssize_t write(int fd, const void *bytes, size_t len)
{
    REAL(write);
    if (!befallen("write", is_file(fd) ? MAKES | TOUCHES | WAITS | PARTLY : 0))
        return real(fd, bytes, len);
    return kinds[kind].number != 0 ? -1 : real(fd, bytes, len > 1 ? len / 2 : len);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    REAL(pwrite);
    if (!befallen("pwrite", MAKES | TOUCHES | WAITS | PARTLY))
        return real(fd, bytes, len, offset);
    return kinds[kind].number != 0 ? -1 : real(fd, bytes, len > 1 ? len / 2 : len, offset);
}

EXPORT ssize_t read(int fd, void *bytes, size_t len)
{
    REAL(read);
    if (!befallen("read", is_device(fd) ? 0 : is_file(fd) ? TOUCHES | WAITS | PARTLY : WAITS | PARTLY))
        return real(fd, bytes, len);
    return kinds[kind].number != 0 ? -1 : real(fd, bytes, len > 1 ? 1 : len);
}

EXPORT struct dirent *readdir(DIR *stream)
{
    REAL(readdir);
    return befallen("readdir", TOUCHES) ? NULL : real(stream);
}

/* --- sockets --- */

CALL(socket, HANDS_OUT, (int domain, int type, int protocol), domain, type, protocol)
CALL(poll, WAITS, (struct pollfd * polled, nfds_t count, int timeout), polled, count, timeout)
CALL(epoll_wait, WAITS, (int fd, struct epoll_event *events, int most, int timeout), fd, events, most, timeout)

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t len)
{
    REAL(connect);
    return befallen("connect", TALKS) ? -1 : real(fd, address, len);
}

EXPORT ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    REAL(send);
    if (!befallen("send", TALKS | PARTLY))
        return real(fd, bytes, len, flags);
    return kinds[kind].number != 0 ? -1 : real(fd, bytes, len > 1 ? len / 2 : len, flags);
}

EXPORT ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
    REAL(recv);
    if (!befallen("recv", TALKS | PARTLY))
        return real(fd, bytes, len, flags);
    return kinds[kind].number != 0 ? -1 : real(fd, bytes, len > 1 ? 1 : len, flags);
}
