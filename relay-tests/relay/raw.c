/* raw.c - the relay on bare sockets: ws:// with its own handshake and its own frames, so that a script can break them.
 *
 * It is as strict as it must be to understand a proper client, and no more. Nothing in here is an example of how to do
 * it: for that see server.c.
 */
#include "server.h"

#include "need.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 256
#define HEAD_MAX        65536

struct raw {
    int fd;
    struct peer *peer;
    struct raw *next;
    bool upgraded, deaf, broken, hanging_up;
    char key[64];           /* Sec-WebSocket-Key */
    struct jobs__buffer in; /* bytes not understood yet */
    struct jobs__buffer message;
    struct jobs__buffer out; /* bytes not sent yet */
    size_t sent;
    bool bytewise;
};

static struct relay *relay;

/* --- what goes out --- */

static void wake(void *connection)
{
    (void)connection; /* the loop asks every peer in every turn */
}

static void set_reading(void *connection, bool go_on)
{
    ((struct raw *)connection)->deaf = !go_on;
}

static void add_frame(struct raw *raw, const struct frame *frame, unsigned opcode, bool final, const char *payload,
                      size_t len)
{
    static const unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};
    uint64_t claim = frame->claim != 0 ? frame->claim : len;
    size_t start = raw->out.len;
    jobs__buffer_char(&raw->out, (char)((final ? 0x80u : 0) | frame->rsv << 4 | opcode));
    unsigned bit = frame->masked ? 0x80 : 0;
    int bytes = claim < 126 ? 0 : claim < 65536 ? 2 : 8;
    jobs__buffer_char(&raw->out, (char)(bit | (bytes == 0 ? (unsigned)claim : bytes == 2 ? 126u : 127u)));
    for (int i = bytes - 1; i >= 0; i--)
        jobs__buffer_char(&raw->out, (char)(claim >> (8 * i)));
    if (frame->masked)
        jobs__buffer_add(&raw->out, mask, 4);
    for (size_t i = 0; i < len; i++)
        jobs__buffer_char(&raw->out, (char)(payload[i] ^ (frame->masked ? mask[i % 4] : 0)));
    if (frame->cut != 0 && raw->out.len - start > frame->cut)
        raw->out.len = start + frame->cut;
    raw->bytewise = raw->bytewise || frame->bytewise;
}

static void add_message(struct raw *raw, const struct frame *frame, const char *payload, size_t len)
{
    size_t piece = frame->pieces == 0 || frame->pieces > len ? len : (size_t)frame->pieces, at = 0;
    do {
        size_t n = len - at < piece ? len - at : piece;
        add_frame(raw, frame, at == 0 ? frame->opcode : 0, at + n == len && !frame->more, payload + at, n);
        at += n;
    } while (at < len);
}

static void add_upgrade(struct raw *raw, bool right_key)
{
    char text[128];
    unsigned char digest[EVP_MAX_MD_SIZE], accept[64];
    snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", right_key ? raw->key : "wrong");
    if (EVP_Digest(text, strlen(text), digest, NULL, EVP_sha1(), NULL) != 1)
        give_up("no SHA-1");
    EVP_EncodeBlock(accept, digest, 20);
    jobs__buffer_format(&raw->out,
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Accept: %s\r\n\r\n",
                        (const char *)accept);
    raw->upgraded = true;
}

/* Takes over what the relay wants to say. */
static void collect(struct raw *raw)
{
    while (!raw->hanging_up && !raw->broken && raw->out.len - raw->sent < (4u << 20)) {
        struct step step = peer_next(raw->peer);
        char close_text[128];
        struct sockaddr none = {.sa_family = AF_UNSPEC};
        struct frame plain = step.frame;
        size_t len;
        if (plain.opcode == 0)
            plain.opcode = 1;
        switch (step.kind) {
        case STEP_NONE:
            return;
        case STEP_TEXT:
            add_message(raw, &plain, step.bytes, step.len);
            break;
        case STEP_FRAME:
            add_message(raw, &step.frame, step.bytes, step.len);
            break;
        case STEP_BYTES:
            jobs__buffer_add(&raw->out, step.bytes, step.len);
            break;
        case STEP_UPGRADE:
            add_upgrade(raw, step.code == 0);
            peer_opened(raw->peer);
            break;
        case STEP_CLOSE:
            close_text[0] = (char)(step.code >> 8);
            close_text[1] = (char)step.code;
            len = step.len > 123 ? 123 : step.len;
            memcpy(close_text + 2, step.bytes, len);
            add_frame(raw, &(struct frame){0}, 8, true, close_text, step.code == 0 ? 0 : len + 2);
            raw->hanging_up = true;
            break;
        case STEP_DROP:
            raw->hanging_up = true;
            break;
        case STEP_RESET:
            (void)!connect(raw->fd, &none, sizeof none);
            raw->broken = true;
            break;
        }
        if (raw->out.failed)
            give_up("out of memory (frames)");
    }
}

