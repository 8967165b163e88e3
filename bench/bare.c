/* bare.c - yardstick BARE: what one exchange costs with libwebsockets and nothing else.
 *
 * bench-bare PORT FILE LINE: connects to 127.0.0.1, sends line LINE of FILE (an event) as one EVENT frame, waits for
 * one answer, closes. No TLS start-up, no check of anything.
 */
#include <libwebsockets.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char frame[LWS_PRE + 65536];
static size_t frame_len;
static bool done;
static int status = 1;

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
    (void)user;
    switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return lws_write(wsi, frame + LWS_PRE, frame_len, LWS_WRITE_TEXT) < (int)frame_len ? -1 : 0;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        if (len > 5 && memcmp(in, "[\"OK\"", 5) == 0)
            status = 0;
        done = true;
        return -1;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
    case LWS_CALLBACK_CLIENT_CLOSED:
        done = true;
        return 0;
    default:
        return 0;
    }
}

static bool read_frame(const char *path, long wanted)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len = -1;

    for (long i = 0; file != NULL && i <= wanted; i++)
        len = getline(&line, &capacity, file);
    if (len > 1 && (size_t)len < sizeof frame - LWS_PRE - 16)
        frame_len =
            (size_t)snprintf((char *)frame + LWS_PRE, sizeof frame - LWS_PRE, "[\"EVENT\",%.*s]", (int)len - 1, line);
    free(line);
    if (file != NULL)
        fclose(file);
    return frame_len > 0;
}

int main(int argc, char **argv)
{
    if (argc != 4 || !read_frame(argv[2], strtol(argv[3], NULL, 10))) {
        fprintf(stderr, "usage: bench-bare PORT FILE LINE\n");
        return 2;
    }
    lws_set_log_level(0, NULL);
    const struct lws_protocols protocols[] = {{.name = "bare", .callback = on_event, .rx_buffer_size = 4096},
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
                                         .local_protocol_name = "bare"};
    if (lws_client_connect_via_info(&to) == NULL)
        done = true;
    while (!done && lws_service(context, 0) >= 0)
        continue;
    lws_context_destroy(context);
    return status;
}
