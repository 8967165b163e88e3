/* outbox_flush.c - sends what waits, oldest first: several together as long as all goes plainly, else one by one.
 *
 * What was sent before and is still not answered comes behind the rest, the one tried longest ago first: an event at
 * which a relay falls silent would hold up all others for ever. A relay that could not be reached, asked us to wait or
 * did not let the key in is left alone for the rest of the run, so that one dead relay costs one timeout and not one
 * per entry.
 */
#include "outbox_flush.h"

#include "../core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define DAY          86400
#define OUTGOING_MAX ((size_t)2 * JOBS__BATCH_MAX) /* a batch, and the next one */
#define FILES_EACH   4                             /* descriptors of one that is loaded */
#define FILES_BESIDE 32                            /* of relays, of what is being written, of the caller */

/* What says most about a run, first. */
void jobs__flush_note(struct jobs__flush *flush, int code)
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

static void report(struct jobs__flush *flush, const struct jobs_receipt *receipt, int code)
{
    if (flush->visit != NULL && flush->visit_code == 0)
        flush->visit_code = flush->visit(flush->context, receipt, code);
}

/* A line about something that is not sent now. */
void jobs__flush_say(struct jobs__flush *flush, const char *id, bool stored, int code, const char *words)
{
    struct jobs_receipt receipt = {.stored = stored};
    snprintf(receipt.event_id, sizeof receipt.event_id, "%s", id);
    jobs__text_one_line(receipt.message, sizeof receipt.message - 1, words, strlen(words));
    report(flush, &receipt, code);
}

void jobs__flush_say_damaged(struct jobs__flush *flush, const struct jobs__folder *folder)
{
    char words[JOBS_RELAY_MESSAGE_MAX];
    char id[65] = "";
    if (folder->damaged_now == 0)
        return;
    if (strlen(folder->damaged_name) >= 64 && jobs__text_is_hex(folder->damaged_name, 64, true))
        memcpy(id, folder->damaged_name, 64);
    snprintf(words, sizeof words, "damaged (%s), set aside in %s", folder->damaged_why, folder->path);
    jobs__flush_say(flush, id, false, JOBS_OK, words);
}

/* --- sending --- */

static const struct jobs__resting *rests(const struct jobs__flush *flush, const char *url)
{
    for (size_t i = 0; i < flush->resting_count; i++) {
        if (strcmp(flush->resting[i].url, url) == 0)
            return &flush->resting[i];
    }
    return NULL;
}

int jobs__flush_let_rest(struct jobs__flush *flush, const struct jobs_relay_result *result)
{
    bool futile = result->verdict == JOBS_NOT_REACHED || result->verdict == JOBS_UNCLEAR || result->denied ||
                  result->retry_after > 0;
    if (jobs__result_holds(result) || !futile || rests(flush, result->url) != NULL)
        return JOBS_OK;
    struct jobs__resting *more = realloc(flush->resting, (flush->resting_count + 1) * sizeof *more);
    if (more != NULL)
        flush->resting = more;
    char *url = strdup(result->url);
    if (more == NULL || url == NULL) {
        free(url);
        return JOBS_NO_MEMORY;
    }
    struct jobs__resting *one = &more[flush->resting_count++];
    *one = (struct jobs__resting){.url = url, .last = *result};
    one->last.url = NULL;
    one->last.attempts = 0;
    one->last.verdict = JOBS_NOT_REACHED; /* of an entry that was not sent to it */
    one->last.read_back = JOBS_NOT_ASKED;
    snprintf(one->last.message, sizeof one->last.message, "left alone for the rest of this run%s%.400s",
             result->message[0] != '\0' ? ": " : "", result->message);
    return JOBS_OK;
}

/* The entry's relays that wait for it, as far as they are named. */
static int choose_relays(const struct jobs__flush *flush, struct jobs__outgoing *one)
{
    const struct jobs__entry *entry = one->entry;
    one->relays = (struct jobs__relays){.urls = calloc(entry->fact_count + 1, sizeof *one->relays.urls)};
    one->receipt.relays = calloc(entry->fact_count + 1, sizeof *one->receipt.relays);
    if (one->relays.urls == NULL || one->receipt.relays == NULL)
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
        one->relays.urls[one->relays.count++] = url;
    }
    return JOBS_OK;
}

