/* fuzz_entry.c - an outbox file whose checksum is right: read without a fault, and what was read is written, and read
 * again, as the same. The event within is left out, for no fuzzer signs one.
 */
#include "../outbox.h"

#include "../../core/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jobs__buffer file = {.max = JOBS__ENTRY_FILE_MAX}, once = file, twice = file;
    struct jobs__entry *entry = NULL, *again = NULL;
    char checksum[65];
    const char *why;
    jobs__buffer_add(&file, data, size);
    jobs__sha256_hex(checksum, size > 0 ? file.bytes : "", size);
    jobs__buffer_format(&file, ",\"checksum\":\"%s\"}\n", checksum);
    if (!file.failed && jobs__entry_read(&entry, file.bytes, file.len, true, &why) == JOBS_OK) {
        (void)jobs__entry_state(entry);
        if (jobs__entry_write(&once, entry) != JOBS_OK ||
            jobs__entry_read(&again, once.bytes, once.len, true, &why) != JOBS_OK ||
            jobs__entry_write(&twice, again) != JOBS_OK || once.len != twice.len ||
            memcmp(once.bytes, twice.bytes, once.len) != 0)
            abort();
    }
    jobs__entry_free(entry);
    jobs__entry_free(again);
    jobs__buffer_free(&file);
    jobs__buffer_free(&once);
    jobs__buffer_free(&twice);
    return 0;
}
