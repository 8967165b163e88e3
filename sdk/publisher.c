/* publisher.c - an order carried through: from a manifest to a receipt, by the decision table.
 *
 * It decides; publisher_delivery.c sends. Nothing leaves before the folder is locked, nothing is signed before the
 * table says so.
 */
#include "publisher.h"

#include "supersede.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct job { /* one order on its way */
    const struct jobs_handoff_order *order;
    const struct jobs_client_options *options;
    struct jobs_receipt *receipt;
    struct jobs_report *report;
    struct jobs_error *error;

    struct jobs_given given;
    struct jobs_handoff *handoff;
    bool outcome_missing;
    char channel[37]; /* "" until known */
    char digest[65], digest_loose[65];
    struct jobs__relays relays;
    struct jobs__folder folder;
    struct jobs__request request;
    bool checked;
    bool must_know;
    struct jobs__delivery delivery;
    struct jobs__entry *standing; /* what the folder holds: the same, or what stands in the way */
};

/* --- the manifest --- */

static int parse(struct job *job)
{
    jobs_handoff_free(job->handoff);
    job->handoff = NULL;
    job->given.requested_outcome_later = job->given.requested_outcome == NULL;
    int code =
        jobs_handoff_parse(&job->handoff, job->order->manifest, job->order->manifest_len, &job->given, job->report);
    if (code == JOBS_INVALID)
        return jobs_error_set(job->error, code, "the manifest breaks the contract in %zu place%s", job->report->count,
                              job->report->count == 1 ? "" : "s");
    if (code)
        return jobs_error_set(job->error, code, "out of memory");
    job->outcome_missing = jobs_handoff_requested_outcome(job->handoff) == NULL;
    return JOBS_OK;
}

static int guard_secrets(struct job *job)
{
    const struct jobs_secret_options secrets = {.key = job->options->key,
                                                .allowed = job->order->allowed_secrets,
                                                .allowed_count = job->order->allowed_secret_count};
    int code = jobs_secrets_check_handoff(job->handoff, &secrets, job->report);
    if (code == JOBS_INVALID)
        return jobs_error_set(job->error, code, "the manifest holds what looks like a secret; it would be public");
    return code ? jobs_error_set(job->error, code, "out of memory") : JOBS_OK;
}

static int compute_digests(struct job *job)
{
    const char *author = jobs_key_public(job->options->key);
    job->digest[0] = job->digest_loose[0] = '\0';
    if (job->channel[0] == '\0')
        return JOBS_OK;
    int code = jobs__entry_digest(job->digest_loose, author, job->channel, job->handoff, true);
    if (!code && !job->outcome_missing)
        code = jobs__entry_digest(job->digest, author, job->channel, job->handoff, false);
    return code ? jobs_error_set(job->error, code, "out of memory") : JOBS_OK;
}

/* --- the decision --- */

static enum jobs__wish wish_of(const struct job *job, enum jobs__disk disk)
{
    const char *supersedes = jobs_handoff_supersedes(job->handoff);
    const struct jobs__entry *newest = jobs__folder_newest(&job->folder, true);
    if (job->order->supersede)
        return JOBS__WISH_SUPERSEDE;
    bool names_newest = supersedes != NULL && newest != NULL && strcmp(supersedes, newest->id) == 0;
    if (job->order->again && !(names_newest && disk == JOBS__DISK_OTHER))
        return JOBS__WISH_NEW;
    if (supersedes == NULL)
        return JOBS__WISH_PLAIN;
    return names_newest ? JOBS__WISH_NAMES_NEWEST : JOBS__WISH_NAMES_OTHER;
}

static enum jobs__decision decide(struct job *job, enum jobs__heard heard)
{
    enum jobs__disk disk =
        jobs__folder_compare(&job->folder, job->channel, job->digest, job->digest_loose, &job->standing);
    return jobs__decide(disk, wish_of(job, disk), heard, job->must_know)->decision;
}