static void send_some(struct raw *raw)
{
    while (raw->sent < raw->out.len) {
        size_t n = raw->bytewise ? 1 : raw->out.len - raw->sent;
        ssize_t done = send(raw->fd, raw->out.bytes + raw->sent, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (done < 0) {
            raw->broken = true;
            return;
        }
        raw->sent += (size_t)done;
    }
    jobs__buffer_clear(&raw->out);
    raw->sent = 0;
    if (raw->hanging_up)
        raw->broken = true;
}

/* --- what comes in --- */

static void header_value(char *out, size_t size, const char *head, const char *name)
{
    const char *found = strcasestr(head, name);
    size_t len = 0;
    *out = '\0';
    if (found == NULL)
        return;
    found += strlen(name);
    found += strspn(found, " \t");
    len = strcspn(found, "\r\n");
    snprintf(out, size, "%.*s", (int)len, found);
}

static void answer_get(struct raw *raw)
{
    jobs__buffer_text(&raw->out, "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    raw->hanging_up = true;
}

/* The HTTP request, once it is all there. */
static bool take_head(struct raw *raw)
{
    if (raw->upgraded || raw->key[0] != '\0' || raw->in.len == 0)
        return false;
    const char *end = strstr(raw->in.bytes, "\r\n\r\n");
    if (end == NULL) {
        raw->broken = raw->broken || raw->in.len > HEAD_MAX;
        return false;
    }
    header_value(raw->key, sizeof raw->key, raw->in.bytes, "\r\nSec-WebSocket-Key:");
    size_t used = (size_t)(end - raw->in.bytes) + 4;
    raw->in.len -= used;
    memmove(raw->in.bytes, raw->in.bytes + used, raw->in.len);
    raw->in.bytes[raw->in.len] = '\0';
    if (raw->key[0] == '\0')
        answer_get(raw);
    else if (!peer_asks_upgrade(raw->peer)) {
        add_upgrade(raw, true);
        peer_opened(raw->peer);
    }
    return true;
}

static void take_payload(struct raw *raw, unsigned opcode, bool final, char *payload, size_t len)
{
    if (opcode == 8) {
        add_frame(raw, &(struct frame){0}, 8, true, payload, len < 2 ? 0 : 2);
        raw->hanging_up = true;
    } else if (opcode == 9)
        add_frame(raw, &(struct frame){0}, 10, true, payload, len);
    else if (opcode <= 2) {
        jobs__buffer_add(&raw->message, payload, len);
        if (raw->message.failed)
            raw->broken = true;
        else if (final) {
            peer_message(raw->peer, raw->message.bytes == NULL ? "" : raw->message.bytes, raw->message.len);
            jobs__buffer_clear(&raw->message);
        }
    }
}

/* One frame of the client, once it is all there. */
static bool take_frame(struct raw *raw)
{
    unsigned char *in = (unsigned char *)raw->in.bytes;
    size_t have = raw->in.len, head = 2;
    if (!raw->upgraded || have < 2)
        return false;
    uint64_t len = in[1] & 0x7f;
    int bytes = len == 126 ? 2 : len == 127 ? 8 : 0;
    head += (size_t)bytes + 4;
    if (have < head)
        return false;
    if (bytes > 0)
        len = 0;
    for (int i = 0; i < bytes; i++)
        len = len << 8 | in[2 + i];
    if ((in[1] & 0x80) == 0 || len > peer_frame_max(raw->peer)) {
        raw->broken = true;
        return false;
    }
    if (have < head + len)
        return false;
    char *payload = need_copy(raw->in.bytes + head, (size_t)len);
    for (size_t i = 0; i < len; i++)
        payload[i] = (char)(payload[i] ^ in[head - 4 + i % 4]);
    unsigned opcode = in[0] & 0x0f;
    bool final = (in[0] & 0x80) != 0;
    raw->in.len -= head + (size_t)len;
    memmove(raw->in.bytes, raw->in.bytes + head + len, raw->in.len);
    take_payload(raw, opcode, final, payload, (size_t)len);
    free(payload);
    return true;
}

static void receive(struct raw *raw)
{
    char piece[65536];
    ssize_t n = recv(raw->fd, piece, sizeof piece, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        raw->broken = true;
        return;
    }
    jobs__buffer_add(&raw->in, piece, (size_t)n);
    raw->broken = raw->in.failed != 0;
    while (!raw->broken && !raw->hanging_up && (take_head(raw) || take_frame(raw)))
        continue;
}

/* --- the loop --- */

static struct raw *accept_one(int listener, struct raw *all)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), yes = 1;
    if (fd < 0)
        return all;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct raw *raw = need(sizeof *raw);
    raw->fd = fd;
    raw->in.max = raw->message.max = 2u << 20;
    raw->out.max = 64u << 20;
    raw->next = all;
    raw->peer = peer_new(relay, raw, server_now());
    (void)peer_accepted(raw->peer);
    return raw;
}

