/* null_relay.c - yardstick NULL RELAY: answers OK true to every EVENT, and EOSE to every REQ, without looking.
 *
 * bench-null-relay: prints ws://127.0.0.1:PORT when it listens; one connection at a time; ends by a signal. Raw
 * sockets, so that what stands beside it is never waiting for it.
 */
#include <openssl/evp.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IN_MAX  (4 << 20)
#define OUT_MAX (1 << 20)

static unsigned char in[IN_MAX + 1];
static unsigned char out[OUT_MAX];
static size_t out_len;

static bool flush_out(int fd)
{
    for (size_t at = 0; at < out_len;) {
        ssize_t n = write(fd, out + at, out_len - at);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    out_len = 0;
    return true;
}

static bool answer(int fd, unsigned char opcode, const char *text, size_t len)
{
    if (out_len + len + 4 > OUT_MAX && !flush_out(fd))
        return false;
    out[out_len++] = 0x80 | opcode;
    out[out_len++] = (unsigned char)len; /* all answers are shorter than 126 */
    memcpy(out + out_len, text, len);
    out_len += len;
    return true;
}

static bool upgrade(int fd)
{
    size_t len = 0;
    for (in[0] = '\0'; strstr((char *)in, "\r\n\r\n") == NULL;) {
        ssize_t n = read(fd, in + len, 8192 - len);
        if (n <= 0)
            return false;
        in[len += (size_t)n] = '\0';
    }
    const char *name = strcasestr((char *)in, "sec-websocket-key:");
    char key[61];
    char joined[128];
    unsigned char sha[EVP_MAX_MD_SIZE];
    unsigned char accept_key[64];
    char text[256];
    unsigned sha_len = 0;

    if (name == NULL || sscanf(name + 18, " %60s", key) != 1)
        return false;
    int joined_len = snprintf(joined, sizeof joined, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    if (!EVP_Digest(joined, (size_t)joined_len, sha, &sha_len, EVP_sha1(), NULL))
        return false;
    EVP_EncodeBlock(accept_key, sha, (int)sha_len);
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Accept: %s\r\n\r\n",
                     (char *)accept_key);
    return write(fd, text, (size_t)n) == n;
}

/* Whoever sends a message: its first word, and the first "id" or the subscription's name, is all that is read. */
static bool on_message(int fd, const char *text)
{
    char reply[124];
    const char *id = strstr(text, "\"id\":\"");
    if (strncmp(text, "[\"EVENT\"", 8) == 0 && id != NULL) {
        int n = snprintf(reply, sizeof reply, "[\"OK\",\"%.64s\",true,\"\"]", id + 6);
        return answer(fd, 1, reply, (size_t)n);
    }
    if (strncmp(text, "[\"REQ\",\"", 8) == 0) {
        int n = snprintf(reply, sizeof reply, "[\"EOSE\",\"%.*s\"]", (int)strcspn(text + 8, "\""), text + 8);
        return answer(fd, 1, reply, (size_t)n < sizeof reply ? (size_t)n : sizeof reply - 1);
    }
    return true;
}

static void unmask(unsigned char *bytes, size_t len, const unsigned char mask[4])
{
    uint32_t four;
    memcpy(&four, mask, sizeof four);
    uint64_t eight = (uint64_t)four << 32 | four;
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        word ^= eight;
        memcpy(bytes + i, &word, 8);
    }
    for (; i < len; i++)
        bytes[i] ^= mask[i % 4];
}

/* One whole masked frame at the start of in[0..len)? Its size, 0 when more bytes are needed, -1 to hang up. */
static ssize_t take_frame(int fd, unsigned char *frame, size_t len)
{
    if (len < 6)
        return 0;
    size_t head = 2;
    size_t size = frame[1] & 0x7f;
    if (size == 126) {
        size = (size_t)frame[2] << 8 | frame[3];
        head = 4;
    } else if (size == 127) {
        return -1; /* above 64 KiB: nothing that is measured sends that */
    }
    if (len < head + 4 + size)
        return 0;
    unsigned char *body = frame + head + 4;
    unsigned char kept = body[size];
    unmask(body, size, frame + head);
    body[size] = '\0';
    bool good = true;
    if ((frame[0] & 0x0f) == 1)
        good = on_message(fd, (const char *)body);
    else if ((frame[0] & 0x0f) == 8)
        good = answer(fd, 8, "\x03\xe8", 2) && flush_out(fd) && false;
    body[size] = kept;
    return good ? (ssize_t)(head + 4 + size) : -1;
}

static void serve(int fd)
{
    size_t len = 0;
    out_len = 0;
    if (!upgrade(fd))
        return;
    for (;;) {
        ssize_t n = read(fd, in + len, IN_MAX - len);
        if (n <= 0)
            return;
        len += (size_t)n;
        size_t at = 0;
        ssize_t taken;
        while ((taken = take_frame(fd, in + at, len - at)) > 0)
            at += (size_t)taken;
        if (taken < 0 || !flush_out(fd))
            return;
        memmove(in, in + at, len - at);
        len -= at;
    }
}

int main(void)
{
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    if (server < 0 || bind(server, (struct sockaddr *)&address, size) != 0 || listen(server, 64) != 0 ||
        getsockname(server, (struct sockaddr *)&address, &size) != 0) {
        perror("bench-null-relay");
        return 1;
    }
    printf("ws://127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int fd = accept(server, NULL, NULL);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        serve(fd);
        close(fd);
    }
}
