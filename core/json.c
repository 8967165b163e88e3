/* json.c - one pass over the bytes, from the first to the last, with a stack of at most 32 open containers.
 *
 * Decodes nothing and knows no field of any document. Allocates only to make its arrays larger. See json.h.
 */
#include "json.h"

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

/* --- names --- */

static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A' + 10);
    return 16;
}

/* The four digits behind \u, or a number above 0xffff when they are none. */
static uint32_t hex_four(const char *s)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = hex_digit(s[i]);
        if (digit > 15)
            return UINT32_MAX;
        value = value << 4 | digit;
    }
    return value;
}

/* The next character of an already parsed string: text[*at] up to end (its closing quote). A lone surrogate is itself.
 */
static uint32_t next_decoded(const char *text, size_t end, size_t *at)
{
    if (text[*at] != '\\')
        return jobs__text_next(text, end, at);
    char c = text[*at + 1];
    *at += 2;
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'u': {
        uint32_t unit = hex_four(text + *at);
        *at += 4;
        if (unit >= 0xd800 && unit < 0xdc00 && end - *at >= 6 && text[*at] == '\\' && text[*at + 1] == 'u') {
            uint32_t low = hex_four(text + *at + 2);
            if (low >= 0xdc00 && low < 0xe000) {
                *at += 6;
                return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        return unit;
    }
    default:
        return (unsigned char)c;
    }
}

static size_t encode(char out[4], uint32_t c)
{
    if (c >= 0xd800 && c < 0xe000)
        c = 0xfffd;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Orders two names by the characters they decode to. */
static int compare_names(const struct jobs__json *doc, uint32_t a, uint32_t b)
{
    const struct jobs__json_value *x = &doc->values[a], *y = &doc->values[b];
    size_t x_at = x->start + 1, x_end = x->end - 1, y_at = y->start + 1, y_end = y->end - 1;
    if (!x->escaped && !y->escaped) {
        size_t x_len = x_end - x_at, y_len = y_end - y_at;
        int order = memcmp(doc->text + x_at, doc->text + y_at, x_len < y_len ? x_len : y_len);
        return order != 0 ? order : (x_len > y_len) - (x_len < y_len);
    }
    while (x_at < x_end && y_at < y_end) {
        uint32_t c = next_decoded(doc->text, x_end, &x_at), d = next_decoded(doc->text, y_end, &y_at);
        if (c != d)
            return c < d ? -1 : 1;
    }
    return (x_at < x_end) - (y_at < y_end);
}

static bool same_name(const struct jobs__json *doc, uint32_t a, uint32_t b)
{
    const struct jobs__json_value *x = &doc->values[a], *y = &doc->values[b];
    if (!x->escaped && !y->escaped && x->end - x->start != y->end - y->start)
        return false;
    return compare_names(doc, a, b) == 0;
}

static int compare_indices(const struct jobs__json *doc, uint32_t a, uint32_t b)
{
    (void)doc;
    return (a > b) - (a < b);
}

/* Stable bottom-up merge sort; spare has room for n as well. No input makes it slower than n log n. */
static void sort(uint32_t *items, uint32_t *spare, size_t n, const struct jobs__json *doc,
                 int (*compare)(const struct jobs__json *, uint32_t, uint32_t))
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            size_t left = low, right = middle;
            for (size_t to = low; to < high; to++) {
                if (left < middle && (right >= high || compare(doc, items[left], items[right]) <= 0))
                    spare[to] = items[left++];
                else
                    spare[to] = items[right++];
            }
        }
        memcpy(items, spare, n * sizeof *items);
    }
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

#define FEW 16

static bool duplicate(struct parser *p, uint32_t name)
{
    struct open_container *open = &p->stack[p->depth - 1];
    open->name = name;
    bool go_on = fault(p, JOBS__H106, p->doc->values[name].start,
                       "an object must not have two members of the same name (after unescaping)");
    open->name = 0;
    return go_on;
}

void jobs__json_sort(const struct jobs__json *doc, uint32_t *strings, size_t n)
{
    sort(strings, strings + n, n, doc, compare_names);
}

size_t jobs__json_repeats(const struct jobs__json *doc, uint32_t *strings, size_t n)
{
    size_t found = 0;
    if (n <= FEW) {
        uint32_t repeats[FEW];
        for (size_t i = 1; i < n; i++) {
            size_t k = 0;
            while (k < i && !same_name(doc, strings[i], strings[k]))
                k++;
            if (k < i)
                repeats[found++] = strings[i];
        }
        memcpy(strings, repeats, found * sizeof *strings);
        return found;
    }
    uint32_t *spare = strings + n;
    sort(strings, spare, n, doc, compare_names);
    for (size_t i = 1; i < n; i++) {
        if (same_name(doc, strings[i - 1], strings[i]))
            spare[found++] = strings[i];
    }
    memcpy(strings, spare, found * sizeof *strings);
    sort(strings, spare, found, doc, compare_indices);
    return found;
}

