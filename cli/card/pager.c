/* pager.c - see pager.h. Programs never get a pager: only a terminal that a person reads. */
#include "pager.h"

#include "../print.h"
#include "../signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

size_t pager_columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    char *end;
    long number = columns != NULL ? strtol(columns, &end, 10) : 0;
    return number > 0 && number < 10000 && *end == '\0' ? (size_t)number : 80;
}

static bool fits_on_screen(const char *text, size_t len)
{
    struct winsize size;
    size_t lines = 1; /* the prompt that comes after */
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
        return true;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return lines <= size.ws_row;
}

static void become_pager(const char *pager, const int ends[2])
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (dup2(ends[0], STDIN_FILENO) < 0)
        _exit(127);
    close(ends[0]);
    close(ends[1]);
    execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
    _exit(127);
}

/* Whether a pager has shown it. One that ends early has: its person had read enough. */
static bool page(const char *pager, const char *text, size_t len)
{
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        return false;
    signals_hold(); /* Ctrl-C is the pager's */
    pid_t child = fork();
    if (child == 0)
        become_pager(pager, ends);
    close(ends[0]);
    for (size_t at = 0; child > 0 && at < len;) {
        ssize_t wrote = write(ends[1], text + at, len - at);
        if (wrote < 0 && errno != EINTR)
            break;
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    close(ends[1]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    /* 126 and 127 are the shell's: there is no such program. */
    return child > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) >= 126);
}

int pager_print(struct run *run, const char *text, size_t len)
{
    const char *pager = getenv("PAGER"), *term = getenv("TERM");
    bool can_page = term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
    if (pager == NULL)
        pager = "less -FRX";
    if (can_page && pager[0] != '\0' && print_is_for_person(run, STDOUT_FILENO) && !fits_on_screen(text, len) &&
        page(pager, text, len))
        return JOBS_OK;
    return print_bytes(run, text, len);
}
