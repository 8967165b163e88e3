/* test_convert_properties.c - the invariants of docs/protocol/convert.md over thousands of generated sources.
 *
 * JOBS_CONVERT_RUNS sets the number of sources a format; how they are made stands in convert_sources.h.
 */
#include "convert_sources.h"

#include <jobs/handoff.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>
#include <openssl/evp.h>

static const char *const forbidden[] = {"srv/private", "~/",          "../",       "file:",     "C:\\",
                                        "SR-0BADF00D", "SR-3BA0DEA8", "opt/agent", "etc/passwd"};

/* --- the invariants --- */

static int rank_of_disposition(const char *d)
{
    return strcmp(d, "blocked") == 0 || strcmp(d, "failed") == 0 ? 0 : strcmp(d, "partial") == 0 ? 1 : 2;
}

/* The best rank that the source's own word allows. */
static int rank_of_word(const char *word)
{
    static const struct {
        const char *word;
        int rank;
    } ranks[] = {{"completed_owned", 2},
                 {"completed_diagnostic", 2},
                 {"route_required", 1},
                 {"blocked", 0},
                 {"completed", 2},
                 {"continue", 1},
                 {"needs-input", 0},
                 {"failed", 0},
                 {"OK", 2},
                 {"CONTINUE", 1},
                 {"READY_FOR_REVIEW", 1},
                 {"READY_FOR_AUDIT", 1},
                 {"MERGE_READY", 2},
                 {"MERGED", 2},
                 {"NEEDS_FIXES", 1},
                 {"BLOCKED", 0},
                 {"NEEDS_INPUT", 0},
                 {"FAILED", 0},
                 {"HALT", 0},
                 {"draft", 1},
                 {"validated", 1},
                 {"review_pending", 1},
                 {"approved", 1},
                 {"promoted", 1},
                 {"observation_window", 1},
                 {"closed", 2},
                 {"rejected", 0},
                 {"PARTIAL", 1},
                 {"USER_DECISION_REQUIRED", 1},
                 {"CLOSED", 2}};
    for (size_t i = 0; i < COUNT(ranks); i++)
        if (strcmp(ranks[i].word, word) == 0)
            return ranks[i].rank;
    fail_msg("an outcome nobody knows: %s", word);
    return -1;
}

static void check_findings(const json_t *source, const json_t *findings, enum jobs_format format)
{
    size_t i, expected = 0;
    json_t *finding, *ids = json_object();
    json_array_foreach(findings, i, finding)
    {
        const char *id = json_string_value(json_object_get(finding, "id"));
        assert_null(json_object_get(ids, id));
        json_object_set_new(ids, id, json_true());
    }
    if (format == JOBS_FORMAT_SKILL_OUTCOME)
        expected = json_array_size(json_object_get(source, "discoveries"));
    else if (format == JOBS_FORMAT_WORKFLOW_ENVELOPE)
        expected = json_array_size(json_object_get(json_object_get(source, "findings"), "fix_now")) +
                   (json_integer_value(json_object_get(json_object_get(source, "findings"), "untriaged")) > 0);
    else if (format == JOBS_FORMAT_SUBLATION_REPORT)
        expected = json_array_size(json_object_get(source, "items"));
    else if (format == JOBS_FORMAT_BUBBLES)
        expected = json_array_size(json_object_get(source, "addressedFindings")) +
                   json_array_size(json_object_get(source, "unresolvedFindings")) +
                   json_array_size(json_object_get(source, "observations"));
    assert_int_equal(json_object_size(ids), expected);
    json_decref(ids);
}

/* Repairs stand once each, in the order that docs/protocol/convert.md gives. */
static void check_repairs(const json_t *repairs)
{
    static const char *const order[] = {"text-redacted", "plain-form",       "binding-redacted",
                                        "legacy-intent", "detail-defaulted", "design-candidates-moved",
                                        "path-relative"};
    size_t i, next = 0;
    json_t *repair;
    json_array_foreach(repairs, i, repair)
    {
        while (next < COUNT(order) && strcmp(order[next], json_string_value(repair)) != 0)
            next++;
        assert_true(next < COUNT(order));
        next++;
    }
}

