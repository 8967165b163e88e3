/* doctor.c - looks at every relay and at the outbox, and says what a handoff would meet. Publishes nothing, writes
 * nothing: not even the outbox's folder is made.
 */
#include "doctor.h"

#include "../core/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FREE_LITTLE ((uint64_t)16 << 20)

static const char *const check_names[] = {
#define X(check, name) name,
    JOBS_CHECKS(X)
#undef X
};

const char *jobs_check_name(enum jobs_check check)
{
    return check_names[check];
}

const char *jobs_check_state_name(enum jobs_check_state state)
{
    static const char *const names[] = {"skipped", "ok", "warning", "failed"};
    return names[state];
}

static bool is_worse(int code, int than)
{
    return jobs_code_exit(code) > jobs_code_exit(than);
}

void jobs__examination_note(struct jobs_examination *found, enum jobs_check check, enum jobs_check_state state,
                            int code, const char *format, ...)
{
    struct jobs_check_result *result = &found->checks[check];
    char words[2048];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    result->state = state;
    jobs__text_one_line(result->message, JOBS_RELAY_MESSAGE_MAX, words, len < 0 ? 0 : strlen(words));
    if (state == JOBS_CHECK_FAILED && is_worse(code, found->code))
        found->code = code;
}

/* --- the outbox --- */

/* The nearest folder above that is there already: a missing outbox is made on first use. */
static void cut_to_what_exists(char *path)
{
    while (access(path, F_OK) != 0) {
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            memcpy(path, ".", 2);
            return;
        }
        slash[slash == path ? 1 : 0] = '\0';
        if (slash == path)
            return;
    }
}

static int look_at_outbox(struct jobs_outbox_health *health, const char *state_dir, struct jobs_error *error)
{
    int code = jobs__state_dir(&health->path, state_dir, error);
    if (code)
        return code;
    char *there = strdup(health->path);
    struct statvfs space;
    if (there == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    cut_to_what_exists(there);
    health->usable = access(there, W_OK | X_OK) == 0;
    if (!health->usable)
        snprintf(health->message, sizeof health->message, "it cannot be written: %s", strerror(errno));
    else if (statvfs(there, &space) == 0) {
        health->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
        if (health->free_bytes < FREE_LITTLE) {
            health->usable = false;
            snprintf(health->message, sizeof health->message, "the disk is full, or nearly so");
        }
    }
    free(there);
    struct jobs_receipt counted = {0};
    jobs__pending_count(&counted, state_dir, "");
    health->pending_count = counted.pending_count;
    health->pending_oldest = counted.pending_oldest;
    health->pending_more = counted.pending_more;
    return JOBS_OK;
}

/* --- the relays --- */

static int look_at_relays(struct jobs_diagnosis *diagnosis, const struct jobs__relays *relays,
                          const struct jobs__doctor *like, struct jobs_error *error)
{
    const struct jobs_client_options *options = like->options;
    struct jobs__doctor *doctors = calloc(relays->count + 1, sizeof *doctors);
    struct jobs__line *lines = calloc(relays->count + 1, sizeof *lines);
    diagnosis->relays = calloc(relays->count + 1, sizeof *diagnosis->relays);
    int code = JOBS_NO_MEMORY;
    if (doctors == NULL || lines == NULL || diagnosis->relays == NULL)
        goto out;
    int64_t now = jobs__loop_now();
    for (size_t i = 0; i < relays->count; i++) {
        struct jobs_examination *found = &diagnosis->relays[i];
        found->url = strdup(relays->urls[i]);
        if (found->url == NULL)
            goto out;
        diagnosis->relay_count++;
        doctors[i] = *like;
        doctors[i].found = found;
        jobs__doctor_begin(&doctors[i], found->url, now);
        lines[i] = (struct jobs__line){.engine = &doctors[i].engine, .url = found->url};
    }
    const struct jobs__loop_options loop = {
        .ca_file = options->ca_file,
        .stop = options->stop,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    code = jobs__loop_run(lines, relays->count, &loop, error);
    for (size_t i = 0; i < relays->count; i++)
        jobs__doctor_end(&doctors[i]);

out:
    if (code == JOBS_NO_MEMORY)
        jobs_error_set(error, code, "out of memory");
    free(doctors);
    free(lines);
    return code;
}

/* What is wrong, in one line, of the first check that failed with the worst code. */
static int sum_up(const struct jobs_diagnosis *diagnosis, struct jobs_error *error)
{
    int code = diagnosis->outbox.usable ? JOBS_OK : JOBS_SYSTEM;
    const struct jobs_examination *worst = NULL;
    size_t failed = 0;
    for (size_t i = 0; i < diagnosis->relay_count; i++) {
        const struct jobs_examination *one = &diagnosis->relays[i];
        failed += one->code != JOBS_OK;
        if (is_worse(one->code, code)) {
            code = one->code;
            worst = one;
        }
    }
    if (code == JOBS_OK)
        return code;
    if (worst == NULL)
        return jobs_error_set(error, code, "the outbox in %s: %s", diagnosis->outbox.path, diagnosis->outbox.message);
    const struct jobs_check_result *check = worst->checks;
    while (check->state != JOBS_CHECK_FAILED)
        check++;
    return jobs_error_set(error, code, "%zu of %zu relays would not do; %s: %s: %s", failed, diagnosis->relay_count,
                          worst->url, check_names[check - worst->checks], check->message);
}

int jobs_diagnose(struct jobs_diagnosis *diagnosis, const char *channel, const char *job,
                  const struct jobs_client_options *options, struct jobs_error *error)
{
    struct jobs__relays relays = {0};
    const struct jobs__doctor like = {
        .options = options, .channel = channel, .job = job, .auth_url = options->auth_url};
    int code = jobs__relays_resolve(&relays, options, error);
    if (!code && relays.count == 0)
        code = jobs_error_set(error, JOBS_USAGE, "no relay is named");
    if (!code)
        code = look_at_outbox(&diagnosis->outbox, options->state_dir, error);
    if (!code)
        code = look_at_relays(diagnosis, &relays, &like, error);
    jobs__relays_free(&relays);
    return code ? code : sum_up(diagnosis, error);
}

void jobs_diagnosis_wipe(struct jobs_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->relay_count; i++)
        free(diagnosis->relays[i].url);
    free(diagnosis->relays);
    free(diagnosis->outbox.path);
    memset(diagnosis, 0, sizeof *diagnosis);
}
