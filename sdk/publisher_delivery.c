/* publisher_delivery.c - carries one event to its relays: a session each, one loop, the disk kept in step.
 *
 * The order of things is the promise: the relays are asked first; what they show goes into the folder; the event is in
 * a synced file before a session is given it; every verdict is written down when it comes. It does not decide what is
 * published (publisher.c, outbox_flush.c) and does not judge answers (session.c).
 */
#include "publisher.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNT_NAMES 256
#define KNOW_MS     5000 /* how long a relay that is slow to connect is awaited when its answer must be known */

static int no_memory(struct jobs__delivery *delivery)
{
    return jobs_error_set(delivery->error, JOBS_NO_MEMORY, "out of memory");
}

static struct jobs__fact *fact_of(struct jobs__delivery *delivery, const struct jobs__post *post)
{
    return delivery->entry == NULL ? NULL : jobs__entry_fact(delivery->entry, post->url, false);
}

/* --- setting up --- */

static int open_session(struct jobs__delivery *delivery, struct jobs__post *post)
{
    size_t at = (size_t)(post - delivery->posts);
    const struct jobs_client_options *options = delivery->options;
    char filter[512];
    if (post->proof_only)
        snprintf(filter, sizeof filter, "{\"ids\":[\"%s\"]}", delivery->entry->id);
    else if (delivery->ask)
        snprintf(filter, sizeof filter, "{\"kinds\":[%d],\"authors\":[\"%s\"],\"#e\":[\"%s\"],\"#h\":[\"%s\"]}",
                 JOBS_KIND_RESULT, jobs_key_public(options->key), delivery->job, delivery->channel);
    struct jobs__session_options session = {
        .auth_url = options->auth_url != NULL ? options->auth_url : post->url,
        .start = delivery->started,
        .timeout = jobs__timeout_ms(options),
        .connect_timeout = jobs__connect_timeout_ms(options),
        .read_back = !options->skip_read_back,
        .seed = jobs__seed((uint64_t)delivery->started ^ (uint64_t)(uintptr_t)post),
        .maybe_sent = delivery->maybe_sent,
        .was_sent = delivery->maybe_sent && jobs__fact_is_open(fact_of(delivery, post)),
        .ask_filter = delivery->ask || post->proof_only ? filter : NULL,
        .was_stored = delivery->before != NULL && !post->proof_only && delivery->before[at].stored,
        .was_absent = delivery->before != NULL && !post->proof_only && delivery->before[at].absent,
        .not_before = delivery->before != NULL && !post->proof_only ? delivery->before[at].not_before : 0,
        .keep = delivery->kept != NULL,
        .sign_auth = options->key != NULL ? jobs__signer_sign : NULL,
        .context = post,
    };
    return jobs__session_new(&post->session, &session);
}

/* A relay that is known to have it is not contacted: what is known is the answer. */
static bool answer_from_disk(struct jobs__delivery *delivery, struct jobs__post *post)
{
    const struct jobs__fact *fact = fact_of(delivery, post);
    if (fact == NULL || (fact->state != JOBS__RELAY_CONFIRMED && fact->state != JOBS__RELAY_ACCEPTED))
        return false;
    post->recorded = true;
    post->result.verdict = JOBS_DUPLICATE;
    post->result.read_back = fact->read_back;
    memcpy(post->result.message, fact->message, sizeof fact->message);
    return true;
}

static bool proof_may_help(const struct jobs__delivery *delivery)
{
    bool refused = false;
    for (size_t i = 0; delivery->entry != NULL && i < delivery->entry->fact_count; i++) {
        const struct jobs__fact *fact = &delivery->entry->facts[i];
        if (fact->said_stored)
            return false;
        refused = refused || (fact->refused_for_time && fact->state == JOBS__RELAY_PENDING);
    }
    return refused;
}

