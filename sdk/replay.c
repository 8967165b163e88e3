/* replay.c - jobs/replay.h: one line to each relay on one loop, and what the relays' verdicts add up to.
 *
 * Events are judged in the order of the input. With a journal nothing is told before it is on the disk.
 */
#include "../core/text.h"
#include "publisher.h"
#include "replay_line.h"
#include "replay_source.h"
#include "url.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYNC_EVENTS 512 /* decided, before the journal is synced */
#define SYNC_MS     200

struct replaying {
    const struct jobs_client_options *options;
    int (*visit)(void *context, const struct jobs_replayed *replayed);
    void *context;
    struct jobs_replay_counts *counts;
    struct jobs_error *error;
    struct jobs__relays relays;
    struct relay {
        struct jobs__signer signer; /* first */
        struct replaying *replaying;
        struct jobs__replay_line *line;
    } * lines;
    struct jobs__journal *journal;
    struct jobs_verifier *verifier; /* of what a relay refused */
    struct jobs__ring *ring;
    bool expecting, verified;
    uint64_t judged; /* in the journal, not yet told: emptied … judged - 1 */
    int64_t synced_at;
    int code;
};

/* --- what the relays say together --- */

struct judgement {
    const char *verdict;
    char message[JOBS_RELAY_MESSAGE_MAX + 1];
    bool good, sent;
    bool questionable; /* not plainly accepted: an event of this id may be there, and not be this one */
};

static const char *const verdicts[] = {
    [JOBS__ITEM_NONE] = "",
    [JOBS__ITEM_ACCEPTED] = "accepted",
    [JOBS__ITEM_DUPLICATE] = "duplicate",
    [JOBS__ITEM_REJECTED] = "rejected",
    [JOBS__ITEM_UNKNOWN] = "unknown",
    [JOBS__ITEM_ABSENT] = "missing",
    [JOBS__ITEM_DIFFERENT] = "different",
};

static bool is_good(enum jobs__item_verdict verdict)
{
    return verdict == JOBS__ITEM_ACCEPTED || verdict == JOBS__ITEM_DUPLICATE;
}

/* Which of two that are both good, or both not, is told of. */
static bool outweighs(enum jobs__item_verdict one, enum jobs__item_verdict other)
{
    static const int weight[] = {
        [JOBS__ITEM_NONE] = 0,    [JOBS__ITEM_DUPLICATE] = 1, [JOBS__ITEM_ACCEPTED] = 2,  [JOBS__ITEM_REJECTED] = 3,
        [JOBS__ITEM_UNKNOWN] = 4, [JOBS__ITEM_ABSENT] = 5,    [JOBS__ITEM_DIFFERENT] = 6,
    };
    return weight[one] > weight[other];
}

static void add_up(struct judgement *out, const struct replaying *r, uint64_t number)
{
    size_t held = 0, chosen = 0;
    bool any = false;
    out->sent = out->questionable = false;
    for (size_t i = 0; i < r->relays.count; i++) {
        const struct jobs__item *item = jobs__replay_item(r->lines[i].line, number);
        held += is_good((enum jobs__item_verdict)item->verdict);
        out->sent = out->sent || item->sent;
        out->questionable = out->questionable || item->refused || item->found || item->verdict == JOBS__ITEM_DUPLICATE;
    }
    out->good = held >= (r->expecting ? r->relays.count : r->relays.require);
    for (size_t i = 0; i < r->relays.count; i++) {
        enum jobs__item_verdict verdict = (enum jobs__item_verdict)jobs__replay_item(r->lines[i].line, number)->verdict;
        enum jobs__item_verdict best =
            (enum jobs__item_verdict)jobs__replay_item(r->lines[chosen].line, number)->verdict;
        if (is_good(verdict) == out->good && (!any || outweighs(verdict, best))) {
            chosen = i;
            any = true;
        }
    }
    const struct jobs__item *item = jobs__replay_item(r->lines[chosen].line, number);
    const char *text = item->message != NULL ? item->message : "";
    out->verdict = r->expecting && out->good ? "confirmed" : verdicts[item->verdict];
    char words[JOBS__URL_MAX + JOBS_RELAY_MESSAGE_MAX + 4];
    bool named = r->relays.count > 1 && (text[0] != '\0' || !out->good);
    snprintf(words, sizeof words, "%s%s%s", named ? r->relays.urls[chosen] : "", named ? ": " : "",
             named && text[0] == '\0' ? out->verdict : text);
    jobs__text_one_line(out->message, JOBS_RELAY_MESSAGE_MAX, words, strlen(words)); /* never cut within a character */
}

