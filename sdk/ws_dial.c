/* ws_dial.c - from "dial" to a connection libwebsockets is making: name, proxy, TLS settings, one address after the
 * other.
 *
 * libwebsockets is given numeric addresses only (it would look names up on the loop) and no proxy but ours. It has no
 * say in how long anything takes.
 */
#include "ws_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What libwebsockets can put into its request and its CONNECT, whose buffers it does not check. */
#define HOST_MAX_DIRECT  110
#define HOST_MAX_PROXIED 90

/* An address that is silent gets this long while there is another to try: time for one SYN to be sent again. */
#define ATTEMPT_MS 2000

static const lws_retry_bo_t no_idle_policy = {.secs_since_valid_ping = 65534, .secs_since_valid_hangup = 65535};

static struct lws_vhost *new_vhost(struct jobs__loop *loop, SSL_CTX *tls)
{
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .vhost_name = "jobs",
        .protocols = jobs__wire_protocols,
        .http_proxy_address = "", /* else it reads http_proxy, also for loopback */
        .connect_timeout_secs = 86400,
        .timeout_secs_ah_idle = 86400,
        .retry_and_idle_policy = &no_idle_policy,
        .provided_client_ssl_ctx = tls,
        .options = tls != NULL ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0,
    };
    return lws_create_vhost(loop->context, &info);
}

/* Returns false after having ended the wire. */
static bool get_vhost(struct jobs__wire *wire)
{
    struct jobs__loop *loop = wire->loop;
    if (wire->vhost != NULL)
        return true;
    if (!wire->url.secure && !wire->proxy.used) {
        if (loop->plain == NULL)
            loop->plain = new_vhost(loop, NULL);
        wire->vhost = loop->plain;
    } else {
        if (wire->url.secure && wire->tls == NULL) {
            const char *wrong = jobs__tls_new(&wire->tls, &wire->url, loop->options->ca_file);
            if (wrong != NULL) {
                jobs__tls_free(wire->tls);
                wire->tls = NULL;
                jobs__wire_end(wire, JOBS__END_TLS, "%s", wrong);
                return false;
            }
        }
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): secure has tls, made above
        wire->vhost = new_vhost(loop, wire->url.secure ? wire->tls->context : NULL);
    }
    if (wire->vhost == NULL)
        jobs__wire_end(wire, JOBS__END_NO_CONNECT, "out of memory");
    return wire->vhost != NULL;
}

static void set_proxy(const struct jobs__wire *wire, const char *address)
{
    const struct jobs__proxy *proxy = &wire->proxy;
    char text[sizeof(proxy->credentials) + 80];
    bool ip6 = strchr(address, ':') != NULL;
    snprintf(text, sizeof(text), "%s%s%s%s%s:%u", proxy->credentials, *proxy->credentials ? "@" : "", ip6 ? "[" : "",
             address, ip6 ? "]" : "", proxy->port);
    lws_set_proxy(wire->vhost, text);
    explicit_bzero(text, sizeof(text));
}

/* True when the connection is on its way, or the wire has ended. */
static bool try_address(struct jobs__wire *wire, int64_t now)
{
    const char *address = wire->addresses.text[wire->address];
    size_t left = wire->addresses.count - wire->address - 1;
    char host[JOBS__URL_HOST_HEADER_MAX + 1], target[JOBS__HOST_MAX + 3];
    jobs__url_host_header(host, &wire->url);
    snprintf(target, sizeof(target), "%s%s%s", wire->url.ip6 ? "[" : "", wire->url.host, wire->url.ip6 ? "]" : "");
    if (!get_vhost(wire))
        return true;
    if (wire->proxy.used)
        set_proxy(wire, address);
    if (wire->tls != NULL)
        jobs__tls_start(wire->tls);

    struct lws_client_connect_info info = {
        .context = wire->loop->context,
        .vhost = wire->vhost,
        .address = wire->proxy.used ? target : address,
        .port = (int)wire->url.port,
        .path = wire->url.path,
        .host = host,
        .method = wire->explaining ? "GET" : NULL,
        .local_protocol_name = jobs__wire_protocols[0].name,
        .alpn = "http/1.1",
        .ietf_version_or_minus_one = -1,
        .opaque_user_data = wire,
        .retry_and_idle_policy = &no_idle_policy,
        /* the host is checked by our SSL_CTX, not by theirs, which skips "::1" */
        .ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT |
                          (wire->url.secure ? LCCSCF_USE_SSL | LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK : 0),
    };
    wire->stage = JOBS__STAGE_CONNECTING;
    wire->attempt_failed = false;
    int64_t share = (wire->dial_by - now) / (int64_t)(left + 1);
    wire->attempt_by = left == 0 ? 0 : now + (share < ATTEMPT_MS ? share : ATTEMPT_MS);
    wire->loop->connecting = true;
    errno = 0;
    struct lws *lws = lws_client_connect_via_info(&info);
    int problem = errno;
    wire->loop->connecting = false;
    if (lws != NULL) {
        wire->lws = lws;
        return true;
    }
    if (wire->ended || wire->explained)
        return true;
    snprintf(wire->text, sizeof(wire->text), "%s",
             problem == ENETUNREACH || problem == EHOSTUNREACH || problem == ECONNREFUSED || problem == EACCES
                 ? strerror(problem)
                 : "refused or unreachable");
    return false;
}

