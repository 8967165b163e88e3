/* profile_plain.c - answers like a strfry with its defaults: open to everybody, kinds unseen, words of its own. */
#include "peer.h"

#include <stdio.h>
#include <string.h>

#define EVENT_MAX   65536
#define OLDEST_SECS (3 * 365 * 24 * 3600)
#define NEWEST_SECS 900

/* Such an event gets another id there, since DEL is escaped before it is hashed. */
static bool holds_del(const struct jobs_event *event)
{
    size_t len;
    const char *content = jobs_event_content(event, &len);
    if (memchr(content, 0x7f, len) != NULL)
        return true;
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        for (size_t j = 0; j < tag.count; j++)
            if (strchr(tag.values[j], 0x7f) != NULL)
                return true;
    }
    return false;
}

static struct verdict judge(struct relay *relay, struct peer *peer, const struct jobs_event *event)
{
    (void)peer;
    size_t len = 0;
    unsigned char id[32];
    uint32_t number;
    int64_t age = relay_unix_time(relay) - jobs_event_created_at(event);
    uint32_t kind = jobs_event_kind(event);
    const char *wrong;

    if (jobs_event_json(event, &len) == NULL || len > EVENT_MAX) {
        snprintf(relay->said, sizeof relay->said, "invalid: event too large: %zu", len);
        return (struct verdict){.text = relay->said};
    }
    if (holds_del(event))
        return (struct verdict){.text = "invalid: bad event id"};
    if ((wrong = relay_check(event)) != NULL)
        return (struct verdict){.text = wrong};
    if (age > OLDEST_SECS)
        return (struct verdict){.text = "invalid: created_at too early"};
    if (age < -NEWEST_SECS)
        return (struct verdict){.text = "invalid: created_at too late"};
    if (relay->options.refuse_jobs && kind >= 43001 && kind <= 43006)
        return (struct verdict){.text = "restricted: unknown event kind"};
    if (hex_bytes(id, jobs_event_id(event), 64) && store_find(relay->store, id, &number))
        return (struct verdict){.ok = true, .text = "duplicate: have this event"};
    return (struct verdict){.ok = true, .store = true, .text = ""};
}

const struct profile profile_plain = {
    .name = "plain",
    .auth_window = 600,
    .frame_max = 1u << 20,
    .stop_code = 1001,
    .stop_text = "",
    .bad_message = "ERROR: bad msg: unparseable message",
    .closed_mark = "ERROR: ",
    .judge = judge,
};

const struct profile *profile_named(const char *name)
{
    static const struct profile *const all[] = {&profile_plain, &profile_buzz};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}
