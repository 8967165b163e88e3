/* jobs/key.h - secret keys, public keys, ids, and the owner's attestation (NIP-19, NIP-OA).
 *
 * A secret key lives in one place that is locked into memory (where the system lets us), left out of core dumps and
 * wiped when freed. No function prints it, and no error text holds it.
 */
#ifndef JOBS_KEY_H
#define JOBS_KEY_H

#include <jobs/error.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct jobs_key;

/* From text: 64 hex digits or nsec1…, spaces around it ignored. `text` is not wiped; the caller does that. All three
 * return JOBS_OK, JOBS_BAD_KEY, JOBS_SYSTEM or JOBS_NO_MEMORY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_key_from_text(struct jobs_key **out, const char *text, size_t len,
                                                 struct jobs_error *error);
/* From the environment variable `name`, whose value is overwritten in place (unsetenv would leave it in
 * /proc/self/environ). An unset or empty one is JOBS_BAD_KEY. Call it before any thread starts. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_key_from_environment(struct jobs_key **out, const char *name,
                                                        struct jobs_error *error);
/* From a regular file of at most 1024 bytes that nobody but its owner can touch; any other mode is refused with the
 * command that mends it, and pipes, devices and folders are refused without waiting for them. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_key_from_file(struct jobs_key **out, const char *path, struct jobs_error *error);

/* A fresh random key, written to path as nsec1… and a newline: mode 0600, never over an existing file, synced.
 * Returns JOBS_OK, JOBS_USAGE (the path is taken, or its folder is not there), JOBS_SYSTEM or JOBS_NO_MEMORY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_key_create_file(struct jobs_key **out, const char *path, struct jobs_error *error);

JOBS_PUBLIC void jobs_key_free(struct jobs_key *key); /* wipes; NULL-safe */

JOBS_PUBLIC const char *jobs_key_public(const struct jobs_key *key); /* 64 lower-case hex, NUL-terminated */

/* Whether the text holds this very secret as hex (any case) or nsec. Used by the secrets guard. */
JOBS_PUBLIC bool jobs_key_is_in(const struct jobs_key *key, const char *text, size_t len);

/* Makes this process unreadable to others of the same user: no core dump, PR_SET_DUMPABLE 0. */
JOBS_PUBLIC void jobs_key_harden_process(void);

/* What an id or a public key may be written as. hex is 64 lower-case digits. */
struct jobs_reference {
    char hex[65];
    bool has_author;
    char author[65]; /* nevent1…: the author, when it names one */
    bool has_kind;
    uint32_t kind;
    char relays[8][256]; /* hints of nevent1… / nprofile1…, at most 8, each ≤ 255 bytes; longer ones are left out */
    size_t relay_count;
};

/* An event id as hex (any case), note1…, nevent1… or either behind nostr:. Returns JOBS_OK or JOBS_USAGE. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_reference_event(struct jobs_reference *out, const char *text,
                                                   struct jobs_error *error);
/* A public key as hex, npub1…, nprofile1… or either behind nostr:. nsec1… is refused by name. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_reference_author(struct jobs_reference *out, const char *text,
                                                    struct jobs_error *error);

/* The owner attestation (NIP-OA): ["auth", owner, conditions, signature], given as JSON. */
struct jobs_attestation;

/* Checks shape, the conditions' grammar, the owner's signature for this agent key, and owner != agent. Returns JOBS_OK,
 * JOBS_BAD_KEY or JOBS_NO_MEMORY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_attestation_parse(struct jobs_attestation **out, const char *json, size_t len,
                                                     const char *agent_public, struct jobs_error *error);
/* Whether its conditions allow an event of this kind and time; JOBS_OK or JOBS_BAD_KEY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_attestation_allows(const struct jobs_attestation *attestation, uint32_t kind,
                                                      int64_t created_at, struct jobs_error *error);
/* Its four strings, in order. */
JOBS_PUBLIC const char *const *jobs_attestation_tag(const struct jobs_attestation *attestation);
JOBS_PUBLIC void jobs_attestation_free(struct jobs_attestation *attestation);

#ifdef __cplusplus
}
#endif
#endif
