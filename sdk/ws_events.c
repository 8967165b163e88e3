/* ws_events.c - what libwebsockets calls while it serves a connection: put into the terms of engine.h, or noted for the
 * loop to tell. Must not ask an engine what it wants, and must not end a connection other than through ws_wire.c.
 */
#include "ws_line.h"

#include "../core/text.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define PING_MS    30000
#define CLOSING_MS 100 /* for the echo of the relay's close frame */

/* libwebsockets is about to free it: nothing may be asked of it any more. */
static void forget(struct jobs__wire *wire, struct lws *lws)
{
    lws_set_opaque_user_data(lws, NULL);
    wire->lws = NULL;
}

/* Seconds since 1970. timegm would do, but reads the time zone database before. month: 0 to 11. */
static int64_t unix_time(int year, int month, int day, int hour, int minute, int second)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int last = month < 2 ? year - 1 : year; /* the last year whose leap day is over */
    int64_t leap_days = last / 4 - last / 100 + last / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    int64_t days = 365 * (int64_t)(year - 1970) + leap_days + before[month] + day - 1;
    return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110), in any locale. */
static bool read_date(const char *text, int64_t *out)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4];
    int day, year, hour, minute, second;
    if (sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", &day, month, &year, &hour, &minute, &second) !=
        6)
        return false;
    const char *at = strstr(months, month);
    if (at == NULL || (at - months) % 3 != 0 || year < 1970)
        return false;
    *out = unix_time(year, (int)(at - months) / 3, day, hour, minute, second);
    return true;
}

static bool header_date(struct lws *lws, enum lws_token_indexes which, int64_t *out)
{
    char text[64];
    return lws_hdr_copy(lws, text, sizeof(text), which) > 0 && read_date(text, out);
}

static void read_clock(struct lws *lws, bool *has_date, int64_t *skew)
{
    int64_t date;
    *has_date = header_date(lws, WSI_TOKEN_HTTP_DATE, &date);
    *skew = *has_date ? (int64_t)time(NULL) - date : 0;
}

static int read_retry_after(struct lws *lws)
{
    char text[64];
    int64_t date;
    if (lws_hdr_copy(lws, text, sizeof(text), WSI_TOKEN_HTTP_RETRY_AFTER) <= 0)
        return 0;
    if (read_date(text, &date)) {
        bool has_date;
        int64_t skew, wait;
        read_clock(lws, &has_date, &skew);
        wait = date - ((int64_t)time(NULL) - skew);
        return wait <= 0 ? 0 : wait > 1000000 ? 1000000 : (int)wait;
    }
    int seconds = 0;
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits && seconds < 1000000; i++)
        seconds = seconds * 10 + (text[i] - '0');
    return text[digits] == '\0' ? seconds : 0;
}

static void refused(struct jobs__wire *wire, struct lws *lws, int status)
{
    char location[256] = "";
    int retry_after = read_retry_after(lws);
    bool has_date;
    int64_t skew;
    read_clock(lws, &has_date, &skew);
    if (status >= 300 && status < 400)
        lws_hdr_copy(lws, location, sizeof(location), WSI_TOKEN_HTTP_LOCATION);
    forget(wire, lws);
    if (*location != '\0')
        jobs__wire_end(wire, JOBS__END_HTTP, "HTTP %d to %s", status, location);
    else
        jobs__wire_end(wire, JOBS__END_HTTP, "HTTP %d", status);
    wire->closed.status = status;
    wire->closed.retry_after = retry_after;
    wire->closed.has_date = has_date;
    wire->closed.skew = skew;
}

/* Whether anything at all came before the connection went away. Unknown within TLS. */
static bool said_something(const struct jobs__wire *wire, struct lws *lws)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    return !wire->url.secure && !wire->proxy.used &&
           getsockopt(lws_get_socket_fd(lws), IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           info.tcpi_bytes_received > 1; /* its FIN counts as one */
}

/* In the words libwebsockets has for its own callers, and ours for it. */
static const char *no_websocket(const char *theirs)
{
    static const struct {
        const char *theirs, *ours;
    } table[] = {
        {"HS: ACCEPT missing", "the answer to the upgrade has no Sec-WebSocket-Accept"},
        {"HS: Accept hash wrong", "the answer to the upgrade has a wrong Sec-WebSocket-Accept"},
        {"HS: UPGRADE", "the answer to the upgrade has no Connection: Upgrade, or no Upgrade header"},
        {"HS: Upgrade to something", "the answer upgrades to something other than WebSocket"},
        {"HS: PROTOCOL", "the answer names a sub-protocol nobody asked for"},
        {"HS: EXT", "the answer names an extension nobody asked for"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strncmp(theirs, table[i].theirs, strlen(table[i].theirs)) == 0)
            return table[i].ours;
    }
    return "what answers there is no WebSocket server";
}

