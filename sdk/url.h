/* url.h - a relay's URL taken apart, for those who dial it. jobs_relay_url (jobs/publish.h) is the way in from outside.
 */
#ifndef JOBS_URL_H
#define JOBS_URL_H

#include <jobs/error.h>

#define JOBS__URL_MAX  2000
#define JOBS__HOST_MAX 253

struct jobs__url {
    bool secure;                   /* wss */
    bool ip6;                      /* host is an IPv6 address; it has no brackets here */
    unsigned port;                 /* 1 to 65535, the default filled in */
    bool default_port;             /* port is the scheme's own, so that it is not written */
    char host[JOBS__HOST_MAX + 1]; /* lower case */
    char path[JOBS__URL_MAX + 2];  /* path and query, at least "/" */
};

/* Parses and normalises. JOBS_OK or JOBS_USAGE. */
int jobs__url_parse(struct jobs__url *out, const char *url, struct jobs_error *error);

/* Reads a host as it stands in an authority ("relay.example", "192.0.2.1", "[2001:db8::1]") into its one spelling.
 * Returns what is wrong with it, or NULL. */
const char *jobs__url_host(char host[JOBS__HOST_MAX + 1], bool *ip6, const char *text, size_t len);

/* 1 to 65535, or 0 when the digits are none or say something else. */
unsigned jobs__url_port(const char *text, size_t len);

/* "host", "host:port", "[v6]:port": what the Host header says. */
#define JOBS__URL_HOST_HEADER_MAX (JOBS__HOST_MAX + 10)
void jobs__url_host_header(char out[JOBS__URL_HOST_HEADER_MAX + 1], const struct jobs__url *url);

#endif
