/* test_event.c - Events: golden ids, what a publisher may not write, sealing, and the shape of what others wrote. */
#include "support.h"

#include "../../core/hex.h"
#include "../event_body.h"

#include <stdlib.h>

static struct jobs_event *parse(const char *json)
{
    struct jobs_event *event = NULL;
    struct jobs_error error = {0};
    if (jobs_event_parse(&event, json, strlen(json), &error) != JOBS_OK)
        fail_msg("%s", error.message);
    return event;
}

static struct jobs_event *make(uint32_t kind, int64_t created_at, const struct jobs_tag *tags, size_t tag_count,
                               const char *content, size_t len)
{
    struct jobs_event *event = NULL;
    struct jobs_error error = {0};
    if (jobs_event_new(&event, kind, created_at, tags, tag_count, content, len, &error) != JOBS_OK)
        fail_msg("%s", error.message);
    return event;
}

/* The vector's event as somebody else would send it, with jansson's own escapes and a signature that is none. */
static char *foreign_json(const json_t *root, const json_t *vector)
{
    json_t *event = json_pack("{s:s, s:O, s:O, s:O, s:O, s:O, s:s}", "sig", PUBLIC_ONE PUBLIC_TWO, "pubkey",
                              json_object_get(root, "pubkey"), "created_at", json_object_get(root, "created_at"),
                              "kind", json_object_get(root, "kind"), "content", json_object_get(vector, "content"),
                              "tags", json_object_get(vector, "tags"), "id", text_of(vector, "id"));
    char *text = json_dumps(event, JSON_ENSURE_ASCII | JSON_INDENT(2));
    json_decref(event);
    assert_non_null(text);
    return text;
}

static void golden_ids(void **state)
{
    (void)state;
    json_t *root = load_vectors("event-ids.json");
    struct jobs_key *key = key_of(SECRET_ONE);
    assert_string_equal(jobs_key_public(key), text_of(root, "pubkey"));
    size_t i;
    json_t *vector;
    size_t refused = 0;
    json_array_foreach(json_object_get(root, "cases"), i, vector)
    {
        char *text = foreign_json(root, vector);
        struct jobs_event *read = parse(text);
        free(text);
        assert_int_equal(jobs_event_check(read), JOBS_EVENT_BAD_SIGNATURE); /* so the id holds */
        size_t content_len;
        const char *content = jobs_event_content(read, &content_len);
        assert_int_equal(content_len, json_string_length(json_object_get(vector, "content")));

        struct jobs_event *own = NULL;
        struct jobs_tag tags[8];
        assert_true(jobs_event_tag_count(read) <= 8);
        for (size_t t = 0; t < jobs_event_tag_count(read); t++)
            tags[t] = jobs_event_tag(read, t);
        int code =
            jobs_event_new(&own, 43004, 1700000000, tags, jobs_event_tag_count(read), content, content_len, NULL);
        /* Those that are marked, and \b and \f, which a publisher does not write either. */
        if (json_object_get(vector, "publish") != NULL || strchr(content, '\b') != NULL) {
            refused++;
            assert_int_equal(code, JOBS_INVALID);
            assert_null(own);
        } else {
            assert_int_equal(code, JOBS_OK);
            assert_int_equal(jobs_event_seal(own, key, NULL), JOBS_OK);
            assert_string_equal(jobs_event_id(own), text_of(vector, "id"));
            assert_int_equal(jobs_event_check(own), JOBS_EVENT_VALID);
            assert_true(jobs_event_same(own, read));
        }
        jobs_event_free(own);
        jobs_event_free(read);
    }
    assert_int_equal(i, 11);
    assert_int_equal(refused, 5);
    jobs_key_free(key);
    json_decref(root);
}