static int set_up(struct jobs__delivery *delivery)
{
    struct jobs__entry *entry = delivery->entry;
    bool proof = proof_may_help(delivery);
    size_t most = delivery->relays->count + (proof ? entry->fact_count : 0);
    delivery->posts = calloc(most + 1, sizeof *delivery->posts);
    if (delivery->posts == NULL)
        return no_memory(delivery);
    for (size_t i = 0; i < delivery->relays->count; i++)
        delivery->posts[delivery->count++].url = delivery->relays->urls[i];
    for (size_t i = 0; proof && i < entry->fact_count; i++) {
        bool named = false;
        for (size_t j = 0; j < delivery->relays->count && !named; j++)
            named = strcmp(delivery->relays->urls[j], entry->facts[i].url) == 0;
        if (!named)
            delivery->posts[delivery->count++] = (struct jobs__post){.url = entry->facts[i].url, .proof_only = true};
    }
    for (size_t i = 0; i < delivery->count; i++) {
        struct jobs__post *post = &delivery->posts[i];
        post->signer.options = delivery->options;
        if (answer_from_disk(delivery, post))
            continue;
        if (entry != NULL && entry->event == NULL) {
            int code = jobs_error_set(delivery->error, JOBS_USAGE,
                                      "this handoff was sent and its bytes were removed since (prune): it cannot go to "
                                      "another relay");
            if (delivery->error != NULL)
                snprintf(delivery->error->hint, sizeof delivery->error->hint,
                         "--new signs and publishes the same content as a new event");
            return code;
        }
        if (open_session(delivery, post))
            return no_memory(delivery);
    }
    return JOBS_OK;
}

/* --- the disk, before and after --- */

/* Written before a session is given the event: from here on it may be on its way, whatever happens to this process.
 * Where a later run may sign anew, or would not even ask, on the strength of what the file says, the file says it. */
static int write_intent(struct jobs__delivery *delivery)
{
    struct jobs__entry *entry = delivery->entry;
    if (entry == NULL || delivery->fresh)
        return JOBS_OK;
    int64_t latest = jobs__outbox_now() + jobs__timeout_ms(delivery->options) / 1000;
    size_t known = entry->fact_count;
    bool any = false, into_file = false, stored;
    for (size_t i = 0; i < delivery->count; i++) {
        struct jobs__post *post = &delivery->posts[i];
        if (post->session == NULL || post->proof_only)
            continue;
        struct jobs__fact *fact = jobs__entry_fact(entry, post->url, true);
        if (fact == NULL)
            return no_memory(delivery);
        post->held = jobs__fact_is_stale(entry, fact, jobs__outbox_now());
        if (post->held)
            continue;
        any = true;
        post->sent_before = fact->last_send;
        fact->last_send = latest;
        into_file = into_file || fact->state != JOBS__RELAY_PENDING;
        if (fact->state == JOBS__RELAY_REJECTED) /* asked for again by name */
            fact->state = JOBS__RELAY_PENDING;
    }
    if (!any)
        return JOBS_OK;
    for (size_t i = 0; i < entry->fact_count; i++)
        into_file = into_file || entry->facts[i].refused_for_time;
    return into_file || entry->fact_count > known
               ? jobs__folder_store(delivery->folder, entry, &stored, delivery->error)
               : jobs__folder_mark(delivery->folder, latest, delivery->error);
}

int jobs__delivery_store(struct jobs__delivery *delivery, struct jobs_event *event, const struct jobs__entry *replaced)
{
    struct jobs__entry *entry = NULL;
    size_t len;
    (void)jobs_event_json(event, &len);
    int code = jobs__entry_new(&entry, event);
    if (code) {
        jobs_event_free(event);
        return jobs_error_set(delivery->error, code, "the signed event cannot be taken into the outbox");
    }
    if (replaced != NULL)
        memcpy(entry->replaces, replaced->id, sizeof entry->replaces);
    int64_t latest = jobs__outbox_now() + jobs__timeout_ms(delivery->options) / 1000;
    for (size_t i = 0; !code && i < delivery->relays->count; i++) {
        struct jobs__fact *fact = jobs__entry_fact(entry, delivery->relays->urls[i], true);
        if (fact == NULL)
            code = no_memory(delivery);
        else
            fact->last_send = latest;
    }
    for (size_t i = 0; !code && replaced != NULL && i < replaced->fact_count; i++) {
        if (jobs__entry_fact(entry, replaced->facts[i].url, true) == NULL) /* relays of other runs wait for a flush */
            code = no_memory(delivery);
    }
    bool stored = false;
    if (!code)
        code = jobs__folder_store(delivery->folder, entry, &stored, delivery->error);
    if (stored) { /* even when only the folder's fsync failed: then it is there, and says so */
        delivery->receipt->stored = true;
        memcpy(delivery->receipt->event_id, entry->id, sizeof entry->id);
        delivery->entry = entry;
        delivery->event = entry->event;
        delivery->fresh = true;
        delivery->maybe_sent = false;
        for (size_t i = 0; i < delivery->count; i++)
            delivery->posts[i].held = false;
    } else {
        jobs__entry_free(entry);
    }
    if (!code && len > JOBS_CONTENT_MAX)
        code =
            jobs__receipt_warn(delivery->receipt, "the event has %zu bytes: relays that keep to 65536 refuse it", len);
    return code;
}

