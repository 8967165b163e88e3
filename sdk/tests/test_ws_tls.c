/* test_ws_tls.c - wss://: who is believed and who is not, in which words, directly and through a proxy. The servers are
 * real TLS servers, their certificates are made here.
 */
#include "peer.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <sys/stat.h>
#include <time.h>

struct identity {
    EVP_PKEY *key;
    X509 *certificate;
};

static long serial = 1;

static void extend(X509 *certificate, X509 *issuer, int what, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, what, value);
    assert_non_null(extension);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

/* names: "DNS:localhost,IP:::1", or NULL for a CA. issuer NULL: signs itself. Valid from..to in seconds from now. */
static struct identity identify(const char *common, const char *names, const struct identity *issuer, long from,
                                long to)
{
    struct identity self = {EVP_EC_gen("P-256"), X509_new()};
    const struct identity *by = issuer != NULL ? issuer : &self;
    X509_set_version(self.certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(self.certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(self.certificate), from);
    X509_gmtime_adj(X509_getm_notAfter(self.certificate), to);
    X509_set_pubkey(self.certificate, self.key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(self.certificate), "CN", MBSTRING_ASC, (const void *)common, -1,
                               -1, 0);
    X509_set_issuer_name(self.certificate, X509_get_subject_name(by->certificate));
    extend(self.certificate, by->certificate, NID_basic_constraints, names == NULL ? "critical,CA:TRUE" : "CA:FALSE");
    if (names != NULL)
        extend(self.certificate, by->certificate, NID_subject_alt_name, names);
    assert_true(X509_sign(self.certificate, by->key, EVP_sha256()) > 0);
    return self;
}

static void discard(struct identity *identity)
{
    EVP_PKEY_free(identity->key);
    X509_free(identity->certificate);
}

static struct identity ca, stranger;
static char folder[] = "/tmp/jobs-tls-XXXXXX";
static char ca_file[64];

static void save(const char *path, X509 *certificate)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, certificate), 1);
    fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    ca = identify("test CA", NULL, NULL, -60, 3600);
    stranger = identify("another CA", NULL, NULL, -60, 3600);
    assert_non_null(mkdtemp(folder));
    snprintf(ca_file, sizeof(ca_file), "%s/ca.pem", folder);
    save(ca_file, ca.certificate);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    discard(&ca);
    discard(&stranger);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

/* --- a TLS server in front of what a raw one does --- */

struct tls_peer {
    struct peer peer; /* first */
    struct identity identity;
    SSL_CTX *context;
    void (*inner)(struct peer *peer, int fd);
    int inner_fd;
    char sni[256], alpn[32];
};

static void *run_inner(void *argument)
{
    struct tls_peer *self = argument;
    self->inner(&self->peer, self->inner_fd);
    shutdown(self->inner_fd, SHUT_RDWR);
    return NULL;
}

static void copy_both_ways(SSL *ssl, int fd, int inside)
{
    static char buffer[16384];
    int n;
    for (;;) {
        struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = inside, .events = POLLIN}};
        if (SSL_pending(ssl) == 0)
            poll(fds, 2, -1);
        if (SSL_pending(ssl) > 0 || fds[0].revents != 0) {
            if ((n = SSL_read(ssl, buffer, sizeof(buffer))) <= 0)
                return;
            peer_write(inside, buffer, (size_t)n);
        }
        if (fds[1].revents != 0) {
            if ((n = (int)recv(inside, buffer, sizeof(buffer), 0)) <= 0) {
                SSL_shutdown(ssl);
                return;
            }
            if (SSL_write(ssl, buffer, n) <= 0)
                return;
        }
    }
}

static void terminate_tls(struct peer *peer, int fd)
{
    struct tls_peer *self = (struct tls_peer *)peer;
    SSL *ssl = SSL_new(self->context);
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1) {
        int pair[2];
        pthread_t thread;
        const unsigned char *alpn = NULL;
        unsigned alpn_len = 0;
        const char *sni = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
        snprintf(self->sni, sizeof(self->sni), "%s", sni == NULL ? "" : sni);
        SSL_get0_alpn_selected(ssl, &alpn, &alpn_len);
        snprintf(self->alpn, sizeof(self->alpn), "%.*s", (int)alpn_len, (const char *)alpn);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        self->inner_fd = pair[1];
        pthread_create(&thread, NULL, run_inner, self);
        copy_both_ways(ssl, fd, pair[0]);
        shutdown(pair[0], SHUT_RDWR);
        pthread_join(thread, NULL);
        close(pair[0]);
        close(pair[1]);
    }
    SSL_free(ssl);
}