static int conflict(struct job *job)
{
    const struct jobs__entry *entry = job->standing;
    memcpy(job->receipt->event_id, entry->id, sizeof entry->id);
    bool elsewhere = strcmp(entry->channel, job->channel) != 0;
    int code =
        jobs_error_set(job->error, JOBS_CONFLICT,
                       "a different handoff of this key is already there for this job%s%s: %s; nothing was signed",
                       elsewhere ? ", in channel " : "", elsewhere ? entry->channel : "", entry->id);
    if (job->error != NULL)
        snprintf(job->error->hint, sizeof job->error->hint, "%s",
                 elsewhere ? "name that channel, or the right job: readers count `supersedes` only within one channel"
                           : "--supersede replaces it; or name it as `supersedes` in the manifest");
    return code;
}

static int go_on(struct job *job)
{
    job->delivery.entry = job->standing;
    job->delivery.event = job->standing->event;
    job->delivery.maybe_sent = true;
    memcpy(job->receipt->event_id, job->standing->id, sizeof job->standing->id);
    job->receipt->stored = true;
    return JOBS_OK;
}

/* --- signing --- */

static int make_event(struct jobs_event **out, struct job *job)
{
    const struct jobs_envelope envelope = {
        .channel = job->channel,
        .thread_root = job->checked ? job->request.root : NULL,
        .notify = job->order->notify_requester && job->checked ? job->request.author : job->order->notify,
        .attestation = job->options->attestation,
    };
    return jobs_event_from_handoff(out, job->handoff, &envelope, jobs__outbox_now(), job->error);
}

/* --supersede: the payload names what it replaces, so it is made again. */
static int fill_in_supersedes(struct job *job)
{
    const struct jobs__entry *newest = jobs__folder_newest(&job->folder, true);
    if (!job->order->supersede || newest == NULL)
        return JOBS_OK;
    job->given.supersedes = newest->id;
    return parse(job);
}

/* What it replaces is in the folder, save for its bytes when they were pruned. */
static int check_superseded(struct job *job)
{
    const char *id = jobs_handoff_supersedes(job->handoff);
    const struct jobs__entry *older = id != NULL ? jobs__folder_find(&job->folder, id) : NULL;
    int code = older != NULL && older->event != NULL ? jobs__supersede_check(job->handoff, older->event, job->report)
                                                     : JOBS_OK;
    if (code == JOBS_INVALID)
        jobs_error_set(job->error, code, "the handoff drops %zu finding%s of the one it supersedes; nothing was signed",
                       job->report->count, job->report->count == 1 ? "" : "s");
    else if (code)
        jobs_error_set(job->error, code, "out of memory");
    return code;
}

/* The same content in the same second would be the same event (--new, twice): the time is not bent, it is awaited. */
static void await_next_second(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct timespec rest = {.tv_nsec = 1000000000L - now.tv_nsec};
    if (rest.tv_nsec == 1000000000L)
        rest = (struct timespec){.tv_sec = 1};
    nanosleep(&rest, NULL);
}

static int sign(struct job *job)
{
    struct jobs_event *event = NULL;
    int code = fill_in_supersedes(job);
    if (!code)
        code = check_superseded(job);
    while (!code) {
        code = make_event(&event, job);
        if (!code)
            code = jobs_event_seal(event, job->options->key, job->error);
        if (code || jobs__folder_find(&job->folder, jobs_event_id(event)) == NULL)
            break;
        jobs_event_free(event);
        event = NULL;
        await_next_second();
    }
    if (code) {
        jobs_event_free(event);
        return code;
    }
    return jobs__delivery_store(&job->delivery, event, NULL);
}

static int when_asked(void *context, struct jobs__delivery *delivery)
{
    struct job *job = context;
    bool all_answered;
    int code = jobs__delivery_adopt(delivery, &all_answered);
    if (code)
        return code;
    switch (decide(job, all_answered ? JOBS__HEARD_ALL : JOBS__HEARD_SOME)) {
    case JOBS__GO_ON:
        return go_on(job);
    case JOBS__CONFLICT:
        return conflict(job);
    case JOBS__SIGN:
        return sign(job);
    case JOBS__ASK: /* not after an answer: the table's rows for it are of the time before */
    case JOBS__BLIND:
        break;
    }
    code = jobs_error_set(job->error, JOBS_UNREACHABLE,
                          "%s, and a relay did not say what it already holds of this job: "
                          "nothing was signed",
                          job->folder.damaged > 0 ? "a file of this job's outbox folder is damaged"
                                                  : "nothing is known here of an earlier handoff");
    if (job->error != NULL)
        snprintf(job->error->hint, sizeof job->error->hint, "run it again when every named relay answers");
    return code;
}

