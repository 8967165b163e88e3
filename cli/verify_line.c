/* verify_line.c - one event's verdict as a line. Decides nothing: the verifier did. */
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void verify_counts_add(struct verify_counts *to, const struct verify_counts *more)
{
    to->lines += more->lines;
    to->bytes += more->bytes;
    for (size_t i = 0; i < sizeof to->events / sizeof *to->events; i++)
        to->events[i] += more->events[i];
    to->cards += more->cards;
    to->no_cards += more->no_cards;
    to->confirmed += more->confirmed;
    to->different += more->different;
    to->missing += more->missing;
}

/* --- evidence --- */

struct piece {
    const char *list; /* "artifacts" */
    size_t index;
    const char *path, *sha256;
    int64_t bytes; /* -1: unknown */
};

/* A path below a folder, not a URL or an id. */
static bool is_path(const char *reference)
{
    return reference != NULL && reference[0] != '\0' && reference[0] != '/' && strchr(reference, ':') == NULL;
}

/* What a verification's digest is of: its evidence, or its label where a result was converted. Words about an output
 * are no path. */
static const char *file_of(const struct jobs_verification *verification)
{
    static const char spaces[] = " \t\r\n";
    if (verification->evidence != NULL && strpbrk(verification->evidence, spaces) == NULL)
        return verification->evidence;
    bool names_file = strchr(verification->label, '/') != NULL && strpbrk(verification->label, spaces) == NULL;
    return names_file ? verification->label : NULL;
}

static void put_piece(struct stream *out, struct verify_counts *counts, const struct jobs_evidence_root *root,
                      const struct piece *piece, bool *any)
{
    char hex[65], pointer[64];
    int64_t bytes = -1;
    const char *result;
    if (!is_path(piece->path) || piece->sha256 == NULL)
        return; /* nothing below the folder is claimed */
    if (jobs_evidence_hash(root, piece->path, hex, &bytes) != JOBS_EVIDENCE_HASHED) {
        result = "missing";
        counts->missing++;
    } else if (strcmp(hex, piece->sha256) == 0 && (piece->bytes < 0 || piece->bytes == bytes)) {
        result = "confirmed";
        counts->confirmed++;
    } else {
        result = "different";
        counts->different++;
    }
    snprintf(pointer, sizeof pointer, "/%s/%zu", piece->list, piece->index);
    stream_text(out, *any ? ",{\"pointer\":\"" : "{\"pointer\":\"");
    stream_text(out, pointer);
    stream_text(out, "\",\"result\":\"");
    stream_text(out, result);
    stream_text(out, "\"}");
    *any = true;
}

/* The card, once more by the ordinary reader: what is rare need not be fast. */
static int put_evidence(struct stream *out, struct verify_counts *counts, const struct jobs_evidence_root *root,
                        const char *json, size_t len)
{
    struct jobs_event *event = NULL;
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    size_t content_len, count;
    bool any = false;
    int code = jobs_event_parse(&event, json, len, NULL);
    if (code == JOBS_OK) {
        const char *content = jobs_event_content(event, &content_len);
        code = jobs_handoff_read(&handoff, content, content_len, jobs_event_reply(event), &report, NULL);
    }
    if (code == JOBS_OK) {
        stream_text(out, ",\"evidence\":[");
        const struct jobs_artifact *artifacts = jobs_handoff_artifacts(handoff, &count);
        for (size_t i = 0; i < count; i++)
            put_piece(out, counts, root,
                      &(struct piece){"artifacts", i, artifacts[i].reference, artifacts[i].sha256, artifacts[i].bytes},
                      &any);
        const struct jobs_verification *verification = jobs_handoff_verification(handoff, &count);
        for (size_t i = 0; i < count; i++)
            put_piece(
                out, counts, root,
                &(struct piece){"verification", i, file_of(&verification[i]), verification[i].evidence_sha256, -1},
                &any);
        stream_text(out, "]");
    }
    jobs_report_wipe(&report);
    jobs_handoff_free(handoff);
    jobs_event_free(event);
    return code == JOBS_NO_MEMORY ? code : JOBS_OK;
}

/* --- the line --- */

static void count(struct verify_counts *counts, const struct jobs_verified *verdict, size_t len)
{
    counts->lines++;
    counts->bytes += len;
    counts->events[verdict->event]++;
    counts->cards += verdict->card == JOBS_CARD_YES;
    counts->no_cards += verdict->card == JOBS_CARD_NO;
}

static void put_reason(struct stream *out, const struct jobs_verified *verdict)
{
    char text[1200];
    if (verdict->reason == NULL)
        return;
    stream_text(out, ",\"reason\":");
    if (verdict->rule == NULL) {
        stream_string(out, verdict->reason);
        return;
    }
    snprintf(text, sizeof text, "%s: %s", verdict->rule, verdict->reason);
    stream_string(out, text);
}

static void put_verdict(struct stream *out, uint64_t number, const struct jobs_verified *verdict)
{
    static const char *const cards[] = {"null", "true", "false"};
    stream_text(out, "{\"line\":");
    stream_number(out, number);
    if (verdict->id[0] != '\0') {
        stream_text(out, ",\"event_id\":\"");
        stream_put(out, verdict->id, 64);
        stream_text(out, "\",\"event\":\"");
    } else {
        stream_text(out, ",\"event_id\":null,\"event\":\"");
    }
    stream_text(out, jobs_verified_name(verdict->event));
    stream_text(out, "\",\"kind\":");
    if (verdict->kind < 0)
        stream_text(out, "null");
    else
        stream_number(out, (uint64_t)verdict->kind);
    stream_text(out, ",\"card\":");
    stream_text(out, cards[verdict->card]);
    put_reason(out, verdict);
}

int verify_block(struct stream *out, struct verify_counts *counts, struct jobs_verifier *verifier,
                 const struct jobs_lines_block *block, const struct jobs_evidence_root *root)
{
    struct jobs_verified verdict;
    const char *line;
    size_t len;
    uint64_t number = block->first;
    for (size_t at = 0; jobs_lines_next(block, &at, &line, &len); number++) {
        int code = jobs_verifier_check(&verdict, verifier, line, len);
        if (code != JOBS_OK)
            return code;
        count(counts, &verdict, len);
        put_verdict(out, number, &verdict);
        if (root != NULL && verdict.card == JOBS_CARD_YES && put_evidence(out, counts, root, line, len) != JOBS_OK)
            return JOBS_NO_MEMORY;
        stream_text(out, "}\n");
    }
    return out->failed ? JOBS_NO_MEMORY : JOBS_OK;
}
