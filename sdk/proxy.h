/* proxy.h - which HTTP proxy, if any, stands between us and a relay. */
#ifndef JOBS_PROXY_H
#define JOBS_PROXY_H

#include "url.h"

struct jobs__proxy {
    bool used;
    bool ip6;
    unsigned port;
    char host[JOBS__HOST_MAX + 1];
    char credentials[94]; /* "user:password", decoded; a secret. "" when none */
};

/* From https_proxy (for wss) or http_proxy (for ws), lower case before upper case, less no_proxy; never for loopback.
 * Returns NULL, or what is wrong with the variable, without its value. */
const char *jobs__proxy_choose(struct jobs__proxy *out, const struct jobs__url *url);

/* Reads "http://user:password@host:port", scheme and port (80) optional. NULL, or what is wrong. */
const char *jobs__proxy_parse(struct jobs__proxy *out, const char *text);

/* Whether a no_proxy list (commas or blanks between entries) names this host: "*", a domain with all below it (".a.b",
 * "*.a.b" and "a.b" are the same), an address, a network "10.0.0.0/8", each with an optional ":port". */
bool jobs__proxy_excepts(const char *list, const char *host, unsigned port);

/* localhost and all below it, 127.0.0.0/8, ::1, and the latter two mapped into IPv6. */
bool jobs__proxy_is_loopback(const char *host);

#endif