static int choose_alpn(SSL *ssl, const unsigned char **out, unsigned char *len, const unsigned char *in,
                       unsigned in_len, void *context)
{
    (void)ssl;
    (void)context;
    static const unsigned char preferred[] = "\x02h2\x08http/1.1";
    return SSL_select_next_proto((unsigned char **)(uintptr_t)out, len, preferred, sizeof(preferred) - 1, in, in_len) ==
                   OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

static void tls_start_at(struct tls_peer *self, const char *address, struct identity identity,
                         void (*inner)(struct peer *, int))
{
    *self = (struct tls_peer){.identity = identity, .inner = inner, .context = SSL_CTX_new(TLS_server_method())};
    assert_int_equal(SSL_CTX_use_certificate(self->context, identity.certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(self->context, identity.key), 1);
    SSL_CTX_set_alpn_select_cb(self->context, choose_alpn, NULL);
    peer_start_at(&self->peer, address, terminate_tls);
}

static void tls_stop(struct tls_peer *self)
{
    peer_stop(&self->peer);
    SSL_CTX_free(self->context);
    discard(&self->identity);
}

static void greet(struct peer *peer, int fd)
{
    if (peer_upgrade(peer, fd, ""))
        peer_say(fd, "hello");
    peer_until_gone(fd);
}

static struct probe dial(const char *host, unsigned port, const char *ca_of)
{
    char url[300];
    struct probe probe = probe_new();
    probe.enough = 1;
    snprintf(url, sizeof(url), "wss://%s:%u", host, port);
    probe_run(&probe, url, ca_of);
    return probe;
}

/* --- believed --- */

static void the_right_host_is_believed(void **state)
{
    (void)state;
    static const struct {
        const char *address, *host, *names, *sni;
    } cases[] = {
        {"127.0.0.1", "localhost", "DNS:localhost", "localhost"},
        {"127.0.0.1", "b.a.localhost", "DNS:*.a.localhost", "b.a.localhost"},
        {"127.0.0.1", "127.0.0.1", "IP:127.0.0.1", ""},
        {"::1", "[::1]", "IP:::1", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tls_peer server;
        unsigned port = 0;
        int fd = peer_listen(cases[i].address, &port);
        if (fd < 0)
            continue; /* no IPv6 on this machine */
        close(fd);
        tls_start_at(&server, cases[i].address, identify("x", cases[i].names, &ca, -60, 3600), greet);
        struct probe probe = dial(cases[i].host, server.peer.port, ca_file);
        if (probe.frames != 1)
            fail_msg("%s: %s", cases[i].host, probe.text);
        assert_string_equal(probe.frame, "hello");
        tls_stop(&server);
        assert_string_equal(server.sni, cases[i].sni);
        assert_string_equal(server.alpn, "http/1.1");
    }
}

static void the_systems_folder_is_looked_into(void **state)
{
    (void)state;
    struct tls_peer server;
    char path[128];
    snprintf(path, sizeof(path), "%s/%08lx.0", folder, X509_subject_name_hash(ca.certificate));
    save(path, ca.certificate);
    tls_start_at(&server, "127.0.0.1", identify("x", "DNS:localhost", &ca, -60, 3600), greet);
    struct probe probe = dial("localhost", server.peer.port, NULL);
    assert_int_equal(probe.last_closed.ending, JOBS__END_TLS);
    setenv("SSL_CERT_DIR", folder, 1);
    probe = dial("localhost", server.peer.port, NULL);
    unsetenv("SSL_CERT_DIR");
    tls_stop(&server);
    assert_string_equal(probe.frame, "hello");
}

/* --- not believed --- */

static void refusals_name_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *host, *names, *ca_of, *text;
        const struct identity *issuer;
        long from, to;
    } cases[] = {
        {"localhost", "DNS:other.example", ca_file, "another host name", &ca, -60, 3600},
        {"localhost", "DNS:*.localhost", ca_file, "another host name", &ca, -60, 3600},
        {"localhost", "DNS:localhost", ca_file, "expired", &ca, -3600, -60},
        {"localhost", "DNS:localhost", ca_file, "not valid yet", &ca, 3600, 7200},
        {"localhost", "DNS:localhost", ca_file, "self-signed", NULL, -60, 3600},
        {"localhost", "DNS:localhost", ca_file, "not known here", &stranger, -60, 3600},
        {"localhost", "DNS:localhost", NULL, "not known here", &ca, -60, 3600},
        {"127.0.0.1", "DNS:localhost", ca_file, "not for this address", &ca, -60, 3600},
        {"127.0.0.1", "DNS:127.0.0.1", ca_file, "not for this address", &ca, -60, 3600},
        {"127.0.0.1", "IP:127.0.0.2", ca_file, "not for this address", &ca, -60, 3600},
        {"localhost", "DNS:localhost", "/nonexistent/ca.pem", "CA file", &ca, -60, 3600},
        {"localhost", "DNS:localhost", "/dev/null", "CA file", &ca, -60, 3600},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tls_peer server;
        tls_start_at(&server, "127.0.0.1",
                     identify("localhost", cases[i].names, cases[i].issuer, cases[i].from, cases[i].to), greet);
        struct probe probe = dial(cases[i].host, server.peer.port, cases[i].ca_of);
        tls_stop(&server);
        if (probe.closed != 1 || probe.opened != 0 || probe.last_closed.ending != JOBS__END_TLS ||
            strstr(probe.text, cases[i].text) == NULL)
            fail_msg("%zu: opened %u, closed %u as %d: %s", i, probe.opened, probe.closed, probe.last_closed.ending,
                     probe.text);
    }
}

/* libwebsockets' own client skips the name check for this host. */
static void ip6_loopback_is_checked_too(void **state)
{
    (void)state;
    struct tls_peer server;
    unsigned port = 0;
    int fd = peer_listen("::1", &port);
    if (fd < 0)
        skip();
    close(fd);
    tls_start_at(&server, "::1", identify("x", "DNS:other.example,IP:::2", &ca, -60, 3600), greet);
    struct probe probe = dial("[::1]", server.peer.port, ca_file);
    tls_stop(&server);
    assert_int_equal(probe.opened, 0);
    assert_int_equal(probe.last_closed.ending, JOBS__END_TLS);
    assert_non_null(strstr(probe.text, "not for this address"));
}

/* libwebsockets' own client trusts whatever lies in ../share of the working directory. */
static void a_planted_ca_is_not_believed(void **state)
{
    (void)state;
    struct tls_peer server;
    char path[128], before[4096];
    assert_non_null(getcwd(before, sizeof(before)));
    snprintf(path, sizeof(path), "%s/share", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/share/%08lx.0", folder, X509_subject_name_hash(stranger.certificate));
    save(path, stranger.certificate);
    snprintf(path, sizeof(path), "%s/work", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chdir(path), 0);
    tls_start_at(&server, "127.0.0.1", identify("x", "DNS:localhost", &stranger, -60, 3600), greet);
    struct probe with_system = dial("localhost", server.peer.port, NULL);
    struct probe with_file = dial("localhost", server.peer.port, ca_file);
    tls_stop(&server);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(with_system.last_closed.ending, JOBS__END_TLS);
    assert_int_equal(with_file.last_closed.ending, JOBS__END_TLS);
    assert_int_equal(with_system.opened + with_file.opened, 0);
}

/* --- other faults --- */

static void an_old_tls_is_named(void **state)
{
    (void)state;
    struct tls_peer server;
    tls_start_at(&server, "127.0.0.1", identify("x", "DNS:localhost", &ca, -60, 3600), greet);
    SSL_CTX_set_security_level(server.context, 0);
    SSL_CTX_set_cipher_list(server.context, "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(server.context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(server.context, TLS1_1_VERSION);
    struct probe probe = dial("localhost", server.peer.port, ca_file);
    tls_stop(&server);
    assert_int_equal(probe.last_closed.ending, JOBS__END_TLS);
    assert_non_null(strstr(probe.text, "TLS 1.2"));
}

static void speaks_plainly(struct peer *peer, int fd)
{
    (void)peer;
    peer_text(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
    peer_until_gone(fd);
}

static void silent(struct peer *peer, int fd)
{
    (void)peer;
    peer_until_gone(fd);
}

static void leaves(struct peer *peer, int fd)
{
    char byte;
    (void)peer;
    recv(fd, &byte, 1, 0);
}

static void no_tls_there(void **state)
{
    (void)state;
    struct peer server;
    peer_start(&server, speaks_plainly);
    struct probe probe = dial("localhost", server.port, ca_file);
    peer_stop(&server);
    assert_int_equal(probe.last_closed.ending, JOBS__END_TLS);
    assert_non_null(strstr(probe.text, "does not speak TLS"));

    peer_start(&server, leaves);
    probe = dial("localhost", server.port, ca_file);
    peer_stop(&server);
    assert_int_equal(probe.last_closed.ending, JOBS__END_NO_CONNECT);

    char url[64];
    peer_start(&server, silent);
    snprintf(url, sizeof(url), "wss://127.0.0.1:%u", server.port);
    probe = probe_new();
    probe.connect_ms = 300;
    probe_run(&probe, url, ca_file);
    peer_stop(&server);
    assert_int_equal(probe.closed, 1);
    assert_int_equal(probe.last_closed.ending, JOBS__END_NO_CONNECT);
    assert_non_null(strstr(probe.text, "TLS handshake"));
    assert_in_range(probe.closed_at - probe.start, 300, 650);
}

static void refuses(struct peer *peer, int fd)
{
    if (peer_read_request(peer, fd))
        peer_text(fd, strstr(peer->request, "Upgrade: ") != NULL
                          ? "HTTP/1.1 503 x\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n"
                          : "HTTP/1.1 503 x\r\nContent-Length: 9\r\n\r\nwait here");
    peer_until_gone(fd);
}

static void http_over_tls(void **state)
{
    (void)state;
    struct tls_peer server;
    char url[64];
    struct probe probe = probe_new();
    tls_start_at(&server, "127.0.0.1", identify("x", "DNS:localhost", &ca, -60, 3600), refuses);
    snprintf(url, sizeof(url), "wss://localhost:%u", server.peer.port);
    probe.explain = true;
    probe_run(&probe, url, ca_file);
    tls_stop(&server);
    assert_int_equal(probe.last_closed.ending, JOBS__END_HTTP);
    assert_int_equal(probe.last_closed.status, 503);
    assert_int_equal(probe.last_closed.retry_after, 3);
    assert_string_equal(probe.body, "wait here");
}

static void echo(struct peer *peer, int fd)
{
    char *text;
    size_t len;
    if (!peer_upgrade(peer, fd, ""))
        return;
    while (peer_read_frame(fd, &text, &len) == 0x81) {
        peer_frame(fd, 0x81, text, len);
        free(text);
    }
    free(text);
}

static void large_frames_over_tls(void **state)
{
    (void)state;
    struct tls_peer server;
    char url[64], *big = malloc(1048577);
    memset(big, 'x', 1048576);
    big[1048576] = '\0';
    const char *const sends[] = {"a", big, NULL};
    struct probe probe = probe_new();
    tls_start_at(&server, "127.0.0.1", identify("x", "DNS:localhost", &ca, -60, 3600), echo);
    snprintf(url, sizeof(url), "wss://localhost:%u", server.peer.port);
    probe.sends = sends;
    probe.enough = 2;
    probe_run(&probe, url, ca_file);
    tls_stop(&server);
    if (probe.closed != 0)
        fail_msg("%s", probe.text);
    assert_int_equal(probe.bytes, 1048576 + 1);
    assert_int_equal(probe.frame_len, 1048576);
    free(big);
}

/* --- proxies --- */

struct proxy {
    struct peer peer; /* first */
    const char *answer;
    unsigned to;
};

static void tunnel(struct peer *peer, int fd)
{
    struct proxy *self = (struct proxy *)peer;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)self->to)};
    inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
    if (!peer_read_request(peer, fd))
        return;
    if (self->answer == NULL) {
        peer_until_gone(fd);
        return;
    }
    int onwards = socket(AF_INET, SOCK_STREAM, 0);
    bool connected = connect(onwards, (struct sockaddr *)&at, sizeof(at)) == 0;
    peer_text(fd, self->answer);
    char buffer[16384];
    while (connected) {
        struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = onwards, .events = POLLIN}};
        poll(fds, 2, -1);
        int from = fds[0].revents != 0 ? fd : onwards;
        ssize_t n = recv(from, buffer, sizeof(buffer), 0);
        if (n <= 0)
            break;
        peer_write(from == fd ? onwards : fd, buffer, (size_t)n);
    }
    close(onwards);
}

