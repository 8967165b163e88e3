/* reference.c - the rules of URLs and paths, on spans. Opens, resolves and fetches nothing; host.c knows hosts.
 *
 * The publisher's rules describe a subset of what WHATWG's `new URL` parses to the same host and no credentials, for
 * special schemes (http, https) and for others (buzz, nostr) alike.
 */
#include "reference.h"

#include "text.h"

#include <string.h>
#include <strings.h>

#define BIT JOBS__REFERENCE_BIT

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the scheme at the beginning without its colon, 0 when there is none. */
static size_t scheme_of(const char *text, size_t len)
{
    if (len == 0 || !is_letter(text[0]))
        return 0;
    size_t at = 1;
    while (at < len && (is_letter(text[at]) || is_digit(text[at]) || strchr("+.-", text[at]) != NULL))
        at++;
    return at < len && text[at] == ':' ? at : 0;
}

static const struct {
    const char *name;
    bool web; /* needs //, takes \ for / */
} schemes[] = {{"http", true}, {"https", true}, {"buzz", false}, {"nostr", false}};

static bool begins_with(const char *text, size_t len, const char *prefix)
{
    size_t n = strlen(prefix);
    return len >= n && strncasecmp(text, prefix, n) == 0;
}

/* What stands between // and the path: [userinfo@]host[:port]. */
static uint32_t authority_faults(const char *text, size_t len)
{
    uint32_t faults = 0;
    const char *at_sign = memrchr(text, '@', len);
    if (at_sign != NULL) {
        faults |= BIT(JOBS__H407);
        len -= (size_t)(at_sign + 1 - text);
        text = at_sign + 1;
    }
    size_t host_len = 0;
    if (len > 0 && text[0] == '[') {
        const char *bracket = memchr(text, ']', len);
        host_len = bracket != NULL ? (size_t)(bracket + 1 - text) : len;
    }
    while (host_len < len && text[host_len] != ':')
        host_len++;
    faults |= jobs__host_faults(text, host_len);
    if (host_len == len)
        return faults;
    const char *port = text + host_len + 1;
    size_t digits = len - host_len - 1;
    unsigned long number = 0;
    for (size_t i = 0; i < digits && i < 5 && is_digit(port[i]); i++)
        number = number * 10 + (unsigned long)(port[i] - '0');
    bool all_digits = true;
    for (size_t i = 0; i < digits; i++)
        all_digits = all_digits && is_digit(port[i]);
    if (!all_digits || digits > 5 || number > 65535)
        faults |= BIT(JOBS__H406);
    return faults;
}

static uint32_t url_faults(const char *text, size_t len, size_t scheme, bool reader)
{
    uint32_t faults = 0;
    bool known = false, web = false;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strlen(schemes[i].name) == scheme && strncasecmp(text, schemes[i].name, scheme) == 0) {
            known = true;
            web = schemes[i].web;
        }
    }
    if (!known)
        faults |= BIT(JOBS__H402);
    const char *rest = text + scheme + 1;
    size_t rest_len = len - scheme - 1;
    bool slashes = begins_with(rest, rest_len, "//");
    if (web && !slashes)
        faults |= BIT(JOBS__H404);
    size_t host_at = slashes ? 2 : 0, host_end = host_at;
    if (slashes) {
        /* Only a web scheme ends its host at a backslash. The publisher has refused it then, and says so once. */
        const char *ends = web || !reader ? "/?#\\" : "/?#";
        while (host_end < rest_len && (rest[host_end] == '\0' || strchr(ends, rest[host_end]) == NULL))
            host_end++;
        faults |= authority_faults(rest + host_at, host_end - host_at);
    }
    if (!reader) {
        for (size_t at = 0; at < len;) {
            uint32_t c = jobs__text_next(text, len, &at);
            if (c == '\\' || jobs__text_is_space(c))
                faults |= BIT(JOBS__H403);
        }
        if (begins_with(text, scheme, "nostr") && (begins_with(rest + host_at, rest_len - host_at, "nsec1") ||
                                                   begins_with(rest + host_at, rest_len - host_at, "ncryptsec1")))
            faults |= BIT(JOBS__H414);
    }
    return faults;
}

static uint32_t path_faults(const char *text, size_t len)
{
    uint32_t faults = 0;
    if ((len >= 1 && (text[0] == '/' || text[0] == '\\')) ||
        (len >= 2 && text[0] == '~' && (text[1] == '/' || text[1] == '\\')))
        faults |= BIT(JOBS__H410);
    size_t begin = 0;
    for (size_t at = 0; at <= len; at++) {
        if (at < len && text[at] != '/' && text[at] != '\\')
            continue;
        if (at - begin == 2 && memcmp(text + begin, "..", 2) == 0)
            faults |= BIT(JOBS__H411);
        begin = at + 1;
    }
    return faults;
}

uint32_t jobs__reference_faults(const char *text, size_t len, bool reader)
{
    const char *inner = text;
    size_t inner_len = len;
    jobs__text_trim(&inner, &inner_len);
    uint32_t faults = 0;
    if (!reader && inner_len != len)
        faults |= BIT(JOBS__H401);
    size_t scheme = scheme_of(inner, inner_len);
    return faults | (scheme > 0 ? url_faults(inner, inner_len, scheme, reader) : path_faults(inner, inner_len));
}

bool jobs__reference_is_url(const char *text, size_t len)
{
    jobs__text_trim(&text, &len);
    return scheme_of(text, len) > 0;
}

bool jobs__reference_is_object_id(const char *text, size_t len)
{
    jobs__text_trim(&text, &len);
    return (len == 40 || len == 64) && jobs__text_is_hex(text, len, false);
}

const char *jobs__reference_advice(enum jobs__rule rule)
{
    static const char *const advice[] = {
        "a reference must neither begin nor end with a space",
        "a URL must have the scheme http, https, buzz or nostr (what begins with letters and a colon is taken for a "
        "URL)",
        "a URL must hold no spaces and no backslashes; write them percent-encoded",
        "a URL must have // and a host behind http: or https:",
        "a URL's host must be a name of letters, digits, _ and - in labels joined by dots, four decimal numbers joined "
        "by dots, or an IPv6 address in brackets",
        "a URL's port must be a number up to 65535 of at most five digits",
        "a URL must not have a user name, a password or an @ before its host",
        "a URL's host must be ASCII; write an international name as xn--…",
        "a host label that begins with xn-- must be the one valid spelling of its name",
        "a path must be relative to the repository: it must not begin with /, \\, ~/ or ~\\",
        "a path must have no .. component",
        "a pull_request, build, deployment, link or media must be referred to by a URL",
        "a commit must be referred to by a URL or by its whole object id, 40 or 64 hexadecimal digits",
        "a reference must not be a secret key",
    };
    return advice[rule - JOBS__H401];
}
