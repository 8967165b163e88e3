/* test_secrets.c - the secrets guard: each shape, its neighbours that are none, where it hides, and what is never
 * shown.
 */
#include "support.h"

#include "../secrets.h"

#include <stdio.h>
#include <stdlib.h>

#define KEY_NSEC "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
#define KEY_HEX  "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
/* The example of NIP-49. */
#define NCRYPT                                                                                                         \
    "ncryptsec1qgg9947rlpvqu76pj5ecreduf9jxhselq2nae2kghhvd5g7dgjtcxfqtd67p9m0w57lspw8gsq6yphnm8623nsl8xn9j4jdzz84zm3" \
    "frztj3z7s35vpzmqf6ksu8r89qk5z2zxfmu5gv8th8wclt0h4p"
/* Made of words and counting, so that nobody has to wonder whether one of these is real. */
#define AWS    "AKIAEXAMPLE123456789"
#define GITHUB "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
#define PAT    "github_pat_abcdefghijklmnopqrstuv"
#define SLACK  "xoxb-1234567890"
#define SK     "sk-abcdefghijklmnopqrs1"
#define BEARER "Bearer abcdefghijklmnopqrs1"
#define JWT    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl"
#define LINE   "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"
#define PEM    "-----BEGIN PRIVATE KEY-----"