static void release(struct raw *raw)
{
    peer_free(raw->peer);
    close(raw->fd);
    jobs__buffer_free(&raw->in);
    jobs__buffer_free(&raw->message);
    jobs__buffer_free(&raw->out);
    free(raw);
}

static void forget_broken(struct raw **all)
{
    while (*all != NULL) {
        struct raw *raw = *all;
        if (raw->broken) {
            *all = raw->next;
            release(raw);
        } else
            all = &raw->next;
    }
}

static void wait_and_serve(int listener, struct raw **all, int64_t next, const sigset_t *unblocked)
{
    struct pollfd fds[CONNECTIONS_MAX + 1] = {{.fd = listener, .events = POLLIN}};
    struct raw *of[CONNECTIONS_MAX + 1];
    nfds_t count = 1;
    for (struct raw *raw = *all; raw != NULL && count <= CONNECTIONS_MAX; raw = raw->next, count++) {
        of[count] = raw;
        fds[count] = (struct pollfd){.fd = raw->fd};
        fds[count].events = (short)((raw->deaf ? 0 : POLLIN) | (raw->out.len > raw->sent ? POLLOUT : 0));
    }
    int64_t wait = next - server_now();
    struct timespec time = {.tv_sec = wait < 0 ? 0 : wait / 1000, .tv_nsec = wait < 0 ? 0 : wait % 1000 * 1000000};
    if (ppoll(fds, count, next == INT64_MAX ? NULL : &time, unblocked) <= 0)
        return;
    for (nfds_t i = 1; i < count; i++) {
        if (fds[i].revents & POLLIN)
            receive(of[i]);
        else if (fds[i].revents & (POLLERR | POLLHUP))
            of[i]->broken = true;
    }
    if (fds[0].revents & POLLIN)
        *all = accept_one(listener, *all);
}

static int listen_on(const struct server_options *options, int *port, struct jobs_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options->port)};
    socklen_t size = sizeof address;
    const char *host = strcmp(options->host, "localhost") == 0 ? "127.0.0.1" : options->host;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    if (fd < 0 || inet_pton(AF_INET, host, &address.sin_addr) != 1 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        jobs_error_set(error, JOBS_SYSTEM, "cannot listen on %s port %d: %s", options->host, options->port,
                       strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

int raw_run(const struct relay_options *relay_options, const struct server_options *options, struct jobs_error *error)
{
    static const struct transport transport = {wake, set_reading};
    struct raw *all = NULL;
    sigset_t blocked, unblocked;
    char url[512];
    int port = 0;

    int rc = relay_new(&relay, relay_options, &transport, error);
    if (rc != JOBS_OK)
        return rc;
    int listener = listen_on(options, &port, error);
    if (listener < 0) {
        relay_free(relay);
        return JOBS_SYSTEM;
    }
    sigemptyset(&blocked); /* signals come while it waits, and at no other time */
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &unblocked);
    snprintf(url, sizeof url, "ws://%s:%d", options->host, port);
    relay_set_url(relay, url);
    printf("%s\n", url);
    fflush(stdout);

    while (!*options->stop) {
        int64_t next = relay_turn(relay, server_now());
        for (struct raw *raw = all; raw != NULL; raw = raw->next) {
            collect(raw);
            send_some(raw);
        }
        forget_broken(&all);
        wait_and_serve(listener, &all, next, &unblocked);
    }
    while (all != NULL) {
        struct raw *next = all->next;
        release(all);
        all = next;
    }
    close(listener);
    relay_free(relay);
    return JOBS_OK;
}