static void through_a_proxy(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *scheme, *before, *authorization;
    } cases[] = {
        {"http_proxy", "ws", "http://127.0.0.1", NULL},
        {"HTTP_PROXY", "ws", "localhost", NULL},
        {"https_proxy", "wss", "http://us%65r:p%40ss@127.0.0.1", "dXNlcjpwQHNz"},
        {"HTTPS_PROXY", "wss", "http://localhost", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool secure = strcmp(cases[i].scheme, "wss") == 0;
        struct tls_peer server;
        struct peer plain;
        struct proxy proxy = {.answer = "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n"};
        char value[64], url[64], line[128];
        if (secure)
            tls_start_at(&server, "127.0.0.1", identify("x", "DNS:relay.test", &ca, -60, 3600), greet);
        else
            peer_start(&plain, greet);
        proxy.to = secure ? server.peer.port : plain.port;
        peer_start_at(&proxy.peer, "127.0.0.1", tunnel);
        snprintf(value, sizeof(value), "%s:%u/", cases[i].before, proxy.peer.port);
        setenv(cases[i].variable, value, 1);
        snprintf(url, sizeof(url), "%s://relay.test:7777/p", cases[i].scheme);
        struct probe probe = probe_new();
        probe.enough = 1;
        probe_run(&probe, url, ca_file);
        unsetenv(cases[i].variable);
        peer_stop(&proxy.peer);
        if (secure)
            tls_stop(&server);
        else
            peer_stop(&plain);
        if (probe.closed != 0)
            fail_msg("%s: %s", cases[i].variable, probe.text);
        assert_string_equal(probe.frame, "hello");
        assert_int_equal(strncmp(proxy.peer.request, "CONNECT relay.test:7777 HTTP/1.1\r\n", 34), 0);
        assert_non_null(strstr(secure ? server.peer.request : plain.request, "\r\nHost: relay.test:7777\r\n"));
        if (secure)
            assert_string_equal(server.sni, "relay.test");
        if (cases[i].authorization != NULL) {
            snprintf(line, sizeof(line), "basic %s\r\n", cases[i].authorization);
            assert_non_null(strstr(proxy.peer.request, line));
        } else {
            assert_null(strcasestr(proxy.peer.request, "authorization"));
        }
    }
}

