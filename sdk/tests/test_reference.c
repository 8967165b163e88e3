/* test_reference.c - References: what people paste for ids and public keys (NIP-19, NIP-21), good and bad. */
#include "support.h"

#include "../../core/hex.h"
#include "../bech32.h"

#include <stdio.h>

/* Of NIP-19's own text. */
#define HEX  "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d"
#define NPUB "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"
#define PROFILE                                                                                                        \
    "nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz4mhxue69uhkg6nzv9ejuum" \
    "pv34kytnrdaksjlyr9p"
#define NSEC "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"

static void bech32_of(char *out, const char *prefix, const char *hex)
{
    unsigned char bytes[600];
    size_t len = strlen(hex) / 2;
    assert_true(jobs__hex_read(bytes, len, hex));
    jobs__bech32_encode(out, prefix, bytes, len);
}

static void events(void **state)
{
    (void)state;
    static const char id[] = "B9F5441E45CA39179320E0031CFB18E34078673DCC3D3E3A3B3A981760AA5696";
    static const char lower[] = "b9f5441e45ca39179320e0031cfb18e34078673dcc3d3e3a3b3a981760aa5696";
    char note[128];
    char text[256];
    bech32_of(note, "note", lower);
    static const char *const before[] = {"", "nostr:", "NOSTR:"};
    struct jobs_reference reference;
    struct jobs_error error;
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%s%s", before[i], note);
        assert_int_equal(jobs_reference_event(&reference, text, &error), JOBS_OK);
        assert_string_equal(reference.hex, lower);
        assert_false(reference.has_author || reference.has_kind);
        assert_int_equal(reference.relay_count, 0);
    }
    assert_int_equal(jobs_reference_event(&reference, id, &error), JOBS_OK);
    assert_string_equal(reference.hex, lower);
    for (char *c = note; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c;
    assert_int_equal(jobs_reference_event(&reference, note, &error), JOBS_OK);
}

/* special, two relays, author, kind, a field of tomorrow, a second special that does not count */
static void an_event_with_everything(void **state)
{
    (void)state;
    char text[2048];
    struct jobs_reference reference;
    struct jobs_error error;
    bech32_of(text, "nevent",
              "0020" HEX "010c"
              "7773733a2f2f612e6578616d"
              "0105"
              "7773733a2f"
              "0220" PUBLIC_ONE "03040000a7fc"
              "0902abcd"
              "0020" PUBLIC_TWO);
    assert_int_equal(jobs_reference_event(&reference, text, &error), JOBS_OK);
    assert_string_equal(reference.hex, HEX);
    assert_true(reference.has_author);
    assert_string_equal(reference.author, PUBLIC_ONE);
    assert_true(reference.has_kind);
    assert_int_equal(reference.kind, 43004);
    assert_int_equal(reference.relay_count, 2);
    assert_string_equal(reference.relays[0], "wss://a.exam");
    assert_string_equal(reference.relays[1], "wss:/");
}

static void relay_hints_are_bounded(void **state)
{
    (void)state;
    char hex[8192] = "0020" HEX;
    char text[8192];
    struct jobs_reference reference;
    struct jobs_error error;
    for (int i = 0; i < 12; i++)
        strcat(hex, "01017"
                    "7");
    strcat(hex, "0100"); /* an empty one, one with a line feed, one that is no UTF-8 */
    strcat(hex, "0102770a");
    strcat(hex, "0101ff");
    bech32_of(text, "nevent", hex);
    assert_int_equal(jobs_reference_event(&reference, text, &error), JOBS_OK);
    assert_int_equal(reference.relay_count, 8);
    strcpy(hex, "0020" HEX "01ff"); /* 255 bytes are the most a field can say: they fit */
    for (int i = 0; i < 255; i++)
        strcat(hex, "61");
    strcat(hex, "0102770a0101ff010120");
    bech32_of(text, "nevent", hex);
    assert_int_equal(jobs_reference_event(&reference, text, &error), JOBS_OK);
    assert_int_equal(reference.relay_count, 1);
    assert_int_equal(strlen(reference.relays[0]), 255);
}

