/* argument_keys.c - refuses secret keys on the command line. */
#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What people try to give a key with. */
static const char *const key_options[] = {"key", "nsec", "private-key", "secret-key", "secret", "sec", "privkey"};

static const char key_hint[] =
    "put it into a file of mode 0600 and name it with --key-file (`jobs keys new PATH` makes "
    "one), or into BUZZ_PRIVATE_KEY; treat this one as seen";

/* nsec1… or ncryptsec1… anywhere in a word, or what was given to an option that sounds like a key. */
static bool holds_secret_key(const char *text)
{
    static const char *const prefixes[] = {"nsec1", "ncryptsec1"};
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
        for (const char *at = text; (at = strcasestr(at, prefixes[p])) != NULL; at++) {
            const char *behind = at + strlen(prefixes[p]);
            if ((at == text || !isalnum((unsigned char)at[-1])) &&
                strspn(behind, "023456789acdefghjklmnpqrstuvwxyzACDEFGHJKLMNPQRSTUVWXYZ") >= 32)
                return true;
        }
    }
    return false;
}

static bool is_hex_key(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdefABCDEF") == 64;
}

/* An argument of another process can be read by everybody (ps, /proc): a key there is refused, and wiped so that it is
 * at least not shown for longer. */
int options_refuse_keys(int argc, char **argv, struct jobs_error *error)
{
    bool found = false;
    for (int i = 1; i < argc; i++) {
        bool wipe = holds_secret_key(argv[i]);
        for (size_t k = 0; !wipe && k < sizeof key_options / sizeof *key_options; k++) {
            size_t len = strlen(key_options[k]);
            if (strncmp(argv[i], "--", 2) != 0 || strncmp(argv[i] + 2, key_options[k], len) != 0)
                continue;
            if (argv[i][2 + len] == '=') {
                wipe = true;
            } else if (argv[i][2 + len] == '\0') {
                found = true;
                if (i + 1 < argc && (is_hex_key(argv[i + 1]) || holds_secret_key(argv[i + 1])))
                    explicit_bzero(argv[i + 1], strlen(argv[i + 1]));
            }
        }
        if (strcmp(argv[i], "--key-file") == 0 && i + 1 < argc && is_hex_key(argv[i + 1])) {
            explicit_bzero(argv[i + 1], strlen(argv[i + 1]));
            found = true;
        }
        if (strncmp(argv[i], "--key-file=", 11) == 0 && is_hex_key(argv[i] + 11))
            wipe = true;
        if (wipe) {
            explicit_bzero(argv[i], strlen(argv[i]));
            found = true;
        }
    }
    if (!found)
        return JOBS_OK;
    jobs_error_set(error, JOBS_USAGE,
                   "a secret key does not belong on the command line, where every user of this machine can read it");
    snprintf(error->hint, sizeof error->hint, "%s", key_hint);
    return JOBS_USAGE;
}
