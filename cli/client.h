/* client.h - from options and environment to what the publisher is told. */
#ifndef JOBS_CLI_CLIENT_H
#define JOBS_CLI_CLIENT_H

#include "run.h"

struct client {
    struct jobs_client_options options; /* all of it borrowed from here and from the run */
    struct jobs_key *key;
    struct jobs_attestation *attestation;
};

enum client_key {
    CLIENT_KEY_NEEDED,
    CLIENT_KEY_IF_THERE
};

/* Everything that can be said before the network: relays (those of the option `relay`), limits, key, owner attestation.
 * Returns JOBS_OK or a code with run->error set. Freed by the caller in any case. */
JOBS_MUST_USE int client_open(struct client *client, struct run *run, enum option_id relay, enum client_key wanted);
void client_free(struct client *client);

/* The key of --key-file or BUZZ_PRIVATE_KEY; *key stays NULL when there is none and it was not needed. The process is
 * hardened before anything is read, and the variable is overwritten in any case. */
JOBS_MUST_USE int client_read_key(struct jobs_key **key, struct run *run, enum client_key wanted);

#endif