static void authors(void **state)
{
    (void)state;
    struct jobs_reference reference;
    struct jobs_error error;
    static const char *const good[] = {HEX,
                                       NPUB,
                                       "nostr:" NPUB,
                                       PROFILE,
                                       "nostr:" PROFILE,
                                       "3BF0C63FCB93463407AF97A5E5EE64FA883D107EF9E558472C4EB9AAAEFA459D"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(jobs_reference_author(&reference, good[i], &error), JOBS_OK);
        assert_string_equal(reference.hex, HEX);
    }
    assert_int_equal(jobs_reference_author(&reference, PROFILE, &error), JOBS_OK);
    assert_int_equal(reference.relay_count, 2);
    assert_string_equal(reference.relays[0], "wss://r.x.com");
    assert_string_equal(reference.relays[1], "wss://djbas.sadkb.com");
}

static void refusals(void **state)
{
    (void)state;
    char note[128];
    char short_note[128];
    char no_special[128];
    char cut_field[256];
    char long_special[256];
    char bad_author[256];
    char bad_kind[256];
    bech32_of(note, "note", HEX);
    bech32_of(short_note, "note", "3bf0c63f");
    bech32_of(no_special, "nevent", "03040000a7fc");
    bech32_of(cut_field, "nevent", "0020" HEX "0105aabb");
    bech32_of(long_special, "nevent", "0021" HEX "00");
    bech32_of(bad_author, "nevent", "0020" HEX "0201aa");
    bech32_of(bad_kind, "nevent", "0020" HEX "0303aabbcc");
    char spoilt[128];
    strcpy(spoilt, note);
    spoilt[20] = spoilt[20] == 'q' ? 'p' : 'q';
    const struct {
        bool author;
        const char *text;
        const char *says;
    } bad[] = {
        {false, "", "not an event id"},
        {false, "nostr:", "not an event id"},
        {false, "nostr:" HEX, "not an event id"},
        {false, " " HEX, "not an event id"},
        {false, HEX "0", "not an event id"},
        {false, "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459g", "not an event id"},
        {false, spoilt, "checksum"},
        {false, short_note, "NIP-19"},
        {false, no_special, "NIP-19"},
        {false, cut_field, "NIP-19"},
        {false, long_special, "NIP-19"},
        {false, bad_author, "NIP-19"},
        {false, bad_kind, "NIP-19"},
        {false, NPUB, "names a public key"},
        {true, note, "names an event id"},
        {false, NSEC, "secret key"},
        {true, NSEC, "secret key"},
        {true, "nostr:" NSEC, "secret key"},
        {true, "NSEC1whatever", "secret key"},
        {true, "nostr:nostr:" NPUB, "not a public key"},
        {true, "somebody@example.org", "not a public key"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct jobs_reference reference;
        struct jobs_error error = {0};
        int code = bad[i].author ? jobs_reference_author(&reference, bad[i].text, &error)
                                 : jobs_reference_event(&reference, bad[i].text, &error);
        if (code != JOBS_USAGE || strstr(error.message, bad[i].says) == NULL)
            fail_msg("case %zu: code %d, says: %s", i, code, error.message);
        assert_null(strstr(error.message, "vl029mgpspedva"));
        assert_string_equal(reference.hex, "");
    }
    static char endless[200000];
    memset(endless, 'q', sizeof endless - 1);
    memcpy(endless, "note1", 5);
    struct jobs_reference reference;
    assert_int_equal(jobs_reference_event(&reference, endless, NULL), JOBS_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events),
        cmocka_unit_test(an_event_with_everything),
        cmocka_unit_test(relay_hints_are_bounded),
        cmocka_unit_test(authors),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