int jobs__delivery_adopt(struct jobs__delivery *delivery, bool *all_answered)
{
    *all_answered = true;
    for (size_t i = 0; i < delivery->count; i++) {
        struct jobs__post *post = &delivery->posts[i];
        if (post->session == NULL)
            continue;
        *all_answered = *all_answered && post->asked == JOBS__ASK_ANSWERED;
        for (size_t f = 0; f < jobs__session_found_count(post->session); f++) {
            bool fresh;
            int code = jobs__folder_adopt(delivery->folder, jobs__session_found(post->session, f), post->url, &fresh,
                                          delivery->error);
            if (code)
                return code;
        }
    }
    return JOBS_OK;
}

static void record(struct jobs__delivery *delivery, struct jobs__post *post)
{
    const struct jobs__session_result *result = jobs__session_result(post->session);
    post->recorded = true;
    post->asked = jobs__session_asked(post->session);
    post->result.verdict = result->verdict;
    post->result.read_back = result->read_back;
    post->result.denied = result->denied;
    post->result.retryable = result->retryable;
    post->result.retry_after = result->retry_after;
    post->result.attempts = result->attempts;
    memcpy(post->result.message, result->message, sizeof result->message);
    memcpy(post->hint, result->hint, sizeof result->hint);

    struct jobs__fact *fact = fact_of(delivery, post);
    if (fact == NULL)
        return;
    int64_t now = jobs__outbox_now();
    if (post->held || post->proof_only) {
        if (result->verdict == JOBS_DUPLICATE) /* found after all */
            jobs__fact_update(fact, result, now, jobs__loop_now());
    } else {
        fact->last_send = post->sent_before;
        jobs__fact_update(fact, result, now, jobs__loop_now());
    }
    jobs__entry_settle(delivery->entry);
    if (jobs__folder_note(delivery->folder, delivery->entry, NULL))
        delivery->facts_failed = true;
}

/* --- while the loop runs --- */

/* What the ask brought that the folder does not know: the same handoff counts as this one, another one stands in the
 * way. Returns whether the session was settled. */
static bool settle_by_found(struct jobs__delivery *delivery, struct jobs__post *post)
{
    struct jobs__entry *entry = delivery->entry;
    const char *same = NULL, *other = NULL;
    char words[JOBS_RELAY_MESSAGE_MAX + 1];
    for (size_t f = 0; f < jobs__session_found_count(post->session); f++) {
        const struct jobs_event *found = jobs__session_found(post->session, f);
        const char *id = jobs_event_id(found);
        if (strcmp(id, entry->id) == 0) {
            jobs__session_settle(post->session, JOBS_DUPLICATE, JOBS_CONFIRMED, "");
            return true;
        }
        if (jobs__folder_find(delivery->folder, id) != NULL || strcmp(id, entry->supersedes) == 0)
            continue;
        size_t len;
        struct jobs_event *copy = NULL;
        struct jobs__entry *strange = NULL;
        const char *json = jobs_event_json(found, &len);
        if (jobs_event_parse(&copy, json, len, NULL) || jobs__entry_new(&strange, copy)) {
            jobs_event_free(copy);
            continue;
        }
        if (strange->digest[0] != '\0' && strcmp(strange->digest, entry->digest) == 0)
            same = id;
        else
            other = id;
        jobs__entry_free(strange);
    }
    if (same != NULL) {
        snprintf(words, sizeof words, "it already has the same handoff as %s", same);
        jobs__session_settle(post->session, JOBS_DUPLICATE, JOBS_CONFIRMED, words);
    } else if (other != NULL) {
        snprintf(words, sizeof words, "it already has a different handoff of this key for this job, %s", other);
        jobs__session_settle(post->session, JOBS_REJECTED, JOBS_NOT_ASKED, words);
        post->conflict = true;
    }
    return same != NULL || other != NULL;
}

