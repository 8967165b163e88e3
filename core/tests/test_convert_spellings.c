/* test_convert_spellings.c - the same result in every spelling an agent may give it converts to the same handoff.
 *
 * Generated results are written bare, in fences, under headings, as YAML and in the key-and-item form, with talk,
 * quotations and comments around them. Written twice or cut they are refused, and what is only quoted is no result.
 * JOBS_CONVERT_RUNS sets the number of sources a format.
 */
#include "convert_sources.h"
#include "core/buffer.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

enum spelling {
    IN_FENCE,
    UNDER_HEADING, /* this and the next two are of Bubbles alone */
    AS_YAML,
    AS_ITEMS,
    SPELLINGS
};

static size_t kept_clean; /* conversions whose original fitted */

static const char *pick(const char *const *list, size_t count)
{
    return list[below(count)];
}

/* --- spellings of one result --- */

static void put_json(struct jobs__buffer *out, const json_t *source)
{
    char *text = json_dumps(source, below(2) == 0 ? JSON_COMPACT : JSON_INDENT(2));
    jobs__buffer_format(out, "%s\n", text);
    free(text);
}

/* Whether YAML reads the text as itself without quotation marks; narrower than YAML is. */
static bool is_plain_scalar(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && len < 60 && strspn(text, "0123456789-") < len && text[0] != '-' && text[0] != ' ' &&
           text[len - 1] != ' ' && strcmp(text, "null") != 0 && strcmp(text, "true") != 0 &&
           strcmp(text, "false") != 0 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/. ") == len;
}

static void put_yaml_string(struct jobs__buffer *out, const char *text)
{
    bool single = strpbrk(text, "\n\r\t") == NULL && below(3) == 0;
    if (is_plain_scalar(text) && below(3) > 0) {
        jobs__buffer_text(out, text);
    } else if (single) {
        jobs__buffer_char(out, '\'');
        for (const char *p = text; *p != '\0'; p++)
            jobs__buffer_format(out, *p == '\'' ? "''" : "%c", *p);
        jobs__buffer_char(out, '\'');
    } else {
        json_t *string = json_string(text);
        char *spelled = json_dumps(string, JSON_ENCODE_ANY); /* YAML's double quotes read JSON's escapes, and more */
        for (const char *p = spelled; *p != '\0'; p++) {
            bool whole = p > spelled && p[1] != '\0' && isalnum((unsigned char)*p) && strchr(text, '\\') == NULL &&
                         strchr(spelled, '\\') == NULL;
            jobs__buffer_format(out, whole && below(6) == 0 ? "\\x%02x" : "%c", (unsigned char)*p);
        }
        free(spelled);
        json_decref(string);
    }
}

static void put_yaml(struct jobs__buffer *out, const json_t *value, int indent)
{
    const char *name;
    json_t *child;
    size_t i;
    if (json_is_object(value) && json_object_size(value) > 0) {
        json_object_foreach((json_t *)value, name, child)
        {
            jobs__buffer_format(out, "\n%*s%s:", indent, "", name);
            put_yaml(out, child, indent + 2);
        }
    } else if (json_is_array(value) && json_array_size(value) > 0) {
        json_array_foreach(value, i, child)
        {
            jobs__buffer_format(out, "\n%*s-", indent, "");
            put_yaml(out, child, indent + 2);
        }
    } else if (json_is_string(value)) {
        jobs__buffer_char(out, ' ');
        put_yaml_string(out, json_string_value(value));
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        jobs__buffer_format(out, " %s", text);
        free(text);
    }
}

/* Whether a line of the key-and-item form gives this text back. */
static bool fits_a_line(const json_t *value)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    return len > 0 && strpbrk(text, "\r\n") == NULL && (unsigned char)text[0] > ' ' && text[0] < 0x7f &&
           (unsigned char)text[len - 1] > ' ' && text[len - 1] < 0x7f && strcmp(text, "null") != 0 &&
           strcmp(text, "[]") != 0;
}

