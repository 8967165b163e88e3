/* secrets.c - the secrets guard: nothing that looks like a credential is signed.
 *
 * It walks the texts, asks the table (secrets_shapes.c), our own key and the environment, and reports by rule and
 * pointer. A value, or a pointer that holds one, is never shown.
 */
#include "secrets.h"

#include "../core/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_LEAST 16 /* bytes of a variable's value that is looked for */

static bool is_word(const char *word, size_t len)
{
    static const char *const words[] = {"SECRET", "TOKEN", "PASSWORD", "KEY"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == len && strncasecmp(words[i], word, len) == 0)
            return true;
    return false;
}

/* Whether a variable's name has one of the words between its underscores. */
static bool names_a_secret(const char *name, size_t len)
{
    for (size_t at = 0; at <= len;) {
        const char *end = memchr(name + at, '_', len - at);
        size_t word = end == NULL ? len - at : (size_t)(end - (name + at));
        if (is_word(name + at, word))
            return true;
        at += word + 1;
    }
    return false;
}

/* Values that stand in ordinary texts for ordinary reasons: paths, numbers, plain words, and hex, which ids are. */
static bool is_ordinary(const char *value, size_t len)
{
    size_t upper = 0;
    size_t lower = 0;
    size_t numeric = 0;
    size_t other = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];
        if (c >= 'A' && c <= 'Z')
            upper++;
        else if ((c >= 'a' && c <= 'z') || c >= 0x80)
            lower++;
        else if ((c >= '0' && c <= '9') || strchr("+-.,:_ ", c) != NULL)
            numeric++;
        else
            other++;
    }
    bool first_upper = value[0] >= 'A' && value[0] <= 'Z';
    bool word = lower == len || upper == len || (first_upper && upper == 1 && lower == len - 1);
    bool rooted = value[0] == '/' || strncmp(value, "~/", 2) == 0 || strncmp(value, "./", 2) == 0 ||
                  strncmp(value, "../", 3) == 0 || (lower + upper > 0 && strncmp(value + 1, ":\\", 2) == 0);
    bool below = memchr(value, '/', len) != NULL && memmem(value, len, "://", 3) == NULL &&
                 (upper == 0 || memchr(value, '.', len) != NULL);
    bool path = (rooted || below) && memchr(value, '=', len) == NULL && memchr(value, '+', len) == NULL;
    return word || numeric == len || path || jobs__text_is_hex(value, len, false);
}

static bool holds_word(const char *text, size_t len, const char *word, size_t word_len)
{
    const char *found = text;
    while ((found = memmem(found, len - (size_t)(found - text), word, word_len)) != NULL) {
        size_t at = (size_t)(found - text);
        if (jobs__secret_begins(text, at, 0) && jobs__secret_ends(text, len, at + word_len))
            return true;
        found++;
    }
    return false;
}

/* The name of a variable whose value is in the text; NULL when there is none. */
static const char *find_variable(size_t *name_len, const char *text, size_t len)
{
    if (len < ENVIRONMENT_LEAST)
        return NULL;
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals == NULL || !names_a_secret(*entry, (size_t)(equals - *entry)))
            continue;
        const char *value = equals + 1;
        size_t value_len = strlen(value);
        while (value_len > 0 && strchr(" \t\r\n", value[value_len - 1]) != NULL)
            value_len--;
        if (value_len < ENVIRONMENT_LEAST || value_len > len || is_ordinary(value, value_len) ||
            !holds_word(text, len, value, value_len))
            continue;
        *name_len = (size_t)(equals - *entry);
        return *entry;
    }
    return NULL;
}

struct walk {
    const struct jobs_secret_options *options;
    struct jobs_report *report;
};

static bool is_allowed(const struct jobs_secret_options *options, const char *pointer)
{
    for (size_t i = 0; i < options->allowed_count; i++)
        if (strcmp(options->allowed[i], pointer) == 0)
            return true;
    return false;
}

/* 1 when the text holds any credential at all, 0 when not, -1 when out of memory. */
static int is_tainted(const struct jobs_secret_options *options, const char *text, size_t len)
{
    size_t name_len;
    if (options->key != NULL && jobs_key_is_in(options->key, text, len))
        return 1;
    for (size_t i = 0; i < jobs__secret_shape_count; i++) {
        int found = jobs__secret_shapes[i].find(&jobs__secret_shapes[i], text, len);
        if (found != 0)
            return found;
    }
    return find_variable(&name_len, text, len) != NULL;
}

