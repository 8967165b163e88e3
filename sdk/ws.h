/* ws.h - real sockets under the engines: one loop, one thread, any number of relays. Only ws.c knows libwebsockets.
 *
 * No word on stdout or stderr, no process-wide signal handlers. Names are resolved off the loop. Proxies are those of
 * https_proxy / http_proxy less no_proxy, never for loopback.
 */
#ifndef JOBS_WS_H
#define JOBS_WS_H

#include "engine.h"

#include <jobs/publish.h>

struct jobs__line {
    struct jobs__engine *engine; /* borrowed */
    const char *url;             /* normalised by jobs_relay_url */
};

/* Connections that outlive a run of the loop, for the next one with the same relay and the same options; at most one a
 * relay. */
struct jobs__kept;
int jobs__kept_new(struct jobs__kept **out);
bool jobs__kept_has(const struct jobs__kept *kept, const char *url); /* one with this relay */
void jobs__kept_free(struct jobs__kept *kept);                       /* NULL-safe; says goodbye on each */

struct jobs__loop_options {
    const char *ca_file;
    struct jobs__kept *kept; /* NULL: each connection ends with the run */
    bool eager; /* several small answers are awaited: what comes is acknowledged at once, for a relay without
                   TCP_NODELAY holds the second back until the first was, up to 40 ms */
    const volatile sig_atomic_t *stop;
    void (*decide)(void *context, size_t line); /* an engine answered JOBS__WANT_DECIDE */
    /* Called after every turn of the loop, and at least every 100 ms; returns false to end it although engines are not
     * done. What it does to an engine (send, settle) is seen at once: the loop asks every engine again after it. May be
     * NULL. */
    bool (*turn)(void *context, int64_t now);
    void *context;
    void (*progress)(void *context, const struct jobs_progress *progress);
    void *progress_context;
};

/* Runs until every engine is DONE, `stop` is set, or turn says so. At a deadline, what has already arrived is read
 * first. Returns JOBS_OK, JOBS_NO_MEMORY or JOBS_SYSTEM; a relay's faults are told to its engine, never returned. */
int jobs__loop_run(const struct jobs__line *lines, size_t count, const struct jobs__loop_options *options,
                   struct jobs_error *error);

/* Milliseconds of CLOCK_MONOTONIC. */
int64_t jobs__loop_now(void);

#endif