/* Leaves in source what the key-and-item form can say, and writes it. */
static void put_items(struct jobs__buffer *out, json_t *source)
{
    static const char *const lists[] = {"addressedFindings", "unresolvedFindings", "evidenceRefs",
                                        "toolCalls",         "artifactsCreated",   "artifactsUpdated"};
    const char *name;
    void *next;
    json_t *value, *item;
    json_object_del(source, "findings");
    json_object_del(source, "observations");
    json_object_del(source, "blockedReason");
    json_object_foreach_safe(source, next, name, value)
    {
        bool list = false;
        for (size_t i = 0; i < COUNT(lists); i++)
            list = list || strcmp(lists[i], name) == 0;
        if (list ? !json_is_array(value) : !fits_a_line(value)) {
            json_object_del(source, name);
            continue;
        }
        jobs__buffer_format(out, "%s:", name);
        if (!list) {
            jobs__buffer_format(out, " %s\n", json_string_value(value));
            continue;
        }
        for (size_t i = json_array_size(value); i-- > 0;)
            if (!fits_a_line(json_array_get(value, i)))
                json_array_remove(value, i);
        jobs__buffer_text(out, json_array_size(value) == 0 && below(2) == 0 ? " []\n" : "\n");
        size_t i;
        json_array_foreach(value, i, item)
            jobs__buffer_format(out, "%*s- %s\n", (int)below(4), "", json_string_value(item));
    }
}

static void put_heading(struct jobs__buffer *out)
{
    static const char *const headings[] = {"# RESULT-ENVELOPE", "## Result Envelope", "###### result_envelope (final)",
                                           "  ### Result-Envelope ###"};
    jobs__buffer_format(out, "%s\n", pick(headings, COUNT(headings)));
    for (size_t n = below(3); n > 0; n--)
        jobs__buffer_char(out, '\n');
}

/* The result in one spelling; begin and end are what lies between the fences. */
static void put_result(struct jobs__buffer *out, json_t *source, enum spelling how, size_t *begin, size_t *end)
{
    static const char *const fences[] = {"```", "````", "~~~", "~~~~~"};
    static const char *const json_names[] = {"json", "jsonc", "json5"};
    static const char *const yaml_names[] = {"yaml", "yml"};
    const char *fence = pick(fences, COUNT(fences));
    if (how != IN_FENCE)
        put_heading(out);
    if (how == AS_ITEMS) {
        *begin = *end = out->len;
        put_items(out, source);
        jobs__buffer_text(out, "\n## Afterwards\n\n");
        return;
    }
    const char *info = how == AS_YAML         ? pick(yaml_names, COUNT(yaml_names))
                       : how == UNDER_HEADING ? pick(json_names, COUNT(json_names))
                                              : "json";
    jobs__buffer_format(out, "%s%s\n", fence, info);
    *begin = out->len;
    if (how == AS_YAML) {
        size_t start = out->len;
        put_yaml(out, source, 0);
        memmove(out->bytes + start, out->bytes + start + 1, out->len - start); /* the first line's end */
        out->bytes[out->len - 1] = '\n';
    } else {
        put_json(out, source);
    }
    *end = out->len;
    jobs__buffer_format(out, "%s\n", fence);
}

/* What agents say around a result: nothing of it is one, also where it holds one. */
static void put_talk(struct jobs__buffer *out, const json_t *source)
{
    static const char *const lines[] = {"",
                                        "All done; the result is below.",
                                        "```sh\nmake test\n```",
                                        "> ```json\n> {\"agent\": \"bubbles.quoted\", \"outcome\": \"blocked\"}\n> ```",
                                        "```json\n{\"just\": [\"some\", \"data\"]}\n```",
                                        "1. first\n2. then `{\"agent\": \"bubbles.inline\"}`",
                                        "<!-- no result -->",
                                        "# What I did\n\nA paragraph."};
    struct jobs__buffer quoted = {.max = JOBS_CONVERT_INPUT_MAX};
    for (size_t n = below(4); n > 0; n--)
        jobs__buffer_format(out, "%s\n", pick(lines, COUNT(lines)));
    put_json(&quoted, source);
    if (below(4) == 0)
        jobs__buffer_format(out, "``````markdown\n```json\n%s```\n``````\n", quoted.bytes);
    if (below(4) == 0 && strstr(quoted.bytes, "-->") == NULL)
        jobs__buffer_format(out, "<!-- the form:\n```json\n%s```\n-->\n", quoted.bytes);
    jobs__buffer_free(&quoted);
}