/* The connection could not be made, as far as it came. theirs: libwebsockets' word for it. */
static void not_made(struct jobs__wire *wire, struct lws *lws, const char *theirs)
{
    const char *fault = NULL;
    int status = 0;
    enum jobs__stage stage = wire->stage;
    if (stage == JOBS__STAGE_TUNNEL && wire->url.secure && strncmp(theirs, "proxy", 5) != 0)
        stage = JOBS__STAGE_TLS; /* there is no word for "the tunnel stands" */
    switch (stage) {
    case JOBS__STAGE_CONNECTING:
        forget(wire, lws);
        wire->attempt_failed = true;
        return;
    case JOBS__STAGE_TUNNEL:
        forget(wire, lws);
        jobs__wire_end(wire, JOBS__END_NO_CONNECT, "the proxy %s refused to connect to the relay, or is no HTTP proxy",
                       wire->proxy.host);
        return;
    case JOBS__STAGE_TLS:
        fault = jobs__tls_fault(wire->tls);
        forget(wire, lws);
        if (fault != NULL)
            jobs__wire_end(wire, JOBS__END_TLS, "TLS: %s", fault);
        else
            jobs__wire_end(wire, JOBS__END_NO_CONNECT,
                           "the relay ended the connection within the TLS handshake; is it a ws:// relay?");
        return;
    default:
        break;
    }
    status = (int)lws_http_client_http_response(lws);
    if (status >= 100 && status != 101) {
        refused(wire, lws, status);
        return;
    }
    bool garbage =
        status != 0 || said_something(wire, lws) || strncmp(theirs, "HS:", 3) == 0 || strstr(theirs, "parsing") != NULL;
    forget(wire, lws);
    if (garbage)
        jobs__wire_end(wire, JOBS__END_NOT_WEBSOCKET, "%s", no_websocket(theirs));
    else
        jobs__wire_end(wire, JOBS__END_NO_CONNECT, "the relay ended the connection without an answer to the upgrade");
}

