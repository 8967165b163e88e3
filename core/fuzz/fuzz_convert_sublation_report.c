/* fuzz_convert_sublation_report.c - any bytes as a sublation-report: an answer, and what converts is a valid handoff.
 */
#include "fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_convert(JOBS_FORMAT_SUBLATION_REPORT, data, size);
}
