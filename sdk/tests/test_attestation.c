/* test_attestation.c - The owner attestation: NIP-OA's vector, the grammar of its conditions, and everything that must
 * not pass. */
#include "support.h"

#include "../../core/hex.h"
#include "../../core/sha256.h"
#include "../signature.h"

#include <stdio.h>

static int try_json(const char *json, struct jobs_attestation **out, char message[1024])
{
    struct jobs_error error = {0};
    int code = jobs_attestation_parse(out, json, strlen(json), PUBLIC_TWO, &error);
    strcpy(message, error.message);
    return code;
}

/* An attestation by `owner` for the agent with secret 2, signed here and now. */
static void attest(char *out, size_t size, const char *owner, const char *conditions)
{
    struct jobs_key *key = key_of(owner);
    char text[512];
    unsigned char digest[32];
    unsigned char signature[64];
    char hex[129];
    int len = snprintf(text, sizeof text, "nostr:agent-auth:" PUBLIC_TWO ":%s", conditions);
    jobs__sha256(digest, text, (size_t)len);
    assert_int_equal(jobs__sign(signature, key, digest, sizeof digest), JOBS_OK);
    jobs__hex_write(hex, signature, sizeof signature);
    json_t *tag = json_pack("[s,s,s,s]", "auth", jobs_key_public(key), conditions, hex);
    char *json = json_dumps(tag, 0);
    snprintf(out, size, "%s", json);
    free(json);
    json_decref(tag);
    jobs_key_free(key);
}

static void the_vector_holds(void **state)
{
    (void)state;
    json_t *root = load_vectors("nip-oa.json");
    char json[1024];
    char message[1024];
    struct jobs_attestation *attestation = NULL;
    snprintf(json, sizeof json, "[\"auth\", \"%s\", \"%s\", \"%s\"]", text_of(root, "ownerPubkey"),
             text_of(root, "conditions"), text_of(root, "sig"));
    assert_int_equal(try_json(json, &attestation, message), JOBS_OK);
    const char *const *tag = jobs_attestation_tag(attestation);
    assert_string_equal(tag[0], "auth");
    assert_string_equal(tag[1], PUBLIC_ONE);
    assert_string_equal(tag[2], text_of(root, "conditions"));
    assert_string_equal(tag[3], text_of(root, "sig"));
    /* kind=1&created_at<1713957000, strictly */
    struct jobs_error error = {0};
    assert_int_equal(jobs_attestation_allows(attestation, 1, 1713956999, &error), JOBS_OK);
    assert_int_equal(jobs_attestation_allows(attestation, 1, 1713957000, &error), JOBS_BAD_KEY);
    assert_int_equal(jobs_attestation_allows(attestation, 2, 1713956999, &error), JOBS_BAD_KEY);

    /* The vector's event carries it and verifies as a whole. */
    json_t *event = json_deep_copy(json_object_get(root, "event"));
    json_object_set_new(event, "tags", json_pack("[[s,s,s,s]]", tag[0], tag[1], tag[2], tag[3]));
    char *text = json_dumps(event, 0);
    struct jobs_event *parsed = NULL;
    assert_int_equal(jobs_event_parse(&parsed, text, strlen(text), &error), JOBS_OK);
    assert_int_equal(jobs_event_check(parsed), JOBS_EVENT_VALID);
    jobs_event_free(parsed);
    free(text);
    json_decref(event);
    jobs_attestation_free(attestation);
    json_decref(root);
}

static void conditions_follow_the_grammar(void **state)
{
    (void)state;
    json_t *root = load_vectors("nip-oa.json");
    size_t i;
    json_t *conditions;
    char json[2048];
    char message[1024];
    struct jobs_attestation *attestation = NULL;
    json_array_foreach(json_object_get(root, "conditionsGood"), i, conditions)
    {
        attest(json, sizeof json, SECRET_ONE, json_string_value(conditions));
        if (try_json(json, &attestation, message) != JOBS_OK)
            fail_msg("%s: %s", json_string_value(conditions), message);
        jobs_attestation_free(attestation);
    }
    assert_int_equal(i, 6);
    json_array_foreach(json_object_get(root, "conditionsBad"), i, conditions)
    {
        attest(json, sizeof json, SECRET_ONE, json_string_value(conditions));
        if (try_json(json, &attestation, message) != JOBS_BAD_KEY || strstr(message, "conditions") == NULL)
            fail_msg("%s: %s", json_string_value(conditions), message);
        assert_null(attestation);
    }
    assert_int_equal(i, 18);
    json_decref(root);
}

static void conditions_hold_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *conditions;
        uint32_t kind;
        int64_t created_at;
        bool allows;
    } cases[] = {
        {"", 0, 0, true},
        {"", 65535, INT64_C(9007199254740991), true},
        {"kind=43004", 43004, 5, true},
        {"kind=43004", 43003, 5, false},
        {"kind=0", 0, 5, true},
        {"created_at>100", 1, 100, false},
        {"created_at>100", 1, 101, true},
        {"created_at<100", 1, 99, true},
        {"created_at<100", 1, 100, false},
        {"created_at<0", 1, 0, false},
        {"created_at>4294967295", 1, INT64_C(4294967296), true},
        {"kind=9&created_at>100&created_at<200", 9, 150, true},
        {"kind=9&created_at>100&created_at<200", 9, 200, false},
        {"kind=9&created_at>100&created_at<200", 9, 100, false},
        {"kind=9&created_at>100&created_at<200", 8, 150, false},
        {"kind=1&kind=2", 1, 0, false},
        {"kind=1&kind=2", 2, 0, false},
        {"kind=1&kind=1", 1, 0, true},
        {"created_at<100&kind=1", 1, 50, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char json[2048];
        char message[1024];
        struct jobs_attestation *attestation = NULL;
        attest(json, sizeof json, SECRET_ONE, cases[i].conditions);
        assert_int_equal(try_json(json, &attestation, message), JOBS_OK);
        assert_int_equal(jobs_attestation_allows(attestation, cases[i].kind, cases[i].created_at, NULL),
                         cases[i].allows ? JOBS_OK : JOBS_BAD_KEY);
        jobs_attestation_free(attestation);
    }
}

