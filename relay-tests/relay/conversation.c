/* conversation.c - the verbs of NIP-01 and NIP-42: from a message to what is said to it.
 *
 * A script, when there is one, is asked first; what it does not handle is answered here in the profile's way.
 */
#include "need.h"
#include "peer.h"
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void subscription_free(struct subscription *subscription)
{
    if (subscription == NULL)
        return;
    for (size_t i = 0; i < subscription->filter_count; i++)
        filter_free(&subscription->filters[i]);
    free(subscription);
}

const char *relay_check(const struct jobs_event *event)
{
    switch (jobs_event_check(event)) {
    case JOBS_EVENT_BAD_ID:
        return "invalid: bad event id";
    case JOBS_EVENT_BAD_SIGNATURE:
        return "invalid: bad signature";
    default:
        return NULL;
    }
}

bool relay_store(struct relay *relay, const struct jobs_event *event)
{
    uint32_t number;
    if (!store_add(relay->store, event, &number))
        return false;
    const struct record *record = store_record(relay->store, number);
    if (record->kind == 5)
        store_obey_deletion(relay->store, record);
    for (struct peer *peer = relay->peers; peer != NULL; peer = peer->next)
        for (struct subscription *s = peer->subscriptions; s != NULL; s = s->next) {
            size_t i = 0;
            while (i < s->filter_count && !filter_match(&s->filters[i], record))
                i++;
            if (i == s->filter_count)
                continue;
            struct numbers one = {0};
            numbers_add(&one, number);
            say_events(peer, s->name, s->name_len, &one);
        }
    return true;
}

void peer_event(struct peer *peer, const struct jobs_event *event)
{
    struct relay *relay = peer->relay;
    const struct profile *profile = relay->options.profile;
    const char *throttled = profile->throttle == NULL ? NULL : profile->throttle(relay, peer, true);
    if (throttled != NULL) {
        say_notice(peer, throttled);
        return;
    }
    struct verdict verdict = profile->judge(relay, peer, event);
    if (verdict.store)
        (void)relay_store(relay, event);
    say_ok(peer, jobs_event_id(event), verdict.ok, verdict.text);
}

/* --- AUTH --- */

/* scheme://host:port, always with its port, localhost as an address, no final slash. */
static void normalise(char *out, size_t size, const char *url)
{
    char scheme[8] = "", host[256] = "", rest[1024] = "";
    unsigned port = 0;
    if (sscanf(url, "%7[A-Za-z]://%255[^/:]:%u%1023s", scheme, host, &port, rest) < 3 &&
        sscanf(url, "%7[A-Za-z]://%255[^/:]%1023s", scheme, host, rest) < 2) {
        snprintf(out, size, "%s", url);
        return;
    }
    if (port == 0)
        port = strcasecmp(scheme, "wss") == 0 ? 443 : 80;
    if (strcasecmp(host, "localhost") == 0)
        strcpy(host, "127.0.0.1");
    snprintf(out, size, "%s://%s:%u%s", scheme, host, port, strcmp(rest, "/") == 0 ? "" : rest);
}

static bool same_url(const char *a, const char *b)
{
    char x[2048], y[2048];
    normalise(x, sizeof x, a);
    normalise(y, sizeof y, b);
    return strcasecmp(x, y) == 0;
}

bool relay_auth_holds(struct relay *relay, const struct peer *peer, const struct jobs_event *event)
{
    const char *challenge = jobs_event_tag_value(event, "challenge");
    const char *url = jobs_event_tag_value(event, "relay");
    int64_t skew = jobs_event_created_at(event) - relay_unix_time(relay);
    return jobs_event_kind(event) == 22242 && relay_check(event) == NULL && peer->challenge != NULL &&
           challenge != NULL && strcmp(challenge, peer->challenge) == 0 && url != NULL && same_url(url, relay->url) &&
           llabs(skew) <= relay->options.profile->auth_window;
}