/* --- the job check --- */

static int check_job(struct job *job)
{
    int code =
        jobs__request_fetch(&job->request, jobs_handoff_job_request(job->handoff),
                            job->channel[0] != '\0' ? job->channel : NULL, &job->relays, job->options, job->error);
    if (code)
        return code;
    job->checked = true;
    snprintf(job->channel, sizeof job->channel, "%s", job->request.channel);
    if (!job->outcome_missing)
        return JOBS_OK;
    if (job->request.outcome == NULL)
        return jobs_error_set(job->error, JOBS_USAGE,
                              "the request's content cannot stand as the requested outcome (plain "
                              "text of at most 8192 bytes): write it into the manifest or give "
                              "--requested-outcome");
    job->given.requested_outcome = job->request.outcome;
    code = parse(job);
    return code ? code : guard_secrets(job);
}

/* --- the order --- */

static int check_order(struct job *job)
{
    const struct jobs_handoff_order *order = job->order;
    const struct jobs_client_options *options = job->options;
    if (order->again && order->supersede)
        return jobs_error_set(job->error, JOBS_USAGE, "--new and --supersede ask for different things: name one");
    if (order->channel != NULL && !jobs_channel_is_valid(order->channel))
        return jobs_error_set(job->error, JOBS_USAGE, "the channel must be a lower-case hyphenated UUID");
    if (options->key == NULL && !order->dry_run)
        return jobs_error_set(job->error, JOBS_BAD_KEY, "there is no key to sign with");
    snprintf(job->channel, sizeof job->channel, "%s", order->channel == NULL ? "" : order->channel);
    int code = parse(job);
    if (!code)
        code = guard_secrets(job);
    if (!code && options->attestation != NULL)
        code = jobs_attestation_allows(options->attestation, JOBS_KIND_RESULT, jobs__outbox_now(), job->error);
    if (!code && (options->relay_count > 0 || !order->dry_run))
        code = jobs__relays_resolve(&job->relays, options, job->error);
    if (!code && !order->dry_run && job->relays.count == 0)
        code = jobs_error_set(job->error, JOBS_USAGE, "no relay is named");
    return code;
}

static int open_folder(struct job *job)
{
    char *state_dir = NULL;
    char name[65];
    int code = jobs__folder_name(name, jobs_key_public(job->options->key), jobs_handoff_job_request(job->handoff));
    if (!code)
        code = jobs__state_dir(&state_dir, job->options->state_dir, job->error);
    if (!code)
        code = jobs__folder_open(&job->folder, state_dir, name, !job->order->dry_run, jobs__timeout_ms(job->options),
                                 job->options->stop, job->error);
    free(state_dir);
    if (code == JOBS_NOT_FOUND && job->order->dry_run)
        return JOBS_OK;
    if (!code && job->folder.damaged_now > 0)
        code = jobs__receipt_warn(job->receipt, "%zu damaged file%s in the outbox set aside, %s: %s (in %s)",
                                  job->folder.damaged_now, job->folder.damaged_now == 1 ? "" : "s",
                                  job->folder.damaged_name, job->folder.damaged_why, job->folder.path);
    const struct jobs__entry *newest = jobs__folder_newest(&job->folder, false);
    if (job->channel[0] == '\0' && newest != NULL)
        memcpy(job->channel, newest->channel, sizeof job->channel);
    job->must_know = job->folder.damaged > 0 || (job->order->supersede && newest == NULL);
    return code;
}

/* Before any network: what the folder alone decides. *decided says whether it did. */
static int decide_from_disk(struct job *job, enum jobs__decision *decision)
{
    const struct jobs_handoff_order *order = job->order;
    int code = compute_digests(job);
    if (code)
        return code;
    enum jobs__heard before = job->options->skip_read_back ? JOBS__HEARD_SKIPPED : JOBS__HEARD_NOT_ASKED;
    *decision = decide(job, before);
    if (*decision == JOBS__CONFLICT)
        return conflict(job);
    if (*decision == JOBS__GO_ON)
        return JOBS_OK;
    if (order->check_job || order->notify_requester || job->channel[0] == '\0' || job->outcome_missing) {
        code = check_job(job);
        if (!code)
            code = compute_digests(job);
        if (code)
            return code;
        *decision = decide(job, before);
        if (*decision == JOBS__CONFLICT)
            return conflict(job);
    }
    return JOBS_OK;
}