static void a_proxy_that_does_not(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *text;
    } cases[] = {
        {"HTTP/1.1 403 Forbidden\r\n\r\n", "proxy"},
        {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "proxy"},
        {"SOCKS?\r\n", "proxy"},
        {"", "proxy"},
        {NULL, "proxy did not answer"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct proxy proxy = {.answer = cases[i].answer, .to = 1};
        char value[64];
        peer_start_at(&proxy.peer, "127.0.0.1", tunnel);
        snprintf(value, sizeof(value), "http://bob:hunter2@127.0.0.1:%u", proxy.peer.port);
        setenv("https_proxy", value, 1);
        struct probe probe = probe_new();
        probe.connect_ms = 300;
        probe_run(&probe, "wss://relay.test", ca_file);
        unsetenv("https_proxy");
        peer_stop(&proxy.peer);
        assert_int_equal(probe.closed, 1);
        assert_int_equal(probe.last_closed.ending, JOBS__END_NO_CONNECT);
        assert_null(strstr(probe.text, "hunter2"));
        if (strstr(probe.text, cases[i].text) == NULL)
            fail_msg("%zu: %s", i, probe.text);
    }
    setenv("https_proxy", "socks5://bob:hunter2@127.0.0.1:1", 1);
    struct probe probe = probe_new();
    probe_run(&probe, "wss://relay.test", ca_file);
    unsetenv("https_proxy");
    assert_int_equal(probe.closed, 1);
    assert_non_null(strstr(probe.text, "https_proxy"));
    assert_null(strstr(probe.text, "hunter2"));
}

