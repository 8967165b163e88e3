/* ws.c - the loop: time, what engines want, and what they are told. See ws.h and engine.h.
 *
 * One turn: tell what happened, ask every engine what it wants, do it, wait. Engines are asked only here, never while
 * libwebsockets is calling us. libwebsockets keeps no deadline of ours: its own are set to a day.
 */
#include "ws_line.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define DRAIN_MS     50  /* at a deadline, for what had arrived before it */
#define TICK_MS      100 /* between two calls of `turn`, looks at `stop`, and words of progress */
#define WANTS_A_TURN 64  /* of one engine, before others are looked at */
#define KEPT_FILES   1024

int64_t jobs__loop_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- what engines want --- */

static void hang_up(struct jobs__wire *wire)
{
    jobs__wire_drop(wire, true);
    wire->ended = wire->explained = wire->attempt_failed = false;
    jobs__wire_empty(&wire->in);
}

static void decide(struct jobs__wire *wire)
{
    struct jobs__loop *loop = wire->loop;
    if (loop->options->decide != NULL)
        loop->options->decide(loop->options->context, (size_t)(wire - loop->wires));
    for (size_t i = 0; i < loop->count; i++)
        loop->wires[i].event = true;
    if (!wire->deciding)
        loop->busy = true; /* it may have changed what others want; still undecided, it waits like everybody */
    wire->deciding = true;
}

/* Does what the step says; returns false when the engine waits. */
static bool follow(struct jobs__wire *wire, const struct jobs__step *step, int64_t now)
{
    bool idle = wire->stage == JOBS__STAGE_IDLE && !wire->ended && !wire->explained;
    if (step->want != JOBS__WANT_DECIDE)
        wire->deciding = false;
    switch (step->want) {
    case JOBS__WANT_DIAL:
    case JOBS__WANT_EXPLAIN:
        if (!idle)
            return false;
        if (step->want == JOBS__WANT_DIAL && jobs__wire_take_kept(wire))
            return true;
        jobs__wire_dial(wire, now, step);
        return true;
    case JOBS__WANT_SEND:
        jobs__wire_send(wire, step);
        return true;
    case JOBS__WANT_HANG_UP:
        hang_up(wire);
        return !idle;
    case JOBS__WANT_DECIDE:
        if (wire->decided)
            return false;
        wire->decided = true;
        decide(wire);
        return true;
    case JOBS__WANT_DONE:
        if (wire->loop->options->kept != NULL && step->len > 0 && step->len <= sizeof(wire->carried) &&
            !jobs__wire_is_blocked(wire)) {
            memcpy(wire->carried, step->bytes, step->len);
            wire->carried_len = step->len;
        } else {
            hang_up(wire);
        }
        wire->done = true;
        return false;
    case JOBS__WANT_WAIT:
    default:
        return false;
    }
}

static void ask(struct jobs__wire *wire)
{
    const struct jobs__engine_ops *ops = wire->line->engine->ops;
    for (unsigned wants = 0; !wire->done; wants++) {
        int64_t now = jobs__loop_now();
        bool due = wire->at != 0 && now >= wire->at;
        if (!due && jobs__wire_is_blocked(wire) && (wire->out.len > 0 || !wire->event))
            return;
        if (wants == WANTS_A_TURN || (due && wire->loop->read_at < wire->at)) {
            wire->loop->busy = true;
            return;
        }
        wire->event = false;
        struct jobs__step step = ops->next(wire->line->engine, now);
        if (step.at > 0 || step.want != JOBS__WANT_SEND)
            wire->at = step.at > 0 ? step.at : 0;
        if (!follow(wire, &step, now))
            break;
    }
}

