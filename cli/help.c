/* help.c - tables in, at most 80 columns out. */
#include "help.h"

#include "escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 80,
    OPTION_COLUMN = 26 /* where an option's text begins */
};

/* Words from `column` on, broken before WIDTH; at is where the cursor stands. */
static void wrap(FILE *out, const char *text, size_t column, size_t at)
{
    if (at + 2 > column && at > 0) {
        fputc('\n', out);
        at = 0;
    }
    bool first = true;
    while (*text != '\0') {
        size_t bytes = strcspn(text, " ");
        char word[96];
        snprintf(word, sizeof word, "%.*s", (int)bytes, text);
        size_t width = escape_width(word);
        if (!first && at + 1 + width > WIDTH - 1) {
            fputc('\n', out);
            at = 0;
            first = true;
        }
        if (first) {
            at += (size_t)fprintf(out, "%*s", (int)(column - at), "");
            first = false;
        } else {
            fputc(' ', out);
            at++;
        }
        fputs(word, out);
        at += width;
        text += bytes;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void put_option(FILE *out, const struct option *option, bool required)
{
    char text[512];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", option->help);
    if (required)
        used += (size_t)snprintf(text + used, sizeof text - used, " (required)");
    if (option->kind == KIND_TEXTS)
        used += (size_t)snprintf(text + used, sizeof text - used, " (repeatable)");
    if (option->environment[0] != '\0' && option->fallback[0] != '\0')
        snprintf(text + used, sizeof text - used, " [%s, else %s]", option->environment, option->fallback);
    else if (option->environment[0] != '\0')
        snprintf(text + used, sizeof text - used, " [%s]", option->environment);
    else if (option->fallback[0] != '\0')
        snprintf(text + used, sizeof text - used, " [%s]", option->fallback);
    int at = fprintf(out, "  --%s%s%s", option->name, option->value[0] != '\0' ? " " : "", option->value);
    wrap(out, text, OPTION_COLUMN, (size_t)at);
}

static void put_examples(FILE *out, const char *examples)
{
    fputs("\nexamples:\n", out);
    for (const char *line = examples; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static void put_command(FILE *out, const struct command *command)
{
    fprintf(out, "jobs %s - %s\n\nusage: jobs %s", command->words, command->summary, command->words);
    for (const uint8_t *at = command->options; *at != OPTION_END; at++)
        if ((*at & MUST) != 0)
            fprintf(out, " --%s %s", option_table[*at & ~MUST].name, option_table[*at & ~MUST].value);
    fprintf(out, " [options]%s%s\n\noptions:\n", command->operand[0] != '\0' ? " " : "", command->operand);
    for (const uint8_t *at = command->options; *at != OPTION_END; at++)
        put_option(out, &option_table[*at & ~MUST], (*at & MUST) != 0);
    put_option(out, &option_table[OPT_JSON], false);
    put_option(out, &option_table[OPT_HELP], false);
    put_option(out, &option_table[OPT_VERSION], false);
    put_examples(out, command->examples);
}

static void put_commands(FILE *out, const char *group)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];
        size_t len = group != NULL ? strlen(group) : 0;
        if (group != NULL && (strncmp(command->words, group, len) != 0 || command->words[len] != ' '))
            continue;
        int at = fprintf(out, "  %s", command->words);
        wrap(out, command->summary, 18, (size_t)at);
    }
}

static void put_exit_statuses(FILE *out)
{
    static const struct {
        const char *category;
        int exit_status;
    } rows[] = {
#define X(code, category, exit_status, retryable, sentence) {category, exit_status},
        JOBS_CODES(X)
#undef X
    };
    fputs("\nexit status, and the word for it in the JSON line on stderr:\n  0  done", out);
    const char *last = "";
    int status = 0;
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].exit_status != status)
            fprintf(out, "\n  %d  %s", rows[i].exit_status, rows[i].category);
        else if (strcmp(rows[i].category, last) != 0)
            fprintf(out, ", %s", rows[i].category);
        status = rows[i].exit_status;
        last = rows[i].category;
    }
    fputs("\n  130, 143  stopped by Ctrl-C or TERM before it was done\n", out);
}

char *help_text(const struct options *options)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (out == NULL)
        return NULL;
    if (options->command != NULL) {
        put_command(out, options->command);
    } else if (options->group != NULL) {
        fprintf(out, "usage: jobs %s COMMAND [options]\n\ncommands:\n", options->group);
        put_commands(out, options->group);
        fputs("\nEach of them explains itself with --help.\n", out);
    } else {
        fputs("jobs - hand over finished work: checked, signed, published, confirmed\n\n"
              "usage: jobs COMMAND [options]\n\ncommands:\n",
              out);
        put_commands(out, NULL);
        fputs("\nEach of them explains itself with --help. Data goes to stdout, one JSON object a\n"
              "line; what went wrong to stderr.\n\nexamples:\n"
              "  jobs template > result.json    # then fill it in\n"
              "  jobs validate result.json\n"
              "  jobs handoff --channel \"$CHANNEL\" --job \"$JOB\" --manifest result.json\n\n"
              "Most shells have a builtin of the same name: there, say `env jobs ...`, or once\n"
              "  jobs() { env jobs \"$@\"; }\n",
              out);
        put_exit_statuses(out);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
