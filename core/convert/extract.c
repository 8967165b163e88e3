/* extract.c - finds the one result in an agent's answer: fences, headings, key-and-item text, YAML, JSON.
 *
 * A wrong pick is worse than a refusal: quotations (fences inside fences, quoted lines, HTML comments) are passed over,
 * two results or a cut one are refused.
 */
#include "conversion.h"

#include "../json.h"
#include "../text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_ITEMS 1000

struct scan {
    struct jobs__conversion *c;
    size_t at, line; /* of the next line to read */
    size_t count;    /* of results so far, the first and the second of them */
    size_t lines[2]; /* in these lines; the one that is asked for is c->candidate */
    enum jobs_format last;
    size_t unclosed_line;      /* of a fence that never closes; 0 when there is none */
    enum jobs_format unclosed; /* what is in it */
    size_t indent;             /* where the text of the list item begins that we are in; 0 outside of lists */
};

struct line {
    const char *text; /* without its line end */
    size_t len, start, number;
};

static bool next_line(struct scan *s, struct line *out)
{
    const char *input = s->c->input;
    size_t len = s->c->input_len;
    if (s->at >= len)
        return false;
    const char *end = memchr(input + s->at, '\n', len - s->at);
    size_t stop = end == NULL ? len : (size_t)(end - input);
    *out = (struct line){.text = input + s->at, .len = stop - s->at, .start = s->at, .number = s->line};
    if (out->len > 0 && out->text[out->len - 1] == '\r')
        out->len--;
    s->at = end == NULL ? stop : stop + 1; /* never behind the input */
    s->line++;
    return true;
}

static bool is_blank_line(const struct line *line)
{
    for (size_t i = 0; i < line->len; i++)
        if (!isspace((unsigned char)line->text[i]))
            return false;
    return true;
}

/* --- fences and headings (CommonMark, but a fence with a name opens a quotation even inside another) --- */

struct fence {
    char mark;
    size_t width;
    char info[64];
};

/* A list item's text may be indented up to 3 spaces beyond `indent`, like any other. */
static bool read_fence(struct fence *out, const struct line *line, size_t indent)
{
    size_t i = 0, width = 0;
    while (i < line->len && line->text[i] == ' ')
        i++;
    if (i > indent + 3 || i >= line->len || (line->text[i] != '`' && line->text[i] != '~'))
        return false;
    out->mark = line->text[i];
    while (i + width < line->len && line->text[i + width] == out->mark)
        width++;
    if (width < 3)
        return false;
    out->width = width;
    const char *info = line->text + i + width;
    size_t len = line->len - i - width;
    jobs__text_trim(&info, &len);
    if (out->mark == '`' && memchr(info, '`', len) != NULL)
        return false;
    size_t used = 0; /* words, with one space between them */
    for (size_t at = 0; at < len && used < sizeof out->info - 1; at++) {
        bool space = isspace((unsigned char)info[at]);
        if (!space || (used > 0 && out->info[used - 1] != ' '))
            out->info[used++] = space ? ' ' : info[at];
    }
    out->info[used] = '\0';
    return true;
}

/* Follows the list items: their text is indented, and a fence may stand there, even behind the marker itself. */
static void follow_list(struct scan *s, struct line *line)
{
    size_t i = 0, marker;
    while (i < line->len && line->text[i] == ' ')
        i++;
    if (i == line->len)
        return;
    if (i < s->indent)
        s->indent = 0;
    marker = i;
    while (marker < line->len && marker < i + 9 && isdigit((unsigned char)line->text[marker]))
        marker++;
    if (i > s->indent + 3 || marker >= line->len ||
        memchr(marker == i ? "-*+" : ".)", line->text[marker], marker == i ? 3 : 2) == NULL ||
        marker + 1 >= line->len || line->text[marker + 1] != ' ')
        return;
    s->indent = marker + 2;
    line->text += s->indent;
    line->len -= s->indent;
    line->start += s->indent;
}

static bool closes(const struct fence *open, const struct fence *line)
{
    return line->mark == open->mark && line->width >= open->width && line->info[0] == '\0';
}

static bool is_heading(const struct line *line, bool *of_result)
{
    size_t i = 0, level = 0;
    while (i < line->len && line->text[i] == ' ')
        i++;
    while (i + level < line->len && line->text[i + level] == '#')
        level++;
    if (i > 3 || level == 0 || level > 6 || (i + level < line->len && !isspace((unsigned char)line->text[i + level])))
        return false;
    const char *text = line->text + i + level;
    size_t len = line->len - i - level;
    jobs__text_trim(&text, &len);
    *of_result = len >= 15 && strncasecmp(text, "result", 6) == 0 && memchr(" -_", text[6], 3) != NULL &&
                 strncasecmp(text + 7, "envelope", 8) == 0 && (len == 15 || !isalnum((unsigned char)text[15]));
    return true;
}

