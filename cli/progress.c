/* progress.c - the line is written over in place and never wraps. */
#include "progress.h"

#include "escape.h"
#include "print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool shown;
static char last[256];

bool progress_is_wanted(const struct run *run)
{
    const char *term = getenv("TERM");
    return print_is_for_person(run, STDERR_FILENO) && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

void progress_show(void *context, const struct jobs_progress *progress)
{
    const struct run *run = context;
    char url[160], line[256];
    if (progress->elapsed_ms < 1000)
        return;
    int len = snprintf(line, sizeof line, "%s: %s, %lld s",
                       escape_line(url, sizeof url, progress->relay, strlen(progress->relay)), progress->doing,
                       (long long)(progress->elapsed_ms / 1000));
    if (len > 0)
        progress_line(run, line);
}

void progress_line(const struct run *run, const char *line)
{
    struct winsize window;
    char cut[sizeof last];
    size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
    /* Fewer bytes than columns never wrap. */
    escape_line(cut, columns < sizeof cut ? columns : sizeof cut, line, strlen(line));
    if (shown && strcmp(cut, last) == 0)
        return;
    memcpy(last, cut, sizeof last);
    dprintf(STDERR_FILENO, "\r%s%s%s\033[K", print_colour(run, STDERR_FILENO, PRINT_DIM), cut,
            print_colour(run, STDERR_FILENO, PRINT_PLAIN));
    shown = true;
}

void progress_erase(void)
{
    if (shown)
        dprintf(STDERR_FILENO, "\r\033[K");
    shown = false;
}
