/* publisher_options.c - what a caller's options come to: relays named once, times that are never zero. */
#include "publisher.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define TIMEOUT_SECONDS         30
#define CONNECT_TIMEOUT_SECONDS 15

int64_t jobs__timeout_ms(const struct jobs_client_options *options)
{
    return (int64_t)(options->timeout > 0 ? options->timeout : TIMEOUT_SECONDS) * 1000;
}

int64_t jobs__connect_timeout_ms(const struct jobs_client_options *options)
{
    return (int64_t)(options->connect_timeout > 0 ? options->connect_timeout : CONNECT_TIMEOUT_SECONDS) * 1000;
}

bool jobs__stopped(const struct jobs_client_options *options)
{
    return options->stop != NULL && *options->stop != 0;
}

int jobs__relays_resolve(struct jobs__relays *out, const struct jobs_client_options *options, struct jobs_error *error)
{
    *out = (struct jobs__relays){0};
    out->urls = calloc(options->relay_count + 1, sizeof *out->urls);
    if (out->urls == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < options->relay_count; i++) {
        char *url = NULL;
        int code = jobs_relay_url(&url, options->relays[i], error);
        if (code)
            return code;
        bool known = false;
        for (size_t j = 0; j < out->count && !known; j++)
            known =
                strcmp(out->urls[j], url) == 0; // NOLINT(clang-analyzer-core.NonNullParamChecker): all before are set
        if (known)
            free(url);
        else
            out->urls[out->count++] = url;
    }
    if (options->require > out->count)
        return jobs_error_set(error, JOBS_USAGE, "%zu relays are required, but only %zu are named", options->require,
                              out->count);
    if (options->auth_url != NULL && out->count > 1)
        return jobs_error_set(error, JOBS_USAGE, "an AUTH URL can be given for one relay only");
    out->require = options->require == 0 ? out->count : options->require;
    return JOBS_OK;
}

void jobs__relays_free(struct jobs__relays *relays)
{
    for (size_t i = 0; i < relays->count; i++)
        free(relays->urls[i]);
    free(relays->urls);
    *relays = (struct jobs__relays){0};
}

uint64_t jobs__seed(uint64_t otherwise)
{
    uint64_t seed;
    return getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed ? seed : otherwise;
}
