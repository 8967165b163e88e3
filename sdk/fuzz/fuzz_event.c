/* fuzz_event.c - bytes as an event: the slow path and the bulk verifier agree, and what was read writes the same again.
 *
 * With a first byte of 1 the rest is given its right id first, so that what lies behind the hash is reached too.
 */
#include "../../core/hex.h"
#include "../event_body.h"

#include <jobs/read.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const struct jobs_event *event)
{
    struct jobs_event *again = NULL;
    size_t len;
    const char *json = jobs_event_json(event, &len);
    int code = jobs_event_parse(&again, json, len, NULL);
    if (code == JOBS_OK && (!jobs_event_same(event, again) || jobs_event_check(event) != jobs_event_check(again) ||
                            strcmp(jobs_event_json(again, NULL), json) != 0))
        abort();
    if (code == JOBS_INVALID)
        abort();
    jobs_event_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct jobs_verifier *verifier;
    if (verifier == NULL && jobs_verifier_new(&verifier) != JOBS_OK)
        return 0;
    if (size == 0)
        return 0;
    size_t len = size - 1;
    char *json = malloc(len + 1);
    if (json == NULL)
        return 0;
    memcpy(json, data + 1, len);
    struct jobs_event *event = NULL;
    int code = jobs_event_parse(&event, json, len, NULL);
    if (code == JOBS_OK && data[0] == 1) {
        char *id = memmem(json, len, event->id, 64);
        char digits[65];
        jobs__hex_write(digits, event->digest, 32);
        jobs_event_free(event);
        event = NULL;
        memcpy(id, digits, 64);
        code = jobs_event_parse(&event, json, len, NULL);
    }
    struct jobs_verified verified;
    if (jobs_verifier_check(&verified, verifier, json, len) != JOBS_OK)
        goto out;
    if ((code == JOBS_OK) != (verified.event != JOBS_VERIFIED_MALFORMED))
        abort();
    if (code == JOBS_OK) {
        enum jobs_event_check check = jobs_event_check(event);
        if ((check == JOBS_EVENT_VALID) != (verified.event == JOBS_VERIFIED_VALID) ||
            (check == JOBS_EVENT_BAD_ID) != (verified.event == JOBS_VERIFIED_BAD_ID) ||
            strcmp(event->id, verified.id) != 0 || (int32_t)event->kind != verified.kind)
            abort();
        round_trip(event);
    }
out:
    jobs_event_free(event);
    free(json);
    return 0;
}