static void the_event_carries_it_last(void **state)
{
    (void)state;
    static const char manifest[] = "{\"outcome\":\"done\",\"schemaVersion\":1,\"disposition\":\"no_artifact\","
                                   "\"requestedOutcome\":\"do\",\"jobRequest\":\"" PUBLIC_ONE "\"}";
    char json[2048];
    char message[1024];
    struct jobs_attestation *attestation = NULL;
    struct jobs_handoff *handoff = NULL;
    struct jobs_event *event = NULL;
    struct jobs_report report = {0};
    attest(json, sizeof json, SECRET_ONE, "kind=43004&created_at<1700000001");
    assert_int_equal(try_json(json, &attestation, message), JOBS_OK);
    assert_int_equal(jobs_handoff_parse(&handoff, manifest, sizeof manifest - 1, NULL, &report), JOBS_OK);
    const struct jobs_envelope envelope = {.channel = CHANNEL, .notify = PUBLIC_ONE, .attestation = attestation};
    assert_int_equal(jobs_event_from_handoff(&event, handoff, &envelope, 1700000000, NULL), JOBS_OK);
    assert_int_equal(jobs_event_tag_count(event), 6);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(jobs_event_tag(event, 5).values[i], jobs_attestation_tag(attestation)[i]);
    jobs_event_free(event);
    assert_int_equal(jobs_event_from_handoff(&event, handoff, &envelope, 1700000001, NULL), JOBS_BAD_KEY);
    jobs_handoff_free(handoff);
    jobs_attestation_free(attestation);
}

static void refuses_the_rest(void **state)
{
    (void)state;
    char good[2048];
    char own[2048];
    char json[4096];
    char message[1024];
    struct jobs_attestation *attestation = NULL;
    attest(good, sizeof good, SECRET_ONE, "kind=1");
    attest(own, sizeof own, SECRET_TWO, "kind=1");
    assert_int_equal(try_json(good, &attestation, message), JOBS_OK);
    char owner[65];
    char sig[129];
    strcpy(owner, jobs_attestation_tag(attestation)[1]);
    strcpy(sig, jobs_attestation_tag(attestation)[3]);
    jobs_attestation_free(attestation);

    const struct {
        const char *format; /* owner, signature */
        const char *says;
    } bad[] = {
        {"", "JSON"},
        {"null", "four strings"},
        {"{\"auth\":\"%s\",\"x\":\"%s\"}", "four strings"},
        {"[\"auth\",\"%s\",\"kind=1\",\"%s\",\"\"]", "four strings"},
        {"[\"auth\",\"%s\",\"%s\"]", "four strings"},
        {"[[\"auth\",\"%s\",\"kind=1\",\"%s\"]]", "four strings"},
        {"[\"auth\",[\"%s\"],\"kind=1\",\"%s\"]", "four strings"},
        {"[\"auth\",\"%s\",1,\"%s\"]", "four strings"},
        {"[\"auth\",\"%s\",\"kind=1\",\"%s\"] x", "JSON"},
        {"[\"Auth\",\"%s\",\"kind=1\",\"%s\"]", "begin with"},
        {"[\"auth\\u0000\",\"%s\",\"kind=1\",\"%s\"]", "U+0000"},
        {"[\"auth\",\" %s\",\"kind=1\",\"%s\"]", "owner by 64"},
        {"[\"auth\",\"%.63s\",\"kind=1\",\"%s\"]", "owner by 64"},
        {"[\"auth\",\"79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798%.0s\",\"kind=1\",\"%s\"]",
         "owner by 64"},
        {"[\"auth\",\"%s\",\"kind=1\",\"%.127s\"]", "signature of 128"},
        {"[\"auth\",\"%s\",\"kind=1\",\"%.127sA\"]", "signature of 128"},
        {"[\"auth\",\"%s\",\"kind=2\",\"%s\"]", "does not verify"},
        {"[\"auth\",\"%s\",\"\",\"%s\"]", "does not verify"},
        {"[\"auth\",\"" PUBLIC_TWO "%.0s\",\"kind=1\",\"%s\"]", "own key"},
        {"[\"auth\",\"eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34%.0s\",\"kind=1\",\"%s\"]",
         "does not verify"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
        snprintf(json, sizeof json, bad[i].format, owner, sig);
#pragma GCC diagnostic pop
        if (try_json(json, &attestation, message) != JOBS_BAD_KEY || strstr(message, bad[i].says) == NULL)
            fail_msg("case %zu says: %s", i, message);
        assert_null(attestation);
    }
    assert_int_equal(try_json(own, &attestation, message), JOBS_BAD_KEY);
    assert_non_null(strstr(message, "own key"));
    /* The same good one for another agent. */
    assert_int_equal(jobs_attestation_parse(&attestation, good, strlen(good), PUBLIC_ONE, NULL), JOBS_BAD_KEY);
    static char large[70000];
    memset(large, ' ', sizeof large - 1);
    memcpy(large, good, strlen(good));
    assert_int_equal(try_json(large, &attestation, message), JOBS_BAD_KEY);
    jobs_attestation_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector_holds),       cmocka_unit_test(conditions_follow_the_grammar),
        cmocka_unit_test(conditions_hold_or_not), cmocka_unit_test(the_event_carries_it_last),
        cmocka_unit_test(refuses_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
