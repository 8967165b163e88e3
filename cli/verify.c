/* verify.c - `jobs verify`: what it is asked, and what it says beside the verdicts: progress, counts, the exit status.
 */
#include "verify.h"

#include "print.h"
#include "progress.h"
#include "signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void show_progress(struct verify_work *work, const struct verify_counts *so_far)
{
    char line[160];
    int64_t now = milliseconds();
    int64_t elapsed = now - work->started;
    if (elapsed < 1000 || now - work->shown < 200)
        return;
    work->shown = now;
    double seconds = (double)elapsed / 1000, mib = (double)so_far->bytes / (1 << 20);
    int len = snprintf(line, sizeof line, "%.1f MiB, %" PRIu64 " events, %.0f/s", mib, so_far->lines,
                       (double)so_far->lines / seconds);
    if (work->size > 0 && so_far->bytes > 0 && len > 0) {
        double left = seconds * ((double)work->size - (double)so_far->bytes) / (double)so_far->bytes;
        unsigned whole = left > 0 ? (unsigned)left : 0;
        snprintf(line + len, sizeof line - (size_t)len, ", %.0f %%, %u:%02u left",
                 100 * (double)so_far->bytes / (double)work->size, whole / 60, whole % 60);
    }
    progress_line(work->run, line);
}

static json_t *counts_of(const struct verify_counts *counts, bool evidence)
{
    json_t *line = json_object();
    json_object_set_new(line, "lines", json_integer((json_int_t)counts->lines));
    for (int i = JOBS_VERIFIED_VALID; i <= JOBS_VERIFIED_BAD_SIGNATURE; i++)
        json_object_set_new(line, jobs_verified_name((enum jobs_verified_event)i),
                            json_integer((json_int_t)counts->events[i]));
    json_object_set_new(line, "cards", json_integer((json_int_t)counts->cards));
    json_object_set_new(line, "no_cards", json_integer((json_int_t)counts->no_cards));
    if (evidence) {
        json_object_set_new(line, "confirmed", json_integer((json_int_t)counts->confirmed));
        json_object_set_new(line, "different", json_integer((json_int_t)counts->different));
        json_object_set_new(line, "missing", json_integer((json_int_t)counts->missing));
    }
    return line;
}

static void describe(char *text, size_t size, const struct verify_counts *counts, bool evidence)
{
    int len =
        snprintf(text, size,
                 "of %" PRIu64 " lines %" PRIu64 " are valid, %" PRIu64 " malformed, %" PRIu64
                 " have a bad id, %" PRIu64 " a bad signature; %" PRIu64 " are cards, %" PRIu64 " results are none",
                 counts->lines, counts->events[JOBS_VERIFIED_VALID], counts->events[JOBS_VERIFIED_MALFORMED],
                 counts->events[JOBS_VERIFIED_BAD_ID], counts->events[JOBS_VERIFIED_BAD_SIGNATURE], counts->cards,
                 counts->no_cards);
    if (evidence && len > 0 && (size_t)len < size)
        snprintf(text + len, size - (size_t)len,
                 "; of the evidence %" PRIu64 " confirmed, %" PRIu64 " different, %" PRIu64 " missing",
                 counts->confirmed, counts->different, counts->missing);
}

/* The counts go to stderr whatever the end; of a failure they are part of its line. */
static int conclude(struct verify_work *work, int code)
{
    struct run *run = work->run;
    const struct verify_counts *counts = &work->counts;
    bool evidence = work->root != NULL;
    char text[400];
    describe(text, sizeof text, counts, evidence);
    bool good = counts->events[JOBS_VERIFIED_VALID] == counts->lines && counts->no_cards == 0 &&
                counts->different == 0 && counts->missing == 0;
    if (code == JOBS_OK && signals_stop != 0) {
        code = jobs_error_set(&run->error, JOBS_SYSTEM, "interrupted: %s", text);
        run->error.retryable = true;
    } else if (code == JOBS_OK && !good) {
        code = jobs_error_set(&run->error, JOBS_INVALID, "%s", text);
    }
    if (code != JOBS_OK)
        run->counts = counts_of(counts, evidence);
    else if (print_is_for_person(run, STDERR_FILENO))
        print_note(run, text);
    else
        print_counts(counts_of(counts, evidence));
    return code;
}

int command_verify(struct run *run)
{
    struct verify_work work = {.run = run, .threads = (size_t)options_number(&run->options, OPT_THREADS)};
    struct jobs_evidence_root *root = NULL;
    const char *folder = options_text(&run->options, OPT_EVIDENCE_BELOW);
    int code = stream_open(&work.descriptor, &work.size, run);
    if (code == JOBS_OK && folder != NULL)
        code = jobs_evidence_open(&root, folder, &run->error);
    if (code != JOBS_OK)
        goto out;
    signals_hold();
    work.root = root;
    work.started = milliseconds();
    if (progress_is_wanted(run) && !isatty(STDOUT_FILENO))
        work.tick = show_progress;
    code = verify_run(&work);
    progress_erase();
    code = conclude(&work, code);
out:
    jobs_evidence_close(root);
    stream_close(work.descriptor);
    return code;
}
