/* draw.c - what a card says and in which order. Knows no rendering. */
#include "pen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How the producer knows, in words; the contract's own word comes first. */
static const struct {
    const char *word, *meaning;
    bool weak;
} claim_sources[] = {
    {"executed", "executed: the author says that it was run", false},
    {"interpreted", "interpreted: the author concluded it from other results", true},
    {"reported", "reported: the author was told so", true},
    {"not_run", "not_run: the author did not run it", true},
};

static void own(struct pen *pen, const char *name, const char *value)
{
    pen->fact(pen, name, FACT_OWN, value);
}

static void optional(struct pen *pen, const char *name, enum pen_fact kind, const char *foreign)
{
    if (foreign != NULL)
        pen->fact(pen, name, kind, foreign);
}

static void paragraph(struct pen *pen, enum pen_tone tone, const char *title, const char *foreign)
{
    if (foreign == NULL)
        return;
    pen->section(pen, tone, title, NULL);
    pen->text(pen, foreign);
    pen->section_end(pen);
}

/* 1234567 as "1,234,567 bytes". */
static void size_fact(struct pen *pen, int64_t bytes)
{
    char digits[24], text[48];
    if (bytes < 0)
        return;
    int n = snprintf(digits, sizeof digits, "%" PRId64, bytes);
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        text[used++] = digits[i];
        if ((n - i - 1) % 3 == 0 && i + 1 < n)
            text[used++] = ',';
    }
    snprintf(text + used, sizeof text - used, bytes == 1 ? " byte" : " bytes");
    own(pen, "size", text);
}

static void artifacts(struct pen *pen, const struct jobs_handoff *handoff)
{
    size_t count;
    const struct jobs_artifact *artifact = jobs_handoff_artifacts(handoff, &count);
    if (count == 0)
        return;
    pen->section(pen, TONE_PLAIN, "Artifacts", NULL);
    for (size_t i = 0; i < count; i++, artifact++) {
        char word[32];
        snprintf(word, sizeof word, "%s", artifact->kind);
        for (char *at = word; (at = strchr(at, '_')) != NULL;)
            *at = ' ';
        pen->item(pen, TONE_PLAIN, word, artifact->label);
        pen->fact(pen, "", FACT_LINK, artifact->reference);
        optional(pen, "state", FACT_LINE, artifact->source_state);
        optional(pen, "type", FACT_LINE, artifact->media_type);
        size_fact(pen, artifact->bytes);
        optional(pen, "sha256", FACT_CODE, artifact->sha256);
        pen->item_end(pen);
    }
    pen->section_end(pen);
}

static void verification(struct pen *pen, const struct jobs_handoff *handoff)
{
    size_t count;
    const struct jobs_verification *check = jobs_handoff_verification(handoff, &count);
    if (count == 0)
        return;
    pen->section(pen, TONE_PLAIN, "Verification", "Claims of the author. Nothing of it was checked by showing it.");
    for (size_t i = 0; i < count; i++, check++) {
        const char *claim = "the author does not say how it is known";
        bool weak = true;
        for (size_t c = 0; check->claim_source != NULL && c < sizeof claim_sources / sizeof *claim_sources; c++)
            if (strcmp(check->claim_source, claim_sources[c].word) == 0) {
                claim = claim_sources[c].meaning;
                weak = claim_sources[c].weak;
            }
        if (strcmp(check->status, "passed") == 0)
            pen->item(pen, weak ? TONE_CAUTION : TONE_PLAIN, "claimed: passed", check->label);
        else if (strcmp(check->status, "failed") == 0)
            pen->item(pen, TONE_BAD, "claimed: failed", check->label);
        else
            pen->item(pen, TONE_QUIET, "not run", check->label);
        own(pen, "claim", claim);
        optional(pen, "command", FACT_CODE, check->command);
        if (check->has_exit_code) {
            char number[16];
            snprintf(number, sizeof number, "%" PRId32, check->exit_code);
            own(pen, "exit", number);
        }
        optional(pen, "evidence", FACT_TEXT, check->evidence);
        optional(pen, "sha256", FACT_CODE, check->evidence_sha256);
        pen->item_end(pen);
    }
    pen->section_end(pen);
}

