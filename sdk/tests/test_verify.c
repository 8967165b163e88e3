/* test_verify.c - the bulk verifier says of every event what the slow path says, forgets no rule, and keeps its keys.
 */
#include "support.h"

#include "../../core/hex.h"
#include "../event_body.h"
#include "../verify.h"
#include "../verify_keys.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const cards[] = {"unknown", "yes", "no"};

/* What parse, check and read say of it: the oracle. */
static void ask_slowly(struct jobs_verified *out, const char *json, size_t len)
{
    struct jobs_event *event = NULL;
    *out = (struct jobs_verified){.event = JOBS_VERIFIED_MALFORMED, .kind = -1};
    int code = jobs_event_parse(&event, json, len, NULL);
    if (code != JOBS_OK) {
        assert_int_equal(code, JOBS_INVALID);
        return;
    }
    strcpy(out->id, jobs_event_id(event));
    out->kind = (int32_t)jobs_event_kind(event);
    enum jobs_event_check check = jobs_event_check(event);
    out->event = check == JOBS_EVENT_VALID    ? JOBS_VERIFIED_VALID
                 : check == JOBS_EVENT_BAD_ID ? JOBS_VERIFIED_BAD_ID
                                              : JOBS_VERIFIED_BAD_SIGNATURE;
    if (check == JOBS_EVENT_VALID && out->kind == JOBS_KIND_RESULT) {
        struct jobs_handoff *handoff = NULL;
        struct jobs_report report = {0};
        size_t content_len;
        const char *content = jobs_event_content(event, &content_len);
        code = jobs_handoff_read(&handoff, content, content_len, jobs_event_reply(event), &report, NULL);
        out->card = code == JOBS_OK ? JOBS_CARD_YES : JOBS_CARD_NO;
        jobs_handoff_free(handoff);
        jobs_report_wipe(&report);
    }
    jobs_event_free(event);
}

static enum jobs_verified_event compare(struct jobs_verifier *verifier, const char *json, size_t len)
{
    struct jobs_verified fast;
    struct jobs_verified slow;
    assert_int_equal(jobs__verifier_check_id(&fast, verifier, json, len), JOBS_OK);
    enum jobs_verified_event half = fast.event;
    assert_int_equal(jobs_verifier_check(&fast, verifier, json, len), JOBS_OK);
    ask_slowly(&slow, json, len);
    bool same = fast.event == slow.event && fast.card == slow.card;
    if (slow.event != JOBS_VERIFIED_MALFORMED)
        same = same && strcmp(fast.id, slow.id) == 0 && fast.kind == slow.kind;
    if (!same)
        fail_msg("%.*s: fast says %s, card %s; slow %s, card %s", (int)len, json, jobs_verified_name(fast.event),
                 cards[fast.card], jobs_verified_name(slow.event), cards[slow.card]);
    assert_int_equal(half, fast.event == JOBS_VERIFIED_BAD_SIGNATURE ? JOBS_VERIFIED_VALID : fast.event);
    assert_true((fast.reason == NULL) == (fast.event == JOBS_VERIFIED_VALID && fast.card != JOBS_CARD_NO));
    assert_true((fast.rule != NULL) == (fast.card == JOBS_CARD_NO));
    return fast.event;
}

static struct jobs_verifier *verifier_of(void)
{
    struct jobs_verifier *verifier = NULL;
    assert_int_equal(jobs_verifier_new(&verifier), JOBS_OK);
    return verifier;
}

#define ZERO64 "0000000000000000000000000000000000000000000000000000000000000000"
#define IDS    "\"id\":\"" ZERO64 "\",\"pubkey\":\"" PUBLIC_TWO "\",\"sig\":\"" ZERO64 ZERO64 "\""

/* Signs the event of this text: its zeros become what the rest asks for. */
static void sign(char *json)
{
    char *id = strstr(json, ZERO64);
    char *sig = strstr(json, ZERO64 ZERO64);
    assert_non_null(id);
    assert_non_null(sig);
    struct jobs_event *event = NULL;
    struct jobs_error error = {0};
    if (jobs_event_parse(&event, json, strlen(json), &error) != JOBS_OK)
        fail_msg("%s", error.message);
    struct jobs_key *key = key_of(SECRET_TWO);
    assert_int_equal(jobs_event_seal(event, key, &error), JOBS_OK);
    memcpy(id, event->id, 64);
    memcpy(sig, event->signature, 128);
    jobs_event_free(event);
    jobs_key_free(key);
}

