/* script.c - reads a script file; every fault is named by file, line and what would be right. Nothing is done here.
 */
#include "script.h"

#include "need.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_MAX (1u << 20)

enum shape {
    SHAPE_NONE,
    SHAPE_OK,
    SHAPE_TEXT,
    SHAPE_MAYBE_TEXT,
    SHAPE_JSON,
    SHAPE_CLOSE,
    SHAPE_TIME,
    SHAPE_STATUS,
    SHAPE_UPGRADE,
    SHAPE_FRAME,
    SHAPE_STYLE
};

/* A place in the file. */
struct reader {
    const char *path;
    size_t line;
    const char *at, *end; /* of this line */
    struct jobs_error *error;
    bool raw;
};

static int fault(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fault(struct reader *r, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return jobs_error_set(r->error, JOBS_INVALID, "%s:%zu: %s", r->path, r->line, text);
}

/* --- words --- */

static void skip_spaces(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
}

static bool at_end(struct reader *r)
{
    skip_spaces(r);
    return r->at == r->end || *r->at == '#';
}

static bool take_char(struct reader *r, char c)
{
    skip_spaces(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* The next word (letters, digits, _ - + .), without taking it. */
static size_t peek_word(struct reader *r)
{
    skip_spaces(r);
    size_t len = 0;
    while (r->at + len < r->end && (isalnum((unsigned char)r->at[len]) || strchr("_-+.", r->at[len]) != NULL))
        len++;
    return len;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t len = peek_word(r);
    if (len != strlen(word) || memcmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    return true;
}

static bool take_number(struct reader *r, int64_t *out)
{
    size_t len = peek_word(r);
    char digits[24], *end;
    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, r->at, len);
    digits[len] = '\0';
    errno = 0;
    *out = strtoll(digits, &end, 0);
    if (*end != '\0' || errno != 0 || digits[0] == '-' || digits[0] == '+')
        return false;
    r->at += len;
    return true;
}

/* 2s, 300ms: in ms */
static bool take_time(struct reader *r, int64_t *out)
{
    size_t len = peek_word(r);
    char text[24], *end;
    if (len == 0 || len >= sizeof text || !isdigit((unsigned char)r->at[0]))
        return false;
    memcpy(text, r->at, len);
    text[len] = '\0';
    double number = strtod(text, &end);
    if (strcmp(end, "s") == 0)
        *out = (int64_t)(number * 1000);
    else if (strcmp(end, "ms") == 0)
        *out = (int64_t)number;
    else
        return false;
    r->at += len;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "…" with \n \r \t \" \\ and \xNN; NUL-terminated, may hold NUL. */
static int take_text(struct reader *r, char **out, size_t *len)
{
    static const char escapes[] = "n\nr\rt\t\"\"\\\\";
    if (!take_char(r, '"'))
        return fault(r, "here a text in double quotes is expected");
    char *text = need((size_t)(r->end - r->at) + 1);
    size_t n = 0;
    for (; r->at < r->end && *r->at != '"'; r->at++) {
        char c = *r->at;
        if (c != '\\') {
            text[n++] = c;
            continue;
        }
        char letter = ++r->at < r->end ? *r->at : '\0';
        size_t i = 0;
        while (escapes[i] != '\0' && escapes[i] != letter)
            i += 2;
        if (escapes[i] != '\0')
            text[n++] = escapes[i + 1];
        else if (letter == 'x' && r->end - r->at > 2 && hex_digit(r->at[1]) >= 0 && hex_digit(r->at[2]) >= 0) {
            text[n++] = (char)(hex_digit(r->at[1]) * 16 + hex_digit(r->at[2]));
            r->at += 2;
        } else {
            free(text);
            return fault(r, "a backslash must begin \\n, \\r, \\t, \\\", \\\\ or \\x and two lower-case hex digits");
        }
    }
    if (r->at == r->end) {
        free(text);
        return fault(r, "the text must end with a double quote on the same line");
    }
    r->at++;
    *out = text;
    *len = n;
    return JOBS_OK;
}

/* From [ to its ], as spelled; what is in quotes does not count. */
static int take_json(struct reader *r, char **out, size_t *len)
{
    skip_spaces(r);
    const char *start = r->at;
    size_t depth = 0;
    bool quoted = false;
    if (r->at == r->end || *r->at != '[')
        return fault(r, "here a message such as [\"NOTICE\",\"text\"] is expected");
    do {
        char c = *r->at;
        if (quoted && c == '\\')
            r->at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && c == '[')
            depth++;
        else if (!quoted && c == ']')
            depth--;
        r->at++;
    } while (depth > 0 && r->at < r->end);
    if (depth > 0)
        return fault(r, "the message must end with its ] on the same line");
    *len = (size_t)(r->at - start);
    *out = need_copy(start, *len);
    return JOBS_OK;
}

/* --- actions --- */

static int read_style(struct reader *r, struct frame *frame)
{
    static const struct {
        const char *word;
        size_t offset;
    } numbers[] = {{"claim", offsetof(struct frame, claim)},
                   {"cut", offsetof(struct frame, cut)},
                   {"pieces", offsetof(struct frame, pieces)}};
    frame->opcode = 1;
    for (;;) {
        int64_t number;
        size_t i = 0;
        while (i < sizeof numbers / sizeof *numbers && !take_word(r, numbers[i].word))
            i++;
        if (i < sizeof numbers / sizeof *numbers) {
            if (!take_number(r, &number) || number == 0)
                return fault(r, "`%s` needs a number of bytes from 1 up", numbers[i].word);
            *(uint64_t *)(void *)((char *)frame + numbers[i].offset) = (uint64_t)number;
        } else if (take_word(r, "opcode")) {
            if (!take_number(r, &number) || number > 15)
                return fault(r, "`opcode` needs a number from 0 to 15");
            frame->opcode = (unsigned)number;
        } else if (take_word(r, "rsv")) {
            if (!take_number(r, &number) || number > 7)
                return fault(r, "`rsv` needs a number from 0 to 7");
            frame->rsv = (unsigned)number;
        } else if (take_word(r, "more"))
            frame->more = true;
        else if (take_word(r, "masked"))
            frame->masked = true;
        else if (take_word(r, "bytewise"))
            frame->bytewise = true;
        else
            return JOBS_OK;
    }
}

static int read_status(struct reader *r, struct action *action)
{
    size_t len;
    int64_t seconds;
    if (!take_number(r, &action->number) || action->number < 200 || action->number > 599)
        return fault(r, "`status` needs a number from 200 to 599");
    for (;;) {
        if (take_word(r, "retry-after")) {
            if (!take_number(r, &seconds) || seconds > 86400)
                return fault(r, "`retry-after` needs a number of seconds");
            action->retry_after = (int)seconds;
        } else if (take_word(r, "location")) {
            free(action->location);
            action->location = NULL;
            if (take_text(r, &action->location, &len) != JOBS_OK)
                return JOBS_INVALID;
        } else if (take_word(r, "body")) {
            free(action->text);
            action->text = NULL;
            if (take_text(r, &action->text, &action->len) != JOBS_OK)
                return JOBS_INVALID;
        } else
            return JOBS_OK;
    }
}

static int read_shape(struct reader *r, enum shape shape, struct action *action)
{
    switch (shape) {
    case SHAPE_NONE:
        return JOBS_OK;
    case SHAPE_OK:
        action->ok = take_word(r, "true") || !take_word(r, "false");
        skip_spaces(r);
        return r->at < r->end && *r->at == '"' ? take_text(r, &action->text, &action->len) : JOBS_OK;
    case SHAPE_TEXT:
        return take_text(r, &action->text, &action->len);
    case SHAPE_MAYBE_TEXT:
        skip_spaces(r);
        return r->at < r->end && *r->at == '"' ? take_text(r, &action->text, &action->len) : JOBS_OK;
    case SHAPE_JSON:
        return take_json(r, &action->text, &action->len);
    case SHAPE_CLOSE:
        if (!take_number(r, &action->number))
            return JOBS_OK;
        if (action->number < 1000 || action->number > 4999)
            return fault(r, "`close` needs a code from 1000 to 4999, or none");
        skip_spaces(r);
        return r->at < r->end && *r->at == '"' ? take_text(r, &action->text, &action->len) : JOBS_OK;
    case SHAPE_TIME:
        return take_time(r, &action->number) ? JOBS_OK : fault(r, "`after` needs a time such as 2s or 300ms");
    case SHAPE_STATUS:
        return read_status(r, action);
    case SHAPE_UPGRADE:
        action->ok = !take_word(r, "wrong-key");
        return JOBS_OK;
    case SHAPE_STYLE:
        return read_style(r, &action->frame);
    case SHAPE_FRAME:
        if (read_style(r, &action->frame) != JOBS_OK)
            return JOBS_INVALID;
        skip_spaces(r);
        return r->at < r->end && *r->at == '[' ? take_json(r, &action->text, &action->len)
                                               : take_text(r, &action->text, &action->len);
    }
    return JOBS_OK;
}

/* Which actions fit which rule: what the transport and the moment allow. */
static int check_place(struct reader *r, enum heard heard, enum what what)
{
    bool raw_only = what == DO_UPGRADE || what == DO_BYTES || what == DO_FRAME || what == DO_STYLE;
    bool before = heard == HEARD_ACCEPT || heard == HEARD_UPGRADE;
    if (raw_only && !r->raw)
        return fault(r, "this action needs the line `transport raw` above it");
    if (heard == HEARD_UPGRADE && !r->raw && what != DO_STATUS && what != DO_ANSWER)
        return fault(r,
                     "`on UPGRADE` takes `status` or `answer`; other answers need the line `transport raw` above it");
    if (what == DO_STATUS && (heard != HEARD_UPGRADE || r->raw))
        return fault(r, "`status` is for `on UPGRADE` without `transport raw`; there use `bytes`");
    if ((what == DO_VERIFY || what == DO_STORE) && heard != HEARD_EVENT)
        return fault(r, "`verify` and `store` are for `on EVENT`");
    if (what == DO_OK && heard != HEARD_EVENT && heard != HEARD_AUTH)
        return fault(r, "`ok` is for `on EVENT` and `on AUTH`");
    if ((what == DO_EVENTS || what == DO_EOSE || what == DO_CLOSED || what == DO_FORGE) && heard != HEARD_ASK &&
        heard != HEARD_READ && heard != HEARD_REQ && heard != HEARD_CLOSE)
        return fault(r, "`events`, `eose`, `closed` and `forge` are for `on REQ`, `on ASK`, `on READ` and `on CLOSE`");
    if (before && (what == DO_SEND || what == DO_TEXT || what == DO_NOTICE || what == DO_CHALLENGE || what == DO_CLOSE))
        return fault(r, "before the upgrade there are no messages; use `bytes`");
    return JOBS_OK;
}

static int read_action(struct reader *r, enum heard heard, struct action *action)
{
    static const struct {
        const char *word;
        enum shape shape;
    } actions[] = {
#define X(name, word, shape) [name] = {word, shape},
        ACTIONS(X)
#undef X
    };
    int64_t times;
    *action = (struct action){.times = 1, .ok = true};
    skip_spaces(r);
    if (r->at < r->end && isdigit((unsigned char)*r->at)) {
        if (!take_number(r, &times) || times < 1 || !take_word(r, "times"))
            return fault(r, "a number before an action must read `N times`");
        action->times = (size_t)times;
    }
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (take_word(r, actions[i].word)) {
            action->what = (enum what)i;
            int rc = read_shape(r, actions[i].shape, action);
            return rc == JOBS_OK ? check_place(r, heard, action->what) : rc;
        }
    char words[512] = "";
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), " %s", actions[i].word);
    return fault(r, "`%.*s` is no action; there are:%s", (int)peek_word(r), r->at, words);
}

/* --- lines --- */

/* first, second, third, 4, 2..5, 3.. (3 and later); none: always */
static int read_occurrence(struct reader *r, struct rule *rule)
{
    static const char *const words[] = {"first", "second", "third"};
    rule->from = 1;
    rule->to = SIZE_MAX;
    for (size_t i = 0; i < 3; i++)
        if (take_word(r, words[i])) {
            rule->from = rule->to = i + 1;
            return JOBS_OK;
        }
    size_t len = peek_word(r);
    char text[24], *end;
    if (len == 0 || len >= sizeof text || !isdigit((unsigned char)*r->at))
        return JOBS_OK;
    memcpy(text, r->at, len);
    text[len] = '\0';
    if (memchr(text, '.', len) == NULL) { /* `2 times …` belongs to the action */
        struct reader ahead = *r;
        ahead.at += len;
        if (take_word(&ahead, "times"))
            return JOBS_OK;
    }
    rule->from = rule->to = strtoul(text, &end, 10);
    if (strncmp(end, "..", 2) == 0) {
        rule->to = end[2] == '\0' ? SIZE_MAX : strtoul(end + 2, &end, 10);
        if (rule->to == SIZE_MAX)
            end = text + len;
    }
    if (*end != '\0' || rule->from == 0 || rule->to < rule->from)
        return fault(r, "which ones must read `first`, `second`, `third`, `4`, `2..5` or `3..`");
    r->at += len;
    return JOBS_OK;
}

static int read_rule(struct reader *r, struct script *script)
{
    static const char *const heard[] = {
#define X(name, word) [name] = word,
        HEARD(X)
#undef X
    };
    script->rules = need_more(script->rules, script->count + 1, sizeof *script->rules);
    struct rule *rule = &script->rules[script->count++];
    *rule = (struct rule){.line = r->line};
    size_t i = 0;
    while (i < HEARD_COUNT && !take_word(r, heard[i]))
        i++;
    if (i == HEARD_COUNT)
        return fault(r, "after `on` comes ACCEPT, UPGRADE, CONNECT, AUTH, EVENT, ASK, READ, REQ or CLOSE");
    rule->heard = (enum heard)i;
    if (rule->heard == HEARD_ACCEPT && !r->raw)
        return fault(r, "`on ACCEPT` needs the line `transport raw` above it");
    if (read_occurrence(r, rule) != JOBS_OK)
        return JOBS_INVALID;
    do {
        rule->actions = need_more(rule->actions, rule->count + 1, sizeof *rule->actions);
        struct action *action = &rule->actions[rule->count++];
        if (read_action(r, rule->heard, action) != JOBS_OK)
            return JOBS_INVALID;
        if (action->what == DO_AFTER && !at_end(r) && *r->at != ';')
            continue; /* after 2s store */
        if (!take_char(r, ';'))
            break;
    } while (!at_end(r));
    return at_end(r) ? JOBS_OK : fault(r, "actions are separated by `;`");
}

/* The words of `expect`, checked here so that a misspelt one does not pass for no expectation; the runner reads them.
 */
static int read_expect(struct reader *r)
{
    static const struct {
        const char *word;
        enum {
            NUMBER,
            WORD,
            TIME,
            TEXT
        } shape;
    } all[] = {{"exit", NUMBER},     {"verdict", WORD},       {"read_back", WORD},  {"category", WORD},
               {"retryable", WORD},  {"stored", NUMBER},      {"distinct", NUMBER}, {"sent", NUMBER},
               {"within", TIME},     {"words", TEXT},         {"without", TEXT},    {"state", WORD},
               {"attempts", NUMBER}, {"connections", NUMBER}, {"message", TEXT},    {"of", WORD}};
    (void)take_word(r, "flush");
    while (!at_end(r)) {
        size_t i = 0, len;
        int64_t number;
        char *text = NULL;
        while (i < sizeof all / sizeof *all && !take_word(r, all[i].word))
            i++;
        if (i == sizeof all / sizeof *all)
            return fault(r, "`expect` knows exit, verdict, read_back, category, retryable, stored, distinct, sent, "
                            "attempts, connections, within, words, without, message, state and of");
        switch (all[i].shape) {
        case NUMBER:
            if (!take_number(r, &number))
                return fault(r, "`%s` needs a number", all[i].word);
            break;
        case TIME:
            if (!take_time(r, &number))
                return fault(r, "`%s` needs a time such as 10s", all[i].word);
            break;
        case WORD:
            if (peek_word(r) == 0)
                return fault(r, "`%s` needs a word", all[i].word);
            r->at += peek_word(r);
            break;
        case TEXT:
            if (take_text(r, &text, &len) != JOBS_OK)
                return JOBS_INVALID;
            free(text);
            break;
        }
    }
    return JOBS_OK;
}

static void forget_rules(struct script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        for (size_t j = 0; j < script->rules[i].count; j++) {
            free(script->rules[i].actions[j].text);
            free(script->rules[i].actions[j].location);
        }
        free(script->rules[i].actions);
    }
    free(script->rules);
    *script = (struct script){.profile = NULL};
}