/* With the line ends of another system, half of the time. */
static void end_lines(struct jobs__buffer *text)
{
    struct jobs__buffer crlf = {.max = 2 * JOBS_CONVERT_INPUT_MAX};
    if (below(2) == 0)
        return;
    for (size_t i = 0; i < text->len; i++) {
        if (text->bytes[i] == '\n')
            jobs__buffer_char(&crlf, '\r');
        jobs__buffer_char(&crlf, text->bytes[i]);
    }
    jobs__buffer_free(text);
    *text = crlf;
}

/* --- what must come out --- */

struct verdict {
    json_t *manifest; /* what depends on the spelling aside; NULL when refused */
    char broken[4096];
    enum jobs_format format; /* that it is, or would be */
};

static void judge(struct verdict *out, const char *text, size_t len, enum jobs_format format, size_t index)
{
    const struct jobs_convert_options options = {
        .format = format, .index = index, .job_request = SAMPLE_JOB, .requested_outcome = "Do the work."};
    struct jobs_report report = {0};
    char *manifest = NULL;
    size_t manifest_len = 0, used = 0;
    *out = (struct verdict){0};
    int code = jobs_convert(&manifest, &manifest_len, &out->format, text, len, &options, &report);
    assert_true(code == JOBS_OK || code == JOBS_INVALID);
    for (size_t i = 0; i < report.count && used < sizeof out->broken - 300; i++)
        used += (size_t)snprintf(out->broken + used, sizeof out->broken - used, "%s %.256s\n",
                                 report.violations[i].rule, report.violations[i].pointer);
    if (code == JOBS_OK) {
        out->manifest = json_loadb(manifest, manifest_len, 0, NULL);
        json_t *from = json_object_get(out->manifest, "source"), *repairs = json_object_get(from, "repairs");
        json_object_del(from, "sha256");
        json_object_del(from, "bytes");
        for (size_t i = json_array_size(repairs); i-- > 0;)
            if (strcmp(json_string_value(json_array_get(repairs, i)), "plain-form") == 0)
                json_array_remove(repairs, i);
    }
    free(manifest);
    jobs_report_wipe(&report);
}

static void expect_rule(const struct jobs__buffer *text, enum jobs_format format, const char *rule)
{
    struct verdict got;
    judge(&got, text->bytes, text->len, format, 0);
    if (strncmp(got.broken, rule, 4) != 0)
        fail_msg("not refused by %s but by '%s':\n%s", rule, got.broken, text->bytes);
}

static void expect_same(const struct verdict *wanted, const struct jobs__buffer *text, enum jobs_format format,
                        size_t index)
{
    struct verdict got;
    judge(&got, text->bytes, text->len, format, index);
    if (strcmp(wanted->broken, got.broken) != 0 || json_equal(wanted->manifest, got.manifest) != (got.manifest != NULL))
        fail_msg("wanted '%s', got '%s', or another handoff, of:\n%s", wanted->broken, got.broken, text->bytes);
    json_decref(got.manifest);
}

