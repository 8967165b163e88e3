/* pub.c - yardstick PUB: the most that a libwebsockets client publishes, nothing checked, nothing kept.
 *
 * bench-pub PORT FILE TIMES: sends every line of FILE (events) TIMES over to 127.0.0.1, 1024 unanswered at most, up to
 * 64 writes a callback; counts what comes back; prints events per second.
 */
#include <libwebsockets.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW 1024
#define BURST  64
#define LINES  4096

static char *lines[LINES];
static size_t lengths[LINES];
static size_t line_count;
static long total;
static long sent;
static long answered;
static bool over;

static int write_burst(struct lws *wsi)
{
    static unsigned char frame[LWS_PRE + 65536];
    for (int i = 0; i < BURST && sent < total && sent - answered < WINDOW; i++, sent++) {
        size_t line = (size_t)sent % line_count;
        int n = snprintf((char *)frame + LWS_PRE, sizeof frame - LWS_PRE, "[\"EVENT\",%.*s]", (int)lengths[line],
                         lines[line]);
        if (lws_write(wsi, frame + LWS_PRE, (size_t)n, LWS_WRITE_TEXT) < n)
            return -1;
        if (lws_send_pipe_choked(wsi)) {
            sent++;
            break;
        }
    }
    return 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
    (void)user;
    (void)in;
    (void)len;
    switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        if (write_burst(wsi) != 0)
            return -1;
        if (sent < total && sent - answered < WINDOW)
            lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        if (lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0)
            answered++;
        if (answered == total) {
            over = true;
            return -1;
        }
        if (sent < total)
            lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
    case LWS_CALLBACK_CLIENT_CLOSED:
        over = true;
        return 0;
    default:
        return 0;
    }
}

static bool read_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t capacity = 0;
    ssize_t len;

    if (file == NULL)
        return false;
    while (line_count < LINES && (len = getline(&lines[line_count], &capacity, file)) > 1 && len < 65000) {
        lengths[line_count++] = (size_t)len - 1;
        capacity = 0;
    }
    fclose(file);
    return line_count > 0;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc != 4 || !read_lines(argv[2]) || (total = (long)line_count * strtol(argv[3], NULL, 10)) < 1) {
        fprintf(stderr, "usage: bench-pub PORT FILE TIMES\n");
        return 2;
    }
    lws_set_log_level(0, NULL);
    const struct lws_protocols protocols[] = {{.name = "pub", .callback = on_event, .rx_buffer_size = 65536},
                                              {.name = NULL}};
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN, .protocols = protocols, .fd_limit_per_thread = 16};
    struct lws_context *context = lws_create_context(&info);
    if (context == NULL)
        return 2;
    struct lws_client_connect_info to = {.context = context,
                                         .address = "127.0.0.1",
                                         .host = "127.0.0.1",
                                         .port = (int)strtol(argv[1], NULL, 10),
                                         .path = "/",
                                         .local_protocol_name = "pub"};
    double start = seconds();
    if (lws_client_connect_via_info(&to) == NULL)
        over = true;
    while (!over && lws_service(context, 0) >= 0)
        continue;
    double took = seconds() - start;
    lws_context_destroy(context);
    for (size_t i = 0; i < line_count; i++)
        free(lines[i]);
    if (answered != total)
        return 1;
    printf("%.0f\n", (double)total / took);
    return 0;
}
