/* test_ws_talk.c - what a good relay and a slow one get and give: the upgrade's request, frames both ways, deadlines,
 * several relays, the stop flag.
 */
#include "peer.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

static void echo(struct peer *peer, int fd)
{
    char *text;
    size_t len;
    if (!peer_upgrade(peer, fd, "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
        return;
    for (int first = 0; first >= 0;) {
        first = peer_read_frame(fd, &text, &len);
        if (first == 0x81 && len > 100000) {
            char size[32];
            snprintf(size, sizeof(size), "%zu %d", len, text[0] == 'x' && text[len - 1] == 'x');
            peer_say(fd, size);
        } else if (first == 0x81) {
            peer_frame(fd, 0x81, text, len);
        } else if (first == 0x88) {
            peer_frame(fd, 0x88, text, len);
        }
        free(text);
    }
}

static void sends_and_receives(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    peer_start(&peer, echo);
    struct probe probe = probe_new();
    const char *const sends[] = {"", "one", "[\"zwei\",\"\xc3\xa4\"]", NULL};
    probe.sends = sends;
    probe.enough = 3;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    peer_stop(&peer);
    assert_int_equal(probe.opened, 1);
    assert_int_equal(probe.closed, 0);
    assert_int_equal(probe.frames, 3);
    assert_string_equal(probe.frame, sends[2]);
    assert_string_equal(sends[1], "one"); /* masking happens elsewhere */
    assert_true(probe.last_opened.has_date);
    assert_in_range((int64_t)time(NULL) - 784111777 - probe.last_opened.skew, 0, 2);
}

static void asks_as_it_should(void **state)
{
    (void)state;
    struct peer peer;
    char url[64], host[64];
    const char *const sends[] = {"x", NULL};
    peer_start(&peer, echo);
    struct probe probe = probe_new();
    probe.sends = sends;
    probe.enough = 1;
    probe_run(&probe, peer_url(url, &peer, "/path/?q=%20a"), NULL);
    peer_stop(&peer);
    snprintf(host, sizeof(host), "\r\nHost: 127.0.0.1:%u\r\n", peer.port);
    assert_int_equal(strncmp(peer.request, "GET /path/?q=%20a HTTP/1.1\r\n", 28), 0);
    assert_non_null(strstr(peer.request, host));
    assert_non_null(strcasestr(peer.request, "\r\nSec-WebSocket-Version: 13\r\n"));
    assert_non_null(strcasestr(peer.request, "\r\nUser-Agent: jobs/"));
    assert_null(strcasestr(peer.request, "Sec-WebSocket-Protocol"));
    assert_null(strcasestr(peer.request, "Sec-WebSocket-Extensions"));
    assert_null(strcasestr(peer.request, "Origin:"));
}

static void large_frames(void **state)
{
    (void)state;
    static const size_t sizes[] = {65535, 65536, 262144, 1048576, 3000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct peer peer;
        char url[64], *big = malloc(sizes[i]), expected[32];
        memset(big, 'x', sizes[i]);
        peer_start(&peer, echo);
        struct probe probe = probe_new();
        probe.big = big;
        probe.big_len = sizes[i];
        probe.enough = 1;
        probe_run(&probe, peer_url(url, &peer, ""), NULL);
        peer_stop(&peer);
        snprintf(expected, sizeof(expected), "%zu 1", sizes[i]);
        if (sizes[i] > 100000)
            assert_string_equal(probe.frame, expected);
        assert_int_equal(probe.frames, 1);
        assert_int_equal(big[0], 'x');
        free(big);
    }
}

/* Every way a text may be cut into frames and segments. */
static void in_pieces(struct peer *peer, int fd)
{
    if (!peer_upgrade(peer, fd, ""))
        return;
    static const char text[] = "[\"NOTICE\",\"\xe2\x82\xac\"]";
    peer_frame(fd, 0x01, "", 0);
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        peer_frame(fd, 0x00, text + i, 1);
        peer_frame(fd, 0x89, "ping", 4);
    }
    peer_frame(fd, 0x80, "", 0);
    unsigned char header[10];
    size_t len = peer_frame_header(header, 0x81, sizeof(text) - 1);
    for (size_t i = 0; i < len; i++)
        peer_write(fd, header + i, 1);
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        peer_write(fd, text + i, 1);
    char *large = malloc(1024 * 1024);
    memset(large, 'y', 1024 * 1024);
    peer_frame(fd, 0x81, large, 1024 * 1024);
    peer_frame(fd, 0x01, large, 1024 * 1024 - 7);
    peer_frame(fd, 0x80, large, 7);
    free(large);
    peer_until_gone(fd);
}

static void assembles_fragments(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    peer_start(&peer, in_pieces);
    struct probe probe = probe_new();
    probe.enough = 4;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    peer_stop(&peer);
    assert_int_equal(probe.closed, 0);
    assert_int_equal(probe.frames, 4);
    assert_int_equal(probe.frame_len, 1024 * 1024);
    assert_int_equal(probe.bytes, 2 * 16 + 2 * 1024 * 1024);
}

/* Upgrade and first frame in one segment, as relays that send AUTH on connect do. */
static void at_once(struct peer *peer, int fd)
{
    char answer[1024];
    if (!peer_read_request(peer, fd))
        return;
    peer_upgrade_answer(peer->request, "", answer, sizeof(answer) - 20);
    strcat(answer, "\x81\x05hello");
    peer_text(fd, answer);
    peer_until_gone(fd);
}

static void reads_what_comes_with_the_upgrade(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    peer_start(&peer, at_once);
    struct probe probe = probe_new();
    probe.enough = 1;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    peer_stop(&peer);
    assert_string_equal(probe.frame, "hello");
}

static void silent(struct peer *peer, int fd)
{
    (void)peer;
    peer_until_gone(fd);
}

static void silent_after_upgrade(struct peer *peer, int fd)
{
    if (peer_upgrade(peer, fd, ""))
        peer_until_gone(fd);
}

static void good_is_not_held_up_by_silent(void **state)
{
    (void)state;
    struct peer good, bad;
    char good_url[64], bad_url[64];
    const char *const sends[] = {"x", NULL};
    peer_start(&good, echo);
    peer_start(&bad, silent);
    struct probe probes[2] = {probe_new(), probe_new()};
    probes[0].connect_ms = 400;
    probes[1].sends = sends;
    probes[1].enough = 1;
    struct jobs__line lines[] = {{&probes[0].engine, peer_url(bad_url, &bad, "")},
                                 {&probes[1].engine, peer_url(good_url, &good, "")}};
    struct jobs__loop_options options = {0};
    assert_int_equal(jobs__loop_run(lines, 2, &options, NULL), JOBS_OK);
    peer_stop(&good);
    peer_stop(&bad);
    assert_true(probes[1].done_at < probes[0].closed_at);
    assert_int_equal(probes[0].closed, 1);
    assert_int_equal(probes[0].last_closed.ending, JOBS__END_NO_CONNECT);
    assert_non_null(strstr(probes[0].text, "upgrade"));
    assert_in_range(probes[0].closed_at - probes[0].start, 400, 700);
}

static void waits_end_on_time(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    peer_start(&peer, silent_after_upgrade);
    struct probe probe = probe_new();
    probe.life_ms = 300;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    int64_t left = jobs__loop_now();
    peer_stop(&peer);
    assert_int_equal(probe.opened, 1);
    assert_int_equal(probe.closed, 0);
    assert_in_range(probe.done_at - probe.start, 300, 600);
    assert_in_range(left - probe.start, 300, 650);
}

static volatile sig_atomic_t stop;

static void on_alarm(int number)
{
    stop = number;
}

static void a_signal_stops_at_once(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    peer_start(&peer, silent_after_upgrade);
    struct probe probe = probe_new();
    struct jobs__line line = {&probe.engine, peer_url(url, &peer, "")};
    struct jobs__loop_options options = {.stop = &stop};
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {.it_value = {.tv_usec = 150000}};
    sigaction(SIGALRM, &action, NULL);
    stop = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    assert_int_equal(jobs__loop_run(&line, 1, &options, NULL), JOBS_OK);
    assert_in_range(jobs__loop_now() - probe.start, 149, 500);
    peer_stop(&peer);
}

static void keeps_the_process_as_it_was(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    struct sigaction before = {.sa_handler = SIG_DFL}, after;
    sigset_t mask_before, mask_after;
    sigaction(SIGPIPE, &before, NULL);
    sigprocmask(SIG_SETMASK, NULL, &mask_before);
    peer_start(&peer, echo);
    struct probe probe = probe_new();
    const char *const sends[] = {"x", NULL};
    probe.sends = sends;
    probe.enough = 1;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    peer_stop(&peer);
    sigaction(SIGPIPE, NULL, &after);
    sigprocmask(SIG_SETMASK, NULL, &mask_after);
    assert_ptr_equal(after.sa_handler, SIG_DFL);
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&mask_before, i), sigismember(&mask_after, i));
}