/* An OK true of this run stands, though nobody can be asked any more. */
static int take_word(struct jobs__outgoing *one, const struct jobs__before *before, struct jobs_relay_result *result)
{
    struct jobs__session_result word = {.verdict = JOBS_ACCEPTED,
                                        .read_back = before->absent ? JOBS_ABSENT : JOBS_READ_REFUSED};
    struct jobs__fact *fact = jobs__entry_fact(one->entry, result->url, false);
    result->verdict = word.verdict;
    result->read_back = word.read_back;
    result->denied = false;
    result->message[0] = '\0';
    if (fact == NULL || (fact->state != JOBS__RELAY_PENDING && fact->state != JOBS__RELAY_UNSEEN))
        return JOBS_OK; /* another process knows more */
    memcpy(word.message, fact->message, sizeof word.message);
    memcpy(result->message, fact->message, sizeof result->message);
    jobs__fact_update(fact, &word, jobs__outbox_now(), jobs__loop_now());
    jobs__entry_settle(one->entry);
    int code = jobs__receipt_warn_of_reading(&one->receipt, result, "");
    if (!code && jobs__folder_note(&one->folder, one->entry, NULL))
        code = jobs__receipt_warn_of_facts(&one->receipt);
    return code;
}

/* Those that rest are not asked: they are answered for. */
static int leave_resting(const struct jobs__flush *flush, struct jobs__outgoing *one)
{
    struct jobs_receipt *receipt = &one->receipt;
    size_t left = 0;
    int code = JOBS_OK;
    for (size_t i = 0; i < one->relays.count; i++) {
        char *url = one->relays.urls[i];
        const struct jobs__resting *resting = rests(flush, url);
        struct jobs__before before = one->before == NULL ? (struct jobs__before){0} : one->before[i];
        if (resting == NULL) {
            if (one->before != NULL)
                one->before[left] = before;
            one->relays.urls[left++] = url;
            continue;
        }
        struct jobs_relay_result *result = &receipt->relays[receipt->relay_count++];
        *result = resting->last;
        result->url = url;
        result->attempts = before.sent;
        if (jobs__fact_is_open(jobs__entry_fact(one->entry, url, false))) /* it may have been brought there before */
            result->verdict = JOBS_UNCLEAR;
        if (before.stored && take_word(one, &before, result))
            code = jobs_error_set(&one->error, JOBS_NO_MEMORY, "out of memory");
    }
    one->relays.count = left;
    return code;
}

/* A relay that said OK a day ago and never showed it: that word has to do. */
static int end_unseen(struct jobs__outgoing *one)
{
    struct jobs__entry *entry = one->entry;
    int64_t now = jobs__outbox_now();
    bool changed = false;
    int code = JOBS_OK;
    for (size_t i = 0; !code && i < entry->fact_count; i++) {
        struct jobs__fact *fact = &entry->facts[i];
        if (fact->state != JOBS__RELAY_UNSEEN || now - fact->unseen_since < DAY)
            continue;
        fact->state = JOBS__RELAY_ACCEPTED;
        fact->unseen_since = 0;
        changed = true;
        code = jobs__receipt_warn(&one->receipt,
                                  "%s said OK more than a day ago and never showed it: counted as accepted", fact->url);
    }
    return !code && changed ? jobs__folder_note(&one->folder, entry, &one->error) : code;
}

/* The code by the relays that are answered for already. */
static int code_of_known(const struct jobs_receipt *receipt)
{
    int code = JOBS_OK;
    for (size_t i = 0; i < receipt->relay_count; i++) {
        if (receipt->relays[i].verdict == JOBS_UNCLEAR)
            return JOBS_UNKNOWN;
        if (!jobs__result_holds(&receipt->relays[i]))
            code = JOBS_UNREACHABLE;
    }
    return code;
}

