/* test_card_hostile.c - every text of a card, of an unknown field, of a tag, and of content that is no card, holding
 * what could harm a terminal, a page, a document or a log: in all five forms it stays text.
 *
 * Harmless means: no character that changes how others are shown; and with the nasty text in its place, the structure
 * (tags of the page, blocks and spans of the document) is that of a card which holds as many lines of x.
 */
#include "../card/card.h"
#include "../escape.h"

#include <jobs/key.h>

#include <jansson.h>
#include <md4c.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>

#include <cmocka.h>

#define CHANNEL "123e4567-e89b-42d3-a456-426614174000"
#define JOB     "abababababababababababababababababababababababababababababababab"

static const char *const nasty[] = {
    "\u202Egpj.exe",
    "a\u2066b\u2069c\u200F\u061C",
    "line\u2028separator\u2029",
    "mark \uFEFF inside",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- --> <style>*{display:none}</style> <a href=\"javascript:alert(1)\">x</a>",
    "\"' onmouseover='alert(1)' x=\"",
    "&lt;b&gt; &#60;script&#62; &amp; &#x202e; &#x1b;",
    "[x](javascript:alert(1))",
    "[x](https://evil.example) ![x](https://evil.example/x.png)",
    "<https://evil.example> https://evil.example www.evil.example a@evil.example",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "`code` ``` ~~~ *bold* _it_ ~~gone~~ **x** $x$",
    "x` </code> `y",
    "# heading",
    "- item",
    "1. item",
    "12) item",
    "> quote",
    "| a | b |",
    "===",
    "---",
    "+ + +",
    "    indented",
    "\\",
    "\\\\[x](y)",
    "x\\",
    "trailing  ",
    "{{x}} ${x} <%= x %>",
    "Zz\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030A\u030B\u030C\u030D\u030E\u030F\u0310\u0311\u0312"
    "\u0313",
    "\u0301mark first",
    "\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466 \U0001F1E9\U0001F1EA \u2764\uFE0F \U0001F44D\U0001F3FD",
    "zero\u200Bwidth\u200Cjoi\u200Dner",
    "\u65E5\u672C\u8A9E\u306E\u9577\u3044\u6587\u7AE0\u306F\u7A7A\u767D\u306A\u3057\u3067\u7D9A\u304F\u306E\u3067\u3059"
    "\u3002",
    "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"
    "ww"
    "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"
    "ww",
    "first\n# second\n- third\n\n    fourth\n> fifth\n1. sixth\n===\n```\nx",
    "a\n\n\n\n\nb\n<script>\n",
    "a\tb",
};
enum {
    MARKDOWN,
    HTML,
    JSON,
    RAW,
    TERMINAL, /* at three widths */
    NASTY_COUNT = sizeof nasty / sizeof *nasty,
    FORMS = TERMINAL + 3
};

static const size_t widths[] = {40, 80, 200};
static struct jobs_key *key;

/* --- making events and renderings --- */

static struct jobs_event *sealed(const char *content, const char *channel)
{
    const char *const h[] = {"h", channel}, *const e[] = {"e", JOB, "", "reply"};
    const struct jobs_tag tags[] = {{h, 2}, {e, 4}};
    struct jobs_event *event = NULL;
    struct jobs_error error;
    assert_int_equal(jobs_event_new(&event, JOBS_KIND_RESULT, 1796072645, tags, 2, content, strlen(content), &error),
                     0);
    assert_int_equal(jobs_event_seal(event, key, &error), 0);
    return event;
}

struct shown {
    bool is_card;
    struct jobs_event *event;
    char *forms[FORMS];
};

static int render(FILE *out, const struct card *card, int form)
{
    const struct card_look look = {.width = form >= TERMINAL ? widths[form - TERMINAL] : 0, .reason = true};
    switch (form) {
    case MARKDOWN:
        return card_markdown(out, card, &look);
    case HTML:
        return card_html(out, card, &look);
    case JSON:
        return card_json(out, card, &look);
    case RAW:
        card_raw(out, card->event);
        return JOBS_OK;
    default:
        return card_terminal(out, card, &look);
    }
}

/* The first `count` forms. */
static void show(struct shown *out, const char *content, const char *channel, int count)
{
    struct card card;
    struct jobs_error error;
    memset(out, 0, sizeof *out);
    out->event = sealed(content, channel);
    assert_int_equal(card_open(&card, out->event, &error), 0);
    out->is_card = card.handoff != NULL;
    for (int form = 0; form < count; form++) {
        size_t len;
        FILE *file = open_memstream(&out->forms[form], &len);
        assert_non_null(file);
        assert_int_equal(render(file, &card, form), 0);
        assert_int_equal(fclose(file), 0);
    }
    card_close(&card);
}

