/* test_convert.c - the samples behave as their names say; extraction picks the real result or refuses. */
#include "convert_samples.h"
#include "core/buffer.h"

#include <jobs/handoff.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

static const struct jobs_convert_options plain = {
    .job_request = SAMPLE_JOB, .requested_outcome = "Do the work.", .format = JOBS_FORMAT_AUTO};

/* Converts; on success *out is the manifest. The report's first rule goes to rule. */
static int convert(json_t **out, char rule[8], const char *text, size_t len, const struct jobs_convert_options *options)
{
    struct jobs_report report = {0};
    char *manifest = NULL;
    size_t manifest_len = 0;
    int rc = jobs_convert(&manifest, &manifest_len, NULL, text, len, options, &report);
    rule[0] = '\0';
    if (rc == JOBS_INVALID) {
        assert_true(report.count > 0);
        snprintf(rule, 8, "%s", report.violations[0].rule);
    }
    if (out != NULL)
        *out = rc == JOBS_OK ? json_loadb(manifest, manifest_len, 0, NULL) : NULL;
    free(manifest);
    jobs_report_wipe(&report);
    return rc;
}

static int convert_text(json_t **out, char rule[8], const char *text)
{
    return convert(out, rule, text, strlen(text), &plain);
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static bool has_repair(const json_t *manifest, const char *repair)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(json_object_get(manifest, "source"), "repairs"), i,
                       entry) if (strcmp(json_string_value(entry), repair) == 0) return true;
    return false;
}

static void as_named(const struct sample *s, void *context)
{
    json_t *manifest = NULL;
    char rule[8], strict_rule[8];
    (void)context;
    struct jobs_convert_options options = plain;
    int strict = convert(&manifest, strict_rule, s->text, s->len, &options);
    options.schema_level = true;
    int loose = convert(NULL, rule, s->text, s->len, &options);
    options.format = s->format;
    int named = convert(NULL, rule, s->text, s->len, &options);
    bool good = s->letter == 'a' || s->letter == 'r';
    if (strict != (good ? JOBS_OK : JOBS_INVALID))
        fail_msg("%s: contract level says %d %s", s->name, strict, strict_rule);
    if (good && loose != JOBS_OK)
        fail_msg("%s: schema level says %d %s", s->name, loose, rule);
    if (s->letter == 'c' && loose != JOBS_OK)
        fail_msg("%s: schema level refuses by %s", s->name, rule);
    if (loose != named)
        fail_msg("%s: --from with its name says %d", s->name, named);
    if (s->letter == 'r')
        assert_true(has_repair(manifest, "detail-defaulted"));
    if (manifest != NULL) {
        const json_t *source = json_object_get(manifest, "source");
        assert_string_equal(text_of(source, "format"), jobs_format_name(s->format));
        assert_int_equal(json_integer_value(json_object_get(source, "bytes")), s->len);
    }
    json_decref(manifest);
}

static void samples_behave_as_their_names_say(void **state)
{
    (void)state;
    assert_int_equal(each_sample(as_named, NULL), 51);
}

/* --- extraction --- */

#define OUTCOME(status)                                                                                                \
    "{\"contract\":\"agentic-workflow/skill-outcome\",\"version\":1,\"skill\":\"s\",\"status\":\"" status              \
    "\",\"summary\":\"S.\",\"next\":{\"intent\":\"none\",\"targets\":[]},\"blockers\":[],\"questions\":[],"            \
    "\"discoveries\":[],\"evidence_refs\":[]}\n"
#define FENCE(body) "```json\n" body "```\n"
#define BUBBLES                                                                                                        \
    "{\"agent\":\"bubbles.a\",\"outcome\":\"completed_owned\",\"summary\":\"Done.\",\"addressedFindings\":[]}\n"

