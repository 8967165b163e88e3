/* event_handoff.c - the one event a handoff becomes: its tags, in the contract's order, around the canonical payload.
 */
#include "../core/text.h"

#include <jobs/event.h>

#include <string.h>

int jobs_event_from_handoff(struct jobs_event **out, const struct jobs_handoff *handoff,
                            const struct jobs_envelope *envelope, int64_t created_at, struct jobs_error *error)
{
    *out = NULL;
    if (envelope->channel == NULL || !jobs_channel_is_valid(envelope->channel))
        return jobs_error_set(error, JOBS_USAGE, "the channel must be a UUID in lower case, with hyphens");
    if (jobs_handoff_requested_outcome(handoff) == NULL || jobs_handoff_job_request(handoff) == NULL)
        return jobs_error_set(error, JOBS_INVALID, "the handoff does not say yet what was asked for, and by which job");
    if (envelope->thread_root != NULL &&
        (strlen(envelope->thread_root) != 64 || !jobs__text_is_hex(envelope->thread_root, 64, true)))
        return jobs_error_set(error, JOBS_USAGE, "the thread's root must be 64 lower-case hex digits");
    if (envelope->notify != NULL && (strlen(envelope->notify) != 64 || !jobs__text_is_hex(envelope->notify, 64, true)))
        return jobs_error_set(error, JOBS_USAGE, "the public key to notify must be 64 lower-case hex digits");
    if (envelope->attestation != NULL) {
        int code = jobs_attestation_allows(envelope->attestation, JOBS_KIND_RESULT, created_at, error);
        if (code != JOBS_OK)
            return code;
    }
    const char *const channel[] = {"h", envelope->channel};
    const char *const reply[] = {"e", jobs_handoff_job_request(handoff), "", "reply"};
    const char *const schema[] = {"schema", "buzz.job-result", "1"};
    const char *const disposition[] = {"disposition", jobs_disposition_name(jobs_handoff_disposition(handoff))};
    const char *const root[] = {"e", envelope->thread_root, "", "root"};
    const char *const notify[] = {"p", envelope->notify};
    struct jobs_tag tags[7] = {{channel, 2}, {reply, 4}, {schema, 3}, {disposition, 2}};
    size_t count = 4;
    if (envelope->thread_root != NULL)
        tags[count++] = (struct jobs_tag){root, 4};
    if (envelope->notify != NULL)
        tags[count++] = (struct jobs_tag){notify, 2};
    if (envelope->attestation != NULL)
        tags[count++] = (struct jobs_tag){jobs_attestation_tag(envelope->attestation), 4};
    size_t content_len;
    const char *content = jobs_handoff_canonical(handoff, &content_len);
    return jobs_event_new(out, JOBS_KIND_RESULT, created_at, tags, count, content, content_len, error);
}
