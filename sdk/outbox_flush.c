/* outbox_flush.c - sends what waits, oldest first, one entry at a time over all its relays.
 *
 * One at a time keeps the order and floods no relay. What was sent before and is still not answered comes behind the
 * rest, the one tried longest ago first: an event at which a relay falls silent would hold up all others for ever. A
 * relay that could not be reached, asked us to wait or did not let the key in is left alone for the rest of the run, so
 * that one dead relay costs one timeout and not one per entry.
 */
#include "publisher.h"

#include "../core/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY 86400

struct waiting {   /* one entry that waits */
    int64_t tried; /* when it may last have been sent in vain; 0: never */
    int64_t created_at;
    char id[65], folder[65];
};

struct resting { /* a relay that is left alone for the rest of this run */
    char *url;
    struct jobs_relay_result last; /* url NULL */
};

struct flush {
    const struct jobs_client_options *options;
    struct jobs__relays only; /* the relays named, none: all */
    int (*visit)(void *context, const struct jobs_receipt *receipt, int code);
    void *context;
    struct jobs_error *error;
    char *state_dir;
    struct waiting *waiting;
    size_t count, capacity;
    struct resting *resting;
    size_t resting_count;
    struct jobs__kept *kept;    /* one connection a relay, for all of the run */
    struct jobs__names markers; /* of pending/, as they were before we looked */
    bool *marker_used;
    bool some_unseen; /* a folder was locked, or could not be read */
    bool cut_short;   /* it was stopped before all was looked at */
    size_t left;      /* entries that still wait */
    size_t elsewhere; /* entries that wait for relays which were not named */
    int worst;        /* why: the code to return */
    int visit_code;   /* a non-zero return of visit ends the run */
};

/* What says most about a run, first. */
static void note(struct flush *flush, int code)
{
    static const int order[] = {JOBS_NO_MEMORY, JOBS_SYSTEM, JOBS_UNKNOWN, JOBS_UNREACHABLE, JOBS_REFUSED,
                                JOBS_CONFLICT,  JOBS_DENIED, JOBS_BAD_KEY, JOBS_USAGE,       JOBS_BUSY};
    size_t old = 0, new = 0, count = sizeof order / sizeof *order;
    while (old < count && order[old] != flush->worst)
        old++;
    while (new < count && order[new] != code)
        new ++;
    if (new < old)
        flush->worst = code;
}

static void report(struct flush *flush, const struct jobs_receipt *receipt, int code)
{
    if (flush->visit != NULL && flush->visit_code == 0)
        flush->visit_code = flush->visit(flush->context, receipt, code);
}

/* A line about something that is not sent now. */
static void report_words(struct flush *flush, const char *id, bool stored, int code, const char *words)
{
    struct jobs_receipt receipt = {.stored = stored};
    snprintf(receipt.event_id, sizeof receipt.event_id, "%s", id);
    jobs__text_one_line(receipt.message, sizeof receipt.message - 1, words, strlen(words));
    report(flush, &receipt, code);
}

/* --- what waits --- */

