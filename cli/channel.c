/* channel.c - `jobs channel create` (kind 9007) and `jobs channel join` (kind 9021), for tests and first use. */
#include "write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum {
    KIND_CREATE = 9007,
    KIND_JOIN = 9021
};

/* A random UUID (RFC 9562, version 4). */
static int make_uuid(char out[37], struct jobs_error *error)
{
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        return jobs_error_set(error, JOBS_SYSTEM, "no random bytes: %s", strerror(errno));
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
             b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    return JOBS_OK;
}

int command_channel_create(struct run *run)
{
    const char *channel = options_text(&run->options, OPT_NEW_CHANNEL);
    char fresh[37];
    struct client client = {0};
    int code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_NEEDED);
    if (code == JOBS_OK && channel == NULL) {
        code = make_uuid(fresh, &run->error);
        channel = fresh;
    }
    if (code == JOBS_OK) {
        const struct jobs_tag tags[] = {
            {(const char *const[]){"h", channel}, 2},
            {(const char *const[]){"name", options_text(&run->options, OPT_CHANNEL_NAME)}, 2},
        };
        code = write_event(run, &client, &(struct write_order){KIND_CREATE, tags, 2, "", 0, channel, false});
    }
    client_free(&client);
    return code;
}

int command_channel_join(struct run *run)
{
    const char *channel = options_text(&run->options, OPT_CHANNEL);
    struct client client = {0};
    int code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_NEEDED);
    if (code == JOBS_OK) {
        const struct jobs_tag tags[] = {{(const char *const[]){"h", channel}, 2}};
        code = write_event(run, &client, &(struct write_order){KIND_JOIN, tags, 1, "", 0, channel, false});
    }
    client_free(&client);
    return code;
}
