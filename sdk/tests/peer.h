/* peer.h - raw-socket relays and a small engine for the tests of the loop. */
#ifndef JOBS_TESTS_PEER_H
#define JOBS_TESTS_PEER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk/ws.h"

#include <openssl/evp.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- a server: one thread, connections one after the other --- */

struct peer {
    int listener;
    unsigned port;
    pthread_t thread;
    void (*act)(struct peer *peer, int fd);
    const void *script;
    int connections; /* read after peer_stop */
    char request[8192];
};

static inline void peer_write(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        at += n;
        len -= (size_t)n;
    }
}

static inline void peer_text(int fd, const char *text)
{
    peer_write(fd, text, strlen(text));
}

static inline void peer_until_gone(int fd)
{
    char sink[4096];
    while (recv(fd, sink, sizeof(sink), 0) > 0)
        ;
}

static inline void peer_reset(int fd)
{
    struct linger linger = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static inline bool peer_read_request(struct peer *peer, int fd)
{
    size_t len = 0;
    while (len < sizeof(peer->request) - 1) {
        ssize_t n = recv(fd, peer->request + len, 1, 0);
        if (n <= 0)
            return false;
        peer->request[++len] = '\0';
        if (len >= 4 && strcmp(peer->request + len - 4, "\r\n\r\n") == 0)
            return true;
    }
    return false;
}

static inline void peer_accept_key(const char *request, char out[32])
{
    static const char name[] = "Sec-WebSocket-Key: ";
    const char *key = strstr(request, name);
    char joined[128];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    assert_non_null(key);
    key += sizeof(name) - 1;
    snprintf(joined, sizeof(joined), "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)strcspn(key, "\r"), key);
    EVP_Digest(joined, strlen(joined), digest, &len, EVP_sha1(), NULL);
    EVP_EncodeBlock((unsigned char *)out, digest, (int)len);
}

static inline void peer_upgrade_answer(const char *request, const char *headers, char *out, size_t size)
{
    char key[32];
    peer_accept_key(request, key);
    snprintf(out, size,
             "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Accept: %s\r\n%s\r\n",
             key, headers);
}

static inline bool peer_upgrade(struct peer *peer, int fd, const char *headers)
{
    char answer[1024];
    if (!peer_read_request(peer, fd))
        return false;
    peer_upgrade_answer(peer->request, headers, answer, sizeof(answer));
    peer_text(fd, answer);
    return true;
}

/* A frame's header for len bytes; first: FIN and opcode. */
static inline size_t peer_frame_header(unsigned char *out, unsigned first, size_t len)
{
    out[0] = (unsigned char)first;
    if (len < 126) {
        out[1] = (unsigned char)len;
        return 2;
    }
    if (len < 65536) {
        out[1] = 126;
        out[2] = (unsigned char)(len >> 8);
        out[3] = (unsigned char)len;
        return 4;
    }
    out[1] = 127;
    for (int i = 0; i < 8; i++)
        out[2 + i] = (unsigned char)((uint64_t)len >> (56 - 8 * i));
    return 10;
}

static inline void peer_frame(int fd, unsigned first, const void *bytes, size_t len)
{
    unsigned char header[10];
    peer_write(fd, header, peer_frame_header(header, first, len));
    peer_write(fd, bytes, len);
}

static inline void peer_say(int fd, const char *text)
{
    peer_frame(fd, 0x81, text, strlen(text));
}

static inline bool peer_read_exactly(int fd, void *out, size_t len)
{
    char *at = out;
    while (len > 0) {
        ssize_t n = recv(fd, at, len, 0);
        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

/* One masked frame of the client; -1 when it is gone, else its first byte. *out is malloced, NUL-terminated. */
static inline int peer_read_frame(int fd, char **out, size_t *len)
{
    unsigned char header[2], longer[8], mask[4];
    *out = NULL;
    if (!peer_read_exactly(fd, header, 2) || !(header[1] & 0x80))
        return -1;
    uint64_t size = header[1] & 0x7f;
    size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (!peer_read_exactly(fd, longer, more))
        return -1;
    if (more > 0)
        size = 0;
    for (size_t i = 0; i < more; i++)
        size = size << 8 | longer[i];
    if (!peer_read_exactly(fd, mask, 4))
        return -1;
    *out = malloc((size_t)size + 1);
    if (!peer_read_exactly(fd, *out, (size_t)size)) {
        free(*out);
        *out = NULL;
        return -1;
    }
    for (size_t i = 0; i < size; i++)
        (*out)[i] = (char)((*out)[i] ^ mask[i & 3]);
    (*out)[size] = '\0';
    *len = (size_t)size;
    return header[0];
}

static inline void *peer_serve(void *argument)
{
    struct peer *peer = argument;
    sigset_t pipe; /* OpenSSL's server would raise it; the client must not need this */
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    for (;;) {
        int fd = accept(peer->listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        peer->connections++;
        peer->act(peer, fd);
        close(fd);
    }
}

static inline int peer_listen(const char *address, unsigned *port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
    } at = {0};
    socklen_t len = sizeof(at.ip4);
    if (inet_pton(AF_INET6, address, &at.ip6.sin6_addr) == 1) {
        at.ip6.sin6_family = AF_INET6;
        at.ip6.sin6_port = htons((uint16_t)*port);
        len = sizeof(at.ip6);
    } else {
        at.ip4.sin_family = AF_INET;
        at.ip4.sin_port = htons((uint16_t)*port);
        inet_pton(AF_INET, address, &at.ip4.sin_addr);
    }
    int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, &at.any, len) != 0 || listen(fd, 16) != 0 || getsockname(fd, &at.any, &len) != 0) {
        close(fd);
        return -1;
    }
    *port = ntohs(at.any.sa_family == AF_INET6 ? at.ip6.sin6_port : at.ip4.sin_port);
    return fd;
}

static inline void peer_start_at(struct peer *peer, const char *address, void (*act)(struct peer *, int))
{
    peer->act = act;
    peer->connections = 0;
    peer->listener = peer_listen(address, &peer->port);
    assert_true(peer->listener >= 0);
    assert_int_equal(pthread_create(&peer->thread, NULL, peer_serve, peer), 0);
}

static inline void peer_start(struct peer *peer, void (*act)(struct peer *, int))
{
    *peer = (struct peer){0};
    peer_start_at(peer, "127.0.0.1", act);
}

static inline void peer_stop(struct peer *peer)
{
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->listener);
}

/* --- an engine: dials once, sends what it is given, and is done when it has enough --- */

struct probe {
    struct jobs__engine engine; /* first */
    int64_t connect_ms, life_ms;
    const char *const *sends; /* ends with NULL; may be NULL */
    const char *big;          /* one more frame */
    size_t big_len;
    unsigned enough; /* frames; 0: until closed or the end of life */
    bool explain;    /* after a refusal */
    unsigned redials;

    int64_t start, opened_at, closed_at, done_at;
    bool explaining;
    unsigned dials, opened, closed, explained, frames, sent;
    struct jobs__opened last_opened;
    struct jobs__closed last_closed;
    char text[512], frame[256], body[5000];
    size_t frame_len, bytes;
};

static inline void probe_opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened)
{
    struct probe *probe = (struct probe *)engine;
    probe->opened++;
    probe->opened_at = now;
    probe->last_opened = *opened;
}

