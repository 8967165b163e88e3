/* card.c - see card.h. The rules are check.c's, as for everybody else. */
#include "card.h"

#include "check.h"

int jobs__card_check(struct jobs__card_scratch *scratch, const char *content, size_t len, const char *reply_id,
                     struct jobs__card_reason *reason)
{
    if (len > JOBS_CONTENT_MAX) {
        *reason = (struct jobs__card_reason){jobs__rule_number(JOBS__H109), jobs__rule_sentence(JOBS__H109)};
        return JOBS_INVALID;
    }
    struct jobs__json_fault fault;
    int code = jobs__json_parse(&scratch->doc, content, len, &fault);
    if (code == JOBS_INVALID)
        *reason = (struct jobs__card_reason){fault.rule, fault.what};
    if (code != JOBS_OK)
        return code;
    scratch->text.max = JOBS_CONTENT_MAX;
    struct jobs__check check = {
        .doc = &scratch->doc, .text = &scratch->text, .reader = true, .card_only = true, .reply_id = reply_id};
    jobs__check_document(&check);
    if (check.no_memory)
        return JOBS_NO_MEMORY;
    if (!check.broken)
        return JOBS_OK;
    *reason = (struct jobs__card_reason){jobs__rule_number(check.first), jobs__rule_sentence(check.first)};
    return JOBS_INVALID;
}

void jobs__card_free(struct jobs__card_scratch *scratch)
{
    if (scratch == NULL)
        return;
    jobs__json_free(&scratch->doc);
    jobs__buffer_free(&scratch->text);
}
