/* fuzz_secrets.c - the guard over any text and pointer: no byte out of bounds, and a finding whenever it says so. */
#include <jobs/event.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct jobs_secret_options options = {0};
    struct jobs_report report = {0};
    char *exact = malloc(size + 1); /* the exact length, so that reading on is seen */
    char *pointer = malloc(size + 2);
    if (exact == NULL || pointer == NULL)
        goto out;
    char *text = realloc(exact, size == 0 ? 1 : size);
    if (text == NULL)
        goto out;
    exact = text;
    memcpy(exact, data, size);
    pointer[0] = '/';
    memcpy(pointer + 1, data, size);
    pointer[size + 1] = '\0';
    int code = jobs_secrets_check_text(pointer, exact, size, &options, &report);
    if (code != JOBS_NO_MEMORY && (code == JOBS_INVALID) != (report.count > 0))
        abort();
    for (size_t i = 0; i < report.count; i++)
        if (report.violations[i].rule[0] != 'H' || strlen(report.violations[i].pointer) > size + 1)
            abort();
out:
    jobs_report_wipe(&report);
    free(pointer);
    free(exact);
    return 0;
}