/* The relay has been asked and there is something to say to it. */
static void answer(struct jobs__delivery *delivery, struct jobs__post *post)
{
    if (post->session == NULL || jobs__session_result(post->session)->done)
        return;
    if (delivery->entry != NULL && jobs__session_found_count(post->session) > 0 && settle_by_found(delivery, post)) {
        post->given = true;
        return;
    }
    if (post->given)
        return;
    post->given = true;
    post->asked = jobs__session_asked(post->session);
    if (post->proof_only || post->held) {
        const struct jobs__fact *fact = fact_of(delivery, post);
        bool absent = post->asked == JOBS__ASK_ANSWERED;
        jobs__session_settle(post->session, JOBS_REJECTED, absent ? JOBS_ABSENT : JOBS_NOT_ASKED,
                             fact == NULL ? "" : fact->message);
        return;
    }
    jobs__session_send(post->session, delivery->event, delivery->maybe_sent);
}

/* Every relay said that it is not there, and has refused its time: the same handoff, signed anew, takes its place. */
static int sign_again_if_proven(struct jobs__delivery *delivery)
{
    struct jobs__entry *old = delivery->entry;
    struct jobs_event *event = NULL;
    int64_t now = jobs__outbox_now();
    if (old == NULL || !proof_may_help(delivery))
        return JOBS_OK;
    for (size_t i = 0; i < delivery->count; i++) {
        struct jobs__post *post = &delivery->posts[i];
        struct jobs__fact *fact = fact_of(delivery, post);
        bool found = post->session != NULL && jobs__session_found_count(post->session) > 0;
        if (fact != NULL && !found && post->asked == JOBS__ASK_ANSWERED)
            fact->absent_at = now;
        else if (fact != NULL)
            fact->absent_at = 0; /* an older answer proves nothing about now */
    }
    if (!jobs__entry_may_sign_again(old, now) || old->created_at == now)
        return JOBS_OK;
    struct jobs_error why = {0};
    int code = jobs__sign_again(&event, old->event, delivery->options, now, &why);
    if (code)
        return jobs__receipt_warn(delivery->receipt, "it is too old for a relay and cannot be signed anew: %s",
                                  why.message);
    code = jobs__delivery_store(delivery, event, old);
    if (code)
        return code;
    return jobs__receipt_warn(delivery->receipt,
                              "signed anew in place of %s, which no relay has and one refused for its "
                              "time",
                              old->id);
}

/* The asks are over: what is published is decided, in a file, and given to every session. */
static void conclude(struct jobs__delivery *delivery)
{
    delivery->concluded = true;
    for (size_t i = 0; i < delivery->count; i++) {
        struct jobs__post *post = &delivery->posts[i];
        if (post->session == NULL)
            continue;
        post->asked = jobs__session_asked(post->session);
        if (post->asked == JOBS__ASK_RUNNING)
            post->asked = JOBS__ASK_SILENT;
    }
    if (delivery->event == NULL)
        delivery->code = delivery->when_asked(delivery->context, delivery);
    else
        delivery->code = sign_again_if_proven(delivery);
    if (!delivery->code)
        delivery->code = write_intent(delivery);
    for (size_t i = 0; !delivery->code && i < delivery->count; i++)
        answer(delivery, &delivery->posts[i]);
}

static bool all_asked(const struct jobs__delivery *delivery, int64_t now)
{
    for (size_t i = 0; i < delivery->count; i++) {
        const struct jobs__post *post = &delivery->posts[i];
        if (post->session == NULL || jobs__session_result(post->session)->done)
            continue;
        if (!post->decided)
            return false;
        if (delivery->must_know && jobs__session_asked(post->session) == JOBS__ASK_SILENT &&
            now - delivery->started < KNOW_MS)
            return false;
    }
    return true;
}

