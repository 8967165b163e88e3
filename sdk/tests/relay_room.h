/* relay_room.h - a real relay (build/bin/jobs-relay) for a test: started, restarted on its port, stopped; what it
 * keeps.
 */
#ifndef RELAY_ROOM_H
#define RELAY_ROOM_H

#include "outbox_room.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

struct relay {
    pid_t pid;
    char url[64];
    char dir[160];
    char port[8];
    int out;
};

/* script may be NULL: then it is an ordinary relay. Its events lie in the scratch folder under name. */
static inline void relay_start(struct relay *relay, const char *name, const char *script)
{
    int out[2];
    char script_path[192];
    snprintf(relay->dir, sizeof relay->dir, "%s/%s", room, name);
    if (relay->port[0] == '\0')
        strcpy(relay->port, "0");
    snprintf(script_path, sizeof script_path, "%s/%s.relay", room, name);
    if (script != NULL)
        room_write(script_path, script, strlen(script));
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    relay->pid = fork();
    assert_true(relay->pid >= 0);
    if (relay->pid == 0) {
        dup2(out[1], 1);
        execl(JOBS_BINARY_DIR "/bin/jobs-relay", "jobs-relay", "--port", relay->port, "--dir", relay->dir,
              script != NULL ? "--script" : NULL, script_path, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    relay->out = out[0];
    size_t len = 0;
    while (len < sizeof relay->url - 1 && read(out[0], relay->url + len, 1) == 1 && relay->url[len] != '\n')
        len++;
    relay->url[len] = '\0';
    const char *colon = strrchr(relay->url, ':');
    assert_non_null(colon);
    snprintf(relay->port, sizeof relay->port, "%.7s", colon + 1);
}

static inline void relay_stop(struct relay *relay)
{
    if (relay->pid > 0) {
        kill(relay->pid, SIGTERM);
        waitpid(relay->pid, NULL, 0);
        close(relay->out);
    }
    relay->pid = 0;
}

/* How many events of this kind it keeps. */
static inline size_t relay_count(const struct relay *relay, unsigned kind)
{
    char path[192];
    size_t count = 0, len;
    snprintf(path, sizeof path, "%s/events.jsonl", relay->dir);
    if (access(path, F_OK) != 0)
        return 0;
    char *text = room_read(path, &len), *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        struct jobs_event *event = NULL;
        if (jobs_event_parse(&event, line, strlen(line), NULL) == JOBS_OK)
            count += jobs_event_kind(event) == kind;
        jobs_event_free(event);
    }
    free(text);
    return count;
}

#endif