/* Nobody has checked it: is it an event at all? */
static void blame(struct judgement *judgement, struct replaying *r, const struct jobs__slot *slot)
{
    struct jobs_verified verdict;
    static const size_t around = sizeof "[\"EVENT\"," - 1;
    if (r->verified || !judgement->questionable ||
        (r->verifier == NULL && jobs_verifier_new(&r->verifier) != JOBS_OK) ||
        jobs_verifier_check(&verdict, r->verifier, slot->frame.bytes + around, slot->frame.len - around - 1) !=
            JOBS_OK ||
        verdict.event == JOBS_VERIFIED_VALID)
        return;
    judgement->good = false;
    judgement->verdict = jobs_verified_name(verdict.event);
    snprintf(judgement->message, sizeof judgement->message, "%s", verdict.reason);
}

static bool is_decided(const struct replaying *r, uint64_t number)
{
    for (size_t i = 0; i < r->relays.count; i++) {
        struct jobs__replay_line *line = r->lines[i].line;
        if (number >= line->taken || jobs__replay_item(line, number)->state != JOBS__ITEM_DONE)
            return false;
    }
    return true;
}

static void judge(struct judgement *out, struct replaying *r, uint64_t number)
{
    const struct jobs__slot *slot = jobs__ring_at(r->ring, number);
    if (!slot->settled) {
        add_up(out, r, number);
        if (!r->expecting)
            blame(out, r, slot);
        return;
    }
    out->verdict = slot->verdict;
    out->good = slot->remembered && (strcmp(slot->verdict, "accepted") == 0 || strcmp(slot->verdict, "duplicate") == 0);
    out->sent = slot->was_sent;
    snprintf(out->message, sizeof out->message, "%s", slot->message != NULL ? slot->message : "");
}

/* --- telling --- */

static void count(struct replaying *r, const struct judgement *judgement)
{
    struct jobs_replay_counts *counts = r->counts;
    const struct {
        const char *verdict;
        uint64_t *count;
    } sending[] = {{"accepted", &counts->accepted},
                   {"duplicate", &counts->duplicate},
                   {"rejected", &counts->rejected},
                   {"unknown", &counts->unknown},
                   {NULL, &counts->invalid}},
      expecting[] = {{"confirmed", &counts->confirmed},
                     {"missing", &counts->missing},
                     {"unknown", &counts->unasked},
                     {NULL, &counts->different}};
    size_t i = 0;
    if (r->expecting) {
        while (expecting[i].verdict != NULL && strcmp(expecting[i].verdict, judgement->verdict) != 0)
            i++;
        ++*expecting[i].count;
        return;
    }
    counts->sent += judgement->sent;
    while (sending[i].verdict != NULL && strcmp(sending[i].verdict, judgement->verdict) != 0)
        i++;
    ++*sending[i].count;
}

static int tell(struct replaying *r, uint64_t number)
{
    const struct jobs__slot *slot = jobs__ring_at(r->ring, number);
    struct judgement judgement;
    judge(&judgement, r, number);
    count(r, &judgement);
    const struct jobs_replayed replayed = {
        .line = slot->line,
        .event_id = slot->hex[0] != '\0' ? slot->hex : NULL,
        .verdict = judgement.verdict,
        .message = judgement.message,
        .expected = r->expecting,
        .good = judgement.good,
    };
    return r->visit(r->context, &replayed);
}