/* Moves behind the fence that was just opened; its content is [start, end). False when it never closes. */
static bool skip_fence(struct scan *s, const struct fence *open, size_t *start, size_t *end)
{
    enum {
        DEEPEST = 32
    };
    struct fence nested[DEEPEST];
    size_t depth = 1;
    struct line line;
    struct fence fence;
    nested[0] = *open;
    *start = s->at;
    while (next_line(s, &line)) {
        if (!read_fence(&fence, &line, s->indent))
            continue;
        if (closes(&nested[depth - 1], &fence)) {
            if (--depth == 0) {
                *end = line.start;
                return true;
            }
        } else if (fence.info[0] != '\0' && fence.mark == nested[depth - 1].mark &&
                   fence.width >= nested[depth - 1].width && depth < DEEPEST) {
            nested[depth++] = fence;
        }
    }
    return false;
}

/* --- what a block says it is --- */

static bool has(const struct jobs__json *doc, const char *name)
{
    return jobs__json_member(doc, 0, name) != 0;
}

static bool says(const struct jobs__json *doc, const char *name, const char *word)
{
    uint32_t at = jobs__json_member(doc, 0, name);
    return at != 0 && doc->values[at].type == JOBS__JSON_STRING && jobs__json_equals(doc, at, word, strlen(word));
}

static bool begins_with(struct scan *s, const struct jobs__json *doc, const char *name, const char *word)
{
    struct jobs__buffer text = {.max = JOBS__TEXT_MAX};
    uint32_t at = jobs__json_member(doc, 0, name);
    if (at != 0 && doc->values[at].type == JOBS__JSON_STRING)
        jobs__json_string(doc, at, &text);
    bool begins = text.len >= strlen(word) && memcmp(text.bytes, word, strlen(word)) == 0;
    jobs__close(s->c, &text);
    return begins;
}

static enum jobs_format format_of(struct scan *s, const struct jobs__json *doc)
{
    int64_t version;
    uint32_t at = jobs__json_member(doc, 0, "schema_version");
    if (begins_with(s, doc, "agent", "bubbles.") && has(doc, "outcome"))
        return JOBS_FORMAT_BUBBLES;
    if (says(doc, "contract", "agentic-workflow/skill-outcome"))
        return JOBS_FORMAT_SKILL_OUTCOME;
    if (has(doc, "skill") && has(doc, "state") && has(doc, "unit") && has(doc, "gates"))
        return JOBS_FORMAT_WORKFLOW_ENVELOPE;
    if (has(doc, "candidate_id") && at != 0 && jobs__json_integer(doc, at, &version) && version == 3)
        return JOBS_FORMAT_SUBLATION_MANIFEST;
    if (has(doc, "run_id") && (has(doc, "report_version") || has(doc, "configured_roots")))
        return JOBS_FORMAT_SUBLATION_REPORT;
    return JOBS_FORMAT_AUTO;
}

static void ignore(void *context, const struct jobs__json_fault *fault)
{
    (void)context, (void)fault;
}

/* Whether the text is one JSON value, faults that leave it readable (such as a name that stands twice) aside. */
static bool is_json(struct scan *s, struct jobs__json *doc, const char *text, size_t len)
{
    int code = jobs__json_parse_all(doc, text, len, ignore, NULL);
    if (code == JOBS_NO_MEMORY)
        s->c->failed = code;
    return code == JOBS_OK;
}

static bool contains(const char *text, size_t len, const char *word)
{
    return memmem(text, len, word, strlen(word)) != NULL;
}

/* The format of a block that need not be readable: it may be the cut or mistyped result itself. */
static enum jobs_format sniff(struct scan *s, const char *text, size_t len)
{
    struct jobs__json doc = {0};
    bool readable = is_json(s, &doc, text, len);
    enum jobs_format format =
        readable && doc.values[0].type == JOBS__JSON_OBJECT ? format_of(s, &doc) : JOBS_FORMAT_AUTO;
    jobs__json_free(&doc);
    if (readable)
        return format;
    if (contains(text, len, "\"agentic-workflow/skill-outcome\""))
        return JOBS_FORMAT_SKILL_OUTCOME;
    if (contains(text, len, "\"agent\"") && contains(text, len, "\"bubbles.") && contains(text, len, "\"outcome\""))
        return JOBS_FORMAT_BUBBLES;
    if (contains(text, len, "\"skill\"") && contains(text, len, "\"state\"") && contains(text, len, "\"unit\"") &&
        contains(text, len, "\"gates\""))
        return JOBS_FORMAT_WORKFLOW_ENVELOPE;
    if (contains(text, len, "\"candidate_id\"") && contains(text, len, "\"schema_version\""))
        return JOBS_FORMAT_SUBLATION_MANIFEST;
    if (contains(text, len, "\"run_id\"") && contains(text, len, "\"report_version\""))
        return JOBS_FORMAT_SUBLATION_REPORT;
    return JOBS_FORMAT_AUTO;
}

