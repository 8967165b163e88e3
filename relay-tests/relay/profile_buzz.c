/* profile_buzz.c - answers like a Buzz relay whose job kinds are admitted: AUTH first, channels and their members,
 * replies that must fit their thread, a narrow clock, a quota.
 *
 * Channels and members are no state of their own: they are the 9007 and 9021 events in the store. All checks come
 * before the question whether the event is known, so a resend can be refused although the first try was stored.
 */
#include "need.h"
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_MAX (256u << 10)
#define WINDOW_SECS 900
#define CREATE      9007
#define JOIN        9021
#define BURST       50 /* in 5 seconds */
#define MINUTE      60 /* events in one */
#define MINUTE_ASKS 300

/* --- quota: by key, events and REQs apart --- */

struct quota {
    char author[65];
    int64_t events[MINUTE], asks[MINUTE_ASKS]; /* times, as rings */
    size_t event_at, ask_at;
    struct quota *next;
};

static struct quota *quota_of(struct relay *relay, const char *author)
{
    struct quota *quota = relay->quotas;
    while (quota != NULL && strcmp(quota->author, author) != 0)
        quota = quota->next;
    if (quota == NULL) {
        quota = need(sizeof *quota);
        memcpy(quota->author, author, sizeof quota->author);
        for (size_t i = 0; i < MINUTE; i++)
            quota->events[i] = INT64_MIN / 2;
        for (size_t i = 0; i < MINUTE_ASKS; i++)
            quota->asks[i] = INT64_MIN / 2;
        quota->next = relay->quotas;
        relay->quotas = quota;
    }
    return quota;
}

/* Milliseconds to wait; 0 when it may go through, which is then counted. */
static int64_t take(int64_t *ring, size_t size, size_t *at, int64_t now)
{
    int64_t minute = ring[*at] + 60000 - now;                       /* the oldest of the ring */
    int64_t burst = ring[(*at + size - BURST) % size] + 5000 - now; /* the BURSTth last */
    int64_t wait = minute > burst ? minute : burst;
    if (wait > 0)
        return wait;
    ring[*at] = now;
    *at = (*at + 1) % size;
    return 0;
}

static const char *throttle(struct relay *relay, struct peer *peer, bool event)
{
    if (!peer->authenticated)
        return NULL;
    struct quota *quota = quota_of(relay, peer->author);
    int64_t wait = event ? take(quota->events, MINUTE, &quota->event_at, relay->now)
                         : take(quota->asks, MINUTE_ASKS, &quota->ask_at, relay->now);
    if (wait == 0)
        return NULL;
    snprintf(relay->said, sizeof relay->said, "rate-limited: quota exceeded; retry in %llds",
             (long long)((wait + 999) / 1000));
    return relay->said;
}

/* --- channels --- */

/* Whether an event of this kind (and author, unless NULL) stands in the channel. */
static bool stands(const struct relay *relay, uint32_t kind, const char *author, const char *channel)
{
    unsigned char key[1][32];
    struct filter_text value = {(char *)(uintptr_t)channel, (uint32_t)strlen(channel)};
    struct filter_tag tag = {'h', &value, 1};
    struct filter filter = {.has_kinds = true,
                            .kinds = &kind,
                            .kind_count = 1,
                            .tags = &tag,
                            .tag_count = 1,
                            .since = INT64_MIN,
                            .until = INT64_MAX,
                            .limit = 1};
    if (author != NULL && hex_bytes(key[0], author, 64)) {
        filter.has_authors = true;
        filter.authors = key;
        filter.author_count = 1;
    }
    struct numbers found = {0};
    store_query(relay->store, &filter, 1, &found);
    bool any = found.count > 0;
    numbers_free(&found);
    return any;
}

static bool is_member(const struct relay *relay, const char *author, const char *channel)
{
    return stands(relay, CREATE, author, channel) || stands(relay, JOIN, author, channel);
}

static struct verdict judge_create(const struct relay *relay, const struct jobs_event *event, const char *channel)
{
    if (jobs_event_tag_value(event, "name") == NULL)
        return (struct verdict){.text = "invalid: channel needs a name"};
    if (stands(relay, CREATE, NULL, channel))
        return (struct verdict){.text = "duplicate: channel already exists"};
    return (struct verdict){.ok = true, .store = true, .text = ""};
}

/* --- threads --- */