static int remember(struct replaying *r, uint64_t number)
{
    const struct jobs__slot *slot = jobs__ring_at(r->ring, number);
    struct judgement judgement;
    if (slot->remembered)
        return JOBS_OK;
    judge(&judgement, r, number);
    if (strcmp(judgement.verdict, "unknown") == 0)
        return JOBS_OK;
    const struct jobs__memory memory = {slot->line, slot->hex, judgement.verdict, judgement.message, judgement.sent};
    return jobs__journal_add(r->journal, &memory) == JOBS_OK
               ? JOBS_OK
               : jobs_error_set(r->error, JOBS_NO_MEMORY, "out of memory");
}

/* Tells of those that are decided, oldest first, and gives their slots back. all: no matter how few. */
static int advance(struct replaying *r, int64_t now, bool all)
{
    int code = JOBS_OK;
    uint64_t emptied = atomic_load(&r->ring->emptied);
    uint64_t filled = jobs__ring_filled(r->ring), from = r->judged;
    for (; code == JOBS_OK && r->judged < filled && is_decided(r, r->judged); r->judged++)
        code = r->journal != NULL && !r->expecting ? remember(r, r->judged) : JOBS_OK;
    if (from == r->judged && emptied == r->judged)
        return code;
    bool wait = r->journal != NULL && !r->expecting && !all && r->judged - emptied < SYNC_EVENTS &&
                now - r->synced_at < SYNC_MS;
    if (code != JOBS_OK || wait)
        return code;
    if (r->journal != NULL && !r->expecting)
        code = jobs__journal_sync(r->journal, r->error);
    r->synced_at = now;
    for (; code == JOBS_OK && emptied < r->judged; emptied++) {
        code = tell(r, emptied);
        jobs__ring_empty(r->ring);
    }
    return code;
}

static bool on_turn(void *context, int64_t now)
{
    struct replaying *r = context;
    r->code = advance(r, now, false);
    return r->code == JOBS_OK;
}

static void on_decide(void *context, size_t line)
{
    (void)context; /* a replaying line has nothing to decide */
    (void)line;
}

/* --- one pass: the input through the relays, or the expected against them --- */

static int make_lines(struct replaying *r, const struct jobs_replay_options *replay, struct jobs__line *lines)
{
    int64_t now = jobs__loop_now();
    for (size_t i = 0; i < r->relays.count; i++) {
        struct relay *relay = &r->lines[i];
        const struct jobs__replay_line_options options = {
            .auth_url = r->options->auth_url != NULL ? r->options->auth_url : r->relays.urls[i],
            .start = now,
            .timeout = jobs__timeout_ms(r->options),
            .connect_timeout = jobs__connect_timeout_ms(r->options),
            .seed = (uint64_t)now + i,
            .window = replay->window,
            .rate = replay->rate,
            .ask_only = r->expecting,
            .sign_auth = r->options->key != NULL ? jobs__signer_sign : NULL,
            .context = relay,
        };
        relay->replaying = r;
        relay->signer.options = r->options;
        if (jobs__replay_line_new(&relay->line, r->ring, &options) != JOBS_OK)
            return jobs_error_set(r->error, JOBS_NO_MEMORY, "out of memory");
        lines[i] = (struct jobs__line){.engine = &relay->line->engine, .url = r->relays.urls[i]};
    }
    return JOBS_OK;
}

static void free_lines(struct replaying *r)
{
    for (size_t i = 0; i < r->relays.count; i++) {
        jobs__replay_line_free(r->lines[i].line);
        jobs_event_free(r->lines[i].signer.last);
        r->lines[i] = (struct relay){0};
    }
}

/* What was under way when it was stopped: unknown, and told so. What was never sent is not told of. */
static int conclude(struct replaying *r)
{
    int64_t now = jobs__loop_now();
    for (size_t i = 0; i < r->relays.count; i++)
        jobs__replay_give_up(r->lines[i].line, now, "interrupted");
    return advance(r, now, true);
}

