/* test_handoff.c - what a handoff says once it is one: fields, what was given, comparing, reading, walking its texts.
 */
#include <jobs/handoff.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define A64  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define UP64 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define B64  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const char full[] = "{\"schemaVersion\":1,\"jobRequest\":\"" UP64
                           "\",\"requestedOutcome\":\"asked\",\"outcome\":\" came\\n\",\"lastProgress\":"
                           "\"p\",\"disposition\":\"blocked\",\"blocker\":\"b\",\"artifacts\":[{\"kind\":\"file\","
                           "\"label\":\"l\",\"reference\":\"a.md\","
                           "\"sourceState\":\"s\",\"sha256\":\"" A64
                           "\",\"bytes\":7,\"mediaType\":\"m\"},{\"kind\":\"other\",\"label\":\"é\\u0020\","
                           "\"reference\":\"x\"}],\"verification\":[{\"label\":\"v\",\"status\":\"failed\","
                           "\"exitCode\":-1,\"command\":\"c\"}],"
                           "\"findings\":[{\"id\":\"F\",\"severity\":\"s\",\"summary\":\"t\",\"bucket\":"
                           "\"observation\"}],\"reviews\":[{\"role\":\"r\","
                           "\"reviewer\":\"w\",\"verdict\":\"hold\"}],\"questions\":[{\"id\":\"Q\",\"question\":\"?\","
                           "\"options\":[\"1\",\"2\"]}],"
                           "\"next\":{\"intent\":\"i\",\"targets\":[\"t\"]},\"supersedes\":\"" B64
                           "\",\"source\":{\"format\":\"f\",\"sha256\":\"" A64
                           "\",\"bytes\":0,\"repairs\":[\"one\"]},\"x/~\\n\":{\"k\":[\"deep\"]}}";

static struct jobs_handoff *parse(const char *json, const struct jobs_given *given)
{
    struct jobs_handoff *handoff;
    struct jobs_report report = {0};
    int code = jobs_handoff_parse(&handoff, json, strlen(json), given, &report);
    if (code != JOBS_OK)
        fail_msg("%s at %s", report.count ? report.violations[0].rule : "?",
                 report.count ? report.violations[0].pointer : "");
    return handoff;
}

static void fields_are_kept(void **state)
{
    (void)state;
    struct jobs_handoff *h = parse(full, NULL);
    size_t count;
    assert_string_equal(jobs_handoff_job_request(h), A64);
    assert_string_equal(jobs_handoff_requested_outcome(h), "asked");
    assert_string_equal(jobs_handoff_outcome(h), " came\n");
    assert_string_equal(jobs_handoff_last_progress(h), "p");
    assert_int_equal(jobs_handoff_disposition(h), JOBS_BLOCKED);
    assert_string_equal(jobs_disposition_name(JOBS_BLOCKED), "blocked");
    assert_string_equal(jobs_disposition_label(JOBS_NO_ARTIFACT), "Completed without an artifact");
    assert_string_equal(jobs_disposition_headline(JOBS_NO_ARTIFACT), "Job completed");
    assert_string_equal(jobs_handoff_blocker(h), "b");
    assert_string_equal(jobs_handoff_supersedes(h), B64);
    const struct jobs_artifact *a = jobs_handoff_artifacts(h, &count);
    assert_int_equal(count, 2);
    assert_string_equal(a[0].kind, "file");
    assert_string_equal(a[0].source_state, "s");
    assert_string_equal(a[0].sha256, A64);
    assert_true(a[0].bytes == 7);
    assert_string_equal(a[0].media_type, "m");
    assert_string_equal(a[1].label, "é ");
    assert_null(a[1].source_state);
    assert_true(a[1].bytes == -1);
    const struct jobs_verification *v = jobs_handoff_verification(h, &count);
    assert_int_equal(count, 1);
    assert_string_equal(v[0].status, "failed");
    assert_null(v[0].evidence);
    assert_true(v[0].has_exit_code);
    assert_int_equal(v[0].exit_code, -1);
    assert_string_equal(v[0].command, "c");
    const struct jobs_finding *f = jobs_handoff_findings(h, &count);
    assert_int_equal(count, 1);
    assert_string_equal(f[0].bucket, "observation");
    assert_null(f[0].owner);
    const struct jobs_review *r = jobs_handoff_reviews(h, &count);
    assert_int_equal(count, 1);
    assert_string_equal(r[0].verdict, "hold");
    const struct jobs_question *q = jobs_handoff_questions(h, &count);
    assert_int_equal(count, 1);
    assert_int_equal(q[0].option_count, 2);
    assert_string_equal(q[0].options[1], "2");
    assert_string_equal(jobs_handoff_next(h)->intent, "i");
    assert_string_equal(jobs_handoff_next(h)->targets[0], "t");
    assert_null(jobs_handoff_next(h)->owner);
    assert_string_equal(jobs_handoff_source(h)->repairs[0], "one");
    assert_true(jobs_handoff_source(h)->bytes == 0);
    jobs_handoff_free(h);
    jobs_handoff_free(NULL);
}

