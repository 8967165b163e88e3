/* digest.c - two handoffs that say the same have the same digest. */
#include "buffer.h"

#include <jobs/handoff.h>

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

int jobs_handoff_digest(char hex[65], const struct jobs_handoff *handoff)
{
    unsigned char digest[32];
    char *bytes = NULL;
    size_t len = 0;
    int code = jobs_handoff_comparable(&bytes, &len, handoff, false);
    if (code == JOBS_OK && EVP_Digest(bytes, len, digest, NULL, EVP_sha256(), NULL) != 1)
        code = JOBS_NO_MEMORY;
    for (size_t i = 0; code == JOBS_OK && i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    free(bytes);
    return code;
}
