/* server.c - the relay on libwebsockets: ws:// and wss://, one thread, one loop. It knows sockets and frames, and
 * nothing of what is said in them.
 */
#include "server.h"

#include "need.h"

#include <libwebsockets.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECEIVE_BYTES (256u << 10) /* read in one turn, so that one fsync serves many events */
#define WRITES_A_TURN 64
#define STOP_WAIT_MS  2000
#define HEADERS_MAX   2048

/* One a connection, in libwebsockets' own memory. */
struct connection {
    struct lws *wsi;
    struct peer *peer; /* NULL until the upgrade is through */
    struct jobs__buffer message;
};

static struct lws_context *context;
static struct relay *relay;
static size_t connections;
static struct jobs__buffer outgoing = {.max = 64u << 20}; /* LWS_PRE, then the message */

int64_t server_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void server_interrupt(void)
{
    if (context != NULL)
        lws_cancel_service(context);
}

/* --- HTTP --- */

static int add_header(struct lws *wsi, const char *name, const char *value, unsigned char **at, unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name, (const unsigned char *)value,
                                       (int)strlen(value), at, end);
}

static int add_date(struct lws *wsi, unsigned char **at, unsigned char *end)
{
    char date[64];
    time_t now = (time_t)relay_unix_time(relay);
    struct tm broken;
    gmtime_r(&now, &broken);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &broken);
    return add_header(wsi, "date:", date, at, end);
}

/* A whole small HTTP answer. Returns 1: answered, or -1: hang up. */
static int answer_http(struct lws *wsi, const struct refusal *refusal, const char *type)
{
    unsigned char room[LWS_PRE + HEADERS_MAX], *start = room + LWS_PRE, *at = start, *end = room + sizeof room - 1;
    const char *body = refusal->body == NULL ? "" : refusal->body;
    size_t len = strlen(body);
    char seconds[16];

    snprintf(seconds, sizeof seconds, "%d", refusal->retry_after);
    if (lws_add_http_common_headers(wsi, (unsigned)refusal->status, type, len, &at, end) || add_date(wsi, &at, end) ||
        (refusal->retry_after > 0 && add_header(wsi, "retry-after:", seconds, &at, end)) ||
        (refusal->location != NULL && add_header(wsi, "location:", refusal->location, &at, end)) ||
        lws_finalize_write_http_header(wsi, start, &at, end))
        return -1;
    if (len > 0) {
        unsigned char *copy = need(LWS_PRE + len);
        memcpy(copy + LWS_PRE, body, len);
        int written = lws_write(wsi, copy + LWS_PRE, len, LWS_WRITE_HTTP_FINAL);
        free(copy);
        if (written < 0)
            return -1;
    }
    return 1;
}

static int on_upgrade(struct lws *wsi)
{
    char host[512] = "";
    (void)lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST);
    struct refusal refusal = relay_upgrade(relay, host);
    return refusal.status == 0 ? 0 : answer_http(wsi, &refusal, "text/plain");
}

static int on_get(struct lws *wsi)
{
    char accept[512] = "";
    (void)lws_hdr_copy(wsi, accept, sizeof accept, WSI_TOKEN_HTTP_ACCEPT);
    struct refusal answer = relay_get(relay);
    const char *type = "text/plain";
    if (strstr(accept, "application/nostr+json") != NULL) {
        answer = (struct refusal){.status = 200, .body = relay_information(relay)};
        type = "application/nostr+json";
    } else if (answer.status == 0)
        answer = (struct refusal){.status = 426, .body = "a Nostr relay: it speaks WebSocket"};
    if (answer_http(wsi, &answer, type) < 0)
        return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* --- WebSocket --- */

static void wake(void *connection)
{
    lws_callback_on_writable(((struct connection *)connection)->wsi);
}

static void set_reading(void *connection, bool go_on)
{
    lws_rx_flow_control(((struct connection *)connection)->wsi, go_on);
}

static void on_receive(struct connection *connection, const void *bytes, size_t len)
{
    struct jobs__buffer *message = &connection->message;
    if (lws_is_first_fragment(connection->wsi)) {
        jobs__buffer_clear(message);
        message->max = peer_frame_max(connection->peer);
    }
    jobs__buffer_add(message, bytes, len);
    if (message->failed) {
        peer_too_long(connection->peer);
        return;
    }
    if (!lws_is_final_fragment(connection->wsi) || lws_remaining_packet_payload(connection->wsi) > 0)
        return;
    peer_message(connection->peer, message->bytes == NULL ? "" : message->bytes, message->len);
    jobs__buffer_clear(message);
}

/* An RST at once: what is still unsent is thrown away. */
static void reset(struct lws *wsi)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    (void)!connect(lws_get_socket_fd(wsi), &none, sizeof none);
}

static int send_text(struct lws *wsi, const char *bytes, size_t len)
{
    static const char room[LWS_PRE];
    jobs__buffer_clear(&outgoing);
    jobs__buffer_add(&outgoing, room, sizeof room);
    jobs__buffer_add(&outgoing, bytes, len);
    if (outgoing.failed)
        give_up("out of memory (a frame of %zu bytes)", len);
    return lws_write(wsi, (unsigned char *)outgoing.bytes + LWS_PRE, len, LWS_WRITE_TEXT) < 0 ? -1 : 0;
}