static void extraction_finds_the_one_result(void **state)
{
    (void)state;
    static const struct {
        const char *what, *text, *rule; /* rule: "" when it converts */
    } cases[] = {
        {"bare JSON", OUTCOME("completed"), ""},
        {"a fence and prose behind it", "Text.\n\n" FENCE(OUTCOME("completed")) "\nDone.\n", ""},
        {"CRLF", "Text.\r\n```json\r\n" OUTCOME("completed") "```\r\n", ""},
        {"nothing at all", "", "X102"},
        {"prose alone", "All done, see result.txt.\n", "X102"},
        {"a JSON object of no format", "{\"a\":1}", "X102"},
        {"a fence in capitals is none of ours", "```JSON\n" OUTCOME("completed") "```\n", "X102"},
        {"a fence with a title is none of ours", "```json result\n" OUTCOME("completed") "```\n", "X102"},
        {"two results", FENCE(OUTCOME("failed")) FENCE(OUTCOME("completed")), "X103"},
        {"two of different formats", FENCE(OUTCOME("failed")) "# RESULT-ENVELOPE\n" FENCE(BUBBLES), "X103"},
        {"a result, then a cut one", FENCE(OUTCOME("completed")) "```json\n{\"contract\":\"agentic", "X104"},
        {"a fence that begins in the last line", FENCE(OUTCOME("completed")) "```json", "X104"},
        {"a cut one alone", "```json\n" OUTCOME("completed"), "X104"},
        {"a quoted example, then the real one",
         "````markdown\n" FENCE(OUTCOME("failed")) "````\n" FENCE(OUTCOME("completed")), ""},
        {"a quotation whose fences are as wide",
         "```markdown\n" FENCE(OUTCOME("failed")) "```\n" FENCE(OUTCOME("completed")), ""},
        {"a quoted line", "> ```json\n> {}\n> ```\n" FENCE(OUTCOME("completed")), ""},
        {"a comment", "<!-- like this:\n" FENCE(OUTCOME("failed")) "-->\n" FENCE(OUTCOME("completed")), ""},
        {"another JSON block before it", FENCE("{\"a\": 1}\n") FENCE(OUTCOME("completed")), ""},
        {"an unreadable result and a good one",
         FENCE("{\"contract\":\"agentic-workflow/skill-outcome\",\n") FENCE(OUTCOME("completed")), "X103"},
        {"an unreadable one alone", FENCE("{\"contract\":\"agentic-workflow/skill-outcome\",\n"), "X105"},
        {"a heading and a fence", "## RESULT-ENVELOPE\n\n" FENCE(BUBBLES), ""},
        {"a heading of another spelling", "###### Result_Envelope (final)\n" FENCE(BUBBLES), ""},
        {"prose between heading and fence", "## RESULT-ENVELOPE\nHere it is:\n" FENCE(BUBBLES), "X105"},
        {"a heading of another word", "## RESULT-ENVELOPES\n" FENCE("{\"a\":1}\n"), "X102"},
        {"a marked fence without a heading", "```json result-envelope\n" BUBBLES "```\n", ""},
        {"jsonc under a heading", "# RESULT ENVELOPE\n```jsonc\n" BUBBLES "```\n", ""},
        {"a comment inside is not strict", "# RESULT ENVELOPE\n```jsonc\n// x\n" BUBBLES "```\n", "X105"},
        {"a heading with nothing under it", "# RESULT ENVELOPE\n", "X105"},
        {"YAML", "# RESULT ENVELOPE\n```yaml\nagent: bubbles.a\noutcome: completed_owned\nsummary: Done.\n```\n", ""},
        {"YAML with an anchor", "# RESULT ENVELOPE\n```yaml\nagent: &a bubbles.a\noutcome: *a\n```\n", "X105"},
        {"YAML with a tag", "# RESULT ENVELOPE\n```yaml\nagent: !!str bubbles.a\n```\n", "X105"},
        {"YAML, two documents", "# RESULT ENVELOPE\n```yaml\nagent: a\n---\nagent: b\n```\n", "X105"},
        {"YAML, a name twice", "# RESULT ENVELOPE\n```yaml\nagent: a\nagent: b\n```\n", "X105"},
        {"the plain form", "# RESULT ENVELOPE\nagent: bubbles.a\noutcome: completed_owned\nreason: Done.\n", ""},
        {"the plain form with another line", "# RESULT ENVELOPE\nagent: bubbles.a\noutcome: completed_owned\nDone.\n",
         "X105"},
        {"the plain form up to the next heading",
         "# RESULT ENVELOPE\nagent: bubbles.a\noutcome: completed_owned\nreason: Done.\n\n# More\nprose\n", ""},
        {"a byte order mark", "\xEF\xBB\xBF" OUTCOME("completed"), ""},
        {"a byte order mark before a fence", "\xEF\xBB\xBF" FENCE(OUTCOME("completed")), ""},
        {"a byte order mark before a heading",
         "\xEF\xBB\xBF# RESULT-ENVELOPE\nagent: bubbles.a\noutcome: blocked\nreason: R\n", ""},
        {"another system's result under the heading", "## Result envelope\n\n" FENCE(OUTCOME("completed")), ""},
        {"another system's, in its own spelling alone", "## Result envelope\n\n```jsonc\n" OUTCOME("completed") "```\n",
         "B101"},
        {"a fence under the heading that says nothing", "# RESULT-ENVELOPE\n```\n" BUBBLES "```\n", "X105"},
        {"not UTF-8", "```json\n\xff\n```\n", "X101"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char rule[8];
        int rc = convert_text(NULL, rule, cases[i].text);
        if (rc != (cases[i].rule[0] == '\0' ? JOBS_OK : JOBS_INVALID) || strcmp(rule, cases[i].rule) != 0)
            fail_msg("%s: %d, rule \"%s\" instead of \"%s\"", cases[i].what, rc, rule, cases[i].rule);
    }
}

static void an_index_chooses(void **state)
{
    (void)state;
    static const char two[] = FENCE(OUTCOME("failed")) "between\n" FENCE(OUTCOME("completed"));
    struct jobs_convert_options options = plain;
    json_t *manifest = NULL;
    char rule[8];
    options.index = 1;
    assert_int_equal(convert(&manifest, rule, two, strlen(two), &options), JOBS_OK);
    assert_string_equal(text_of(manifest, "disposition"), "failed");
    json_decref(manifest);
    options.index = 2;
    assert_int_equal(convert(&manifest, rule, two, strlen(two), &options), JOBS_OK);
    assert_string_equal(text_of(manifest, "disposition"), "no_artifact");
    json_decref(manifest);
    options.index = 3;
    assert_int_equal(convert(NULL, rule, two, strlen(two), &options), JOBS_INVALID);
    assert_string_equal(rule, "X103");
}

static void ceilings_refuse_and_never_cut(void **state)
{
    (void)state;
    char rule[8];
    size_t len = JOBS_CONVERT_INPUT_MAX + 1;
    char *text = malloc(len + 1);
    memset(text, ' ', len);
    text[len] = '\0';
    assert_int_equal(convert(NULL, rule, text, len, &plain), JOBS_INVALID);
    assert_string_equal(rule, "X101");
    /* 1001 items */
    size_t at =
        (size_t)sprintf(text, "{\"agent\":\"bubbles.a\",\"outcome\":\"completed_owned\",\"summary\":\"s\",\"x\":[");
    for (int i = 0; i < 1001; i++)
        at += (size_t)sprintf(text + at, "%s1", i > 0 ? "," : "");
    sprintf(text + at, "]}");
    assert_int_equal(convert_text(NULL, rule, text), JOBS_INVALID);
    assert_string_equal(rule, "X106");
    /* depth 33 */
    at = (size_t)sprintf(text, "{\"agent\":\"bubbles.a\",\"outcome\":\"completed_owned\",\"summary\":\"s\",\"x\":");
    for (int i = 0; i < 32; i++)
        text[at++] = '[';
    for (int i = 0; i < 32; i++)
        text[at++] = ']';
    strcpy(text + at, "}");
    assert_int_equal(convert_text(NULL, rule, text), JOBS_INVALID);
    assert_string_equal(rule, "X106");
    free(text);
}

/* However many there are, each can be asked for. */
static void an_index_has_no_end(void **state)
{
    (void)state;
    enum {
        RESULTS = 100
    };
    static const char one[] = FENCE(OUTCOME("completed")), last[] = FENCE(OUTCOME("failed"));
    struct jobs__buffer text = {.max = JOBS_CONVERT_INPUT_MAX};
    struct jobs_convert_options options = plain;
    json_t *manifest = NULL;
    char rule[8];
    for (size_t i = 1; i < RESULTS; i++)
        jobs__buffer_text(&text, one);
    jobs__buffer_text(&text, last);
    options.index = RESULTS;
    assert_int_equal(convert(&manifest, rule, text.bytes, text.len, &options), JOBS_OK);
    assert_string_equal(text_of(manifest, "disposition"), "failed");
    json_decref(manifest);
    options.index = RESULTS + 1;
    assert_int_equal(convert(NULL, rule, text.bytes, text.len, &options), JOBS_INVALID);
    assert_string_equal(rule, "X103");
    jobs__buffer_free(&text);
}

static void job_and_requested_outcome_come_from_outside(void **state)
{
    (void)state;
    struct jobs_convert_options options = {.format = JOBS_FORMAT_AUTO};
    char rule[8];
    json_t *manifest = NULL;
    assert_int_equal(convert(NULL, rule, OUTCOME("completed"), strlen(OUTCOME("completed")), &options), JOBS_INVALID);
    assert_string_equal(rule, "X109");
    options.job_later = true;
    assert_int_equal(convert(&manifest, rule, OUTCOME("completed"), strlen(OUTCOME("completed")), &options), JOBS_OK);
    assert_null(json_object_get(manifest, "jobRequest"));
    assert_null(json_object_get(manifest, "requestedOutcome"));
    json_decref(manifest);
}

static void local_things_stay_here(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"see /srv/catalog/x.c for it", "see <redacted> for it"},
        {"in `/var/lib/a b`.", "in `<redacted> b`."},
        {"path=/etc/passwd:12", "path=<redacted>"},
        {"at file:///tmp/x, then", "at <redacted>, then"},
        {"~/notes and ~me/notes", "<redacted> and <redacted>"},
        {"../up and a/../b", "<redacted> and <redacted>"},
        {"C:\\Users\\me and \\\\host\\share", "<redacted> and <redacted>"},
        {"code SR-3BA0DEA8.", "code <redacted>."},
        {"https://example.org/a/b and and/or 5/6 ~5 ms... ok", "https://example.org/a/b and and/or 5/6 ~5 ms... ok"},
        {"~~~json and ~~struck~~ ~~/x", "~~~json and ~~struck~~ ~~<redacted>"},
        {"run /review-change next", "run /review-change next"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *source =
            json_pack("{s:s,s:s,s:s}", "agent", "bubbles.a", "outcome", "completed_owned", "summary", cases[i].text);
        char *text = json_dumps(source, 0), rule[8];
        json_t *manifest = NULL;
        assert_int_equal(convert_text(&manifest, rule, text), JOBS_OK);
        assert_string_equal(text_of(manifest, "outcome"), cases[i].expected);
        assert_int_equal(has_repair(manifest, "text-redacted"), strcmp(cases[i].text, cases[i].expected) != 0);
        json_decref(manifest);
        json_decref(source);
        free(text);
    }
}