static void connect_from_here(struct jobs__wire *wire, int64_t now)
{
    for (; wire->address < wire->addresses.count; wire->address++) {
        if (try_address(wire, now))
            return;
    }
    const char *last = wire->addresses.text[wire->addresses.count - 1];
    wire->stage = JOBS__STAGE_CONNECTING; /* as far as it came, also when the last attempt was dropped */
    jobs__wire_end(wire, JOBS__END_NO_CONNECT, "no connection to %s%s port %u: refused or unreachable",
                   wire->proxy.used ? "the proxy at " : "", last, wire->proxy.used ? wire->proxy.port : wire->url.port);
}

static void wake(void *context)
{
    lws_cancel_service(context);
}

void jobs__wire_dial(struct jobs__wire *wire, int64_t now, const struct jobs__step *step)
{
    wire->explaining = step->want == JOBS__WANT_EXPLAIN;
    wire->accept = step->bytes;
    wire->dial_by = step->at;
    wire->attempt_failed = false;
    wire->address = 0;
    wire->opened = (struct jobs__opened){0};
    jobs__buffer_clear(&wire->in);
    jobs__buffer_clear(&wire->out);
    const char *host = wire->proxy.used ? wire->proxy.host : wire->url.host;
    if (wire->unusable != NULL) {
        jobs__wire_end(wire, JOBS__END_NO_ADDRESS, "%s", wire->unusable);
    } else if (strlen(wire->url.host) > (wire->proxy.used ? HOST_MAX_PROXIED : HOST_MAX_DIRECT)) {
        jobs__wire_end(wire, JOBS__END_NO_ADDRESS, "a host name of more than %d characters cannot be dialled",
                       wire->proxy.used ? HOST_MAX_PROXIED : HOST_MAX_DIRECT);
    } else if (jobs__resolve_at_once(&wire->addresses, host)) {
        connect_from_here(wire, now);
    } else if (jobs__lookup_start(&wire->lookup, host, wake, wire->loop->context) != JOBS_OK) {
        jobs__wire_end(wire, JOBS__END_NO_ADDRESS, "no thread to look the host name up");
    } else {
        wire->stage = JOBS__STAGE_RESOLVING;
    }
}

void jobs__wire_dial_on(struct jobs__wire *wire, int64_t now)
{
    if (wire->stage == JOBS__STAGE_RESOLVING) {
        const char *problem = NULL;
        if (!jobs__lookup_ended(wire->lookup, &wire->addresses, &problem))
            return;
        jobs__lookup_free(wire->lookup);
        wire->lookup = NULL;
        if (problem != NULL) {
            jobs__wire_end(wire, JOBS__END_NO_ADDRESS, "no address for %s: %s",
                           wire->proxy.used ? wire->proxy.host : wire->url.host, problem);
            return;
        }
        connect_from_here(wire, now);
    } else if (wire->stage == JOBS__STAGE_CONNECTING &&
               (wire->attempt_failed || (wire->attempt_by != 0 && now >= wire->attempt_by))) {
        int64_t by = wire->dial_by;
        bool explaining = wire->explaining;
        jobs__wire_drop(wire, false);
        wire->dial_by = by;
        wire->explaining = explaining;
        wire->address++;
        connect_from_here(wire, now);
    }
}

void jobs__wire_dial_late(struct jobs__wire *wire)
{
    const char *to = wire->proxy.used ? "the proxy" : "the relay";
    const char *address = wire->addresses.count > wire->address ? wire->addresses.text[wire->address] : "";
    switch (wire->stage) {
    case JOBS__STAGE_RESOLVING:
        jobs__wire_end(wire, JOBS__END_NO_ADDRESS, "no answer in time to the question for the address of %s",
                       wire->proxy.used ? wire->proxy.host : wire->url.host);
        break;
    case JOBS__STAGE_CONNECTING:
        jobs__wire_end(wire, JOBS__END_NO_CONNECT, "no connection to %s at %s in time", to, address);
        break;
    case JOBS__STAGE_TUNNEL:
        jobs__wire_end(wire, JOBS__END_NO_CONNECT, "the proxy did not answer in time");
        break;
    case JOBS__STAGE_TLS:
        jobs__wire_end(wire, JOBS__END_NO_CONNECT, "connected, but the TLS handshake did not end in time");
        break;
    default:
        jobs__wire_end(wire, JOBS__END_NO_CONNECT, "connected, but no answer to the WebSocket upgrade in time");
        break;
    }
}
