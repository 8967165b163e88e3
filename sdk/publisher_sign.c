/* publisher_sign.c - the events a publisher makes beside the handoff itself: AUTH (NIP-42), and the same handoff once
 * more with a new time. No socket, no disk.
 */
#include "publisher.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define KIND_AUTH 22242

int jobs__sign_auth(struct jobs_event **out, const struct jobs_client_options *options, const char *url,
                    const char *challenge)
{
    struct jobs_event *event = NULL;
    const char *const relay[] = {"relay", url};
    const char *const echoed[] = {"challenge", challenge};
    struct jobs_tag tags[3] = {{relay, 2}, {echoed, 2}};
    size_t count = 2;
    *out = NULL;
    if (options->attestation != NULL)
        tags[count++] = (struct jobs_tag){jobs_attestation_tag(options->attestation), 4};
    int code = jobs_event_new(&event, KIND_AUTH, jobs__outbox_now(), tags, count, "", 0, NULL);
    if (!code)
        code = jobs_event_seal(event, options->key, NULL);
    if (code) {
        jobs_event_free(event);
        return code;
    }
    *out = event;
    return JOBS_OK;
}

int jobs__signer_sign(void *context, const char *url, const char *challenge, const char **json, size_t *len,
                      char id[65])
{
    struct jobs__signer *signer = context;
    jobs_event_free(signer->last);
    int code = jobs__sign_auth(&signer->last, signer->options, url, challenge);
    if (code)
        return code;
    *json = jobs_event_json(signer->last, len);
    memcpy(id, jobs_event_id(signer->last), 65);
    return JOBS_OK;
}

/* Whether the attestation that an event carries allows one of another time. */
static int old_attestation_allows(const struct jobs_tag *tag, const char *agent, int64_t now, struct jobs_error *error)
{
    struct jobs_attestation *attestation = NULL;
    json_t *array = json_array();
    int code = array == NULL ? JOBS_NO_MEMORY : JOBS_OK;
    for (size_t i = 0; !code && i < tag->count; i++)
        code = json_array_append_new(array, json_string(tag->values[i])) == 0 ? JOBS_OK : JOBS_NO_MEMORY;
    char *text = code ? NULL : json_dumps(array, JSON_COMPACT);
    if (!code && text == NULL)
        code = JOBS_NO_MEMORY;
    if (!code)
        code = jobs_attestation_parse(&attestation, text, strlen(text), agent, error);
    if (!code)
        code = jobs_attestation_allows(attestation, JOBS_KIND_RESULT, now, error);
    jobs_attestation_free(attestation);
    free(text);
    json_decref(array);
    return code;
}

int jobs__sign_again(struct jobs_event **out, const struct jobs_event *old, const struct jobs_client_options *options,
                     int64_t now, struct jobs_error *error)
{
    struct jobs_event *event = NULL;
    size_t content_len, count = 0, all = jobs_event_tag_count(old);
    const char *content = jobs_event_content(old, &content_len);
    struct jobs_tag *tags = calloc(all + 1, sizeof *tags);
    int code = tags == NULL ? JOBS_NO_MEMORY : JOBS_OK;
    *out = NULL;
    if (!code && options->attestation != NULL)
        code = jobs_attestation_allows(options->attestation, JOBS_KIND_RESULT, now, error);
    for (size_t i = 0; !code && i < all; i++) {
        struct jobs_tag tag = jobs_event_tag(old, i);
        if (strcmp(tag.values[0], "auth") == 0) {
            if (options->attestation != NULL)
                continue; /* today's goes in instead */
            code = old_attestation_allows(&tag, jobs_event_author(old), now, error);
        }
        tags[count++] = tag;
    }
    if (!code && options->attestation != NULL)
        tags[count++] = (struct jobs_tag){jobs_attestation_tag(options->attestation), 4};
    if (!code)
        code = jobs_event_new(&event, JOBS_KIND_RESULT, now, tags, count, content, content_len, error);
    if (!code)
        code = jobs_event_seal(event, options->key, error);
    if (code) {
        jobs_event_free(event);
        event = NULL;
    }
    *out = event;
    free(tags);
    return code;
}
