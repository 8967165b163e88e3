/* server.h - the two transports: a proper one on libwebsockets, and one on bare sockets that can break every rule. */
#ifndef RELAY_SERVER_H
#define RELAY_SERVER_H

#include "relay.h"

#include <signal.h>

struct server_options {
    const char *host;
    int port;                    /* 0: any free one */
    const char *cert, *key, *ca; /* NULL: ws:// */
    volatile sig_atomic_t *stop; /* set by a signal handler, which then calls server_interrupt */
};

/* Both listen, print the URL as a line on stdout, and serve until *stop. Return JOBS_OK after that, or what is wrong.
 */
int server_run(const struct relay_options *relay, const struct server_options *options, struct jobs_error *error);
int raw_run(const struct relay_options *relay, const struct server_options *options, struct jobs_error *error);

void server_interrupt(void); /* safe in a signal handler */
int64_t server_now(void);    /* ms, monotonic */

#endif
