/* verify.c - very many events, one after the other: shape, id, signature, and whether a handoff is a card.
 *
 * Says the same as jobs_event_parse, jobs_event_check and jobs_handoff_read, which are its oracle in a differential
 * test and fuzz target, but copies nothing it need not copy and allocates nothing once its memory has grown to the
 * largest event. It reads no file and prints nothing.
 */
#include "verify.h"
#include "../core/card.h"
#include "../core/hex.h"
#include "../core/sha256.h"
#include "verify_keys.h"
#include "verify_preimage.h"

#include <secp256k1_schnorrsig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct jobs_verifier {
    struct jobs__keys keys;
    struct jobs__json doc;
    struct jobs__buffer preimage;
    struct jobs__buffer content; /* decoded */
    struct jobs__card_scratch card;
    struct jobs_error error; /* holds the reason's text */
};

const char *jobs_verified_name(enum jobs_verified_event event)
{
    static const char *const names[] = {"valid", "malformed", "bad_id", "bad_signature"};
    return names[event];
}

int jobs_verifier_new(struct jobs_verifier **out)
{
    *out = NULL;
    struct jobs_verifier *verifier = calloc(1, sizeof *verifier);
    if (verifier == NULL)
        return JOBS_NO_MEMORY;
    verifier->preimage.max = verifier->content.max = JOBS__EVENT_TEXT_MAX;
    *out = verifier;
    return JOBS_OK;
}

void jobs_verifier_free(struct jobs_verifier *verifier)
{
    if (verifier == NULL)
        return;
    jobs__json_free(&verifier->doc);
    jobs__buffer_free(&verifier->preimage);
    jobs__buffer_free(&verifier->content);
    jobs__card_free(&verifier->card);
    free(verifier);
}

/* What a malformed event still says of itself, so that its line can be found again. */
static void show_what_is_there(struct jobs_verified *out, const struct jobs__json *doc,
                               const struct jobs__event_shape *shape)
{
    if (shape->good[JOBS__EVENT_ID]) {
        memcpy(out->id, doc->text + doc->values[shape->members[JOBS__EVENT_ID]].start + 1, 64);
        out->id[64] = '\0';
    }
    if (shape->good[JOBS__EVENT_KIND])
        out->kind = (int32_t)shape->kind;
}

static int malformed(struct jobs_verified *out, const char *reason)
{
    out->event = JOBS_VERIFIED_MALFORMED;
    out->reason = reason;
    return JOBS_OK;
}

static bool check_id(struct jobs_verifier *verifier, unsigned char digest[32], const char *id)
{
    unsigned char claimed[32];
    jobs__sha256(digest, verifier->preimage.bytes, verifier->preimage.len);
    return jobs__hex_read(claimed, sizeof claimed, id) && memcmp(claimed, digest, sizeof claimed) == 0;
}

static bool check_signature(struct jobs_verifier *verifier, const struct jobs__event_shape *shape,
                            const unsigned char digest[32])
{
    const struct jobs__json *doc = &verifier->doc;
    unsigned char author[32];
    unsigned char signature[64];
    if (!jobs__hex_read(author, sizeof author, doc->text + doc->values[shape->members[JOBS__EVENT_AUTHOR]].start + 1) ||
        !jobs__hex_read(signature, sizeof signature,
                        doc->text + doc->values[shape->members[JOBS__EVENT_SIGNATURE]].start + 1))
        return false;
    const secp256k1_xonly_pubkey *point = jobs__keys_find(&verifier->keys, author);
    return point != NULL && secp256k1_schnorrsig_verify(secp256k1_context_static, signature, digest, 32, point);
}

/* The place of the value of the one `e` tag marked reply; 0 when there is not exactly one. */
static uint32_t find_reply(const struct jobs__event_shape *shape, const struct jobs__json *doc)
{
    uint32_t found = 0;
    uint32_t tags = shape->members[JOBS__EVENT_TAGS];
    uint32_t tag = tags + 1;
    for (uint32_t t = 0; t < doc->values[tags].count; t++, tag = doc->values[tag].after) {
        if (doc->values[tag].count < 4 || !jobs__json_equals(doc, tag + 1, "e", 1) ||
            !jobs__json_equals(doc, tag + 4, "reply", 5))
            continue;
        if (found != 0)
            return 0;
        found = tag + 2;
    }
    return found;
}

