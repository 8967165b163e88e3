/* core.c - yardstick CORE: what checking an event costs at least, on events already in memory.
 *
 * bench-core [SECONDS]: SHA-256 of a prepared preimage of 2 KB, xonly_pubkey_parse, schnorrsig_verify; prints events
 * per second. Nothing is parsed.
 */
#include <openssl/evp.h>
#include <secp256k1.h>
#include <secp256k1_extrakeys.h>
#include <secp256k1_schnorrsig.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENTS 256
#define SIZE   2048

struct prepared {
    unsigned char preimage[SIZE];
    unsigned char author[32];
    unsigned char signature[64];
};

static struct prepared events[EVENTS];

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int digest(unsigned char out[32], const struct prepared *event)
{
    return EVP_Digest(event->preimage, SIZE, out, NULL, EVP_sha256(), NULL);
}

static int prepare(const secp256k1_context *context)
{
    for (int i = 0; i < EVENTS; i++) {
        struct prepared *event = &events[i];
        unsigned char secret[32] = {[30] = 1, [31] = (unsigned char)i}; /* of no worth: known to everybody */
        unsigned char id[32];
        secp256k1_keypair pair;
        secp256k1_xonly_pubkey author;

        memset(event->preimage, 'a' + i % 26, SIZE);
        if (!digest(id, event) || !secp256k1_keypair_create(context, &pair, secret) ||
            !secp256k1_keypair_xonly_pub(context, &author, NULL, &pair) ||
            !secp256k1_xonly_pubkey_serialize(context, event->author, &author) ||
            !secp256k1_schnorrsig_sign32(context, event->signature, id, &pair, NULL))
            return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    double limit = argc == 2 ? strtod(argv[1], NULL) : 1.0;
    secp256k1_context *context = secp256k1_context_create(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY);
    long count = 0;
    int good = prepare(context);
    double start = seconds();
    double end = start;

    while (good && end - start < limit) {
        for (int i = 0; good && i < EVENTS; i++, count++) {
            unsigned char id[32];
            secp256k1_xonly_pubkey author;
            good = digest(id, &events[i]) && secp256k1_xonly_pubkey_parse(context, &author, events[i].author) &&
                   secp256k1_schnorrsig_verify(context, events[i].signature, id, sizeof id, &author);
        }
        end = seconds();
    }
    secp256k1_context_destroy(context);
    if (!good)
        return 1;
    printf("%.0f\n", (double)count / (end - start));
    return 0;
}