static void add(struct scan *s, enum jobs_format format, enum jobs__block block, size_t start, size_t end, size_t line)
{
    enum jobs_format wants = s->c->options->format;
    if (wants != JOBS_FORMAT_AUTO && wants != format)
        return;
    size_t wanted = s->c->options->index;
    if (s->count < 2)
        s->lines[s->count] = line;
    if (s->count == (wanted == 0 ? 0 : wanted - 1))
        s->c->candidate = (struct jobs__candidate){
            .format = format, .block = block, .start = start, .len = end > start ? end - start : 0, .line = line};
    s->last = format;
    s->count++;
}

/* A fence and what it is: under a heading of a result it may be JSON with comments' names or YAML; elsewhere only
 * `json` (or one marked result-envelope) carries a result, and only by its discriminator. JSON that bears the mark of
 * another system is that system's, whatever stands above it. */
static void take_fence(struct scan *s, const struct fence *open, bool under_heading)
{
    static const char *const json_names[] = {"json", "jsonc", "json5", "json result-envelope", NULL};
    static const char *const yaml_names[] = {"yaml", "yml", NULL};
    size_t start, end, line = s->line;
    if (!skip_fence(s, open, &start, &end)) {
        s->unclosed_line = line - 1;
        s->unclosed = under_heading ? JOBS_FORMAT_BUBBLES : sniff(s, s->c->input + start, s->c->input_len - start);
        return;
    }
    const char *text = s->c->input + start;
    size_t len = end - start;
    bool json = jobs__is_one_of(open->info, json_names);
    enum jobs_format format = json ? sniff(s, text, len) : JOBS_FORMAT_AUTO;
    bool marked = under_heading || strcmp(open->info, "json result-envelope") == 0;
    if (format != JOBS_FORMAT_BUBBLES && strcmp(open->info, "json") != 0)
        format = JOBS_FORMAT_AUTO;
    if (format == JOBS_FORMAT_AUTO && marked)
        format = JOBS_FORMAT_BUBBLES;
    if (format == JOBS_FORMAT_AUTO)
        return;
    bool yaml = jobs__is_one_of(open->info, yaml_names);
    add(s, format,
        json   ? JOBS__BLOCK_JSON
        : yaml ? JOBS__BLOCK_YAML
               : JOBS__BLOCK_UNMARKED,
        start, end, json || yaml ? line : line - 1);
}

/* Behind a heading of a result: blank lines, then a fence, or the plain form up to the next heading. */
static void take_heading(struct scan *s)
{
    struct line line;
    struct fence fence;
    size_t start = s->at, first = s->line;
    bool begun = false, of_result;
    for (;;) {
        size_t at = s->at, number = s->line;
        if (!next_line(s, &line) || (is_heading(&line, &of_result))) {
            s->at = at;
            s->line = number;
            break;
        }
        if (!begun && is_blank_line(&line))
            continue;
        if (!begun) {
            if (read_fence(&fence, &line, 0)) {
                take_fence(s, &fence, true);
                return;
            }
            start = line.start;
            first = line.number;
            begun = true;
        }
    }
    add(s, JOBS_FORMAT_BUBBLES, JOBS__BLOCK_PLAIN, start, s->at, first);
}

/* An HTML comment is no result, whatever it holds. One within a paragraph cannot hold a block. */
static void skip_comment(struct scan *s, const struct line *line)
{
    size_t i = 0;
    while (i < line->len && line->text[i] == ' ')
        i++;
    if (i > 3 || line->len - i < 4 || memcmp(line->text + i, "<!--", 4) != 0 ||
        memmem(line->text + i, line->len - i, "-->", 3) != NULL)
        return;
    struct line inner;
    size_t at = s->at, number = s->line;
    while (next_line(s, &inner))
        if (memmem(inner.text, inner.len, "-->", 3) != NULL)
            return;
    s->at = at; /* never closed: plain text */
    s->line = number;
}

