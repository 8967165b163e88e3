/* test_proxy.c - which proxy is taken for which relay, and which hosts need neither proxy nor name server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk/proxy.h"
#include "sdk/resolve.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void exceptions(void **state)
{
    (void)state;
    static const struct {
        const char *list, *host;
        unsigned port;
        bool excepted;
    } cases[] = {
        {"", "relay.example", 443, false},
        {"*", "relay.example", 443, true},
        {"a,*", "10.0.0.1", 443, true},
        {"relay.example", "relay.example", 443, true},
        {"RELAY.Example", "relay.example", 443, true},
        {"example", "relay.example", 443, true},
        {".example", "relay.example", 443, true},
        {"*.example", "relay.example", 443, true},
        {".example", "example", 443, true},
        {"example.", "relay.example", 443, true},
        {"ample", "relay.example", 443, false},
        {"elay.example", "relay.example", 443, false},
        {"other, relay.example", "relay.example", 443, true},
        {"other relay.example", "relay.example", 443, true},
        {" ,, relay.example ,", "relay.example", 443, true},
        {"x.relay.example", "relay.example", 443, false},
        {"relay.example:443", "relay.example", 443, true},
        {"relay.example:444", "relay.example", 443, false},
        {"*:444", "relay.example", 443, false},
        {"10.1.2.3", "10.1.2.3", 80, true},
        {"10.1.2.3:80", "10.1.2.3", 80, true},
        {"10.1.2.3:81", "10.1.2.3", 80, false},
        {"1.2.3", "10.1.2.3", 80, false},
        {".3", "10.1.2.3", 80, false},
        {"10.0.0.0/8", "10.1.2.3", 80, true},
        {"10.0.0.0/8", "11.1.2.3", 80, false},
        {"10.1.2.0/23", "10.1.3.3", 80, true},
        {"10.1.2.0/23", "10.1.4.3", 80, false},
        {"0.0.0.0/0", "10.1.4.3", 80, true},
        {"0.0.0.0/0", "2001:db8::1", 80, false},
        {"10.0.0.0/33", "10.0.0.0", 80, false},
        {"10.0.0.0/", "10.0.0.0", 80, false},
        {"10.0.0.0/x", "10.0.0.0", 80, false},
        {"2001:db8::1", "2001:db8::1", 80, true},
        {"2001:DB8:0::1", "2001:db8::1", 80, true},
        {"[2001:db8::1]", "2001:db8::1", 80, true},
        {"[2001:db8::1]:80", "2001:db8::1", 80, true},
        {"[2001:db8::1]:81", "2001:db8::1", 80, false},
        {"2001:db8::/32", "2001:db8:1::1", 80, true},
        {"2001:db8::/32", "2001:db9::1", 80, false},
        {"::ffff:10.0.0.1", "10.0.0.1", 80, true},
        {":", "relay.example", 80, false},
        {".", "relay.example", 80, false},
        {"*.", "relay.example", 80, false},
        {"[", "relay.example", 80, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (jobs__proxy_excepts(cases[i].list, cases[i].host, cases[i].port) != cases[i].excepted)
            fail_msg("\"%s\" on %s:%u", cases[i].list, cases[i].host, cases[i].port);
    }
}

static void loopback(void **state)
{
    (void)state;
    static const char *const yes[] = {"localhost", "LocalHost", "a.localhost", "localhost.",
                                      "127.0.0.1", "127.9.9.9", "::1",         "::ffff:127.0.0.1"};
    static const char *const no[] = {"localhost.example", "xlocalhost",  "128.0.0.1", "::2",
                                     "0.0.0.0",           "127.example", ""};
    struct jobs__addresses addresses;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        assert_true(jobs__proxy_is_loopback(yes[i]));
        assert_true(jobs__resolve_at_once(&addresses, yes[i]));
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        assert_false(jobs__proxy_is_loopback(no[i]));
    assert_true(jobs__resolve_at_once(&addresses, "localhost"));
    assert_int_equal(addresses.count, 2);
    assert_string_equal(addresses.text[0], "::1");
    assert_string_equal(addresses.text[1], "127.0.0.1");
    assert_true(jobs__resolve_at_once(&addresses, "192.0.2.1"));
    assert_int_equal(addresses.count, 1);
    assert_false(jobs__resolve_at_once(&addresses, "relay.example"));
    assert_int_equal(addresses.count, 0);
}

static void what_the_variable_says(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *credentials;
        unsigned port; /* 0: refused */
    } cases[] = {
        {"http://proxy.example:3128", "proxy.example", "", 3128},
        {"HTTP://Proxy.example:3128/", "proxy.example", "", 3128},
        {"proxy.example:3128", "proxy.example", "", 3128},
        {"proxy.example", "proxy.example", "", 80},
        {"http://u:p@proxy.example:1", "proxy.example", "u:p", 1},
        {"http://u@proxy.example:1", "proxy.example", "u:", 1},
        {"http://u:p%40%3Aq@proxy.example:1", "proxy.example", "u:p@:q", 1},
        {"http://u:p@q@proxy.example:1", "proxy.example", "u:p@q", 1},
        {"[2001:db8::1]:3128", "2001:db8::1", "", 3128},
        {"https://proxy.example:3128", NULL, NULL, 0},
        {"socks5://proxy.example:3128", NULL, NULL, 0},
        {"http://", NULL, NULL, 0},
        {"http://:3128", NULL, NULL, 0},
        {"http://proxy.example:0", NULL, NULL, 0},
        {"http://proxy.example:x", NULL, NULL, 0},
        {"http://u%00:p@proxy.example:1", NULL, NULL, 0},
        {"http://pro xy", NULL, NULL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jobs__proxy proxy;
        const char *wrong = jobs__proxy_parse(&proxy, cases[i].text);
        if (cases[i].port == 0) {
            if (wrong == NULL)
                fail_msg("taken: %s", cases[i].text);
            continue;
        }
        assert_null(wrong);
        assert_true(proxy.used);
        assert_string_equal(proxy.host, cases[i].host);
        assert_string_equal(proxy.credentials, cases[i].credentials);
        assert_int_equal(proxy.port, cases[i].port);
    }
    char text[200] = "http://";
    struct jobs__proxy proxy;
    memset(text + 7, 'u', 94);
    strcpy(text + 101, "@proxy.example");
    assert_non_null(jobs__proxy_parse(&proxy, text));
}