/* `relay NAME`: of a file with several relays, one's part begins. The runner starts each with its part alone. */
static int read_relay(struct reader *r, struct script *script)
{
    if (peek_word(r) == 0)
        return fault(r, "`relay` needs a name");
    r->at += peek_word(r);
    (void)take_word(r, "nobody");
    if (!at_end(r))
        return fault(r, "after the name of a relay comes nothing, or `nobody`");
    forget_rules(script);
    r->raw = false;
    return JOBS_OK;
}

/* `stop at WHAT for TIME`: the runner's business, too. */
static int read_stop(struct reader *r)
{
    int64_t time;
    bool right = take_word(r, "at") && peek_word(r) > 0;
    if (right)
        r->at += peek_word(r);
    return right && take_word(r, "for") && take_time(r, &time) && at_end(r)
               ? JOBS_OK
               : fault(r, "`stop` must read like `stop at EVENT for 3s`");
}

/* `tls WHO`: the runner puts it before the relay. */
static int read_tls(struct reader *r)
{
    static const char *const sorts[] = {"good",     "expired",     "early",    "other-host",
                                        "stranger", "self-signed", "cut-once", "none"};
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        if (take_word(r, sorts[i]))
            return at_end(r) ? JOBS_OK : fault(r, "nothing may follow the sort of `tls`");
    }
    return fault(r, "`tls` must be good, expired, early, other-host, stranger, self-signed, cut-once or none");
}

