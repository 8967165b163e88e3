/* json.c - one pass over the bytes, from the first to the last, with a stack of at most 32 open containers.
 *
 * Decodes nothing and knows no field of any document. Allocates only to make its arrays larger. See json.h.
 */
#include "json.h"
#include "json_decode.h"

#include "rules.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_MAX ((size_t)16 << 20)

struct open_container {
    uint32_t value; /* its index */
    uint32_t name;  /* of the member being read, 0 between members */
    uint32_t item;  /* of the array's value being read */
};

struct parser {
    struct jobs__json *doc;
    const char *text;
    size_t len;
    size_t at;
    struct open_container stack[JOBS__JSON_DEPTH];
    size_t depth;
    jobs__json_report *report; /* NULL: the first fault ends it */
    void *context;
    struct jobs__json_fault *first;
    size_t line, line_at; /* number of the line that offset line_at is in */
    bool stopped;
};

/* --- faults --- */

static size_t line_of(struct parser *p, size_t offset)
{
    /* Faults come nearly in order, so counting goes on from the last one, back where need be. */
    for (; p->line_at < offset; p->line_at++)
        p->line += p->text[p->line_at] == '\n';
    for (; p->line_at > offset; p->line_at--)
        p->line -= p->text[p->line_at - 1] == '\n';
    return p->line;
}

/* The pointer of what is being read, written from its end to its beginning. */
static void write_pointer(struct parser *p, char *out, size_t size)
{
    static const char ellipsis[] = "…";
    const size_t ellipsis_len = sizeof ellipsis - 1;
    size_t begin = size - 1;
    out[begin] = '\0';
    for (size_t i = p->depth; i-- > 0;) {
        const struct open_container *open = &p->stack[i];
        char token[JOBS__JSON_NAME_SHOWN + 1];
        size_t token_len;
        if (p->doc->values[open->value].type == JOBS__JSON_ARRAY) {
            char digits[12];
            token_len = 0;
            uint32_t item = open->item;
            do
                digits[token_len++] = (char)('0' + item % 10);
            while ((item /= 10) > 0);
            for (size_t d = 0; d < token_len; d++)
                token[d] = digits[token_len - 1 - d];
        } else if (open->name != 0) {
            token_len = jobs__json_token(token, JOBS__JSON_NAME_SHOWN, p->doc, open->name);
        } else {
            continue;
        }
        if (begin < token_len + 1 + ellipsis_len) {
            begin -= ellipsis_len;
            memcpy(out + begin, ellipsis, ellipsis_len);
            break;
        }
        begin -= token_len;
        memcpy(out + begin, token, token_len);
        out[--begin] = '/';
    }
    memmove(out, out + begin, size - begin);
}

/* Tells of a fault. Returns whether reading may go on, if the fault leaves something to read. */
static bool fault(struct parser *p, enum jobs__rule rule, size_t offset, const char *what)
{
    struct jobs__json_fault local;
    struct jobs__json_fault *f = p->report != NULL ? &local : p->first;
    if (f != NULL) {
        f->rule = jobs__rule_number(rule);
        f->what = what;
        f->offset = offset;
        f->line = line_of(p, offset);
        write_pointer(p, f->pointer, sizeof f->pointer);
    }
    if (p->report == NULL) {
        p->stopped = true;
        return false;
    }
    p->report(p->context, f);
    return true;
}

static int syntax(struct parser *p, const char *what)
{
    const unsigned char *s = (const unsigned char *)p->text + p->at;
    if (p->at < p->len && s[0] >= 0x80 && jobs__text_sequence(p->text + p->at, p->len - p->at) == 0)
        fault(p, JOBS__H102, p->at, "the input must be valid UTF-8");
    else
        fault(p, JOBS__H104, p->at, what);
    return JOBS_INVALID;
}

/* --- the document's memory --- */

static bool grow_values(struct jobs__json *doc)
{
    size_t capacity = doc->capacity == 0 ? 64 : doc->capacity * 2;
    struct jobs__json_value *values = realloc(doc->values, capacity * sizeof *values);
    if (values == NULL)
        return false;
    doc->values = values;
    doc->capacity = capacity;
    return true;
}

static bool reserve_scratch(struct jobs__json *doc, size_t need)
{
    if (need <= doc->scratch_capacity)
        return true;
    uint32_t *scratch = realloc(doc->scratch, need * sizeof *scratch);
    if (scratch == NULL)
        return false;
    doc->scratch = scratch;
    doc->scratch_capacity = need;
    return true;
}

