/* signature.h - the only door to secp256k1: BIP-340 signatures over events, AUTH and attestations. */
#ifndef JOBS_SIGNATURE_H
#define JOBS_SIGNATURE_H

#include <jobs/key.h>

#include <secp256k1_extrakeys.h>

/* Fills bytes from the kernel's generator; false when there is none. */
bool jobs__random(void *bytes, size_t len) JOBS_MUST_USE;

/* The pair of this secret and its public key; JOBS_BAD_KEY when the number is 0 or not below the group's order,
 * JOBS_SYSTEM, JOBS_NO_MEMORY. */
int jobs__pair_make(secp256k1_keypair *pair, unsigned char public_key[32], const unsigned char secret[32]);

/* Signs with auxiliary bytes of the caller's choice. The caller verifies before anybody sees the result: a fault in the
 * computation could give the secret away. JOBS_OK, JOBS_SYSTEM, JOBS_NO_MEMORY. */
int jobs__sign_with(unsigned char signature[64], const secp256k1_keypair *pair, const void *message, size_t len,
                    const unsigned char auxiliary[32]);

/* The same with 32 fresh random bytes, which is what everything but a test vector uses. */
int jobs__sign(unsigned char signature[64], const struct jobs_key *key, const void *message, size_t len);

/* The pair inside a key, for jobs__sign (key.c). */
const secp256k1_keypair *jobs__key_pair(const struct jobs_key *key);

bool jobs__verify(const unsigned char signature[64], const void *message, size_t len,
                  const unsigned char public_key[32]);

#endif
