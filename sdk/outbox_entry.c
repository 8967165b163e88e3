/* outbox_entry.c - one entry: made of an event; its digests, its facts. No disk and no socket.
 */
#include "outbox.h"

#include "../core/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t jobs__outbox_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec;
}

int jobs__folder_name(char out[65], const char *author, const char *job)
{
    char both[129];
    if (strlen(author) != 64 || strlen(job) != 64)
        return JOBS_INVALID;
    memcpy(both, author, 64);
    memcpy(both + 64, job, 65);
    jobs__sha256_hex(out, both, 128);
    return JOBS_OK;
}

int jobs__entry_digest(char out[65], const char *author, const char *channel, const struct jobs_handoff *handoff,
                       bool loose)
{
    char *comparable = NULL;
    size_t len;
    struct jobs__buffer all = {.max = 2 * JOBS_CONTENT_MAX + JOBS_INPUT_MAX};
    int code = jobs_handoff_comparable(&comparable, &len, handoff, loose);
    if (code)
        return code;
    jobs__buffer_text(&all, author);
    jobs__buffer_char(&all, '\n');
    jobs__buffer_text(&all, channel);
    jobs__buffer_char(&all, '\n');
    jobs__buffer_add(&all, comparable, len);
    code = all.failed;
    if (!code)
        jobs__sha256_hex(out, all.bytes, all.len);
    jobs__buffer_free(&all);
    free(comparable);
    return code;
}

void jobs__entry_free(struct jobs__entry *entry)
{
    if (entry == NULL)
        return;
    for (size_t i = 0; i < entry->fact_count; i++)
        free(entry->facts[i].url);
    free(entry->facts);
    jobs_event_free(entry->event);
    free(entry);
}

static void copy_hex(char out[65], const char *hex)
{
    snprintf(out, 65, "%s", hex == NULL ? "" : hex);
}

/* The digests of an event's content; what is no handoff has none, and is then equal to nothing. */
static int digest_event(struct jobs__entry *entry, const struct jobs_event *event)
{
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    size_t len;
    const char *content = jobs_event_content(event, &len);
    int code = jobs_handoff_parse(&handoff, content, len, NULL, &report);
    if (code == JOBS_INVALID) {
        jobs_report_wipe(&report);
        code = jobs_handoff_read(&handoff, content, len, entry->job, &report, NULL);
    }
    jobs_report_wipe(&report);
    if (code == JOBS_INVALID)
        return JOBS_OK;
    if (!code)
        code = jobs__entry_digest(entry->digest, entry->author, entry->channel, handoff, false);
    if (!code)
        code = jobs__entry_digest(entry->digest_loose, entry->author, entry->channel, handoff, true);
    if (!code)
        copy_hex(entry->supersedes, jobs_handoff_supersedes(handoff));
    jobs_handoff_free(handoff);
    return code;
}

int jobs__entry_new(struct jobs__entry **out, struct jobs_event *event)
{
    *out = NULL;
    const char *job = jobs_event_reply(event);
    const char *channel = jobs_event_channel(event);
    if (jobs_event_kind(event) != JOBS_KIND_RESULT || job == NULL || channel == NULL || strlen(job) != 64 ||
        !jobs_channel_is_valid(channel))
        return JOBS_INVALID;
    struct jobs__entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return JOBS_NO_MEMORY;
    copy_hex(entry->id, jobs_event_id(event));
    copy_hex(entry->author, jobs_event_author(event));
    copy_hex(entry->job, job);
    for (char *c = entry->job; *c != '\0'; c++) /* foreign writers may have used capitals */
        *c = (char)(*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
    snprintf(entry->channel, sizeof entry->channel, "%s", channel);
    entry->created_at = jobs_event_created_at(event);
    entry->stored_at = jobs__outbox_now();
    int code = digest_event(entry, event);
    if (code) {
        jobs__entry_free(entry);
        return code;
    }
    entry->event = event;
    *out = entry;
    return JOBS_OK;
}

struct jobs__fact *jobs__entry_fact(struct jobs__entry *entry, const char *url, bool add)
{
    for (size_t i = 0; i < entry->fact_count; i++) {
        if (strcmp(entry->facts[i].url, url) == 0)
            return &entry->facts[i];
    }
    if (!add || entry->fact_count >= JOBS__FACTS_MAX)
        return NULL;
    char *copy = strdup(url);
    struct jobs__fact *facts = realloc(entry->facts, (entry->fact_count + 1) * sizeof *facts);
    if (facts != NULL)
        entry->facts = facts;
    if (copy == NULL || facts == NULL) {
        free(copy);
        return NULL;
    }
    facts[entry->fact_count] = (struct jobs__fact){.url = copy, .read_back = JOBS_NOT_ASKED};
    return &facts[entry->fact_count++];
}