/* Until the next bytes leave, or come: it has to be said again and again. */
static void acknowledge(const struct jobs__wire *wire)
{
    static const int on = 1;
    if (wire->loop->options->eager && wire->stage == JOBS__STAGE_OPEN)
        (void)!setsockopt(lws_get_socket_fd(wire->lws), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

/* --- what they are told --- */

static void tell(struct jobs__wire *wire, int64_t now)
{
    const struct jobs__engine_ops *ops = wire->line->engine->ops;
    if (wire->stage == JOBS__STAGE_RESOLVING || wire->stage == JOBS__STAGE_CONNECTING)
        jobs__wire_dial_on(wire, now);
    if (wire->dial_by != 0 && now >= wire->dial_by)
        jobs__wire_dial_late(wire);
    if (wire->closing_by != 0 && now >= wire->closing_by) {
        struct jobs__closed closed = wire->closed;
        jobs__wire_drop(wire, false);
        wire->closed = closed;
        wire->ended = true;
    }
    jobs__wire_keep_alive(wire, now);
    jobs__wire_flush(wire);
    if (wire->ended) {
        wire->ended = false;
        wire->event = true;
        jobs__wire_drop(wire, false);
        jobs__wire_empty(&wire->in);
        ops->closed(wire->line->engine, now, &wire->closed);
    }
    if (wire->explained) {
        wire->explained = false;
        wire->event = true;
        ops->explained(wire->line->engine, now, wire->in.bytes == NULL ? "" : wire->in.bytes, wire->in.len);
        jobs__wire_empty(&wire->in);
    }
}

/* --- time --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return b == 0 || (a != 0 && a < b) ? a : b;
}

/* When this wire needs the loop, whatever arrives; 0 never. */
static int64_t due_at(const struct jobs__wire *wire)
{
    if (wire->done)
        return 0;
    int64_t at = earlier(wire->at, wire->dial_by);
    at = earlier(at, wire->attempt_by);
    at = earlier(at, wire->closing_by);
    if (wire->stage == JOBS__STAGE_OPEN)
        at = earlier(at, wire->pong_by != 0 ? wire->pong_by : wire->ping_at);
    return at;
}

static bool has_arrived(const struct jobs__wire *wire)
{
    if (wire->lws == NULL)
        return false;
    struct pollfd fd = {.fd = lws_get_socket_fd(wire->lws), .events = POLLIN};
    if (wire->stage == JOBS__STAGE_CONNECTING)
        fd.events = POLLOUT;
    SSL *ssl = lws_get_ssl(wire->lws);
    return fd.fd >= 0 && (poll(&fd, 1, 0) == 1 || (ssl != NULL && SSL_pending(ssl) > 0));
}

/* Of the bytes that its relay ever sent: how many have come to this machine, and how many of them were taken from it.
 */
struct tide {
    uint64_t come, taken;
};

static struct tide tide_of(const struct jobs__wire *wire)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    int waiting = 0;
    int fd = wire->lws == NULL ? -1 : lws_get_socket_fd(wire->lws);
    if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 || ioctl(fd, FIONREAD, &waiting) != 0)
        return (struct tide){0};
    uint64_t come = (uint64_t)info.tcpi_bytes_received;
    return (struct tide){.come = come, .taken = come - (uint64_t)waiting};
}

/* A deadline has come, perhaps long ago (the process was stopped): what is already here is read before anybody judges.
 * No more than that, for a relay may go on sending for ever; and not for ever, for it may be much. */
static int read_what_arrived(struct jobs__loop *loop)
{
    int64_t until = jobs__loop_now() + DRAIN_MS;
    bool more;
    for (size_t i = 0; i < loop->count; i++)
        loop->wires[i].come = tide_of(&loop->wires[i]).come;
    do {
        int64_t now = jobs__loop_now();
        more = false;
        for (size_t i = 0; i < loop->count && now < until; i++) {
            const struct jobs__wire *wire = &loop->wires[i];
            int64_t due = due_at(wire);
            /* not `<`: a FIN counts as come, and is never waiting */
            if (due != 0 && due <= now && has_arrived(wire) && tide_of(wire).taken <= wire->come)
                more = true;
        }
        if (more && lws_service(loop->context, -1) < 0)
            return JOBS_SYSTEM;
    } while (more);
    return JOBS_OK;
}

static void alarm_rang(lws_sorted_usec_list_t *alarm)
{
    (void)alarm; /* poll returns, which is all */
}

