/* once.c - runs one command and prints what it cost: "microseconds peak-KiB exit-status" to a file descriptor.
 *
 * A process of its own, because the kernel counts the peak of whoever forked as the child's own: a large parent would
 * be what is measured. This one is smaller than anything that it runs.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
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

static volatile pid_t child = -1;

/* Who ends what runs here means the command. */
static void pass_on(int number)
{
    if (child > 0)
        kill(child, number);
}

int main(int argc, char **argv)
{
    int result = argc > 2 ? (int)strtol(argv[1], NULL, 10) : -1;
    if (result < 3 || fcntl(result, F_SETFD, FD_CLOEXEC) != 0) {
        fprintf(stderr, "usage: bench-once DESCRIPTOR COMMAND... DESCRIPTOR>RESULT\n");
        return 2;
    }
    long long start = microseconds();
    pid_t pid = -1;
    int status = -1;
    struct rusage usage = {0};
    if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0) {
        perror("bench-once");
        return 2;
    }
    child = pid;
    signal(SIGINT, pass_on); /* glibc's restarts what it interrupts */
    if (wait4(pid, &status, 0, &usage) != pid) {
        perror("bench-once");
        return 2;
    }
    dprintf(result, "%lld %ld %d\n", microseconds() - start, usage.ru_maxrss,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
