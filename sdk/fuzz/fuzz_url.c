/* fuzz_url.c - any bytes as a relay URL: what is taken is a fixed point, and is taken apart alike. */
#include "sdk/url.h"

#include <jobs/publish.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *once = NULL, *twice = NULL;
    struct jobs__url a, b;
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (jobs_relay_url(&once, text, NULL) == JOBS_OK) {
        if (jobs_relay_url(&twice, once, NULL) != JOBS_OK || strcmp(once, twice) != 0)
            abort();
        if (jobs__url_parse(&a, text, NULL) != JOBS_OK || jobs__url_parse(&b, once, NULL) != JOBS_OK)
            abort();
        if (strcmp(a.host, b.host) != 0 || strcmp(a.path, b.path) != 0 || a.port != b.port || a.secure != b.secure)
            abort();
        if (strcspn(once, "@#") < strcspn(once + 6, "/") + 6)
            abort();
    }
    free(text);
    free(once);
    free(twice);
    return 0;
}
