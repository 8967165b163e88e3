/* test_vectors.c - every folder of docs/protocol/vectors says what the code does, and every rule has its folders. */
#include "vectors.h"

#include "core/card.h"
#include "core/rules.h"

#include <jobs/handoff.h>

static bool invalid_seen[JOBS__RULE_COUNT], valid_seen[JOBS__RULE_COUNT];

/* The rule a folder's name begins with. */
static enum jobs__rule rule_of(const char *name)
{
    for (enum jobs__rule rule = 0; rule < JOBS__RULE_COUNT; rule++) {
        if (strncmp(name, jobs__rule_number(rule), 4) == 0 && name[4] == '-')
            return rule;
    }
    fail_msg("%s begins with no rule's number", name);
    return JOBS__RULE_COUNT;
}

/* The report says exactly the expected rules and pointers, in that order. */
static void expect(const char *folder, const json_t *expected, const struct jobs_report *report)
{
    size_t count = json_array_size(expected);
    for (size_t i = 0; i < count || i < report->count; i++) {
        const json_t *want = json_array_get(expected, i);
        const struct jobs_violation *got = i < report->count ? &report->violations[i] : NULL;
        const char *rule = json_string_value(json_object_get(want, "rule"));
        const char *pointer = json_string_value(json_object_get(want, "pointer"));
        if (want == NULL || got == NULL || strcmp(rule, got->rule) != 0 || strcmp(pointer, got->pointer) != 0)
            fail_msg("%s: violation %zu is %s %s, not %s %s", folder, i, got ? got->rule : "none",
                     got ? got->pointer : "", rule ? rule : "none", pointer ? pointer : "");
        assert_true(strlen(got->message) > 10);
    }
}

static struct jobs_given given_of(const json_t *given)
{
    return (struct jobs_given){
        .job_request = json_string_value(json_object_get(given, "jobRequest")),
        .requested_outcome = json_string_value(json_object_get(given, "requestedOutcome")),
        .supersedes = json_string_value(json_object_get(given, "supersedes")),
    };
}

/* Publisher and reader agree on a canonical payload, and it is its own canonical form. */
static void expect_canonical_is_a_card(const char *folder, const struct jobs_handoff *handoff)
{
    size_t len, again_len;
    const char *canonical = jobs_handoff_canonical(handoff, &len), *again;
    struct jobs_report report = {0}, left_out = {0};
    struct jobs_handoff *read, *parsed;
    int code = jobs_handoff_read(&read, canonical, len, jobs_handoff_job_request(handoff), &report, &left_out);
    expect(folder, NULL, &report);
    expect(folder, NULL, &left_out);
    assert_int_equal(code, JOBS_OK);
    again = jobs_handoff_canonical(read, &again_len);
    assert_int_equal(len, again_len);
    assert_memory_equal(canonical, again, len);
    assert_int_equal(jobs_handoff_parse(&parsed, canonical, len, NULL, &report), JOBS_OK);
    again = jobs_handoff_canonical(parsed, &again_len);
    assert_int_equal(len, again_len);
    assert_memory_equal(canonical, again, len);
    struct jobs__card_scratch scratch = {0};
    struct jobs__card_reason reason;
    assert_int_equal(jobs__card_check(&scratch, canonical, len, jobs_handoff_job_request(handoff), &reason), JOBS_OK);
    jobs__card_free(&scratch);
    jobs_handoff_free(read);
    jobs_handoff_free(parsed);
}

static void run_valid(const char *folder, const char *name)
{
    struct jobs__buffer manifest, canonical;
    vector_bytes(folder, "manifest", &manifest);
    vector_bytes(folder, "canonical", &canonical);
    json_t *json = vector_json(folder, "given.json");
    struct jobs_given given = given_of(json);
    struct jobs_handoff *handoff;
    struct jobs_report report = {0};
    int code = jobs_handoff_parse(&handoff, manifest.bytes, manifest.len, &given, &report);
    expect(folder, NULL, &report);
    assert_int_equal(code, JOBS_OK);
    size_t len;
    const char *bytes = jobs_handoff_canonical(handoff, &len);
    if (len != canonical.len || memcmp(bytes, canonical.bytes, len) != 0)
        fail_msg("%s: canonical form is\n%.*s", folder, (int)len, bytes);
    expect_canonical_is_a_card(folder, handoff);
    valid_seen[rule_of(name)] = true;
    jobs_handoff_free(handoff);
    json_decref(json);
    jobs__buffer_free(&manifest);
    jobs__buffer_free(&canonical);
}

