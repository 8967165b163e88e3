/* error.c - the table of codes, and the two shapes every error takes. */
#include <jobs/error.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *category;
    const char *sentence;
    int exit_status;
    bool retryable;
} codes[] = {
#define X(code, category_, exit_status_, retryable_, sentence_) {category_, sentence_, exit_status_, retryable_},
    JOBS_CODES(X)
#undef X
};

const char *jobs_code_category(int code)
{
    return codes[code].category;
}

const char *jobs_code_sentence(int code)
{
    return codes[code].sentence;
}

int jobs_code_exit(int code)
{
    return codes[code].exit_status;
}

/* vsnprintf may cut within a character: take the partial one off. */
static void drop_cut_character(char *text, size_t size, int wanted)
{
    if (wanted < 0 || (size_t)wanted < size)
        return;
    size_t end = size - 1;
    size_t at = end;
    while (at > 0 && ((unsigned char)text[at - 1] & 0xC0) == 0x80)
        at--;
    if (at > 0 && (unsigned char)text[at - 1] >= 0xC0) {
        unsigned char lead = (unsigned char)text[at - 1];
        size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        if (end - (at - 1) < need)
            text[at - 1] = '\0';
    }
}

int jobs_error_set(struct jobs_error *error, int code, const char *format, ...)
{
    if (error == NULL)
        return code;
    memset(error, 0, sizeof *error);
    error->code = (enum jobs_code)code;
    error->retryable = codes[code].retryable;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    drop_cut_character(error->message, sizeof error->message, wanted);
    return code;
}

void jobs_report_wipe(struct jobs_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->violations[i].pointer);
        free(report->violations[i].message);
    }
    free(report->violations);
    memset(report, 0, sizeof *report);
}

int jobs_report_add(struct jobs_report *report, const char *rule, const char *pointer, size_t line, const char *format,
                    ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    drop_cut_character(message, sizeof message, wanted);

    if (report->count == report->capacity) {
        size_t capacity = report->capacity == 0 ? 8 : report->capacity * 2;
        struct jobs_violation *more = realloc(report->violations, capacity * sizeof *more);
        if (more == NULL)
            return JOBS_NO_MEMORY;
        report->violations = more;
        report->capacity = capacity;
    }
    char *pointer_copy = strdup(pointer);
    char *message_copy = strdup(message);
    if (pointer_copy == NULL || message_copy == NULL) {
        free(pointer_copy);
        free(message_copy);
        return JOBS_NO_MEMORY;
    }
    report->violations[report->count++] =
        (struct jobs_violation){.rule = rule, .pointer = pointer_copy, .message = message_copy, .line = line};
    return JOBS_OK;
}