/* Appends a value of which only the beginning is known. Returns its index, or UINT32_MAX when out of memory. */
static inline uint32_t push(struct jobs__json *doc, enum jobs__json_type type, size_t start)
{
    if (doc->count == doc->capacity && !grow_values(doc))
        return UINT32_MAX;
    uint32_t index = (uint32_t)doc->count++;
    doc->values[index] = (struct jobs__json_value){.start = (uint32_t)start, .after = index + 1, .type = (uint8_t)type};
    return index;
}

/* --- duplicates --- */

static bool duplicate(struct parser *p, uint32_t name)
{
    struct open_container *open = &p->stack[p->depth - 1];
    open->name = name;
    bool go_on = fault(p, JOBS__H106, p->doc->values[name].start,
                       "an object must not have two members of the same name (after unescaping)");
    open->name = 0;
    return go_on;
}

static int find_duplicates(struct parser *p, uint32_t object)
{
    struct jobs__json *doc = p->doc;
    size_t n = doc->values[object].count;
    if (n < 2)
        return JOBS_OK;
    uint32_t few[JOBS__JSON_FEW];
    uint32_t *names = few;
    if (n > JOBS__JSON_FEW) {
        if (!reserve_scratch(doc, 2 * n))
            return JOBS_NO_MEMORY;
        names = doc->scratch;
    }
    uint32_t at = object + 1;
    for (size_t i = 0; i < n; i++) {
        names[i] = at;
        at = doc->values[at + 1].after;
    }
    size_t found = jobs__json_repeats(doc, names, n);
    for (size_t i = 0; i < found; i++) {
        if (!duplicate(p, names[i]))
            return JOBS_INVALID;
    }
    return JOBS_OK;
}

/* --- scalars --- */

#define EACH_BYTE(b) (UINT64_C(0x0101010101010101) * (b))

/* Offset of the first byte at or behind `at` that is not plain ASCII text of a string. */
static inline size_t skip_plain(const char *text, size_t len, size_t at)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    while (len - at >= 8) {
        uint64_t word;
        memcpy(&word, text + at, 8);
        uint64_t quote = word ^ EACH_BYTE('"'), slash = word ^ EACH_BYTE('\\');
        /* Each term is exact for its lowest hit, and the lowest is all that is asked for. */
        uint64_t hits = ((word - EACH_BYTE(0x20)) & ~word) | ((quote - EACH_BYTE(1)) & ~quote) |
                        ((slash - EACH_BYTE(1)) & ~slash) | word;
        hits &= EACH_BYTE(0x80);
        if (hits != 0)
            return at + (size_t)__builtin_ctzll(hits) / 8;
        at += 8;
    }
#endif
    while (at < len && (unsigned char)text[at] >= 0x20 && (unsigned char)text[at] < 0x80 && text[at] != '"' &&
           text[at] != '\\')
        at++;
    return at;
}

/* What has been told of one string: each kind of fault is told of once. */
struct told {
    bool encoding, surrogate, control;
};

static bool fault_once(struct parser *p, bool *told, enum jobs__rule rule, const char *what)
{
    if (*told)
        return true;
    *told = true;
    return fault(p, rule, p->at, what);
}