static void run_invalid(const char *folder, const char *name)
{
    struct jobs__buffer manifest;
    vector_bytes(folder, "manifest", &manifest);
    json_t *expected = vector_json(folder, "expected.json"), *json = vector_json(folder, "given.json");
    struct jobs_given given = given_of(json);
    struct jobs_handoff *handoff;
    struct jobs_report report = {0};
    int code = jobs_handoff_parse(&handoff, manifest.bytes, manifest.len, &given, &report);
    expect(folder, expected, &report);
    assert_int_equal(code, JOBS_INVALID);
    assert_null(handoff);
    bool named = false;
    for (size_t i = 0; i < report.count; i++)
        named = named || strncmp(name, report.violations[i].rule, 4) == 0;
    assert_true(named);
    invalid_seen[rule_of(name)] = true;
    jobs_report_wipe(&report);
    json_decref(expected);
    json_decref(json);
    jobs__buffer_free(&manifest);
}

static void run_reader(const char *folder, const char *name)
{
    (void)name;
    struct jobs__buffer content;
    vector_bytes(folder, "content", &content);
    json_t *expected = vector_json(folder, "expected.json");
    assert_non_null(expected);
    const char *reply = json_string_value(json_object_get(expected, "reply"));
    bool card = json_is_true(json_object_get(expected, "card"));
    struct jobs_handoff *handoff;
    struct jobs_report report = {0}, left_out = {0};
    int code = jobs_handoff_read(&handoff, content.bytes, content.len, reply, &report, &left_out);
    expect(folder, json_object_get(expected, "violations"), &report);
    expect(folder, json_object_get(expected, "leftOut"), &left_out);
    assert_int_equal(code, card ? JOBS_OK : JOBS_INVALID);
    struct jobs__card_scratch scratch = {0};
    struct jobs__card_reason reason = {0};
    assert_int_equal(jobs__card_check(&scratch, content.bytes, content.len, reply, &reason), code);
    if (!card)
        invalid_seen[rule_of(name)] = true;
    jobs__card_free(&scratch);
    jobs_handoff_free(handoff);
    jobs_report_wipe(&report);
    jobs_report_wipe(&left_out);
    json_decref(expected);
    jobs__buffer_free(&content);
}

static void valid_ones_are_taken(void **state)
{
    (void)state;
    assert_true(vector_walk("valid", run_valid) >= 40);
}

static void invalid_ones_are_refused_for_all_their_faults(void **state)
{
    (void)state;
    assert_true(vector_walk("invalid", run_invalid) >= 150);
}

static void reader_ones_are_cards_or_fall_back(void **state)
{
    (void)state;
    assert_true(vector_walk("reader", run_reader) >= 20);
}

static void every_rule_has_a_vector_on_both_sides(void **state)
{
    (void)state;
    for (enum jobs__rule rule = 0; rule < JOBS__RULE_COUNT; rule++) {
        if (!invalid_seen[rule])
            fail_msg("%s has no vector that breaks it", jobs__rule_number(rule));
        /* The reader's own rule has its good ones among the reader's. */
        if (!valid_seen[rule] && rule != JOBS__H304)
            fail_msg("%s has no vector that keeps it", jobs__rule_number(rule));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_ones_are_taken),
        cmocka_unit_test(invalid_ones_are_refused_for_all_their_faults),
        cmocka_unit_test(reader_ones_are_cards_or_fall_back),
        cmocka_unit_test(every_rule_has_a_vector_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