static void the_template_and_the_schema_are_their_files(void **state)
{
    (void)state;
    static const char *const paths[] = {JOBS_SOURCE_DIR "/docs/protocol/schema.json",
                                        JOBS_SOURCE_DIR "/examples/template.json"};
    const char *const texts[] = {jobs_handoff_schema(), jobs_handoff_template()};
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "rb");
        assert_non_null(file);
        static char bytes[1 << 16];
        size_t len = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_int_equal(len, strlen(texts[i]));
        assert_memory_equal(bytes, texts[i], len);
    }
    jobs_handoff_free(parse(jobs_handoff_template(), NULL));
}

#define REST "\"outcome\":\"o\",\"disposition\":\"failed\"}"

static void what_stands_beside_fills_in(void **state)
{
    (void)state;
    static const char bare[] = "{\"schemaVersion\":1," REST;
    struct jobs_given given = {.job_request = A64, .requested_outcome_later = true};
    struct jobs_handoff *h = parse(bare, &given);
    assert_string_equal(jobs_handoff_job_request(h), A64);
    assert_null(jobs_handoff_requested_outcome(h));
    jobs_handoff_free(h);
    given = (struct jobs_given){.job_request = A64, .requested_outcome = "a\"b\n", .supersedes = B64};
    h = parse(bare, &given);
    assert_string_equal(jobs_handoff_requested_outcome(h), "a\"b\n");
    assert_string_equal(jobs_handoff_supersedes(h), B64);
    jobs_handoff_free(h);
    given = (struct jobs_given){.job_request = UP64 "0", .requested_outcome = " \xff", .supersedes = UP64};
    struct jobs_report report = {0};
    assert_int_equal(jobs_handoff_parse(&h, bare, strlen(bare), &given, &report), JOBS_INVALID);
    static const char *const rules[] = {"H204", "H102", "H501"};
    assert_int_equal(report.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(report.violations[i].rule, rules[i]);
        assert_int_equal(report.violations[i].line, 0);
    }
    jobs_report_wipe(&report);
}

static void handoffs_are_compared_without_what_may_differ(void **state)
{
    (void)state;
    struct jobs_handoff *h = parse("{\"schemaVersion\":1,\"jobRequest\":\"" A64
                                   "\",\"requestedOutcome\":\"x\",\"supersedes\":\"" B64 "\",\"z\":1,\"a\":2," REST,
                                   NULL);
    char *bytes;
    size_t len;
    assert_int_equal(jobs_handoff_comparable(&bytes, &len, h, false), JOBS_OK);
    assert_string_equal(bytes,
                        "{\"schemaVersion\":1,\"jobRequest\":\"" A64 "\",\"requestedOutcome\":\"x\",\"outcome\":\"o\","
                        "\"disposition\":\"failed\",\"a\":2,\"z\":1}");
    assert_int_equal(len, strlen(bytes));
    free(bytes);
    assert_int_equal(jobs_handoff_comparable(&bytes, &len, h, true), JOBS_OK);
    assert_null(strstr(bytes, "requestedOutcome"));
    free(bytes);
    jobs_handoff_free(h);
}

static void a_reader_trims_and_leaves_out(void **state)
{
    (void)state;
    static const char content[] = "{\"schemaVersion\":1,\"jobRequest\":\"" A64
                                  "\",\"requestedOutcome\":\" x \",\"artifacts\":[{\"kind\":\"link\",\"label\":"
                                  "\"\\u3000l\",\"reference\":\" https://e.org/a b "
                                  "\",\"sha256\":\"no\",\"bytes\":5}],\"findings\":[{}],\"next\":{\"text\":\" t "
                                  "\"}," REST;
    struct jobs_report report = {0}, left_out = {0};
    struct jobs_handoff *h;
    assert_int_equal(jobs_handoff_read(&h, content, strlen(content), UP64, &report, &left_out), JOBS_OK);
    size_t count;
    const struct jobs_artifact *a = jobs_handoff_artifacts(h, &count);
    assert_string_equal(jobs_handoff_requested_outcome(h), "x");
    assert_string_equal(a[0].label, "l");
    assert_string_equal(a[0].reference, "https://e.org/a b");
    assert_null(a[0].sha256);
    assert_true(a[0].bytes == 5);
    assert_null(jobs_handoff_findings(h, &count));
    assert_int_equal(count, 0);
    assert_string_equal(jobs_handoff_next(h)->text, "t");
    assert_int_equal(report.count, 0);
    assert_int_equal(left_out.count, 5);
    assert_string_equal(left_out.violations[0].pointer, "/artifacts/0/sha256");
    jobs_report_wipe(&left_out);
    jobs_handoff_free(h);
    assert_int_equal(jobs_handoff_read(&h, content, strlen(content), UP64, &report, NULL), JOBS_OK);
    jobs_handoff_free(h);
    assert_int_equal(jobs_handoff_read(&h, content, strlen(content), NULL, &report, NULL), JOBS_INVALID);
    assert_null(h);
    assert_string_equal(report.violations[0].rule, "H304");
    jobs_report_wipe(&report);
}