static void every_character_is_spelled_as_nip01_says(void **state)
{
    (void)state;
    char content[0x110];
    size_t len = 0;
    for (int c = 0; c < 0x80; c++)
        content[len++] = (char)c;
    memcpy(content + len, "/\u2028\U0001F600\u00E9", 10);
    len += 10;
    /* The same as JSON with every character escaped that may be. */
    char json[4096];
    int at = sprintf(json, "{\"kind\":1,\"created_at\":0,\"pubkey\":\"" PUBLIC_ONE "\",\"id\":\"" PUBLIC_ONE
                           "\",\"sig\":\"" PUBLIC_ONE PUBLIC_ONE "\",\"tags\":[],\"content\":\"");
    for (int c = 0; c < 0x80; c++)
        at += sprintf(json + at, "\\u%04X", c);
    strcpy(json + at, "\\/\\u2028\\ud83d\\ude00\\u00e9\"}");
    struct jobs_event *event = parse(json);
    size_t got;
    assert_memory_equal(jobs_event_content(event, &got), content, len);
    assert_int_equal(got, len);
    const char *out = jobs_event_json(event, &got);
    assert_int_equal(strlen(out), got);
    const char *spelled = strstr(out, "\"content\":");
    assert_non_null(spelled);
    assert_non_null(strstr(
        spelled,
        "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f\\u0010"
        "\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f"
        " !\\\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
        "\x7f/\u2028\U0001F600\u00E9\""));
    /* What it wrote it reads back as the same. */
    struct jobs_event *again = parse(out);
    assert_true(jobs_event_same(event, again));
    assert_string_equal(jobs_event_json(again, NULL), out);
    jobs_event_free(again);
    jobs_event_free(event);
}

static void a_template_becomes_a_sealed_event(void **state)
{
    (void)state;
    struct jobs_key *key = key_of(SECRET_TWO);
    const char *const h[] = {"h", CHANNEL};
    const char *const e[] = {"e", PUBLIC_ONE, "", "reply"};
    const struct jobs_tag tags[] = {{h, 2}, {e, 4}};
    struct jobs_event *event = make(43004, 1700000000, tags, 2, "a \"b\"\n", 6);
    assert_string_equal(jobs_event_id(event), "");
    assert_string_equal(jobs_event_author(event), "");
    size_t len;
    assert_string_equal(jobs_event_json(event, &len),
                        "{\"created_at\":1700000000,\"kind\":43004,\"tags\":[[\"h\",\"" CHANNEL
                        "\"],[\"e\",\"" PUBLIC_ONE "\",\"\",\"reply\"]],\"content\":\"a \\\"b\\\"\\n\"}");
    assert_int_equal(jobs_event_seal(event, key, NULL), JOBS_OK);
    assert_string_equal(jobs_event_author(event), PUBLIC_TWO);
    assert_int_equal(strlen(jobs_event_id(event)), 64);
    assert_int_equal(jobs_event_check(event), JOBS_EVENT_VALID);
    const char *json = jobs_event_json(event, &len);
    char begin[512];
    snprintf(begin, sizeof begin,
             "{\"id\":\"%s\",\"pubkey\":\"" PUBLIC_TWO "\",\"created_at\":1700000000,\"kind\":43004,",
             jobs_event_id(event));
    assert_memory_equal(json, begin, strlen(begin));
    struct jobs_event *read = parse(json);
    assert_int_equal(jobs_event_check(read), JOBS_EVENT_VALID);
    assert_true(jobs_event_same(read, event));
    assert_string_equal(jobs_event_channel(read), CHANNEL);
    assert_string_equal(jobs_event_reply(read), PUBLIC_ONE);
    assert_int_equal(jobs_event_kind(read), 43004);
    assert_int_equal(jobs_event_created_at(read), 1700000000);
    jobs_event_free(read);
    jobs_event_free(event);
    jobs_key_free(key);
}