/* What a batch sent in this run, and a session found there: that was ours, unless it had been there before. */
static void own_up(const struct jobs__outgoing *one, struct jobs_receipt *fresh)
{
    for (size_t i = 0; one->before != NULL && i < fresh->relay_count && i < one->relays.count; i++) {
        struct jobs_relay_result *result = &fresh->relays[i];
        if (!one->before[i].sent)
            continue;
        if (result->verdict == JOBS_DUPLICATE && result->attempts == 0 && !one->before[i].duplicate)
            result->verdict = JOBS_ACCEPTED;
        result->attempts++;
    }
}

/* A session with each relay that is still to be asked. */
static int send_one(struct jobs__flush *flush, struct jobs__outgoing *one)
{
    struct jobs_receipt *known = &one->receipt;
    struct jobs_receipt fresh = {.stored = true, .warnings = known->warnings, .warning_count = known->warning_count};
    known->warnings = NULL;
    known->warning_count = 0;
    memcpy(fresh.event_id, one->entry->id, sizeof fresh.event_id);
    one->relays.require = one->relays.count;
    struct jobs__delivery delivery = {.options = flush->options,
                                      .relays = &one->relays,
                                      .before = one->before,
                                      .receipt = &fresh,
                                      .error = &one->error,
                                      .folder = &one->folder,
                                      .entry = one->entry,
                                      .event = one->entry->event,
                                      .channel = one->entry->channel,
                                      .job = one->entry->job,
                                      .ask = true,
                                      .kept = flush->kept,
                                      .maybe_sent = true,
                                      .uncounted = true};
    int code = jobs__delivery_run(&delivery);
    one->entry = delivery.entry;
    memcpy(fresh.event_id, one->entry->id, sizeof fresh.event_id);
    if (!code)
        code = jobs__receipt_conclude(&fresh, &delivery, &one->error);
    own_up(one, &fresh);
    for (size_t i = 0; i < fresh.relay_count && code != JOBS_NO_MEMORY; i++) {
        const struct jobs__session *session = delivery.posts[i].session;
        struct jobs_relay_result last = fresh.relays[i];
        if (session != NULL && jobs__session_result(session)->in_vain) {
            last.verdict = JOBS_UNCLEAR;
            memcpy(last.message, jobs__session_result(session)->closed, sizeof last.message);
        }
        if (jobs__flush_let_rest(flush, &last))
            code = jobs_error_set(&one->error, JOBS_NO_MEMORY, "out of memory");
    }
    jobs__delivery_free(&delivery);
    /* Those that were answered for before are relays of this entry too: they come after those that were asked. */
    struct jobs_relay_result *all = realloc(fresh.relays, (fresh.relay_count + known->relay_count + 1) * sizeof *all);
    if (all == NULL) {
        jobs_receipt_wipe(&fresh);
        return jobs_error_set(&one->error, JOBS_NO_MEMORY, "out of memory");
    }
    memcpy(all + fresh.relay_count, known->relays, known->relay_count * sizeof *all);
    fresh.relays = all;
    fresh.relay_count += known->relay_count;
    if (code_of_known(known) != JOBS_OK)
        fresh.accepted = false;
    code = code ? code : code_of_known(known);
    free(known->relays);
    *known = fresh;
    return code;
}

static void let_go(struct jobs__outgoing *one)
{
    jobs__folder_free(&one->folder);
    jobs_receipt_wipe(&one->receipt);
    jobs__relays_free(&one->relays);
    free(one->before);
}

/* It was there a moment ago: that it is not there now is no answer. */
static int open_folder(const struct jobs__flush *flush, struct jobs__outgoing *one)
{
    int code = jobs__folder_open(&one->folder, flush->state_dir, one->waiting->folder, false, 0, NULL, &one->error);
    return code == JOBS_NOT_FOUND
               ? jobs_error_set(&one->error, JOBS_SYSTEM, "the outbox was removed or renamed meanwhile")
               : code;
}

