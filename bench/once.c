/* once.c - runs one command and prints what it cost: "microseconds peak-KiB exit-status" on file descriptor 3.
 *
 * A process of its own, because the kernel counts the peak of whoever forked as the child's own: a large parent would
 * be what is measured. This one is smaller than anything that it runs.
 */
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench-once COMMAND... 3>RESULT\n");
        return 2;
    }
    long long start = microseconds();
    pid_t child = -1;
    int status = -1;
    struct rusage usage = {0};
    if (posix_spawn(&child, argv[1], NULL, NULL, argv + 1, environ) != 0 || wait4(child, &status, 0, &usage) != child) {
        perror("bench-once");
        return 2;
    }
    dprintf(3, "%lld %ld %d\n", microseconds() - start, usage.ru_maxrss,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