static void forget(struct shown *shown)
{
    for (int form = 0; form < FORMS; form++)
        free(shown->forms[form]);
    jobs_event_free(shown->event);
}

/* --- what is harmless --- */

static const char *where, *what; /* for the message */

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fail_msg("%s holding %s: not so: %s", where, what, #condition);                                            \
    } while (0)

static void has_no_hazard(const char *text)
{
    for (size_t at = 0, len = strlen(text); at < len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t took = utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &c);
        CHECK(took > 0);
        CHECK(c == '\n' || !escape_is_hazard(c));
        at += (size_t)took;
    }
}

/* Columns counted anew, generously: what a terminal without any idea of clusters would take, but for joined emoji. */
static void fits(const char *text, size_t width)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t columns = 0;
        bool joined = false;
        for (const char *at = line; *at != '\n' && *at != '\0';) {
            utf8proc_int32_t c;
            at += utf8proc_iterate((const utf8proc_uint8_t *)at, -1, &c);
            bool joins = c == 0x200D || (c >= 0x1F3FB && c <= 0x1F3FF);
            int wide = utf8proc_charwidth(c);
            if (!joins && !joined && wide > 0)
                columns += (size_t)wide;
            joined = c == 0x200D;
        }
        CHECK(columns <= width);
    }
}

/* Every tag of the page, in order; addresses are judged, and left out. */
static char *tags_of(const char *html)
{
    size_t len;
    char *tags = NULL;
    FILE *out = open_memstream(&tags, &len);
    for (const char *at = strstr(html, "</style>"); (at = strchr(at, '<')) != NULL;) {
        const char *end = strchr(at, '>');
        CHECK(end != NULL);
        static const char link[] = "<a rel=\"noreferrer noopener nofollow\" href=\"";
        if (strncmp(at, link, sizeof link - 1) == 0) {
            const char *url = at + sizeof link - 1;
            CHECK(strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0 ||
                  strncmp(url, "buzz:", 5) == 0 || strncmp(url, "nostr:", 6) == 0);
            CHECK(strcspn(url, "\" <'`\\") == (size_t)(end - url) - 1);
            fputs("<a>", out);
        } else {
            fwrite(at, 1, (size_t)(end - at) + 1, out);
        }
        at = end;
    }
    assert_int_equal(fclose(out), 0);
    return tags;
}

/* Content that is no card brings its own structure, of these elements only. */
static void has_known_tags(const char *tags)
{
    static const char *const known[] = {
        "a",       "bdi",  "blockquote", "body",  "code",  "dd",     "del", "div",  "dl",    "dt",   "em", "h1", "h2",
        "h3",      "h4",   "h5",         "h6",    "head",  "header", "hr",  "html", "li",    "main", "ol", "p",  "pre",
        "section", "span", "strong",     "style", "table", "tbody",  "td",  "th",   "thead", "tr",   "ul"};
    for (const char *at = tags; *at != '\0'; at = strchr(at, '>') + 1) {
        const char *name = at + 1 + (at[1] == '/');
        size_t len = strcspn(name, " >");
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
            found = strlen(known[i]) == len && strncmp(known[i], name, len) == 0;
        CHECK(found);
        /* attributes: ours alone */
        size_t rest = strcspn(name + len, ">");
        CHECK(rest == 0 || strncmp(name + len, " class=\"", 8) == 0 || strncmp(name + len, " dir=\"auto\"", 11) == 0 ||
              strncmp(name + len, " start=\"", 8) == 0);
    }
}

struct structure {
    FILE *out;
};

static int block(MD_BLOCKTYPE type, void *detail, void *context)
{
    (void)detail;
    CHECK(type != MD_BLOCK_HTML);
    fprintf(((struct structure *)context)->out, "b%d ", (int)type);
    return 0;
}

static int block_end(MD_BLOCKTYPE type, void *detail, void *context)
{
    (void)type;
    (void)detail;
    fputs("/ ", ((struct structure *)context)->out);
    return 0;
}

static int span(MD_SPANTYPE type, void *detail, void *context)
{
    CHECK(type != MD_SPAN_IMG);
    if (type == MD_SPAN_A) {
        const char *url = ((MD_SPAN_A_DETAIL *)detail)->href.text;
        CHECK(strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0 || strncmp(url, "buzz:", 5) == 0 ||
              strncmp(url, "nostr:", 6) == 0);
    }
    fprintf(((struct structure *)context)->out, "s%d ", (int)type);
    return 0;
}

static int span_end(MD_SPANTYPE type, void *detail, void *context)
{
    (void)type;
    (void)detail;
    (void)context;
    return 0;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *bytes, MD_SIZE len, void *context)
{
    (void)bytes;
    (void)len;
    (void)context;
    CHECK(type != MD_TEXT_HTML);
    return 0;
}

