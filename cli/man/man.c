/* man.c - prints jobs(1) as roff, from the same tables that parse the command line. Runs at build time only. */
#include "../options.h"

#include <stdio.h>
#include <string.h>

/* Text as it stands: no escape, no hyphen that is one for a typesetter only, no line that begins a request. */
static void put(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (at == text && (*at == '.' || *at == '\''))
            fputs("\\&", stdout);
        if (strncmp(at, "…", 3) == 0) {
            fputs("\\[u2026]", stdout);
            at += 2;
        } else if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else
            putchar(*at);
    }
}

static void put_option(const struct option *option, bool required)
{
    fputs(".TP\n\\fB", stdout);
    put("--");
    put(option->name);
    fputs("\\fR", stdout);
    if (option->value[0] != '\0') {
        fputs(" \\fI", stdout);
        put(option->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put(option->help);
    fputs(required ? " (required)" : "", stdout);
    fputs(option->kind == KIND_TEXTS ? " (repeatable)" : "", stdout);
    if (option->environment[0] != '\0')
        printf(" [\\fB%s\\fR]", option->environment);
    if (option->fallback[0] != '\0') {
        fputs(" [", stdout);
        put(option->fallback);
        fputs("]", stdout);
    }
    putchar('\n');
}

static void put_command(const struct command *command)
{
    fputs(".SS \"jobs ", stdout);
    put(command->words);
    fputs(command->operand[0] != '\0' ? " " : "", stdout);
    put(command->operand);
    fputs("\"\n", stdout);
    put(command->summary);
    fputs(".\n", stdout);
    for (const uint8_t *at = command->options; *at != OPTION_END; at++)
        put_option(&option_table[*at & ~MUST], (*at & MUST) != 0);
    fputs(".PP\nExamples:\n.PP\n.nf\n.RS\n", stdout);
    for (const char *line = command->examples; *line != '\0';) {
        char one[256];
        size_t len = strcspn(line, "\n");
        snprintf(one, sizeof one, "%.*s", (int)len, line);
        put(one);
        putchar('\n');
        line += len + (line[len] == '\n');
    }
    fputs(".RE\n.fi\n", stdout);
}

static void put_statuses(void)
{
    static const struct {
        const char *category, *sentence;
        int exit_status;
    } rows[] = {
#define X(code, category, exit_status, retryable, sentence) {category, sentence, exit_status},
        JOBS_CODES(X)
#undef X
    };
    fputs(".SH EXIT STATUS\n.TP\n0\ndone\n", stdout);
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++) {
        printf(".TP\n%d \\fB%s\\fR\n", rows[i].exit_status, rows[i].category);
        put(rows[i].sentence);
        putchar('\n');
    }
    fputs(".TP\n130, 143\nstopped by INT or TERM before it was done\n", stdout);
}

int main(void)
{
    fputs(".TH JOBS 1 \"\" \"jobs " JOBS_VERSION "\" \"User Commands\"\n"
          ".SH NAME\njobs \\- hand over finished work: checked, signed, published, confirmed\n"
          ".SH SYNOPSIS\n\\fBjobs\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n"
          ".SH DESCRIPTION\nData goes to standard output, one JSON object a line. What went wrong goes to standard "
          "error: one JSON line, or a sentence on a terminal.\n.PP\nMost shells have a builtin of the same name: "
          "there, say "
          "\\fBenv jobs\\fR, or once \\fBjobs() { env jobs \\(dq$@\\(dq; }\\fR.\n"
          ".SH COMMANDS\n",
          stdout);
    for (size_t i = 0; i < command_count; i++)
        put_command(&command_table[i]);
    fputs(".SH OPTIONS OF ALL COMMANDS\n", stdout);
    put_option(&option_table[OPT_JSON], false);
    put_option(&option_table[OPT_HELP], false);
    put_option(&option_table[OPT_VERSION], false);
    put_statuses();
    return fclose(stdout) == 0 ? 0 : 1;
}
