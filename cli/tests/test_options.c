/* test_options.c - the tables hold together, and a command line is read by them. */
#include "cli/escape.h"
#include "cli/help.h"
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHANNEL "123e4567-e89b-42d3-a456-426614174000"
#define HEX     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NSEC    "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"

static struct options options;
static struct jobs_error error;
static char *arguments[32];
static int argument_count;

/* Parses a command line that is copied first, as a real one is writable. */
static int parse(const char *first, ...)
{
    options_wipe(&options);
    memset(&error, 0, sizeof error);
    for (int i = 0; i < argument_count; i++)
        free(arguments[i]);
    argument_count = 0;
    arguments[argument_count++] = strdup("jobs");
    va_list list;
    va_start(list, first);
    for (const char *text = first; text != NULL; text = va_arg(list, const char *))
        arguments[argument_count++] = strdup(text);
    va_end(list);
    arguments[argument_count] = NULL;
    return options_parse(&options, argument_count, arguments, &error);
}

static void assert_usage(int code, const char *message, const char *hint)
{
    assert_int_equal(code, JOBS_USAGE);
    assert_non_null(strstr(error.message, message));
    assert_non_null(strstr(error.hint, hint));
}

/* --- the tables --- */

static void each_option_belongs_to_a_command(void **state)
{
    (void)state;
    bool used[OPTION_COUNT] = {[OPT_JSON] = true, [OPT_HELP] = true, [OPT_VERSION] = true};
    for (size_t i = 0; i < command_count; i++)
        for (const uint8_t *at = command_table[i].options; *at != OPTION_END; at++)
            used[*at & ~MUST] = true;
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        const struct option *option = &option_table[id];
        if (!used[id])
            fail_msg("no command takes --%s", option->name);
        assert_true(option->help[0] != '\0');
        assert_int_equal(option->kind == KIND_FLAG, option->value[0] == '\0');
        if (option->kind == KIND_NUMBER)
            assert_true(option->low < option->high);
    }
}

static void no_command_has_two_options_of_one_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < command_count; i++)
        for (const uint8_t *a = command_table[i].options; *a != OPTION_END; a++)
            for (const uint8_t *b = a + 1; *b != OPTION_END; b++)
                assert_string_not_equal(option_table[*a & ~MUST].name, option_table[*b & ~MUST].name);
}

static void every_help_fits_a_terminal_and_shows_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < command_count; i++) {
        const struct options asked = {.asked = ASKED_HELP, .command = &command_table[i]};
        char *text = help_text(&asked);
        assert_non_null(text);
        assert_non_null(strstr(text, "\nexamples:\n  jobs "));
        for (const uint8_t *at = command_table[i].options; *at != OPTION_END; at++) {
            char option[64];
            snprintf(option, sizeof option, "  --%s", option_table[*at & ~MUST].name);
            assert_non_null(strstr(text, option));
        }
        for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
            if (escape_width(line) > 80)
                fail_msg("jobs %s --help is too wide: %s", command_table[i].words, line);
        free(text);
    }
}

static void the_program_help_lists_every_command(void **state)
{
    (void)state;
    const struct options asked = {.asked = ASKED_HELP};
    char *text = help_text(&asked);
    for (size_t i = 0; i < command_count; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n  %s ", command_table[i].words);
        assert_non_null(strstr(text, line));
    }
    free(text);
}

/* --- reading --- */

static void values_stand_behind_a_space_or_an_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(parse("handoff", "--manifest", "a.json", "--channel=" CHANNEL, "--dry-run", NULL), JOBS_OK);
    assert_string_equal(options_text(&options, OPT_MANIFEST), "a.json");
    assert_string_equal(options_text(&options, OPT_KNOWN_CHANNEL), CHANNEL);
    assert_true(options_has(&options, OPT_DRY_RUN));
    assert_false(options_has(&options, OPT_NEW));
    assert_int_equal(parse("validate", "--requested-outcome=", "-", NULL), JOBS_OK);
    assert_string_equal(options_text(&options, OPT_REQUESTED_OUTCOME), "");
    assert_int_equal(parse("validate", "--requested-outcome=a=b", "-", NULL), JOBS_OK);
    assert_string_equal(options_text(&options, OPT_REQUESTED_OUTCOME), "a=b");
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    assert_int_equal(parse("request", "--channel", CHANNEL, "--", "--json", NULL), JOBS_OK);
    assert_string_equal(options.operand, "--json");
    assert_int_equal(parse("validate", "--", "-", NULL), JOBS_OK);
    assert_string_equal(options.operand, "-");
    assert_false(options_want_json(argument_count, arguments));
}