static void findings(struct pen *pen, const struct jobs_handoff *handoff)
{
    static const struct {
        const char *bucket;
        enum pen_tone tone;
    } buckets[] = {{"unresolved", TONE_CAUTION}, {"addressed", TONE_PLAIN}, {"observation", TONE_QUIET}};
    size_t count;
    const struct jobs_finding *all = jobs_handoff_findings(handoff, &count);
    if (count == 0)
        return;
    pen->section(pen, TONE_PLAIN, "Findings", NULL);
    for (size_t b = 0; b < sizeof buckets / sizeof *buckets; b++)
        for (size_t i = 0; i < count; i++) {
            const struct jobs_finding *finding = &all[i];
            if (strcmp(finding->bucket, buckets[b].bucket) != 0)
                continue;
            pen->item(pen, buckets[b].tone, buckets[b].bucket, finding->summary);
            pen->fact(pen, "id", FACT_LINE, finding->id);
            pen->fact(pen, "severity", FACT_LINE, finding->severity);
            optional(pen, "owner", FACT_LINE, finding->owner);
            optional(pen, "decision", FACT_LINE, finding->disposition);
            optional(pen, "filed as", FACT_LINE, finding->filed_artifact);
            pen->item_end(pen);
        }
    pen->section_end(pen);
}

static void reviews(struct pen *pen, const struct jobs_handoff *handoff)
{
    size_t count;
    const struct jobs_review *review = jobs_handoff_reviews(handoff, &count);
    if (count == 0)
        return;
    pen->section(pen, TONE_PLAIN, "Reviews", "As the author reports them; the reviewers did not sign this.");
    for (size_t i = 0; i < count; i++, review++) {
        bool bad = strcmp(review->verdict, "reject") == 0, hold = strcmp(review->verdict, "hold") == 0;
        pen->item(pen, bad ? TONE_BAD : hold ? TONE_CAUTION : TONE_PLAIN, review->verdict, review->reviewer);
        pen->fact(pen, "role", FACT_LINE, review->role);
        optional(pen, "summary", FACT_TEXT, review->summary);
        optional(pen, "", FACT_LINK, review->reference);
        optional(pen, "sha256", FACT_CODE, review->sha256);
        pen->item_end(pen);
    }
    pen->section_end(pen);
}

static void questions(struct pen *pen, const struct jobs_handoff *handoff)
{
    size_t count;
    const struct jobs_question *question = jobs_handoff_questions(handoff, &count);
    if (count == 0)
        return;
    pen->section(pen, TONE_CAUTION, "Questions", NULL);
    for (size_t i = 0; i < count; i++, question++) {
        pen->item(pen, TONE_CAUTION, "asks", question->question);
        pen->fact(pen, "id", FACT_LINE, question->id);
        for (size_t o = 0; o < question->option_count; o++) {
            char name[32];
            snprintf(name, sizeof name, "option %zu", o + 1);
            pen->fact(pen, name, FACT_TEXT, question->options[o]);
        }
        pen->item_end(pen);
    }
    pen->section_end(pen);
}

static void next(struct pen *pen, const struct jobs_handoff *handoff)
{
    const struct jobs_next *advice = jobs_handoff_next(handoff);
    if (advice == NULL ||
        (advice->owner == NULL && advice->intent == NULL && advice->text == NULL && advice->target_count == 0))
        return;
    pen->section(pen, TONE_PLAIN, "Next", "Advice of the author; it obliges nobody.");
    if (advice->text != NULL)
        pen->text(pen, advice->text);
    optional(pen, "owner", FACT_LINE, advice->owner);
    optional(pen, "intent", FACT_LINE, advice->intent);
    for (size_t i = 0; i < advice->target_count; i++)
        pen->fact(pen, "target", FACT_LINE, advice->targets[i]);
    pen->section_end(pen);
}

static void source(struct pen *pen, const struct jobs_handoff *handoff)
{
    const struct jobs_source *from = jobs_handoff_source(handoff);
    if (from == NULL)
        return;
    pen->section(pen, TONE_PLAIN, "Source", "Converted from another system's result.");
    pen->fact(pen, "format", FACT_LINE, from->format);
    optional(pen, "version", FACT_LINE, from->version);
    optional(pen, "producer", FACT_LINE, from->producer);
    optional(pen, "its word", FACT_LINE, from->native_outcome);
    size_fact(pen, from->bytes);
    pen->fact(pen, "sha256", FACT_CODE, from->sha256);
    for (size_t i = 0; i < from->repair_count; i++)
        pen->fact(pen, "repaired", FACT_LINE, from->repairs[i]);
    optional(pen, "original", FACT_CODE, from->original);
    pen->section_end(pen);
}

