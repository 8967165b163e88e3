/* reference_id.c - what people paste for an id or a public key: hex, NIP-19 words, nostr: links (NIP-21). */
#include "../core/hex.h"
#include "../core/text.h"
#include "bech32.h"

#include <jobs/key.h>

#include <openssl/crypto.h>
#include <string.h>

#define WORD_MAX    5000 /* NIP-19's advice on how long a word may be */
#define PAYLOAD_MAX (WORD_MAX * 5 / 8)
#define ID_LEN      32

enum wanted {
    WANT_EVENT,
    WANT_AUTHOR
};

static const struct {
    const char *prefix;
    enum wanted names;
    bool has_fields; /* a list of type, length, value; else the 32 bytes themselves */
} words[] = {
    {"note", WANT_EVENT, false},
    {"nevent", WANT_EVENT, true},
    {"npub", WANT_AUTHOR, false},
    {"nprofile", WANT_AUTHOR, true},
};

static const struct {
    const char *noun;
    const char *spellings;
} wants[] = {
    [WANT_EVENT] = {"an event id", "64 hex digits, note1…, nevent1… or one of the two behind nostr:"},
    [WANT_AUTHOR] = {"a public key", "64 hex digits, npub1…, nprofile1… or one of the two behind nostr:"},
};

enum field {
    FIELD_SPECIAL = 0,
    FIELD_RELAY = 1,
    FIELD_AUTHOR = 2,
    FIELD_KIND = 3
};

static void add_relay(struct jobs_reference *out, const unsigned char *value, size_t len)
{
    const char *text = (const char *)value;
    if (len == 0 || len >= sizeof out->relays[0] || !jobs__text_is_utf8(text, len) ||
        out->relay_count == sizeof out->relays / sizeof out->relays[0])
        return;
    for (size_t at = 0; at < len;) {
        uint32_t c = jobs__text_next(text, len, &at);
        if (jobs__text_is_control(c) || jobs__text_is_space(c))
            return;
    }
    memcpy(out->relays[out->relay_count], text, len);
    out->relays[out->relay_count][len] = '\0';
    out->relay_count++;
}

/* Unknown fields are passed over, as NIP-19 asks; of a repeated one the first counts. */
static bool read_fields(struct jobs_reference *out, enum wanted want, const unsigned char *bytes, size_t len)
{
    bool has_special = false;
    for (size_t at = 0; at < len;) {
        if (len - at < 2 || len - at - 2 < bytes[at + 1])
            return false;
        unsigned type = bytes[at];
        size_t value_len = bytes[at + 1];
        const unsigned char *value = bytes + at + 2;
        at += 2 + value_len;
        switch (type) {
        case FIELD_SPECIAL:
            if (value_len != ID_LEN)
                return false;
            if (!has_special)
                jobs__hex_write(out->hex, value, ID_LEN);
            has_special = true;
            break;
        case FIELD_RELAY:
            add_relay(out, value, value_len);
            break;
        case FIELD_AUTHOR:
            if (want != WANT_EVENT)
                break;
            if (value_len != ID_LEN)
                return false;
            if (!out->has_author)
                jobs__hex_write(out->author, value, ID_LEN);
            out->has_author = true;
            break;
        case FIELD_KIND:
            if (want != WANT_EVENT)
                break;
            if (value_len != 4)
                return false;
            if (!out->has_kind)
                out->kind = (uint32_t)value[0] << 24 | (uint32_t)value[1] << 16 | (uint32_t)value[2] << 8 | value[3];
            out->has_kind = true;
            break;
        default:
            break;
        }
    }
    return has_special;
}

static int refuse(enum wanted want, struct jobs_error *error)
{
    return jobs_error_set(error, JOBS_USAGE, "this is not %s: %s is wanted", wants[want].noun, wants[want].spellings);
}

static int refuse_secret(struct jobs_error *error)
{
    return jobs_error_set(error, JOBS_USAGE,
                          "this is a secret key (nsec1…): never write one on a command line; who may have seen it can "
                          "sign in its name, so make a new key");
}

static int read_word(struct jobs_reference *out, enum wanted want, const char *text, size_t len,
                     struct jobs_error *error)
{
    char prefix[JOBS__BECH32_PREFIX_MAX + 1];
    unsigned char payload[PAYLOAD_MAX];
    size_t payload_len;
    if (!jobs__bech32_decode(prefix, payload, &payload_len, sizeof payload, text, len)) {
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            size_t prefix_len = strlen(words[i].prefix);
            if (len > prefix_len && strncasecmp(text, words[i].prefix, prefix_len) == 0 && text[prefix_len] == '1')
                return jobs_error_set(error, JOBS_USAGE,
                                      "the %s1… is damaged: its checksum does not hold; copy it again",
                                      words[i].prefix);
        }
        return refuse(want, error);
    }
    int code = JOBS_OK;
    size_t w = 0;
    while (w < sizeof words / sizeof words[0] && strcmp(prefix, words[w].prefix) != 0)
        w++;
    if (w == sizeof words / sizeof words[0])
        code = refuse(want, error);
    else if (words[w].names != want)
        code = jobs_error_set(error, JOBS_USAGE, "%s1… names %s; %s is wanted: %s", words[w].prefix,
                              wants[words[w].names].noun, wants[want].noun, wants[want].spellings);
    else if (words[w].has_fields ? !read_fields(out, want, payload, payload_len) : payload_len != ID_LEN)
        code = jobs_error_set(error, JOBS_USAGE, "the %s1… does not hold what NIP-19 says it holds", words[w].prefix);
    else if (!words[w].has_fields)
        jobs__hex_write(out->hex, payload, ID_LEN);
    OPENSSL_cleanse(payload, sizeof payload); /* somebody may have pasted the wrong thing */
    return code;
}

static int read_reference(struct jobs_reference *out, enum wanted want, const char *text, struct jobs_error *error)
{
    memset(out, 0, sizeof *out);
    size_t len = strnlen(text, WORD_MAX + 1);
    if (len == 2 * ID_LEN && jobs__text_is_hex(text, len, false)) {
        unsigned char id[ID_LEN];
        if (!jobs__hex_read(id, ID_LEN, text))
            return refuse(want, error);
        jobs__hex_write(out->hex, id, ID_LEN);
        return JOBS_OK;
    }
    if (len > 6 && strncasecmp(text, "nostr:", 6) == 0) {
        text += 6;
        len -= 6;
    }
    if (strncasecmp(text, "nsec1", 5) == 0 || strncasecmp(text, "ncryptsec1", 10) == 0)
        return refuse_secret(error);
    if (len > WORD_MAX)
        return refuse(want, error);
    int code = read_word(out, want, text, len, error);
    if (code != JOBS_OK)
        memset(out, 0, sizeof *out);
    return code;
}

int jobs_reference_event(struct jobs_reference *out, const char *text, struct jobs_error *error)
{
    return read_reference(out, WANT_EVENT, text, error);
}

int jobs_reference_author(struct jobs_reference *out, const char *text, struct jobs_error *error)
{
    return read_reference(out, WANT_AUTHOR, text, error);
}
