/* test_convert_memory.c - every allocation of a conversion fails once: it says so, or what comes out is still the
 * whole.
 *
 * The core's own calls come here by --wrap (see CMakeLists.txt), jansson's by its hook.
 */
#include "convert_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static long left = -1; /* allocations until one fails; below zero: none does */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

void __wrap_free(void *memory)
{
    __real_free(memory);
}

struct result {
    int code;
    bool reached; /* the allocation that was to fail */
    char *manifest, *rules;
};

static void convert(struct result *out, const char *text, size_t len)
{
    const struct jobs_convert_options options = {
        .job_request = SAMPLE_JOB, .requested_outcome = "Do the work.", .keep_original = len < 3000};
    struct jobs_report report = {0};
    size_t manifest_len;
    char rules[8192];
    size_t used = 0;
    out->code = jobs_convert(&out->manifest, &manifest_len, NULL, text, len, &options, &report);
    rules[0] = '\0';
    for (size_t i = 0; i < report.count && used < sizeof rules - 1200; i++)
        used += (size_t)snprintf(rules + used, sizeof rules - used, "%s %.100s %.1000s\n", report.violations[i].rule,
                                 report.violations[i].pointer, report.violations[i].message);
    out->reached = left < 0;
    left = -1;
    out->rules = strdup(rules);
    jobs_report_wipe(&report);
}

static void wipe(struct result *result)
{
    free(result->manifest);
    free(result->rules);
}

static void each_fails(const struct sample *s, void *context)
{
    struct result whole;
    (void)context;
    convert(&whole, s->text, s->len);
    bool reached = true;
    for (long nth = 0; reached; nth++) {
        struct result got;
        left = nth;
        convert(&got, s->text, s->len);
        if (got.code != JOBS_NO_MEMORY && (got.code != whole.code || strcmp(got.rules, whole.rules) != 0 ||
                                           (whole.manifest != NULL && strcmp(got.manifest, whole.manifest) != 0))) {
            fprintf(stderr, "%s%s\nand not\n%s%s\n", got.rules, got.manifest == NULL ? "" : got.manifest, whole.rules,
                    whole.manifest == NULL ? "" : whole.manifest);
            fail_msg("%s without its allocation %ld answers %d", s->name, nth, got.code);
        }
        reached = got.reached;
        wipe(&got);
    }
    wipe(&whole);
}

static void samples(void **state)
{
    (void)state;
    assert_true(each_sample(each_fails, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples)};
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