/* A pointer is made of member names, which may be secrets too: cut before the first that is. */
static int cut_pointer(struct jobs__buffer *out, const struct jobs_secret_options *options, const char *pointer)
{
    struct jobs__buffer name = {.max = JOBS_INPUT_MAX};
    int code = JOBS_OK;
    jobs__buffer_add(out, "", 0);
    while (*pointer == '/' && code == JOBS_OK) {
        const char *end = strchrnul(pointer + 1, '/');
        jobs__buffer_clear(&name);
        jobs__buffer_add(&name, "", 0);
        for (const char *c = pointer + 1; c < end; c++) {
            bool escape = *c == '~' && (c[1] == '0' || c[1] == '1');
            jobs__buffer_char(&name, !escape ? *c : c[1] == '0' ? '~' : '/');
            c += escape;
        }
        int found = name.failed ? -1 : is_tainted(options, name.bytes, name.len);
        if (found < 0)
            code = JOBS_NO_MEMORY;
        else if (found > 0)
            break;
        jobs__buffer_add(out, pointer, (size_t)(end - pointer));
        pointer = end;
    }
    if (out->failed)
        code = JOBS_NO_MEMORY;
    jobs__buffer_free(&name);
    return code;
}

/* what is NULL for our own key, which nobody can let through. */
static int add(const struct walk *walk, const char *rule, const char *pointer, const char *what)
{
    struct jobs__buffer shown = {.max = JOBS_INPUT_MAX};
    int code = cut_pointer(&shown, walk->options, pointer);
    if (code == JOBS_OK && what == NULL)
        code = jobs_report_add(walk->report, rule, shown.bytes, 0,
                               "this holds the very key that would sign it: take it out; nothing lets it through");
    else if (code == JOBS_OK && !is_allowed(walk->options, shown.bytes))
        code =
            jobs_report_add(walk->report, rule, shown.bytes, 0,
                            "this holds %s: take it out, or allow this pointer if it is none (--allow-secret)", what);
    jobs__buffer_free(&shown);
    return code;
}

static int visit(void *context, const char *pointer, const char *text, size_t len)
{
    const struct walk *walk = context;
    int code = JOBS_OK;
    if (walk->options->key != NULL && jobs_key_is_in(walk->options->key, text, len))
        return add(walk, JOBS__RULE_OWN_KEY, pointer, NULL);
    for (size_t i = 0; i < jobs__secret_shape_count && code == JOBS_OK; i++) {
        const struct jobs__secret_shape *shape = &jobs__secret_shapes[i];
        int found = shape->find(shape, text, len);
        if (found != 0)
            code = found < 0 ? JOBS_NO_MEMORY : add(walk, shape->rule, pointer, shape->what);
    }
    size_t name_len;
    const char *name = code == JOBS_OK ? find_variable(&name_len, text, len) : NULL;
    if (name != NULL) {
        char shown[97];
        char what[160];
        jobs__text_one_line(shown, sizeof shown - 1, name, name_len);
        snprintf(what, sizeof what, "the value of the environment variable %s", shown);
        code = add(walk, JOBS__RULE_ENVIRONMENT, pointer, what);
    }
    return code;
}

int jobs_secrets_check_text(const char *pointer, const char *text, size_t len,
                            const struct jobs_secret_options *options, struct jobs_report *report)
{
    size_t before = report->count;
    struct walk walk = {.options = options, .report = report};
    int code = visit(&walk, pointer, text, len);
    return code != JOBS_OK ? code : report->count > before ? JOBS_INVALID : JOBS_OK;
}

int jobs_secrets_check_handoff(const struct jobs_handoff *handoff, const struct jobs_secret_options *options,
                               struct jobs_report *report)
{
    size_t before = report->count;
    struct walk walk = {.options = options, .report = report};
    int code = jobs_handoff_visit_texts(handoff, visit, &walk);
    return code != JOBS_OK ? code : report->count > before ? JOBS_INVALID : JOBS_OK;
}
