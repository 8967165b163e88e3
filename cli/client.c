/* client.c - checks what the network part is to be told, and reads the key. Opens no connection. */
#include "client.h"

#include "escape.h"
#include "progress.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char key_variable[] = "BUZZ_PRIVATE_KEY";

int client_read_key(struct jobs_key **key, struct run *run, enum client_key wanted)
{
    const char *path = options_text(&run->options, OPT_KEY_FILE);
    char *variable = getenv(key_variable);
    int code;
    *key = NULL;
    if (path == NULL && (variable == NULL || variable[0] == '\0') && wanted == CLIENT_KEY_IF_THERE)
        return JOBS_OK;
    jobs_key_harden_process();
    if (path == NULL) {
        code = jobs_key_from_environment(key, key_variable, &run->error);
        if (code == JOBS_BAD_KEY && run->error.hint[0] == '\0')
            snprintf(run->error.hint, sizeof run->error.hint,
                     "`jobs keys new PATH` makes a key file for --key-file; or set %s", key_variable);
        return code;
    }
    code = jobs_key_from_file(key, path, &run->error);
    /* The flag beats the variable, but a secret that is not needed must not lie about either. */
    if (variable != NULL)
        explicit_bzero(variable, strlen(variable));
    return code;
}

/* Every relay must be a URL; what --require and --auth-url say must fit to how many different ones there are. */
static int check_relays(const struct client *client, struct jobs_error *error)
{
    const struct jobs_client_options *options = &client->options;
    size_t distinct = 0;
    char **urls = calloc(options->relay_count + 1, sizeof *urls);
    int code = JOBS_OK;
    if (urls == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < options->relay_count && code == JOBS_OK; i++) {
        code = jobs_relay_url(&urls[distinct], options->relays[i], error);
        bool seen = false;
        for (size_t j = 0; code == JOBS_OK && j < distinct && !seen; j++)
            seen = strcmp(urls[j], urls[distinct]) == 0;
        if (seen)
            free(urls[distinct]);
        else if (code == JOBS_OK)
            distinct++;
    }
    if (code == JOBS_OK && options->require > distinct)
        code = jobs_error_set(error, JOBS_USAGE, "--require asks for %zu relays, but there %s %zu", options->require,
                              distinct == 1 ? "is only" : "are only", distinct);
    if (code == JOBS_OK && options->auth_url != NULL && distinct > 1)
        code = jobs_error_set(error, JOBS_USAGE, "--auth-url is for one relay only, but there are %zu", distinct);
    for (size_t i = 0; i < distinct; i++)
        free(urls[i]);
    free(urls);
    return code;
}

/* "all" is 0 for the publisher, "any" is 1. */
static size_t required(const struct options *options)
{
    const char *text = options_text(options, OPT_REQUIRE);
    return strcmp(text, "all") == 0 ? 0 : strcmp(text, "any") == 0 ? 1 : (size_t)options_number(options, OPT_REQUIRE);
}

static int read_attestation(struct client *client, struct run *run)
{
    const char *tag = options_text(&run->options, OPT_AUTH_TAG);
    if (tag == NULL || tag[0] == '\0')
        return JOBS_OK;
    if (client->key == NULL)
        return jobs_error_set(&run->error, JOBS_BAD_KEY, "an owner attestation is for one key, and there is no key");
    return jobs_attestation_parse(&client->attestation, tag, strlen(tag), jobs_key_public(client->key), &run->error);
}

/* No relay is to blame for a file that is none; what can be read only once is left to whoever needs it. */
static int check_ca(const char *path, struct jobs_error *error)
{
    char shown[256], line[512];
    struct stat status;
    if (path == NULL)
        return JOBS_OK;
    escape_line(shown, sizeof shown, path, strlen(path));
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return JOBS_OK;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return jobs_error_set(error, JOBS_USAGE, "--ca: cannot read %s: %s", shown, strerror(errno));
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, "-----BEGIN ") != NULL && strstr(line, "CERTIFICATE-----") != NULL;
    fclose(file);
    return found ? JOBS_OK : jobs_error_set(error, JOBS_USAGE, "--ca: %s holds no certificate in PEM", shown);
}

int client_open(struct client *client, struct run *run, enum option_id relay, enum client_key wanted)
{
    const struct options *given = &run->options;
    struct jobs_client_options *options = &client->options;
    memset(client, 0, sizeof *client);
    options->relays = options_texts(given, relay, &options->relay_count);
    options->require = required(given);
    options->connect_timeout = (int)options_number(given, OPT_CONNECT_TIMEOUT);
    options->timeout = (int)options_number(given, OPT_TIMEOUT);
    options->ca_file = options_text(given, OPT_CA);
    options->auth_url = options_text(given, OPT_AUTH_URL);
    options->state_dir = options_text(given, OPT_STATE_DIR);
    options->skip_read_back = options_has(given, OPT_NO_READ_BACK);
    options->stop = &signals_stop;
    if (progress_is_wanted(run)) {
        options->progress = progress_show;
        options->progress_context = run;
    }

    int code = check_relays(client, &run->error);
    if (code == JOBS_OK)
        code = check_ca(options->ca_file, &run->error);
    if (code == JOBS_OK)
        code = client_read_key(&client->key, run, wanted);
    if (code == JOBS_OK)
        code = read_attestation(client, run);
    options->key = client->key;
    options->attestation = client->attestation;
    return code;
}

void client_free(struct client *client)
{
    jobs_attestation_free(client->attestation);
    jobs_key_free(client->key);
    memset(client, 0, sizeof *client);
}