static void on_decide(void *context, size_t line)
{
    struct jobs__delivery *delivery = context;
    for (size_t i = 0; i < delivery->count; i++) {
        struct jobs__post *post = &delivery->posts[i];
        if (post->session == NULL || line-- > 0)
            continue;
        post->decided = true;
        if (delivery->concluded && !delivery->code)
            answer(delivery, post); /* a late ask found something */
        return;
    }
}

/* A part of the count in each turn but the first, in which nothing has left yet: a relay is at work then. */
static void count_on(struct jobs__delivery *delivery)
{
    if (!delivery->uncounted && delivery->turns++ > 0)
        jobs__counter_step(&delivery->counter, delivery->options->state_dir,
                           delivery->entry == NULL ? "" : delivery->entry->id, COUNT_NAMES);
}

static bool on_turn(void *context, int64_t now)
{
    struct jobs__delivery *delivery = context;
    if (!delivery->concluded && all_asked(delivery, now))
        conclude(delivery);
    count_on(delivery);
    for (size_t i = 0; delivery->concluded && !delivery->code && i < delivery->count; i++) {
        struct jobs__post *post = &delivery->posts[i];
        if (!post->recorded && jobs__session_result(post->session)->done)
            record(delivery, post);
    }
    return delivery->code == JOBS_OK;
}

static int run_loop(struct jobs__delivery *delivery)
{
    struct jobs__line *lines = calloc(delivery->count + 1, sizeof *lines);
    size_t count = 0;
    if (lines == NULL)
        return no_memory(delivery);
    for (size_t i = 0; i < delivery->count; i++) {
        const struct jobs__post *post = &delivery->posts[i];
        if (post->session != NULL)
            lines[count++] = (struct jobs__line){.engine = jobs__session_engine(post->session), .url = post->url};
    }
    struct jobs__loop_options loop = {
        .ca_file = delivery->options->ca_file,
        .kept = delivery->kept,
        .stop = delivery->options->stop,
        .decide = on_decide,
        .turn = on_turn,
        .context = delivery,
        .progress = delivery->options->progress,
        .progress_context = delivery->options->progress_context,
    };
    int code = count == 0 ? JOBS_OK : jobs__loop_run(lines, count, &loop, delivery->error);
    free(lines);
    return code;
}

int jobs__delivery_run(struct jobs__delivery *delivery)
{
    delivery->started = jobs__loop_now();
    int code = set_up(delivery);
    if (code)
        return code;
    bool wait = delivery->ask && (delivery->event == NULL || delivery->must_know || proof_may_help(delivery));
    if (!wait) { /* nothing hangs on what all of them say: each is answered as soon as it was asked */
        delivery->concluded = true;
        code = write_intent(delivery);
        if (code)
            return code;
        for (size_t i = 0; !delivery->ask && i < delivery->count; i++)
            answer(delivery, &delivery->posts[i]);
    }
    int loop = run_loop(delivery);
    /* Every relay may be out of reach, and the loop over before anybody asked: it is signed and kept all the same. */
    if (!loop && !delivery->concluded && !jobs__stopped(delivery->options))
        conclude(delivery);
    if (delivery->code)
        return delivery->code;
    if (!delivery->concluded && !loop)
        return jobs_error_set(delivery->error, JOBS_UNREACHABLE, "stopped before anything was signed");
    for (size_t i = 0; delivery->concluded && i < delivery->count; i++) {
        struct jobs__post *post = &delivery->posts[i];
        if (post->recorded)
            continue;
        jobs__session_stop(post->session);
        record(delivery, post);
    }
    return loop;
}

void jobs__delivery_free(struct jobs__delivery *delivery)
{
    for (size_t i = 0; i < delivery->count; i++) {
        jobs__session_free(delivery->posts[i].session);
        jobs_event_free(delivery->posts[i].signer.last);
    }
    jobs__counter_close(&delivery->counter);
    free(delivery->posts);
    delivery->posts = NULL;
    delivery->count = 0;
}
