/* attestation.c - the owner's word for an agent's key (NIP-OA): read, proven, applied.
 *
 * One grammar serves both: parsing walks the clauses to see that they are well formed, allowing walks them to see that
 * they hold.
 */
#include "../core/hex.h"
#include "../core/json.h"
#include "../core/sha256.h"
#include "../core/text.h"
#include "signature.h"

#include <stdlib.h>
#include <string.h>

#define ATTESTATION_MAX 65536 /* bytes of the JSON */

struct jobs_attestation {
    char owner[65];
    char signature[129];
    char *conditions;
    const char *tag[4];
};

/* What a clause begins with, and how large its number may be. */
static const struct clause {
    const char *begin;
    char comparison; /* '=', '<' or '>' */
    bool of_time;    /* compares created_at, else the kind */
    int64_t max;
} clauses[] = {
    {"kind=", '=', false, 65535},
    {"created_at<", '<', true, INT64_C(4294967295)},
    {"created_at>", '>', true, INT64_C(4294967295)},
};

/* A canonical decimal of at most max, up to `end`. */
static bool read_decimal(int64_t *out, const char *text, const char *end, int64_t max)
{
    if (text == end || (*text == '0' && end - text > 1))
        return false;
    int64_t number = 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        number = number * 10 + (*text - '0');
        if (number > max)
            return false;
    }
    *out = number;
    return true;
}

/* Reads one clause; NULL when it is none. */
static const struct clause *read_clause(int64_t *number, const char *text, const char *end)
{
    for (size_t i = 0; i < sizeof clauses / sizeof clauses[0]; i++) {
        size_t len = strlen(clauses[i].begin);
        if ((size_t)(end - text) >= len && memcmp(text, clauses[i].begin, len) == 0)
            return read_decimal(number, text + len, end, clauses[i].max) ? &clauses[i] : NULL;
    }
    return NULL;
}

static bool clause_holds(const struct clause *clause, int64_t number, uint32_t kind, int64_t created_at)
{
    int64_t value = clause->of_time ? created_at : (int64_t)kind;
    return clause->comparison == '=' ? value == number : clause->comparison == '<' ? value < number : value > number;
}

enum verdict {
    MALFORMED,
    FORBIDS,
    ALLOWS
};

static enum verdict judge(const char *conditions, uint32_t kind, int64_t created_at)
{
    enum verdict verdict = ALLOWS;
    if (conditions[0] == '\0')
        return verdict;
    for (const char *text = conditions;;) {
        const char *end = strchrnul(text, '&');
        int64_t number;
        const struct clause *clause = read_clause(&number, text, end);
        if (clause == NULL)
            return MALFORMED;
        if (!clause_holds(clause, number, kind, created_at))
            verdict = FORBIDS;
        if (*end == '\0')
            return verdict;
        text = end + 1;
    }
}

static int refuse(struct jobs_error *error, const char *why)
{
    return jobs_error_set(error, JOBS_BAD_KEY, "the owner attestation %s", why);
}

/* The four strings, in their shape; what they say is not looked at. Conditions are plain ASCII, so never escaped but by
 * somebody who wants to be clever: decoded all the same, as the signature is over the decoded text. */
static int read_shape(struct jobs_attestation *attestation, const struct jobs__json *doc, struct jobs_error *error)
{
    struct jobs__buffer text = {.max = ATTESTATION_MAX};
    int code = JOBS_OK;
    if (doc->values[0].type != JOBS__JSON_ARRAY || doc->values[0].count != 4)
        return refuse(error, "must be a JSON array of four strings: \"auth\", owner, conditions, signature");
    for (uint32_t i = 1; i <= 4 && code == JOBS_OK; i++) {
        if (doc->values[i].type != JOBS__JSON_STRING) {
            code = refuse(error, "must be a JSON array of four strings: \"auth\", owner, conditions, signature");
            break;
        }
        jobs__buffer_clear(&text);
        jobs__buffer_add(&text, "", 0);
        jobs__json_string(doc, i, &text);
        if (text.failed)
            code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
        else if (strlen(text.bytes) != text.len)
            code = refuse(error, "must hold no U+0000");
        else if (i == 1 && strcmp(text.bytes, "auth") != 0)
            code = refuse(error, "must begin with \"auth\"");
        else if (i == 2 && (text.len != 64 || !jobs__text_is_hex(text.bytes, 64, true)))
            code = refuse(error, "must name its owner by 64 lower-case hex digits");
        else if (i == 4 && (text.len != 128 || !jobs__text_is_hex(text.bytes, 128, true)))
            code = refuse(error, "must end with a signature of 128 lower-case hex digits");
        else if (i == 2)
            memcpy(attestation->owner, text.bytes, 65);
        else if (i == 3 && (attestation->conditions = strdup(text.bytes)) == NULL)
            code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
        else if (i == 4)
            memcpy(attestation->signature, text.bytes, 129);
    }
    jobs__buffer_free(&text);
    return code;
}