#define PAYLOAD                                                                                                        \
    "{\\\"schemaVersion\\\":1,\\\"jobRequest\\\":\\\"" PUBLIC_ONE "\\\",\\\"requestedOutcome\\\":\\\"a\\\","           \
    "\\\"outcome\\\":\\\"b\\\",\\\"disposition\\\":\\\"no_artifact\\\"}"
#define REPLY "[\"e\",\"" PUBLIC_ONE "\",\"\",\"reply\"]"

/* Everything that two ways of reading could see differently; all of it correctly signed. */
static const struct {
    const char *json;
    enum jobs_card card;
} spellings[] = {
    {"{" IDS ",\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":\"\"}", JOBS_CARD_UNKNOWN},
    {" { \"content\" : \"a\\/b\\u0041\" , \"tags\" : [ [ \"t\" , \"\\u0062\" ] , [ \"u\" ] ] ,\t\"kind\" : 0 "
     ",\"created_at\":0,"
     "\"more\":{\"kind\":[1.5]}," IDS "}\r",
     JOBS_CARD_UNKNOWN},
    {"{" IDS ",\"created_at\":9007199254740991,\"kind\":65535,\"tags\":[],\"content\":\"\\n\\r\\t\\b\\f\\\"\\\\\"}",
     JOBS_CARD_UNKNOWN},
    {"{" IDS ",\"created_at\":1,\"kind\":1,\"tags\":[[\"\\u0000\\u000b\",\"\\u001f\"]],\"content\":\"\\u0001\\u0007\"}",
     JOBS_CARD_UNKNOWN},
    {"{" IDS ",\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":"
     "\"\\u000B\\u001F\\u000a\\u0009\\u0022\\u005c\\u007f\\u0020\"}",
     JOBS_CARD_UNKNOWN},
    {"{" IDS
     ",\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":\"\\u0008\\u000c\\u000d \x7f\\ud83d\\ude00\\u2028\"}",
     JOBS_CARD_UNKNOWN},
    {"{" IDS ",\"created_at\":1,\"kind\":1,\"tags\":[],\"content\":\"\u00e9\u2028\U0001F600\uFEFF\"}",
     JOBS_CARD_UNKNOWN},
    {"{" IDS ",\"created_at\":1,\"k\\u0069nd\":43004,\"tags\":[" REPLY "],\"content\":\"" PAYLOAD "\"}", JOBS_CARD_YES},
    {"{" IDS ",\"created_at\":1,\"kind\":43003,\"tags\":[" REPLY "],\"content\":\"" PAYLOAD "\"}", JOBS_CARD_UNKNOWN},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[],\"content\":\"" PAYLOAD "\"}", JOBS_CARD_NO},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[" REPLY "," REPLY "],\"content\":\"" PAYLOAD "\"}",
     JOBS_CARD_NO},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[[\"e\",\"" PUBLIC_ONE "\",\"reply\"]],\"content\":\"" PAYLOAD
     "\"}",
     JOBS_CARD_NO},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[[\"\\u0065\",\"\\u0037"
     "9be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2"
     "815b16f81798\",\"x\",\"r\\u0065ply\",\"z\"]],\"content\":\"" PAYLOAD "\"}",
     JOBS_CARD_YES},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[[\"e\",\"" PUBLIC_ONE
     "\\u0000\",\"\",\"reply\"]],\"content\":\"" PAYLOAD "\"}",
     JOBS_CARD_NO},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[[\"e\",\"" PUBLIC_TWO
     "\",\"\",\"reply\"]],\"content\":\"" PAYLOAD "\"}",
     JOBS_CARD_NO},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[[\"e\","
     "\"79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798\","
     "\"\",\"reply\"]],\"content\":\"" PAYLOAD "\"}",
     JOBS_CARD_YES},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[" REPLY "],\"content\":\"" PAYLOAD "x\"}", JOBS_CARD_NO},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[" REPLY "],\"content\":\"" PAYLOAD "\\u0000\"}", JOBS_CARD_NO},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[" REPLY "],\"content\":\"\\u0020" PAYLOAD "\\u000a\"}",
     JOBS_CARD_YES},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[" REPLY "],\"content\":\"\"}", JOBS_CARD_NO},
    {"{" IDS ",\"created_at\":1,\"kind\":43004,\"tags\":[" REPLY "],\"content\":\"**done**\"}", JOBS_CARD_NO},
};

static void every_spelling(void **state)
{
    (void)state;
    struct jobs_verifier *verifier = verifier_of();
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        char json[4096];
        struct jobs_verified verified;
        strcpy(json, spellings[i].json);
        sign(json);
        if (compare(verifier, json, strlen(json)) != JOBS_VERIFIED_VALID)
            fail_msg("%s", json);
        assert_int_equal(jobs_verifier_check(&verified, verifier, json, strlen(json)), JOBS_OK);
        if (verified.card != spellings[i].card)
            fail_msg("%s: card %s: %s", json, cards[verified.card], verified.reason);
    }
    jobs_verifier_free(verifier);
}