static void help_and_version_win_where_they_stand(void **state)
{
    (void)state;
    assert_int_equal(parse("--help", NULL), JOBS_OK);
    assert_int_equal(options.asked, ASKED_HELP);
    assert_int_equal(parse("handoff", "-h", NULL), JOBS_OK);
    assert_int_equal(options.asked, ASKED_HELP);
    assert_string_equal(options.command->words, "handoff");
    assert_int_equal(parse("outbox", "--help", NULL), JOBS_OK);
    assert_null(options.command);
    assert_string_equal(options.group, "outbox");
    assert_int_equal(parse("keys", "new", "--version", NULL), JOBS_OK);
    assert_int_equal(options.asked, ASKED_VERSION);
    assert_int_equal(parse("validate", "--", "--help", NULL), JOBS_OK);
    assert_int_equal(options.asked, ASKED_RUN);
}

static void ids_come_out_as_lower_case_hex(void **state)
{
    (void)state;
    assert_int_equal(
        parse("validate", "--job", "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", "-", NULL),
        JOBS_OK);
    assert_string_equal(options_text(&options, OPT_JOB), HEX);
    assert_int_equal(parse("validate", "--job", "123", "-", NULL), JOBS_USAGE);
    assert_non_null(strstr(error.message, "--job"));
}

static void repeatable_ones_repeat_and_others_do_not(void **state)
{
    (void)state;
    size_t count;
    assert_int_equal(parse("handoff", "--manifest", "-", "--relay", "ws://a", "--relay=ws://b", NULL), JOBS_OK);
    const char *const *relays = options_texts(&options, OPT_RELAY, &count);
    assert_int_equal(count, 2);
    assert_string_equal(relays[0], "ws://a");
    assert_string_equal(relays[1], "ws://b");
    assert_usage(parse("handoff", "--manifest", "-", "--manifest", "-", NULL), "--manifest is given twice", "");
    assert_int_equal(parse("handoff", "--manifest", "-", "--new", "--new", NULL), JOBS_OK);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    assert_usage(parse(NULL, NULL), "needs a command", "jobs --help");
    assert_usage(parse("outbox", NULL), "one of: list, show, flush, drop, prune", "jobs outbox --help");
    assert_usage(parse("handoff", NULL), "needs --manifest PATH|-", "jobs handoff --help");
    assert_usage(parse("request", "--channel", CHANNEL, NULL), "needs TEXT|-", "");
    assert_usage(parse("handoff", "--manifest", NULL), "--manifest needs a value", "");
    assert_usage(parse("validate", "a", "b", NULL), "takes one argument", "");
    assert_usage(parse("schema", "a", NULL), "takes no argument", "");
    assert_usage(parse("handoff", "--dry-run=yes", NULL), "takes no value", "");
    assert_usage(parse("handoff", "--manifest", "-", "--new", "--supersede", NULL), "do not go together", "");
}

static void near_names_are_hinted_at(void **state)
{
    (void)state;
    assert_usage(parse("hadnoff", NULL), "`hadnoff`", "`jobs handoff`");
    assert_usage(parse("outbox", "lst", NULL), "`outbox lst`", "`jobs outbox list`");
    assert_usage(parse("frobnicate", NULL), "`frobnicate`", "jobs --help");
    assert_usage(parse("handoff", "--chanel", CHANNEL, NULL), "--chanel", "--channel");
    assert_usage(parse("handoff", "--mani", "-", NULL), "--mani", "--manifest");
    assert_usage(parse("--relay", "ws://a", "handoff", NULL), "--relay", "behind the command");
    assert_usage(parse("handoff", "-v", NULL), "`-", "");
    assert_usage(parse("handoff", "--bo\033gus=value", NULL), "\\u001b", "");
    assert_null(strstr(error.message, "value"));
}

static void numbers_are_whole_and_within_their_limits(void **state)
{
    (void)state;
    static const char *const bad[] = {"",  "0", "-1", "1.5", "1e3", " 5", "5 ", "5s", "86401", "99999999999999999999",
                                      "+5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_usage(parse("handoff", "--manifest", "-", "--timeout", bad[i], NULL), "--timeout (SECONDS) needs", "");
        assert_non_null(strstr(error.message, "from 1 to 86400"));
    }
    assert_int_equal(parse("handoff", "--manifest", "-", "--timeout", "86400", NULL), JOBS_OK);
    assert_int_equal(options_number(&options, OPT_TIMEOUT), 86400);
    assert_int_equal(options_number(&options, OPT_CONNECT_TIMEOUT), 15);
    assert_int_equal(parse("handoff", "--manifest", "-", "--require", "any", NULL), JOBS_OK);
    assert_int_equal(parse("handoff", "--manifest", "-", "--require", "2", NULL), JOBS_OK);
    assert_usage(parse("handoff", "--manifest", "-", "--require", "none", NULL), "all any or a whole number", "");
    assert_usage(parse("handoff", "--manifest", "-", "--channel", "abc", NULL), "lower-case hyphenated UUID", "");
}

