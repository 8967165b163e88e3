/* proxy.c - see proxy.h. Reads the environment, opens nothing, and never repeats what a variable holds. */
#include "proxy.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct address {
    int family; /* 0: no address */
    unsigned char bytes[16];
    unsigned bits;
};

static struct address read_address(const char *text, size_t len)
{
    struct address address = {0};
    char copy[INET6_ADDRSTRLEN];
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    if (len == 0 || len >= sizeof(copy))
        return address;
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (inet_pton(AF_INET, copy, address.bytes) == 1) {
        address.family = AF_INET;
        address.bits = 32;
    } else if (inet_pton(AF_INET6, copy, address.bytes) == 1) {
        static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
        address.family = AF_INET6;
        address.bits = 128;
        if (memcmp(address.bytes, mapped, sizeof(mapped)) == 0) {
            memmove(address.bytes, address.bytes + 12, 4);
            address.family = AF_INET;
            address.bits = 32;
        }
    }
    return address;
}

static bool same_network(const struct address *a, const struct address *b, unsigned bits)
{
    if (a->family == 0 || a->family != b->family || bits > a->bits)
        return false;
    if (memcmp(a->bytes, b->bytes, bits / 8) != 0)
        return false;
    unsigned rest = bits % 8;
    return rest == 0 || ((a->bytes[bits / 8] ^ b->bytes[bits / 8]) >> (8 - rest)) == 0;
}

bool jobs__proxy_is_loopback(const char *host)
{
    static const char name[] = "localhost";
    size_t len = strlen(host);
    if (len > 0 && host[len - 1] == '.')
        len--;
    size_t tail = sizeof(name) - 1;
    if (len >= tail && strncasecmp(host + len - tail, name, tail) == 0 && (len == tail || host[len - tail - 1] == '.'))
        return true;
    struct address address = read_address(host, len);
    struct address loop4 = read_address("127.0.0.0", 9), loop6 = read_address("::1", 3);
    return same_network(&address, &loop4, 8) || same_network(&address, &loop6, 128);
}

/* Cuts ":port" off an entry and tells whether the entry speaks of this port. */
static bool is_for_port(const char *entry, size_t *len, unsigned port)
{
    const char *colon = memrchr(entry, ':', *len);
    if (colon == NULL)
        return true;
    size_t before = (size_t)(colon - entry);
    bool bracketed = before > 0 && entry[before - 1] == ']';
    if (!bracketed && memchr(entry, ':', before) != NULL)
        return true; /* an IPv6 address without brackets */
    if (*entry == '[' && !bracketed)
        return true; /* the colon is within the brackets */
    bool same = jobs__url_port(colon + 1, *len - before - 1) == port;
    *len = before;
    return same;
}

static bool is_same_or_below(const char *domain, size_t len, const char *host)
{
    if (len > 1 && domain[0] == '*' && domain[1] == '.') {
        domain++;
        len--;
    }
    if (len > 0 && domain[0] == '.') {
        domain++;
        len--;
    }
    if (len > 0 && domain[len - 1] == '.')
        len--;
    size_t host_len = strlen(host);
    if (host_len > 0 && host[host_len - 1] == '.')
        host_len--;
    if (len == 0 || len > host_len || strncasecmp(host + host_len - len, domain, len) != 0)
        return false;
    return len == host_len || host[host_len - len - 1] == '.';
}

static bool entry_names(const char *entry, size_t len, const char *host, const struct address *address, unsigned port)
{
    if (!is_for_port(entry, &len, port))
        return false;
    if (len == 1 && *entry == '*')
        return true;
    if (address->family == 0)
        return is_same_or_below(entry, len, host);
    const char *slash = memchr(entry, '/', len);
    size_t address_len = slash == NULL ? len : (size_t)(slash - entry);
    struct address network = read_address(entry, address_len);
    if (slash == NULL)
        return same_network(address, &network, network.bits);
    size_t digits = len - address_len - 1;
    if (digits == 1 && slash[1] == '0')
        return network.family == address->family;
    unsigned bits = jobs__url_port(slash + 1, digits);
    return bits > 0 && same_network(address, &network, bits);
}

bool jobs__proxy_excepts(const char *list, const char *host, unsigned port)
{
    static const char separators[] = ", \t\n";
    struct address address = read_address(host, strlen(host));
    for (const char *at = list + strspn(list, separators); *at != '\0'; at += strspn(at, separators)) {
        size_t len = strcspn(at, separators);
        if (entry_names(at, len, host, &address, port))
            return true;
        at += len;
    }
    return false;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *read_credentials(struct jobs__proxy *out, const char *text, size_t len)
{
    size_t at = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '%' && len - i > 2 && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
            c = (char)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
            i += 2;
        }
        if (c == '\0' || at + 1 >= sizeof(out->credentials))
            return "its user name and password are too long (93 characters at most)";
        out->credentials[at++] = c;
    }
    out->credentials[at] = '\0';
    if (strchr(out->credentials, ':') == NULL && at + 2 < sizeof(out->credentials))
        strcat(out->credentials, ":");
    return NULL;
}

const char *jobs__proxy_parse(struct jobs__proxy *out, const char *text)
{
    static const char scheme[] = "http://";
    *out = (struct jobs__proxy){.port = 80};
    if (strncasecmp(text, scheme, sizeof(scheme) - 1) == 0)
        text += sizeof(scheme) - 1;
    else if (strstr(text, "://") != NULL)
        return "only http:// proxies (CONNECT) are supported";
    size_t len = strcspn(text, "/?#");
    const char *at = memrchr(text, '@', len);
    if (at != NULL) {
        const char *wrong = read_credentials(out, text, (size_t)(at - text));
        if (wrong != NULL)
            return wrong;
        len -= (size_t)(at + 1 - text);
        text = at + 1;
    }
    const char *bracket = memchr(text, ']', len);
    size_t past = bracket == NULL ? 0 : (size_t)(bracket - text);
    const char *colon = memchr(text + past, ':', len - past);
    size_t host_len = colon == NULL ? len : (size_t)(colon - text);
    const char *wrong = jobs__url_host(out->host, &out->ip6, text, host_len);
    if (wrong != NULL)
        return wrong;
    if (colon != NULL && len - host_len > 1) {
        out->port = jobs__url_port(colon + 1, len - host_len - 1);
        if (out->port == 0)
            return "a port is a number from 1 to 65535";
    }
    out->used = true;
    return NULL;
}

static const char *variable(const char *lower, const char *upper)
{
    const char *value = getenv(lower);
    if (value == NULL)
        value = getenv(upper);
    return value == NULL ? "" : value;
}

const char *jobs__proxy_choose(struct jobs__proxy *out, const struct jobs__url *url)
{
    *out = (struct jobs__proxy){0};
    if (jobs__proxy_is_loopback(url->host))
        return NULL;
    const char *text = url->secure ? variable("https_proxy", "HTTPS_PROXY") : variable("http_proxy", "HTTP_PROXY");
    if (*text == '\0' || jobs__proxy_excepts(variable("no_proxy", "NO_PROXY"), url->host, url->port))
        return NULL;
    return jobs__proxy_parse(out, text);
}
