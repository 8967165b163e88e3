/* digest.c - two handoffs that say the same have the same digest. */
#include "sha256.h"

#include <jobs/handoff.h>

#include <stdlib.h>

int jobs_handoff_digest(char hex[65], const struct jobs_handoff *handoff)
{
    char *bytes = NULL;
    size_t len = 0;
    int code = jobs_handoff_comparable(&bytes, &len, handoff, false);
    if (code == JOBS_OK)
        jobs__sha256_hex(hex, bytes, len);
    free(bytes);
    return code;
}