/* Locks and loads it. False: there is nothing to do about it. */
static bool take(struct jobs__flush *flush, struct jobs__outgoing *one, struct jobs__waiting *waiting)
{
    *one = (struct jobs__outgoing){.waiting = waiting, .receipt.stored = true};
    memcpy(one->receipt.event_id, waiting->id, sizeof one->receipt.event_id);
    one->code = open_folder(flush, one);
    if (one->code)
        return true;
    jobs__flush_say_damaged(flush, &one->folder);
    one->entry = jobs__folder_find(&one->folder, waiting->id);
    bool waits = one->entry != NULL && jobs__entry_state(one->entry) == JOBS_ENTRY_PENDING;
    if (waits)
        one->code = choose_relays(flush, one);
    bool elsewhere = waits && !one->code && one->relays.count == 0;
    flush->elsewhere += elsewhere && !waiting->elsewhere; /* it may be looked at twice */
    waiting->elsewhere = elsewhere;
    if (!waits || elsewhere)
        let_go(one); /* another process was faster, or it is for none of the relays that were named */
    return waits && !elsewhere;
}

/* How many others wait. Behind a batch of which all is known, nothing happens but that it is told: counted once. */
static void count_others(struct jobs__flush *flush, struct jobs_receipt *receipt, bool waits)
{
    if (waits || !flush->batch_is_known)
        jobs__pending_count(receipt, flush->options->state_dir, receipt->event_id);
    else
        jobs__counter_tell(&flush->others, receipt, flush->options->state_dir, "");
}

/* What a batch has left to do, and the end. */
static void finish(struct jobs__flush *flush, struct jobs__outgoing *one)
{
    struct jobs_receipt *receipt = &one->receipt;
    int code = one->code;
    if (!code)
        code = leave_resting(flush, one);
    if (!code && one->relays.count > 0)
        code = send_one(flush, one);
    else if (!code)
        receipt->accepted = (code = code_of_known(receipt)) == JOBS_OK;
    if ((code == JOBS_OK || jobs_code_exit(code) == 2) && one->entry != NULL) {
        int failed = end_unseen(one);
        code = failed ? failed : code;
    }
    if (code && receipt->message[0] == '\0')
        snprintf(receipt->message, sizeof receipt->message, "%.512s",
                 one->error.message[0] != '\0' ? one->error.message : jobs_code_sentence(code));
    bool waits = one->entry == NULL || jobs__entry_state(one->entry) == JOBS_ENTRY_PENDING;
    if (waits || code == JOBS_SYSTEM || code == JOBS_NO_MEMORY) {
        flush->left++;
        flush->elsewhere += flush->only.count > 0 && code == JOBS_OK;
        jobs__flush_note(flush, code ? code : JOBS_UNKNOWN);
    }
    jobs__folder_free(&one->folder); /* let go of the lock before the caller is told */
    count_others(flush, receipt, waits);
    report(flush, receipt, code);
    let_go(one);
}

/* Whether something of it left in this run, or is known without asking. */
static bool is_begun(const struct jobs__outgoing *one)
{
    bool sent = false;
    for (size_t i = 0; one->before != NULL && i < one->relays.count; i++)
        sent = sent || one->before[i].sent;
    return one->code || sent || one->relays.count == 0 || one->receipt.relay_count > 0;
}

bool jobs__flush_load(struct jobs__flush *flush)
{
    while (flush->next < flush->count && flush->loaded < flush->room) {
        struct jobs__outgoing *them = flush->outgoing;
        if (flush->loaded > 0 && !jobs__batch_alike(&them[0], &them[flush->loaded - 1]))
            break; /* it goes by itself, when its turn comes */
        if (take(flush, &them[flush->loaded], &flush->waiting[flush->next++])) {
            flush->loaded++;
            return true;
        }
    }
    return false;
}

/* Lets go of what is loaded behind the first `count`: nobody is to wait for their locks while others are talked about.
 */
static void unload(struct jobs__flush *flush, size_t count)
{
    while (flush->loaded > count) {
        struct jobs__outgoing *one = &flush->outgoing[--flush->loaded];
        flush->next = (size_t)(one->waiting - flush->waiting);
        let_go(one);
    }
}

