/* fuzz_fields.c - contents put together from tables: each byte of the input picks the next member or value, so that
 * most of them get past the JSON and meet the rules. */
#include "invariants.h"

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct picker {
    const uint8_t *data;
    size_t size;
};

static size_t pick(struct picker *p, size_t n)
{
    if (p->size == 0)
        return 0;
    p->size--;
    return *p->data++ % n;
}

#define PICK(p, table) (table)[pick(p, sizeof(table) / sizeof *(table))]

static const char *const texts[] = {"\"ok\"",       "\"\"",        "\"\\u3000\"", "\"a\\nb\"", "\"\\u0000\"",
                                    "\"\\u007f\"",  "\"\\u0085\"", "\"\\ufeff\"", "\" x \"",   "\"\\ud800\"",
                                    "\"🚀\"",        "null",        "1",           "[]",        "{}",
                                    "true",         "\"id-1\"",    "\"id-2\"",    "\"\xff\"",  "\"é\\t\"",
                                    "\"\\\\\\\"\"", "\"" A64 "\"", "\"\\u200b\"", "\"passed\""};
static const char *const words[] = {"\"completed\"", "\"partial\"",      "\"blocked\"",
                                    "\"failed\"",    "\"no_artifact\"",  "\"file\"",
                                    "\"commit\"",    "\"link\"",         "\"passed\"",
                                    "\"not_run\"",   "\"addressed\"",    "\"approve\"",
                                    "\"executed\"",  "\"Partial\"",      "[\"partial\"]",
                                    "null",          "\"pull_request\"", "\"observation\"",
                                    "\"other\"",     "\"\\u0066ile\"",   "7"};
static const char *const numbers[] = {
    "1",          "1.0",        "0",           "-0",   "-1",    "2",    "1e0",  "9007199254740991", "9007199254740992",
    "2147483647", "2147483648", "-2147483648", "null", "\"1\"", "true", "1e400"};
static const char *const references[] = {"\"https://example.org/a\"",
                                         "\"https://\"",
                                         "\"https:x\"",
                                         "\" http://a \"",
                                         "\"https://u@h/\"",
                                         "\"buzz:x y\"",
                                         "\"buzz://a\\\\b\"",
                                         "\"nostr:npub1\"",
                                         "\"C:\\\\x\"",
                                         "\"/a\"",
                                         "\"a/../b\"",
                                         "\"a.md\"",
                                         "\"" A64 "\"",
                                         "\"https://[::1]:80/\"",
                                         "\"https://1.2.3.4\"",
                                         "\"https://xn--4dbrk0ce/\"",
                                         "\"https://é/\"",
                                         "\"https://a:66666\"",
                                         "\"~/x\"",
                                         "\"https://0x1/\"",
                                         "\"nostr:nsec1x\"",
                                         "\"\"",
                                         "5",
                                         "\"https://a.b./\\\\c\""};
static const char *const unknown[] = {"1.10",
                                      "[{\"b\":1,\"a\":[]}]",
                                      "\"\\u0001\\u007f/\"",
                                      "null",
                                      "{\"a\":1,\"\\u0061\":2}",
                                      "123456789012345678901234567890",
                                      "{\"z\":{},\"y\":null}"};

enum kind {
    TEXT,
    WORD,
    NUMBER,
    REFERENCE,
    UNKNOWN,
    ARTIFACTS,
    VERIFICATION,
    FINDINGS,
    REVIEWS,
    QUESTIONS,
    NEXT,
    SOURCE,
    TEXTS
};

struct member {
    const char *name;
    enum kind kind;
};

static const struct member root[] = {{"lastProgress", TEXT},   {"artifacts", ARTIFACTS}, {"verification", VERIFICATION},
                                     {"blocker", TEXT},        {"findings", FINDINGS},   {"reviews", REVIEWS},
                                     {"questions", QUESTIONS}, {"next", NEXT},           {"supersedes", TEXT},
                                     {"source", SOURCE},       {"zz", UNKNOWN},          {"\\u0061a", UNKNOWN},
                                     {"disposition", WORD},    {"outcome", TEXT},        {"__proto__", UNKNOWN}};
static const struct member artifact[] = {{"kind", WORD},        {"label", TEXT},  {"reference", REFERENCE},
                                         {"sourceState", TEXT}, {"sha256", TEXT}, {"bytes", NUMBER},
                                         {"mediaType", TEXT},   {"x", UNKNOWN}};
