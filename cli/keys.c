/* keys.c - `jobs keys new` and `jobs keys show`. Prints public keys only. */
#include "client.h"
#include "print.h"
#include "signals.h"

int command_keys_new(struct run *run)
{
    struct jobs_key *key = NULL;
    signals_hold(); /* half a key file would stand in the way of the next try */
    jobs_key_harden_process();
    int code = jobs_key_create_file(&key, run->options.operand, &run->error);
    if (code == JOBS_OK)
        code = print_line(run, json_pack("{s:s, s:o}", "public_key", jobs_key_public(key), "key_file",
                                         print_string(run->options.operand)));
    jobs_key_free(key);
    return code;
}

int command_keys_show(struct run *run)
{
    struct jobs_key *key = NULL;
    int code = client_read_key(&key, run, CLIENT_KEY_NEEDED);
    if (code == JOBS_OK)
        code = print_line(run, json_pack("{s:s}", "public_key", jobs_key_public(key)));
    jobs_key_free(key);
    return code;
}