static void what_was_changed_is_noticed(void **state)
{
    (void)state;
    struct jobs_key *key = key_of(SECRET_TWO);
    const char *const t[] = {"t", "x"};
    const struct jobs_tag tags[] = {{t, 2}};
    struct jobs_event *event = make(1, 1700000000, tags, 1, "hello", 5);
    assert_int_equal(jobs_event_seal(event, key, NULL), JOBS_OK);
    static const struct {
        const char *find;
        const char *put;
        enum jobs_event_check check;
    } changes[] = {
        {"hello", "hallo", JOBS_EVENT_BAD_ID},
        {"\"x\"", "\"y\"", JOBS_EVENT_BAD_ID},
        {"\"kind\":1", "\"kind\":2", JOBS_EVENT_BAD_ID},
        {"1700000000", "1700000001", JOBS_EVENT_BAD_ID},
        {PUBLIC_TWO, PUBLIC_ONE, JOBS_EVENT_BAD_ID},
        {"\"id\":\"", "\"id\":\"!", JOBS_EVENT_BAD_ID},
        {"\"sig\":\"", "\"sig\":\"!", JOBS_EVENT_BAD_SIGNATURE},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char json[2048];
        strcpy(json, jobs_event_json(event, NULL));
        char *at = strstr(json, changes[i].find);
        assert_non_null(at);
        if (strchr(changes[i].put, '!') != NULL) /* turn one digit */
            at[strlen(changes[i].find)] = at[strlen(changes[i].find)] == '0' ? '1' : '0';
        else
            memcpy(at, changes[i].put, strlen(changes[i].put));
        struct jobs_event *changed = parse(json);
        assert_int_equal(jobs_event_check(changed), changes[i].check);
        jobs_event_free(changed);
    }
    jobs_event_free(event);

    /* An author that is no point of the curve can sign nothing. */
    static const char head[] =
        "{\"kind\":1,\"created_at\":0,\"tags\":[],\"content\":\"\",\"sig\":\"" PUBLIC_ONE PUBLIC_ONE
        "\",\"pubkey\":\"eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34\"";
    char json[1024];
    char id[65] = PUBLIC_ONE;
    snprintf(json, sizeof json, "%s,\"id\":\"%s\"}", head, id);
    event = parse(json);
    assert_int_equal(jobs_event_check(event), JOBS_EVENT_BAD_ID);
    jobs__hex_write(id, event->digest, sizeof event->digest);
    jobs_event_free(event);
    snprintf(json, sizeof json, "%s,\"id\":\"%s\"}", head, id);
    event = parse(json);
    assert_int_equal(jobs_event_check(event), JOBS_EVENT_BAD_SIGNATURE);
    jobs_event_free(event);
    jobs_key_free(key);
}

static void a_publisher_may_not_write(void **state)
{
    (void)state;
    struct jobs_event *event = NULL;
    struct jobs_error error = {0};
    for (int c = 0; c < 0x100; c++) {
        char content[2] = {'a', (char)c};
        char value[3] = {'a', (char)c, '\0'};
        const char *const t[] = {"t", value};
        const struct jobs_tag tags[] = {{t, 2}};
        bool good = c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f);
        assert_int_equal(jobs_event_new(&event, 1, 0, NULL, 0, content, 2, &error), good ? JOBS_OK : JOBS_INVALID);
        assert_true(good == (event != NULL));
        jobs_event_free(event);
        if (c != 0) {
            assert_int_equal(jobs_event_new(&event, 1, 0, tags, 1, "", 0, &error), good ? JOBS_OK : JOBS_INVALID);
            jobs_event_free(event);
        }
    }
    /* C1 and what else looks odd is for the contract to judge, not for the event. */
    jobs_event_free(make(1, 0, NULL, 0, "\xC2\x85\xE2\x80\xAE", 5));
    assert_int_equal(jobs_event_new(&event, 65536, 0, NULL, 0, "", 0, &error), JOBS_INVALID);
    assert_int_equal(jobs_event_new(&event, 1, -1, NULL, 0, "", 0, &error), JOBS_INVALID);
    assert_int_equal(jobs_event_new(&event, 1, INT64_C(9007199254740992), NULL, 0, "", 0, &error), JOBS_INVALID);
    jobs_event_free(make(65535, INT64_C(9007199254740991), NULL, 0, "", 0));
    const struct jobs_tag empty[] = {{NULL, 0}};
    assert_int_equal(jobs_event_new(&event, 1, 0, empty, 1, "", 0, &error), JOBS_INVALID);
    char *large = malloc(1048577);
    assert_non_null(large);
    memset(large, 'a', 1048577);
    assert_int_equal(jobs_event_new(&event, 1, 0, NULL, 0, large, 1048577, &error), JOBS_INVALID);
    jobs_event_free(make(1, 0, NULL, 0, large, 1048576));
    free(large);
}

#define ID     "\"id\":\"" PUBLIC_ONE "\""
#define AUTHOR "\"pubkey\":\"" PUBLIC_TWO "\""
#define SIG    "\"sig\":\"" PUBLIC_ONE PUBLIC_TWO "\""
#define REST   "\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":\"\""