static const struct member verification[] = {{"label", TEXT},         {"status", WORD},  {"evidence", TEXT},
                                             {"claimSource", WORD},   {"command", TEXT}, {"exitCode", NUMBER},
                                             {"evidenceSha256", TEXT}};
static const struct member finding[] = {{"id", TEXT},     {"severity", TEXT}, {"summary", TEXT},
                                        {"bucket", WORD}, {"owner", TEXT},    {"filedArtifact", TEXT}};
static const struct member review[] = {{"role", TEXT},    {"reviewer", TEXT},       {"verdict", WORD},
                                       {"summary", TEXT}, {"reference", REFERENCE}, {"sha256", TEXT}};
static const struct member question[] = {{"id", TEXT}, {"question", TEXT}, {"options", TEXTS}};
static const struct member next[] = {{"owner", TEXT}, {"intent", TEXT}, {"targets", TEXTS}, {"text", TEXT}};
static const struct member source[] = {
    {"format", TEXT}, {"sha256", TEXT}, {"bytes", NUMBER}, {"repairs", TEXTS}, {"original", TEXT}};

static const struct {
    const struct member *members;
    size_t count;
} shapes[] = {
#define SHAPE(table)                                                                                                   \
    {                                                                                                                  \
        table, sizeof(table) / sizeof *(table)                                                                         \
    }
    [ARTIFACTS] = SHAPE(artifact), [VERIFICATION] = SHAPE(verification), [FINDINGS] = SHAPE(finding),
    [REVIEWS] = SHAPE(review),     [QUESTIONS] = SHAPE(question),        [NEXT] = SHAPE(next),
    [SOURCE] = SHAPE(source)};

static void put_value(struct picker *p, struct jobs__buffer *out, enum kind kind);

/* All members of a shape, but for those that chance leaves out. */
static void put_object(struct picker *p, struct jobs__buffer *out, const struct member *members, size_t count)
{
    jobs__buffer_char(out, '{');
    for (size_t i = 0, put = 0; i < count; i++) {
        if (pick(p, 8) == 7)
            continue;
        jobs__buffer_format(out, "%s\"%s\":", put++ > 0 ? "," : "", members[i].name);
        put_value(p, out, members[i].kind);
    }
    jobs__buffer_char(out, '}');
}

static void put_value(struct picker *p, struct jobs__buffer *out, enum kind kind)
{
    size_t items = 0;
    switch (kind) {
    case TEXT:
        jobs__buffer_text(out, PICK(p, texts));
        break;
    case WORD:
        jobs__buffer_text(out, PICK(p, words));
        break;
    case NUMBER:
        jobs__buffer_text(out, PICK(p, numbers));
        break;
    case REFERENCE:
        jobs__buffer_text(out, PICK(p, references));
        break;
    case UNKNOWN:
        jobs__buffer_text(out, PICK(p, unknown));
        break;
    case NEXT:
    case SOURCE:
        put_object(p, out, shapes[kind].members, shapes[kind].count);
        break;
    default:
        items = pick(p, 4);
        jobs__buffer_char(out, '[');
        for (size_t i = 0; i < items; i++) {
            jobs__buffer_text(out, i > 0 ? "," : "");
            if (kind == TEXTS)
                jobs__buffer_text(out, PICK(p, texts));
            else
                put_object(p, out, shapes[kind].members, shapes[kind].count);
        }
        jobs__buffer_char(out, ']');
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct picker p = {data, size};
    struct jobs__buffer content = {.max = 1 << 20};
    static const char *const dispositions[] = {"completed", "partial", "blocked", "failed", "no_artifact"};
    jobs__buffer_format(&content, "{\"schemaVersion\":1,\"jobRequest\":\"%s\",\"requestedOutcome\":\"x\"",
                        pick(&p, 8) == 7 ? "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" : A64);
    if (pick(&p, 2) == 0)
        jobs__buffer_format(&content, ",\"outcome\":\"y\",\"disposition\":\"%s\"", PICK(&p, dispositions));
    size_t members = pick(&p, 8);
    for (size_t i = 0; i < members; i++) {
        const struct member *m = &root[pick(&p, sizeof root / sizeof *root)];
        jobs__buffer_format(&content, ",\"%s\":", m->name);
        put_value(&p, &content, m->kind);
    }
    jobs__buffer_char(&content, '}');
    if (!content.failed)
        invariants(content.bytes, content.len, A64);
    jobs__buffer_free(&content);
    return 0;
}
