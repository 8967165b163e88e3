/* secrets_shapes.c - the shapes credentials have, one row each, and how each is recognised.
 *
 * Every shape is looked for as a whole word: an identifier that merely holds "sk-" or a digest is none. Nothing here
 * remembers or shows what it found.
 */
#include "../core/json.h"
#include "bech32.h"
#include "secrets.h"

#include <string.h>

enum class {
    UPPER = 1,
    LOWER = 2,
    DIGIT = 4,
    DASH = 8,
    UNDER = 16,
    DOT = 32,
    OTHER68 = 64, /* the rest of what RFC 9110 calls token68: ~ + / = */
    ALNUM = UPPER | LOWER | DIGIT,
    BASE64URL = ALNUM | DASH | UNDER,
    TOKEN68 = BASE64URL | DOT | OTHER68
};

static unsigned class_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return LOWER;
    if (c >= 'A' && c <= 'Z')
        return UPPER;
    if (c >= '0' && c <= '9')
        return DIGIT;
    return c == '-' ? DASH : c == '_' ? UNDER : c == '.' ? DOT : c != '\0' && strchr("~+/=", c) != NULL ? OTHER68 : 0;
}

static bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool are_hex_digits(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_hex_digit(text[i]))
            return false;
    return true;
}

static bool escape_ends(const char *text, size_t at)
{
    return (at >= 2 && text[at - 2] == '\\' && strchr("nrtbf", text[at - 1]) != NULL) ||
           (at >= 3 && text[at - 3] == '%' && are_hex_digits(text + at - 2, 2)) ||
           (at >= 4 && text[at - 4] == '\\' && text[at - 3] == 'x' && are_hex_digits(text + at - 2, 2)) ||
           (at >= 6 && text[at - 6] == '\\' && text[at - 5] == 'u' && are_hex_digits(text + at - 4, 4));
}

bool jobs__secret_begins(const char *text, size_t at, unsigned glue)
{
    return at == 0 || (class_of(text[at - 1]) & (ALNUM | glue)) == 0 || escape_ends(text, at);
}

bool jobs__secret_ends(const char *text, size_t len, size_t at)
{
    return at == len || (class_of(text[at]) & ALNUM) == 0;
}

/* Length of the run of characters of these classes at `at`. */
static size_t run(const char *text, size_t len, size_t at, unsigned classes)
{
    size_t end = at;
    while (end < len && (class_of(text[end]) & classes) != 0)
        end++;
    return end - at;
}

static bool has_digit(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (class_of(text[i]) == DIGIT)
            return true;
    return false;
}

static bool begins_as(const char *begin, const char *text, size_t len)
{
    for (size_t i = 0; begin[i] != '\0'; i++)
        if (i == len || (begin[i] == '?' ? class_of(text[i]) != LOWER : text[i] != begin[i]))
            return false;
    return true;
}

static bool run_counts(const struct jobs__secret_shape *shape, const char *text, size_t len, size_t at)
{
    size_t n = run(text, len, at, shape->alphabet);
    return n >= shape->least && n <= shape->most && jobs__secret_ends(text, len, at + n) &&
           (!shape->digit || has_digit(text + at, n));
}

static int find_run(const struct jobs__secret_shape *shape, const char *text, size_t len)
{
    size_t begin_len = strlen(shape->begin);
    for (size_t i = 0; i + begin_len + shape->least <= len; i++)
        if (begins_as(shape->begin, text + i, len - i) && jobs__secret_begins(text, i, shape->glue) &&
            run_counts(shape, text, len, i + begin_len))
            return 1;
    return 0;
}