static bool count_turn(void *context, int64_t now)
{
    (void)now;
    return ++*(unsigned *)context < 4;
}

static void turn_ticks_and_may_end_it(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    unsigned turns = 0;
    peer_start(&peer, silent);
    struct probe probe = probe_new();
    struct jobs__line line = {&probe.engine, peer_url(url, &peer, "")};
    struct jobs__loop_options options = {.turn = count_turn, .context = &turns};
    assert_int_equal(jobs__loop_run(&line, 1, &options, NULL), JOBS_OK);
    peer_stop(&peer);
    assert_int_equal(turns, 4);
    assert_in_range(jobs__loop_now() - probe.start, 50, 900);
}

static void count_words(void *context, const struct jobs_progress *progress)
{
    unsigned *words = context;
    words[strcmp(progress->doing, "connecting") == 0 ? 0 : 1]++;
}

static void progress_is_told(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    unsigned words[2] = {0};
    peer_start(&peer, silent_after_upgrade);
    struct probe probe = probe_new();
    probe.life_ms = 450;
    struct jobs__line line = {&probe.engine, peer_url(url, &peer, "")};
    struct jobs__loop_options options = {.progress = count_words, .progress_context = words};
    assert_int_equal(jobs__loop_run(&line, 1, &options, NULL), JOBS_OK);
    peer_stop(&peer);
    assert_in_range(words[0] + words[1], 2, 6);
    assert_in_range(words[1], 1, 6);
}