static int read_line(struct reader *r, struct script *script)
{
    if (at_end(r))
        return JOBS_OK;
    if (take_word(r, "on"))
        return read_rule(r, script);
    if (take_word(r, "expect"))
        return read_expect(r);
    if (take_word(r, "relay"))
        return read_relay(r, script);
    if (take_word(r, "stop"))
        return read_stop(r);
    if (take_word(r, "tls"))
        return read_tls(r);
    if (take_word(r, "with")) { /* options for the command: the runner's business */
        r->at = r->end;
        return JOBS_OK;
    }
    if (take_word(r, "given"))
        return (take_word(r, "equal") || take_word(r, "other") || take_word(r, "foreign")) && take_word(r, "handoff") &&
                       at_end(r)
                   ? JOBS_OK
                   : fault(r,
                           "`given` must read `given equal handoff`, `given other handoff` or `given foreign handoff`");
    if (take_word(r, "profile")) {
        char name[16] = "";
        size_t len = peek_word(r);
        if (len < sizeof name)
            memcpy(name, r->at, len);
        r->at += len;
        script->profile = profile_named(name);
        return script->profile != NULL && at_end(r) ? JOBS_OK : fault(r, "`profile` must be plain or buzz");
    }
    if (take_word(r, "transport")) {
        r->raw = script->raw = take_word(r, "raw");
        return script->raw && script->count == 0 && at_end(r)
                   ? JOBS_OK
                   : fault(r, "`transport` must read `transport raw`, above the first rule");
    }
    if (take_word(r, "clock")) {
        skip_spaces(r);
        bool behind = r->at < r->end && *r->at == '-';
        r->at += r->at < r->end && (*r->at == '-' || *r->at == '+');
        if (!take_time(r, &script->clock) || !at_end(r))
            return fault(r, "`clock` needs a time such as +3600s or -90s");
        script->clock /= behind ? -1000 : 1000;
        return JOBS_OK;
    }
    return fault(r, "a line begins with on, expect, with, given, relay, stop, profile, transport, clock or #");
}

static int read_file(struct jobs__buffer *text, const char *path, struct jobs_error *error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot read %s: %s", path, strerror(errno));
    char piece[4096];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        jobs__buffer_add(text, piece, n);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot read %s", path);
    return text->failed ? jobs_error_set(error, JOBS_INVALID, "%s: a script must be at most 1 MiB", path) : JOBS_OK;
}

int script_load(struct script **out, const char *path, struct jobs_error *error)
{
    struct jobs__buffer text = {.max = SCRIPT_MAX};
    struct script *script = need(sizeof *script);
    struct reader r = {.path = path, .error = error};
    int rc = read_file(&text, path, error);
    const char *at = text.bytes, *end = text.bytes + text.len;
    while (rc == JOBS_OK && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        r.line++;
        r.at = at;
        r.end = newline == NULL ? end : newline;
        rc = read_line(&r, script);
        at = newline == NULL ? end : newline + 1;
    }
    if (rc != JOBS_OK) {
        script_free(script);
        script = NULL;
    }
    *out = script;
    jobs__buffer_free(&text);
    return rc;
}

void script_free(struct script *script)
{
    if (script == NULL)
        return;
    forget_rules(script);
    free(script);
}

int64_t script_clock(const struct script *script)
{
    return script->clock;
}
