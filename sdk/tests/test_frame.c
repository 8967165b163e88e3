/* test_frame.c - relay messages: the shapes that count, and all those that do not. */
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

#include "../frame.h"

#define ID "aAbBcCdDeEfF00112233445566778899aAbBcCdDeEfF00112233445566778899"

static struct jobs__frame_reader reader;
static struct jobs__frame frame;

static void read_bytes(const char *text, size_t len)
{
    jobs__frame_read(&frame, &reader, text, len);
}

static void reads(const char *text, enum jobs__frame_type type)
{
    read_bytes(text, strlen(text));
    if (frame.type != type)
        fail_msg("%s is read as %d", text, frame.type);
}

static void the_six_messages(void **state)
{
    (void)state;
    reads("[\"OK\",\"" ID "\",true,\"\"]", JOBS__FRAME_OK);
    assert_true(frame.accepted);
    assert_int_equal(frame.id_is, JOBS__ID_EVENT);
    assert_string_equal(frame.id, "aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899");
    reads("[\"OK\",\"" ID "\",false,\"invalid: \\u0001\\\"\"]", JOBS__FRAME_OK);
    assert_false(frame.accepted);
    assert_string_equal(frame.text, "invalid: \001\"");
    reads(" [ \"NOTICE\" , \"hello\" ] ", JOBS__FRAME_NOTICE);
    assert_string_equal(frame.text, "hello");
    reads("[\"CLOSED\",\"jobs-1\",\"error: x\"]", JOBS__FRAME_CLOSED);
    assert_string_equal(frame.subscription, "jobs-1");
    assert_string_equal(frame.text, "error: x");
    reads("[\"EOSE\",\"jobs-2\"]", JOBS__FRAME_EOSE);
    assert_string_equal(frame.subscription, "jobs-2");
    reads("[\"EVENT\",\"jobs-3\",{\"a\":[1],\"id\":\"" ID "\"}]", JOBS__FRAME_EVENT);
    assert_int_equal(frame.event_len, strlen("{\"a\":[1],\"id\":\"" ID "\"}"));
    assert_int_equal(frame.event[0], '{');
    assert_string_equal(frame.id, "aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899");
    reads("[\"AUTH\",\"c\"]", JOBS__FRAME_AUTH);
    assert_string_equal(frame.text, "c");
    reads("[\"O\\u004b\",\"\",false]", JOBS__FRAME_OK); /* however it is spelled */
}

static void an_id_that_is_none(void **state)
{
    (void)state;
    static const char *const ids[] = {
        "\"\"",
        "null",
        "\"unknown\"",
        "\"0\"",
        "\"0000000000000000000000000000000000000000000000000000000000000000\"",
        "\"gg00000000000000000000000000000000000000000000000000000000000000\"",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char text[256];
        snprintf(text, sizeof text, "[\"OK\",%s,false,\"invalid: x\"]", ids[i]);
        reads(text, JOBS__FRAME_OK);
        assert_int_equal(frame.id_is, JOBS__ID_NONE);
        assert_string_equal(frame.text, "invalid: x");
    }
}

static void what_is_malformed_is_never_trusted(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "[",
        "[]",
        "{}",
        "null",
        "OK",
        "\"OK\"",
        "[1]",
        "[[\"OK\"]]",
        "[\"OK\"]",
        "[\"OK\",\"" ID "\"]",
        "[\"OK\",\"" ID "\",\"true\",\"\"]",
        "[\"OK\",\"" ID "\",1,\"\"]",
        "[\"OK\",\"" ID "\",null,\"\"]",
        "[\"OK\",\"" ID "\",[true],\"\"]",
        "[\"OK\",true,\"" ID "\",\"\"]",
        "[\"OK\",[\"" ID "\"],true,\"\"]",
        "[\"OK\",7,false,\"x\"]",
        "[\"OK\",\"" ID "\",true,\"\"",
        "[\"OK\",\"" ID "\",true,\"\"]]",
        "[\"OK\",\"" ID "\",true,\"\"] [\"OK\"]",
        "[\"NOTICE\"]",
        "[\"NOTICE\",1]",
        "[\"CLOSED\",1,\"\"]",
        "[\"EOSE\"]",
        "[\"EVENT\",\"s\",\"{}\"]",
        "[\"EVENT\",\"s\"]",
        "[\"EVENT\",{},\"s\"]",
        "[\"AUTH\"]",
        "[\"AUTH\",{}]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        reads(bad[i], JOBS__FRAME_BAD);
    read_bytes("[\"NOTICE\",\"\xff\xfe\"]", 14);
    assert_int_equal(frame.type, JOBS__FRAME_BAD);
    read_bytes("[\"NOTICE\",\"a\0b\"]", 15);
    assert_int_equal(frame.type, JOBS__FRAME_BAD);
}

static void what_is_odd_but_harmless(void **state)
{
    (void)state;
    reads("[\"OK\",\"" ID "\",true]", JOBS__FRAME_OK);
    assert_string_equal(frame.text, "");
    reads("[\"OK\",\"" ID "\",false,{\"code\":1}]", JOBS__FRAME_OK);
    assert_string_equal(frame.text, "");
    reads("[\"OK\",\"" ID "\",true,\"\",\"more\",{}]", JOBS__FRAME_OK);
    reads("[\"COUNT\",\"s\",{\"count\":1}]", JOBS__FRAME_OTHER);
    reads("[\"ok\",\"" ID "\",true,\"\"]", JOBS__FRAME_OTHER);
    reads("[\"EOSE\",\"a subscription that is longer than any of ours and so is none of ours at all\"]",
          JOBS__FRAME_EOSE);
    assert_string_equal(frame.subscription, "");
}

static void large_and_deep_ones_leave_nothing_behind(void **state)
{
    (void)state;
    size_t len = (size_t)1 << 20;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '[', len); /* depth */
    read_bytes(text, len);
    assert_int_equal(frame.type, JOBS__FRAME_BAD);
    memset(text, 'x', len); /* one megabyte of challenge */
    memcpy(text, "[\"AUTH\",\"", 9);
    memcpy(text + len - 2, "\"]", 2);
    read_bytes(text, len);
    assert_int_equal(frame.type, JOBS__FRAME_AUTH);
    assert_int_equal(frame.text_len, len - 11);
    for (size_t i = 1; i + 1 < len; i += 2) /* half a million values */
        memcpy(text + i, "0,", 2);
    text[0] = '[';
    memcpy(text + len - 2, "0]", 2);
    read_bytes(text, len);
    free(text);
    reads("[\"EOSE\",\"s\"]", JOBS__FRAME_EOSE);
    assert_true(reader.doc.capacity <= 4096);
    assert_true(reader.text.capacity <= 4096);
}

static int end(void **state)
{
    (void)state;
    jobs__frame_reader_free(&reader);
    jobs__frame_reader_free(NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_six_messages),
        cmocka_unit_test(an_id_that_is_none),
        cmocka_unit_test(what_is_malformed_is_never_trusted),
        cmocka_unit_test(what_is_odd_but_harmless),
        cmocka_unit_test(large_and_deep_ones_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