static void scan_text(struct scan *s)
{
    struct line line;
    struct fence fence;
    bool of_result;
    while (next_line(s, &line)) {
        follow_list(s, &line);
        if (read_fence(&fence, &line, s->indent))
            take_fence(s, &fence, false);
        else if (is_heading(&line, &of_result) && of_result)
            take_heading(s);
        else
            skip_comment(s, &line);
    }
}

/* --- the one candidate --- */

static bool too_large(const json_t *value)
{
    const char *name;
    json_t *child;
    size_t i;
    if (json_is_array(value)) {
        if (json_array_size(value) > MAX_ITEMS)
            return true;
        json_array_foreach(value, i, child) if (too_large(child)) return true;
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)value, name, child) if (too_large(child)) return true;
    }
    return false;
}

static void read_candidate(struct jobs__conversion *c)
{
    const char *text = c->input + c->candidate.start;
    size_t len = c->candidate.len;
    if (c->candidate.block == JOBS__BLOCK_UNMARKED) {
        jobs__violate(c, "X105", "", "the fence under this heading must be marked json, jsonc, json5 or yaml");
        return;
    }
    if (c->candidate.block == JOBS__BLOCK_YAML)
        c->source = jobs__yaml_read(c, text, len, c->candidate.line);
    else if (c->candidate.block == JOBS__BLOCK_PLAIN)
        c->source = jobs__plain_read(c, text, len, c->candidate.line);
    else
        c->source = jobs__json_read(c, text, len);
    if (c->source == NULL) {
        if (!jobs__violated(c))
            c->failed = JOBS_NO_MEMORY;
    } else if (!json_is_object(c->source)) {
        jobs__violate(c, "X105", "", "the result must be an object");
    } else if (too_large(c->source)) {
        jobs__violate(c, "X106", "", "an array must not have more than %d items", MAX_ITEMS);
    }
}

static void choose(struct scan *s)
{
    struct jobs__conversion *c = s->c;
    size_t index = c->options->index;
    if (index > s->count && index > 0) {
        jobs__violate(c, "X103", "", "there is no result %zu; the input holds %zu", index, s->count);
    } else if (index == 0 && s->unclosed_line > 0) {
        jobs__violate(c, "X104", "", "the fence opened in line %zu never closes: the answer may have been cut%s",
                      s->unclosed_line, s->count > 0 ? "; --index N takes an earlier result all the same" : "");
        c->candidate = (struct jobs__candidate){.format = s->unclosed};
    } else if (s->count == 0) {
        jobs__violate(c, "X102", "", "no block of the input is a result of %s",
                      c->options->format == JOBS_FORMAT_AUTO ? "a known format" : "the asked format");
    } else if (index == 0 && s->count > 1) {
        jobs__violate(
            c, "X103", "",
            "the input holds %zu results, the first in line %zu and the second in line %zu; --index N chooses one",
            s->count, s->lines[0], s->lines[1]);
        c->candidate = (struct jobs__candidate){.format = s->last};
    } else {
        read_candidate(c);
    }
}

static void take_bare(struct scan *s, const char *text, size_t len)
{
    enum jobs_format wants = s->c->options->format, format = wants == JOBS_FORMAT_AUTO ? sniff(s, text, len) : wants;
    size_t start = (size_t)(text - s->c->input), line = 1;
    for (size_t i = 0; i < start; i++)
        line += s->c->input[i] == '\n';
    if (format != JOBS_FORMAT_AUTO)
        add(s, format, JOBS__BLOCK_JSON, start, start + len, line);
}

void jobs__extract(struct jobs__conversion *c)
{
    size_t mark = c->input_len >= 3 && memcmp(c->input, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* of byte order: no text */
    struct scan s = {.c = c, .at = mark, .line = 1};
    const char *text = c->input;
    size_t len = c->input_len;
    if (len > JOBS_CONVERT_INPUT_MAX || !jobs__text_is_utf8(text, len)) {
        jobs__violate(c, "X101", "", "the input must be %s",
                      len > JOBS_CONVERT_INPUT_MAX ? "no longer than 1 MiB" : "UTF-8 text");
        return;
    }
    jobs__text_trim(&text, &len);
    /* a text that only begins with a brace is one with blocks in it */
    bool bare = len > 0 && text[0] == '{';
    struct jobs__json doc = {0};
    if (!bare || !is_json(&s, &doc, text, len))
        scan_text(&s);
    jobs__json_free(&doc);
    if (bare && s.count == 0 && s.unclosed_line == 0)
        take_bare(&s, text, len);
    choose(&s);
}
