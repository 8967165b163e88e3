/* options.c - reads a command line by the tables; says what is wrong with it and what was probably meant.
 *
 * Opens no file and prints nothing. Values never stand in a message: they may be secrets.
 */
#include "options.h"

#include "escape.h"
#include "run.h"

#include <jobs/event.h>
#include <jobs/key.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option option_table[OPTION_COUNT] = {
#define OPTION(id, name, value, kind, words, low, high, environment, fallback, help)                                   \
    [OPT_##id] = {name, value, KIND_##kind, words, low, high, environment, fallback, help},
#include "options.def"
};

const struct command command_table[] = {
#define OPTIONS(...)                                                                                                   \
    (const uint8_t[])                                                                                                  \
    {                                                                                                                  \
        __VA_ARGS__, OPTION_END                                                                                        \
    }
#define COMMAND(words, function, operand, options, summary, examples)                                                  \
    {words, function, operand, options, summary, examples},
#include "commands.def"
};
const size_t command_count = sizeof command_table / sizeof *command_table;

static const uint8_t everywhere[] = {OPT_JSON, OPT_HELP, OPT_VERSION, OPTION_END};

/* What cannot be asked for together, and why. */
static const struct {
    enum option_id one, other;
    const char *why;
} conflicts[] = {
    {OPT_SUPERSEDE, OPT_NEW, "the one replaces the newest handoff, the other posts one beside it"},
};

static bool name_is(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

static void set_hint(struct jobs_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void set_hint(struct jobs_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->hint, sizeof error->hint, format, arguments);
    va_end(arguments);
}

/* --- values --- */

static bool word_is_in(const char *words, const char *text)
{
    size_t len = strlen(text);
    for (const char *at = words; *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == len && strncmp(at, text, len) == 0)
            return true;
        at += word + (at[word] == ' ');
    }
    return false;
}

static int bad_value(struct jobs_error *error, const struct option *option, const char *given_as, const char *wanted)
{
    return jobs_error_set(error, JOBS_USAGE, "%s (%s) needs %s", given_as, option->value, wanted);
}

/* Checks text against the row; *out is a copy in its printed form. given_as is "--timeout" or the variable's name. */
static int check_value(char **out, const struct option *option, const char *given_as, const char *text,
                       struct jobs_error *error)
{
    struct jobs_reference reference;
    const char *value = text;
    int code = JOBS_OK;
    if (!word_is_in(option->words, text)) {
        switch (option->kind) {
        case KIND_FLAG:
        case KIND_TEXT:
        case KIND_TEXTS:
            break;
        case KIND_NUMBER: {
            char *end;
            errno = 0;
            long number = strtol(text, &end, 10);
            if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || number < option->low ||
                number > option->high) {
                char wanted[96];
                snprintf(wanted, sizeof wanted, "%s%sa whole number from %ld to %ld", option->words,
                         option->words[0] != '\0' ? " or " : "", option->low, option->high);
                code = bad_value(error, option, given_as, wanted);
            }
            break;
        }
        case KIND_CHANNEL:
            if (!jobs_channel_is_valid(text))
                code = bad_value(error, option, given_as,
                                 "a lower-case hyphenated UUID, such as 123e4567-e89b-42d3-a456-426614174000");
            break;
        case KIND_EVENT:
        case KIND_AUTHOR: {
            struct jobs_error why;
            code = option->kind == KIND_EVENT ? jobs_reference_event(&reference, text, &why)
                                              : jobs_reference_author(&reference, text, &why);
            if (code != JOBS_OK) {
                code = jobs_error_set(error, code, "%s: %s", given_as, why.message);
                if (error != NULL)
                    memcpy(error->hint, why.hint, sizeof error->hint);
            }
            value = reference.hex;
            break;
        }
        case KIND_WORD: {
            char wanted[96];
            snprintf(wanted, sizeof wanted, "one of: %s", option->words);
            code = bad_value(error, option, given_as, wanted);
            break;
        }
        }
    }
    if (code != JOBS_OK)
        return code;
    *out = strdup(value);
    return *out != NULL ? JOBS_OK : jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
}

static int add_value(struct options *options, enum option_id id, const char *given_as, const char *text,
                     struct jobs_error *error)
{
    const struct option *option = &option_table[id];
    struct option_values *values = &options->values[id];
    char *value = NULL;
    int code = check_value(&value, option, given_as, text, error);
    if (code != JOBS_OK)
        return code;
    if (values->count > 0 && option->kind == KIND_FLAG) {
        free(value);
        return JOBS_OK;
    }
    if (values->count > 0 && option->kind != KIND_TEXTS) {
        free(value);
        return jobs_error_set(error, JOBS_USAGE, "--%s is given twice", option->name);
    }
    char **more = realloc(values->texts, (values->count + 1) * sizeof *more);
    if (more == NULL) {
        free(value);
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    }
    values->texts = more;
    values->texts[values->count++] = value;
    return JOBS_OK;
}

/* --- which command --- */

/* The length of the first word of a command's name. */
static size_t group_len(const struct command *command)
{
    return strcspn(command->words, " ");
}