static const struct {
    const char *rule; /* NULL: clean */
    const char *text;
} cases[] = {
    {"H902", KEY_NSEC},
    {"H902", "the key is (" KEY_NSEC ")."},
    {"H902", "nostr:" KEY_NSEC "\nmore"},
    {"H902", "{\\\"key\\\":\\\"" KEY_NSEC "\\\"}"},
    {"H902", "\\n" KEY_NSEC},
    {"H902", "NSEC1VL029MGPSPEDVA04G90VLTKH6FVH240ZQTV9K0T9AF8935KE9LAQSNLFE5"},
    {"H902", "key_" KEY_NSEC "_end"},
    {NULL, "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe6"},
    {NULL, "x" KEY_NSEC},
    {NULL, KEY_NSEC "q"},
    {NULL, "write nsec1… or nsec1 here"},
    {NULL, "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"},
    {NULL, "note1gmtnz6q2m55epmlpe3semjdcq987av3jvx4emmjsa8g3s9x7tg4sclreky"},
    {"H903", NCRYPT},
    {"H903", "«" NCRYPT "»"},
    {NULL, NCRYPT "q"},

    {"H904", PEM "\n" LINE "\n-----END PRIVATE KEY-----"},
    {"H904", "-----BEGIN RSA PRIVATE KEY-----\r\nProc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-128-CBC,00\r\n\r\n" LINE},
    {"H904", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n"},
    {"H904", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n  " LINE},
    {"H904", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\nlQOYBGRexample0123456789abcdef\n"},
    {"H904", "-----BEGIN EC PRIVATE KEY-----\\n" LINE "\\n-----END EC PRIVATE KEY-----\\n"},
    {"H904", "-----BEGIN PRIVATE KEY-----\\\\n" LINE},
    {"H904", "> -----BEGIN PRIVATE KEY-----\n> " LINE},
    {"H904", "\"-----BEGIN PRIVATE KEY-----\\n\" +\n  \"" LINE "\\n\""},
    {"H904", PEM " " LINE " -----END PRIVATE KEY-----"},
    {"H904", PEM LINE "-----END PRIVATE KEY-----"},
    {"H904", PEM "\nabcdefghijklmnop\n"},
    {NULL, PEM},
    {NULL, "a file that begins with " PEM " is a key"},
    {NULL, PEM "\n...\n-----END PRIVATE KEY-----\n"},
    {NULL, PEM "\nabcdefghijklmno\n"},
    {NULL, PEM "\n\ninternationalization of it all"},
    {NULL, "-----BEGIN PUBLIC KEY-----\n" LINE},
    {NULL, "-----BEGIN CERTIFICATE-----\n" LINE},
    {NULL, "BEGIN PRIVATE KEY\n" LINE},
    {NULL, "-----BEGIN PRIVATE KEY----\n" LINE},

    {"H905", AWS},
    {"H905", "id=" AWS ","},
    {"H905", "\\n" AWS "\\n"},
    {"H905", "https://x.example/?id=%3D" AWS "&b"},
    {"H905", "\\u000a" AWS},
    {"H905", "\\x20" AWS "\\x20"},
    {"H905", "密钥" AWS "。"},
    {"H905", "AWS_" AWS},
    {NULL, "AKIAEXAMPLE12345678"},
    {NULL, AWS "0"},
    {NULL, AWS "x"},
    {NULL, "X" AWS},
    {NULL, "AKIAexample123456789"},
    {NULL, "akiaexample123456789"},

    {"H906", GITHUB},
    {"H906", "ghs_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdef"},
    {"H906", "https://x-access-token@h/?t=" GITHUB},
    {"H906", "`" GITHUB "`"},
    {NULL, "ghp_abcdefghijklmnopqrstuvwxyz012345678"},
    {NULL, "ghP_abcdefghijklmnopqrstuvwxyz0123456789"},
    {NULL, "xghp_abcdefghijklmnopqrstuvwxyz0123456789"},
    {NULL, "gh_abcdefghijklmnopqrstuvwxyz0123456789"},
    {NULL, "ghx_some_function_whose_name_is_longer_than_that"},

    {"H907", PAT},
    {"H907", "(" PAT "_ABCDEFGHIJKLMNOPQRSTUVWXYZ)"},
    {NULL, "github_pat_abcdefghijklmnopqrstu"},
    {NULL, "mygithub_pat_abcdefghijklmnopqrstuv"},

    {"H908", SLACK},
    {"H908", "\"xoxp-12-34-56-abcdef\""},
    {NULL, "xoxb-123456789"},
    {NULL, "xox-1234567890"},
    {NULL, "axoxb-1234567890"},
    {NULL, "XOXB-1234567890"},

    {"H909", SK},
    {"H909", "OPENAI=sk-proj-abcdefghijklm_1"},
    {"H909", "'" SK "'"},
    {NULL, "sk-abcdefghijklmnopqr1"},
    {NULL, "sk-abcdefghijklmnopqrst"},
    {NULL, "task-2024-11-30-refactor-everything"},
    {NULL, "my-sk-abcdefghijklmnopqrs1"},
    {NULL, "disk-sk-abcdefghijklmnopqrs1"},
    {NULL, "SK-abcdefghijklmnopqrs1"},

    {"H910", BEARER},
    {"H910", "curl -H 'Authorization: " BEARER "' https://x.example"},
    {"H910", "authorization: bearer \t abcdefghijklmnopqrs1=="},
    {"H910", "Bearer%20abcdefghijklmnopqrs1"},
    {"H910", "Bearer " KEY_HEX},
    {NULL, "Bearer abcdefghijklmnopqr1"},
    {NULL, "Bearer abcdefghijklmnopqrst"},
    {NULL, "send a Bearer token with each of the 2000 requests"},
    {NULL, "a forbearer abcdefghijklmnopqrs1"},
    {NULL, "Bearer https://example.org/a/very/long/path/1"},
    {NULL, "Bearer: none, since RFC6750isNotUsedHere1"},
    {NULL, "Bearer"},

    {"H911", JWT},
    {"H911", "token=" JWT "."},
    {"H911", "token_" JWT},
    {"H911", "e-2-e_" JWT},
    {"H911", "https://x.example/#id_token=" JWT "&state=1"},
    /* {"typ":"JWT","alg":"none"} and a header that begins with a space */
    {"H911", "eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.e30.AA"},
    {"H911", "eyAiYWxnIjoiSFMyNTYifQ.e30.AA"},
    {NULL, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJleGFtcGxlIn0"},
    {NULL, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJleGFtcGxlIn0."},
    /* {"typ":"JWT"}, a header cut short, an array */
    {NULL, "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl"},
    {NULL, "eyJhbGciOiJIUzI1NiIsInR5cCI6.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl"},
    {NULL, "xeyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl"},
    {NULL, "example.organization.internal"},
    {NULL, "e2e.everything.everywhere"},

    {"H912", "https://user:secret@example.org/x"},
    {"H912", "see postgres://app:p%40ss@db:5432/app."},
    {"H912", "https:\\/\\/user:secret@example.org"},
    {"H912", "<git+ssh://u:p@h>"},
    {"H912", "redis://:secret@cache:6379"},
    {"H912", "http://a:b@[::1]:80/"},
    {NULL, "https://user@example.org/x"},
    {NULL, "https://user:@example.org/x"},
    {NULL, "https://example.org:8080/@user:tag"},
    {NULL, "https://example.org/?a=b:c@d"},
    {NULL, "https://example.org/#x:y@z"},
    {NULL, "https://user:***@example.org/x"},
    {NULL, "https://ci:$CI_TOKEN@example.org/x"},
    {NULL, "https://ci:${{secrets.X}}@example.org/x"},
    {NULL, "ssh://git@example.org:22/x.git"},
    {NULL, "git@example.org:o/r.git and a:b@c"},
    {NULL, "://a:b@c"},
    {NULL, "https://example.org, mail me at a:b@example.org"},

    {NULL, KEY_HEX},
    {NULL, "sha256:" KEY_HEX " d34db33fd34db33fd34db33fd34db33fd34db33f"},
    {NULL, "https://example.org/a/b/" KEY_HEX "?q=1#L20"},
    {NULL, "src/very/long/path/with_underscores-and-dashes/file_1234567890.c"},
    {NULL, ""},
};

static int scan(const char *text, size_t len, const struct jobs_secret_options *options, struct jobs_report *report)
{
    return jobs_secrets_check_text("/outcome", text, len, options, report);
}

static void every_shape_and_its_neighbours(void **state)
{
    (void)state;
    const struct jobs_secret_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct jobs_report report = {0};
        int code = scan(cases[i].text, strlen(cases[i].text), &options, &report);
        if (cases[i].rule == NULL) {
            if (code != JOBS_OK || report.count != 0)
                fail_msg("%s: found %s", cases[i].text, report.count > 0 ? report.violations[0].rule : "nothing");
        } else {
            bool found = false;
            for (size_t v = 0; v < report.count; v++) {
                found = found || strcmp(report.violations[v].rule, cases[i].rule) == 0;
                assert_string_equal(report.violations[v].pointer, "/outcome");
            }
            if (code != JOBS_INVALID || !found)
                fail_msg("%s: not found", cases[i].text);
        }
        jobs_report_wipe(&report);
    }
}

/* Each finding once more, in the middle of a longer text, cut short, and behind a NUL: no byte beyond len is read. */
static void places(void **state)
{
    (void)state;
    const struct jobs_secret_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = strlen(cases[i].text);
        char *text = malloc(len + 200);
        assert_non_null(text);
        memset(text, ' ', len + 200);
        memcpy(text + 100, cases[i].text, len);
        text[3] = '\0';
        struct jobs_report report = {0};
        assert_int_equal(scan(text, len + 200, &options, &report), cases[i].rule == NULL ? JOBS_OK : JOBS_INVALID);
        jobs_report_wipe(&report);
        free(text);
        for (size_t cut = 0; cut < len; cut++) {
            char *exact = malloc(cut + 1);
            assert_non_null(exact);
            memcpy(exact, cases[i].text, cut);
            struct jobs_report ignored = {0};
            char *end = realloc(exact, cut == 0 ? 1 : cut); /* so that reading on is seen by the sanitizer */
            assert_non_null(end);
            (void)!scan(end, cut, &options, &ignored);
            jobs_report_wipe(&ignored);
            free(end);
        }
    }
}

static void our_own_key_never_passes(void **state)
{
    (void)state;
    struct jobs_key *key = key_of(KEY_NSEC);
    const char *const allowed[] = {"/outcome"};
    const struct jobs_secret_options options = {.key = key, .allowed = allowed, .allowed_count = 1};
    static const char *const texts[] = {KEY_HEX, "x" KEY_HEX "x", KEY_NSEC,
                                        "67DEA2ED018072D675F5415ECFAED7D2597555E202D85B3D65EA4E58D2D92FFA",
                                        "abc" KEY_NSEC "def"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct jobs_report report = {0};
        assert_int_equal(scan(texts[i], strlen(texts[i]), &options, &report), JOBS_INVALID);
        assert_int_equal(report.count, 1);
        assert_string_equal(report.violations[0].rule, "H901");
        assert_null(strstr(report.violations[0].message, "vl029"));
        assert_null(strstr(report.violations[0].message, "67de"));
        jobs_report_wipe(&report);
    }
    struct jobs_report report = {0};
    assert_int_equal(scan(SECRET_ONE, 64, &options, &report), JOBS_OK);
    jobs_key_free(key);
}

static void what_a_person_let_through(void **state)
{
    (void)state;
    const char *const allowed[] = {"/artifacts/0/label", "/outcome"};
    const struct jobs_secret_options options = {.allowed = allowed, .allowed_count = 2};
    struct jobs_report report = {0};
    assert_int_equal(jobs_secrets_check_text("/outcome", AWS, 20, &options, &report), JOBS_OK);
    assert_int_equal(jobs_secrets_check_text("/artifacts/0/label", AWS, 20, &options, &report), JOBS_OK);
    assert_int_equal(jobs_secrets_check_text("/artifacts/0/labe", AWS, 20, &options, &report), JOBS_INVALID);
    assert_int_equal(jobs_secrets_check_text("/artifacts/0/label/x", AWS, 20, &options, &report), JOBS_INVALID);
    assert_int_equal(jobs_secrets_check_text("", AWS, 20, &options, &report), JOBS_INVALID);
    assert_int_equal(report.count, 3);
    jobs_report_wipe(&report);
}

static void several_findings_in_one_text(void **state)
{
    (void)state;
    const struct jobs_secret_options options = {0};
    struct jobs_report report = {0};
    static const char text[] = AWS " " GITHUB " " AWS;
    assert_int_equal(scan(text, sizeof text - 1, &options, &report), JOBS_INVALID);
    assert_int_equal(report.count, 2); /* one a rule */
    assert_string_equal(report.violations[0].rule, "H905");
    assert_string_equal(report.violations[1].rule, "H906");
    jobs_report_wipe(&report);
}

static void a_pointer_never_shows_a_secret(void **state)
{
    (void)state;
    struct jobs_key *key = key_of(KEY_NSEC);
    const struct jobs_secret_options options = {.key = key};
    static const struct {
        const char *pointer;
        const char *shown;
    } pointers[] = {
        {"/x/" AWS, "/x"},
        {"/x/" AWS "/y", "/x"},
        {"/x/" KEY_HEX "/y/z", "/x"},
        {"/x/0/https:~1~1u:secret@h", "/x/0"},
        {"/" GITHUB, ""},
        {"/a~0b~1c/d", "/a~0b~1c/d"},
    };
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        struct jobs_report report = {0};
        assert_int_equal(jobs_secrets_check_text(pointers[i].pointer, SLACK, strlen(SLACK), &options, &report),
                         JOBS_INVALID);
        assert_int_equal(report.count, 1);
        assert_string_equal(report.violations[0].pointer, pointers[i].shown);
        jobs_report_wipe(&report);
    }
    jobs_key_free(key);
}

static void values_of_variables(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *value;
        const char *text;
        bool found;
    } variables[] = {
        {"JT_API_KEY", "abcd1234efgh5678", "x abcd1234efgh5678.", true},
        {"JT_API_KEY", "abcd1234efgh5678", "abcd1234efgh56789", false},
        {"JT_API_KEY", "abcd1234efgh5678", "xabcd1234efgh5678", false},
        {"JT_API_KEY", "abcd1234efgh5678", "{\\\"a\\\":\\\"\\nabcd1234efgh5678\\\"}", true},
        {"JT_API_KEY", "abcd1234efgh5678", "abcd1234efgh56789 abcd1234efgh5678", true},
        {"JT_API_KEY", "abcd1234efgh567", "abcd1234efgh567", false},
        {"jt_token", "abcd1234efgh5678", "abcd1234efgh5678", true},
        {"SECRET_JT", "abcd1234efgh5678\n", "abcd1234efgh5678", true},
        {"JT_PASSWORD_2", "correct-horse-battery-staple", "it is correct-horse-battery-staple", true},
        {"JT_AWS_SECRET", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", true},
        {"JT_MONKEY", "abcd1234efgh5678", "abcd1234efgh5678", false},
        {"JT_KEYS", "abcd1234efgh5678", "abcd1234efgh5678", false},
        {"JT_TOKENIZER", "abcd1234efgh5678", "abcd1234efgh5678", false},
        {"JT_KEY", "/etc/ssl/private/server.key", "see /etc/ssl/private/server.key", false},
        {"JT_KEY", "~/.ssh/id_ed25519_of_work", "see ~/.ssh/id_ed25519_of_work", false},
        {"JT_KEY", "C:\\keys\\server_2024.key", "see C:\\keys\\server_2024.key", false},
        {"JT_KEY", "keys/staging/server2.pem", "see keys/staging/server2.pem", false},
        {"JT_KEY", "1234567890123456789", "1234567890123456789", false},
        {"JT_KEY", "2026-11-30 20:15:00.123", "2026-11-30 20:15:00.123", false},
        {"JT_KEY", "internationalization", "internationalization", false},
        {"JT_KEY", "INTERNATIONALIZATION", "INTERNATIONALIZATION", false},
        {"JT_KEY", "Internationalization", "Internationalization", false},
        {"JT_KEY", "d34db33fd34db33fd34db33fd34db33fd34db33f", "d34db33fd34db33fd34db33fd34db33fd34db33f", false},
        {"JT_KEY", "", "anything at all in here", false},
    };
    const struct jobs_secret_options options = {0};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        struct jobs_report report = {0};
        assert_int_equal(setenv(variables[i].name, variables[i].value, 1), 0);
        int code = scan(variables[i].text, strlen(variables[i].text), &options, &report);
        unsetenv(variables[i].name);
        if (code != (variables[i].found ? JOBS_INVALID : JOBS_OK))
            fail_msg("case %zu (%s)", i, variables[i].value);
        if (variables[i].found) {
            assert_int_equal(report.count, 1);
            assert_string_equal(report.violations[0].rule, "H913");
            assert_non_null(strstr(report.violations[0].message, variables[i].name));
            assert_null(strstr(report.violations[0].message, "1234"));
        }
        jobs_report_wipe(&report);
    }
}

/* Every text and every name of a handoff, those nobody knows too. */
static void a_whole_handoff(void **state)
{
    (void)state;
    static const char manifest[] =
        "{\"schemaVersion\":1,\"jobRequest\":\"" SECRET_TWO "\",\"requestedOutcome\":\"a\",\"outcome\":\"" AWS "\","
        "\"disposition\":\"completed\",\"lastProgress\":\"x " SLACK
        "\",\"artifacts\":[{\"kind\":\"other\",\"label\":\"l\","
        "\"reference\":\"r/" GITHUB "\",\"mine\":{\"deep\":[1,[\"\\u0041KIAEXAMPLE123456789\"]]}}],"
        "\"notes\":{\"" AWS "\":{\"below\":\"" PAT "\"},\"fine\":\"text\"}}";
    static const struct {
        const char *rule;
        const char *pointer;
    } wanted[] = {
        {"H905", "/outcome"},
        {"H908", "/lastProgress"},
        {"H906", "/artifacts/0/reference"},
        {"H905", "/artifacts/0/mine/deep/1/0"},
        {"H905", "/notes"},
        {"H907", "/notes"},
    };
    enum {
        COUNT = sizeof wanted / sizeof wanted[0]
    };
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    assert_int_equal(jobs_handoff_parse(&handoff, manifest, sizeof manifest - 1, NULL, &report), JOBS_OK);
    struct jobs_secret_options options = {0};
    assert_int_equal(jobs_secrets_check_handoff(handoff, &options, &report), JOBS_INVALID);
    assert_int_equal(report.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        size_t found = 0;
        for (size_t v = 0; v < report.count; v++)
            found += strcmp(report.violations[v].rule, wanted[i].rule) == 0 &&
                     strcmp(report.violations[v].pointer, wanted[i].pointer) == 0;
        assert_int_equal(found, 1);
    }
    jobs_report_wipe(&report);
    const char *allowed[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        allowed[i] = wanted[i].pointer;
    options.allowed = allowed;
    options.allowed_count = COUNT;
    assert_int_equal(jobs_secrets_check_handoff(handoff, &options, &report), JOBS_OK);
    assert_int_equal(report.count, 0);
    struct jobs_key *key = key_of(SECRET_TWO); /* which, written as a job's id, stands in the manifest */
    options.key = key;
    assert_int_equal(jobs_secrets_check_handoff(handoff, &options, &report), JOBS_INVALID);
    assert_int_equal(report.count, 1);
    assert_string_equal(report.violations[0].rule, "H901");
    assert_string_equal(report.violations[0].pointer, "/jobRequest");
    jobs_report_wipe(&report);
    jobs_key_free(key);
    jobs_handoff_free(handoff);
}

/* Text, table and document name the same rules in the same order, and each shape has a case. */
static void the_document_agrees(void **state)
{
    (void)state;
    FILE *file = fopen(JOBS_SOURCE_DIR "/docs/protocol/secrets.md", "r");
    assert_non_null(file);
    char line[1024];
    size_t shape = 0;
    size_t rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "| H", 3) != 0)
            continue;
        char wanted[256];
        const char *what = "the key that would sign";
        const char *rule = JOBS__RULE_OWN_KEY;
        if (rows > jobs__secret_shape_count) {
            what = "the value of an environment variable";
            rule = JOBS__RULE_ENVIRONMENT;
        } else if (rows > 0) {
            what = jobs__secret_shapes[shape].what;
            rule = jobs__secret_shapes[shape].rule;
            shape++;
        }
        int len = snprintf(wanted, sizeof wanted, "| %s | %s |", rule, what);
        line[len] = '\0';
        assert_string_equal(line, wanted);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, jobs__secret_shape_count + 2);
    for (size_t s = 0; s < jobs__secret_shape_count; s++) {
        size_t found = 0;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            found += cases[i].rule != NULL && strcmp(cases[i].rule, jobs__secret_shapes[s].rule) == 0;
        assert_true(found >= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_and_its_neighbours),
        cmocka_unit_test(places),
        cmocka_unit_test(our_own_key_never_passes),
        cmocka_unit_test(what_a_person_let_through),
        cmocka_unit_test(several_findings_in_one_text),
        cmocka_unit_test(a_pointer_never_shows_a_secret),
        cmocka_unit_test(values_of_variables),
        cmocka_unit_test(a_whole_handoff),
        cmocka_unit_test(the_document_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
