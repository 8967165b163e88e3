/* main.c - jobs-relay: the options, the signals, and one of the two transports. */
#include "need.h"
#include "script.h"
#include "server.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
    server_interrupt();
}

static const char help[] =
    "jobs-relay [options]: a Nostr relay for tests. Its first line on stdout is its URL.\n"
    "\n"
    "  --profile plain|buzz   whom it answers like (plain)\n"
    "  --host HOST            where it listens (127.0.0.1)\n"
    "  --port N               0: any free port (0)\n"
    "  --dir PATH             keeps events as JSON Lines in PATH/events.jsonl, synced before OK (memory)\n"
    "  --script FILE          misbehaves as FILE says; see relay-tests/hostile/README.md\n"
    "  --check-script FILE    reads FILE, says what is wrong with it, and ends\n"
    "  --admit-jobs           takes kinds 43001 to 43006 (it does)\n"
    "  --refuse-jobs          restricted: unknown event kind\n"
    "  --cert FILE --key FILE wss:// with this certificate\n"
    "  --ca FILE              certificates that complete the chain it sends\n"
    "  --help, --version\n"
    "\n"
    "TERM or INT ends it; what it has answered OK true to is on disk.\n";

enum choice {
    OPT_PROFILE = 256,
    OPT_HOST,
    OPT_PORT,
    OPT_DIR,
    OPT_SCRIPT,
    OPT_CHECK,
    OPT_ADMIT,
    OPT_REFUSE,
    OPT_CA,
    OPT_CERT,
    OPT_KEY,
    OPT_HELP,
    OPT_VERSION
};

static const struct option options[] = {
    {"profile", required_argument, NULL, OPT_PROFILE}, {"host", required_argument, NULL, OPT_HOST},
    {"port", required_argument, NULL, OPT_PORT},       {"dir", required_argument, NULL, OPT_DIR},
    {"script", required_argument, NULL, OPT_SCRIPT},   {"check-script", required_argument, NULL, OPT_CHECK},
    {"admit-jobs", no_argument, NULL, OPT_ADMIT},      {"refuse-jobs", no_argument, NULL, OPT_REFUSE},
    {"ca", required_argument, NULL, OPT_CA},           {"cert", required_argument, NULL, OPT_CERT},
    {"key", required_argument, NULL, OPT_KEY},         {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},       {0},
};

static int port_number(const char *text)
{
    char *end;
    long port = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || port < 0 || port > 65535)
        give_up("--port must be a number from 0 to 65535");
    return (int)port;
}

static struct script *load(const char *path)
{
    struct jobs_error error = {0};
    struct script *script = NULL;
    if (script_load(&script, path, &error) != JOBS_OK)
        give_up("%s", error.message);
    return script;
}

int main(int argc, char **argv)
{
    struct relay_options relay = {0};
    struct server_options server = {.host = "127.0.0.1", .stop = &stop};
    struct script *script = NULL;
    struct jobs_error error = {0};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case OPT_PROFILE:
            if ((relay.profile = profile_named(optarg)) == NULL)
                give_up("--profile must be plain or buzz");
            break;
        case OPT_HOST:
            server.host = optarg;
            break;
        case OPT_PORT:
            server.port = port_number(optarg);
            break;
        case OPT_DIR:
            relay.dir = optarg;
            break;
        case OPT_SCRIPT:
        case OPT_CHECK:
            script_free(script);
            script = load(optarg);
            if (option == OPT_CHECK) {
                script_free(script);
                return 0;
            }
            break;
        case OPT_ADMIT:
        case OPT_REFUSE:
            relay.refuse_jobs = option == OPT_REFUSE;
            break;
        case OPT_CA:
            server.ca = optarg;
            break;
        case OPT_CERT:
            server.cert = optarg;
            break;
        case OPT_KEY:
            server.key = optarg;
            break;
        case OPT_HELP:
            fputs(help, stdout);
            return 0;
        case OPT_VERSION:
            puts("jobs-relay " JOBS_VERSION);
            return 0;
        default:
            return 1;
        }
    }
    if (optind < argc)
        give_up("it takes options only; see --help");
    if ((server.cert == NULL) != (server.key == NULL) || (server.ca != NULL && server.cert == NULL))
        give_up("wss:// needs --cert and --key");
    if (relay.profile == NULL)
        relay.profile = script != NULL && script->profile != NULL ? script->profile : &profile_plain;
    if (script != NULL && script->raw && server.cert != NULL)
        give_up("a script with `transport raw` speaks ws:// only");
    relay.script = script;

    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);

    int (*run)(const struct relay_options *, const struct server_options *, struct jobs_error *) =
        script != NULL && script->raw ? raw_run : server_run;
    int rc = run(&relay, &server, &error);
    if (rc != JOBS_OK)
        fprintf(stderr, "jobs-relay: %s\n", error.message);
    script_free(script);
    return rc == JOBS_OK ? 0 : 1;
}
