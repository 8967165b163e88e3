/* test_ws_failures.c - every way a relay fails is told exactly once, as what it is, in time. One row a failure. */
#include "peer.h"

#include <sys/resource.h>
#include <time.h>

/* --- before the upgrade; `script` is what the relay answers --- */

static void answers(struct peer *peer, int fd)
{
    if (peer_read_request(peer, fd))
        peer_text(fd, peer->script);
}

static void answers_and_stays(struct peer *peer, int fd)
{
    answers(peer, fd);
    peer_until_gone(fd);
}

static void silent(struct peer *peer, int fd)
{
    (void)peer;
    peer_until_gone(fd);
}

static void leaves(struct peer *peer, int fd)
{
    (void)peer;
    (void)fd;
}

static void resets(struct peer *peer, int fd)
{
    (void)peer;
    peer_reset(fd);
}

static void reads_and_leaves(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
}

static void reads_and_resets(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_reset(fd);
}

static void speaks_first(struct peer *peer, int fd)
{
    peer_text(fd, "SSH-2.0-OpenSSH_9.2\r\n");
    peer_until_gone(fd);
    (void)peer;
}

static void drips(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    const char *text = peer->script;
    for (size_t i = 0; text[i] != '\0'; i++) {
        struct pollfd gone = {.fd = fd, .events = POLLRDHUP};
        if (poll(&gone, 1, 20) != 0)
            return;
        peer_write(fd, text + i, 1);
    }
    peer_until_gone(fd);
}

/* --- after it; `script` is a frame's bytes, its length in the first --- */

static void upgrades_and_says(struct peer *peer, int fd)
{
    const unsigned char *bytes = peer->script;
    if (!peer_upgrade(peer, fd, ""))
        return;
    peer_write(fd, bytes + 1, bytes[0]);
    peer_until_gone(fd);
}

static void upgrades_says_and_leaves(struct peer *peer, int fd)
{
    const unsigned char *bytes = peer->script;
    if (!peer_upgrade(peer, fd, ""))
        return;
    peer_write(fd, bytes + 1, bytes[0]);
}

static void upgrades_says_and_resets(struct peer *peer, int fd)
{
    upgrades_says_and_leaves(peer, fd);
    peer_reset(fd);
}

static void too_large(struct peer *peer, int fd)
{
    unsigned char header[10];
    if (!peer_upgrade(peer, fd, ""))
        return;
    peer_write(fd, header, peer_frame_header(header, 0x81, (size_t)8 * 1024 * 1024));
    char *much = calloc(1, 65536);
    for (int i = 0; i < 128; i++) {
        if (send(fd, much, 65536, MSG_NOSIGNAL) <= 0)
            break;
    }
    free(much);
}

static void one_byte_too_large(struct peer *peer, int fd)
{
    if (!peer_upgrade(peer, fd, ""))
        return;
    char *much = calloc(1, 1024 * 1024);
    memset(much, 'x', 1024 * 1024);
    peer_frame(fd, 0x01, much, 1024 * 1024);
    peer_frame(fd, 0x80, "y", 1);
    free(much);
    peer_until_gone(fd);
}

static void fragments_without_end(struct peer *peer, int fd)
{
    if (!peer_upgrade(peer, fd, ""))
        return;
    peer_frame(fd, 0x01, "x", 1);
    char burst[60000];
    for (size_t i = 0; i < sizeof(burst); i += 3)
        memcpy(burst + i, "\x00\x01x", 3);
    while (send(fd, burst, sizeof(burst), MSG_NOSIGNAL) > 0)
        ;
}

static void wrong_key(struct peer *peer, int fd)
{
    char answer[1024];
    if (!peer_read_request(peer, fd))
        return;
    peer_upgrade_answer(peer->request, "", answer, sizeof(answer));
    char *key = strstr(answer, "Accept: ");
    key[8] = key[8] == 'A' ? 'B' : 'A';
    peer_text(fd, answer);
    peer_until_gone(fd);
}

static void with_headers(struct peer *peer, int fd)
{
    if (peer_upgrade(peer, fd, peer->script))
        peer_until_gone(fd);
}

#define HTTP(status, headers) "HTTP/1.1 " status "\r\n" headers "Content-Length: 2\r\n\r\nno"

static char many_headers[12000];