static int show_only(struct job *job, enum jobs__decision decision, struct jobs_event **event)
{
    if (event == NULL)
        return JOBS_OK;
    int code = fill_in_supersedes(job);
    if (!code && decision == JOBS__SIGN)
        code = check_superseded(job);
    return code ? code : make_event(event, job);
}

static int copy_event(struct jobs_event **out, const struct jobs_event *event, struct jobs_error *error)
{
    size_t len;
    if (out == NULL || event == NULL)
        return JOBS_OK;
    const char *json = jobs_event_json(event, &len);
    return jobs_event_parse(out, json, len, error);
}

static int deliver(struct job *job, enum jobs__decision decision)
{
    struct jobs__delivery *delivery = &job->delivery;
    *delivery = (struct jobs__delivery){
        .options = job->options,
        .relays = &job->relays,
        .receipt = job->receipt,
        .error = job->error,
        .folder = &job->folder,
        .channel = job->channel,
        .job = jobs_handoff_job_request(job->handoff),
        .ask = decision != JOBS__SIGN,
        .must_know = decision == JOBS__ASK && job->must_know,
        .when_asked = when_asked,
        .context = job,
    };
    int code = decision == JOBS__SIGN ? sign(job) : decision == JOBS__GO_ON ? go_on(job) : JOBS_OK;
    if (!code)
        code = jobs__delivery_run(delivery);
    if (delivery->entry != NULL)
        memcpy(job->receipt->event_id, delivery->entry->id, sizeof delivery->entry->id);
    return code ? code : jobs__receipt_conclude(job->receipt, delivery, job->error);
}

int jobs_publish_handoff(struct jobs_receipt *receipt, struct jobs_event **event,
                         const struct jobs_handoff_order *order, const struct jobs_client_options *options,
                         struct jobs_report *report, struct jobs_error *error)
{
    struct job job = {.order = order,
                      .options = options,
                      .receipt = receipt,
                      .report = report,
                      .error = error,
                      .given = order->given,
                      .folder = {.root = -1, .pending = -1, .fd = -1, .lock = -1}};
    enum jobs__decision decision = JOBS__ASK;
    if (event != NULL)
        *event = NULL;
    int code = check_order(&job);
    if (!code && options->key != NULL)
        code = open_folder(&job);
    if (!code && options->key != NULL)
        code = decide_from_disk(&job, &decision);
    else if (!code && (order->check_job || order->notify_requester || job.channel[0] == '\0' || job.outcome_missing))
        code = check_job(&job); /* a dry run without a key */
    if (!code && order->dry_run) {
        code =
            decision == JOBS__GO_ON ? copy_event(event, job.standing->event, error) : show_only(&job, decision, event);
        goto out;
    }
    if (!code)
        code = deliver(&job, decision);
    if (job.delivery.event != NULL && copy_event(event, job.delivery.event, NULL) != JOBS_OK && !code)
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");

out:
    if (!order->dry_run)
        jobs__counter_tell(&job.delivery.counter, receipt, options->state_dir, receipt->event_id);
    jobs__delivery_free(&job.delivery);
    jobs__folder_free(&job.folder);
    jobs__request_free(&job.request);
    jobs__relays_free(&job.relays);
    jobs_handoff_free(job.handoff);
    return code;
}

int jobs_publish_event(struct jobs_receipt *receipt, const struct jobs_event *event,
                       const struct jobs_client_options *options, struct jobs_error *error)
{
    struct jobs__relays relays = {0};
    struct jobs__delivery delivery = {
        .options = options, .relays = &relays, .receipt = receipt, .error = error, .event = event};
    snprintf(receipt->event_id, sizeof receipt->event_id, "%s", jobs_event_id(event));
    int code = jobs__relays_resolve(&relays, options, error);
    if (!code && relays.count == 0)
        code = jobs_error_set(error, JOBS_USAGE, "no relay is named");
    if (!code)
        code = jobs__delivery_run(&delivery);
    if (!code)
        code = jobs__receipt_conclude(receipt, &delivery, error);
    jobs__counter_tell(&delivery.counter, receipt, options->state_dir, "");
    jobs__delivery_free(&delivery);
    jobs__relays_free(&relays);
    return code;
}