static void structured(struct pen *pen, const struct jobs_handoff *handoff)
{
    static const enum pen_tone tones[] = {TONE_PLAIN, TONE_CAUTION, TONE_BAD, TONE_BAD, TONE_PLAIN};
    enum pen_tone tone = tones[jobs_handoff_disposition(handoff)];
    paragraph(pen, TONE_PLAIN, "Asked", jobs_handoff_requested_outcome(handoff));
    paragraph(pen, TONE_PLAIN, "Outcome", jobs_handoff_outcome(handoff));
    paragraph(pen, tone == TONE_PLAIN ? TONE_CAUTION : tone, "Blocker", jobs_handoff_blocker(handoff));
    questions(pen, handoff);
    paragraph(pen, TONE_PLAIN, "Progress", jobs_handoff_last_progress(handoff));
    artifacts(pen, handoff);
    verification(pen, handoff);
    findings(pen, handoff);
    reviews(pen, handoff);
    next(pen, handoff);
    if (jobs_handoff_supersedes(handoff) != NULL) {
        pen->section(pen, TONE_PLAIN, "Replaces", "Holds when both have one author, one channel and one job.");
        pen->fact(pen, "handoff", FACT_CODE, jobs_handoff_supersedes(handoff));
        pen->section_end(pen);
    }
    source(pen, handoff);
}

static void fallback(struct pen *pen, const struct card *card)
{
    size_t len;
    const char *content = jobs_event_content(card->event, &len);
    pen->section(pen, TONE_PLAIN, "Content",
                 jobs_event_kind(card->event) == JOBS_KIND_RESULT ? "Not a structured handoff; shown as the text it is."
                                                                  : NULL);
    pen->markdown(pen, content, len);
    pen->section_end(pen);
}

static void signed_facts(struct pen *pen, const struct card *card)
{
    char text[32];
    const struct jobs_event *event = card->event;
    const char *job = card->handoff != NULL ? jobs_handoff_job_request(card->handoff) : jobs_event_reply(event);
    pen->section(pen, TONE_PLAIN, "Signed", "The signature holds: it proves who said this, not that it is true.");
    pen->fact(pen, "by", FACT_CODE, jobs_event_author(event));
    own(pen, "at", card_time(text, jobs_event_created_at(event)));
    optional(pen, "channel", FACT_CODE, jobs_event_channel(event));
    optional(pen, "job", FACT_CODE, job);
    pen->fact(pen, "event", FACT_CODE, jobs_event_id(event));
    snprintf(text, sizeof text, "%" PRIu32, jobs_event_kind(event));
    own(pen, "kind", text);
    pen->section_end(pen);
}

static void list_rules(struct pen *pen, const char *title, const struct jobs_report *report, const char *reason)
{
    if (report->count == 0 && reason == NULL)
        return;
    pen->section(pen, TONE_QUIET, title, reason);
    for (size_t i = 0; i < report->count; i++) {
        const struct jobs_violation *violation = &report->violations[i];
        pen->item(pen, TONE_QUIET, violation->rule, violation->message);
        pen->fact(pen, "at", FACT_CODE, violation->pointer[0] != '\0' ? violation->pointer : "the whole content");
        pen->item_end(pen);
    }
    pen->section_end(pen);
}

static void draw(struct pen *pen, const void *subject, const struct card_look *look)
{
    const struct card *card = subject;
    static const enum pen_tone tones[] = {TONE_GOOD, TONE_CAUTION, TONE_BAD, TONE_BAD, TONE_GOOD};
    pen->head(pen, card->handoff != NULL ? tones[jobs_handoff_disposition(card->handoff)] : TONE_PLAIN,
              card_headline(card), card_label(card));
    if (card->hint_count > 0) {
        pen->section(pen, TONE_CAUTION, "Note", NULL);
        for (size_t i = 0; i < card->hint_count; i++)
            own(pen, "", card->hints[i]);
        pen->section_end(pen);
    }
    if (card->handoff != NULL)
        structured(pen, card->handoff);
    else
        fallback(pen, card);
    signed_facts(pen, card);
    if (look->reason)
        list_rules(pen, card->handoff != NULL ? "Left out" : "Why no card",
                   card->handoff != NULL ? &card->left_out : &card->broken, card->reason);
}

int card_terminal(FILE *out, const struct card *card, const struct card_look *look)
{
    return pen_terminal(out, draw, card, look);
}

int card_markdown(FILE *out, const struct card *card, const struct card_look *look)
{
    return pen_markdown(out, draw, card, look);
}

int card_html(FILE *out, const struct card *card, const struct card_look *look)
{
    return pen_html(out, draw, card, look);
}