/* The scheme of an Authorization header, in any case, then white space. */
static int find_bearer(const struct jobs__secret_shape *shape, const char *text, size_t len)
{
    size_t begin_len = strlen(shape->begin);
    for (size_t i = 0; i + begin_len + 1 + shape->least <= len; i++) {
        if (strncasecmp(text + i, shape->begin, begin_len) != 0 || !jobs__secret_begins(text, i, shape->glue))
            continue;
        size_t space = i + begin_len;
        size_t at = space;
        while (at < len && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
            at++;
        if (at == space && len - at > 3 && memcmp(text + at, "%20", 3) == 0)
            at += 3;
        if (at > space && run_counts(shape, text, len, at))
            return 1;
    }
    return 0;
}

/* nsec1… and the like: the checksum tells them from words. */
static int find_bech32(const struct jobs__secret_shape *shape, const char *text, size_t len)
{
    size_t begin_len = strlen(shape->begin);
    for (size_t i = 0; i + begin_len < len; i++) {
        if (text[i + begin_len] != '1' || strncasecmp(text + i, shape->begin, begin_len) != 0 ||
            !jobs__secret_begins(text, i, 0))
            continue;
        if (jobs__bech32_is(shape->begin, text + i, run(text, len, i, ALNUM)))
            return 1;
    }
    return 0;
}

/* Moves over what may stand between the lines of a key that was quoted, indented, commented or escaped. */
static size_t skip_margin(const char *text, size_t len, size_t at)
{
    for (;;) {
        if (at < len && text[at] != '\0' && strchr(" \t\r\n\"'>|#*,`", text[at]) != NULL)
            at++;
        else if (len - at >= 2 && text[at] == '\\' && strchr("nrt\\\"", text[at + 1]) != NULL && text[at + 1] != '\0')
            at += 2;
        else
            return at;
    }
}

static bool is_base64(char c)
{
    return (class_of(c) & ALNUM) != 0 || c == '+' || c == '/' || c == '=';
}

/* A line of a key is base64 and nothing else; where more follows it, it must not look like a word. */
static bool is_key_line(const char *text, size_t len, size_t at)
{
    enum {
        KEY_LINE_LEAST = 16
    };
    size_t end = at;
    bool odd = false;
    for (; end < len && is_base64(text[end]); end++)
        odd = odd || (class_of(text[end]) & LOWER) == 0;
    return end - at >= KEY_LINE_LEAST &&
           (odd || end == len || text[end] == '\n' || text[end] == '\r' || text[end] == '\\' || text[end] == '-');
}

/* The place behind this line, real or written as an escape. */
static size_t next_line(const char *text, size_t len, size_t at)
{
    for (; at < len; at++) {
        if (text[at] == '\n')
            return at + 1;
        if (text[at] == '\\' && at + 1 < len && text[at + 1] == 'n')
            return at + 2;
    }
    return len;
}

static size_t behind_pem_header(const char *text, size_t len, size_t at)
{
    static const char begin[] = "-----BEGIN ";
    static const char key[] = "PRIVATE KEY";
    if (len - at < sizeof begin - 1 || memcmp(text + at, begin, sizeof begin - 1) != 0)
        return 0;
    size_t label = at + sizeof begin - 1;
    size_t end = label;
    while (end < len && ((class_of(text[end]) & (UPPER | DIGIT)) != 0 || text[end] == ' '))
        end++;
    bool dashes = len - end >= 5 && memcmp(text + end, "-----", 5) == 0;
    return dashes && memmem(text + label, end - label, key, sizeof key - 1) != NULL ? end + 5 : 0;
}

/* The header alone is what a text about keys says; with a line of base64 near it is a key. A few lines between them
 * are the headers of old encrypted keys and of PGP. What stands behind the next dashes is not this header's. */
static int find_pem(const struct jobs__secret_shape *shape, const char *text, size_t len)
{
    (void)shape;
    for (size_t i = 0; i < len; i++) {
        size_t at = text[i] == '-' ? behind_pem_header(text, len, i) : 0;
        if (at == 0)
            continue;
        const char *dashes = memmem(text + at, len - at, "-----", 5);
        size_t end = dashes != NULL ? (size_t)(dashes - text) : len;
        for (int line = 0; line < 6 && at < end; line++) {
            at = skip_margin(text, end, at);
            if (is_key_line(text, end, at))
                return 1;
            at = next_line(text, end, at);
        }
    }
    return 0;
}

static void base64url_decode(struct jobs__buffer *out, const char *text, size_t len)
{
    unsigned bits = 0;
    unsigned count = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        unsigned value = c >= 'A' && c <= 'Z'   ? (unsigned)(c - 'A')
                         : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 26
                         : c >= '0' && c <= '9' ? (unsigned)(c - '0') + 52
                         : c == '-'             ? 62U
                                                : 63U;
        bits = (bits << 6 | value) & 0xfff;
        count += 6;
        if (count >= 8) {
            count -= 8;
            jobs__buffer_char(out, (char)(bits >> count));
        }
    }
}

/* Whether the first part of a JWT is one: a JSON object that names its algorithm. */
static int is_jwt_header(const char *text, size_t len)
{
    struct jobs__buffer header = {.max = len};
    struct jobs__json doc = {0};
    struct jobs__json_fault fault;
    base64url_decode(&header, text, len);
    int code = header.failed ? JOBS_NO_MEMORY : jobs__json_parse(&doc, header.bytes, header.len, &fault);
    int found = code == JOBS_NO_MEMORY ? -1 : 0;
    if (code == JOBS_OK && doc.values[0].type == JOBS__JSON_OBJECT && jobs__json_member(&doc, 0, "alg") != 0)
        found = 1;
    jobs__json_free(&doc);
    jobs__buffer_free(&header);
    return found;
}

