/* invariants.h - what holds for every content, valid or not; the fuzz targets abort where it does not. */
#ifndef JOBS_FUZZ_INVARIANTS_H
#define JOBS_FUZZ_INVARIANTS_H

#include "core/card.h"
#include "core/text.h"

#include <jobs/handoff.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline int invariants_visit(void *context, const char *pointer, const char *text, size_t len)
{
    MUST(jobs__text_is_utf8(text, len));
    MUST(pointer[0] == '\0' || pointer[0] == '/');
    ++*(size_t *)context;
    return 0;
}

static inline void invariants_report(const struct jobs_report *report, int code)
{
    MUST((code == JOBS_INVALID) == (report->count > 0));
    for (size_t i = 0; i < report->count; i++) {
        const struct jobs_violation *v = &report->violations[i];
        MUST(v->rule[0] == 'H' && (v->pointer[0] == '\0' || v->pointer[0] == '/' || v->pointer[0] == '\xe2'));
        MUST(jobs__text_is_utf8(v->pointer, strlen(v->pointer)) && jobs__text_is_utf8(v->message, strlen(v->message)));
    }
}

/* What a handoff says is canonical: parsed again, it says the same, and a reader shows it. */
static inline void invariants_handoff(const struct jobs_handoff *handoff)
{
    struct jobs_report report = {0}, left_out = {0};
    struct jobs_handoff *again;
    size_t len, again_len, texts = 0;
    const char *bytes = jobs_handoff_canonical(handoff, &len);
    MUST(len <= JOBS_CONTENT_MAX && jobs__text_is_utf8(bytes, len));
    MUST(jobs_handoff_parse(&again, bytes, len, NULL, &report) == JOBS_OK);
    const char *same = jobs_handoff_canonical(again, &again_len);
    MUST(len == again_len && memcmp(bytes, same, len) == 0);
    jobs_handoff_free(again);
    MUST(jobs_handoff_read(&again, bytes, len, jobs_handoff_job_request(handoff), &report, &left_out) == JOBS_OK);
    MUST(left_out.count == 0);
    same = jobs_handoff_canonical(again, &again_len);
    MUST(len == again_len && memcmp(bytes, same, len) == 0);
    jobs_handoff_free(again);
    MUST(jobs_handoff_visit_texts(handoff, invariants_visit, &texts) == 0 && texts > 8);
}

static inline void invariants(const char *content, size_t len, const char *reply_id)
{
    static struct jobs__card_scratch scratch;
    struct jobs_report report = {0}, why = {0}, left_out = {0};
    struct jobs__card_reason reason = {0};
    struct jobs_handoff *handoff, *read;
    int code = jobs_handoff_parse(&handoff, content, len, NULL, &report);
    invariants_report(&report, code);
    if (code == JOBS_OK)
        invariants_handoff(handoff);
    int shown = jobs_handoff_read(&read, content, len, reply_id, &why, &left_out);
    invariants_report(&why, shown);
    MUST(jobs__card_check(&scratch, content, len, reply_id, &reason) == shown);
    MUST((shown == JOBS_OK) == (reason.rule == NULL));
    /* The reader is looser, but for the reply and for the size as received. */
    if (code == JOBS_OK && strcmp(jobs_handoff_job_request(handoff), reply_id) == 0 && len <= JOBS_CONTENT_MAX)
        MUST(shown == JOBS_OK);
    jobs_handoff_free(handoff);
    jobs_handoff_free(read);
    jobs_report_wipe(&report);
    jobs_report_wipe(&why);
    jobs_report_wipe(&left_out);
}

#endif
