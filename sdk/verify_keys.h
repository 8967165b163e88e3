/* verify_keys.h - public keys that were parsed before: the last 256 authors, so that a steady stream parses none. */
#ifndef JOBS_VERIFY_KEYS_H
#define JOBS_VERIFY_KEYS_H

#include <secp256k1_extrakeys.h>
#include <stdbool.h>
#include <stdint.h>

#define JOBS__KEYS_KEPT    256
#define JOBS__KEYS_BUCKETS 512

/* Starts zeroed; owns nothing. */
struct jobs__keys {
    struct {
        unsigned char bytes[32];
        secp256k1_xonly_pubkey point;
        uint16_t next; /* in the same bucket: index + 1, 0 ends it */
        bool used;     /* since the hand passed by */
    } entries[JOBS__KEYS_KEPT];
    uint16_t buckets[JOBS__KEYS_BUCKETS]; /* index + 1, 0 when empty */
    uint16_t count;
    uint16_t hand;   /* of the clock that chooses whom to forget */
    uint64_t parsed; /* how many were not found here */
};

/* The point of these 32 bytes, NULL when they are no public key. Valid until the next call. */
const secp256k1_xonly_pubkey *jobs__keys_find(struct jobs__keys *keys, const unsigned char bytes[32]);

#endif
