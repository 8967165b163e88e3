/* jobs/publish.h - from a sealed fact to a confirmed one: handoffs and plain events to relays.
 *
 * The promise: never lost (on disk before the first byte leaves), never doubled (ask by id, resend the same bytes, sign
 * again only what is proven nowhere), never misreported (only an OK with our id, or a read-back, decides).
 *
 * OpenSSL is started by the first wss:// relay, as the program would start it, unless jobs_openssl_is_ours said more.
 */
#ifndef JOBS_PUBLISH_H
#define JOBS_PUBLISH_H

#include <jobs/event.h>

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

enum jobs_verdict {
    JOBS_ACCEPTED,
    JOBS_DUPLICATE,   /* it was there before */
    JOBS_REJECTED,    /* refused for good, and proven not to be there where that was in doubt */
    JOBS_NOT_REACHED, /* "unreachable": no event byte left */
    JOBS_UNCLEAR      /* "unknown": sent, and nothing decided it */
};
enum jobs_read_back {
    JOBS_CONFIRMED,
    JOBS_ABSENT,
    JOBS_DIFFERENT,
    JOBS_READ_REFUSED, /* "refused": refused or unanswered */
    JOBS_NOT_ASKED
};
JOBS_PUBLIC const char *jobs_verdict_name(enum jobs_verdict verdict);       /* "accepted" ... "unknown" */
JOBS_PUBLIC const char *jobs_read_back_name(enum jobs_read_back read_back); /* "confirmed" ... "not_asked" */

#define JOBS_RELAY_MESSAGE_MAX 512

struct jobs_relay_result {
    char *url; /* normalised */
    enum jobs_verdict verdict;
    enum jobs_read_back read_back;
    bool denied; /* the refusal is about this key: auth or membership */
    bool retryable;
    int retry_after;                          /* seconds the relay asked for, 0 when it did not */
    unsigned attempts;                        /* EVENT frames sent in this call */
    char message[JOBS_RELAY_MESSAGE_MAX + 1]; /* the relay's own words (or ours about it), one escaped line */
};

/* What came of it. Starts zeroed; _wipe frees. Filled in on success and on failure alike. */
struct jobs_receipt {
    bool accepted; /* the required number of relays hold it */
    bool stored;   /* it is in the outbox: the same command again, or a flush, goes on with it */
    char event_id[65];
    char message[JOBS_RELAY_MESSAGE_MAX + 1];
    struct jobs_relay_result *relays;
    size_t relay_count;
    char **warnings; /* one line each */
    size_t warning_count;
    size_t pending_count; /* other entries of the outbox that wait, counted up to 1,000 */
    int64_t pending_oldest;
    bool pending_more;
};
JOBS_PUBLIC void jobs_receipt_wipe(struct jobs_receipt *receipt);

/* Says, before the first relay, that nothing else in this program uses OpenSSL. It then starts without the texts of its
 * errors and its table of ciphers by name (TLS needs neither) and does not clean up at exit: a seventh of a handoff
 * over wss://. */
JOBS_PUBLIC void jobs_openssl_is_ours(void);

/* What a waiting person is told; at most ten times a second. Texts live only during the call. */
struct jobs_progress {
    const char *relay;
    const char
        *doing; /* "connecting", "authenticating", "asking", "sent, waiting for OK", "reading back", "retrying" */
    int64_t elapsed_ms;
};

struct jobs_client_options {
    const char *const *relays; /* ws, wss, http or https URLs as the user gave them */
    size_t relay_count;
    size_t require;        /* relays that must hold it; 0 means all */
    int connect_timeout;   /* seconds: DNS, TCP, TLS and upgrade in one */
    int timeout;           /* seconds: one relay's whole conversation, retries included */
    const char *ca_file;   /* NULL: the system's certificates */
    const char *auth_url;  /* what AUTH names instead of the URL dialled; one relay only; or NULL */
    const char *state_dir; /* of the outbox; NULL: $JOBS_STATE_DIR, $XDG_STATE_HOME/jobs, ~/.local/state/jobs */
    bool skip_read_back;   /* leaves out the ask before a first send and the read after OK true */
    const struct jobs_key *key;
    const struct jobs_attestation *attestation; /* or NULL */
    const volatile sig_atomic_t *stop;          /* non-zero ends the work with the verdict so far; or NULL */
    void (*progress)(void *context, const struct jobs_progress *progress); /* or NULL */
    void *progress_context;
};

/* ws, wss, http or https URL → the form that is dialled and compared: ws(s) scheme, lower-case host, no default port,
 * no trailing slash on an empty path; user:password and fragments refused. Malloced into *out. JOBS_OK, JOBS_USAGE. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_relay_url(char **out, const char *url, struct jobs_error *error);

/* One handoff, as the command line asks for it. */
struct jobs_handoff_order {
    const char *manifest; /* bytes */
    size_t manifest_len;
    struct jobs_given given; /* job_request required here or in the manifest */
    const char *channel;     /* NULL: from the newest entry of the outbox, else from the job check */
    bool check_job;          /* fetch the request first */
    bool notify_requester;   /* p tag for the request's author; implies check_job */
    const char *notify;      /* a public key, or NULL */
    bool supersede;          /* fill in `supersedes` with the newest handoff of ours for this job */
    bool again;              /* --new */
    bool dry_run;            /* *event is what would be signed, unsigned; nothing stored, nothing sent */
    const char *const *allowed_secrets;
    size_t allowed_secret_count;
};

/* Publish one handoff. receipt and report start zeroed and are always filled in as far as it came. *event (may be
 * passed as NULL) is the event that was published, to be freed; NULL when prune removed its bytes. Returns JOBS_OK;
 * JOBS_INVALID with the report; or any code with error. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_publish_handoff(struct jobs_receipt *receipt, struct jobs_event **event,
                                                   const struct jobs_handoff_order *order,
                                                   const struct jobs_client_options *options,
                                                   struct jobs_report *report, struct jobs_error *error);

/* Publish one sealed event that needs no outbox (a request, channel administration), with the same verdicts. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_publish_event(struct jobs_receipt *receipt, const struct jobs_event *event,
                                                 const struct jobs_client_options *options, struct jobs_error *error);

#ifdef __cplusplus
}
#endif
#endif