static void never_for_loopback_or_exceptions(void **state)
{
    (void)state;
    struct peer plain;
    char url[64];
    peer_start(&plain, greet);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    struct probe probe = probe_new();
    probe.enough = 1;
    probe_run(&probe, peer_url(url, &plain, ""), NULL);
    assert_string_equal(probe.frame, "hello");
    setenv("no_proxy", ".invalid", 1);
    probe = probe_new();
    probe_run(&probe, "ws://nonexistent.invalid", NULL);
    unsetenv("no_proxy");
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    peer_stop(&plain);
    assert_int_equal(probe.last_closed.ending, JOBS__END_NO_ADDRESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_host_is_believed),
        cmocka_unit_test(the_systems_folder_is_looked_into),
        cmocka_unit_test(refusals_name_what_is_wrong),
        cmocka_unit_test(ip6_loopback_is_checked_too),
        cmocka_unit_test(a_planted_ca_is_not_believed),
        cmocka_unit_test(an_old_tls_is_named),
        cmocka_unit_test(no_tls_there),
        cmocka_unit_test(http_over_tls),
        cmocka_unit_test(large_frames_over_tls),
        cmocka_unit_test(through_a_proxy),
        cmocka_unit_test(a_proxy_that_does_not),
        cmocka_unit_test(never_for_loopback_or_exceptions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
