/* verify_keys.c - see verify_keys.h. Chains in a small table; whom nobody asked for since the last round is forgotten
 * first. Somebody who makes keys that fall into one bucket costs us 256 comparisons, far less than one signature.
 */
#include "verify_keys.h"

#include <string.h>

/* Public keys are evenly spread already. */
static uint16_t *bucket_of(struct jobs__keys *keys, const unsigned char bytes[32])
{
    return &keys->buckets[(bytes[31] | (unsigned)bytes[30] << 8) % JOBS__KEYS_BUCKETS];
}

static uint16_t forget_one(struct jobs__keys *keys)
{
    while (keys->entries[keys->hand].used) {
        keys->entries[keys->hand].used = false;
        keys->hand = (uint16_t)((keys->hand + 1) % JOBS__KEYS_KEPT);
    }
    uint16_t gone = keys->hand;
    keys->hand = (uint16_t)((keys->hand + 1) % JOBS__KEYS_KEPT);
    uint16_t *link = bucket_of(keys, keys->entries[gone].bytes);
    while (*link != gone + 1)
        link = &keys->entries[*link - 1].next;
    *link = keys->entries[gone].next;
    return gone;
}

const secp256k1_xonly_pubkey *jobs__keys_find(struct jobs__keys *keys, const unsigned char bytes[32])
{
    uint16_t *bucket = bucket_of(keys, bytes);
    for (uint16_t i = *bucket; i != 0; i = keys->entries[i - 1].next) {
        if (memcmp(keys->entries[i - 1].bytes, bytes, 32) == 0) {
            keys->entries[i - 1].used = true;
            return &keys->entries[i - 1].point;
        }
    }
    secp256k1_xonly_pubkey point;
    keys->parsed++;
    if (!secp256k1_xonly_pubkey_parse(secp256k1_context_static, &point, bytes))
        return NULL;
    uint16_t at = keys->count < JOBS__KEYS_KEPT ? keys->count++ : forget_one(keys);
    memcpy(keys->entries[at].bytes, bytes, 32);
    keys->entries[at].point = point;
    keys->entries[at].used = false;
    keys->entries[at].next = *bucket;
    *bucket = (uint16_t)(at + 1);
    return &keys->entries[at].point;
}