static int pass(struct replaying *r, const struct jobs_replay_options *replay, int descriptor)
{
    struct jobs__source source = {.journal = r->expecting ? NULL : r->journal,
                                  .descriptor = descriptor,
                                  .verify = replay->verify || r->expecting};
    struct jobs__line *lines = calloc(r->relays.count, sizeof *lines);
    const struct jobs__loop_options loop = {
        .ca_file = r->options->ca_file,
        .stop = r->options->stop,
        .decide = on_decide,
        .turn = on_turn,
        .context = r,
        .progress = r->options->progress,
        .progress_context = r->options->progress_context,
    };
    r->judged = 0;
    int code = lines == NULL || jobs__ring_new(&r->ring) != JOBS_OK
                   ? jobs_error_set(r->error, JOBS_NO_MEMORY, "out of memory")
                   : JOBS_OK;
    source.ring = r->ring;
    if (code == JOBS_OK)
        code = make_lines(r, replay, lines);
    if (code == JOBS_OK)
        code = jobs__source_start(&source, r->error);
    if (code == JOBS_OK)
        code = jobs__loop_run(lines, r->relays.count, &loop, r->error);
    if (code == JOBS_OK)
        code = r->code;
    if (code == JOBS_OK)
        code = conclude(r);
    if (r->ring != NULL)
        jobs__source_stop(&source);
    if (code == JOBS_OK && source.code != JOBS_OK) {
        code = source.code;
        if (r->error != NULL)
            *r->error = source.error;
    }
    free_lines(r);
    jobs__ring_free(r->ring);
    r->ring = NULL;
    free(lines);
    return code;
}

/* --- the whole --- */

static int sum_up(const struct jobs_replay_counts *c, struct jobs_error *error)
{
    if (c->rejected + c->unknown + c->invalid > 0) {
        int code = c->rejected + c->invalid > 0 ? JOBS_REFUSED : JOBS_UNKNOWN;
        jobs_error_set(error, code,
                       "not every event was accepted: %" PRIu64 " were rejected, %" PRIu64 " stayed unknown, %" PRIu64
                       " are not valid",
                       c->rejected, c->unknown, c->invalid);
        if (error != NULL)
            error->retryable = c->unknown > 0;
        return code;
    }
    if (c->missing + c->different + c->unasked == 0)
        return JOBS_OK;
    return jobs_error_set(error, c->missing + c->different > 0 ? JOBS_REFUSED : JOBS_UNKNOWN,
                          "not every expected event came back: %" PRIu64 " are missing, %" PRIu64 " different, %" PRIu64
                          " could not be asked for",
                          c->missing, c->different, c->unasked);
}

int jobs_replay(const struct jobs_replay_options *replay, const struct jobs_client_options *options,
                int (*visit)(void *context, const struct jobs_replayed *replayed), void *context,
                struct jobs_replay_counts *counts, struct jobs_error *error)
{
    struct replaying r = {.options = options,
                          .visit = visit,
                          .context = context,
                          .counts = counts,
                          .error = error,
                          .verified = replay->verify};
    *counts = (struct jobs_replay_counts){0};
    if (replay->window > JOBS_REPLAY_WINDOW_MAX)
        return jobs_error_set(error, JOBS_USAGE, "a window is at most %d events", JOBS_REPLAY_WINDOW_MAX);
    int code = jobs__relays_resolve(&r.relays, options, error);
    if (code == JOBS_OK && (r.lines = calloc(r.relays.count, sizeof *r.lines)) == NULL)
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    if (code == JOBS_OK && replay->journal != NULL)
        code = jobs__journal_open(&r.journal, replay->journal, r.relays.urls, r.relays.count, error);
    if (code == JOBS_OK)
        code = pass(&r, replay, replay->input);
    if (code == JOBS_OK && replay->expect >= 0 && !jobs__stopped(options)) {
        r.expecting = true;
        code = pass(&r, replay, replay->expect);
    }
    if (code == JOBS_OK)
        code = sum_up(counts, error);
    if (code == JOBS_USAGE)
        jobs__journal_forget_run(r.journal);
    jobs__journal_close(r.journal);
    jobs_verifier_free(r.verifier);
    free(r.lines);
    jobs__relays_free(&r.relays);
    return code;
}