static int wait_for_something(struct jobs__loop *loop)
{
    const struct jobs__loop_options *options = loop->options;
    bool ticks = options->turn != NULL || options->stop != NULL || options->progress != NULL;
    int64_t now = jobs__loop_now();
    int64_t until = ticks ? now + TICK_MS : 0;
    bool late = false;
    for (size_t i = 0; i < loop->count; i++) {
        int64_t due = due_at(&loop->wires[i]);
        late = late || (due != 0 && due <= now);
        until = earlier(until, due);
    }
    bool wait = !loop->busy && !late;
    if (wait && until != 0)
        lws_sul_schedule(loop->context, 0, &loop->alarm, alarm_rang, (until - now) * 1000 + 999);
    int result = lws_service(loop->context, wait ? 0 : -1);
    lws_sul_cancel(&loop->alarm);
    return result < 0 ? JOBS_SYSTEM : JOBS_OK;
}

static void report(struct jobs__loop *loop, int64_t now)
{
    const struct jobs__loop_options *options = loop->options;
    if (options->progress == NULL || now < loop->progress_at)
        return;
    for (size_t i = 0; i < loop->count; i++) {
        struct jobs__wire *wire = &loop->wires[(loop->progress_next + i) % loop->count];
        const struct jobs__engine *engine = wire->line->engine;
        if (wire->done || engine->ops->doing == NULL)
            continue;
        struct jobs_progress progress = {wire->line->url, engine->ops->doing(engine), now - loop->started};
        loop->progress_at = now + TICK_MS;
        loop->progress_next = (size_t)(wire - loop->wires) + 1;
        options->progress(options->progress_context, &progress);
        return;
    }
}

/* --- the loop --- */

static bool all_done(const struct jobs__loop *loop)
{
    for (size_t i = 0; i < loop->count; i++) {
        if (!loop->wires[i].done)
            return false;
    }
    return true;
}

static bool is_due(const struct jobs__loop *loop, int64_t now)
{
    for (size_t i = 0; i < loop->count; i++) {
        int64_t due = due_at(&loop->wires[i]);
        if (due != 0 && due <= now)
            return true;
    }
    return false;
}

static int run(struct jobs__loop *loop)
{
    const struct jobs__loop_options *options = loop->options;
    for (;;) {
        int64_t now = jobs__loop_now();
        if (is_due(loop, now) && read_what_arrived(loop) != JOBS_OK)
            return JOBS_SYSTEM;
        loop->read_at = now;
        loop->busy = false;
        for (size_t i = 0; i < loop->count; i++) {
            struct jobs__wire *wire = &loop->wires[i];
            wire->decided = false;
            if (!wire->done)
                tell(wire, now);
            ask(wire);
            acknowledge(wire);
        }
        if (all_done(loop) || (options->stop != NULL && *options->stop != 0))
            return JOBS_OK;
        if (options->turn != NULL) {
            if (!options->turn(options->context, now))
                return JOBS_OK;
            for (size_t i = 0; i < loop->count; i++) {
                loop->wires[i].event = true;
                ask(&loop->wires[i]);
            }
            if (all_done(loop))
                return JOBS_OK;
        }
        report(loop, now);
        for (size_t i = 0; i < loop->count; i++)
            loop->busy = loop->busy || loop->wires[i].ended || loop->wires[i].explained;
        if (wait_for_something(loop) != JOBS_OK)
            return JOBS_SYSTEM;
    }
}

static void prepare(struct jobs__wire *wire, struct jobs__loop *loop, const struct jobs__line *line)
{
    struct jobs_error error;
    wire->loop = loop;
    wire->line = line;
    wire->in.max = JOBS__MESSAGE_IN_MAX;
    wire->out.max = LWS_PRE + JOBS__MESSAGE_OUT_MAX;
    if (jobs__url_parse(&wire->url, line->url, &error) != JOBS_OK) {
        wire->unusable = "the relay's URL cannot be used";
        return;
    }
    const char *wrong = jobs__proxy_choose(&wire->proxy, &wire->url);
    jobs__wire_find_kept(wire);
    if (wrong != NULL) {
        snprintf(wire->complaint, sizeof(wire->complaint), "the proxy in %s cannot be used: %s",
                 wire->url.secure ? "https_proxy" : "http_proxy", wrong);
        wire->unusable = wire->complaint;
    }
}

