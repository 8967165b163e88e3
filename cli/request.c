/* request.c - `jobs request`: asks for a job (kind 43001), so that a round trip needs no other tool. */
#include "input.h"
#include "write.h"

#include <stdio.h>
#include <string.h>

/* A request is prose that others will quote: a credential in it is refused as one in a manifest is. */
static int check_text(struct run *run, const struct client *client, const char *text, size_t len)
{
    struct jobs_secret_options options = {.key = client->key};
    options.allowed = options_texts(&run->options, OPT_ALLOW_SECRET, &options.allowed_count);
    size_t blanks = 0;
    while (blanks < len && strchr(" \t\r\n", text[blanks]) != NULL && text[blanks] != '\0')
        blanks++;
    if (blanks == len)
        return jobs_error_set(&run->error, JOBS_USAGE, "the request is empty: say what is asked for");
    if (len > JOBS_CONTENT_MAX)
        return jobs_error_set(&run->error, JOBS_USAGE, "the request is longer than %zu bytes", JOBS_CONTENT_MAX);
    int code = jobs_secrets_check_text("", text, len, &options, &run->report);
    if (code == JOBS_INVALID) {
        jobs_error_set(&run->error, code, "the request holds what looks like a credential");
        if (strcmp(run->report.violations[0].rule, "H901") != 0) /* nothing lets our own key through */
            snprintf(run->error.hint, sizeof run->error.hint, "when it is none: --allow-secret ''");
    } else if (code != JOBS_OK) {
        jobs_error_set(&run->error, code, "out of memory");
    }
    return code;
}

int command_request(struct run *run)
{
    const char *channel = options_text(&run->options, OPT_CHANNEL);
    const char *notify = options_text(&run->options, OPT_NOTIFY);
    struct client client = {0};
    struct input input = {0};
    const char *text = run->options.operand;
    size_t len = strlen(text);

    int code = client_open(&client, run, OPT_RELAY, CLIENT_KEY_NEEDED);
    if (code == JOBS_OK && strcmp(text, "-") == 0) {
        code = input_read(&input, run, text, "the request", JOBS_CONTENT_MAX);
        text = input.bytes;
        len = input.len;
    }
    if (code == JOBS_OK)
        code = check_text(run, &client, text, len);
    if (code == JOBS_OK) {
        const struct jobs_tag tags[] = {
            {(const char *const[]){"h", channel}, 2},
            {(const char *const[]){"p", notify}, 2},
        };
        const struct write_order order = {JOBS_KIND_REQUEST, tags, notify != NULL ? 2 : 1, text, len, channel, true};
        code = write_event(run, &client, &order);
    }
    input_free(&input);
    client_free(&client);
    return code;
}