static void shapes(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *says; /* NULL: good */
    } cases[] = {
        {"{" ID "," AUTHOR "," SIG "," REST "}", NULL},
        {" \n{" REST "," SIG "," ID ",\t" AUTHOR "} ", NULL},
        {"{" ID "," AUTHOR "," SIG "," REST ",\"extra\":{\"kind\":\"x\",\"a\":[1.50,null]},\"seen\":[]}", NULL},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":9007199254740991,\"kind\":65535,\"tags\":[[\"a\"],[\"\",\"\"]],"
         "\"content\":\"\"}",
         NULL},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":0,\"kind\":0,\"tags\":[],\"c\\u006fntent\":\"\"}", NULL},
        {"[" ID "]", "JSON"},
        {"[]", "object"},
        {"\"x\"", "object"},
        {"", "JSON"},
        {"{}", "`id`"},
        {"{" ID "," AUTHOR "," SIG "," REST "}x", "JSON"},
        {"{" ID "," AUTHOR "," SIG "," REST "," ID "}", "JSON"},
        {"{" ID "," AUTHOR "," SIG "," REST ",\"a\":{\"b\":1,\"b\":1}}", "JSON"},
        {"{" AUTHOR "," SIG "," REST "}", "no `id`"},
        {"{" ID "," SIG "," REST "}", "no `pubkey`"},
        {"{" ID "," AUTHOR "," REST "}", "no `sig`"},
        {"{" ID "," AUTHOR "," SIG ",\"kind\":1,\"tags\":[],\"content\":\"\"}", "no `created_at`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"tags\":[],\"content\":\"\"}", "no `kind`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"content\":\"\"}", "no `tags`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[]}", "no `content`"},
        {"{\"id\":\"79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798\"," AUTHOR "," SIG "," REST "}",
         "`id`"},
        {"{\"id\":\"79be\"," AUTHOR "," SIG "," REST "}", "`id`"},
        {"{\"id\":7," AUTHOR "," SIG "," REST "}", "`id`"},
        {"{" ID ",\"pubkey\":\"C6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5\"," SIG "," REST "}",
         "`pubkey`"},
        {"{" ID "," AUTHOR ",\"sig\":\"" PUBLIC_ONE "\"," REST "}", "`sig`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1.0,\"kind\":1,\"tags\":[],\"content\":\"\"}", "`created_at`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1e3,\"kind\":1,\"tags\":[],\"content\":\"\"}", "`created_at`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":-1,\"kind\":1,\"tags\":[],\"content\":\"\"}", "`created_at`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":-0,\"kind\":1,\"tags\":[],\"content\":\"\"}", "`created_at`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":9007199254740992,\"kind\":1,\"tags\":[],\"content\":\"\"}",
         "`created_at`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":\"1\",\"kind\":1,\"tags\":[],\"content\":\"\"}", "`created_at`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":65536,\"tags\":[],\"content\":\"\"}", "`kind`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1.0,\"tags\":[],\"content\":\"\"}", "`kind`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":4294967297,\"tags\":[],\"content\":\"\"}", "`kind`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":true,\"tags\":[],\"content\":\"\"}", "`kind`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":{},\"content\":\"\"}", "`tags`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[[]],\"content\":\"\"}", "`tags`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[[\"a\"],\"b\"],\"content\":\"\"}", "`tags`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[[\"a\",1]],\"content\":\"\"}", "`tags`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[[\"a\",null]],\"content\":\"\"}", "`tags`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[[[\"a\"],\"b\"]],\"content\":\"\"}",
         "`tags`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":null}", "`content`"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":\"\\ud800\"}", "JSON"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":\"\xC0\x80\"}", "JSON"},
        {"{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":\"\n\"}", "JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct jobs_event *event = NULL;
        struct jobs_error error = {0};
        int code = jobs_event_parse(&event, cases[i].json, strlen(cases[i].json), &error);
        if (code != (cases[i].says == NULL ? JOBS_OK : JOBS_INVALID) ||
            (cases[i].says != NULL && strstr(error.message, cases[i].says) == NULL))
            fail_msg("case %zu: code %d, says: %s", i, code, error.message);
        assert_true((event != NULL) == (code == JOBS_OK));
        jobs_event_free(event);
    }
}

