/* signature.c - see signature.h.
 *
 * Two contexts: the library's static one checks signatures and costs nothing; the one that touches secrets is made
 * once, when the first secret appears, and blinded with fresh random bytes.
 */
#include "signature.h"

#include <errno.h>
#include <pthread.h>
#include <secp256k1_preallocated.h>
#include <secp256k1_schnorrsig.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static pthread_mutex_t signing_lock = PTHREAD_MUTEX_INITIALIZER;
static secp256k1_context *signing_context; /* set once under the lock, lives as long as the process */

bool jobs__random(void *bytes, size_t len)
{
    unsigned char *at = bytes;
    while (len > 0) {
        ssize_t got = getrandom(at, len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        len -= (size_t)got;
    }
    return true;
}

/* The memory comes from here because the library aborts the process when its own malloc fails. */
static int make_signing_context(secp256k1_context **out)
{
    unsigned char seed[32];
    int code = JOBS_OK;
    void *memory = malloc(secp256k1_context_preallocated_size(SECP256K1_CONTEXT_NONE));
    if (memory == NULL)
        return JOBS_NO_MEMORY;
    secp256k1_context *context = secp256k1_context_preallocated_create(memory, SECP256K1_CONTEXT_NONE);
    if (!jobs__random(seed, sizeof seed) || !secp256k1_context_randomize(context, seed)) {
        free(memory);
        code = JOBS_SYSTEM;
    } else {
        *out = context;
    }
    explicit_bzero(seed, sizeof seed);
    return code;
}

static int use_signing_context(const secp256k1_context **out)
{
    pthread_mutex_lock(&signing_lock);
    int code = signing_context == NULL ? make_signing_context(&signing_context) : JOBS_OK;
    *out = signing_context;
    pthread_mutex_unlock(&signing_lock);
    return code;
}

int jobs__pair_make(secp256k1_keypair *pair, unsigned char public_key[32], const unsigned char secret[32])
{
    const secp256k1_context *context;
    int code = use_signing_context(&context);
    if (code != JOBS_OK)
        return code;
    if (!secp256k1_keypair_create(context, pair, secret))
        return JOBS_BAD_KEY;
    secp256k1_xonly_pubkey public_point;
    if (!secp256k1_keypair_xonly_pub(context, &public_point, NULL, pair) ||
        !secp256k1_xonly_pubkey_serialize(context, public_key, &public_point))
        return JOBS_SYSTEM;
    return JOBS_OK;
}

int jobs__sign_with(unsigned char signature[64], const secp256k1_keypair *pair, const void *message, size_t len,
                    const unsigned char auxiliary[32])
{
    const secp256k1_context *context;
    int code = use_signing_context(&context);
    if (code != JOBS_OK)
        return code;
    unsigned char random[32];
    memcpy(random, auxiliary, sizeof random);
    secp256k1_schnorrsig_extraparams extra = SECP256K1_SCHNORRSIG_EXTRAPARAMS_INIT;
    extra.ndata = random;
    int good = secp256k1_schnorrsig_sign_custom(context, signature, message, len, pair, &extra);
    explicit_bzero(random, sizeof random);
    return good ? JOBS_OK : JOBS_SYSTEM;
}

int jobs__sign(unsigned char signature[64], const struct jobs_key *key, const void *message, size_t len)
{
    unsigned char auxiliary[32];
    if (!jobs__random(auxiliary, sizeof auxiliary))
        return JOBS_SYSTEM;
    int code = jobs__sign_with(signature, jobs__key_pair(key), message, len, auxiliary);
    explicit_bzero(auxiliary, sizeof auxiliary);
    return code;
}

bool jobs__verify(const unsigned char signature[64], const void *message, size_t len,
                  const unsigned char public_key[32])
{
    secp256k1_xonly_pubkey public_point;
    return secp256k1_xonly_pubkey_parse(secp256k1_context_static, &public_point, public_key) &&
           secp256k1_schnorrsig_verify(secp256k1_context_static, signature, message, len, &public_point);
}