static int on_writable(struct connection *connection)
{
    struct lws *wsi = connection->wsi;
    for (int i = 0; i < WRITES_A_TURN && !lws_send_pipe_choked(wsi); i++) {
        struct step step = peer_next(connection->peer);
        switch (step.kind) {
        case STEP_TEXT:
            if (send_text(wsi, step.bytes, step.len) != 0)
                return -1;
            break;
        case STEP_CLOSE:
            if (step.code != 0)
                lws_close_reason(wsi, (enum lws_close_status)step.code, (unsigned char *)(uintptr_t)step.bytes,
                                 step.len);
            return -1;
        case STEP_RESET:
            reset(wsi);
            return -1;
        case STEP_DROP:
            return -1;
        default: /* nothing, or what only the raw transport can do */
            return 0;
        }
    }
    lws_callback_on_writable(wsi);
    return 0;
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
    struct connection *connection = user;
    struct lws_process_html_args *args = in;
    switch (reason) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return on_upgrade(wsi);
    case LWS_CALLBACK_HTTP:
        return on_get(wsi);
    case LWS_CALLBACK_ADD_HEADERS:
        return add_date(wsi, (unsigned char **)&args->p, (unsigned char *)args->p + args->max_len);
    case LWS_CALLBACK_ESTABLISHED:
        *connection = (struct connection){.wsi = wsi, .peer = peer_new(relay, connection, server_now())};
        connections++;
        peer_opened(connection->peer);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        on_receive(connection, in, len);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return on_writable(connection);
    case LWS_CALLBACK_CLOSED:
        connections--;
        peer_free(connection->peer);
        jobs__buffer_free(&connection->message);
        return 0;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, len);
    }
}

/* --- the loop --- */

static void do_nothing(lws_sorted_usec_list_t *timer)
{
    (void)timer; /* it only ends lws_service's wait */
}

static void serve_until(volatile sig_atomic_t *stop, lws_sorted_usec_list_t *timer)
{
    while (!*stop) {
        int64_t now = server_now(), next = relay_turn(relay, now);
        if (next != INT64_MAX)
            lws_sul_schedule(context, 0, timer, do_nothing, (next > now ? next - now : 1) * LWS_US_PER_MS);
        if (lws_service(context, 0) < 0)
            return;
    }
}

/* Says goodbye, and waits a little for the other side to hear it. */
static void finish(lws_sorted_usec_list_t *timer)
{
    int64_t until = server_now() + STOP_WAIT_MS;
    relay_stop(relay);
    while (connections > 0 && server_now() < until) {
        lws_sul_schedule(context, 0, timer, do_nothing, 50 * LWS_US_PER_MS);
        if (lws_service(context, 0) < 0)
            break;
    }
}

static struct lws_vhost *listen_on(const struct server_options *options, const struct lws_protocols *protocols)
{
    struct lws_context_creation_info info = {
        .port = options->port,
        .iface = strcmp(options->host, "localhost") == 0 ? "127.0.0.1" : options->host,
        .protocols = protocols,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_DISABLE_IPV6,
        .pt_serv_buf_size = RECEIVE_BYTES,
        .fd_limit_per_thread = 1024,
        .gid = -1,
        .uid = -1,
        .vhost_name = options->host,
    };
    if (strchr(options->host, ':') != NULL)
        info.options &= ~(uint64_t)LWS_SERVER_OPTION_DISABLE_IPV6;
    if (options->cert != NULL) {
        info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
        info.ssl_cert_filepath = options->cert;
        info.ssl_private_key_filepath = options->key;
        info.ssl_ca_filepath = options->ca;
        info.alpn = "http/1.1";
    }
    context = lws_create_context(&info);
    return context == NULL ? NULL : lws_create_vhost(context, &info);
}

int server_run(const struct relay_options *relay_options, const struct server_options *options,
               struct jobs_error *error)
{
    static const struct lws_protocols protocols[] = {
        {.name = "nostr",
         .callback = callback,
         .per_session_data_size = sizeof(struct connection),
         .rx_buffer_size = RECEIVE_BYTES},
        {0},
    };
    static const struct transport transport = {wake, set_reading};
    lws_sorted_usec_list_t timer = {0};

    lws_set_log_level(LLL_ERR, NULL);
    int rc = relay_new(&relay, relay_options, &transport, error);
    if (rc != JOBS_OK)
        return rc;
    struct lws_vhost *vhost = listen_on(options, protocols);
    if (vhost == NULL) {
        rc = jobs_error_set(error, JOBS_SYSTEM, "cannot listen on %s port %d%s", options->host, options->port,
                            options->cert == NULL ? "" : ", or --cert and --key do not fit");
        goto out;
    }
    char url[512];
    bool bracket = strchr(options->host, ':') != NULL;
    snprintf(url, sizeof url, "%s://%s%s%s:%d", options->cert == NULL ? "ws" : "wss", bracket ? "[" : "", options->host,
             bracket ? "]" : "", lws_get_vhost_listen_port(vhost));
    relay_set_url(relay, url);
    printf("%s\n", url);
    fflush(stdout);

    serve_until(options->stop, &timer);
    finish(&timer);
out:
    if (context != NULL)
        lws_context_destroy(context);
    context = NULL;
    relay_free(relay);
    jobs__buffer_free(&outgoing);
    return rc;
}