static const struct row {
    const char *name;
    void (*act)(struct peer *peer, int fd);
    const void *script;
    enum jobs__ending ending;
    int status, code, retry_after;
    const char *text; /* part of it */
} rows[] = {
    {"leaves at once", leaves, NULL, JOBS__END_NO_CONNECT, 0, 0, 0, "without an answer"},
    {"resets at once", resets, NULL, JOBS__END_NO_CONNECT, 0, 0, 0, ""},
    {"leaves after the request", reads_and_leaves, NULL, JOBS__END_NO_CONNECT, 0, 0, 0, "without an answer"},
    {"resets after the request", reads_and_resets, NULL, JOBS__END_NO_CONNECT, 0, 0, 0, "without an answer"},
    {"never answers", silent, NULL, JOBS__END_NO_CONNECT, 0, 0, 0, "upgrade in time"},
    {"half an answer", answers_and_stays, "HTTP/1.1 101 Switching Pro", JOBS__END_NO_CONNECT, 0, 0, 0, "in time"},
    {"half an answer, then leaves", answers, "HTTP/1.1 101 Switching Pro", JOBS__END_NOT_WEBSOCKET, 0, 0, 0, ""},
    {"a slow answer", drips, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n", JOBS__END_NO_CONNECT, 0, 0,
     0, "in time"},
    {"another protocol", speaks_first, NULL, JOBS__END_NO_CONNECT, 0, 0, 0, "in time"},
    {"noise", answers, "\x01\x02\x03\r\n\r\n", JOBS__END_NOT_WEBSOCKET, 0, 0, 0, "no WebSocket server"},
    {"no status", answers_and_stays, "HTTP/1.1 what\r\n\r\n", JOBS__END_NOT_WEBSOCKET, 0, 0, 0, ""},
    {"101 without more", answers_and_stays, "HTTP/1.1 101 OK\r\n\r\n", JOBS__END_NOT_WEBSOCKET, 0, 0, 0, "Accept"},
    {"101 without Upgrade", answers_and_stays, "HTTP/1.1 101 OK\r\nSec-WebSocket-Accept: x\r\n\r\n",
     JOBS__END_NOT_WEBSOCKET, 0, 0, 0, "Upgrade"},
    {"wrong accept key", wrong_key, NULL, JOBS__END_NOT_WEBSOCKET, 0, 0, 0, "wrong Sec-WebSocket-Accept"},
    {"an extension", with_headers, "Sec-WebSocket-Extensions: permessage-deflate\r\n", JOBS__END_NOT_WEBSOCKET, 0, 0, 0,
     "extension"},
    {"a sub-protocol", with_headers, "Sec-WebSocket-Protocol: chat\r\n", JOBS__END_NOT_WEBSOCKET, 0, 0, 0,
     "sub-protocol"},
    {"200", answers, HTTP("200 OK", ""), JOBS__END_HTTP, 200, 0, 0, "HTTP 200"},
    {"302", answers, HTTP("302 Found", "Location: http://127.0.0.1:1/elsewhere\r\n"), JOBS__END_HTTP, 302, 0, 0,
     "elsewhere"},
    {"307 without Location", answers, HTTP("307 x", ""), JOBS__END_HTTP, 307, 0, 0, ""},
    {"400", answers, HTTP("400 x", ""), JOBS__END_HTTP, 400, 0, 0, ""},
    {"401", answers, HTTP("401 x", "WWW-Authenticate: Basic realm=\"x\"\r\n"), JOBS__END_HTTP, 401, 0, 0, ""},
    {"403", answers, HTTP("403 Forbidden", ""), JOBS__END_HTTP, 403, 0, 0, ""},
    {"404", answers, HTTP("404 Not Found", ""), JOBS__END_HTTP, 404, 0, 0, ""},
    {"404 of HTTP/1.0", answers, "HTTP/1.0 404 x\r\n\r\nno", JOBS__END_HTTP, 404, 0, 0, ""},
    {"404 with many headers", answers, many_headers, JOBS__END_HTTP, 404, 0, 0, ""},
    {"429", answers, HTTP("429 x", "Retry-After: 7\r\n"), JOBS__END_HTTP, 429, 0, 7, ""},
    {"429 for ever", answers, HTTP("429 x", "Retry-After: 99999999999999999999\r\n"), JOBS__END_HTTP, 429, 0, 9999999,
     ""},
    {"429, senseless", answers, HTTP("429 x", "Retry-After: soon\r\n"), JOBS__END_HTTP, 429, 0, 0, ""},
    {"500", answers, HTTP("500 x", ""), JOBS__END_HTTP, 500, 0, 0, ""},
    {"503 until a date", answers,
     HTTP("503 x", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:07 GMT\r\n"),
     JOBS__END_HTTP, 503, 0, 30, ""},
    {"leaves", upgrades_says_and_leaves, "\0", JOBS__END_BROKEN, 0, 0, 0, "without a close frame"},
    {"resets", upgrades_says_and_resets, "\0", JOBS__END_BROKEN, 0, 0, 0, ""},
    {"half a frame", upgrades_says_and_leaves, "\4\x81\x09ha", JOBS__END_BROKEN, 0, 0, 0, "without a close frame"},
    {"half a header", upgrades_says_and_leaves, "\2\x81\x7e", JOBS__END_BROKEN, 0, 0, 0, "without a close frame"},
    {"within a message", upgrades_says_and_leaves, "\3\x01\x01x", JOBS__END_BROKEN, 0, 0, 0, "without a close frame"},
    {"close within a message", upgrades_and_says, "\7\x01\x01x\x88\x02\x03\xe9", JOBS__END_CLOSED, 0, 1001, 0, ""},
    {"binary", upgrades_and_says, "\3\x82\x01x", JOBS__END_BROKEN, 0, 0, 0, "binary"},
    {"bad UTF-8", upgrades_and_says, "\3\x81\x01\xff", JOBS__END_BROKEN, 0, 0, 0, "UTF-8"},
    {"half a character", upgrades_and_says, "\4\x81\x02\xe2\x82", JOBS__END_BROKEN, 0, 0, 0, "UTF-8"},
    {"a surrogate", upgrades_and_says, "\5\x81\x03\xed\xa0\x80", JOBS__END_BROKEN, 0, 0, 0, "UTF-8"},
    {"opcode 3", upgrades_and_says, "\2\x83\x00", JOBS__END_BROKEN, 0, 0, 0, "WebSocket protocol"},
    {"opcode 11", upgrades_and_says, "\2\x8b\x00", JOBS__END_BROKEN, 0, 0, 0, "WebSocket protocol"},
    {"a reserved bit", upgrades_and_says, "\3\xc1\x01x", JOBS__END_BROKEN, 0, 0, 0, "WebSocket protocol"},
    {"a fragmented ping", upgrades_and_says, "\2\x09\x00", JOBS__END_BROKEN, 0, 0, 0, "WebSocket protocol"},
    {"a long ping", upgrades_and_says, "\4\x89\x7e\x00\x80", JOBS__END_BROKEN, 0, 0, 0, "WebSocket protocol"},
    {"text within a message", upgrades_and_says, "\6\x01\x01x\x81\x01x", JOBS__END_BROKEN, 0, 0, 0,
     "WebSocket protocol"},
    {"more of nothing", upgrades_and_says, "\3\x80\x01x", JOBS__END_BROKEN, 0, 0, 0, "WebSocket protocol"},
    {"a length of 2^63", upgrades_and_says, "\x0a\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00", JOBS__END_BROKEN, 0, 0, 0,
     "WebSocket protocol"},
    {"8 MiB", too_large, NULL, JOBS__END_TOO_LARGE, 0, 0, 0, "1 MiB"},
    {"a byte more than 1 MiB", one_byte_too_large, NULL, JOBS__END_TOO_LARGE, 0, 0, 0, "1 MiB"},
    {"fragments without end", fragments_without_end, NULL, JOBS__END_TOO_LARGE, 0, 0, 0, "1 MiB"},
    {"close without a code", upgrades_and_says, "\2\x88\x00", JOBS__END_CLOSED, 0, 0, 0, ""},
    {"close 1000", upgrades_and_says, "\4\x88\x02\x03\xe8", JOBS__END_CLOSED, 0, 1000, 0, ""},
    {"close 1001", upgrades_and_says,
     "\7\x88\x05\x03\xe9"
     "bye",
     JOBS__END_CLOSED, 0, 1001, 0, "bye"},
    {"close 1008", upgrades_and_says, "\x0a\x88\x08\x03\xf0policy", JOBS__END_CLOSED, 0, 1008, 0, "policy"},
    {"close 1009", upgrades_and_says, "\4\x88\x02\x03\xf1", JOBS__END_CLOSED, 0, 1009, 0, ""},
    {"close 1011", upgrades_and_says, "\4\x88\x02\x03\xf3", JOBS__END_CLOSED, 0, 1011, 0, ""},
    {"close 1012", upgrades_and_says, "\x0b\x88\x09\x03\xf4restart", JOBS__END_CLOSED, 0, 1002, 0, "restart"},
    {"close 4000, and gone", upgrades_says_and_leaves, "\4\x88\x02\x0f\xa0", JOBS__END_CLOSED, 0, 4000, 0, ""},
    {"close 4000, and reset", upgrades_says_and_resets, "\4\x88\x02\x0f\xa0", JOBS__END_CLOSED, 0, 4000, 0, ""},
};

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void each_is_told_once(void **state)
{
    (void)state;
    size_t at = (size_t)snprintf(many_headers, sizeof(many_headers), "HTTP/1.1 404 x\r\n");
    for (int i = 0; at < sizeof(many_headers) - 200; i++)
        at += (size_t)snprintf(many_headers + at, sizeof(many_headers) - at, "X-Header-%d: %080d\r\n", i, i);
    strcat(many_headers, "\r\n");
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct peer peer = {.script = row->script};
        char url[64];
        struct probe probe = probe_new();
        probe.connect_ms = 300;
        probe.life_ms = 2000;
        peer_start_at(&peer, "127.0.0.1", row->act);
        probe_run(&probe, peer_url(url, &peer, ""), NULL);
        int64_t took = jobs__loop_now() - probe.start;
        peer_stop(&peer);
        const struct jobs__closed *closed = &probe.last_closed;
        int retry_after = row->retry_after == 9999999 ? closed->retry_after : row->retry_after;
        if (probe.closed != 1 || closed->ending != row->ending || closed->status != row->status ||
            closed->code != row->code || closed->retry_after != retry_after ||
            took > (row->ending == JOBS__END_NO_CONNECT ? 700 : 1900) || strstr(probe.text, row->text) == NULL ||
            (row->retry_after == 9999999 && closed->retry_after < 100000)) {
            print_error("%s: opened %u, closed %u, ending %d status %d code %d retry %d in %d ms: %s\n", row->name,
                        probe.opened, probe.closed, closed->ending, closed->status, closed->code, closed->retry_after,
                        (int)took, probe.text);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void size_is_bounded(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    long before = peak_kib();
    peer_start(&peer, too_large);
    struct probe probe = probe_new();
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    peer_stop(&peer);
    assert_true(peak_kib() - before < 4096);
}

static void nobody_there(void **state)
{
    (void)state;
    unsigned port = 0;
    char url[64];
    close(peer_listen("127.0.0.1", &port));
    snprintf(url, sizeof(url), "ws://127.0.0.1:%u", port);
    struct probe probe = probe_new();
    probe_run(&probe, url, NULL);
    assert_int_equal(probe.closed, 1);
    assert_int_equal(probe.last_closed.ending, JOBS__END_NO_CONNECT);
    assert_non_null(strstr(probe.text, "127.0.0.1"));
    assert_true(jobs__loop_now() - probe.start < 1000);
}

static void no_such_name(void **state)
{
    (void)state;
    struct probe probe = probe_new();
    probe.connect_ms = 2000;
    probe_run(&probe, "ws://nonexistent.invalid", NULL);
    assert_int_equal(probe.closed, 1);
    assert_int_equal(probe.last_closed.ending, JOBS__END_NO_ADDRESS);
    assert_non_null(strstr(probe.text, "nonexistent.invalid"));
    assert_true(jobs__loop_now() - probe.start < 2500);
}

static void a_name_too_long_to_dial(void **state)
{
    (void)state;
    char url[300] = "ws://";
    for (int i = 0; i < 4; i++)
        strcat(url, "a.very.long.name.of.a.relay.that.nobody.has.");
    strcat(url, "example");
    struct probe probe = probe_new();
    probe_run(&probe, url, NULL);
    assert_int_equal(probe.last_closed.ending, JOBS__END_NO_ADDRESS);
    assert_non_null(strstr(probe.text, "characters"));
}

static void upgrade_then_wait(struct peer *peer, int fd)
{
    if (peer_upgrade(peer, fd, ""))
        peer_say(fd, "here");
    peer_until_gone(fd);
}

/* localhost needs no name server, and ::1 being closed is not the end. */
static void the_next_address_is_tried(void **state)
{
    (void)state;
    static const char *const addresses[] = {"127.0.0.1", "::1"};
    for (size_t i = 0; i < 2; i++) {
        struct peer peer = {0};
        char url[64], host[64];
        unsigned port = 0;
        int probe_fd = peer_listen(addresses[i], &port);
        if (probe_fd < 0)
            continue; /* no IPv6 on this machine */
        close(probe_fd);
        peer_start_at(&peer, addresses[i], upgrade_then_wait);
        snprintf(url, sizeof(url), "ws://localhost:%u", peer.port);
        struct probe probe = probe_new();
        probe.enough = 1;
        probe_run(&probe, url, NULL);
        peer_stop(&peer);
        assert_string_equal(probe.frame, "here");
        assert_int_equal(peer.connections, 1);
        snprintf(host, sizeof(host), "\r\nHost: localhost:%u\r\n", peer.port);
        assert_non_null(strstr(peer.request, host));
    }
}

/* --- EXPLAIN --- */

static void explains(struct peer *peer, int fd)
{
    if (!peer_read_request(peer, fd))
        return;
    if (strstr(peer->request, "Upgrade: websocket") != NULL)
        peer_text(fd, HTTP("404 Not Found", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
    else
        peer_text(fd, peer->script);
}

static void explains_and_stays(struct peer *peer, int fd)
{
    explains(peer, fd);
    if (strstr(peer->request, "Upgrade: websocket") == NULL)
        peer_until_gone(fd);
}

static void the_words_behind_a_refusal(void **state)
{
    (void)state;
    static char large[20000];
    static const struct {
        const char *answer, *body;
        void (*act)(struct peer *, int);
    } cases[] = {
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 8\r\n\r\nno such!", "no such!", explains_and_stays},
        {"HTTP/1.1 404 x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nno \r\n5\r\nsuch!\r\n0\r\n\r\n", "no such!",
         explains_and_stays},
        {"HTTP/1.0 500 x\r\n\r\nbroken", "broken", explains},
        {"HTTP/1.1 302 x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 4\r\n\r\nmove", "move",
         explains_and_stays},
        {"HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n", "", explains_and_stays},
        {"", "", explains},
        {"rubbish\r\n", "", explains},
        {"", "", explains_and_stays},
        {large, NULL, explains_and_stays},
    };
    strcpy(large, "HTTP/1.1 404 x\r\nContent-Length: 1000000\r\n\r\n");
    memset(large + strlen(large), 'y', sizeof(large) - strlen(large) - 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct peer peer = {.script = cases[i].answer};
        char url[64];
        struct probe probe = probe_new();
        probe.explain = true;
        probe.connect_ms = 300;
        peer_start_at(&peer, "127.0.0.1", cases[i].act);
        probe_run(&probe, peer_url(url, &peer, "/x?y"), NULL);
        assert_true(jobs__loop_now() - probe.start < 1000);
        peer_stop(&peer);
        assert_int_equal(probe.closed, 1);
        assert_int_equal(probe.explained, 1);
        if (cases[i].body != NULL)
            assert_string_equal(probe.body, cases[i].body);
        else
            assert_int_equal(strlen(probe.body), 4096);
        assert_int_equal(peer.connections, 2);
        assert_int_equal(strncmp(peer.request, "GET /x?y HTTP/1.1\r\n", 19), 0);
        assert_true(probe.last_closed.has_date);
        assert_in_range((int64_t)time(NULL) - 784111777 - probe.last_closed.skew, 0, 3);
    }
}

/* --- again and again on one loop: what one connection leaves behind does not touch the next --- */

static void many_in_a_row(void **state)
{
    (void)state;
    struct peer peer = {.script = "\4\x88\x02\x0f\xa0"};
    char url[64];
    peer_start_at(&peer, "127.0.0.1", upgrades_and_says);
    struct probe probe = probe_new();
    probe.redials = 200;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    peer_stop(&peer);
    assert_int_equal(probe.opened, 201);
    assert_int_equal(probe.closed, 201);
    assert_int_equal(probe.last_closed.code, 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_told_once),
        cmocka_unit_test(size_is_bounded),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(no_such_name),
        cmocka_unit_test(a_name_too_long_to_dial),
        cmocka_unit_test(the_next_address_is_tried),
        cmocka_unit_test(the_words_behind_a_refusal),
        cmocka_unit_test(many_in_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