void peer_auth(struct peer *peer, const struct jobs_event *event)
{
    const struct profile *profile = peer->relay->options.profile;
    const char *id = jobs_event_id(event);
    if (profile->auth_once && peer->authenticated)
        say_ok(peer, id, false, "auth-required: already authenticated");
    else if (profile->auth_once && peer->auth_failed)
        say_ok(peer, id, false, "auth-required: authentication already failed");
    else if (!relay_auth_holds(peer->relay, peer, event)) {
        peer->auth_failed = true;
        say_ok(peer, id, false, "auth-required: verification failed");
    } else {
        peer->authenticated = true;
        peer->auth_deadline = INT64_MAX;
        memcpy(peer->author, jobs_event_author(event), sizeof peer->author);
        say_ok(peer, id, true, "");
    }
}

/* --- REQ and CLOSE --- */

static bool unsubscribe(struct peer *peer, const char *name, size_t len)
{
    for (struct subscription **at = &peer->subscriptions; *at != NULL; at = &(*at)->next) {
        struct subscription *found = *at;
        if (found->name_len != len || memcmp(found->name, name, len) != 0)
            continue;
        *at = found->next;
        peer->subscription_count--;
        subscription_free(found);
        return true;
    }
    return false;
}

void peer_query(struct peer *peer, const struct subscription *wanted)
{
    struct numbers found = {0};
    store_query(peer->relay->store, wanted->filters, wanted->filter_count, &found);
    say_events(peer, wanted->name, wanted->name_len, &found);
}

void peer_req(struct peer *peer, struct subscription **wanted)
{
    const struct profile *profile = peer->relay->options.profile;
    const char *name = (*wanted)->name;
    const char *throttled = profile->throttle == NULL ? NULL : profile->throttle(peer->relay, peer, false);
    if (profile->auth_first && !peer->authenticated) {
        say_notice(peer, "auth-required: not authenticated");
        say_closed(peer, name, "auth-required: not authenticated");
    } else if (throttled != NULL) {
        say_closed(peer, name, throttled);
    } else {
        (void)unsubscribe(peer, name, (*wanted)->name_len); /* a REQ with a known name replaces it */
        if (peer->subscription_count == SUBSCRIPTIONS_MAX) {
            say_closed(peer, name, "error: too many subscriptions");
            return;
        }
        peer_query(peer, *wanted);
        say_eose(peer, name);
        (*wanted)->next = peer->subscriptions;
        peer->subscriptions = *wanted;
        peer->subscription_count++;
        *wanted = NULL;
    }
}

/* --- messages --- */

/* The decoded name at index; false when it is none: 1 to 64 bytes without NUL. */
static bool subscription_name(struct subscription *subscription, struct jobs__buffer *scratch,
                              const struct jobs__json *doc, uint32_t index)
{
    if (doc->values[index].type != JOBS__JSON_STRING)
        return false;
    jobs__buffer_clear(scratch);
    jobs__json_string(doc, index, scratch);
    if (scratch->failed || scratch->len == 0 || scratch->len > SUBSCRIPTION_MAX ||
        memchr(scratch->bytes, '\0', scratch->len) != NULL)
        return false;
    memcpy(subscription->name, scratch->bytes, scratch->len + 1);
    subscription->name_len = scratch->len;
    return true;
}

static void hear_req(struct peer *peer, const struct jobs__json *doc)
{
    struct relay *relay = peer->relay;
    struct subscription *wanted = need(sizeof *wanted);
    const char *wrong = NULL;
    char text[256];
    uint32_t at = doc->values[1].after;

    if (doc->values[0].count < 3 || !subscription_name(wanted, &relay->scratch, doc, at)) {
        say_notice(peer, "ERROR: bad req: it must be [\"REQ\", a name of 1 to 64 bytes, a filter, ...]");
        goto out;
    }
    for (at = doc->values[at].after; wrong == NULL && at < doc->values[0].after; at = doc->values[at].after) {
        if (wanted->filter_count == FILTERS_MAX)
            wrong = "there must be at most 20 filters";
        else if ((wrong = filter_parse(&wanted->filters[wanted->filter_count], doc, at)) == NULL)
            wanted->filter_count++;
    }
    if (wrong != NULL) {
        snprintf(text, sizeof text, "%sinvalid: bad req: %s", relay->options.profile->closed_mark, wrong);
        say_closed(peer, wanted->name, text);
        goto out;
    }
    bool by_id = wanted->filters[0].has_ids;
    if (!script_hears(peer, by_id ? HEARD_READ : HEARD_ASK, NULL, &wanted))
        peer_req(peer, &wanted);
out:
    subscription_free(wanted);
}