/* An open connection is gone. */
static void gone(struct jobs__wire *wire, struct lws *lws)
{
    if (wire->stage == JOBS__STAGE_CLOSING) {
        forget(wire, lws);
        wire->stage = JOBS__STAGE_IDLE;
        wire->ended = true; /* as noted from the close frame */
        return;
    }
    char byte;
    errno = 0;
    ssize_t got = recv(lws_get_socket_fd(lws), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    const char *how = got == 0              ? "the relay ended the connection without a close frame"
                      : errno == ECONNRESET ? "the relay reset the connection"
                      : got < 0 && errno != EAGAIN
                          ? "the connection was lost"
                          : "the connection was lost, or the relay broke the WebSocket protocol";
    forget(wire, lws);
    jobs__wire_end(wire, JOBS__END_BROKEN, "%s", how);
}

static void on_close_frame(struct jobs__wire *wire, const unsigned char *bytes, size_t len)
{
    size_t reason = len > 2 ? len - 2 : 0;
    if (reason > sizeof(wire->text))
        reason = sizeof(wire->text);
    if (reason > 0)
        memcpy(wire->text, bytes + 2, reason);
    wire->closed = (struct jobs__closed){
        .ending = JOBS__END_CLOSED,
        .code = len >= 2 ? bytes[0] << 8 | bytes[1] : 0, /* 1012 to 1014 arrive as 1002: libwebsockets rewrites them */
        .text = wire->text,
        .len = reason,
    };
    wire->stage = JOBS__STAGE_CLOSING;
    wire->closing_by = jobs__loop_now() + CLOSING_MS;
}

static int on_opened(struct jobs__wire *wire)
{
    int64_t now = jobs__loop_now();
    wire->stage = JOBS__STAGE_OPEN;
    wire->dial_by = 0;
    wire->attempt_by = 0;
    wire->ping_at = now + PING_MS;
    wire->event = true;
    wire->opened.address = wire->addresses.text[wire->address];
    char issuer[256] = "";
    if (wire->url.secure)
        wire->opened.tls_protocol =
            jobs__tls_describe(lws_get_ssl(wire->lws), issuer, sizeof issuer, &wire->opened.tls_expires);
    wire->opened.tls_issuer = issuer;
    wire->line->engine->ops->opened(wire->line->engine, now, &wire->opened);
    wire->opened.tls_issuer = NULL;
    return 0;
}

static int deliver(struct jobs__wire *wire, const char *text, size_t len)
{
    if (!jobs__text_is_utf8(text, len)) {
        jobs__wire_end(wire, JOBS__END_BROKEN, "a message of the relay is not UTF-8");
        return -1;
    }
    wire->event = true;
    wire->line->engine->ops->frame(wire->line->engine, jobs__loop_now(), text, len);
    return 0;
}

static int on_piece(struct jobs__wire *wire, struct lws *lws, const char *piece, size_t len)
{
    size_t to_come = lws_remaining_packet_payload(lws);
    if (lws_frame_is_binary(lws)) {
        jobs__wire_end(wire, JOBS__END_BROKEN, "the relay sent a binary message");
        return -1;
    }
    if (wire->in.len + len > JOBS__MESSAGE_IN_MAX || to_come > JOBS__MESSAGE_IN_MAX - wire->in.len - len) {
        jobs__wire_end(wire, JOBS__END_TOO_LARGE, "a message of the relay is larger than 1 MiB");
        return -1;
    }
    bool whole = lws_is_final_fragment(lws);
    if (whole && wire->in.len == 0)
        return deliver(wire, piece, len);
    jobs__buffer_add(&wire->in, piece, len);
    if (wire->in.failed) {
        jobs__wire_end(wire, JOBS__END_BROKEN, "out of memory for a message of the relay");
        return -1;
    }
    if (!whole)
        return 0;
    int result = deliver(wire, wire->in.bytes, wire->in.len);
    jobs__wire_empty(&wire->in);
    return result;
}

/* The body of a refusal or a document: as much of it as is wanted. */
static int on_body(struct jobs__wire *wire, const char *piece, size_t len)
{
    size_t room = (wire->accept != NULL ? JOBS__DOCUMENT_MAX : JOBS__BODY_MAX) - wire->in.len;
    jobs__buffer_add(&wire->in, piece, len < room ? len : room);
    if (len < room)
        return 0;
    jobs__wire_end(wire, JOBS__END_CLOSED, "enough");
    return -1;
}

static int read_body(struct lws *lws)
{
    char buffer[LWS_PRE + 4096], *at = buffer + LWS_PRE;
    int len = sizeof(buffer) - LWS_PRE;
    return lws_http_client_read(lws, &at, &len) < 0 ? -1 : 0;
}

static int name_ourselves(const struct jobs__wire *wire, struct lws *lws, unsigned char **at, size_t room)
{
    static const char agent[] = "jobs/" JOBS_VERSION;
    const unsigned char *end = *at + room;
    if (wire->explaining && wire->accept != NULL &&
        lws_add_http_header_by_name(lws, (const unsigned char *)"Accept:", (const unsigned char *)wire->accept,
                                    (int)strlen(wire->accept), at, (unsigned char *)(uintptr_t)end) != 0)
        return -1;
    room = (size_t)(end - *at);
    return lws_add_http_header_by_name(lws, (const unsigned char *)"User-Agent:", (const unsigned char *)agent,
                                       sizeof(agent) - 1, at, *at + room);
}

static int on_event(struct lws *lws, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
    (void)user;
    struct jobs__wire *wire = NULL;
    switch (reason) {
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
        wire = lws_get_opaque_user_data(lws);
        if (wire != NULL)
            jobs__tls_verified(wire->tls, user, (int)len);
        return 0;
    case LWS_CALLBACK_WSI_CREATE:
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
    case LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH:
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
    case LWS_CALLBACK_CLIENT_RECEIVE:
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
    case LWS_CALLBACK_CLIENT_CLOSED:
    case LWS_CALLBACK_RECEIVE_CLIENT_HTTP:
    case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
    case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
    case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
    case LWS_CALLBACK_WSI_DESTROY:
        wire = lws_get_opaque_user_data(lws);
        break;
    default:
        return 0;
    }
    if (wire == NULL && reason == LWS_CALLBACK_CLIENT_RECEIVE && jobs__kept_is_late(lws, in, len))
        return 0;
    if (wire == NULL && reason != LWS_CALLBACK_CLIENT_RECEIVE_PONG)
        jobs__kept_forget(lws);
    if (wire == NULL) /* dropped by us, or kept for later and not to be used any more */
        return reason == LWS_CALLBACK_CLIENT_RECEIVE || reason == LWS_CALLBACK_CLIENT_ESTABLISHED ? -1 : 0;

    switch (reason) {
    case LWS_CALLBACK_WSI_CREATE:
        wire->stage = wire->proxy.used ? JOBS__STAGE_TUNNEL : wire->url.secure ? JOBS__STAGE_TLS : JOBS__STAGE_ANSWER;
        return 0;
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        wire->stage = JOBS__STAGE_ANSWER;
        return name_ourselves(wire, lws, in, len);
    case LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH:
        read_clock(lws, &wire->opened.has_date, &wire->opened.skew);
        return 0;
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        return on_opened(wire);
    case LWS_CALLBACK_CLIENT_RECEIVE:
        return on_piece(wire, lws, in, len);
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        wire->pong_by = 0;
        wire->ping_at = jobs__loop_now() + PING_MS;
        return 0;
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        on_close_frame(wire, in, len);
        return 0;
    case LWS_CALLBACK_RECEIVE_CLIENT_HTTP:
        return read_body(lws);
    case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
        return on_body(wire, in, len);
    case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
    case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
        forget(wire, lws);
        jobs__wire_end(wire, JOBS__END_CLOSED, "the end");
        return -1;
    case LWS_CALLBACK_CLIENT_CLOSED:
        gone(wire, lws);
        return 0;
    default: /* CONNECTION_ERROR, or WSI_DESTROY without any other word */
        if (wire->stage == JOBS__STAGE_OPEN || wire->stage == JOBS__STAGE_CLOSING)
            gone(wire, lws);
        else
            not_made(wire, lws, reason == LWS_CALLBACK_CLIENT_CONNECTION_ERROR && in != NULL ? in : "");
        return 0;
    }
}

const struct lws_protocols jobs__wire_protocols[] = {
    {.name = "jobs", .callback = on_event, .rx_buffer_size = 16384, .tx_packet_size = JOBS__MESSAGE_OUT_MAX + 64},
    {.name = NULL},
};