static void a_local_reference_is_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {"/srv/x.c", "~/x.c", "../x.c", "a/../../x.c", "file:///x.c", "C:\\x.c"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        json_t *source = json_pack("{s:s,s:s,s:s,s:[s]}", "agent", "bubbles.a", "outcome", "completed_owned", "summary",
                                   "Done.", "artifactsUpdated", paths[i]);
        char *text = json_dumps(source, 0), rule[8];
        assert_int_equal(convert_text(NULL, rule, text), JOBS_INVALID);
        assert_string_equal(rule, "X107");
        json_decref(source);
        free(text);
    }
}

static void the_plain_form_names_lines(void **state)
{
    (void)state;
    static const char text[] = "# RESULT-ENVELOPE\nagent: bubbles.a\noutcome: route_required\nreason: R.\n"
                               "unresolvedFindings:\n  - F-1: x\n  - F-1: y\n";
    struct jobs_report report = {0};
    char *manifest = NULL;
    size_t len = 0;
    assert_int_equal(jobs_convert(&manifest, &len, NULL, text, strlen(text), &plain, &report), JOBS_INVALID);
    bool owner = false, twice = false;
    for (size_t i = 0; i < report.count; i++) {
        owner |= strcmp(report.violations[i].rule, "B202") == 0;
        twice |= strcmp(report.violations[i].rule, "B205") == 0 && report.violations[i].line == 7;
    }
    assert_true(owner);
    assert_true(twice);
    jobs_report_wipe(&report);
}

