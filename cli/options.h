/* options.h - the command line as tables (options.def, commands.def) and what was found on it.
 *
 * Values are checked against their row when they are read; nobody downstream checks again.
 */
#ifndef JOBS_CLI_OPTIONS_H
#define JOBS_CLI_OPTIONS_H

#include <jobs/error.h>

#include <stdint.h>

enum option_id {
#define OPTION(id, ...) OPT_##id,
#include "options.def"
    OPTION_COUNT
};

enum option_kind {
    KIND_FLAG,
    KIND_TEXT,
    KIND_TEXTS,
    KIND_NUMBER,
    KIND_CHANNEL,
    KIND_EVENT,
    KIND_AUTHOR,
    KIND_WORD
};

struct option {
    const char *name, *value;
    enum option_kind kind;
    const char *words;
    long low, high;
    const char *environment, *fallback, *help;
};
extern const struct option option_table[OPTION_COUNT];

struct run;
#define MUST       0x80
#define OPTION_END 0x7F

struct command {
    const char *words;
    int (*function)(struct run *run); /* returns a jobs_code */
    const char *operand;
    const uint8_t *options; /* option_id, with MUST where the command needs it; ends in OPTION_END */
    const char *summary, *examples;
};
extern const struct command command_table[];
extern const size_t command_count;

#define COMMAND(words, function, ...) int function(struct run *run);
#include "commands.def"

enum asked {
    ASKED_RUN,
    ASKED_HELP,
    ASKED_VERSION
};

struct option_values {
    char **texts; /* as checked: ids and keys are lower-case hex */
    size_t count;
};

struct options {
    enum asked asked;
    const struct command *command; /* NULL: the program itself, or a group */
    const char *group;             /* "outbox" when only a group was named; borrowed from argv */
    const char *operand;           /* borrowed from argv, NULL when left out */
    struct option_values values[OPTION_COUNT];
};

/* Reads argv[1] … and the environment. Returns JOBS_OK, JOBS_USAGE or JOBS_NO_MEMORY; options->command is set as far
 * as it is known. Zeroed before, wiped by the caller in any case. An argument that is a secret key is overwritten. */
JOBS_MUST_USE int options_parse(struct options *options, int argc, char **argv, struct jobs_error *error);
void options_wipe(struct options *options);

/* Whether --json stands on the command line, even one that is otherwise wrong. */
bool options_want_json(int argc, char **argv);

bool options_has(const struct options *options, enum option_id id); /* given, or in the environment */
/* All values of a repeatable one, else its fallback. */
const char *const *options_texts(const struct options *options, enum option_id id, size_t *count);
/* The value, else the row's fallback, else NULL. */
const char *options_text(const struct options *options, enum option_id id);
long options_number(const struct options *options, enum option_id id); /* of a NUMBER that is not one of its words */

/* JOBS_USAGE when an argument is a secret key, which is overwritten. */
JOBS_MUST_USE int options_refuse_keys(int argc, char **argv, struct jobs_error *error);

/* The best match for a mistyped name among `names`, NULL when none is near. */
const char *options_nearest(const char *typed, size_t typed_len, const char *const *names, size_t count);

#endif