/* One of a batch, about which there is something to talk yet: its lock was free for others meanwhile. */
static bool take_again(struct jobs__flush *flush, struct jobs__outgoing *one)
{
    one->code = open_folder(flush, one);
    one->entry = one->code ? NULL : jobs__folder_find(&one->folder, one->waiting->id);
    return one->code || (one->entry != NULL && jobs__entry_state(one->entry) == JOBS_ENTRY_PENDING);
}

/* As many of those that wait as go together, one at least. */
static void send_some(struct jobs__flush *flush)
{
    struct jobs__outgoing *them = flush->outgoing;
    size_t known = 0;
    if (flush->loaded > 0 && them[0].code) /* it failed when it was loaded ahead: perhaps because of ourselves */
        unload(flush, 0);
    if (flush->loaded == 0 && !jobs__flush_load(flush))
        return;
    bool ready = jobs__batch_is_ready(flush);
    while (ready && flush->loaded < JOBS__BATCH_MAX && jobs__flush_load(flush))
        ;
    size_t count = ready ? jobs__batch_size(flush) : 1;
    if (count > 1)
        jobs__batch_send(flush, count);
    for (size_t i = 0; count > 1 && i < count; i++)
        known += them[i].code || them[i].relays.count == 0;
    flush->others = (struct jobs__counter){0};
    flush->batch_is_known = count > 1 && known == count;
    if (!flush->batch_is_known)
        unload(flush, count);
    for (size_t i = 0; count > 1 && i < count; i++) {
        if (!them[i].code && them[i].relays.count > 0)
            jobs__folder_free(&them[i].folder);
    }
    for (size_t i = 0; i < count; i++) {
        struct jobs__outgoing *one = &them[i];
        bool talk = count > 1 && !one->code && one->relays.count > 0;
        if (flush->visit_code != 0 || (talk && jobs__stopped(flush->options) && !is_begun(one))) {
            flush->left++;
            jobs__flush_note(flush, is_begun(one) ? JOBS_UNKNOWN : JOBS_UNREACHABLE);
            let_go(one);
        } else if (!talk || take_again(flush, one)) {
            finish(flush, one);
        } else { /* another process was faster */
            let_go(one);
        }
    }
    flush->loaded -= count;
    memmove(them, them + count, flush->loaded * sizeof *them);
}

/* Each that is loaded keeps descriptors open: too few of them slow a flush down, and fail nothing. */
static size_t room_for_outgoing(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= FILES_BESIDE + FILES_EACH * OUTGOING_MAX)
        return OUTGOING_MAX;
    return limit.rlim_cur < FILES_BESIDE + FILES_EACH ? 1 : (limit.rlim_cur - FILES_BESIDE) / FILES_EACH;
}

int jobs_outbox_flush(const struct jobs_client_options *options,
                      int (*visit)(void *context, const struct jobs_receipt *receipt, int code), void *context,
                      size_t *elsewhere, struct jobs_error *error)
{
    if (elsewhere != NULL)
        *elsewhere = 0;
    struct jobs__flush flush = {.options = options, .visit = visit, .context = context, .error = error};
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
    flush.room = room_for_outgoing();
    flush.outgoing = calloc(flush.room, sizeof *flush.outgoing);
    if (!code && (flush.outgoing == NULL || jobs__kept_new(&flush.kept)))
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    if (!code)
        code = jobs__flush_collect(&flush);
    while (!code && (flush.next < flush.count || flush.loaded > 0) && !jobs__stopped(options) && flush.visit_code == 0)
        send_some(&flush);
    unload(&flush, 0);
    if (!code && flush.visit_code != 0)
        code = flush.visit_code;
    if (!code && flush.next < flush.count) {
        flush.left += flush.count - flush.next;
        jobs__flush_note(&flush, JOBS_UNREACHABLE);
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
    free(flush.outgoing);
    free(flush.marker_used);
    jobs__names_free(&flush.markers);
    jobs__relays_free(&flush.only);
    free(flush.state_dir);
    return code;
}