static bool is_group(const struct command *command)
{
    return command->words[group_len(command)] != '\0';
}

/* group is NULL, or the name before the one that is unknown. */
static int unknown_command(const char *group, const char *typed, const char *const *names, size_t count,
                           struct jobs_error *error)
{
    char shown[64];
    const char *before = group != NULL ? group : "", *space = group != NULL ? " " : "";
    jobs_error_set(error, JOBS_USAGE, "there is no command `%s%s%s`", before, space,
                   escape_line(shown, sizeof shown, typed, strlen(typed)));
    const char *near = options_nearest(typed, strlen(typed), names, count);
    if (near != NULL)
        set_hint(error, "did you mean `jobs %s%s%s`?", before, space, near);
    else
        set_hint(error, "`jobs %s%s--help` lists the commands", before, space);
    return JOBS_USAGE;
}

/* Sets command, or group, from argv[1] and [2]; *used is how many words that took. */
static int find_command(struct options *options, int argc, char **argv, int *used, struct jobs_error *error)
{
    enum {
        MOST = 64
    };
    const char *all[MOST], *within[MOST]; /* the names, and of the group's what stands behind its own */
    size_t all_count = 0, within_count = 0;
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];
        size_t len = group_len(command);
        if (all_count < MOST)
            all[all_count++] = command->words;
        if (!name_is(argv[1], command->words, len))
            continue;
        *used = 1;
        if (!is_group(command)) {
            options->command = command;
            return JOBS_OK;
        }
        options->group = argv[1];
        const char *name = command->words + len + 1;
        if (argc > 2 && strcmp(argv[2], name) == 0) {
            options->command = command;
            *used = 2;
            return JOBS_OK;
        }
        if (within_count < MOST)
            within[within_count++] = name;
    }
    if (options->group == NULL)
        return unknown_command(NULL, argv[1], all, all_count, error);
    if (argc > 2 && argv[2][0] != '-')
        return unknown_command(options->group, argv[2], within, within_count, error);
    return JOBS_OK;
}

/* The words behind a group's name, "create, join". */
static void list_group(char *out, size_t size, const char *group)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];
        if (!is_group(command) || !name_is(group, command->words, group_len(command)) || used >= size)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "",
                                 command->words + group_len(command) + 1);
    }
}

/* --- options --- */

static bool find_option(enum option_id *out, const uint8_t *ids, const char *name, size_t len)
{
    for (; *ids != OPTION_END; ids++) {
        enum option_id id = (enum option_id)(*ids & ~MUST);
        if (name_is(option_table[id].name, name, len)) {
            *out = id;
            return true;
        }
    }
    return false;
}

static int unknown_option(const struct options *options, const char *name, size_t len, struct jobs_error *error)
{
    const char *names[OPTION_COUNT];
    size_t count = 0;
    const char *elsewhere = NULL;
    enum option_id id;
    char shown[64];
    jobs_error_set(error, JOBS_USAGE, "there is no option `--%s` here", escape_line(shown, sizeof shown, name, len));
    for (const uint8_t *at = everywhere; *at != OPTION_END; at++)
        names[count++] = option_table[*at].name;
    if (options->command != NULL)
        for (const uint8_t *at = options->command->options; *at != OPTION_END; at++)
            names[count++] = option_table[*at & ~MUST].name;
    for (size_t i = 0; i < command_count && elsewhere == NULL; i++)
        if (find_option(&id, command_table[i].options, name, len))
            elsewhere = command_table[i].words;
    const char *near = options_nearest(name, len, names, count);
    if (near != NULL)
        set_hint(error, "did you mean --%s?", near);
    else if (elsewhere != NULL && options->command == NULL)
        set_hint(error, "options come behind the command: jobs COMMAND --%.*s …", (int)len, name);
    else
        set_hint(error, "`jobs%s%s --help` lists the options",
                 options->command != NULL || options->group != NULL ? " " : "",
                 options->command != NULL ? options->command->words
                 : options->group != NULL ? options->group
                                          : "");
    return JOBS_USAGE;
}

/* argv[*at] is --name, --name=value or -h. */
static int take_option(struct options *options, int argc, char **argv, int *at, struct jobs_error *error)
{
    const char *argument = argv[*at];
    if (strcmp(argument, "-h") == 0)
        argument = "--help";
    if (argument[1] != '-')
        return unknown_option(options, argument + 1, strcspn(argument + 1, "="), error);

    const char *name = argument + 2;
    size_t len = strcspn(name, "=");
    const char *text = name[len] == '=' ? name + len + 1 : NULL;
    enum option_id id;
    if (!find_option(&id, everywhere, name, len) &&
        !(options->command != NULL && find_option(&id, options->command->options, name, len)))
        return unknown_option(options, name, len, error);

    const struct option *option = &option_table[id];
    char given_as[48];
    snprintf(given_as, sizeof given_as, "--%s", option->name);
    if (option->kind == KIND_FLAG) {
        if (text != NULL)
            return jobs_error_set(error, JOBS_USAGE, "%s takes no value", given_as);
        text = "";
    } else if (text == NULL) {
        if (*at + 1 >= argc)
            return jobs_error_set(error, JOBS_USAGE, "%s needs a value: %s %s", given_as, given_as, option->value);
        text = argv[++*at];
    }
    if (id == OPT_HELP || id == OPT_VERSION) {
        options->asked = id == OPT_HELP ? ASKED_HELP : ASKED_VERSION;
        return JOBS_OK;
    }
    return add_value(options, id, given_as, text, error);
}