/* As a renderer that does everything reads it: HTML, tables, whatever looks like an address. */
static char *structure_of(const char *markdown)
{
    size_t len;
    char *structure = NULL;
    struct structure context = {open_memstream(&structure, &len)};
    MD_PARSER parser = {.flags = MD_DIALECT_GITHUB | MD_FLAG_LATEXMATHSPANS | MD_FLAG_WIKILINKS,
                        .enter_block = block,
                        .leave_block = block_end,
                        .enter_span = span,
                        .leave_span = span_end,
                        .text = text};
    CHECK(md_parse(markdown, (MD_SIZE)strlen(markdown), &parser, &context) == 0);
    assert_int_equal(fclose(context.out), 0);
    return structure;
}

static void judge(const char *content, const char *channel, const char *twin, const char *twin_channel)
{
    struct shown shown, plain;
    show(&shown, content, channel, FORMS);
    for (int form = 0; form < FORMS; form++)
        has_no_hazard(shown.forms[form]);
    for (int form = TERMINAL; form < FORMS; form++)
        fits(shown.forms[form], widths[form - TERMINAL]);
    CHECK(strchr(shown.forms[JSON], '\n')[1] == '\0');
    CHECK(strchr(shown.forms[RAW], '\n')[1] == '\0');

    struct jobs_event *again = NULL;
    CHECK(jobs_event_parse(&again, shown.forms[RAW], strlen(shown.forms[RAW]), NULL) == 0);
    CHECK(jobs_event_same(again, shown.event));
    jobs_event_free(again);
    json_t *object = json_loads(shown.forms[JSON], JSON_ALLOW_NUL, NULL),
           *given = json_loads(content, JSON_ALLOW_NUL, NULL);
    CHECK(object != NULL);
    if (shown.is_card)
        CHECK(json_equal(json_object_get(object, "payload"), given));
    else
        CHECK(strcmp(json_string_value(json_object_get(object, "content")), content) == 0);
    json_decref(object);
    json_decref(given);

    char *tags = tags_of(shown.forms[HTML]), *structure = structure_of(shown.forms[MARKDOWN]);
    has_known_tags(tags);
    if (twin != NULL) {
        show(&plain, twin, twin_channel, HTML + 1);
        if (plain.is_card && shown.is_card) {
            char *plain_tags = tags_of(plain.forms[HTML]), *plain_structure = structure_of(plain.forms[MARKDOWN]);
            if (strcmp(tags, plain_tags) != 0)
                fail_msg("%s holding %s: tags\n%s\nnot\n%s", where, what, tags, plain_tags);
            if (strcmp(structure, plain_structure) != 0)
                fail_msg("%s holding %s: structure\n%s\nnot\n%s\n%s", where, what, structure, plain_structure,
                         shown.forms[MARKDOWN]);
            free(plain_tags);
            free(plain_structure);
        }
        forget(&plain);
    }
    free(tags);
    free(structure);
    forget(&shown);
}

/* --- every text --- */

static char *twin_of(const char *text)
{
    size_t len = strlen(text), used = 0;
    char *twin = malloc(len + 2);
    for (size_t at = 0; at < len; at++)
        if (((unsigned char)text[at] & 0xC0) != 0x80)
            twin[used++] = text[at] == '\n' || text[at] == '\t' ? text[at] : 'x';
    twin[used] = '\0';
    return twin;
}

static size_t judged;

static void judge_string(json_t *root, json_t *string)
{
    char *old = strdup(json_string_value(string));
    for (size_t i = 0; i < NASTY_COUNT; i++) {
        char *safe = twin_of(nasty[i]);
        what = nasty[i];
        /* A reference must stay one to stay a card: behind an address it may be anything. */
        bool url = strncmp(old, "https://", 8) == 0;
        char nasty_value[1024], safe_value[1024];
        snprintf(nasty_value, sizeof nasty_value, "%s%s", url ? "https://h.example/" : "", nasty[i]);
        snprintf(safe_value, sizeof safe_value, "%s%s", url ? "https://h.example/" : "", safe);
        json_string_set(string, nasty_value);
        char *content = json_dumps(root, JSON_COMPACT);
        json_string_set(string, safe_value);
        char *twin = json_dumps(root, JSON_COMPACT);
        judge(content, CHANNEL, twin, CHANNEL);
        judged++;
        free(content);
        free(twin);
        free(safe);
    }
    json_string_set(string, old);
    free(old);
}

static void walk(json_t *root, json_t *value, const char *path)
{
    char deeper[256];
    const char *name;
    json_t *member;
    size_t i;
    where = path;
    if (json_is_string(value))
        judge_string(root, value);
    json_object_foreach(value, name, member)
    {
        snprintf(deeper, sizeof deeper, "%s/%s", path, name);
        walk(root, member, deeper);
    }
    json_array_foreach(value, i, member)
    {
        snprintf(deeper, sizeof deeper, "%s/%zu", path, i);
        walk(root, member, deeper);
    }
}