/* An engine that stays undecided: its owner is asked, and the loop does not spin meanwhile. */
struct undecided {
    struct probe probe; /* first */
    unsigned asked, decided;
};

static struct jobs__step undecided_next(struct jobs__engine *engine, int64_t now)
{
    struct undecided *self = (struct undecided *)engine;
    int64_t until = self->probe.start + 350;
    self->asked++;
    return (struct jobs__step){.want = now >= until ? JOBS__WANT_DONE : JOBS__WANT_DECIDE, .at = until};
}

static void count_decision(void *context, size_t line)
{
    assert_int_equal(line, 0);
    ((struct undecided *)context)->decided++;
}

static void undecided_is_not_busy(void **state)
{
    (void)state;
    struct jobs__engine_ops ops = probe_ops;
    ops.next = undecided_next;
    struct undecided self = {.probe = probe_new()};
    self.probe.engine.ops = &ops;
    struct jobs__line line = {&self.probe.engine, "ws://127.0.0.1:1"};
    struct jobs__loop_options options = {.decide = count_decision, .context = &self};
    assert_int_equal(jobs__loop_run(&line, 1, &options, NULL), JOBS_OK);
    assert_in_range(jobs__loop_now() - self.probe.start, 350, 700);
    assert_in_range(self.decided, 1, 10);
    assert_in_range(self.asked, 2, 30);
}

/* Two answers are in the kernel's buffer before the process goes on after its deadline. */
static void answers_late(struct peer *peer, int fd)
{
    static char large[60000];
    if (!peer_upgrade(peer, fd, ""))
        return;
    char *text;
    size_t len;
    peer_read_frame(fd, &text, &len);
    free(text);
    memset(large, 'z', sizeof(large));
    peer_frame(fd, 0x81, large, sizeof(large));
    peer_say(fd, "in time");
    peer_until_gone(fd);
}

static bool stall(void *context, int64_t now)
{
    const struct probe *probe = context;
    if (probe->sent > 0 && now < probe->start + probe->life_ms) { /* as SIGSTOP would */
        struct timespec rest = {.tv_nsec = 500000000};
        nanosleep(&rest, NULL);
    }
    return true;
}

static void reads_before_it_judges(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    const char *const sends[] = {"x", NULL};
    peer_start(&peer, answers_late);
    struct probe probe = probe_new();
    probe.sends = sends;
    probe.life_ms = 300;
    struct jobs__line line = {&probe.engine, peer_url(url, &peer, "")};
    struct jobs__loop_options options = {.turn = stall, .context = &probe};
    assert_int_equal(jobs__loop_run(&line, 1, &options, NULL), JOBS_OK);
    peer_stop(&peer);
    assert_int_equal(probe.frames, 2);
    assert_string_equal(probe.frame, "in time");
}

