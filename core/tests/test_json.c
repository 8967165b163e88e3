/* test_json.c - the strict reader: what it takes, what it refuses and how it says where. */
#include "core/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void faults_name_rule_line_offset_and_pointer(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        const char *rule;
        size_t offset, line;
        const char *pointer;
    } cases[] = {
#define S(text) text, sizeof text - 1
        {S(""), "H104", 0, 1, ""},
        {S(" \n "), "H104", 3, 2, ""},
        {S("\0"), "H104", 0, 1, ""},
        {S("{\"a\":\"\0\"}"), "H104", 6, 1, "/a"},
        {S("{\"a\":\n[1,{\"b/~\":\"\x01\"}]}"), "H104", 17, 2, "/a/1/b~1~0"},
        {S("[1,]"), "H104", 3, 1, "/1"},
        {S("[01]"), "H104", 2, 1, "/0"},
        {S("[1.]"), "H104", 3, 1, "/0"},
        {S("[.5]"), "H104", 1, 1, "/0"},
        {S("[+1]"), "H104", 1, 1, "/0"},
        {S("[1e]"), "H104", 3, 1, "/0"},
        {S("[-]"), "H104", 2, 1, "/0"},
        {S("[NaN]"), "H104", 1, 1, "/0"},
        {S("[nul]"), "H104", 1, 1, "/0"},
        {S("{\"a\"}"), "H104", 4, 1, "/a"},
        {S("{\"a\":1,}"), "H104", 7, 1, ""},
        {S("{a:1}"), "H104", 1, 1, ""},
        {S("{'a':1}"), "H104", 1, 1, ""},
        {S("[1}"), "H104", 2, 1, "/0"},
        {S("[\"\\x\"]"), "H104", 2, 1, "/0"},
        {S("[\"\\u00g0\"]"), "H104", 2, 1, "/0"},
        {S("[\"\\u00"), "H104", 2, 1, "/0"},
        {S("[\"abc"), "H104", 5, 1, "/0"},
        {S("[\"abc\\"), "H104", 5, 1, "/0"},
        {S("// no\n1"), "H104", 0, 1, ""},
        {S("\u00a0{}"), "H104", 0, 1, ""},
        {S("\xff"), "H102", 0, 1, ""},
        {S("[\"\xed\xa0\x80\"]"), "H102", 2, 1, "/0"},
        {S("{\"\xc0\xaf\":1}"), "H102", 2, 1, ""},
        {S("\xef\xbb\xbf{}"), "H103", 0, 1, ""},
        {S("{} {}"), "H105", 3, 1, ""},
        {S("1,"), "H105", 1, 1, ""},
        {S("{}\0"), "H105", 2, 1, ""},
        {S("{\"a\":1,\"\\u0061\":2}"), "H106", 7, 1, "/a"},
        {S("[{\"\":1,\"\":2}]"), "H106", 7, 1, "/0/"},
        {S("{\"o\":{\"\\ud83d\\ude80\":1,\"🚀\":2}}"), "H106", 23, 1, "/o/🚀"},
        {S("{\"a\":{\"__proto__\":1,\"b\":2,\"__proto__\":3}}"), "H106", 26, 1, "/a/__proto__"},
        {S("{\"\\n\\u202e\":\"\\ud800\"}"), "H107", 13, 1, "/\\n\\u202e"},
        {S("[\"\\udc00\"]"), "H107", 2, 1, "/0"},
        {S("[\"\\ud800\\ud800\\udc00\"]"), "H107", 2, 1, "/0"},
        {S("[\"\\ud800x\"]"), "H107", 2, 1, "/0"},
#undef S
    };
    struct jobs__json doc = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct jobs__json_fault fault;
        /* Exactly as long as said, so that a sanitizer sees one byte too many read. */
        char *exact = malloc(cases[i].len + (cases[i].len == 0));
        assert_non_null(exact);
        memcpy(exact, cases[i].text, cases[i].len);
        int code = jobs__json_parse(&doc, exact, cases[i].len, &fault);
        free(exact);
        if (code != JOBS_INVALID)
            fail_msg("case %zu was taken", i);
        assert_string_equal(fault.rule, cases[i].rule);
        assert_string_equal(fault.pointer, cases[i].pointer);
        if (fault.offset != cases[i].offset)
            fail_msg("case %zu: offset %zu", i, fault.offset);
        assert_int_equal(fault.line, cases[i].line);
    }
    jobs__json_free(&doc);
}

