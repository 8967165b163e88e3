/* test_convert_properties.c - the invariants of docs/protocol/convert.md over thousands of generated sources.
 *
 * Sources are the good samples with random members changed, removed, repeated, and local paths and codes strewn in.
 * The seed is printed; JOBS_SEED sets it, JOBS_CONVERT_RUNS the number of sources a format.
 */
#include "convert_samples.h"

#include <jobs/handoff.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>
#include <openssl/evp.h>

static uint64_t seed;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static size_t below(size_t n)
{
    return (size_t)(next_random() % n);
}

/* What must never come out; each is strewn into texts, and some into references. */
static const char *const poison[] = {"/srv/private/x.c", "~/keys.txt",  "a/../../b",      "file:///etc/passwd",
                                     "C:\\Users\\me",    "SR-0BADF00D", "/opt/agent/repo"};
static const char *const forbidden[] = {"/srv/",       "~/",          "../",        "file:",      "C:\\",
                                        "SR-0BADF00D", "SR-3BA0DEA8", "/opt/agent", "/etc/passwd"};
static const char *const words[] = {"completed_owned",
                                    "completed_diagnostic",
                                    "route_required",
                                    "blocked",
                                    "completed",
                                    "continue",
                                    "needs-input",
                                    "failed",
                                    "OK",
                                    "CONTINUE",
                                    "READY_FOR_REVIEW",
                                    "READY_FOR_AUDIT",
                                    "MERGE_READY",
                                    "MERGED",
                                    "NEEDS_FIXES",
                                    "BLOCKED",
                                    "NEEDS_INPUT",
                                    "FAILED",
                                    "HALT",
                                    "draft",
                                    "validated",
                                    "approved",
                                    "promoted",
                                    "observation_window",
                                    "closed",
                                    "rejected",
                                    "green",
                                    "red",
                                    "pending",
                                    "none",
                                    "F-1",
                                    "F-2",
                                    "F-3",
                                    "info",
                                    "warn",
                                    "blocker",
                                    "routed",
                                    "fixed-in-session",
                                    "independent",
                                    "required",
                                    "bubbles.plan",
                                    "bubbles.workflow",
                                    "unit",
                                    "run",
                                    "high",
                                    "low",
                                    "hold",
                                    "approve",
                                    "https://example.org/o/r/pull/7",
                                    "https://example.org/x",
                                    "9f1c2d3e4b5a69788776655443322110ffeeddcc",
                                    "docs/a.md",
                                    "plain words",
                                    "text with /srv/private/x.c inside",
                                    "see ~/keys.txt",
                                    "code SR-0BADF00D here",
                                    "",
                                    " "};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Picks a random value somewhere below `value`, with its holder; depth-first, by reservoir. */
struct place {
    json_t *holder;
    char name[128];
    size_t index, seen;
};

static void choose_place(json_t *value, struct place *p)
{
    const char *name;
    json_t *child;
    size_t i;
    if (json_is_object(value)) {
        json_object_foreach(value, name, child)
        {
            if (below(++p->seen) == 0) {
                p->holder = value;
                snprintf(p->name, sizeof p->name, "%s", name);
            }
            choose_place(child, p);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, child)
        {
            if (below(++p->seen) == 0) {
                p->holder = value;
                p->index = i;
            }
            choose_place(child, p);
        }
    }
}

static json_t *invent(const json_t *old)
{
    char text[256];
    switch (below(8)) {
    case 0:
        return json_null();
    case 1:
        return json_is_boolean(old) ? json_boolean(json_is_false(old)) : json_integer((json_int_t)below(5));
    case 2:
        snprintf(text, sizeof text, "words %s more", poison[below(COUNT(poison))]);
        return json_string(text);
    case 3:
        return json_string(poison[below(COUNT(poison))]);
    case 4:
        return json_is_array(old) ? json_array() : json_string(words[below(COUNT(words))]);
    default:
        return json_string(words[below(COUNT(words))]);
    }
}

static void mutate(json_t *source)
{
    struct place p = {0};
    choose_place(source, &p);
    if (p.holder == NULL)
        return;
    bool object = json_is_object(p.holder);
    json_t *old = object ? json_object_get(p.holder, p.name) : json_array_get(p.holder, p.index);
    json_t *value = below(4) == 0 ? json_deep_copy(old) : invent(old);
    if (!object && below(2) == 0)
        json_array_append_new(p.holder, value);
    else if (object)
        json_object_set_new(p.holder, p.name, value);
    else
        json_array_set_new(p.holder, p.index, value);
    if (below(12) == 0 && object)
        json_object_del(p.holder, p.name);
}

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

struct pool {
    json_t *sources[16];
    size_t count;
    enum jobs_format format;
};

static void gather(const struct sample *s, void *context)
{
    struct pool *pool = context;
    const char *open = strchr(s->text, '{');
    if (s->format != pool->format || s->letter != 'a' || open == NULL || pool->count == COUNT(pool->sources))
        return;
    json_t *source = json_loadb(open, s->len - (size_t)(open - s->text), JSON_DISABLE_EOF_CHECK, NULL);
    if (source != NULL)
        pool->sources[pool->count++] = source;
}

static void run_format(enum jobs_format format)
{
    struct pool pool = {.format = format};
    const char *runs_word = getenv("JOBS_CONVERT_RUNS");
    size_t runs = runs_word != NULL ? strtoul(runs_word, NULL, 10) : 4000, converted = 0;
    each_sample(gather, &pool);
    assert_true(pool.count > 0);
    for (size_t run = 0; run < runs; run++) {
        json_t *source = json_deep_copy(pool.sources[below(pool.count)]);
        for (size_t n = below(6); n > 0; n--)
            mutate(source);
        one_source(source, format, &converted);
        json_decref(source);
    }
    print_message("%s: %zu of %zu generated sources converted\n", jobs_format_name(format), converted, runs);
    assert_true(converted * 20 > runs);
    for (size_t i = 0; i < pool.count; i++)
        json_decref(pool.sources[i]);
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
    const char *given = getenv("JOBS_SEED");
    seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 2654435761u + 1;
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bubbles),           cmocka_unit_test(skill_outcome),
        cmocka_unit_test(workflow_envelope), cmocka_unit_test(sublation_manifest),
        cmocka_unit_test(sublation_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
