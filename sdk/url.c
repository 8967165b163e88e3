/* url.c - a relay's URL in its one spelling, so that two spellings of one relay are one relay.
 *
 * Strict on purpose: what this refuses, some other program would read differently. Must not resolve names, and must not
 * repeat the URL in a message (it may hold a password).
 */
#include "url.h"

#include <jobs/publish.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct scheme {
    const char *name;
    bool secure;
} schemes[] = {{"wss", true}, {"ws", false}, {"https", true}, {"http", false}};

static unsigned default_port(bool secure)
{
    return secure ? 443 : 80;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    c = lower(c);
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool same_word(const char *word, const char *text, size_t len)
{
    if (strlen(word) != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (lower(text[i]) != word[i])
            return false;
    }
    return true;
}

unsigned jobs__url_port(const char *text, size_t len)
{
    unsigned port = 0;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(text[i]))
            return 0;
        port = port * 10 + (unsigned)(text[i] - '0');
        if (port > 65535)
            return 0;
    }
    return port;
}

static const char *read_ip6(char host[JOBS__HOST_MAX + 1], const char *text, size_t len)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr binary;
    if (len < 4 || text[len - 1] != ']')
        return "an IPv6 address ends with ]";
    if (memchr(text, '%', len) != NULL)
        return "an IPv6 address with a zone cannot be used here";
    if (len - 2 >= sizeof(address))
        return "what stands in [] is no IPv6 address";
    memcpy(address, text + 1, len - 2);
    address[len - 2] = '\0';
    if (strlen(address) != len - 2 || inet_pton(AF_INET6, address, &binary) != 1)
        return "what stands in [] is no IPv6 address";
    inet_ntop(AF_INET6, &binary, host, JOBS__HOST_MAX + 1);
    return NULL;
}

/* Where the last label is a number, everybody else reads an IPv4 address ("127.1", "0x7f.1", "2130706433"). */
static bool ends_in_number(const char *host)
{
    const char *dot = strrchr(host, '.');
    const char *label = dot == NULL ? host : dot + 1;
    size_t len = strlen(label);
    if (strspn(label, "0123456789") == len)
        return true;
    return label[0] == '0' && label[1] == 'x' && strspn(label + 2, "0123456789abcdef") == len - 2;
}

const char *jobs__url_host(char host[JOBS__HOST_MAX + 1], bool *ip6, const char *text, size_t len)
{
    *ip6 = len > 0 && text[0] == '[';
    if (*ip6)
        return read_ip6(host, text, len);
    if (len > 1 && text[len - 1] == '.')
        len--; /* the root's dot: the same name */
    if (len == 0)
        return "the host is missing";
    if (len > JOBS__HOST_MAX)
        return "a host name has at most 253 characters";
    size_t label = 0;
    for (size_t i = 0; i < len; i++) {
        char c = lower(text[i]);
        if ((unsigned char)c >= 0x80)
            return "write an international host name in its ASCII form (xn--…)";
        if (c == '.') {
            if (label == 0)
                return "a host name has no empty part between its dots";
            label = 0;
        } else if (is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_') {
            if (++label > 63)
                return "a part of a host name has at most 63 characters";
        } else {
            return "a host name holds only letters, digits, - and .";
        }
        host[i] = c;
    }
    host[len] = '\0';
    if (label == 0)
        return "a host name has no empty part between its dots";
    struct in_addr binary;
    if (ends_in_number(host) && inet_pton(AF_INET, host, &binary) != 1)
        return "an IPv4 address is four decimal numbers from 0 to 255, without leading zeros";
    return NULL;
}

/* Path and query, as they are sent: only what RFC 3986 lets stand there. */
static const char *check_path(const char *text, size_t len)
{
    static const char allowed[] = "-._~!$&'()*+,;=:@/?";
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '%') {
            if (len - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2]))
                return "a % is followed by two hexadecimal digits";
        } else if (!is_digit(c) && !(lower(c) >= 'a' && lower(c) <= 'z') && strchr(allowed, c) == NULL) {
            return "percent-encode what is no plain URL character";
        }
    }
    return NULL;
}

static const char *parse(struct jobs__url *out, const char *url)
{
    size_t len = strlen(url);
    if (len > JOBS__URL_MAX)
        return "it has more than 2000 characters";
    if (len == 0)
        return "it is empty; write wss://HOST";
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)url[i] <= ' ' || url[i] == 0x7f)
            return "a URL holds no spaces or control characters";
    }
    const char *end = url + len;
    const char *colon = strstr(url, "://");
    const struct scheme *scheme = NULL;
    for (size_t i = 0; colon != NULL && i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (same_word(schemes[i].name, url, (size_t)(colon - url)))
            scheme = &schemes[i];
    }
    if (scheme == NULL)
        return "it begins with wss:// or ws:// (https:// and http:// are taken for them)";
    out->secure = scheme->secure;
    const char *authority = colon + 3;
    size_t authority_len = strcspn(authority, "/?#");
    const char *path = authority + authority_len;
    if (memchr(authority, '@', authority_len) != NULL)
        return "a user name or password in it is refused; the relay knows you by your key";
    if (strchr(path, '#') != NULL)
        return "a fragment (#…) is never sent; leave it out";

    const char *bracket = memchr(authority, ']', authority_len);
    size_t past_bracket = bracket == NULL ? 0 : (size_t)(bracket - authority);
    const char *port = memchr(authority + past_bracket, ':', authority_len - past_bracket);
    size_t host_len = port == NULL ? authority_len : (size_t)(port - authority);
    const char *wrong = jobs__url_host(out->host, &out->ip6, authority, host_len);
    if (wrong != NULL)
        return wrong;
    out->port = default_port(out->secure);
    if (port != NULL && authority_len - host_len > 1) {
        out->port = jobs__url_port(port + 1, authority_len - host_len - 1);
        if (out->port == 0)
            return "a port is a number from 1 to 65535";
    }
    out->default_port = out->port == default_port(out->secure);

    wrong = check_path(path, (size_t)(end - path));
    if (wrong != NULL)
        return wrong;
    snprintf(out->path, sizeof(out->path), "%s%s", path[0] == '/' ? "" : "/", path);
    return NULL;
}

int jobs__url_parse(struct jobs__url *out, const char *url, struct jobs_error *error)
{
    const char *wrong = parse(out, url);
    if (wrong != NULL)
        return jobs_error_set(error, JOBS_USAGE, "the relay URL cannot be used: %s", wrong);
    return JOBS_OK;
}

void jobs__url_host_header(char out[JOBS__URL_HOST_HEADER_MAX + 1], const struct jobs__url *url)
{
    char port[8] = "";
    if (!url->default_port)
        snprintf(port, sizeof(port), ":%u", url->port % 65536);
    snprintf(out, JOBS__URL_HOST_HEADER_MAX + 1, "%s%s%s%s", url->ip6 ? "[" : "", url->host, url->ip6 ? "]" : "", port);
}

int jobs_relay_url(char **out, const char *url, struct jobs_error *error)
{
    struct jobs__url parts;
    *out = NULL;
    int code = jobs__url_parse(&parts, url, error);
    if (code != JOBS_OK)
        return code;
    char host[JOBS__URL_HOST_HEADER_MAX + 1];
    jobs__url_host_header(host, &parts);
    const char *path = strcmp(parts.path, "/") == 0 ? "" : parts.path;
    size_t size = sizeof("wss://") + strlen(host) + strlen(path);
    *out = malloc(size);
    if (*out == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    snprintf(*out, size, "%s://%s%s", parts.secure ? "wss" : "ws", host, path);
    return JOBS_OK;
}