static const char *marked(const struct jobs_event *event, const char *marker)
{
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        if (tag.count >= 4 && strcmp(tag.values[0], "e") == 0 && strcmp(tag.values[3], marker) == 0)
            return tag.values[1];
    }
    return NULL;
}

/* A reply must be to an event of this channel, and name the root of the thread when that is itself a reply. */
static const char *check_thread(const struct relay *relay, const struct jobs_event *event, const char *channel)
{
    const char *reply = marked(event, "reply"), *root = marked(event, "root");
    unsigned char id[32];
    uint32_t number;
    struct jobs_event *parent = NULL;
    const char *wrong = NULL;

    if (reply == NULL)
        return NULL;
    if (!hex_bytes(id, reply, strlen(reply)) || !store_find(relay->store, id, &number) ||
        store_record(relay->store, number)->hidden)
        return "invalid: reply parent not found";
    struct jobs__buffer json = {.max = 16u << 20};
    store_read(relay->store, number, &json);
    if (json.failed || jobs_event_parse(&parent, json.bytes, json.len, NULL) != JOBS_OK)
        give_up("a stored event cannot be read");
    const char *parents = jobs_event_channel(parent), *above = marked(parent, "reply"), *top = marked(parent, "root");
    if (parents == NULL || strcmp(parents, channel) != 0)
        wrong = "invalid: parent event belongs to a different channel";
    else if (above != NULL && (root == NULL || strcmp(root, top == NULL ? above : top) != 0))
        wrong = "invalid: root tag does not match thread ancestry";
    jobs_event_free(parent);
    jobs__buffer_free(&json);
    return wrong;
}

/* --- the verdict --- */

static bool is_admitted(const struct relay *relay, uint32_t kind)
{
    static const uint32_t kinds[] = {0, 5, 7, 9, CREATE, JOIN};
    if (kind >= 43001 && kind <= 43006)
        return !relay->options.refuse_jobs;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == kind)
            return true;
    return false;
}

static struct verdict judge(struct relay *relay, struct peer *peer, const struct jobs_event *event)
{
    uint32_t kind = jobs_event_kind(event), number;
    int64_t age = relay_unix_time(relay) - jobs_event_created_at(event);
    const char *channel = jobs_event_channel(event), *wrong;
    unsigned char id[32];
    size_t len;

    if (!peer->authenticated)
        return (struct verdict){.text = "auth-required: not authenticated"};
    (void)jobs_event_content(event, &len);
    if (len > CONTENT_MAX)
        return (struct verdict){.text = "invalid: content exceeds maximum size of 262144 bytes"};
    if ((wrong = relay_check(event)) != NULL)
        return (struct verdict){.text = wrong};
    if (!is_admitted(relay, kind))
        return (struct verdict){.text = "restricted: unknown event kind"};
    if (age > WINDOW_SECS || age < -WINDOW_SECS)
        return (struct verdict){.text = "invalid: event timestamp too far from server time"};
    if (kind != 0 && kind != 5) {
        if (channel == NULL || !jobs_channel_is_valid(channel))
            return (struct verdict){.text = "invalid: an h tag with a channel's UUID is required"};
        if (kind == CREATE)
            return judge_create(relay, event, channel);
        if (!stands(relay, CREATE, NULL, channel) ||
            (kind != JOIN && !is_member(relay, jobs_event_author(event), channel)))
            return (struct verdict){.text = "restricted: not a channel member"};
        if ((wrong = check_thread(relay, event, channel)) != NULL)
            return (struct verdict){.text = wrong};
    }
    if (hex_bytes(id, jobs_event_id(event), 64) && store_find(relay->store, id, &number))
        return (struct verdict){.ok = true, .text = "duplicate:"};
    return (struct verdict){.ok = true, .store = true, .text = ""};
}

void quotas_free(struct quota *quota)
{
    while (quota != NULL) {
        struct quota *next = quota->next;
        free(quota);
        quota = next;
    }
}

const struct profile profile_buzz = {
    .name = "buzz",
    .auth_first = true,
    .auth_once = true,
    .auth_seconds = 5,
    .auth_window = 60,
    .answers_close = true,
    .checks_host = true,
    .any_order = true,
    .silent_too_long = true,
    .frame_max = 512u << 10,
    .stop_code = 1012,
    .stop_text = "relay restarting",
    .bad_message = "invalid: message could not be parsed",
    .closed_mark = "",
    .judge = judge,
    .throttle = throttle,
};