static void documents_keep_their_spelling_and_order(void **state)
{
    (void)state;
    static const char text[] =
        " {\"b\":1.10,\"a\":[null,true,false,\"\\u00e9\\n\",1e400],\n\"\":{},\"n\":-9223372036854775808} ";
    struct jobs__json doc = {0};
    assert_int_equal(jobs__json_parse(&doc, text, sizeof text - 1, NULL), JOBS_OK);
    assert_int_equal(doc.values[0].count, 4);
    assert_int_equal(doc.values[0].after, doc.count);
    uint32_t b = jobs__json_member(&doc, 0, "b"), a = jobs__json_member(&doc, 0, "a");
    assert_memory_equal(text + doc.values[b].start, "1.10", 4);
    assert_int_equal(doc.values[b].end - doc.values[b].start, 4);
    assert_int_equal(doc.values[a].count, 5);
    assert_int_equal(jobs__json_member(&doc, 0, "c"), 0);
    struct jobs__buffer out = {.max = 1000};
    jobs__json_string(&doc, a + 4, &out);
    assert_string_equal(out.bytes, "é\n");
    assert_true(jobs__json_equals(&doc, a + 4, "é\n", 3));
    assert_false(jobs__json_equals(&doc, a + 4, "é", 2));
    assert_false(jobs__json_equals(&doc, a + 4, "é\nx", 4));
    jobs__buffer_clear(&out);
    jobs__json_pointer(&doc, a + 5, &out);
    assert_string_equal(out.bytes, "/a/4");
    jobs__buffer_clear(&out);
    jobs__json_pointer(&doc, 0, &out);
    assert_int_equal(out.len, 0);
    uint32_t empty = jobs__json_member(&doc, 0, "");
    jobs__json_pointer(&doc, empty, &out);
    assert_string_equal(out.bytes, "/");
    assert_int_equal(jobs__json_line(&doc, a), 1);
    assert_int_equal(jobs__json_line(&doc, empty), 2);
    int64_t number;
    assert_true(jobs__json_integer(&doc, jobs__json_member(&doc, 0, "n"), &number));
    assert_true(number == INT64_MIN);
    assert_false(jobs__json_integer(&doc, b, &number));
    jobs__buffer_free(&out);
    jobs__json_free(&doc);
}

static void integers_have_one_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is;
        int64_t value;
    } cases[] = {{"0", true, 0},
                 {"-0", false, 0},
                 {"1.0", false, 0},
                 {"1e3", false, 0},
                 {"-1", true, -1},
                 {"9223372036854775807", true, INT64_MAX},
                 {"9223372036854775808", false, 0},
                 {"-9223372036854775809", false, 0},
                 {"99999999999999999999999", false, 0},
                 {"\"1\"", false, 0},
                 {"true", false, 0}};
    struct jobs__json doc = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        assert_int_equal(jobs__json_parse(&doc, cases[i].text, strlen(cases[i].text), NULL), JOBS_OK);
        assert_int_equal(jobs__json_integer(&doc, 0, &value), cases[i].is);
        assert_true(value == cases[i].value);
    }
    jobs__json_free(&doc);
}