/* What is kept of an input is the same result, and nothing is left in it to hide. */
static void expect_clean(const struct verdict *wanted, const struct jobs__buffer *text, enum jobs_format format)
{
    const struct jobs_convert_options options = {
        .format = format, .keep_original = true, .job_request = SAMPLE_JOB, .requested_outcome = "Do the work."};
    struct jobs_report report = {0};
    struct verdict again;
    char *manifest = NULL;
    size_t len = 0, i;
    json_t *repair;
    int code = jobs_convert(&manifest, &len, NULL, text->bytes, text->len, &options, &report);
    if (code != JOBS_OK) { /* it does not fit, or holds CR */
        assert_int_equal(code, JOBS_INVALID);
        assert_string_equal(report.violations[0].rule, "X110");
        jobs_report_wipe(&report);
        return;
    }
    json_t *kept = json_loadb(manifest, len, 0, NULL);
    const char *original = json_string_value(json_object_get(json_object_get(kept, "source"), "original"));
    judge(&again, original, strlen(original), format, 0);
    json_t *from = json_object_get(again.manifest, "source"),
           *wanted_from = json_object_get(wanted->manifest, "source");
    json_array_foreach(json_object_get(from, "repairs"), i, repair)
    {
        assert_string_not_equal(json_string_value(repair), "text-redacted");
        assert_string_not_equal(json_string_value(repair), "binding-redacted");
    }
    json_object_del(from, "repairs");
    json_t *repairs = json_incref(json_object_get(wanted_from, "repairs"));
    json_object_del(wanted_from, "repairs");
    if (!json_equal(wanted->manifest, again.manifest))
        fail_msg("another handoff ('%s') of:\n%s\nwhich was kept as:\n%s", again.broken, text->bytes, original);
    json_object_set_new(wanted_from, "repairs", repairs);
    json_decref(again.manifest);
    json_decref(kept);
    free(manifest);
    jobs_report_wipe(&report);
    kept_clean++;
}

static void one_source(json_t *source, enum jobs_format format, size_t *converted)
{
    enum spelling how = format == JOBS_FORMAT_BUBBLES ? (enum spelling)below(SPELLINGS) : IN_FENCE;
    enum jobs_format asked = below(2) == 0 ? format : JOBS_FORMAT_AUTO;
    struct jobs__buffer bare = {.max = JOBS_CONVERT_INPUT_MAX}, text = bare, twice = bare, cut = bare, quoted = bare;
    struct verdict wanted, anyhow;
    size_t begin, end, start;

    put_talk(&text, source);
    start = text.len;
    put_result(&text, source, how, &begin, &end); /* before the bare form: items may leave things out */
    put_json(&bare, source);
    judge(&wanted, bare.bytes, bare.len, asked, 0);
    judge(&anyhow, bare.bytes, bare.len, JOBS_FORMAT_AUTO, 0);
    bool marked = anyhow.format == format;
    jobs__buffer_add(&cut, text.bytes, begin + below(end - begin + 1));
    jobs__buffer_format(&quoted, "~~~~~~markdown\n%s~~~~~~\n", text.bytes + start);
    jobs__buffer_add(&twice, text.bytes, text.len);
    put_result(&twice, source, how, &begin, &end);
    put_talk(&text, source);
    end_lines(&text);
    end_lines(&twice);
    end_lines(&cut);
    if (marked) {
        expect_same(&wanted, &text, asked, 0);
        if (wanted.manifest != NULL && format != JOBS_FORMAT_SUBLATION_REPORT) /* whose hash sees every change */
            expect_clean(&wanted, &text, asked);
        expect_rule(&twice, asked, "X103");
        expect_same(&wanted, &twice, asked, 1 + below(2));
        if (how != AS_ITEMS)
            expect_rule(&cut, asked, "X104");
    }
    expect_rule(&quoted, asked, "X102");
    *converted += wanted.manifest != NULL;
    json_decref(wanted.manifest);
    json_decref(anyhow.manifest);
    jobs__buffer_free(&bare);
    jobs__buffer_free(&text);
    jobs__buffer_free(&twice);
    jobs__buffer_free(&cut);
    jobs__buffer_free(&quoted);
}

static void each_spelling(void **state)
{
    (void)state;
    for (enum jobs_format format = JOBS_FORMAT_BUBBLES; format <= JOBS_FORMAT_SUBLATION_REPORT; format++) {
        size_t runs = 2000, converted = each_invented(format, &runs, one_source);
        print_message("%s: %zu of %zu generated sources converted, in every spelling\n", jobs_format_name(format),
                      converted, runs);
        assert_true(converted > 0);
        assert_true(kept_clean > 0 || format == JOBS_FORMAT_SUBLATION_REPORT);
        kept_clean = 0;
    }
}

int main(void)
{
    set_seed();
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_spelling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