static int check_card(struct jobs_verified *out, struct jobs_verifier *verifier, const struct jobs__event_shape *shape)
{
    char reply[65] = ""; /* stays so when the value cannot be an id at all */
    struct jobs__card_reason reason;
    struct jobs__buffer *text = &verifier->preimage; /* has been hashed */
    uint32_t reply_at = find_reply(shape, &verifier->doc);
    jobs__buffer_clear(text);
    if (reply_at != 0)
        jobs__json_string(&verifier->doc, reply_at, text);
    if (text->failed)
        return JOBS_NO_MEMORY;
    if (text->len == 64 && memchr(text->bytes, '\0', 64) == NULL)
        memcpy(reply, text->bytes, 65);
    int code = jobs__card_check(&verifier->card, verifier->content.bytes, verifier->content.len,
                                reply_at != 0 ? reply : NULL, &reason);
    if (code == JOBS_NO_MEMORY)
        return code;
    out->card = code == JOBS_OK ? JOBS_CARD_YES : JOBS_CARD_NO;
    if (code != JOBS_OK) {
        out->rule = reason.rule;
        out->reason = reason.sentence;
    }
    return JOBS_OK;
}

/* Shape and id. When both hold the verdict is valid, and shape and digest are for what is still to be checked. */
static int check_to_id(struct jobs_verified *out, struct jobs__event_shape *shape, unsigned char digest[32],
                       struct jobs_verifier *verifier, const char *json, size_t len)
{
    struct jobs__json_fault fault;
    *out = (struct jobs_verified){.kind = -1, .card = JOBS_CARD_UNKNOWN};
    if (len > JOBS_EVENT_LINE_MAX)
        return malformed(out, "an event must be at most 1048576 bytes");
    int code = jobs__json_parse(&verifier->doc, json, len, &fault);
    if (code == JOBS_NO_MEMORY)
        return code;
    if (code != JOBS_OK) {
        jobs_error_set(&verifier->error, code, "byte %zu: %s", fault.offset, fault.what);
        return malformed(out, verifier->error.message);
    }
    code = jobs__event_shape(shape, &verifier->doc, 0, &verifier->error);
    show_what_is_there(out, &verifier->doc, shape);
    if (code != JOBS_OK)
        return malformed(out, verifier->error.message);
    jobs__buffer_clear(&verifier->preimage);
    jobs__preimage_of_shape(&verifier->preimage, &verifier->content, shape, &verifier->doc);
    if (verifier->preimage.failed || verifier->content.failed)
        return JOBS_NO_MEMORY;
    out->event = JOBS_VERIFIED_VALID;
    if (!check_id(verifier, digest, out->id)) {
        out->event = JOBS_VERIFIED_BAD_ID;
        out->reason = "the id is not the hash of the event's fields";
    }
    return JOBS_OK;
}

int jobs__verifier_check_id(struct jobs_verified *out, struct jobs_verifier *verifier, const char *json, size_t len)
{
    struct jobs__event_shape shape;
    unsigned char digest[32];
    return check_to_id(out, &shape, digest, verifier, json, len);
}

int jobs_verifier_check(struct jobs_verified *out, struct jobs_verifier *verifier, const char *json, size_t len)
{
    struct jobs__event_shape shape;
    unsigned char digest[32];
    int code = check_to_id(out, &shape, digest, verifier, json, len);
    if (code != JOBS_OK || out->event != JOBS_VERIFIED_VALID)
        return code;
    if (!check_signature(verifier, &shape, digest)) {
        out->event = JOBS_VERIFIED_BAD_SIGNATURE;
        out->reason = "the signature does not hold for this author and this id";
        return code;
    }
    return shape.kind == JOBS_KIND_RESULT ? check_card(out, verifier, &shape) : code;
}