/* report_hash as Python's json writes it: sorted names, compact, raw UTF-8, escapes in lower case. */
static void a_report_hash_is_recomputed(void **state)
{
    (void)state;
    /* sha256 of {"approval_items":[],"generated_at":"t","items":[],"note":"é\u000b\n/\u007f","report_version":1,
     * "run_id":"r","schema_version":1,"scope_revision":1,"state":"CLOSED","z":{"a":null,"b":[true,-1]}} */
    static const char good[] =
        "{\"state\":\"CLOSED\",\"schema_version\":1,\"run_id\":\"r\",\"report_version\":1,\"scope_revision\":1,"
        "\"generated_at\":\"t\",\"items\":[],\"approval_items\":[],\"note\":\"\\u00e9\\u000B\\n\\/\\u007f\","
        "\"z\":{\"b\":[true,-1],\"a\":null},\"delivery\":[1.5],\"plain_report_sha256\":\"x\",\"report_hash\":"
        "\"sha256:%s\"}";
    const char *hash = "042f173c22cc0af01177c2234e57c5238557d66fa5cc6c8a63bc75f6ce5e2231";
    char text[1024], rule[8];
    json_t *manifest = NULL;
    snprintf(text, sizeof text, good, hash);
    assert_int_equal(convert_text(&manifest, rule, text), JOBS_OK);
    assert_string_equal(text_of(manifest, "disposition"), "no_artifact");
    json_decref(manifest);
    char *state_word = strstr(text, "\"note\":\"");
    state_word[13] = '8'; /* \u00e9 becomes \u00e8 */
    assert_int_equal(convert_text(NULL, rule, text), JOBS_INVALID);
    assert_string_equal(rule, "R201");
}