static struct jobs__proxy chosen(const char *url)
{
    struct jobs__url parts;
    struct jobs__proxy proxy;
    assert_int_equal(jobs__url_parse(&parts, url, NULL), JOBS_OK);
    assert_null(jobs__proxy_choose(&proxy, &parts));
    return proxy;
}

static void chosen_by_scheme(void **state)
{
    (void)state;
    assert_false(chosen("wss://relay.example").used);
    setenv("HTTPS_PROXY", "upper.example:1", 1);
    setenv("http_proxy", "plain.example:2", 1);
    assert_string_equal(chosen("wss://relay.example").host, "upper.example");
    assert_string_equal(chosen("ws://relay.example").host, "plain.example");
    setenv("https_proxy", "lower.example:1", 1);
    assert_string_equal(chosen("wss://relay.example").host, "lower.example");
    assert_false(chosen("wss://localhost:1").used);
    assert_false(chosen("ws://127.0.0.1:1").used);
    assert_false(chosen("ws://[::1]:1").used);
    setenv("NO_PROXY", "relay.example", 1);
    assert_false(chosen("wss://relay.example").used);
    setenv("no_proxy", "", 1);
    assert_true(chosen("wss://relay.example").used);
    setenv("https_proxy", "", 1);
    assert_false(chosen("wss://relay.example").used);
    static const char *const names[] = {"HTTPS_PROXY", "https_proxy", "http_proxy", "NO_PROXY", "no_proxy"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

static void ring(void *context)
{
    uint64_t one = 1;
    assert_int_equal(write(*(int *)context, &one, sizeof(one)), sizeof(one));
}

static void a_lookup_ends_with_a_word(void **state)
{
    (void)state;
    int bell = eventfd(0, EFD_CLOEXEC);
    struct jobs__lookup *lookup;
    struct jobs__addresses addresses;
    const char *problem = NULL;
    assert_int_equal(jobs__lookup_start(&lookup, "nonexistent.invalid", ring, &bell), JOBS_OK);
    struct pollfd fd = {.fd = bell, .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 30000), 1);
    assert_true(jobs__lookup_ended(lookup, &addresses, &problem));
    assert_int_equal(addresses.count, 0);
    assert_non_null(problem);
    jobs__lookup_free(lookup);
    jobs__lookup_free(NULL);
    close(bell);
}

/* The waiter goes away first: its bell may not be touched any more (the sanitizers see it if it is). */
/* Lookups that nobody waits for are under way when this process ends: what the C library holds for them is no leak. */
const char *__lsan_default_suppressions(void) __attribute__((visibility("default")));

const char *__lsan_default_suppressions(void)
{
    return "leak:res_context\nleak:getaddrinfo\n";
}

static void one_that_is_dropped_is_not_waited_for(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct jobs__lookup *lookup;
        int *bell = malloc(sizeof(*bell));
        assert_non_null(bell);
        *bell = eventfd(0, EFD_CLOEXEC);
        assert_int_equal(jobs__lookup_start(&lookup, "nonexistent.invalid", ring, bell), JOBS_OK);
        jobs__lookup_free(lookup);
        close(*bell);
        *bell = -1; /* a write to it would fail its assertion */
        free(bell);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exceptions),
        cmocka_unit_test(loopback),
        cmocka_unit_test(what_the_variable_says),
        cmocka_unit_test(chosen_by_scheme),
        cmocka_unit_test(a_lookup_ends_with_a_word),
        cmocka_unit_test(one_that_is_dropped_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