static int add_waiting(struct flush *flush, const struct jobs__entry *entry, const char *folder)
{
    if (flush->count == flush->capacity) {
        size_t capacity = flush->capacity == 0 ? 64 : flush->capacity * 2;
        struct waiting *more = realloc(flush->waiting, capacity * sizeof *more);
        if (more == NULL)
            return jobs_error_set(flush->error, JOBS_NO_MEMORY, "out of memory");
        flush->waiting = more;
        flush->capacity = capacity;
    }
    struct waiting *one = &flush->waiting[flush->count++];
    one->tried = 0;
    one->created_at = entry->created_at;
    for (size_t i = 0; i < entry->fact_count; i++) {
        const struct jobs__fact *fact = &entry->facts[i];
        if (fact->state == JOBS__RELAY_PENDING && fact->last_send > one->tried)
            one->tried = fact->last_send;
    }
    memcpy(one->id, entry->id, sizeof one->id);
    memcpy(one->folder, folder, sizeof one->folder);
    return JOBS_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void use_marker(struct flush *flush, const struct jobs__entry *entry)
{
    char name[JOBS__PENDING_NAME];
    char *key = name;
    jobs__pending_name(name, entry->created_at, entry->id);
    char **marker = flush->markers.count == 0 ? NULL
                                              : bsearch(&key, flush->markers.names, flush->markers.count,
                                                        sizeof *flush->markers.names, compare_names);
    if (marker != NULL)
        flush->marker_used[marker - flush->markers.names] = true;
}

static int look_at(struct flush *flush, struct jobs__folder *folder, int pending)
{
    if (folder->damaged_now > 0) {
        char words[JOBS_RELAY_MESSAGE_MAX];
        char id[65] = "";
        if (strlen(folder->damaged_name) >= 64 && jobs__text_is_hex(folder->damaged_name, 64, true))
            memcpy(id, folder->damaged_name, 64);
        snprintf(words, sizeof words, "damaged (%s), set aside in %s", folder->damaged_why, folder->path);
        report_words(flush, id, false, JOBS_OK, words);
    }
    for (size_t i = 0; i < folder->count; i++) {
        const struct jobs__entry *entry = folder->entries[i];
        if (jobs__entry_state(entry) != JOBS_ENTRY_PENDING) {
            jobs__pending_remove(pending, entry->created_at, entry->id);
            continue;
        }
        int code = jobs__pending_add(pending, entry->created_at, entry->id, flush->error);
        use_marker(flush, entry);
        if (code)
            return code;
        if (strcmp(entry->author, jobs_key_public(flush->options->key)) == 0) {
            code = add_waiting(flush, entry, folder->name);
        } else {
            char words[128];
            snprintf(words, sizeof words, "skipped: it was signed by another key, %s", entry->author);
            report_words(flush, entry->id, true, JOBS_OK, words);
        }
        if (code)
            return code;
    }
    return JOBS_OK;
}

static int on_busy_file(void *context, struct jobs__entry *entry, const char *file, const char *why)
{
    struct flush *flush = context;
    (void)file;
    (void)why;
    if (entry == NULL || jobs__entry_state(entry) != JOBS_ENTRY_PENDING ||
        strcmp(entry->author, jobs_key_public(flush->options->key)) != 0)
        return JOBS_OK;
    char folder[65];
    int code = jobs__folder_name(folder, entry->author, entry->job);
    return code ? code : add_waiting(flush, entry, folder); /* it may be free when its turn comes */
}

static int compare_waiting(const void *a, const void *b)
{
    const struct waiting *left = a, *right = b;
    if (left->tried != right->tried)
        return left->tried < right->tried ? -1 : 1;
    if (left->created_at != right->created_at)
        return left->created_at < right->created_at ? -1 : 1;
    return strcmp(left->id, right->id);
}

/* Markers that belong to nothing. Whoever makes one holds its folder's lock until the entry is there: so if no folder
 * was locked, or kept its entries to itself, while we looked, one that was there before and that no entry claimed is
 * left over. */
static void remove_strays(const struct flush *flush, int pending)
{
    for (size_t i = 0; !flush->some_unseen && i < flush->markers.count; i++) {
        if (!flush->marker_used[i])
            unlinkat(pending, flush->markers.names[i], 0);
    }
}

static int collect_folder(struct flush *flush, int root, int pending, const char *name)
{
    struct jobs__folder folder;
    int code = jobs__folder_open(&folder, flush->state_dir, name, false, 0, NULL, flush->error);
    if (!code)
        code = look_at(flush, &folder, pending);
    jobs__folder_free(&folder);
    if (code == JOBS_BUSY) {
        flush->some_unseen = true;
        code = jobs__folder_peek(root, name, on_busy_file, flush, flush->error);
    }
    if (code == JOBS_SYSTEM) { /* one folder that cannot be read is no reason to leave the others unsent */
        report_words(flush, "", false, code, flush->error == NULL ? "" : flush->error->message);
        note(flush, code);
        flush->left++;
        flush->some_unseen = true;
        code = JOBS_OK;
    }
    return code == JOBS_NOT_FOUND ? JOBS_OK : code;
}

static int collect(struct flush *flush)
{
    int root = -1, pending = -1;
    struct jobs__names names = {0};
    int code = jobs__outbox_open(&root, flush->state_dir, false, flush->error);
    if (code == JOBS_NOT_FOUND)
        return JOBS_OK;
    if (!code)
        code = jobs__pending_open(&pending, root, flush->error);
    if (!code)
        code = jobs__names_read(&flush->markers, pending, flush->error);
    if (!code) {
        flush->marker_used = calloc(flush->markers.count + 1, sizeof *flush->marker_used);
        if (flush->marker_used == NULL)
            code = jobs_error_set(flush->error, JOBS_NO_MEMORY, "out of memory");
    }
    if (!code)
        code = jobs__names_read(&names, root, flush->error);
    for (size_t i = 0; !code && i < names.count; i++) {
        flush->cut_short = jobs__stopped(flush->options);
        if (flush->cut_short)
            break;
        if (strlen(names.names[i]) == 64 && jobs__text_is_hex(names.names[i], 64, true))
            code = collect_folder(flush, root, pending, names.names[i]);
    }
    if (!code && !flush->cut_short)
        remove_strays(flush, pending);
    if (!code && flush->count > 1)
        qsort(flush->waiting, flush->count, sizeof *flush->waiting, compare_waiting);
    jobs__names_free(&names);
    if (pending >= 0)
        close(pending);
    if (root >= 0)
        close(root);
    return code;
}

/* --- sending --- */

static const struct resting *rests(const struct flush *flush, const char *url)
{
    for (size_t i = 0; i < flush->resting_count; i++) {
        if (strcmp(flush->resting[i].url, url) == 0)
            return &flush->resting[i];
    }
    return NULL;
}

static int let_rest(struct flush *flush, const struct jobs_relay_result *result)
{
    bool holds = result->verdict == JOBS_ACCEPTED || result->verdict == JOBS_DUPLICATE;
    bool futile = result->verdict == JOBS_NOT_REACHED || result->verdict == JOBS_UNCLEAR || result->denied ||
                  result->retry_after > 0;
    if (holds || !futile || rests(flush, result->url) != NULL)
        return JOBS_OK;
    struct resting *more = realloc(flush->resting, (flush->resting_count + 1) * sizeof *more);
    if (more != NULL)
        flush->resting = more;
    char *url = strdup(result->url);
    if (more == NULL || url == NULL) {
        free(url);
        return JOBS_NO_MEMORY;
    }
    struct resting *one = &more[flush->resting_count++];
    *one = (struct resting){.url = url, .last = *result};
    one->last.url = NULL;
    one->last.attempts = 0;
    one->last.verdict = JOBS_NOT_REACHED; /* of an entry that was not sent to it */
    one->last.read_back = JOBS_NOT_ASKED;
    snprintf(one->last.message, sizeof one->last.message, "left alone for the rest of this run: %.400s",
             result->message);
    return JOBS_OK;
}

/* The entry's relays that are to be asked now. */
static int choose_relays(struct flush *flush, const struct jobs__entry *entry, struct jobs__relays *out,
                         struct jobs_receipt *receipt)
{
    *out = (struct jobs__relays){.urls = calloc(entry->fact_count + 1, sizeof *out->urls)};
    receipt->relays = calloc(entry->fact_count + 1, sizeof *receipt->relays);
    if (out->urls == NULL || receipt->relays == NULL)
        return JOBS_NO_MEMORY;
    for (size_t i = 0; i < entry->fact_count; i++) {
        const struct jobs__fact *fact = &entry->facts[i];
        if (fact->state != JOBS__RELAY_PENDING && fact->state != JOBS__RELAY_UNSEEN)
            continue;
        bool named = flush->only.count == 0;
        for (size_t j = 0; j < flush->only.count && !named; j++)
            named = strcmp(flush->only.urls[j], fact->url) == 0;
        if (!named)
            continue;
        char *url = strdup(fact->url);
        if (url == NULL)
            return JOBS_NO_MEMORY;
        const struct resting *resting = rests(flush, url);
        if (resting == NULL) {
            out->urls[out->count++] = url;
        } else {
            struct jobs_relay_result *result = &receipt->relays[receipt->relay_count++];
            *result = resting->last;
            result->url = url;
            if (jobs__fact_is_open(fact)) /* an earlier run may have brought it there */
                result->verdict = JOBS_UNCLEAR;
        }
    }
    out->require = out->count;
    return JOBS_OK;
}

/* A relay that said OK a day ago and never showed it: that word has to do. */
static int end_unseen(struct jobs__folder *folder, struct jobs__entry *entry, struct jobs_receipt *receipt,
                      struct jobs_error *error)
{
    int64_t now = jobs__outbox_now();
    bool changed = false, stored;
    int code = JOBS_OK;
    for (size_t i = 0; !code && i < entry->fact_count; i++) {
        struct jobs__fact *fact = &entry->facts[i];
        if (fact->state != JOBS__RELAY_UNSEEN || now - fact->unseen_since < DAY)
            continue;
        fact->state = JOBS__RELAY_ACCEPTED;
        fact->unseen_since = 0;
        changed = true;
        code = jobs__receipt_warn(receipt, "%s said OK more than a day ago and never showed it: counted as accepted",
                                  fact->url);
    }
    return !code && changed ? jobs__folder_store(folder, entry, &stored, error) : code;
}

static int code_of_resting(const struct jobs_receipt *receipt)
{
    for (size_t i = 0; i < receipt->relay_count; i++)
        if (receipt->relays[i].verdict == JOBS_UNCLEAR)
            return JOBS_UNKNOWN;
    return JOBS_UNREACHABLE;
}

static int send_entry(struct flush *flush, struct jobs__folder *folder, struct jobs__entry **entry,
                      const struct jobs__relays *relays, struct jobs_receipt *receipt, struct jobs_error *error)
{
    struct jobs_receipt fresh = {.stored = true};
    memcpy(fresh.event_id, (*entry)->id, sizeof fresh.event_id);
    struct jobs__delivery delivery = {.options = flush->options,
                                      .relays = relays,
                                      .receipt = &fresh,
                                      .error = error,
                                      .folder = folder,
                                      .entry = *entry,
                                      .event = (*entry)->event,
                                      .channel = (*entry)->channel,
                                      .job = (*entry)->job,
                                      .ask = true,
                                      .kept = flush->kept,
                                      .maybe_sent = true};
    int code = jobs__delivery_run(&delivery);
    *entry = delivery.entry;
    memcpy(fresh.event_id, (*entry)->id, sizeof fresh.event_id);
    if (!code)
        code = jobs__receipt_conclude(&fresh, &delivery, error);
    for (size_t i = 0; i < fresh.relay_count && code != JOBS_NO_MEMORY; i++) {
        if (let_rest(flush, &fresh.relays[i]))
            code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    }
    jobs__delivery_free(&delivery);
    /* Those that were left alone are relays of this entry too: they come after those that were asked. */
    struct jobs_relay_result *all = realloc(fresh.relays, (fresh.relay_count + receipt->relay_count + 1) * sizeof *all);
    if (all == NULL) {
        jobs_receipt_wipe(&fresh);
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    }
    memcpy(all + fresh.relay_count, receipt->relays, receipt->relay_count * sizeof *all);
    fresh.relays = all;
    fresh.relay_count += receipt->relay_count;
    if (receipt->relay_count > 0) {
        fresh.accepted = false;
        code = code ? code : code_of_resting(receipt);
    }
    free(receipt->relays);
    *receipt = fresh;
    return code;
}

static void flush_one(struct flush *flush, const struct waiting *waiting)
{
    struct jobs__folder folder;
    struct jobs__relays relays = {0};
    struct jobs_receipt receipt = {.stored = true};
    struct jobs_error error = {0};
    struct jobs__entry *entry = NULL;
    bool touched = true;
    memcpy(receipt.event_id, waiting->id, sizeof receipt.event_id);
    int code = jobs__folder_open(&folder, flush->state_dir, waiting->folder, false, 0, NULL, &error);
    if (!code) {
        entry = jobs__folder_find(&folder, waiting->id);
        if (entry == NULL || jobs__entry_state(entry) != JOBS_ENTRY_PENDING) {
            touched = false; /* another process was faster */
            goto out;
        }
        code = choose_relays(flush, entry, &relays, &receipt);
    }
    if (!code && relays.count == 0 && receipt.relay_count == 0) {
        touched = false; /* none of the relays that were named */
        flush->elsewhere++;
        goto out;
    }
    if (!code && relays.count == 0)
        code = code_of_resting(&receipt);
    else if (!code)
        code = send_entry(flush, &folder, &entry, &relays, &receipt, &error);
    if ((code == JOBS_OK || jobs_code_exit(code) == 2) && entry != NULL) {
        int failed = end_unseen(&folder, entry, &receipt, &error);
        code = failed ? failed : code;
    }
    if (code && receipt.message[0] == '\0')
        snprintf(receipt.message, sizeof receipt.message, "%.512s",
                 error.message[0] != '\0' ? error.message : jobs_code_sentence(code));

out:
    if (touched) {
        bool waits = entry == NULL || jobs__entry_state(entry) == JOBS_ENTRY_PENDING;
        if (waits || code == JOBS_SYSTEM || code == JOBS_NO_MEMORY) {
            flush->left++;
            flush->elsewhere += flush->only.count > 0 && code == JOBS_OK;
            note(flush, code ? code : JOBS_UNKNOWN);
        }
        jobs__folder_free(&folder); /* let go of the lock before the caller is told */
        jobs__pending_count(&receipt, flush->options->state_dir, receipt.event_id);
        report(flush, &receipt, code);
    } else {
        jobs__folder_free(&folder);
    }
    jobs_receipt_wipe(&receipt);
    jobs__relays_free(&relays);
}

int jobs_outbox_flush(const struct jobs_client_options *options,
                      int (*visit)(void *context, const struct jobs_receipt *receipt, int code), void *context,
                      size_t *elsewhere, struct jobs_error *error)
{
    if (elsewhere != NULL)
        *elsewhere = 0;
    struct flush flush = {.options = options, .visit = visit, .context = context, .error = error};
    int code = JOBS_OK;
    if (options->key == NULL)
        return jobs_error_set(error, JOBS_BAD_KEY, "there is no key: only what it signed can be sent");
    if (options->auth_url != NULL && options->relay_count != 1)
        return jobs_error_set(error, JOBS_USAGE, "an AUTH URL goes with one relay: name it");
    struct jobs_client_options named = *options;
    named.require = 0;
    flush.options = &named;
    code = jobs__relays_resolve(&flush.only, &named, error);
    if (!code)
        code = jobs__state_dir(&flush.state_dir, options->state_dir, error);
    if (!code && jobs__kept_new(&flush.kept))
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    if (!code)
        code = collect(&flush);
    size_t i = 0;
    for (; !code && i < flush.count && !jobs__stopped(options) && flush.visit_code == 0; i++)
        flush_one(&flush, &flush.waiting[i]);
    if (!code && flush.visit_code != 0)
        code = flush.visit_code;
    if (!code && i < flush.count) {
        flush.left += flush.count - i;
        note(&flush, JOBS_UNREACHABLE);
    }
    if (!code && flush.cut_short && flush.left == 0)
        code = jobs_error_set(error, JOBS_UNREACHABLE, "stopped before all of the outbox was looked at");
    else if (!code && flush.left > 0)
        code = jobs_error_set(error, flush.worst, "%zu of the outbox's entries still wait%s", flush.left,
                              flush.left == 1 ? "s" : "");

    if (elsewhere != NULL)
        *elsewhere = flush.elsewhere;
    for (size_t r = 0; r < flush.resting_count; r++)
        free(flush.resting[r].url);
    free(flush.resting);
    jobs__kept_free(flush.kept);
    free(flush.waiting);
    free(flush.marker_used);
    jobs__names_free(&flush.markers);
    jobs__relays_free(&flush.only);
    free(flush.state_dir);
    return code;
}