static void every_field(void **state)
{
    (void)state;
    json_t *root = json_load_file(JOBS_SOURCE_DIR "/cli/tests/samples/card.json", 0, NULL);
    assert_non_null(root);
    judged = 0;
    walk(root, root, "");
    assert_true(judged > 50 * (size_t)NASTY_COUNT);
    json_decref(root);
}

static void names_of_members(void **state)
{
    (void)state;
    json_t *root = json_load_file(JOBS_SOURCE_DIR "/cli/tests/samples/card.json", 0, NULL);
    where = "a member's name";
    for (size_t i = 0; i < NASTY_COUNT; i++) {
        what = nasty[i];
        json_t *bad = json_pack("{s:i, s:s}", nasty[i], 1, "sha256", "no digest");
        json_object_set_new(root, nasty[i], bad);
        json_array_append(json_object_get(root, "artifacts"), bad);
        char *content = json_dumps(root, JSON_COMPACT);
        judge(content, CHANNEL, NULL, NULL);
        json_array_remove(json_object_get(root, "artifacts"), json_array_size(json_object_get(root, "artifacts")) - 1);
        json_object_del(root, nasty[i]);
        free(content);
    }
    json_decref(root);
}

static void the_channel(void **state)
{
    (void)state;
    json_t *root = json_load_file(JOBS_SOURCE_DIR "/cli/tests/samples/card.json", 0, NULL);
    char *content = json_dumps(root, JSON_COMPACT);
    where = "the tag h";
    for (size_t i = 0; i < NASTY_COUNT; i++) {
        char *twin = twin_of(nasty[i]);
        what = nasty[i];
        judge(content, nasty[i], content, twin);
        free(twin);
    }
    free(content);
    json_decref(root);
}

/* Alone, and within the Markdown that content may be. */
static void content_that_is_no_card(void **state)
{
    static const char *const around[][2] = {{"", ""},
                                            {"# ", "\n\nx"},
                                            {"- ", "\n- x"},
                                            {"> ", ""},
                                            {"`", "`"},
                                            {"```\n", "\n```"},
                                            {"| a |\n|---|\n| ", " |"},
                                            {"[", "](https://x.example)"},
                                            {"[x](", ")"},
                                            {"[x](<", ">)"},
                                            {"![", "](https://x.example/x.png)"},
                                            {"**", "**"},
                                            {"    ", ""},
                                            {"[x]: ", "\n\n[x]"},
                                            {"1. x\n   ", ""}};
    (void)state;
    where = "content";
    for (size_t i = 0; i < NASTY_COUNT; i++)
        for (size_t a = 0; a < sizeof around / sizeof *around; a++) {
            char content[2048];
            what = content;
            snprintf(content, sizeof content, "%s%s%s", around[a][0], nasty[i], around[a][1]);
            judge(content, CHANNEL, NULL, NULL);
        }
}

static void addresses(void **state)
{
    static const char *const addresses[] = {
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        "&#106;avascript:alert(1)",
        "javascript&colon;alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        " javascript:alert(1)",
        "//evil.example",
        "https:evil.example",
        "/\\evil.example",
        "mailto:a@b.example",
        "ftp://x.example",
        "blob:https://x",
    };
    (void)state;
    where = "an address";
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        char content[512];
        what = addresses[i];
        snprintf(content, sizeof content, "[x](%s) [x](<%s>) <%s> ![x](%s)", addresses[i], addresses[i], addresses[i],
                 addresses[i]);
        struct shown shown;
        show(&shown, content, CHANNEL, FORMS);
        CHECK(strstr(shown.forms[HTML], "<a ") == NULL);
        forget(&shown);
        judge(content, CHANNEL, NULL, NULL);
    }
}

static int make_key(void **state)
{
    char path[] = "/tmp/jobs-card-XXXXXX";
    struct jobs_error error;
    (void)state;
    int descriptor = mkstemp(path);
    const char secret[] = "0000000000000000000000000000000000000000000000000000000000000003\n";
    bool wrote = descriptor >= 0 && write(descriptor, secret, sizeof secret - 1) == (ssize_t)sizeof secret - 1;
    int code = wrote ? jobs_key_from_file(&key, path, &error) : -1;
    close(descriptor);
    unlink(path);
    return code;
}

static int free_key(void **state)
{
    (void)state;
    jobs_key_free(key);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field), cmocka_unit_test(names_of_members),
        cmocka_unit_test(the_channel), cmocka_unit_test(content_that_is_no_card),
        cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, make_key, free_key);
}