static int prove(const struct jobs_attestation *attestation, const char *agent_public, struct jobs_error *error)
{
    struct jobs__buffer text = {.max = 2 * ATTESTATION_MAX};
    unsigned char digest[32];
    unsigned char owner[32];
    unsigned char signature[64];
    if (judge(attestation->conditions, 0, 0) == MALFORMED)
        return refuse(error,
                      "has conditions that are none: empty, or kind=N, created_at<N, created_at>N joined by &, "
                      "each N without sign, space or leading zero (a kind up to 65535, a time up to 4294967295)");
    if (strcmp(attestation->owner, agent_public) == 0)
        return refuse(error, "is signed by the agent's own key; its owner must be somebody else");
    jobs__buffer_text(&text, "nostr:agent-auth:");
    jobs__buffer_text(&text, agent_public);
    jobs__buffer_char(&text, ':');
    jobs__buffer_text(&text, attestation->conditions);
    bool written = !text.failed;
    if (written)
        jobs__sha256(digest, text.bytes, text.len);
    jobs__buffer_free(&text);
    if (!written)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    if (!jobs__hex_read(owner, sizeof owner, attestation->owner) ||
        !jobs__hex_read(signature, sizeof signature, attestation->signature) ||
        !jobs__verify(signature, digest, sizeof digest, owner))
        return refuse(error,
                      "does not verify: the owner's signature is not over this agent's key and these conditions");
    return JOBS_OK;
}

int jobs_attestation_parse(struct jobs_attestation **out, const char *json, size_t len, const char *agent_public,
                           struct jobs_error *error)
{
    *out = NULL;
    struct jobs__json doc = {0};
    struct jobs__json_fault fault;
    struct jobs_attestation *attestation = NULL;
    int code = JOBS_OK;
    if (len > ATTESTATION_MAX)
        return refuse(error, "is longer than 65536 bytes");
    code = jobs__json_parse(&doc, json, len, &fault);
    if (code == JOBS_INVALID) {
        code = jobs_error_set(error, JOBS_BAD_KEY, "the owner attestation is not JSON as it must be: byte %zu: %s",
                              fault.offset, fault.what);
        goto out;
    }
    if (code != JOBS_OK || (attestation = calloc(1, sizeof *attestation)) == NULL) {
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
        goto out;
    }
    code = read_shape(attestation, &doc, error);
    if (code == JOBS_OK)
        code = prove(attestation, agent_public, error);
    if (code != JOBS_OK)
        goto out;
    attestation->tag[0] = "auth";
    attestation->tag[1] = attestation->owner;
    attestation->tag[2] = attestation->conditions;
    attestation->tag[3] = attestation->signature;
    *out = attestation;
    attestation = NULL;
out:
    jobs_attestation_free(attestation);
    jobs__json_free(&doc);
    return code;
}

int jobs_attestation_allows(const struct jobs_attestation *attestation, uint32_t kind, int64_t created_at,
                            struct jobs_error *error)
{
    if (judge(attestation->conditions, kind, created_at) == ALLOWS)
        return JOBS_OK;
    return refuse(error, "does not allow this event: its conditions exclude the event's kind or time");
}

const char *const *jobs_attestation_tag(const struct jobs_attestation *attestation)
{
    return attestation->tag;
}

void jobs_attestation_free(struct jobs_attestation *attestation)
{
    if (attestation == NULL)
        return;
    free(attestation->conditions);
    free(attestation);
}