static void what_is_not_valid(void **state)
{
    (void)state;
    struct jobs_verifier *verifier = verifier_of();
    char good[4096];
    struct jobs_verified verified;
    strcpy(good, spellings[7].json);
    sign(good);

    char json[4096];
    strcpy(json, good);
    char *at = strstr(json, "\"created_at\":1");
    at[13] = '2';
    assert_int_equal(jobs_verifier_check(&verified, verifier, json, strlen(json)), JOBS_OK);
    assert_int_equal(verified.event, JOBS_VERIFIED_BAD_ID);
    assert_int_equal(verified.kind, 43004);
    assert_int_equal(verified.card, JOBS_CARD_UNKNOWN);
    assert_int_equal(strlen(verified.id), 64);

    strcpy(json, good);
    at = strstr(json, "\"sig\":\"");
    at[20] = at[20] == '0' ? '1' : '0';
    assert_int_equal(jobs_verifier_check(&verified, verifier, json, strlen(json)), JOBS_OK);
    assert_int_equal(verified.event, JOBS_VERIFIED_BAD_SIGNATURE);
    assert_int_equal(verified.card, JOBS_CARD_UNKNOWN);

    /* What a malformed one says of itself is told all the same. */
    strcpy(json, good);
    memcpy(strstr(json, "\"sig\""), "\"sog\"", 5);
    assert_int_equal(jobs_verifier_check(&verified, verifier, json, strlen(json)), JOBS_OK);
    assert_int_equal(verified.event, JOBS_VERIFIED_MALFORMED);
    assert_int_equal(verified.kind, 43004);
    assert_int_equal(strlen(verified.id), 64);
    assert_non_null(strstr(verified.reason, "`sig`"));

    static const char *const nothing[] = {"",
                                          " ",
                                          "null",
                                          "[]",
                                          "{}",
                                          "{\"id\":\"x\",\"kind\":1.0}",
                                          "{\"id\":1,\"kind\":70000}",
                                          "not json",
                                          "{\"id\":\"\xff\"}"};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        assert_int_equal(compare(verifier, nothing[i], strlen(nothing[i])), JOBS_VERIFIED_MALFORMED);
        assert_int_equal(jobs_verifier_check(&verified, verifier, nothing[i], strlen(nothing[i])), JOBS_OK);
        assert_string_equal(verified.id, "");
        assert_int_equal(verified.kind, -1);
        assert_non_null(verified.reason);
    }
    jobs_verifier_free(verifier);
}

