/* fuzz_convert_skill_outcome.c - any bytes as a skill-outcome: an answer, and what converts is a valid handoff. */
#include "fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_convert(JOBS_FORMAT_SKILL_OUTCOME, data, size);
}
