/* test_events_memory.c - every allocation of keys, events, attestations, the guard and the verifier fails once: each
 * says so, leaks nothing and can be tried again. And the verifier, once warm, allocates nothing at all.
 */
#include "support.h"

#include "../../core/hex.h"
#include "../../core/sha256.h"
#include "../../core/tests/failing_memory.h"
#include "../signature.h"

#include <jobs/read.h>

static struct jobs_key *key;
static char *sealed;
static char attestation_json[1024];

#define MANIFEST                                                                                                       \
    "{\"outcome\":\"AKIAEXAMPLE123456789\",\"schemaVersion\":1,\"disposition\":\"no_artifact\",\"jobRequest\":"        \
    "\"" PUBLIC_ONE                                                                                                    \
    "\",\"requestedOutcome\":\"e.e.e eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.AA\",\"x\":{\"y\":[\"z\"]}}"

static int make_and_seal(void)
{
    const char *const t[] = {"t", "a \"value\""};
    const struct jobs_tag tags[] = {{t, 2}, {t, 1}};
    struct jobs_event *event = NULL;
    int code = jobs_event_new(&event, 1, 1700000000, tags, 2, "text", 4, NULL);
    if (code == JOBS_OK) {
        code = jobs_event_seal(event, key, NULL);
        assert_true((jobs_event_id(event)[0] != '\0') == (code == JOBS_OK));
    }
    jobs_event_free(event);
    return code;
}

static int parse_event(void)
{
    struct jobs_event *event = NULL;
    int code = jobs_event_parse(&event, sealed, strlen(sealed), NULL);
    assert_true((event != NULL) == (code == JOBS_OK));
    if (code == JOBS_OK)
        assert_int_equal(jobs_event_check(event), JOBS_EVENT_VALID);
    jobs_event_free(event);
    return code;
}

static int parse_attestation(void)
{
    struct jobs_attestation *attestation = NULL;
    int code = jobs_attestation_parse(&attestation, attestation_json, strlen(attestation_json), PUBLIC_TWO, NULL);
    jobs_attestation_free(attestation);
    return code;
}

static int guard_a_handoff(void)
{
    struct jobs_report report = {0};
    struct jobs_handoff *handoff = NULL;
    const struct jobs_secret_options options = {.key = key};
    struct jobs_event *event = NULL;
    const struct jobs_envelope envelope = {.channel = CHANNEL};
    int code = jobs_handoff_parse(&handoff, MANIFEST, sizeof MANIFEST - 1, NULL, &report);
    if (code == JOBS_OK)
        code = jobs_secrets_check_handoff(handoff, &options, &report);
    if (code == JOBS_INVALID) {
        assert_int_equal(report.count, 2);
        code = jobs_event_from_handoff(&event, handoff, &envelope, 1, NULL);
    }
    jobs_event_free(event);
    jobs_handoff_free(handoff);
    jobs_report_wipe(&report);
    return code;
}

static int verify(void)
{
    struct jobs_verifier *verifier = NULL;
    struct jobs_verified verified;
    int code = jobs_verifier_new(&verifier);
    if (code == JOBS_OK)
        code = jobs_verifier_check(&verified, verifier, sealed, strlen(sealed));
    if (code == JOBS_OK) {
        assert_int_equal(verified.event, JOBS_VERIFIED_VALID);
        assert_int_equal(verified.card, JOBS_CARD_YES);
    }
    jobs_verifier_free(verifier);
    return code;
}

static void sweep(int (*work)(void))
{
    assert_int_equal(work(), JOBS_OK); /* what libraries make once is made */
    size_t swept = 0;
    for (;;) {
        long before = memory.pieces;
        watch_memory(swept + 1);
        int code = work();
        bool reached = unwatch_memory();
        assert_int_equal(memory.pieces, before);
        if (!reached) {
            assert_int_equal(code, JOBS_OK);
            break;
        }
        assert_int_equal(code, JOBS_NO_MEMORY);
        swept++;
    }
    assert_true(swept >= 3);
    assert_int_equal(work(), JOBS_OK);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    sweep(make_and_seal);
    sweep(parse_event);
    sweep(parse_attestation);
    sweep(guard_a_handoff);
    sweep(verify);
}

static void a_warm_verifier_allocates_nothing(void **state)
{
    (void)state;
    struct jobs_verifier *verifier = NULL;
    struct jobs_verified verified;
    static const char broken[] = "{\"id\":\"x\",\"tags\":[],\"tags\":1}";
    assert_int_equal(jobs_verifier_new(&verifier), JOBS_OK);
    assert_int_equal(jobs_verifier_check(&verified, verifier, sealed, strlen(sealed)), JOBS_OK);
    watch_memory(0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(jobs_verifier_check(&verified, verifier, sealed, strlen(sealed)), JOBS_OK);
        assert_int_equal(jobs_verifier_check(&verified, verifier, broken, sizeof broken - 1), JOBS_OK);
    }
    unwatch_memory();
    assert_int_equal(memory.allocations, 0);
    jobs_verifier_free(verifier);
}

static int prepare(void **state)
{
    (void)state;
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    struct jobs_event *event = NULL;
    const struct jobs_envelope envelope = {.channel = CHANNEL};
    key = key_of(SECRET_TWO);
    assert_int_equal(jobs_handoff_parse(&handoff, MANIFEST, sizeof MANIFEST - 1, NULL, &report), JOBS_OK);
    assert_int_equal(jobs_event_from_handoff(&event, handoff, &envelope, 1700000000, NULL), JOBS_OK);
    assert_int_equal(jobs_event_seal(event, key, NULL), JOBS_OK);
    sealed = strdup(jobs_event_json(event, NULL));
    jobs_event_free(event);
    jobs_handoff_free(handoff);

    struct jobs_key *owner = key_of(SECRET_ONE);
    unsigned char digest[32];
    unsigned char signature[64];
    char hex[129];
    static const char attested[] = "nostr:agent-auth:" PUBLIC_TWO ":kind=43004";
    jobs__sha256(digest, attested, sizeof attested - 1);
    assert_int_equal(jobs__sign(signature, owner, digest, sizeof digest), JOBS_OK);
    jobs__hex_write(hex, signature, sizeof signature);
    snprintf(attestation_json, sizeof attestation_json, "[\"auth\",\"%s\",\"kind=43004\",\"%s\"]",
             jobs_key_public(owner), hex);
    jobs_key_free(owner);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    jobs_key_free(key);
    free(sealed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(a_warm_verifier_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, prepare, clean_up);
}