static int from_environment(struct options *options, struct jobs_error *error)
{
    for (const uint8_t *at = options->command->options; *at != OPTION_END; at++) {
        enum option_id id = (enum option_id)(*at & ~MUST);
        const char *variable = option_table[id].environment;
        if (variable[0] == '\0' || options->values[id].count > 0)
            continue;
        const char *text = getenv(variable);
        if (text == NULL || text[0] == '\0')
            continue;
        int code = add_value(options, id, variable, text, error);
        if (code != JOBS_OK)
            return code;
    }
    return JOBS_OK;
}

/* What the command line as a whole must be. */
static int check_whole(const struct options *options, struct jobs_error *error)
{
    const struct command *command = options->command;
    for (const uint8_t *at = command->options; *at != OPTION_END; at++) {
        const struct option *option = &option_table[*at & ~MUST];
        if ((*at & MUST) != 0 && options->values[*at & ~MUST].count == 0) {
            jobs_error_set(error, JOBS_USAGE, "jobs %s needs --%s %s", command->words, option->name, option->value);
            set_hint(error, "`jobs %s --help` shows how", command->words);
            return JOBS_USAGE;
        }
    }
    if (command->operand[0] != '\0' && command->operand[0] != '[' && options->operand == NULL) {
        jobs_error_set(error, JOBS_USAGE, "jobs %s needs %s", command->words, command->operand);
        set_hint(error, "`jobs %s --help` shows how", command->words);
        return JOBS_USAGE;
    }
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++)
        if (options_has(options, conflicts[i].one) && options_has(options, conflicts[i].other))
            return jobs_error_set(error, JOBS_USAGE, "--%s and --%s do not go together: %s",
                                  option_table[conflicts[i].one].name, option_table[conflicts[i].other].name,
                                  conflicts[i].why);
    return JOBS_OK;
}

int options_parse(struct options *options, int argc, char **argv, struct jobs_error *error)
{
    int code = options_refuse_keys(argc, argv, error);
    int at = 1;
    if (code != JOBS_OK)
        return code;
    if (argc > 1 && argv[1][0] != '-') {
        int used = 0;
        code = find_command(options, argc, argv, &used, error);
        at += used;
    }
    bool options_end = false;
    for (; code == JOBS_OK && options->asked == ASKED_RUN && at < argc; at++) {
        const char *argument = argv[at];
        if (!options_end && strcmp(argument, "--") == 0)
            options_end = true;
        else if (!options_end && argument[0] == '-' && argument[1] != '\0')
            code = take_option(options, argc, argv, &at, error);
        else if (options->command == NULL)
            break;
        else if (options->command->operand[0] == '\0')
            code = jobs_error_set(error, JOBS_USAGE, "jobs %s takes no argument of its own, only options",
                                  options->command->words);
        else if (options->operand != NULL)
            code = jobs_error_set(error, JOBS_USAGE, "jobs %s takes one argument, %s; quote it when it holds spaces",
                                  options->command->words, options->command->operand);
        else
            options->operand = argument;
    }
    if (code != JOBS_OK || options->asked != ASKED_RUN)
        return code;
    if (options->command == NULL && options->group != NULL) {
        char words[128];
        list_group(words, sizeof words, options->group);
        jobs_error_set(error, JOBS_USAGE, "jobs %s needs one of: %s", options->group, words);
        set_hint(error, "`jobs %s --help` says what they do", options->group);
        return JOBS_USAGE;
    }
    if (options->command == NULL) {
        jobs_error_set(error, JOBS_USAGE, "jobs needs a command, and its options behind it");
        set_hint(error, "`jobs --help` lists the commands");
        return JOBS_USAGE;
    }
    code = from_environment(options, error);
    return code == JOBS_OK ? check_whole(options, error) : code;
}

void options_wipe(struct options *options)
{
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        for (size_t i = 0; i < options->values[id].count; i++)
            free(options->values[id].texts[i]);
        free(options->values[id].texts);
    }
    memset(options, 0, sizeof *options);
}

bool options_want_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

bool options_has(const struct options *options, enum option_id id)
{
    return options->values[id].count > 0;
}

const char *options_text(const struct options *options, enum option_id id)
{
    if (options->values[id].count > 0)
        return options->values[id].texts[0];
    return option_table[id].fallback[0] != '\0' ? option_table[id].fallback : NULL;
}

const char *const *options_texts(const struct options *options, enum option_id id, size_t *count)
{
    *count = options->values[id].count;
    if (*count > 0)
        return (const char *const *)options->values[id].texts;
    *count = option_table[id].fallback[0] != '\0' ? 1 : 0;
    return &option_table[id].fallback;
}

long options_number(const struct options *options, enum option_id id)
{
    return strtol(options_text(options, id), NULL, 10);
}
