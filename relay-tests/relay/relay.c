/* relay.c - the relay as a whole: its peers, its clock, its turns. See relay.h. */
#include "need.h"
#include "peer.h"
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int relay_new(struct relay **out, const struct relay_options *options, const struct transport *transport,
              struct jobs_error *error)
{
    struct relay *relay = need(sizeof *relay);
    relay->options = *options;
    relay->transport = *transport;
    relay->scratch.max = 64u << 20;
    relay->url = need_copy("", 0);
    int rc = store_open(&relay->store, options->dir, error);
    if (rc != JOBS_OK) {
        relay_free(relay);
        relay = NULL;
    } else if (options->script != NULL)
        relay->run = run_new(options->script);
    *out = relay;
    return rc;
}

void relay_free(struct relay *relay)
{
    if (relay == NULL)
        return;
    while (relay->peers != NULL)
        peer_free(relay->peers); // NOLINT(clang-analyzer-unix.Malloc): it takes itself out of the list
    run_free(relay->run);
    store_close(relay->store);
    jobs__json_free(&relay->doc);
    jobs__buffer_free(&relay->scratch);
    free(relay->information);
    quotas_free(relay->quotas);
    free(relay->url);
    free(relay);
}

void relay_set_url(struct relay *relay, const char *url)
{
    free(relay->url);
    relay->url = need_copy(url, strlen(url));
}

int64_t relay_unix_time(const struct relay *relay)
{
    return (int64_t)time(NULL) + (relay->options.script == NULL ? 0 : script_clock(relay->options.script));
}

const char *relay_information(struct relay *relay)
{
    if (relay->information != NULL)
        return relay->information;
    struct jobs__buffer text = {.max = 4096};
    const struct profile *profile = relay->options.profile;
    jobs__buffer_format(&text,
                        "{\"name\":\"jobs-relay\",\"description\":\"a relay for tests, profile %s\","
                        "\"supported_nips\":[1,9,11,42],\"software\":\"jobs-relay\",\"version\":\"" JOBS_VERSION "\","
                        "\"limitation\":{\"max_message_length\":%zu,\"max_subscriptions\":%d,\"auth_required\":%s}}",
                        profile->name, profile->frame_max, SUBSCRIPTIONS_MAX, profile->auth_first ? "true" : "false");
    relay->information = jobs__buffer_take(&text);
    return relay->information;
}

/* --- turns --- */

static void wake_all(struct relay *relay)
{
    for (struct peer *peer = relay->peers; peer != NULL; peer = peer->next)
        if (peer->first != NULL)
            relay->transport.wake(peer->connection);
}

int64_t relay_turn(struct relay *relay, int64_t now)
{
    relay->now = now;
    int64_t next = script_turn(relay, now);
    for (struct peer *peer = relay->peers; peer != NULL; peer = peer->next) {
        if (peer->auth_deadline <= now) {
            peer->auth_deadline = INT64_MAX;
            say_close(peer, 0, "");
        }
        if (peer->auth_deadline < next)
            next = peer->auth_deadline;
    }
    if (store_synced(relay->store) < store_count(relay->store)) {
        store_sync(relay->store);
        wake_all(relay);
    }
    return next;
}

void relay_stop(struct relay *relay)
{
    store_sync(relay->store);
    for (struct peer *peer = relay->peers; peer != NULL; peer = peer->next)
        say_close(peer, relay->options.profile->stop_code, relay->options.profile->stop_text);
    wake_all(relay);
}

/* --- HTTP --- */

struct refusal relay_upgrade(struct relay *relay, const char *host)
{
    struct refusal refusal = {0};
    const char *own = strstr(relay->url, "://");
    if (relay->options.profile->checks_host && own != NULL && strcmp(own + 3, host) != 0)
        refusal = (struct refusal){.status = 404, .body = "relay: no community is configured for this host"};
    if (relay->run != NULL)
        (void)script_upgrade(relay, &refusal);
    relay->refused = refusal;
    return refusal;
}

struct refusal relay_get(const struct relay *relay)
{
    return relay->refused;
}

/* --- peers --- */

struct peer *peer_new(struct relay *relay, void *connection, int64_t now)
{
    struct peer *peer = need(sizeof *peer);
    peer->relay = relay;
    peer->connection = connection;
    peer->serial = ++relay->serials;
    peer->shuffle = (unsigned)peer->serial;
    peer->auth_deadline = INT64_MAX;
    peer->scratch.max = 64u << 20;
    peer->next = relay->peers;
    relay->peers = peer;
    relay->now = now;
    return peer;
}

void peer_opened(struct peer *peer)
{
    peer->open = true;
    if (!script_hears(peer, HEARD_CONNECT, NULL, NULL))
        peer_greet(peer);
}

bool peer_accepted(struct peer *peer)
{
    return script_hears(peer, HEARD_ACCEPT, NULL, NULL);
}

bool peer_asks_upgrade(struct peer *peer)
{
    return script_hears(peer, HEARD_UPGRADE, NULL, NULL);
}

void peer_greet(struct peer *peer)
{
    const struct profile *profile = peer->relay->options.profile;
    if (profile->auth_first)
        say_challenge(peer, NULL, 0);
    if (profile->auth_seconds > 0)
        peer->auth_deadline = peer->relay->now + profile->auth_seconds * 1000;
}

struct peer *relay_peer(struct relay *relay, uint64_t serial)
{
    struct peer *peer = relay->peers;
    while (peer != NULL && peer->serial != serial)
        peer = peer->next;
    return peer;
}

void peer_free(struct peer *peer)
{
    if (peer == NULL)
        return;
    struct peer **at = &peer->relay->peers;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    while (peer->subscriptions != NULL) {
        struct subscription *gone = peer->subscriptions;
        peer->subscriptions = gone->next;
        subscription_free(gone);
    }
    peer_free_queue(peer);
    jobs__buffer_free(&peer->scratch);
    free(peer->challenge);
    free(peer);
}
