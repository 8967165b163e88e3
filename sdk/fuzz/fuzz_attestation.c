/* fuzz_attestation.c - owner attestations: any bytes, and any conditions inside a well-formed and well-signed one. */
#include "../../core/hex.h"
#include "../../core/sha256.h"
#include "../../core/text.h"
#include "../preimage.h"
#include "../signature.h"

#include <stdlib.h>
#include <string.h>

#define AGENT "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void with_conditions(const struct jobs_key *owner, const char *conditions, size_t len)
{
    struct jobs__buffer text = {.max = 1 << 20};
    struct jobs_attestation *attestation = NULL;
    unsigned char digest[32];
    unsigned char signature[64];
    char hex[129];
    jobs__buffer_text(&text, "nostr:agent-auth:" AGENT ":");
    jobs__buffer_add(&text, conditions, len);
    jobs__sha256(digest, text.bytes, text.len);
    if (jobs__sign(signature, owner, digest, 32) != JOBS_OK)
        abort();
    jobs__hex_write(hex, signature, 64);
    jobs__buffer_clear(&text);
    jobs__buffer_format(&text, "[\"auth\",\"%s\",", jobs_key_public(owner));
    jobs__preimage_string(&text, conditions, len);
    jobs__buffer_format(&text, ",\"%s\"]", hex);
    if (jobs_attestation_parse(&attestation, text.bytes, text.len, AGENT, NULL) == JOBS_OK) {
        const char *const *tag = jobs_attestation_tag(attestation);
        if (strlen(tag[2]) != len || memcmp(tag[2], conditions, len) != 0)
            abort();
        for (size_t i = 0; i < len; i++)
            if (strchr("kind=creatd_<>&0123456789", conditions[i]) == NULL)
                abort();
        (void)!jobs_attestation_allows(attestation, 43004, 1700000000, NULL);
        jobs_attestation_free(attestation);
    }
    jobs__buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct jobs_key *owner;
    static const char secret[] = "0000000000000000000000000000000000000000000000000000000000000001";
    if (owner == NULL && jobs_key_from_text(&owner, secret, 64, NULL) != JOBS_OK)
        abort();
    struct jobs_attestation *attestation = NULL;
    const char *text = (const char *)data;
    if (jobs_attestation_parse(&attestation, text, size, AGENT, NULL) == JOBS_OK)
        jobs_attestation_free(attestation);
    if (size > 0 && size < 4096 && jobs__text_is_utf8(text, size))
        with_conditions(owner, text, size);
    return 0;
}
