/* fuzz_json.c - raw bytes for the strict reader, jansson beside it. */
#include "core/tests/differential.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct jobs__json doc;
    const char *difference = differential(&doc, (const char *)data, size);
    if (difference != NULL) {
        fprintf(stderr, "%s\n", difference);
        abort();
    }
    return 0;
}