static enum jobs_evidence known_hash(void *context, const char *path, char hex[65])
{
    (void)context;
    if (strcmp(path, "ocr-1/PATCH.diff") != 0)
        return JOBS_EVIDENCE_MISSING;
    memset(hex, 'a', 64);
    hex[64] = '\0';
    return JOBS_EVIDENCE_HASHED;
}

static void use_report(const struct sample *s, void *context)
{
    struct jobs_convert_options options = plain;
    json_t *manifest = NULL;
    char rule[8];
    if (s->format != JOBS_FORMAT_SUBLATION_REPORT)
        return;
    options.hash_evidence = known_hash;
    assert_int_equal(convert(&manifest, rule, s->text, s->len, &options), JOBS_OK);
    const json_t *claim = json_array_get(json_object_get(manifest, "verification"), 0);
    assert_string_equal(text_of(claim, "status"), "passed");
    assert_string_equal(text_of(claim, "claimSource"), "executed");
    assert_true(has_repair(manifest, "path-relative"));
    json_decref(manifest);
    options.hash_evidence = NULL;
    assert_int_equal(convert(&manifest, rule, s->text, s->len, &options), JOBS_OK);
    claim = json_array_get(json_object_get(manifest, "verification"), 0);
    assert_string_equal(text_of(claim, "status"), "not_run");
    char *all = json_dumps(manifest, 0);
    assert_null(strstr(all, "SR-3BA0DEA8"));
    assert_null(strstr(all, "/srv/"));
    free(all);
    json_decref(manifest);
    (*(int *)context)++;
}

static void evidence_passes_only_when_hashed_here(void **state)
{
    (void)state;
    int used = 0;
    each_sample(use_report, &used);
    assert_int_equal(used, 1);
}

#define LOCAL_BINDING(summary, root)                                                                                   \
    "{\"agent\":\"bubbles.a\",\"outcome\":\"completed_owned\",\"summary\":\"" summary "\",\"repositoryRoot\":\"" root  \
    "\",\"repositoryAlias\":\"c\",\"repositoryResolution\":{\"sessionId\":\"s\",\"decisionId\":\"d\","                 \
    "\"controlRevision\":1,\"controlPathDigest\":\"sha256:x\",\"authority\":\"explicit-repository-root\","             \
    "\"transition\":\"established\",\"scopeKind\":\"command\",\"scopeId\":null,\"targetKind\":\"repository-root\","    \
    "\"pathVisibility\":\"local\",\"actionable\":true}}"

/* The original that is kept of it. */
static json_t *kept_of(json_t **manifest, const char *text)
{
    struct jobs_convert_options options = plain;
    char rule[8];
    options.keep_original = true;
    assert_int_equal(convert(manifest, rule, text, strlen(text), &options), JOBS_OK);
    json_t *original = json_loads(text_of(json_object_get(*manifest, "source"), "original"), 0, NULL);
    assert_string_equal(text_of(original, "repositoryRoot"), "<redacted-local-root>");
    return original;
}

static void a_local_binding_is_published_redacted(void **state)
{
    (void)state;
    json_t *manifest = NULL;
    json_t *original = kept_of(&manifest, LOCAL_BINDING("Done.", "/srv/c"));
    const json_t *resolution = json_object_get(original, "repositoryResolution");
    assert_true(has_repair(manifest, "binding-redacted"));
    assert_string_equal(text_of(resolution, "pathVisibility"), "redacted");
    assert_true(json_is_false(json_object_get(resolution, "actionable")));
    assert_string_equal(text_of(original, "repositoryAlias"), "c");
    json_decref(original);
    json_decref(manifest);
}