static void flags_beat_variables_and_empty_ones_are_unset(void **state)
{
    (void)state;
    size_t count;
    setenv("BUZZ_TIMEOUT_SECS", "7", 1);
    setenv("BUZZ_RELAY_URL", "ws://variable", 1);
    setenv("BUZZ_AUTH_TAG", "", 1);
    assert_int_equal(parse("handoff", "--manifest", "-", NULL), JOBS_OK);
    assert_int_equal(options_number(&options, OPT_TIMEOUT), 7);
    assert_string_equal(options_texts(&options, OPT_RELAY, &count)[0], "ws://variable");
    assert_false(options_has(&options, OPT_AUTH_TAG));
    assert_int_equal(parse("handoff", "--manifest", "-", "--timeout", "9", "--relay", "ws://flag", NULL), JOBS_OK);
    assert_int_equal(options_number(&options, OPT_TIMEOUT), 9);
    assert_string_equal(options_texts(&options, OPT_RELAY, &count)[0], "ws://flag");
    assert_int_equal(count, 1);
    setenv("BUZZ_TIMEOUT_SECS", "soon", 1);
    assert_usage(parse("handoff", "--manifest", "-", NULL), "BUZZ_TIMEOUT_SECS", "");
    assert_null(strstr(error.message, "soon"));
    /* A command that does not wait does not look at it. */
    assert_int_equal(parse("validate", "-", NULL), JOBS_OK);
    unsetenv("BUZZ_TIMEOUT_SECS");
    unsetenv("BUZZ_RELAY_URL");
    unsetenv("BUZZ_AUTH_TAG");
    assert_int_equal(parse("outbox", "flush", NULL), JOBS_OK);
    options_texts(&options, OPT_ONLY_RELAY, &count);
    assert_int_equal(count, 0);
}

/* --- keys on the command line --- */

static void a_key_in_an_argument_is_refused_and_wiped(void **state)
{
    (void)state;
    static const char *const with[][4] = {
        {"keys", "show", "--key=" NSEC, NULL}, {"keys", "show", "--private-key", HEX},
        {"keys", "show", "--key-file", HEX},   {"keys", "show", "--key-file=" HEX, NULL},
        {"keys", "show", NSEC, NULL},          {"request", "--channel=" CHANNEL, "my key is " NSEC, NULL},
        {"keys", "show", "nostr:" NSEC, NULL},
    };
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        assert_usage(parse(with[i][0], with[i][1], with[i][2], with[i][3], NULL), "does not belong on the command line",
                     "--key-file");
        for (int a = 0; a < argument_count; a++) {
            assert_null(strstr(arguments[a], NSEC));
            assert_null(strstr(arguments[a], HEX));
        }
    }
    assert_usage(parse("keys", "show", "--nsec", NULL), "does not belong", "");
    /* Public things of the same shape are fine. */
    assert_int_equal(parse("outbox", "show", HEX, NULL), JOBS_OK);
}

/* --- escaping --- */

static void foreign_text_becomes_one_harmless_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"plain", "plain"},
        {"a\nb\tc\r", "a\\nb\\tc\\r"},
        {"\033[31m", "\\u001b[31m"},
        {"x\xE2\x80\xAEy", "x\\u202ey"},
        {"\xC2\x9B", "\\u009b"},
        {"caf\xC3\xA9", "caf\xC3\xA9"},
        {"\xFF\xC3", "\\xff\\xc3"},
        {"0123456789abcdefghijklmnopqrstuvwxyz", "0123456789abcdefghijklmnopqr…"},
        {"\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
         "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC",
         "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
         "\xE2\x82\xAC…"},
    };
    char out[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(escape_line(out, sizeof out, rows[i].text, strlen(rows[i].text)), rows[i].shown);
    assert_string_equal(escape_line(out, sizeof out, "a\0b", 3), "a\\u0000b");
}

static int clean_up(void **state)
{
    (void)state;
    options_wipe(&options);
    for (int i = 0; i < argument_count; i++)
        free(arguments[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_belongs_to_a_command),
        cmocka_unit_test(no_command_has_two_options_of_one_name),
        cmocka_unit_test(every_help_fits_a_terminal_and_shows_examples),
        cmocka_unit_test(the_program_help_lists_every_command),
        cmocka_unit_test(values_stand_behind_a_space_or_an_equals_sign),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(help_and_version_win_where_they_stand),
        cmocka_unit_test(ids_come_out_as_lower_case_hex),
        cmocka_unit_test(repeatable_ones_repeat_and_others_do_not),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(near_names_are_hinted_at),
        cmocka_unit_test(numbers_are_whole_and_within_their_limits),
        cmocka_unit_test(flags_beat_variables_and_empty_ones_are_unset),
        cmocka_unit_test(a_key_in_an_argument_is_refused_and_wiped),
        cmocka_unit_test(foreign_text_becomes_one_harmless_line),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