static void hear_close(struct peer *peer, const struct jobs__json *doc)
{
    struct subscription *gone = need(sizeof *gone);
    if (doc->values[0].count == 2 && subscription_name(gone, &peer->relay->scratch, doc, doc->values[1].after)) {
        (void)unsubscribe(peer, gone->name, gone->name_len);
        if (!script_hears(peer, HEARD_CLOSE, NULL, &gone) && peer->relay->options.profile->answers_close)
            say_closed(peer, gone->name, "");
    } else
        say_notice(peer, "ERROR: bad close: it must be [\"CLOSE\", a name of 1 to 64 bytes]");
    subscription_free(gone);
}

/* What is no event: an OK for its id when it has one, else a NOTICE. */
static void refuse_event(struct peer *peer, const struct jobs__json *doc, uint32_t object, const struct jobs_error *why)
{
    char text[sizeof why->message + 16], hex[65];
    unsigned char id[32];
    uint32_t member = doc->values[object].type == JOBS__JSON_OBJECT ? jobs__json_member(doc, object, "id") : 0;
    snprintf(text, sizeof text, "invalid: %.300s", why->message);
    if (member != 0 && doc->values[member].end - doc->values[member].start == 66 &&
        hex_bytes(id, doc->text + doc->values[member].start + 1, 64)) {
        memcpy(hex, doc->text + doc->values[member].start + 1, 64);
        hex[64] = '\0';
        say_ok(peer, hex, false, text);
    } else
        say_notice(peer, text);
}

static void hear_event(struct peer *peer, const struct jobs__json *doc, bool auth)
{
    struct jobs_event *event = NULL;
    struct jobs_error error = {0};
    uint32_t object = doc->values[0].count == 2 ? doc->values[1].after : 0;
    if (object == 0) {
        say_notice(peer, auth ? "ERROR: bad auth: it must be [\"AUTH\", an event]"
                              : "ERROR: bad event: it must be [\"EVENT\", an event]");
        return;
    }
    if (jobs_event_parse(&event, doc->text + doc->values[object].start,
                         doc->values[object].end - doc->values[object].start, &error) != JOBS_OK)
        refuse_event(peer, doc, object, &error);
    else if (auth && !script_hears(peer, HEARD_AUTH, &event, NULL))
        peer_auth(peer, event);
    else if (!auth && !script_hears(peer, HEARD_EVENT, &event, NULL))
        peer_event(peer, event);
    jobs_event_free(event);
}

void peer_message(struct peer *peer, const char *text, size_t len)
{
    struct relay *relay = peer->relay;
    struct jobs__json *doc = &relay->doc;
    struct jobs__json_fault fault;
    if (peer->ending)
        return;
    if (jobs__json_parse(doc, text, len, &fault) != JOBS_OK || doc->values[0].type != JOBS__JSON_ARRAY ||
        doc->values[0].count == 0)
        say_notice(peer, relay->options.profile->bad_message);
    else if (jobs__json_equals(doc, 1, "EVENT", 5))
        hear_event(peer, doc, false);
    else if (jobs__json_equals(doc, 1, "AUTH", 4))
        hear_event(peer, doc, true);
    else if (jobs__json_equals(doc, 1, "REQ", 3))
        hear_req(peer, doc);
    else if (jobs__json_equals(doc, 1, "CLOSE", 5))
        hear_close(peer, doc);
    else
        say_notice(peer, "ERROR: bad msg: unknown command");
}

void peer_too_long(struct peer *peer)
{
    if (peer->relay->options.profile->silent_too_long)
        say_end(peer, OUT_DROP);
    else
        say_close(peer, 1009, "message too long");
}

size_t peer_frame_max(const struct peer *peer)
{
    return peer->relay->options.profile->frame_max;
}
