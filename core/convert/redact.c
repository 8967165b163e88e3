/* redact.c - what must never leave this machine, found in free text: local paths, file: URLs, hidden values, secrets.
 *
 * It looks at tokens (runs without spaces, quotes or brackets), never at meaning. A slash opens an absolute path where
 * no name stands before it, save for the bare names of workflow commands ("/review-change").
 */
#include "workflow.h"

#include "../text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char redacted[] = "<redacted>";

static bool is_boundary(unsigned char c)
{
    return c <= ' ' || strchr("\"'`()<>[]{}|,;", c) != NULL;
}

static size_t token_end(const char *text, size_t len, size_t at)
{
    while (at < len && !is_boundary((unsigned char)text[at]))
        at++;
    return at;
}

/* Commands of agentic-workflow read like absolute paths of one component. */
static bool is_command(const char *text, size_t len)
{
    char name[32];
    while (len > 0 && strchr(".:!?", text[len - 1]) != NULL)
        len--;
    if (len >= sizeof name)
        return false;
    memcpy(name, text, len);
    name[len] = '\0';
    return jobs__is_one_of(name, jobs__workflow_intents) || strcmp(name, "workflow-status") == 0;
}

/* Punctuation and symbols beyond ASCII, coarsely: quotation marks, dashes, arrows, bullets, full-width forms, emoji. */
static bool is_mark(uint32_t c)
{
    static const uint32_t ranges[][2] = {{0x80, 0xA9},      {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},
                                         {0x2000, 0x2BFF},  {0x3000, 0x303F}, {0xFE10, 0xFE6F}, {0xFEFF, 0xFEFF},
                                         {0xFF00, 0xFF0F},  {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65},
                                         {0x1F000, 0x1FAFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

/* Whether something begins at i of the token: behind = : @, behind nothing but marks ("**", "-I"), behind a mark beyond
 * ASCII, or behind an escape of JSON ("\n/…", "\/…"). */
static bool begins(const char *text, size_t i)
{
    size_t at = i;
    if (i == 0 || strchr("=:@", text[i - 1]) != NULL)
        return true;
    if (text[i - 1] == '\\' || (i >= 2 && text[i - 2] == '\\' && strchr("bfnrt\"", text[i - 1]) != NULL))
        return true;
    if (i == 2 && text[0] == '-' && isalpha((unsigned char)text[1]))
        return true;
    if ((unsigned char)text[i - 1] >= 0x80) {
        while (at > 0 && ((unsigned char)text[at - 1] & 0xC0) == 0x80)
            at--;
        at -= at > 0;
        return is_mark(jobs__text_next(text, i, &at));
    }
    while (at > 0 && ispunct((unsigned char)text[at - 1]) && strchr("./\\", text[at - 1]) == NULL)
        at--;
    return at == 0;
}

static bool has_up_component(const char *text, size_t len)
{
    for (size_t i = 0; i + 2 <= len; i++)
        if (text[i] == '.' && text[i + 1] == '.' && (begins(text, i) || strchr("/\\", text[i - 1]) != NULL) &&
            (i + 2 == len || text[i + 2] == '/' || text[i + 2] == '\\'))
            return true;
    return false;
}

static bool is_scheme(const char *text, size_t len)
{
    return len > 1 && text[len - 1] == ':' && isalnum((unsigned char)text[len - 2]);
}

/* Where in the token text[0..len) a local path begins; len when there is none. */
static size_t local_start(const char *text, size_t len)
{
    if (has_up_component(text, len))
        return 0;
    for (size_t i = 0; i < len; i++) {
        const char *rest = text + i;
        size_t left = len - i;
        if (strchr("/\\~", rest[0]) == NULL && !isalpha((unsigned char)rest[0]))
            continue;
        if (!begins(text, i))
            continue;
        if (left >= 5 && strncasecmp(rest, "file:", 5) == 0)
            return i;
        if (rest[0] == '\\' && left > 1 && (isalnum((unsigned char)rest[1]) || rest[1] == '\\'))
            return i;
        if (left >= 3 && isalpha((unsigned char)rest[0]) && rest[1] == ':' && (rest[2] == '\\' || rest[2] == '/') &&
            !(rest[2] == '/' && left > 3 && rest[3] == '/'))
            return i;
        if (rest[0] == '~' && (i == 0 || text[i - 1] != '~') && /* "~~~json", "~~struck~~" */
            (left == 1 || strchr("/\\", rest[1]) != NULL || isalpha((unsigned char)rest[1]) || rest[1] == '_'))
            return i;
        if (rest[0] != '/' || left == 1)
            continue;
        if (rest[1] == '/' && is_scheme(text, i)) /* scheme://host/path holds no local path */
            return len;
        if (rest[1] == '/' && left == 2) /* a comment's mark */
            return len;
        if (!is_command(rest + 1, left - 1))
            return i;
    }
    return len;
}

/* Length of an approval code ("SR-" and 8 hex digits) at text, 0 when there is none. */
static size_t approval_code(const char *text, size_t len)
{
    if (len < 11 || memcmp(text, "SR-", 3) != 0)
        return 0;
    for (size_t i = 3; i < 11; i++)
        if (!isxdigit((unsigned char)text[i]))
            return 0;
    return len == 11 || !isalnum((unsigned char)text[11]) ? 11 : 0;
}

/* A MAC in words: "hmac-sha256:…", "mac=…". Length of the whole token part, 0 when there is none. */
static size_t mac_value(const char *text, size_t len)
{
    static const char *const prefixes[] = {"hmac-sha256:", "hmac-sha256=", "hmac:", "hmac=", "mac=", "hmac-sha512:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t n = strlen(prefixes[i]);
        if (len > n && strncasecmp(text, prefixes[i], n) == 0)
            return token_end(text, len, 0);
    }
    return 0;
}

/* The longest hidden value that begins at text and does not end within a word. */
static size_t hidden_value(const struct jobs__conversion *c, const char *text, size_t len)
{
    size_t longest = 0, i;
    json_t *value;
    json_array_foreach(c->hidden, i, value)
    {
        size_t n = json_string_length(value);
        if (n > longest && n <= len && memcmp(json_string_value(value), text, n) == 0 &&
            (n == len || !isalnum((unsigned char)text[n])))
            longest = n;
    }
    return longest;
}

bool jobs__redact(struct jobs__conversion *c, const char *text, size_t len, struct jobs__buffer *out)
{
    bool any = false;
    size_t secret_at = len, secret_len = 0;
    const struct jobs_convert_options *o = c->options;
    if (o->find_secret != NULL && !o->find_secret(o->context, text, len, &secret_at, &secret_len))
        secret_at = len;
    for (size_t at = 0; at < len;) {
        size_t skip = 0;
        bool at_start = at == 0 || is_boundary((unsigned char)text[at - 1]);
        if (at == secret_at) {
            skip = secret_len;
            size_t next = at + skip;
            size_t found = 0, found_len = 0;
            if (next < len && o->find_secret(o->context, text + next, len - next, &found, &found_len)) {
                secret_at = next + found;
                secret_len = found_len;
            } else {
                secret_at = len;
            }
        } else if (at_start || !isalnum((unsigned char)text[at - 1])) {
            skip = hidden_value(c, text + at, len - at); /* what the source itself marks as private */
            if (skip == 0)
                skip = approval_code(text + at, len - at);
            if (skip == 0)
                skip = mac_value(text + at, len - at);
        }
        if (skip == 0 && at_start && !is_boundary((unsigned char)text[at])) {
            size_t end = token_end(text, len, at);
            size_t local = at + local_start(text + at, end - at);
            if (local < end && local < secret_at) {
                jobs__buffer_add(out, text + at, local - at);
                at = local;
                skip = end - local;
                /* punctuation that ends the sentence is not the path's */
                while (skip > 1 && strchr(".:!?", text[at + skip - 1]) != NULL && text[at + skip - 2] != '.')
                    skip--;
            }
        }
        if (skip > 0) {
            jobs__buffer_text(out, redacted);
            any = true;
            at += skip;
        } else {
            jobs__buffer_char(out, text[at++]);
        }
    }
    if (any)
        jobs__repair(c, JOBS__REPAIR_TEXT_REDACTED);
    return any;
}

static bool names_something_private(const char *name)
{
    static const char *const words[] = {"approval_code", "approvalCode",   "mac",         "hmac",
                                        "secret",        "token",          "password",    "private_key",
                                        "privateKey",    "repositoryRoot", "signing_key", NULL};
    size_t len = strlen(name);
    return jobs__is_one_of(name, words) || (len > 4 && strcasecmp(name + len - 4, "_mac") == 0) ||
           (len > 5 && strcasecmp(name + len - 5, "_hmac") == 0);
}

void jobs__collect_hidden(struct jobs__conversion *c, const json_t *value, const char *name)
{
    const char *key;
    json_t *child;
    size_t i;
    if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, child) jobs__collect_hidden(c, child, key);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, child) jobs__collect_hidden(c, child, name);
    } else if (json_is_string(value) && name != NULL && names_something_private(name)) {
        /* short words would blank out half of the text, and a root that is no path says nothing of this machine; the
         * shown placeholder is no secret */
        bool root = strcmp(name, "repositoryRoot") == 0;
        if (json_string_length(value) >= 4 && (!root || strpbrk(json_string_value(value), "/\\:~") != NULL) &&
            strcmp(json_string_value(value), "<redacted-local-root>") != 0 &&
            json_array_append(c->hidden, (json_t *)value) != 0)
            c->failed = JOBS_NO_MEMORY;
    }
}