/* A U+0000 in a tag must not make it look like another one. */
static void a_nul_cannot_shorten_a_tag(void **state)
{
    (void)state;
    struct jobs_event *event =
        parse("{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"content\":\"a\\u0000b\","
              "\"tags\":[[\"h\",\"" CHANNEL "\\u0000\\u0000x\"],[\"e\\u0000\",\"" PUBLIC_ONE "\",\"\",\"reply\"]]}");
    assert_string_equal(jobs_event_channel(event), CHANNEL "\xEF\xBF\xBD\xEF\xBF\xBDx");
    assert_false(jobs_channel_is_valid(jobs_event_channel(event)));
    assert_null(jobs_event_reply(event));
    assert_non_null(strstr(jobs_event_json(event, NULL), CHANNEL "\\u0000\\u0000x\""));
    size_t len;
    assert_memory_equal(jobs_event_content(event, &len), "a\0b", 3);
    assert_int_equal(len, 3);
    jobs_event_free(event);
}

static void asks_about_tags(void **state)
{
    (void)state;
    static const struct {
        const char *tags;
        const char *channel;
        const char *reply;
    } cases[] = {
        {"[]", NULL, NULL},
        {"[[\"h\",\"c\"],[\"e\",\"i\",\"\",\"reply\"]]", "c", "i"},
        {"[[\"h\",\"c\"],[\"h\",\"c\"]]", NULL, NULL},
        {"[[\"h\"]]", NULL, NULL},
        {"[[\"e\",\"i\",\"reply\"],[\"e\",\"j\"],[\"e\",\"k\",\"\",\"root\"]]", NULL, NULL},
        {"[[\"e\",\"r\",\"\",\"root\"],[\"e\",\"i\",\"wss://x\",\"reply\",\"p\"]]", NULL, "i"},
        {"[[\"e\",\"i\",\"\",\"reply\"],[\"e\",\"i\",\"\",\"reply\"]]", NULL, NULL},
        {"[[\"E\",\"i\",\"\",\"reply\"],[\"h\",\"\"]]", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"content\":\"\",\"tags\":%s}", cases[i].tags);
        struct jobs_event *event = parse(json);
        const char *channel = jobs_event_channel(event);
        const char *reply = jobs_event_reply(event);
        assert_string_equal(channel == NULL ? "(none)" : channel,
                            cases[i].channel == NULL ? "(none)" : cases[i].channel);
        assert_string_equal(reply == NULL ? "(none)" : reply, cases[i].reply == NULL ? "(none)" : cases[i].reply);
        jobs_event_free(event);
    }
    struct jobs_event *event = parse("{" ID "," AUTHOR "," SIG ",\"created_at\":1,\"kind\":1,\"content\":\"\",\"tags\":"
                                     "[[\"a\",\"1\"],[\"b\"],[\"a\",\"2\"],[\"b\",\"3\"]]}");
    assert_string_equal(jobs_event_tag_value(event, "a"), "1");
    assert_null(jobs_event_tag_value(event, "b"));
    assert_null(jobs_event_tag_value(event, "c"));
    jobs_event_free(event);
    jobs_event_free(NULL);
}

