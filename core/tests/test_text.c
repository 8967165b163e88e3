/* test_text.c - characters, spans and the one harmless line. */
#include "core/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void utf8_is_told_from_other_bytes(void **state)
{
    (void)state;
    static const char *const good[] = {
        "", "a", "\x7f", "é", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc0\xaf",
                                      "\xc1\xbf",
                                      "\xc3",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "a\xc3(b"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(jobs__text_is_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(jobs__text_is_utf8(bad[i], strlen(bad[i])));
    assert_true(jobs__text_is_utf8("a\0b", 3));
}

static void spaces_are_those_of_ecmascript(void **state)
{
    (void)state;
    static const struct {
        uint32_t first, last;
    } spaces[] = {{9, 13},          {32, 32},         {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                  {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
    for (uint32_t c = 0; c < 0x11000; c++) {
        bool want = false;
        for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
            want = want || (c >= spaces[i].first && c <= spaces[i].last);
        assert_int_equal(jobs__text_is_space(c), want);
    }
}

static void trim_takes_spaces_off_both_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text, *trimmed;
    } cases[] = {
        {"", ""},     {" \t\n", ""},          {"\u3000", ""},      {"\ufeffa b\u2029", "a b"}, {"\xc2\x85", "\xc2\x85"},
        {" é ", "é"}, {"a\u00a0\u00a0", "a"}, {"\u200b", "\u200b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        size_t len = strlen(text);
        jobs__text_trim(&text, &len);
        assert_int_equal(len, strlen(cases[i].trimmed));
        assert_memory_equal(text, cases[i].trimmed, len);
    }
}

static void foreign_text_becomes_one_harmless_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line;
        size_t max;
    } cases[] = {
        {"plain é 🚀", "plain é 🚀", 99},
        {"a\nb\tc\rd", "a\\nb\\tc\\rd", 99},
        {"\x1b[2J\x7f\xc2\x85", "\\u001b[2J\\u007f\\u0085", 99},
        {"\u202egnp\u2066x\u2028y\u2029", "\\u202egnp\\u2066x\\u2028y\\u2029", 99},
        {"\xff\xc3(", "\\xff\\xc3(", 99},
        {"abcdef", "abcdef", 6},
        {"abcdefg", "abc…", 6},
        {"éééé", "é…", 6},
        {"a\nb", "…", 3},
        {"abc", "", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[100];
        jobs__text_one_line(out, cases[i].max, cases[i].text, strlen(cases[i].text));
        if (cases[i].max < 3)
            assert_true(strlen(out) <= cases[i].max);
        else
            assert_string_equal(out, cases[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_told_from_other_bytes),
        cmocka_unit_test(spaces_are_those_of_ecmascript),
        cmocka_unit_test(trim_takes_spaces_off_both_ends),
        cmocka_unit_test(foreign_text_becomes_one_harmless_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