static void digest_of(char hex[65], const char *text, size_t len)
{
    unsigned char digest[32];
    assert_int_equal(EVP_Digest(text, len, digest, NULL, EVP_sha256(), NULL), 1);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* An evidence root that knows some files: by path alone, so that it says the same twice. */
static enum jobs_evidence some_hash(void *context, const char *path, char hex[65])
{
    (void)context;
    size_t sum = 0;
    for (const char *p = path; *p != '\0'; p++)
        sum = sum * 31 + (unsigned char)*p;
    memset(hex, sum % 3 == 0 ? 'b' : 'a', 64);
    hex[64] = '\0';
    return sum % 7 == 0 ? JOBS_EVIDENCE_MISSING : sum % 7 == 1 ? JOBS_EVIDENCE_UNREADABLE : JOBS_EVIDENCE_HASHED;
}

/* The hash of a report that was changed, by jansson's own idea of sorted and compact. */
static void hash_again(json_t *report)
{
    char hex[72] = "sha256:";
    json_t *kept = json_deep_copy(report);
    json_object_del(kept, "report_hash");
    json_object_del(kept, "plain_report_sha256");
    json_object_del(kept, "delivery");
    char *text = json_dumps(kept, JSON_SORT_KEYS | JSON_COMPACT);
    digest_of(hex + 7, text, strlen(text));
    if (json_object_get(report, "report_hash") != NULL)
        json_object_set_new(report, "report_hash", json_string(hex));
    free(text);
    json_decref(kept);
}

static void check_invariants(const json_t *source, const char *text, const char *manifest, size_t len,
                             enum jobs_format format, bool hashing)
{
    json_t *m = json_loadb(manifest, len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *from = json_object_get(m, "source");
    const char *disposition = json_string_value(json_object_get(m, "disposition"));
    const char *native = json_string_value(json_object_get(from, "nativeOutcome"));
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    size_t i;
    json_t *claim;
    assert_non_null(m);
    assert_true(rank_of_disposition(disposition) <= rank_of_word(native));
    json_array_foreach(json_object_get(m, "verification"), i, claim)
    {
        char hex[65] = "";
        const char *stated = json_string_value(json_object_get(claim, "evidenceSha256"));
        bool passed = strcmp(json_string_value(json_object_get(claim, "status")), "passed") == 0;
        const char *label = json_string_value(json_object_get(claim, "label"));
        bool equal = hashing && stated != NULL && some_hash(NULL, label, hex) == JOBS_EVIDENCE_HASHED &&
                     strcmp(hex, stated) == 0;
        assert_int_equal(passed, equal);
    }
    char digest[65];
    digest_of(digest, text, strlen(text));
    assert_string_equal(json_string_value(json_object_get(from, "sha256")), digest);
    assert_non_null(json_object_get(from, "producer"));
    check_repairs(json_object_get(from, "repairs"));
    bool blocked = rank_of_disposition(disposition) == 0, finished = rank_of_disposition(disposition) == 2;
    assert_true(!blocked || json_object_get(m, "blocker") != NULL);
    assert_true(!finished || json_object_get(m, "blocker") == NULL);
    check_findings(source, json_object_get(m, "findings"), format);
    for (i = 0; i < COUNT(forbidden); i++) {
        char escaped[64], *to = escaped;
        for (const char *p = forbidden[i]; *p != '\0'; p++) {
            if (*p == '\\')
                *to++ = '\\';
            *to++ = *p;
        }
        *to = '\0';
        if (memmem(manifest, len, escaped, strlen(escaped)) != NULL)
            fail_msg("%s came out of:\n%s\nas:\n%.*s", forbidden[i], text, (int)len, manifest);
    }
    assert_int_equal(jobs_handoff_parse(&handoff, manifest, len, NULL, &report), JOBS_OK);
    assert_int_equal(json_integer_value(json_object_get(from, "bytes")), strlen(text));
    assert_string_equal(json_string_value(json_object_get(from, "format")), jobs_format_name(format));
    assert_string_equal(jobs_handoff_requested_outcome(handoff), "Do the work.");
    jobs_handoff_free(handoff);
    jobs_report_wipe(&report);
    json_decref(m);
}

static void one_source(json_t *source, enum jobs_format format, size_t *converted)
{
    struct jobs_convert_options options = {
        .format = format, .job_request = SAMPLE_JOB, .requested_outcome = "Do the work."};
    if (format == JOBS_FORMAT_SUBLATION_REPORT)
        hash_again(source);
    bool hashing = below(2) == 0;
    options.hash_evidence = hashing ? some_hash : NULL;
    options.keep_original = below(4) == 0;
    char *text = json_dumps(source, below(2) == 0 ? 0 : JSON_ESCAPE_SLASH), *first = NULL, *second = NULL;
    size_t first_len = 0, second_len = 0;
    struct jobs_report report = {0};
    int rc = jobs_convert(&first, &first_len, NULL, text, strlen(text), &options, &report);
    if (rc == JOBS_OK) {
        check_invariants(source, text, first, first_len, format, hashing);
        assert_int_equal(jobs_convert(&second, &second_len, NULL, text, strlen(text), &options, &report), JOBS_OK);
        assert_int_equal(first_len, second_len);
        assert_memory_equal(first, second, first_len);
        (*converted)++;
    } else {
        assert_int_equal(rc, JOBS_INVALID);
        assert_true(report.count > 0);
    }
    jobs_report_wipe(&report);
    free(first);
    free(second);
    free(text);
}

static void run_format(enum jobs_format format)
{
    size_t runs = 4000, converted = each_invented(format, &runs, one_source);
    print_message("%s: %zu of %zu generated sources converted\n", jobs_format_name(format), converted, runs);
    assert_true(converted * 20 > runs);
}

static void bubbles(void **state)
{
    (void)state;
    run_format(JOBS_FORMAT_BUBBLES);
}

static void skill_outcome(void **state)
{
    (void)state;
    run_format(JOBS_FORMAT_SKILL_OUTCOME);
}

static void workflow_envelope(void **state)
{
    (void)state;
    run_format(JOBS_FORMAT_WORKFLOW_ENVELOPE);
}

static void sublation_manifest(void **state)
{
    (void)state;
    run_format(JOBS_FORMAT_SUBLATION_MANIFEST);
}

static void sublation_report(void **state)
{
    (void)state;
    run_format(JOBS_FORMAT_SUBLATION_REPORT);
}

int main(void)
{
    set_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bubbles),           cmocka_unit_test(skill_outcome),
        cmocka_unit_test(workflow_envelope), cmocka_unit_test(sublation_manifest),
        cmocka_unit_test(sublation_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