struct walk {
    char text[4096];
    int stop_after;
};

static int note(void *context, const char *pointer, const char *text, size_t len)
{
    struct walk *walk = context;
    size_t used = strlen(walk->text);
    snprintf(walk->text + used, sizeof walk->text - used, "%s=%.*s;", pointer, (int)len, text);
    return --walk->stop_after == 0 ? 77 : 0;
}

static void every_text_and_name_is_visited(void **state)
{
    (void)state;
    struct jobs_handoff *h = parse(full, NULL);
    struct walk walk = {.stop_after = 1000};
    assert_int_equal(jobs_handoff_visit_texts(h, note, &walk), 0);
    static const char *const parts[] = {
        "/schemaVersion=schemaVersion;", "/jobRequest=" A64 ";", "/artifacts/1/label=label;/artifacts/1/label=é ;",
        "/questions/0/options/1=2;",     "/x~1~0\\n=x/~\n;",     "/x~1~0\\n/k=k;/x~1~0\\n/k/0=deep;"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr(walk.text, parts[i]));
    walk = (struct walk){.stop_after = 3};
    assert_int_equal(jobs_handoff_visit_texts(h, note, &walk), 77);
    jobs_handoff_free(h);
}

/* A manifest may hold a secret where none belongs; no error repeats it. */
static void values_are_never_echoed(void **state)
{
    (void)state;
    static const char json[] = "{\"schemaVersion\":\"hunter2\",\"jobRequest\":\"hunter2\",\"requestedOutcome\":["
                               "\"hunter2\"],\"outcome\":\"hunter2\\u0000\","
                               "\"disposition\":\"hunter2\",\"artifacts\":[{\"kind\":\"hunter2\",\"label\":"
                               "\"hunter2\\n\",\"reference\":\"https://u:hunter2@h"
                               "/\",\"sha256\":\"hunter2\",\"bytes\":\"hunter2\"}],\"supersedes\":\"hunter2\",\"x\":"
                               "\"hunter2\\ud800\",\"x\":\"hunter2\"} hunter2";
    struct jobs_handoff *h;
    struct jobs_report report = {0};
    const struct jobs_given given = {.job_request = A64, .requested_outcome = "hunter2", .supersedes = B64};
    assert_int_equal(jobs_handoff_parse(&h, json, strlen(json), &given, &report), JOBS_INVALID);
    assert_true(report.count >= 12);
    for (size_t i = 0; i < report.count; i++) {
        assert_null(strstr(report.violations[i].message, "hunter2"));
        assert_null(strstr(report.violations[i].pointer, "hunter2"));
    }
    jobs_report_wipe(&report);
}

/* 10 MB, 300,000 broken items: told of within bounds. */
static void very_broken_input_stays_bounded(void **state)
{
    (void)state;
    size_t size = 10 << 20;
    char *big = malloc(size);
    assert_non_null(big);
    memset(big, ' ', size);
    struct jobs_handoff *h;
    struct jobs_report report = {0};
    assert_int_equal(jobs_handoff_parse(&h, big, size, NULL, &report), JOBS_INVALID);
    assert_int_equal(report.count, 1);
    assert_string_equal(report.violations[0].rule, "H101");
    jobs_report_wipe(&report);
    size_t len = (size_t)sprintf(big, "{\"artifacts\":[0");
    while (len < JOBS_INPUT_MAX - 10)
        len += (size_t)sprintf(big + len, ",0");
    len += (size_t)sprintf(big + len, "]}");
    assert_int_equal(jobs_handoff_parse(&h, big, len, NULL, &report), JOBS_INVALID);
    assert_int_equal(report.count, 10001);
    assert_non_null(strstr(report.violations[10000].message, "more"));
    jobs_report_wipe(&report);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_kept),
        cmocka_unit_test(the_template_and_the_schema_are_their_files),
        cmocka_unit_test(what_stands_beside_fills_in),
        cmocka_unit_test(handoffs_are_compared_without_what_may_differ),
        cmocka_unit_test(a_reader_trims_and_leaves_out),
        cmocka_unit_test(every_text_and_name_is_visited),
        cmocka_unit_test(values_are_never_echoed),
        cmocka_unit_test(very_broken_input_stays_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
