/* field.c - the rules of single values: texts, words, digests, numbers, references. Knows no object. */
#include "check.h"
#include "reference.h"
#include "text.h"

#include <string.h>

#define SIZE_LAST ((int64_t)9007199254740991)

bool jobs__check_decode(struct jobs__check *check, uint32_t value, const char **text, size_t *len)
{
    const struct jobs__json_value *v = &check->doc->values[value];
    if (!v->escaped) {
        *text = check->doc->text + v->start + 1;
        *len = v->end - v->start - 2;
        return true;
    }
    jobs__buffer_clear(check->text);
    jobs__json_string(check->doc, value, check->text);
    if (check->text->failed) {
        check->no_memory = true;
        return false;
    }
    /* A string of escapes decodes to at least one byte, so there is memory behind it. */
    *text = check->text->bytes;
    *len = check->text->len;
    return true;
}

/* Bytes of plain printable ASCII at the beginning, counted in steps of eight but for the last ones. */
static size_t plain_prefix(const char *text, size_t len)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    size_t at = 0;
    for (; len - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, 8);
        uint64_t del = word ^ each * 0x7f;
        if ((((word - each * 0x20) & ~word) | ((del - each) & ~del) | word) & each * 0x80)
            return at;
    }
    while (at < len && (unsigned char)text[at] >= 0x20 && (unsigned char)text[at] < 0x7f)
        at++;
    return at;
}

void jobs__check_text(struct jobs__check *check, const char *text, size_t len, size_t offset, bool line, size_t max)
{
    bool blank = true, control = false;
    for (size_t at = 0; at < len && (blank || !control);) {
        if (!blank) {
            at += plain_prefix(text + at, len - at);
            if (at == len)
                break;
        }
        unsigned char byte = (unsigned char)text[at];
        if (byte > 0x20 && byte < 0x7f) {
            blank = false;
            at++;
            continue;
        }
        uint32_t c = jobs__text_next(text, len, &at);
        blank = blank && jobs__text_is_space(c);
        control = control || (jobs__text_is_control(c) && (line || (c != '\n' && c != '\t')));
    }
    if (blank)
        jobs__check_violation(check, JOBS__H206, offset, "must hold at least one character that is not a space");
    if (control)
        jobs__check_violation(check, JOBS__H207, offset,
                              line ? "must be one line without control characters"
                                   : "must hold no control characters but line feed and tab");
    if (len > max)
        jobs__check_violation(check, JOBS__H208, offset, "must have at most %zu bytes, but has %zu", max, len);
}

static void check_string(struct jobs__check *check, const struct jobs__field *field, uint32_t value)
{
    size_t offset = check->doc->values[value].start;
    if (check->doc->values[value].type != JOBS__JSON_STRING) {
        jobs__check_violation(check, JOBS__H205, offset, "must be a string");
        return;
    }
    const char *text;
    size_t len;
    if (!jobs__check_decode(check, value, &text, &len))
        return;
    jobs__check_text(check, text, len, offset, field->kind != JOBS__FIELD_TEXT, field->max);
    if (field->kind != JOBS__FIELD_REFERENCE)
        return;
    uint32_t faults = jobs__reference_faults(text, len, check->reader);
    check->no_memory = check->no_memory || (faults & JOBS__REFERENCE_NO_MEMORY) != 0;
    for (enum jobs__rule rule = JOBS__H401; rule <= JOBS__H414; rule++) {
        if (faults & JOBS__REFERENCE_BIT(rule))
            jobs__check_violation(check, rule, offset, "%s", jobs__reference_advice(rule));
    }
}

static void check_word(struct jobs__check *check, const struct jobs__field *field, uint32_t value)
{
    if (check->doc->values[value].type == JOBS__JSON_STRING) {
        for (size_t i = 0; field->words[i] != NULL; i++) {
            if (jobs__json_equals(check->doc, value, field->words[i], strlen(field->words[i])))
                return;
        }
    }
    char words[160] = "";
    for (size_t i = 0; field->words[i] != NULL; i++) {
        strcat(words, i == 0 ? "" : ", ");
        strcat(words, field->words[i]);
    }
    jobs__check_violation(check, field->rule, check->doc->values[value].start, "must be one of: %s", words);
}

static void check_hex(struct jobs__check *check, uint32_t value, enum jobs__rule rule)
{
    const char *text = NULL;
    size_t len = 0;
    bool lower = rule == JOBS__H501;
    if (check->doc->values[value].type == JOBS__JSON_STRING && !jobs__check_decode(check, value, &text, &len))
        return;
    if (len != 64 || !jobs__text_is_hex(text, len, lower))
        jobs__check_violation(check, rule, check->doc->values[value].start, "must be 64 %shexadecimal digits",
                              lower ? "lower-case " : "");
}

void jobs__check_scalar(struct jobs__check *check, const struct jobs__field *field, uint32_t value)
{
    size_t offset = check->doc->values[value].start;
    int64_t number;
    switch (field->kind) {
    case JOBS__FIELD_VERSION:
        if (!jobs__json_integer(check->doc, value, &number) || number != 1)
            jobs__check_violation(check, JOBS__H203, offset, "must be the integer 1");
        break;
    case JOBS__FIELD_JOB:
        check_hex(check, value, JOBS__H204);
        break;
    case JOBS__FIELD_DIGEST:
        check_hex(check, value, JOBS__H501);
        break;
    case JOBS__FIELD_SIZE:
        if (!jobs__json_integer(check->doc, value, &number) || number < 0 || number > SIZE_LAST)
            jobs__check_violation(check, JOBS__H502, offset, "must be an integer from 0 to 9007199254740991");
        break;
    case JOBS__FIELD_EXIT:
        if (!jobs__json_integer(check->doc, value, &number) || number < INT32_MIN || number > INT32_MAX)
            jobs__check_violation(check, JOBS__H503, offset, "must be an integer from -2147483648 to 2147483647");
        break;
    case JOBS__FIELD_WORD:
        check_word(check, field, value);
        break;
    default:
        check_string(check, field, value);
        break;
    }
}