/* The contract's tags, in the contract's order, around the canonical payload. */
static void the_event_of_a_handoff(void **state)
{
    (void)state;
    static const char manifest[] = "{\"outcome\":\"done\",\"schemaVersion\":1,\"disposition\":\"no_artifact\","
                                   "\"requestedOutcome\":\"do\"}";
    const struct jobs_given given = {.job_request = PUBLIC_ONE};
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    struct jobs_error error = {0};
    assert_int_equal(jobs_handoff_parse(&handoff, manifest, sizeof manifest - 1, &given, &report), JOBS_OK);

    struct jobs_envelope envelope = {.channel = CHANNEL};
    struct jobs_event *event = NULL;
    assert_int_equal(jobs_event_from_handoff(&event, handoff, &envelope, 1700000000, &error), JOBS_OK);
    static const char plain[] = "{\"created_at\":1700000000,\"kind\":43004,\"tags\":[[\"h\",\"" CHANNEL
                                "\"],[\"e\",\"" PUBLIC_ONE "\",\"\",\"reply\"],[\"schema\",\"buzz.job-result\",\"1\"],"
                                "[\"disposition\",\"no_artifact\"]],\"content\":\"";
    assert_memory_equal(jobs_event_json(event, NULL), plain, sizeof plain - 1);
    size_t content_len;
    size_t canonical_len;
    const char *content = jobs_event_content(event, &content_len);
    const char *canonical = jobs_handoff_canonical(handoff, &canonical_len);
    assert_int_equal(content_len, canonical_len);
    assert_memory_equal(content, canonical, canonical_len);
    jobs_event_free(event);

    json_t *root = load_vectors("nip-oa.json");
    char json[1024];
    struct jobs_attestation *attestation = NULL;
    snprintf(json, sizeof json, "[\"auth\",\"%s\",\"%s\",\"%s\"]", text_of(root, "ownerPubkey"),
             text_of(root, "conditions"), text_of(root, "sig"));
    assert_int_equal(jobs_attestation_parse(&attestation, json, strlen(json), PUBLIC_TWO, &error), JOBS_OK);
    json_decref(root);
    envelope.attestation = attestation; /* for kind 1 only */
    assert_int_equal(jobs_event_from_handoff(&event, handoff, &envelope, 1700000000, &error), JOBS_BAD_KEY);
    assert_null(event);
    jobs_attestation_free(attestation);

    envelope = (struct jobs_envelope){.channel = CHANNEL, .thread_root = SECRET_ONE, .notify = PUBLIC_TWO};
    assert_int_equal(jobs_event_from_handoff(&event, handoff, &envelope, 1700000000, &error), JOBS_OK);
    assert_int_equal(jobs_event_tag_count(event), 6);
    assert_string_equal(jobs_event_tag(event, 4).values[1], SECRET_ONE);
    assert_string_equal(jobs_event_tag(event, 4).values[3], "root");
    assert_string_equal(jobs_event_tag(event, 5).values[0], "p");
    assert_string_equal(jobs_event_tag(event, 5).values[1], PUBLIC_TWO);
    assert_string_equal(jobs_event_reply(event), PUBLIC_ONE);
    jobs_event_free(event);

    const struct jobs_envelope bad[] = {{.channel = NULL},
                                        {.channel = "general"},
                                        {.channel = CHANNEL, .thread_root = "x"},
                                        {.channel = CHANNEL, .notify = "npub1"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(jobs_event_from_handoff(&event, handoff, &bad[i], 1700000000, &error), JOBS_USAGE);
        assert_null(event);
    }
    jobs_handoff_free(handoff);

    const struct jobs_given later = {.job_request = PUBLIC_ONE, .requested_outcome_later = true};
    static const char unfinished[] = "{\"outcome\":\"done\",\"schemaVersion\":1,\"disposition\":\"failed\"}";
    assert_int_equal(jobs_handoff_parse(&handoff, unfinished, sizeof unfinished - 1, &later, &report), JOBS_OK);
    envelope = (struct jobs_envelope){.channel = CHANNEL};
    assert_int_equal(jobs_event_from_handoff(&event, handoff, &envelope, 1700000000, &error), JOBS_INVALID);
    jobs_handoff_free(handoff);
}

static void channels(void **state)
{
    (void)state;
    assert_true(jobs_channel_is_valid(CHANNEL));
    assert_true(jobs_channel_is_valid("00000000-0000-0000-0000-000000000000"));
    static const char *const bad[] = {"",
                                      "0f3c2a9e-5b1d-4c7f-8e6a-1234567890a",
                                      "0f3c2a9e-5b1d-4c7f-8e6a-1234567890abc",
                                      "0F3C2A9E-5b1d-4c7f-8e6a-1234567890ab",
                                      "0f3c2a9e5b1d4c7f8e6a1234567890ab",
                                      "{0f3c2a9e-5b1d-4c7f-8e6a-1234567890ab}",
                                      "0f3c2a9e-5b1d-4c7f-8e6a_1234567890ab",
                                      "0f3c2a9g-5b1d-4c7f-8e6a-1234567890ab",
                                      " 0f3c2a9e-5b1d-4c7f-8e6a-1234567890a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(jobs_channel_is_valid(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_ids),
        cmocka_unit_test(every_character_is_spelled_as_nip01_says),
        cmocka_unit_test(a_template_becomes_a_sealed_event),
        cmocka_unit_test(what_was_changed_is_noticed),
        cmocka_unit_test(a_publisher_may_not_write),
        cmocka_unit_test(shapes),
        cmocka_unit_test(a_nul_cannot_shorten_a_tag),
        cmocka_unit_test(asks_about_tags),
        cmocka_unit_test(the_event_of_a_handoff),
        cmocka_unit_test(channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
