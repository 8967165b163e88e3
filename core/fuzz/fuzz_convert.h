/* fuzz_convert.h - one conversion of fuzzed bytes; the first byte picks the options. */
#ifndef FUZZ_CONVERT_H
#define FUZZ_CONVERT_H

#include <jobs/convert.h>
#include <jobs/handoff.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_convert(enum jobs_format format, const uint8_t *data, size_t size)
{
    static const char job[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    if (size == 0)
        return 0;
    struct jobs_convert_options options = {.format = (data[0] & 1) != 0 ? JOBS_FORMAT_AUTO : format,
                                           .schema_level = (data[0] & 2) != 0,
                                           .keep_original = (data[0] & 4) != 0,
                                           .index = (data[0] >> 3) & 3,
                                           .job_request = job,
                                           .requested_outcome = "Do the work."};
    struct jobs_report report = {0};
    struct jobs_handoff *handoff = NULL;
    char *manifest = NULL;
    size_t len = 0;
    int rc = jobs_convert(&manifest, &len, NULL, (const char *)data + 1, size - 1, &options, &report);
    if ((rc == JOBS_OK) != (report.count == 0 && manifest != NULL))
        abort();
    if (rc == JOBS_OK && jobs_handoff_parse(&handoff, manifest, len, NULL, &report) != JOBS_OK)
        abort();
    jobs_handoff_free(handoff);
    jobs_report_wipe(&report);
    free(manifest);
    return 0;
}

#endif
