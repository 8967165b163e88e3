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

/* Whether so many commands take it that it is told of once, for all of them. */
static bool is_common(uint8_t id)
{
    size_t users = 0;
    for (size_t i = 0; i < command_count; i++)
        for (const uint8_t *at = command_table[i].options; *at != OPTION_END; at++)
            users += *at == id; /* a required one is no common one */
    return users > 4;
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
    bool common = false;
    for (const uint8_t *at = command->options; *at != OPTION_END; at++) {
        if (is_common(*at))
            common = true;
        else
            put_option(&option_table[*at & ~MUST], (*at & MUST) != 0);
    }
    if (common) {
        fputs(".PP\nAlso, of the common options:", stdout);
        const char *before = " ";
        for (const uint8_t *at = command->options; *at != OPTION_END; at++) {
            if (!is_common(*at))
                continue;
            printf("%s\\fB", before);
            put("--");
            put(option_table[*at].name);
            fputs("\\fR", stdout);
            before = ", ";
        }
        fputs(".\n", stdout);
    }
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

static void put_common_options(void)
{
    fputs(".SH COMMON OPTIONS\n", stdout);
    for (uint8_t id = 0; id < OPTION_END; id++)
        if (is_common(id))
            put_option(&option_table[id], false);
    fputs(".PP\nEvery command takes\n", stdout);
    put_option(&option_table[OPT_JSON], false);
    put_option(&option_table[OPT_HELP], false);
    put_option(&option_table[OPT_VERSION], false);
}

/* A paragraph a status: the words for it in the JSON line on stderr, and when each is said. */
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
    fputs(".SH EXIT STATUS\nBehind the number: the word for it in the JSON line on standard error.\n"
          ".TP\n0\ndone\n",
          stdout);
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++) {
        bool same_status = rows[i].exit_status == rows[i - 1].exit_status;
        bool same_category = strcmp(rows[i].category, rows[i - 1].category) == 0;
        if (!same_status)
            printf(".TP\n%d\n", rows[i].exit_status);
        else
            fputs(same_category ? "; or\n" : ".\n.br\n", stdout);
        if (!same_category)
            printf("\\fB%s\\fR: ", rows[i].category);
        put(rows[i].sentence);
        if (i + 1 == sizeof rows / sizeof *rows || rows[i + 1].exit_status != rows[i].exit_status)
            fputs(".\n", stdout);
    }
    fputs(".TP\n130, 143\nstopped by INT or TERM before it was done.\n", stdout);
}

static void put_environment(void)
{
    fputs(
        ".SH ENVIRONMENT\nAn option that names a variable in brackets takes its value from there when it is not given; "
        "an empty variable is none.\n"
        ".TP\n\\fBBUZZ_PRIVATE_KEY\\fR\nthe secret key, hex or nsec1\\[u2026]; \\fB\\-\\-key\\-file\\fR goes before "
        "it\n"
        ".TP\n\\fBhttp_proxy\\fR, \\fBhttps_proxy\\fR, \\fBno_proxy\\fR\n"
        "how relays are reached, save those on this machine; also in capitals\n"
        ".TP\n\\fBXDG_STATE_HOME\\fR, \\fBHOME\\fR\nwhere the outbox lies when nothing else says so\n"
        ".TP\n\\fBNO_COLOR\\fR, \\fBTERM\\fR, \\fBCOLUMNS\\fR, \\fBPAGER\\fR\n"
        "how a terminal is written to; nothing of it counts elsewhere\n"
        ".SH FILES\n.TP\n\\fI~/.local/state/jobs\\fR\n"
        "the outbox: what was signed, until it is delivered, and the facts of what was. It holds no secret key.\n",
        stdout);
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
    put_common_options();
    put_statuses();
    put_environment();
    return fclose(stdout) == 0 ? 0 : 1;
}
