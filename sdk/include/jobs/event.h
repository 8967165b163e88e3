/* jobs/event.h - Nostr events (NIP-01): templates, sealed ones, and those that came from elsewhere.
 *
 * An event is a template until it is sealed; sealing sets the public key, then the id, then the signature, and verifies
 * it. A parsed event has the right shape; whether its id and signature hold is asked with jobs_event_check. All strings
 * are NUL-terminated UTF-8 and live as long as the event; hex is lower case. A U+0000, which only others write, stands
 * in the content's bytes, and shows as U+FFFD in a tag's strings, so that none looks shorter than it is.
 */
#ifndef JOBS_EVENT_H
#define JOBS_EVENT_H

#include <jobs/handoff.h>
#include <jobs/key.h>

#ifdef __cplusplus
extern "C" {
#endif

struct jobs_event;

struct jobs_tag {
    const char *const *values; /* at least one */
    size_t count;
};

/* A template. tags are copied; content is content_len bytes. Returns JOBS_OK, JOBS_NO_MEMORY, or JOBS_INVALID for what
 * a publisher may not write: C0 (but \t \n \r) or DEL in content or tags, invalid UTF-8, a tag without a string, a kind
 * above 65535, a time below 0 or above 2^53-1, more than 1 MiB of text. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_event_new(struct jobs_event **out, uint32_t kind, int64_t created_at,
                                             const struct jobs_tag *tags, size_t tag_count, const char *content,
                                             size_t content_len, struct jobs_error *error);

/* What a handoff's event carries beside the payload; see docs/protocol/handoff.md, "Event". */
struct jobs_envelope {
    const char *channel;                        /* lower-case hyphenated UUID; required */
    const char *thread_root;                    /* 64 lower-case hex, or NULL */
    const char *notify;                         /* public key, or NULL */
    const struct jobs_attestation *attestation; /* or NULL; its conditions must allow this event */
};

/* A template of kind 43004. Returns JOBS_OK, JOBS_USAGE (channel), JOBS_INVALID (the handoff lacks its requested
 * outcome), JOBS_BAD_KEY (the attestation does not allow it) or JOBS_NO_MEMORY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_event_from_handoff(struct jobs_event **out, const struct jobs_handoff *handoff,
                                                      const struct jobs_envelope *envelope, int64_t created_at,
                                                      struct jobs_error *error);

/* BIP-340 with fresh auxiliary randomness, verified before it returns. Returns JOBS_OK, JOBS_SYSTEM or JOBS_NO_MEMORY;
 * on failure it is a template still. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_event_seal(struct jobs_event *event, const struct jobs_key *key,
                                              struct jobs_error *error);

/* One event object, whatever whitespace and order, unknown members ignored, duplicates refused. Returns JOBS_OK,
 * JOBS_INVALID or JOBS_NO_MEMORY. Accepts what a publisher may not write. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_event_parse(struct jobs_event **out, const char *json, size_t len,
                                               struct jobs_error *error);

enum jobs_event_check {
    JOBS_EVENT_VALID,
    JOBS_EVENT_BAD_ID,
    JOBS_EVENT_BAD_SIGNATURE
};
JOBS_PUBLIC enum jobs_event_check jobs_event_check(const struct jobs_event *event);

JOBS_PUBLIC void jobs_event_free(struct jobs_event *event);

JOBS_PUBLIC const char *jobs_event_id(const struct jobs_event *event);     /* hex; "" of a template */
JOBS_PUBLIC const char *jobs_event_author(const struct jobs_event *event); /* hex; "" of a template */
JOBS_PUBLIC uint32_t jobs_event_kind(const struct jobs_event *event);
JOBS_PUBLIC int64_t jobs_event_created_at(const struct jobs_event *event);
JOBS_PUBLIC const char *jobs_event_content(const struct jobs_event *event, size_t *len);
JOBS_PUBLIC size_t jobs_event_tag_count(const struct jobs_event *event);
JOBS_PUBLIC struct jobs_tag jobs_event_tag(const struct jobs_event *event, size_t i);

/* The event as compact JSON, members in NIP-01's order, escapes of NIP-01; of a template without id, pubkey and sig. */
JOBS_PUBLIC const char *jobs_event_json(const struct jobs_event *event, size_t *len);

/* The value of the first tag whose name is `name`; NULL when there is none. */
JOBS_PUBLIC const char *jobs_event_tag_value(const struct jobs_event *event, const char *name);
/* The value of the one `e` tag marked "reply"; NULL when there is none or more than one. */
JOBS_PUBLIC const char *jobs_event_reply(const struct jobs_event *event);
/* The one `h` tag's value; NULL when there is none or more than one. */
JOBS_PUBLIC const char *jobs_event_channel(const struct jobs_event *event);

/* Whether two events are the same bytes where it counts: id, author, time, kind, tags, content. */
JOBS_PUBLIC bool jobs_event_same(const struct jobs_event *a, const struct jobs_event *b);

JOBS_PUBLIC bool jobs_channel_is_valid(const char *channel); /* a lower-case hyphenated UUID */

/* The secrets guard: searches every text and member name of a handoff (or one text) for credentials. */
struct jobs_secret_options {
    const struct jobs_key *key; /* our own key, which nothing lets through; may be NULL */
    const char *const *allowed; /* JSON Pointers that a person let through */
    size_t allowed_count;
};
/* Every finding becomes a violation (rule "H9xx", pointer, kind of the finding; never its value). Returns JOBS_OK when
 * clean, else JOBS_INVALID or JOBS_NO_MEMORY. Reads the environment's variables whose name has SECRET, TOKEN, PASSWORD
 * or KEY as a whole `_` word. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_secrets_check_handoff(const struct jobs_handoff *handoff,
                                                         const struct jobs_secret_options *options,
                                                         struct jobs_report *report);
JOBS_PUBLIC JOBS_MUST_USE int jobs_secrets_check_text(const char *pointer, const char *text, size_t len,
                                                      const struct jobs_secret_options *options,
                                                      struct jobs_report *report);

/* Where in the text a credential stands: the span to hide. False when there is none. */
JOBS_PUBLIC bool jobs_secrets_find(const char *text, size_t len, const struct jobs_secret_options *options,
                                   size_t *start, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