/* A relay that reads nothing cannot stop the clock, and one that never ends its pings cannot keep a frame back. */
static void never_reads(struct peer *peer, int fd)
{
    int small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    if (!peer_upgrade(peer, fd, ""))
        return;
    struct pollfd gone = {.fd = fd, .events = POLLRDHUP};
    poll(&gone, 1, 3000);
}

static void unread_frames_do_not_stop_the_clock(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    size_t len = 4000000;
    char *big = malloc(len);
    memset(big, 'x', len);
    const char *const sends[] = {big, big, big, NULL};
    big[len - 1] = '\0';
    peer_start(&peer, never_reads);
    struct probe probe = probe_new();
    probe.sends = sends;
    probe.life_ms = 400;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    assert_in_range(jobs__loop_now() - probe.start, 400, 700);
    assert_int_equal(probe.closed, 0);
    assert_true(probe.sent < 3);
    peer_stop(&peer);
    free(big);
}

static void pings_without_end(struct peer *peer, int fd)
{
    if (!peer_upgrade(peer, fd, ""))
        return;
    char burst[4096], seen[4096];
    for (size_t i = 0; i < sizeof(burst); i += 2)
        memcpy(burst + i, "\x89\x00", 2);
    bool answered = false;
    for (;;) {
        ssize_t n = recv(fd, seen, sizeof(seen), MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return;
        if (!answered && n > 0 && memchr(seen, 0x81, (size_t)n) != NULL) {
            answered = true;
            peer_say(fd, "got it");
        }
        if (send(fd, burst, sizeof(burst), MSG_NOSIGNAL) < 0)
            return;
    }
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void a_flood_of_pings_costs_nothing(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    const char *const sends[] = {"x", NULL};
    peer_start(&peer, pings_without_end);
    struct probe probe = probe_new();
    probe.sends = sends;
    probe.enough = 1;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    assert_string_equal(probe.frame, "got it");
    long before = peak_kib();
    probe = probe_new();
    probe.life_ms = 500;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    assert_in_range(jobs__loop_now() - probe.start, 500, 800);
    assert_true(peak_kib() - before < 4096);
    peer_stop(&peer);
}

static void frames_without_end(struct peer *peer, int fd)
{
    if (!peer_upgrade(peer, fd, ""))
        return;
    char burst[60000];
    for (size_t i = 0; i < sizeof(burst); i += 3)
        memcpy(burst + i, "\x81\x01x", 3);
    while (send(fd, burst, sizeof(burst), MSG_NOSIGNAL) > 0)
        ;
}

static void a_flood_of_frames_keeps_the_deadline(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    peer_start(&peer, frames_without_end);
    struct probe probe = probe_new();
    probe.life_ms = 300;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    assert_in_range(jobs__loop_now() - probe.start, 300, 650);
    assert_true(probe.frames > 100);
    peer_stop(&peer);
}

static void a_slow_upgrade_is_waited_for(struct peer *peer, int fd)
{
    char answer[1024];
    if (!peer_read_request(peer, fd))
        return;
    peer_upgrade_answer(peer->request, "", answer, sizeof(answer));
    for (size_t i = 0; answer[i] != '\0'; i++)
        peer_write(fd, answer + i, 1);
    peer_say(fd, "here");
    peer_until_gone(fd);
}

static void an_upgrade_byte_by_byte(void **state)
{
    (void)state;
    struct peer peer;
    char url[64];
    peer_start(&peer, a_slow_upgrade_is_waited_for);
    struct probe probe = probe_new();
    probe.enough = 1;
    probe_run(&probe, peer_url(url, &peer, ""), NULL);
    peer_stop(&peer);
    assert_string_equal(probe.frame, "here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_and_receives),
        cmocka_unit_test(asks_as_it_should),
        cmocka_unit_test(large_frames),
        cmocka_unit_test(assembles_fragments),
        cmocka_unit_test(reads_what_comes_with_the_upgrade),
        cmocka_unit_test(good_is_not_held_up_by_silent),
        cmocka_unit_test(waits_end_on_time),
        cmocka_unit_test(a_signal_stops_at_once),
        cmocka_unit_test(keeps_the_process_as_it_was),
        cmocka_unit_test(turn_ticks_and_may_end_it),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(undecided_is_not_busy),
        cmocka_unit_test(reads_before_it_judges),
        cmocka_unit_test(unread_frames_do_not_stop_the_clock),
        cmocka_unit_test(a_flood_of_pings_costs_nothing),
        cmocka_unit_test(a_flood_of_frames_keeps_the_deadline),
        cmocka_unit_test(an_upgrade_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