/* A root that is a mere word is edited like any other, but that word stays a word elsewhere. */
static void a_root_that_is_no_path_hides_no_word(void **state)
{
    (void)state;
    json_t *manifest = NULL;
    json_t *original = kept_of(&manifest, LOCAL_BINDING("All completed.", "completed"));
    assert_false(has_repair(manifest, "text-redacted"));
    assert_string_equal(text_of(original, "outcome"), "completed_owned");
    assert_string_equal(text_of(original, "summary"), "All completed.");
    json_decref(original);
    json_decref(manifest);
}

/* In YAML too, whatever its escapes hide; what is around stays as it was. */
static void a_binding_in_yaml_is_published_redacted(void **state)
{
    (void)state;
#define ENVELOPE(comment, summary, root, visible, may, behind)                                                         \
    "# RESULT-ENVELOPE\n```yaml\n# \u00e9t\u00e9 " comment "\nagent: bubbles.a\noutcome: completed_owned\n"            \
    "summary: " summary "\nnote: ~\nrepositoryRoot: " root "\nrepositoryAlias: 'c''s'\nrepositoryResolution:\n"        \
    "  {sessionId: s, decisionId: d, controlRevision: 1, controlPathDigest: x,\n"                                      \
    "   authority: explicit-repository-root, transition: established, scopeKind: command, scopeId: null,\n"            \
    "   targetKind: repository-root, pathVisibility: " visible ", actionable: " may "} # on\n```\n" behind
    static const char text[] =
        ENVELOPE("in /srv/c", "\"S\\x52-0BADF00D \\x2fsrv\\x2fc\"", "/srv/c", "local", "true", "Bye, ~/x.\n");
    static const char kept[] = ENVELOPE("in <redacted>", "\"<redacted> <redacted>\"", "\"<redacted-local-root>\"",
                                        "\"redacted\"", "false", "Bye, <redacted>.\n");
    struct jobs_convert_options options = plain;
    json_t *manifest = NULL;
    char rule[8];
    options.keep_original = true;
    assert_int_equal(convert(&manifest, rule, text, strlen(text), &options), JOBS_OK);
    assert_true(has_repair(manifest, "binding-redacted"));
    assert_true(has_repair(manifest, "text-redacted"));
    assert_string_equal(text_of(json_object_get(manifest, "source"), "original"), kept);
    json_decref(manifest);
}

static void every_rule_is_documented(void **state)
{
    (void)state;
    static const char *const pages[] = {"convert.md", "convert-bubbles.md", "convert-workflow.md",
                                        "convert-sublation.md"};
    char *docs = calloc(1, 1 << 20);
    const char *number, *sentence;
    for (size_t i = 0; i < 4; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/docs/protocol/%s", JOBS_SOURCE_DIR, pages[i]);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        size_t at = strlen(docs);
        docs[at + fread(docs + at, 1, (1 << 20) - at - 1, file)] = '\0';
        fclose(file);
    }
    extern bool jobs__convert_rule(size_t i, const char **number, const char **sentence);
    size_t count = 0;
    for (; jobs__convert_rule(count, &number, &sentence); count++) {
        char row[32];
        snprintf(row, sizeof row, "| %s |", number);
        if (strstr(docs, row) == NULL || strstr(docs, sentence) == NULL)
            fail_msg("%s is not documented as: %s", number, sentence);
    }
    assert_true(count > 50);
    free(docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_behave_as_their_names_say),
        cmocka_unit_test(extraction_finds_the_one_result),
        cmocka_unit_test(an_index_chooses),
        cmocka_unit_test(an_index_has_no_end),
        cmocka_unit_test(ceilings_refuse_and_never_cut),
        cmocka_unit_test(job_and_requested_outcome_come_from_outside),
        cmocka_unit_test(local_things_stay_here),
        cmocka_unit_test(a_local_reference_is_refused),
        cmocka_unit_test(the_plain_form_names_lines),
        cmocka_unit_test(a_report_hash_is_recomputed),
        cmocka_unit_test(evidence_passes_only_when_hashed_here),
        cmocka_unit_test(a_local_binding_is_published_redacted),
        cmocka_unit_test(a_root_that_is_no_path_hides_no_word),
        cmocka_unit_test(a_binding_in_yaml_is_published_redacted),
        cmocka_unit_test(every_rule_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