static int find_duplicates(struct parser *p, uint32_t object)
{
    struct jobs__json *doc = p->doc;
    size_t n = doc->values[object].count;
    if (n < 2)
        return JOBS_OK;
    uint32_t few[FEW];
    uint32_t *names = few;
    if (n > FEW) {
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
    uint32_t unit = left < 6 ? UINT32_MAX : hex_four(s + 2);
    if (unit > 0xffff)
        return syntax(p, "four hexadecimal digits must follow \\u");
    size_t step = 6;
    if (unit >= 0xd800 && unit < 0xe000) {
        uint32_t low = unit < 0xdc00 && left >= 12 && s[6] == '\\' && s[7] == 'u' ? hex_four(s + 8) : 0;
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

/* --- looking at a document --- */

uint32_t jobs__json_member(const struct jobs__json *doc, uint32_t object, const char *name)
{
    const struct jobs__json_value *o = &doc->values[object];
    size_t len = strlen(name);
    uint32_t at = object + 1;
    for (uint32_t i = 0; i < o->count; i++) {
        if (jobs__json_equals(doc, at, name, len))
            return at + 1;
        at = doc->values[at + 1].after;
    }
    return 0;
}

void jobs__json_string(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out)
{
    const struct jobs__json_value *value = &doc->values[index];
    size_t at = value->start + 1, end = value->end - 1;
    while (at < end) {
        const char *slash = value->escaped ? memchr(doc->text + at, '\\', end - at) : NULL;
        size_t stop = slash != NULL ? (size_t)(slash - doc->text) : end;
        jobs__buffer_add(out, doc->text + at, stop - at);
        at = stop;
        while (at < end && doc->text[at] == '\\') {
            char bytes[4];
            size_t n = encode(bytes, next_decoded(doc->text, end, &at));
            jobs__buffer_add(out, bytes, n);
        }
    }
}

bool jobs__json_equals(const struct jobs__json *doc, uint32_t index, const char *text, size_t len)
{
    const struct jobs__json_value *value = &doc->values[index];
    size_t at = value->start + 1, end = value->end - 1;
    if (!value->escaped)
        return end - at == len && memcmp(doc->text + at, text, len) == 0;
    size_t text_at = 0;
    while (at < end && text_at < len) {
        if (next_decoded(doc->text, end, &at) != jobs__text_next(text, len, &text_at))
            return false;
    }
    return at >= end && text_at >= len;
}

bool jobs__json_integer(const struct jobs__json *doc, uint32_t index, int64_t *out)
{
    const struct jobs__json_value *value = &doc->values[index];
    if (value->type != JOBS__JSON_NUMBER)
        return false;
    size_t at = value->start;
    bool negative = doc->text[at] == '-';
    at += negative;
    /* Counted below zero, where int64 reaches one further. */
    int64_t number = 0;
    for (; at < value->end; at++) {
        char c = doc->text[at];
        if (c < '0' || c > '9' || number < (INT64_MIN + (c - '0')) / 10)
            return false;
        number = number * 10 - (c - '0');
    }
    if (negative ? number == 0 : number == INT64_MIN)
        return false;
    *out = negative ? number : -number;
    return true;
}

/* One character of a name as it stands in a pointer. */
static size_t token_piece(char piece[8], const char *text, size_t end, size_t *at)
{
    uint32_t c = next_decoded(text, end, at);
    if (c == '~' || c == '/') {
        piece[0] = '~';
        piece[1] = c == '~' ? '0' : '1';
        return 2;
    }
    char bytes[4];
    size_t n = encode(bytes, c), from = 0;
    return jobs__text_escape(piece, bytes, n, &from);
}

size_t jobs__json_token(char *out, size_t max, const struct jobs__json *doc, uint32_t index)
{
    static const char ellipsis[] = "…";
    const size_t ellipsis_len = sizeof ellipsis - 1;
    const struct jobs__json_value *value = &doc->values[index];
    size_t used = 0, safe = 0, end = value->end - 1;
    for (size_t at = value->start + 1; at < end;) {
        char piece[8];
        size_t n = token_piece(piece, doc->text, end, &at);
        if (used + n > max) {
            memcpy(out + safe, ellipsis, ellipsis_len);
            used = safe + ellipsis_len;
            break;
        }
        memcpy(out + used, piece, n);
        used += n;
        if (used + ellipsis_len <= max)
            safe = used;
    }
    out[used] = '\0';
    return used;
}

void jobs__json_add_token(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out)
{
    size_t end = doc->values[index].end - 1;
    for (size_t at = doc->values[index].start + 1; at < end;) {
        char piece[8];
        size_t n = token_piece(piece, doc->text, end, &at);
        jobs__buffer_add(out, piece, n);
    }
}

void jobs__json_pointer(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out)
{
    for (uint32_t in = 0; index != in;) {
        uint32_t child = in + 1;
        if (doc->values[in].type == JOBS__JSON_OBJECT) {
            while (doc->values[child + 1].after <= index)
                child = doc->values[child + 1].after;
            jobs__buffer_char(out, '/');
            jobs__json_add_token(doc, child, out);
            if (index == child)
                return; /* a name stands for its member */
            in = child + 1;
        } else {
            size_t item = 0;
            for (; doc->values[child].after <= index; item++)
                child = doc->values[child].after;
            jobs__buffer_format(out, "/%zu", item);
            in = child;
        }
    }
}

size_t jobs__json_line(const struct jobs__json *doc, uint32_t index)
{
    const char *at = doc->text, *end = doc->text + doc->values[index].start;
    size_t line = 1;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        line++;
        at++;
    }
    return line;
}