/* Whether two more parts follow the one that ends at `at`. */
static bool parts_follow(const char *text, size_t len, size_t at)
{
    for (int part = 2; part <= 3; part++) {
        size_t n = at < len && text[at] == '.' ? run(text, len, at + 1, BASE64URL) : 0;
        if (n == 0)
            return false;
        at += 1 + n;
    }
    return true;
}

static int find_jwt(const struct jobs__secret_shape *shape, const char *text, size_t len)
{
    enum {
        GLUED_MOST = 2048 /* of a header behind - or _, which may be its own: there may be many such places in a part */
    };
    size_t end = 0; /* of the part last looked at */
    bool follow = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != 'e' || !jobs__secret_begins(text, i, shape->glue)) /* base64 of "{" begins with e */
            continue;
        if (i >= end) {
            end = i + run(text, len, i, BASE64URL);
            follow = parts_follow(text, len, end);
        }
        bool glued = i > 0 && (class_of(text[i - 1]) & (DASH | UNDER)) != 0;
        if (!follow || end - i < shape->least || (glued && end - i > GLUED_MOST))
            continue;
        int found = is_jwt_header(text + i, end - i);
        if (found != 0)
            return found;
    }
    return 0;
}

/* `***` is what a careful tool left of one, and $NAME or ${NAME} is where one would be put in. */
static bool is_placeholder(const char *text, size_t len)
{
    size_t stars = 0;
    while (stars < len && text[stars] == '*')
        stars++;
    size_t name = len > 1 && text[0] == '$' ? run(text, len, 1, UPPER | DIGIT | UNDER) : 0;
    return stars == len || (len > 1 && name == len - 1) ||
           (len > 3 && text[0] == '$' && text[1] == '{' && text[len - 1] == '}');
}

static int find_url(const struct jobs__secret_shape *shape, const char *text, size_t len)
{
    (void)shape;
    for (size_t i = 1; i < len; i++) {
        static const char *const marks[] = {"://", ":\\/\\/"};
        size_t at = 0;
        for (size_t m = 0; m < 2; m++)
            if (len - i >= strlen(marks[m]) && memcmp(text + i, marks[m], strlen(marks[m])) == 0)
                at = i + strlen(marks[m]);
        if (at == 0 || (class_of(text[i - 1]) & ALNUM) == 0)
            continue;
        size_t end = at;
        size_t colon = 0;
        size_t sign = 0;
        for (; end < len && text[end] != '\0' && strchr(" \t\r\n/?#\\\"'<>`", text[end]) == NULL; end++) {
            if (text[end] == ':' && colon == 0)
                colon = end;
            if (text[end] == '@')
                sign = end;
        }
        if (colon != 0 && colon + 1 < sign && !is_placeholder(text + colon + 1, sign - colon - 1))
            return 1;
    }
    return 0;
}

#define NO_MOST ((size_t)-1)

const struct jobs__secret_shape jobs__secret_shapes[] = {
    {"H902", "a Nostr secret key (nsec1…)", find_bech32, "nsec", 0, 0, 0, 0, false},
    {"H903", "an encrypted Nostr secret key (ncryptsec1…)", find_bech32, "ncryptsec", 0, 0, 0, 0, false},
    {"H904", "a private key in PEM form", find_pem, NULL, 0, 0, 0, 0, false},
    {"H905", "an AWS access key id", find_run, "AKIA", UPPER | DIGIT, 0, 16, 16, false},
    {"H906", "a GitHub token", find_run, "gh?_", ALNUM, 0, 36, NO_MOST, false},
    {"H907", "a fine-grained GitHub token", find_run, "github_pat_", ALNUM | UNDER, 0, 22, NO_MOST, false},
    {"H908", "a Slack token", find_run, "xox?-", ALNUM | DASH, 0, 10, NO_MOST, false},
    {"H909", "an API key (sk-…)", find_run, "sk-", BASE64URL, DASH, 20, NO_MOST, true},
    {"H910", "a bearer token", find_bearer, "Bearer", TOKEN68, 0, 20, NO_MOST, true},
    {"H911", "a JSON Web Token", find_jwt, NULL, 0, 0, 10, NO_MOST, false},
    {"H912", "a URL with a password in it", find_url, NULL, 0, 0, 0, 0, false},
};
const size_t jobs__secret_shape_count = sizeof jobs__secret_shapes / sizeof jobs__secret_shapes[0];