static inline void probe_frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct probe *probe = (struct probe *)engine;
    (void)now;
    probe->frames++;
    probe->bytes += len;
    probe->frame_len = len;
    snprintf(probe->frame, sizeof(probe->frame), "%.*s", (int)(len < 200 ? len : 200), text);
}

static inline void probe_closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed)
{
    struct probe *probe = (struct probe *)engine;
    probe->closed++;
    probe->closed_at = now;
    probe->last_closed = *closed;
    snprintf(probe->text, sizeof(probe->text), "%.*s", (int)closed->len, closed->text);
}

static inline void probe_explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct probe *probe = (struct probe *)engine;
    (void)now;
    probe->explained++;
    snprintf(probe->body, sizeof(probe->body), "%.*s", (int)len, text);
}

static inline struct jobs__step probe_next(struct jobs__engine *engine, int64_t now)
{
    struct probe *probe = (struct probe *)engine;
    struct jobs__step step = {.want = JOBS__WANT_WAIT, .at = probe->start + probe->life_ms};
    bool open = probe->opened > probe->closed;
    bool enough = probe->enough != 0 && probe->frames >= probe->enough;
    bool over = probe->closed == probe->dials;
    if (over && (probe->dials == 0 || probe->redials > 0)) {
        probe->redials -= probe->dials > 0;
        probe->dials++;
        step.want = JOBS__WANT_DIAL;
        step.at = now + probe->connect_ms;
    } else if (probe->explain && probe->closed > 0 && !probe->explaining) {
        probe->explaining = true;
        step.want = JOBS__WANT_EXPLAIN;
        step.at = now + probe->connect_ms;
    } else if (now >= step.at || enough || (over && !probe->explain) || probe->explained > 0) {
        step.want = JOBS__WANT_DONE;
        probe->done_at = now;
    } else if (open && probe->sends != NULL && probe->sends[probe->sent] != NULL) {
        step.want = JOBS__WANT_SEND;
        step.bytes = probe->sends[probe->sent++];
        step.len = strlen(step.bytes);
    } else if (open && probe->big != NULL) {
        step.want = JOBS__WANT_SEND;
        step.bytes = probe->big;
        step.len = probe->big_len;
        probe->big = NULL;
    }
    return step;
}

static inline const char *probe_doing(const struct jobs__engine *engine)
{
    return ((const struct probe *)engine)->opened ? "waiting" : "connecting";
}

static const struct jobs__engine_ops probe_ops = {probe_opened,    probe_frame, probe_closed,
                                                  probe_explained, probe_next,  probe_doing};

static inline struct probe probe_new(void)
{
    return (struct probe){.engine = {&probe_ops}, .connect_ms = 3000, .life_ms = 5000, .start = jobs__loop_now()};
}

static inline void probe_run(struct probe *probe, const char *url, const char *ca_file)
{
    struct jobs__line line = {&probe->engine, url};
    struct jobs__loop_options options = {.ca_file = ca_file};
    struct jobs_error error = {0};
    probe->start = jobs__loop_now();
    int code = jobs__loop_run(&line, 1, &options, &error);
    if (code != JOBS_OK)
        fail_msg("the loop failed: %s", error.message);
}

static inline const char *peer_url(char out[64], const struct peer *peer, const char *path)
{
    snprintf(out, 64, "ws://127.0.0.1:%u%s", peer->port, path);
    return out;
}

#endif
