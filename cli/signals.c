/* signals.c - what INT and TERM do. Handlers call only what POSIX allows them to. */
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t signals_stop;

static volatile sig_atomic_t held;
static const char *last_words;
static struct timespec first;

/* timeout(1) sends its signal to the process and again to its group: two within the same moment are one. */
static bool is_echo(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long passed = (now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000;
    return passed < 50;
}

static void on_signal(int number)
{
    int saved = errno;
    if (!held || (signals_stop != 0 && !is_echo())) {
        ssize_t ignored = write(STDERR_FILENO, last_words, strlen(last_words));
        (void)ignored;
        _exit(128 + number);
    }
    if (signals_stop == 0) {
        clock_gettime(CLOCK_MONOTONIC, &first);
        signals_stop = number;
    }
    errno = saved;
}

void signals_start(bool json_line)
{
    last_words =
        json_line ? "{\"error\":\"error\",\"message\":\"interrupted\",\"retryable\":true}\n" : "\njobs: interrupted\n";

    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    /* One at a time: the second must not find the first half done. */
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* a file that may not grow (ulimit -f) is an error to be told of */
}

void signals_hold(void)
{
    held = 1;
}
