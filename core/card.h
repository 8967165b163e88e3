/* card.h - whether content is a card, for those who ask of very many: no list, no structures, no allocation once warm.
 */
#ifndef JOBS_CARD_H
#define JOBS_CARD_H

#include "json.h"

/* Starts zeroed; keeps its memory from one content to the next. One a thread. */
struct jobs__card_scratch {
    struct jobs__json doc;
    struct jobs__buffer text;
};

/* A broken rule: number and sentence, both static. */
struct jobs__card_reason {
    const char *rule, *sentence;
};

/* By the reader's rules, as jobs_handoff_read: JOBS_OK, JOBS_INVALID (one of the broken rules is in *reason) or
 * JOBS_NO_MEMORY. reply_id is the value of the event's one `e` tag marked reply, NULL when there is none. */
int jobs__card_check(struct jobs__card_scratch *scratch, const char *content, size_t len, const char *reply_id,
                     struct jobs__card_reason *reason);

void jobs__card_free(struct jobs__card_scratch *scratch);

#endif
