/* card.c - decides between card and fallback; renders nothing. */
#include "card.h"

#include <string.h>
#include <time.h>

static void add_hint(struct card *card, const char *sentence)
{
    card->hints[card->hint_count++] = sentence;
}

static const char *value_of(const struct jobs_tag *tag, size_t i)
{
    return i < tag->count ? tag->values[i] : "";
}

/* Tags are for filters and summaries: the content decides, and a tag that says otherwise is named. */
static void judge_hints(struct card *card)
{
    bool schema_is_wrong = false, disposition_is_wrong = false;
    const char *disposition =
        card->handoff != NULL ? jobs_disposition_name(jobs_handoff_disposition(card->handoff)) : NULL;
    for (size_t i = 0; i < jobs_event_tag_count(card->event); i++) {
        const struct jobs_tag tag = jobs_event_tag(card->event, i);
        if (strcmp(tag.values[0], "schema") == 0) {
            bool ours = strcmp(value_of(&tag, 1), "buzz.job-result") == 0 && strcmp(value_of(&tag, 2), "1") == 0;
            schema_is_wrong = schema_is_wrong || ours != (card->handoff != NULL);
        } else if (strcmp(tag.values[0], "disposition") == 0 && disposition != NULL) {
            disposition_is_wrong = disposition_is_wrong || strcmp(value_of(&tag, 1), disposition) != 0;
        }
    }
    if (schema_is_wrong && card->handoff != NULL)
        add_hint(card, "The schema tag names another format than the content has; the content is shown.");
    else if (schema_is_wrong)
        add_hint(card, "The schema tag promises a card, but the content is none.");
    if (disposition_is_wrong)
        add_hint(card, "The disposition tag says otherwise than the content; the content is shown.");
}

int card_open_verified(struct card *card, const struct jobs_event *event)
{
    size_t len;
    const char *content = jobs_event_content(event, &len);
    const char *reply = jobs_event_reply(event);
    *card = (struct card){.event = event};
    if (jobs_event_kind(event) != JOBS_KIND_RESULT) {
        card->reason = "only events of kind 43004 are handoffs";
    } else if (reply == NULL) {
        card->reason = "a handoff has exactly one `e` tag that is marked `reply`";
    } else {
        int code = jobs_handoff_read(&card->handoff, content, len, reply, &card->broken, &card->left_out);
        if (code != JOBS_OK && code != JOBS_INVALID)
            return code;
    }
    judge_hints(card);
    return JOBS_OK;
}

int card_open(struct card *card, const struct jobs_event *event, struct jobs_error *error)
{
    *card = (struct card){.event = event};
    switch (jobs_event_check(event)) {
    case JOBS_EVENT_BAD_ID:
        return jobs_error_set(error, JOBS_INVALID, "the event's id is not the digest of the event: nothing is shown");
    case JOBS_EVENT_BAD_SIGNATURE:
        return jobs_error_set(error, JOBS_INVALID,
                              "the event's signature does not hold, so anybody may have written it: nothing is shown");
    case JOBS_EVENT_VALID:
        break;
    }
    int code = card_open_verified(card, event);
    return code == JOBS_OK ? code : jobs_error_set(error, code, "out of memory");
}

void card_close(struct card *card)
{
    jobs_handoff_free(card->handoff);
    jobs_report_wipe(&card->broken);
    jobs_report_wipe(&card->left_out);
    memset(card, 0, sizeof *card);
}

const char *card_headline(const struct card *card)
{
    static const char *const kinds[] = {"Job request", "Job accepted",  "Job progress",
                                        "Job result",  "Job cancelled", "Job error"};
    if (card->handoff != NULL)
        return jobs_disposition_headline(jobs_handoff_disposition(card->handoff));
    uint32_t kind = jobs_event_kind(card->event);
    return kind >= JOBS_KIND_REQUEST && kind <= JOBS_KIND_ERROR ? kinds[kind - JOBS_KIND_REQUEST] : "Event";
}

const char *card_label(const struct card *card)
{
    return card->handoff != NULL ? jobs_disposition_label(jobs_handoff_disposition(card->handoff)) : "Not structured";
}

char *card_time(char out[32], int64_t seconds)
{
    struct tm broken_down;
    const time_t when = (time_t)seconds;
    if (gmtime_r(&when, &broken_down) == NULL || strftime(out, 32, "%Y-%m-%d %H:%M:%S UTC", &broken_down) == 0)
        snprintf(out, 32, "%lld", (long long)seconds);
    return out;
}
