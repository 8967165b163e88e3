/* jobs/doctor.h - would a handoff get through? Every relay is looked at step by step, and so is the outbox; nothing is
 * published and nothing is written.
 */
#ifndef JOBS_DOCTOR_H
#define JOBS_DOCTOR_H

#include <jobs/publish.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One row a check, in the order they are made: what hangs on one that failed is skipped. */
#define JOBS_CHECKS(X)                                                                                                 \
    X(JOBS_CHECK_NAME, "name")       /* the host has an address */                                                     \
    X(JOBS_CHECK_REACH, "reach")     /* something accepts connections there */                                         \
    X(JOBS_CHECK_TLS, "tls")         /* it proves to be the host; skipped for ws:// */                                 \
    X(JOBS_CHECK_UPGRADE, "upgrade") /* it speaks WebSocket */                                                         \
    X(JOBS_CHECK_CLOCK, "clock")     /* ours and its Date header agree */                                              \
    X(JOBS_CHECK_AUTH, "auth")       /* it takes our key, where it asks for one */                                     \
    X(JOBS_CHECK_READ, "read")       /* it answers a question about handoffs */                                        \
    X(JOBS_CHECK_CHANNEL, "channel") /* and about this channel */                                                      \
    X(JOBS_CHECK_JOB, "job")         /* it has the job request */                                                      \
    X(JOBS_CHECK_KINDS, "kinds")     /* it holds job events, or says that it does not keep them */                     \
    X(JOBS_CHECK_LIMITS, "limits")   /* what it says (NIP-11) of sizes, proof of work, payment */

enum jobs_check {
#define X(check, name) check,
    JOBS_CHECKS(X)
#undef X
    JOBS_CHECK_COUNT
};
JOBS_PUBLIC const char *jobs_check_name(enum jobs_check check); /* "name" ... */

enum jobs_check_state {
    JOBS_CHECK_SKIPPED,
    JOBS_CHECK_OK,
    JOBS_CHECK_WARNING, /* it may work, or work worse */
    JOBS_CHECK_FAILED
};
JOBS_PUBLIC const char *jobs_check_state_name(enum jobs_check_state state); /* "skipped" "ok" "warning" "failed" */

struct jobs_check_result {
    enum jobs_check_state state;
    char message[JOBS_RELAY_MESSAGE_MAX + 1]; /* one line */
};

#define JOBS_NIPS_MAX 128

struct jobs_examination {
    char *url; /* normalised */
    int code;  /* JOBS_OK, or what a handoff to it would end with */
    struct jobs_check_result checks[JOBS_CHECK_COUNT];
    bool has_skew;
    int64_t skew; /* seconds that our clock is ahead of its */
    bool auth_asked, auth_accepted;
    char tls_protocol[16], tls_issuer[256]; /* "" without TLS */
    int64_t tls_expires;                    /* unix */
    /* NIP-11, as far as it says something; "" and 0 otherwise. Foreign words, each one line. */
    bool informed;
    char name[129], software[129], version[65];
    int nips[JOBS_NIPS_MAX];
    size_t nip_count;
    int64_t max_message_length;
};

struct jobs_outbox_health {
    char *path;
    bool usable;
    uint64_t free_bytes;
    char message[JOBS_RELAY_MESSAGE_MAX + 1];
    size_t pending_count; /* up to 1,000 */
    int64_t pending_oldest;
    bool pending_more;
};

struct jobs_diagnosis {
    struct jobs_examination *relays;
    size_t relay_count;
    struct jobs_outbox_health outbox;
};
JOBS_PUBLIC void jobs_diagnosis_wipe(struct jobs_diagnosis *diagnosis);

/* channel and job (64 lower-case hex) may be NULL. The diagnosis starts zeroed. Returns JOBS_OK when a handoff would
 * get through to every relay, else the code of the worst finding with error. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_diagnose(struct jobs_diagnosis *diagnosis, const char *channel, const char *job,
                                            const struct jobs_client_options *options, struct jobs_error *error);

#ifdef __cplusplus
}
#endif
#endif