/* Reads the escape at p->at (a backslash). */
static int read_escape(struct parser *p, struct told *told)
{
    size_t left = p->len - p->at;
    const char *s = p->text + p->at;
    if (left < 2)
        return syntax(p, "a string must end with a quote");
    switch (s[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        p->at += 2;
        return JOBS_OK;
    case 'u':
        break;
    default:
        return syntax(p, "a backslash must begin one of the escapes of JSON");
    }
    uint32_t unit = left < 6 ? UINT32_MAX : jobs__json_hex_four(s + 2);
    if (unit > 0xffff)
        return syntax(p, "four hexadecimal digits must follow \\u");
    size_t step = 6;
    if (unit >= 0xd800 && unit < 0xe000) {
        uint32_t low = unit < 0xdc00 && left >= 12 && s[6] == '\\' && s[7] == 'u' ? jobs__json_hex_four(s + 8) : 0;
        if (low >= 0xdc00 && low < 0xe000)
            step = 12;
        else if (!fault_once(p, &told->surrogate, JOBS__H107,
                             "a surrogate escape must be one half of a pair, high then low"))
            return JOBS_INVALID;
    }
    p->at += step;
    return JOBS_OK;
}

/* Reads the string whose opening quote is at p->at into a new value. */
static int read_string(struct parser *p, uint32_t *index)
{
    size_t start = p->at++;
    bool escaped = false;
    struct told told = {false};
    for (;;) {
        p->at = skip_plain(p->text, p->len, p->at);
        if (p->at >= p->len)
            return syntax(p, "a string must end with a quote");
        unsigned char c = (unsigned char)p->text[p->at];
        if (c == '"')
            break;
        if (c == '\\') {
            escaped = true;
            int code = read_escape(p, &told);
            if (code != JOBS_OK)
                return code;
        } else if (c >= 0x80) {
            size_t step = jobs__text_sequence(p->text + p->at, p->len - p->at);
            if (step == 0 && !fault_once(p, &told.encoding, JOBS__H102, "the input must be valid UTF-8"))
                return JOBS_INVALID;
            p->at += step > 0 ? step : 1;
        } else {
            if (!fault_once(p, &told.control, JOBS__H104,
                            "a control character within a string must be written as an escape"))
                return JOBS_INVALID;
            p->at++;
        }
    }
    p->at++;
    *index = push(p->doc, JOBS__JSON_STRING, start);
    if (*index == UINT32_MAX)
        return JOBS_NO_MEMORY;
    p->doc->values[*index].end = (uint32_t)p->at;
    p->doc->values[*index].escaped = escaped;
    return JOBS_OK;
}

static bool is_digit(const struct parser *p)
{
    return p->at < p->len && p->text[p->at] >= '0' && p->text[p->at] <= '9';
}

static void skip_digits(struct parser *p)
{
    while (is_digit(p))
        p->at++;
}

static int read_number(struct parser *p)
{
    size_t start = p->at;
    p->at += p->text[p->at] == '-';
    if (!is_digit(p))
        return syntax(p, "a number must have a digit here");
    if (p->text[p->at] == '0') {
        p->at++;
        if (is_digit(p))
            return syntax(p, "a number must not begin with a zero that is not its only digit");
    }
    skip_digits(p);
    if (p->at < p->len && p->text[p->at] == '.') {
        p->at++;
        if (!is_digit(p))
            return syntax(p, "a digit must follow the decimal point");
        skip_digits(p);
    }
    if (p->at < p->len && (p->text[p->at] == 'e' || p->text[p->at] == 'E')) {
        p->at++;
        if (p->at < p->len && (p->text[p->at] == '+' || p->text[p->at] == '-'))
            p->at++;
        if (!is_digit(p))
            return syntax(p, "a number's exponent must have a digit");
        skip_digits(p);
    }
    uint32_t index = push(p->doc, JOBS__JSON_NUMBER, start);
    if (index == UINT32_MAX)
        return JOBS_NO_MEMORY;
    p->doc->values[index].end = (uint32_t)p->at;
    return JOBS_OK;
}

static int read_word(struct parser *p, const char *word, enum jobs__json_type type)
{
    size_t n = strlen(word);
    if (p->len - p->at < n || memcmp(p->text + p->at, word, n) != 0)
        return syntax(p, "a JSON value must stand here");
    uint32_t index = push(p->doc, type, p->at);
    if (index == UINT32_MAX)
        return JOBS_NO_MEMORY;
    p->at += n;
    p->doc->values[index].end = (uint32_t)p->at;
    return JOBS_OK;
}

/* --- containers --- */

static inline void skip_space(struct parser *p)
{
    while (p->at < p->len) {
        char c = p->text[p->at];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            return;
        p->at++;
    }
}

static char peek(const struct parser *p)
{
    return p->at < p->len ? p->text[p->at] : '\0';
}

/* Reads a member's name and colon in the object on top of the stack. */
static int read_name(struct parser *p)
{
    struct open_container *open = &p->stack[p->depth - 1];
    open->name = 0;
    skip_space(p);
    if (peek(p) != '"')
        return syntax(p, "a member's name in quotes must stand here");
    uint32_t name = 0;
    int code = read_string(p, &name);
    if (code != JOBS_OK)
        return code;
    open->name = name;
    p->doc->values[open->value].count++;
    skip_space(p);
    if (peek(p) != ':')
        return syntax(p, "a colon must follow a member's name");
    p->at++;
    return JOBS_OK;
}

static int close_container(struct parser *p)
{
    struct open_container *open = &p->stack[p->depth - 1];
    struct jobs__json_value *value = &p->doc->values[open->value];
    p->at++;
    value->end = (uint32_t)p->at;
    value->after = (uint32_t)p->doc->count;
    open->name = 0;
    int code = value->type == JOBS__JSON_OBJECT ? find_duplicates(p, open->value) : JOBS_OK;
    p->depth--;
    return code;
}

/* Opens the container at p->at; an empty one is closed at once. *opened says whether a value must follow. */
static int open_container(struct parser *p, enum jobs__json_type type, bool *opened)
{
    *opened = false;
    if (p->depth == JOBS__JSON_DEPTH) {
        fault(p, JOBS__H108, p->at, "arrays and objects must not nest more than 32 deep");
        return JOBS_INVALID;
    }
    uint32_t index = push(p->doc, type, p->at);
    if (index == UINT32_MAX)
        return JOBS_NO_MEMORY;
    p->stack[p->depth++] = (struct open_container){.value = index};
    p->at++;
    skip_space(p);
    if (peek(p) == (type == JOBS__JSON_OBJECT ? '}' : ']'))
        return close_container(p);
    *opened = true;
    return type == JOBS__JSON_OBJECT ? read_name(p) : JOBS_OK;
}

static int read_value(struct parser *p, bool *opened)
{
    *opened = false;
    skip_space(p);
    if (p->depth > 0) {
        const struct open_container *open = &p->stack[p->depth - 1];
        struct jobs__json_value *container = &p->doc->values[open->value];
        if (container->type == JOBS__JSON_ARRAY)
            container->count++;
    }
    uint32_t index;
    switch (peek(p)) {
    case '"':
        return read_string(p, &index);
    case '{':
        return open_container(p, JOBS__JSON_OBJECT, opened);
    case '[':
        return open_container(p, JOBS__JSON_ARRAY, opened);
    case 't':
        return read_word(p, "true", JOBS__JSON_TRUE);
    case 'f':
        return read_word(p, "false", JOBS__JSON_FALSE);
    case 'n':
        return read_word(p, "null", JOBS__JSON_NULL);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return read_number(p);
    default:
        return syntax(p, "a JSON value must stand here");
    }
}

/* Behind a value: closes what ends here. *more says whether another value follows. */
static int read_separators(struct parser *p, bool *more)
{
    *more = false;
    while (p->depth > 0) {
        struct open_container *open = &p->stack[p->depth - 1];
        bool is_object = p->doc->values[open->value].type == JOBS__JSON_OBJECT;
        skip_space(p);
        char c = peek(p);
        int code = JOBS_OK;
        if (c == ',') {
            p->at++;
            *more = true;
            open->item++;
            return is_object ? read_name(p) : JOBS_OK;
        }
        if (c == (is_object ? '}' : ']'))
            code = close_container(p);
        else
            code = syntax(p, is_object ? "a comma or } must follow an object's member"
                                       : "a comma or ] must follow an array's value");
        if (code != JOBS_OK)
            return code;
    }
    return JOBS_OK;
}

static int parse(struct parser *p)
{
    struct jobs__json *doc = p->doc;
    doc->text = p->text;
    doc->len = p->len;
    doc->count = 0;
    if (p->len > INPUT_MAX) {
        fault(p, JOBS__H101, INPUT_MAX, "the input must not be larger than the limit");
        return JOBS_INVALID;
    }
    if (p->len >= 3 && memcmp(p->text, "\xef\xbb\xbf", 3) == 0) {
        if (!fault(p, JOBS__H103, 0, "the input must begin without a byte-order mark"))
            return JOBS_INVALID;
        p->at = 3;
    }
    for (bool more = true; more;) {
        bool opened;
        int code = read_value(p, &opened);
        if (code == JOBS_OK && !opened)
            code = read_separators(p, &more);
        if (code != JOBS_OK)
            return code;
    }
    skip_space(p);
    if (p->at < p->len)
        fault(p, JOBS__H105, p->at, "nothing but white space must follow the JSON value");
    return p->stopped ? JOBS_INVALID : JOBS_OK;
}

int jobs__json_parse(struct jobs__json *doc, const char *text, size_t len, struct jobs__json_fault *first)
{
    struct parser p = {.doc = doc, .text = text, .len = len, .first = first, .line = 1};
    return parse(&p);
}

int jobs__json_parse_all(struct jobs__json *doc, const char *text, size_t len, jobs__json_report *report, void *context)
{
    struct parser p = {.doc = doc, .text = text, .len = len, .report = report, .context = context, .line = 1};
    return parse(&p);
}

void jobs__json_free(struct jobs__json *doc)
{
    if (doc == NULL)
        return;
    free(doc->values);
    free(doc->scratch);
    *doc = (struct jobs__json){0};
}