static void nesting_ends_at_32(void **state)
{
    (void)state;
    struct jobs__json doc = {0};
    struct jobs__json_fault fault;
    char text[200];
    for (int depth = 31; depth <= 34; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        int code = jobs__json_parse(&doc, text, 2 * (size_t)depth, &fault);
        assert_int_equal(code, depth <= 32 ? JOBS_OK : JOBS_INVALID);
        if (depth > 32) {
            assert_string_equal(fault.rule, "H108");
            assert_int_equal(fault.offset, 32);
        }
    }
    jobs__json_free(&doc);
}

static void a_long_pointer_is_cut_from_the_left(void **state)
{
    (void)state;
    char text[2000];
    size_t len = 0;
    for (int i = 0; i < 20; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "{\"a name that is about thirty long %02d\":", i);
    text[len++] = '!';
    struct jobs__json doc = {0};
    struct jobs__json_fault fault;
    assert_int_equal(jobs__json_parse(&doc, text, len, &fault), JOBS_INVALID);
    assert_true(strlen(fault.pointer) < sizeof fault.pointer);
    assert_memory_equal(fault.pointer, "…/", strlen("…/"));
    assert_non_null(strstr(fault.pointer, "long 19"));
    jobs__json_free(&doc);
}

struct seen {
    char text[400];
};

static void note(void *context, const struct jobs__json_fault *fault)
{
    struct seen *seen = context;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%s@%zu:%zu%s ", fault->rule, fault->line, fault->offset,
             fault->pointer);
}

static void one_pass_tells_of_all_readable_faults(void **state)
{
    (void)state;
    static const char text[] =
        "\xef\xbb\xbf{\"a\":\"\xff\",\n\"a\":\"\\ud800\x01\",\n\"b\":{\"c\":1,\"c\":2,\"c\":3}}\n{}";
    struct jobs__json doc = {0};
    struct seen seen = {""};
    assert_int_equal(jobs__json_parse_all(&doc, text, sizeof text - 1, note, &seen), JOBS_OK);
    assert_string_equal(seen.text,
                        "H103@1:0 H102@1:9/a H107@2:18/a H104@2:24/a H106@3:39/b/c H106@3:45/b/c H106@2:13/a "
                        "H105@4:53 ");
    seen = (struct seen){""};
    assert_int_equal(jobs__json_parse_all(&doc, "[\"\xff\",", 5, note, &seen), JOBS_INVALID);
    assert_string_equal(seen.text, "H102@1:2/0 H104@1:5/1 ");
    jobs__json_free(&doc);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* 1 MiB in one object of many members. A quadratic search over its 130,000 names would take minutes. */
static void many_members_take_no_quadratic_time(void **state)
{
    (void)state;
    size_t size = 1 << 20, len = 0;
    char *text = malloc(size + 64);
    assert_non_null(text);
    for (int same_at_end = 0; same_at_end < 2; same_at_end++) {
        len = 0;
        text[len++] = '{';
        for (unsigned i = 0; len < size - 40; i++)
            len += (size_t)sprintf(text + len, "\"%x\":1,", i * 2654435761u);
        len += (size_t)sprintf(text + len, same_at_end ? "\"\\u0030\":1}" : "\"last\":1}");
        struct jobs__json doc = {0};
        struct jobs__json_fault fault;
        double begin = seconds();
        int code = jobs__json_parse(&doc, text, len, &fault);
        assert_true(seconds() - begin < 5);
        assert_int_equal(code, same_at_end ? JOBS_INVALID : JOBS_OK);
        if (same_at_end)
            assert_string_equal(fault.pointer, "/0");
        jobs__json_free(&doc);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_name_rule_line_offset_and_pointer),
        cmocka_unit_test(documents_keep_their_spelling_and_order),
        cmocka_unit_test(integers_have_one_spelling),
        cmocka_unit_test(nesting_ends_at_32),
        cmocka_unit_test(a_long_pointer_is_cut_from_the_left),
        cmocka_unit_test(one_pass_tells_of_all_readable_faults),
        cmocka_unit_test(many_members_take_no_quadratic_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
