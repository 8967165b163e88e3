/* test_url.c - one relay has one spelling; what others would read differently is refused, and never repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk/url.h"

#include <jobs/publish.h>

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *given, *normal;
} taken[] = {
    {"wss://relay.example", "wss://relay.example"},
    {"WSS://Relay.Example/", "wss://relay.example"},
    {"https://relay.example:443", "wss://relay.example"},
    {"http://relay.example:80/", "ws://relay.example"},
    {"ws://relay.example:443/", "ws://relay.example:443"},
    {"wss://relay.example:80", "wss://relay.example:80"},
    {"ws://localhost:3000", "ws://localhost:3000"},
    {"ws://localhost:03000/", "ws://localhost:3000"},
    {"ws://localhost:", "ws://localhost"},
    {"wss://relay.example.", "wss://relay.example"},
    {"wss://relay.example/Path/", "wss://relay.example/Path/"},
    {"wss://relay.example?a=b", "wss://relay.example/?a=b"},
    {"wss://relay.example/?a=b@c:d", "wss://relay.example/?a=b@c:d"},
    {"wss://relay.example/a%2fB", "wss://relay.example/a%2fB"},
    {"wss://[2001:DB8:0:0::1]:443/", "wss://[2001:db8::1]"},
    {"ws://[::1]:7000", "ws://[::1]:7000"},
    {"ws://[::ffff:127.0.0.1]", "ws://[::ffff:127.0.0.1]"},
    {"ws://127.0.0.1:1", "ws://127.0.0.1:1"},
    {"ws://127.0.0.1:65535", "ws://127.0.0.1:65535"},
    {"wss://xn--bcher-kva.example", "wss://xn--bcher-kva.example"},
    {"ws://a_b-c.1x:9", "ws://a_b-c.1x:9"},
};

static void one_spelling(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        struct jobs_error error;
        char *url = NULL, *again = NULL;
        if (jobs_relay_url(&url, taken[i].given, &error) != JOBS_OK)
            fail_msg("%s: %s", taken[i].given, error.message);
        assert_string_equal(url, taken[i].normal);
        assert_int_equal(jobs_relay_url(&again, url, &error), JOBS_OK);
        assert_string_equal(again, url);
        free(url);
        free(again);
    }
}

static const char *const refused[] = {
    "",
    "relay.example",
    "//relay.example",
    "ftp://relay.example",
    "wss:/relay.example",
    "wss:relay.example",
    "wss://",
    "wss:///path",
    "wss://:443",
    "wss://?q",
    "wss://hunter2@relay.example",
    "wss://user:hunter2@relay.example",
    "wss://@relay.example",
    "wss://relay.example/#hunter2",
    "wss://relay.example#",
    "wss://relay.example:0",
    "wss://relay.example:65536",
    "wss://relay.example:4294967739",
    "wss://relay.example:99999999999999999999",
    "wss://relay.example:-1",
    "wss://relay.example:+443",
    "wss://relay.example:44 3",
    "wss://relay.example:443:443",
    "wss://relay..example",
    "wss://.relay.example",
    "wss://.",
    "wss://relay.example..",
    "wss://relay%2eexample",
    "wss://rel\\ay.example",
    "wss://relay.example/a b",
    " wss://relay.example",
    "wss://relay.example\n",
    "wss://relay.example/\x7f",
    "wss://relay.example/a%2",
    "wss://relay.example/a%zz",
    "wss://relay.example/<x>",
    "wss://relay.example/\xc3\xa4",
    "wss://b\xc3\xbc"
    "cher.example",
    "wss://127.1",
    "wss://2130706433",
    "wss://0x7f.0.0.1",
    "wss://0x7f000001",
    "wss://relay.0x",
    "wss://127.0.0.01",
    "wss://127.0.0.256",
    "wss://relay.123",
    "wss://::1",
    "wss://[::1",
    "wss://[::1]x",
    "wss://[::1]:x",
    "wss://[]",
    "wss://[::g]",
    "wss://[fe80::1%25eth0]",
    "wss://[127.0.0.1]",
    "wss://a.[::1]",
};

static void refused_with_advice(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct jobs_error error;
        char *url = NULL;
        if (jobs_relay_url(&url, refused[i], &error) != JOBS_USAGE)
            fail_msg("taken: %s as %s", refused[i], url);
        assert_null(url);
        assert_true(strlen(error.message) > 40);
        assert_null(strstr(error.message, "hunter2"));
    }
}

static void lengths(void **state)
{
    (void)state;
    char url[JOBS__URL_MAX + 2], *out = NULL;
    memset(url, 'a', sizeof(url));
    memcpy(url, "wss://relay.example/", 20);
    url[JOBS__URL_MAX] = '\0';
    assert_int_equal(jobs_relay_url(&out, url, NULL), JOBS_OK);
    assert_string_equal(out, url);
    free(out);
    url[JOBS__URL_MAX] = 'a';
    url[JOBS__URL_MAX + 1] = '\0';
    assert_int_equal(jobs_relay_url(&out, url, NULL), JOBS_USAGE);

    strcpy(url, "ws://");
    for (int i = 0; i < 253; i++)
        url[5 + i] = i % 50 == 49 ? '.' : 'x';
    url[5 + 253] = '\0';
    assert_int_equal(jobs_relay_url(&out, url, NULL), JOBS_OK);
    free(out);
    strcat(url, "x");
    assert_int_equal(jobs_relay_url(&out, url, NULL), JOBS_USAGE);
    strcpy(url, "ws://");
    memset(url + 5, 'x', 63);
    strcpy(url + 68, ".example");
    assert_int_equal(jobs_relay_url(&out, url, NULL), JOBS_OK);
    free(out);
    strcpy(url + 68, "x.example");
    assert_int_equal(jobs_relay_url(&out, url, NULL), JOBS_USAGE);
}

static void taken_apart(void **state)
{
    (void)state;
    struct jobs__url url;
    char header[JOBS__URL_HOST_HEADER_MAX + 1];
    assert_int_equal(jobs__url_parse(&url, "https://[::1]:8443?x=y", NULL), JOBS_OK);
    assert_true(url.secure && url.ip6 && !url.default_port);
    assert_string_equal(url.host, "::1");
    assert_int_equal(url.port, 8443);
    assert_string_equal(url.path, "/?x=y");
    jobs__url_host_header(header, &url);
    assert_string_equal(header, "[::1]:8443");
    assert_int_equal(jobs__url_parse(&url, "ws://A.example:80", NULL), JOBS_OK);
    assert_true(!url.secure && !url.ip6 && url.default_port);
    assert_string_equal(url.path, "/");
    jobs__url_host_header(header, &url);
    assert_string_equal(header, "a.example");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_spelling),
        cmocka_unit_test(refused_with_advice),
        cmocka_unit_test(lengths),
        cmocka_unit_test(taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
