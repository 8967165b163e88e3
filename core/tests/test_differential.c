/* test_differential.c - the strict reader against jansson, on documents and on what chance makes of them. */
#include "differential.h"

#include "core/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

static const char *const seeds[] = {
    "{\"schemaVersion\":1,\"a\":[null,true,false,\"\\u00e9\\n\",-1.5e+3,0,[],{}],\"b\":{\"c\":\"d\",\"e\":[[[]]]}}",
    "[\"\\ud83d\\ude80\",\"🚀\",\"\\u0000\",\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\"]",
    "{\"\\u0061\":1,\"b\":2,\"é\":3,\"\":4,\"aa\":5,\"ab\":6,\"ac\":7,\"ad\":8,\"ae\":9,\"af\":1,\"ag\":1,\"ah\":1,"
    "\"ai\":1,\"aj\":1,"
    "\"ak\":1,\"al\":1,\"am\":1,\"an\":1}",
    "[0,-0,1,10,-1,1.0,0.1,1e5,1E-5,9223372036854775807,-9223372036854775808]",
    " \t\r\n[ 1 , 2 ] \n",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    "\"text\"",
    "true",
};
static const char *const pieces[] = {"{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ":",
                                     "\"",
                                     "\\",
                                     "\\u",
                                     "\\u0061",
                                     "\"a\":",
                                     "a",
                                     "\"",
                                     "\"\"",
                                     "\\ud800",
                                     "\\udc00",
                                     "\xc3\xa9",
                                     "\xff",
                                     "\xed\xa0",
                                     "0",
                                     "-",
                                     ".",
                                     "e1",
                                     "null",
                                     " ",
                                     "\n",
                                     "\x01",
                                     "\x7f",
                                     "1",
                                     "01",
                                     "9999999999999999999"};

static uint64_t random_state;

static size_t random_below(size_t n)
{
    /* splitmix64 */
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ z >> 31) % n);
}

/* Cuts, doubles, overwrites or inserts somewhere. */
static size_t mutate(char *text, size_t len, size_t max)
{
    const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
    size_t piece_len = strlen(piece), at = random_below(len + 1), cut = random_below(4);
    if (cut > len - at)
        cut = len - at;
    if (random_below(3) == 0)
        piece_len = 0;
    if (len - cut + piece_len > max)
        return len;
    memmove(text + at + piece_len, text + at + cut, len - at - cut);
    memcpy(text + at, piece, piece_len);
    return len - cut + piece_len;
}

static void both_readers_agree(void **state)
{
    (void)state;
    const char *given = getenv("JOBS_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("JOBS_TEST_SEED=%llu\n", (unsigned long long)seed);
    random_state = seed;
    struct jobs__json doc = {0};
    size_t taken = 0, refused = 0;
    for (int round = 0; round < 200000; round++) {
        char text[512];
        const char *from = seeds[random_below(sizeof seeds / sizeof *seeds)];
        size_t len = strlen(from);
        memcpy(text, from, len);
        for (size_t i = random_below(4); i > 0; i--)
            len = mutate(text, len, sizeof text);
        const char *difference = differential(&doc, text, len);
        if (difference != NULL) {
            char line[1024];
            jobs__text_one_line(line, sizeof line - 1, text, len);
            fail_msg("%s: %s", difference, line);
        }
        if (jobs__json_parse(&doc, text, len, NULL) == JOBS_OK)
            taken++;
        else
            refused++;
    }
    /* Chance has been at both sides of the fence. */
    assert_true(taken > 10000 && refused > 10000);
    jobs__json_free(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_readers_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