static struct lws_context *new_context(const struct jobs__loop *loop)
{
    static const lws_retry_bo_t no_idle_policy = {.secs_since_valid_ping = 65534, .secs_since_valid_hangup = 65535};
    const struct jobs__kept *kept = loop->options->kept;
    bool secure = kept != NULL;
    for (size_t i = 0; i < loop->count; i++)
        secure = secure || loop->wires[i].url.secure;
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .gid = -1,
        .uid = -1,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME |
                   (secure ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0),
        /* a table as large as the process's limit would be cleared first; a dropped connection may linger a turn */
        .fd_limit_per_thread = kept != NULL ? KEPT_FILES : (unsigned)(loop->count * 4 + 16),
        .user = loop->options->kept,
        .pt_serv_buf_size = 16384,
        .max_http_header_data = 16384,
        .timeout_secs = 86400,
        .connect_timeout_secs = 86400,
        .timeout_secs_ah_idle = 86400,
        .retry_and_idle_policy = &no_idle_policy,
        .http_proxy_address = "",
    };
    if (secure)
        jobs__tls_prepare();
    return lws_create_context(&info);
}

void jobs__pipe_guard(struct jobs__pipe_guard *guard)
{
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    guard->was_pending = sigismember(&pending, SIGPIPE) == 1;
    sigaction(SIGPIPE, NULL, &guard->action);
    pthread_sigmask(SIG_BLOCK, &pipe, &guard->mask);
}

void jobs__pipe_unguard(const struct jobs__pipe_guard *guard)
{
    sigset_t pipe;
    struct timespec now = {0};
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!guard->was_pending)
        (void)!sigtimedwait(&pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
}

/* A context of its own, or the one that outlives this run. */
static int set_up(struct jobs__loop *loop)
{
    struct jobs__kept *kept = loop->options->kept;
    loop->context = kept != NULL && kept->context != NULL ? kept->context : new_context(loop);
    if (loop->context == NULL)
        return JOBS_NO_MEMORY;
    if (kept != NULL) {
        kept->context = loop->context;
        loop->plain = kept->plain;
    }
    return JOBS_OK;
}

static void tear_down(struct jobs__loop *loop)
{
    struct jobs__kept *kept = loop->options->kept;
    for (size_t i = 0; loop->wires != NULL && i < loop->count; i++) {
        if (loop->context != NULL)
            jobs__wire_give_back(&loop->wires[i]);
        jobs__wire_drop(&loop->wires[i], true);
    }
    if (loop->context != NULL) {
        (void)!lws_service(loop->context, -1); /* the close frames */
        if (kept == NULL)
            lws_context_destroy(loop->context);
        else
            kept->plain = loop->plain;
    }
    for (size_t i = 0; loop->wires != NULL && i < loop->count; i++) {
        jobs__tls_free(loop->wires[i].tls);
        jobs__buffer_free(&loop->wires[i].in);
        jobs__buffer_free(&loop->wires[i].out);
        explicit_bzero(&loop->wires[i].proxy, sizeof(loop->wires[i].proxy));
    }
    free(loop->wires);
}

int jobs__loop_run(const struct jobs__line *lines, size_t count, const struct jobs__loop_options *options,
                   struct jobs_error *error)
{
    int code = JOBS_OK;
    struct jobs__pipe_guard guard;
    struct jobs__loop loop = {.options = options, .count = count, .started = jobs__loop_now()};
    lws_set_log_level(0, NULL);
    jobs__pipe_guard(&guard);
    loop.wires = calloc(count, sizeof(*loop.wires));
    if (loop.wires == NULL && count > 0) {
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        prepare(&loop.wires[i], &loop, &lines[i]);
    code = set_up(&loop);
    sigaction(SIGPIPE, &guard.action, NULL);
    if (code) {
        jobs_error_set(error, code, "the network loop could not be set up");
        goto out;
    }
    code = run(&loop);
    if (code != JOBS_OK)
        jobs_error_set(error, code, "the network loop failed in the system");
out:
    tear_down(&loop);
    jobs__pipe_unguard(&guard);
    return code;
}
