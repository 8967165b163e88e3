/* fuzz_convert_bubbles.c - any bytes as a bubbles: an answer, and what converts is a valid handoff. */
#include "fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_convert(JOBS_FORMAT_BUBBLES, data, size);
}
