/* test_convert_memory.c - every allocation of a conversion fails once: it says so, or what comes out is still the
 * whole.
 * jansson's allocations come here by its hook.
 */
#include "convert_samples.h"
#include "failing_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

struct result {
    int code;
    bool reached; /* the allocation that was to fail */
    char *manifest, *rules;
};

/* With its failing-th allocation failing. */
static void convert(struct result *out, const char *text, size_t len, size_t failing)
{
    const struct jobs_convert_options options = {
        .job_request = SAMPLE_JOB, .requested_outcome = "Do the work.", .keep_original = len < 3000};
    struct jobs_report report = {0};
    size_t manifest_len;
    char rules[8192];
    size_t used = 0;
    watch_memory(failing);
    out->code = jobs_convert(&out->manifest, &manifest_len, NULL, text, len, &options, &report);
    out->reached = unwatch_memory();
    rules[0] = '\0';
    for (size_t i = 0; i < report.count && used < sizeof rules - 1200; i++)
        used += (size_t)snprintf(rules + used, sizeof rules - used, "%s %.100s %.1000s\n", report.violations[i].rule,
                                 report.violations[i].pointer, report.violations[i].message);
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
    convert(&whole, s->text, s->len, 0);
    bool reached = true;
    for (size_t nth = 1; reached; nth++) {
        struct result got;
        convert(&got, s->text, s->len, nth);
        if (got.code != JOBS_NO_MEMORY && (got.code != whole.code || strcmp(got.rules, whole.rules) != 0 ||
                                           (whole.manifest != NULL && strcmp(got.manifest, whole.manifest) != 0))) {
            fprintf(stderr, "%s%s\nand not\n%s%s\n", got.rules, got.manifest == NULL ? "" : got.manifest, whole.rules,
                    whole.manifest == NULL ? "" : whole.manifest);
            fail_msg("%s without its allocation %zu answers %d", s->name, nth, got.code);
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

static void yaml(void **state)
{
    (void)state;
    char text[] = "# RESULT-ENVELOPE\n```yaml\nagent: bubbles.a\noutcome: completed_owned\nsummary: at \"/srv/c\"\n"
                  "addressedFindings: ['F-1: x', \"\\x46-2\"]\nfindings: [{id: F-1, summary: y}]\nnote: ~\n"
                  "artifactsCreated:\n  - a/b.c\n```\n";
    const struct sample s = {.name = "yaml", .text = text, .len = sizeof text - 1};
    each_fails(&s, NULL);
    s.text[sizeof text - 6] = 'x'; /* the fence no longer ends */
    each_fails(&s, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples), cmocka_unit_test(yaml)};
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