static void the_longest_line(void **state)
{
    (void)state;
    struct jobs_verifier *verifier = verifier_of();
    static char json[JOBS_EVENT_LINE_MAX + 2];
    strcpy(json, spellings[0].json);
    size_t len = strlen(json);
    sign(json);
    memset(json + len, ' ', sizeof json - len);
    struct jobs_verified verified;
    assert_int_equal(jobs_verifier_check(&verified, verifier, json, JOBS_EVENT_LINE_MAX), JOBS_OK);
    assert_int_equal(verified.event, JOBS_VERIFIED_VALID);
    assert_int_equal(jobs_verifier_check(&verified, verifier, json, JOBS_EVENT_LINE_MAX + 1), JOBS_OK);
    assert_int_equal(verified.event, JOBS_VERIFIED_MALFORMED);
    jobs_verifier_free(verifier);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Thousands of damaged and oddly spelled events. */
static void both_ways_agree(void **state)
{
    (void)state;
    static const char *const pieces[] = {"\\u0041", "\\n",     "\\/",    "\\u000a",    "\\u000A",  "\\u0000", "\"",
                                         "\\",      ",",       "[",      "]",          "{",        "}",       ":",
                                         "0",       "1.0",     "-",      "e",          "\xC3\xA9", "\xff",    "\\ud800",
                                         "\x01",    "\x7f",    " ",      "\"kind\":1", "[\"e\"]",  "null",    "\\\\",
                                         "\\\"",    "\\u001f", "\\u001F"};
    struct jobs_verifier *verifier = verifier_of();
    uint64_t seed = 20261130;
    print_message("seed %llu\n", (unsigned long long)seed);
    size_t counts[4] = {0};
    for (int round = 0; round < 20000; round++) {
        char json[8192];
        strcpy(json, spellings[next_random(&seed) % (sizeof spellings / sizeof spellings[0])].json);
        size_t len = strlen(json);
        for (uint64_t edits = next_random(&seed) % 3; edits > 0; edits--) {
            size_t at = next_random(&seed) % len;
            size_t cut = next_random(&seed) % 2;
            const char *piece = pieces[next_random(&seed) % (sizeof pieces / sizeof pieces[0])];
            size_t piece_len = strlen(piece);
            if (at + cut > len)
                cut = 0;
            memmove(json + at + piece_len, json + at + cut, len - at - cut + 1);
            memcpy(json + at, piece, piece_len);
            len += piece_len - cut;
        }
        /* Give it the right id, and sometimes the right signature, where it still is an event. */
        struct jobs_event *event = NULL;
        char *id = strstr(json, ZERO64);
        char *sig = strstr(json, ZERO64 ZERO64);
        if (id != NULL && sig != NULL && jobs_event_parse(&event, json, len, NULL) == JOBS_OK) {
            struct jobs_key *key = key_of(SECRET_TWO);
            if (next_random(&seed) % 8 != 0) {
                char digits[65];
                jobs__hex_write(digits, event->digest, 32);
                memcpy(id, digits, 64);
            }
            if (next_random(&seed) % 8 != 0 && jobs_event_seal(event, key, NULL) == JOBS_OK)
                memcpy(sig, event->signature, 128);
            jobs_key_free(key);
        }
        jobs_event_free(event);
        counts[compare(verifier, json, len)]++;
    }
    for (size_t i = 0; i < 4; i++)
        if (counts[i] < 500)
            fail_msg("only %zu events were %s", counts[i], jobs_verified_name((enum jobs_verified_event)i));
    jobs_verifier_free(verifier);
}

/* 256 authors are parsed once; one more costs one more; nothing is ever mixed up. */
static void keys_are_kept(void **state)
{
    (void)state;
    enum {
        AUTHORS = 300
    };
    static unsigned char authors[AUTHORS][32];
    static secp256k1_xonly_pubkey points[AUTHORS];
    static struct jobs__keys keys;
    for (int i = 0; i < AUTHORS; i++) {
        char secret[65];
        snprintf(secret, sizeof secret, "%064x", i + 1);
        struct jobs_key *key = key_of(secret);
        assert_true(jobs__hex_read(authors[i], 32, jobs_key_public(key)));
        jobs_key_free(key);
        assert_int_equal(secp256k1_xonly_pubkey_parse(secp256k1_context_static, &points[i], authors[i]), 1);
    }
    uint64_t seed = 7;
    for (int round = 0; round < 5000; round++) {
        size_t i = next_random(&seed) % 256;
        const secp256k1_xonly_pubkey *point = jobs__keys_find(&keys, authors[i]);
        assert_non_null(point);
        assert_memory_equal(point, &points[i], sizeof *point);
    }
    assert_int_equal(keys.parsed, 256);
    for (int round = 0; round < 20000; round++) {
        size_t i = next_random(&seed) % AUTHORS;
        const secp256k1_xonly_pubkey *point = jobs__keys_find(&keys, authors[i]);
        assert_memory_equal(point, &points[i], sizeof *point);
    }
    assert_true(keys.parsed > 300);
    /* 32 bytes that are no key are none every time, and take no place. */
    unsigned char none[32];
    memset(none, 0xff, sizeof none);
    assert_null(jobs__keys_find(&keys, none));
    assert_null(jobs__keys_find(&keys, none));
    assert_int_equal(keys.count, JOBS__KEYS_KEPT);
}

static void *work_through(void *context)
{
    const char *json = context;
    struct jobs_verifier *verifier = NULL;
    struct jobs_verified verified;
    if (jobs_verifier_new(&verifier) != JOBS_OK)
        return NULL;
    size_t cards_found = 0;
    for (int i = 0; i < 500; i++)
        cards_found += jobs_verifier_check(&verified, verifier, json, strlen(json)) == JOBS_OK &&
                       verified.event == JOBS_VERIFIED_VALID && verified.card == JOBS_CARD_YES;
    jobs_verifier_free(verifier);
    return cards_found == 500 ? context : NULL;
}

/* A verifier a thread, and nothing between them; ThreadSanitizer has looked at this one. */
static void one_a_thread(void **state)
{
    (void)state;
    pthread_t threads[4];
    char json[4096];
    strcpy(json, spellings[7].json);
    sign(json);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_through, json), 0);
    for (size_t i = 0; i < 4; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling),  cmocka_unit_test(what_is_not_valid), cmocka_unit_test(the_longest_line),
        cmocka_unit_test(both_ways_agree), cmocka_unit_test(keys_are_kept),     cmocka_unit_test(one_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
