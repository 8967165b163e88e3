/* replay.c - `jobs replay`: what it is asked, a line for each event that was not accepted, and the summary. */
#include "client.h"
#include "escape.h"
#include "print.h"
#include "progress.h"
#include "signals.h"
#include "stream.h"

#include <jobs/replay.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_BYTES ((size_t)65536)
#define FLUSH_MS    100

struct replaying {
    struct run *run;
    struct stream out;
    struct jobs_replay_counts counts;
    bool all;
    uint64_t told;
    int64_t flushed, started;
};

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int put_line(void *context, const struct jobs_replayed *replayed)
{
    struct replaying *r = context;
    struct stream *out = &r->out;
    r->told++;
    if (replayed->good && !r->all)
        return JOBS_OK;
    stream_text(out, "{\"line\":");
    stream_number(out, replayed->line);
    stream_text(out, ",\"event_id\":");
    if (replayed->event_id != NULL)
        stream_string(out, replayed->event_id);
    else
        stream_text(out, "null");
    stream_text(out, ",\"verdict\":");
    stream_string(out, replayed->verdict);
    stream_text(out, ",\"message\":");
    stream_string(out, replayed->message);
    stream_text(out, replayed->expected ? ",\"expected\":true}\n" : "}\n");
    int64_t now = milliseconds();
    if (out->len < FLUSH_BYTES && now - r->flushed < FLUSH_MS)
        return JOBS_OK;
    r->flushed = now;
    return stream_write(out, r->run);
}

static int put_summary(struct replaying *r, bool expecting)
{
    const struct jobs_replay_counts *c = &r->counts;
    const struct {
        const char *name;
        uint64_t count;
        bool shown;
    } members[] = {
        {"{\"sent\":", c->sent, true},
        {",\"accepted\":", c->accepted, true},
        {",\"duplicate\":", c->duplicate, true},
        {",\"rejected\":", c->rejected, true},
        {",\"unknown\":", c->unknown, true},
        {",\"invalid\":", c->invalid, true},
        {",\"confirmed\":", c->confirmed, expecting},
        {",\"missing\":", c->missing, expecting},
        {",\"different\":", c->different, expecting},
        {",\"unasked\":", c->unasked, expecting},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!members[i].shown)
            continue;
        stream_text(&r->out, members[i].name);
        stream_number(&r->out, members[i].count);
    }
    stream_text(&r->out, "}\n");
    return stream_write(&r->out, r->run);
}

/* Instead of the one relay's state, how far all of it is. */
static void show_progress(void *context, const struct jobs_progress *progress)
{
    struct replaying *r = context;
    char line[200];
    int64_t elapsed = milliseconds() - r->started;
    if (elapsed < 1000)
        return;
    snprintf(line, sizeof line, "%" PRIu64 " events, %.0f/s, %s", r->told, (double)r->told * 1000 / (double)elapsed,
             progress->doing);
    progress_line(r->run, line);
}

static int open_expected(int *descriptor, struct run *run)
{
    char shown[256];
    const char *path = options_text(&run->options, OPT_EXPECT);
    *descriptor = -1;
    if (path == NULL)
        return JOBS_OK;
    struct stat status = {0};
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int reason = *descriptor < 0 || fstat(*descriptor, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (reason == 0)
        return JOBS_OK;
    return jobs_error_set(&run->error, JOBS_USAGE, "cannot read %s: %s",
                          escape_line(shown, sizeof shown, path, strlen(path)), strerror(reason));
}

static int conclude(struct replaying *r, int code, bool expecting)
{
    struct run *run = r->run;
    bool over = code == JOBS_OK || code == JOBS_REFUSED || code == JOBS_UNKNOWN;
    if (over || signals_stop != 0) {
        int printed = put_summary(r, expecting);
        code = printed != JOBS_OK ? printed : code;
    }
    if (code == JOBS_OK && signals_stop != 0)
        code = jobs_error_set(&run->error, JOBS_UNKNOWN, "interrupted; what was not reached is not told of");
    return code;
}

int command_replay(struct run *run)
{
    struct client client = {0};
    struct replaying r = {.run = run, .all = options_has(&run->options, OPT_ALL), .started = milliseconds()};
    struct jobs_replay_options replay = {
        .input = -1,
        .expect = -1,
        .verify = options_has(&run->options, OPT_VERIFY),
        .journal = options_text(&run->options, OPT_JOURNAL),
    };
    int64_t size;
    if (options_has(&run->options, OPT_WINDOW))
        replay.window = (size_t)options_number(&run->options, OPT_WINDOW);
    if (options_has(&run->options, OPT_RATE))
        replay.rate = (size_t)options_number(&run->options, OPT_RATE);
    int code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_IF_THERE);
    if (code == JOBS_OK)
        code = stream_open(&replay.input, &size, run);
    if (code == JOBS_OK)
        code = open_expected(&replay.expect, run);
    if (code != JOBS_OK)
        goto out;
    if (client.options.progress != NULL) {
        client.options.progress = show_progress;
        client.options.progress_context = &r;
    }
    signals_hold();
    code = jobs_replay(&replay, &client.options, put_line, &r, &r.counts, &run->error);
    progress_erase();
    code = conclude(&r, code, replay.expect >= 0);
out:
    if (replay.expect >= 0)
        close(replay.expect);
    stream_close(replay.input);
    stream_free(&r.out);
    client_free(&client);
    return code;
}
