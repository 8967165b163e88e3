/* fuzz_convert_workflow_envelope.c - any bytes as a workflow-envelope: an answer, and what converts is a valid handoff.
 */
#include "fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_convert(JOBS_FORMAT_WORKFLOW_ENVELOPE, data, size);
}
