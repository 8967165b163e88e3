/* jobs/error.h - how every function of this project says what went wrong.
 *
 * Functions return 0 (JOBS_OK) or one of the codes below. Those that take a struct jobs_error fill it on failure;
 * it lives on the caller's stack and owns nothing. Those that take a struct jobs_report list every broken rule.
 * No text in here ever holds a value of the input (it may be a secret), and none needs escaping: foreign text,
 * such as a relay's words, has been escaped to one printable line before it was stored.
 */
#ifndef JOBS_ERROR_H
#define JOBS_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define JOBS_PUBLIC   __attribute__((visibility("default")))
#define JOBS_MUST_USE __attribute__((warn_unused_result))
#else
#define JOBS_PUBLIC
#define JOBS_MUST_USE
#endif

/* One row a code: the code, the category printed in "error", the exit status of `jobs`, whether trying the very same
 * again usually helps, and the sentence a person reads. Codes exist only where a caller acts differently. */
#define JOBS_CODES(X)                                                                                                  \
    X(JOBS_OK, "", 0, false, "done")                                                                                   \
    X(JOBS_USAGE, "user_error", 1, false, "the command line or the environment asks for what cannot be done")          \
    X(JOBS_INVALID, "user_error", 1, false, "the input breaks the contract")                                           \
    X(JOBS_NOT_FOUND, "not_found", 1, false, "no such event")                                                          \
    X(JOBS_UNKNOWN, "delivery_unknown", 2, true, "sent, but no relay said whether it was kept")                        \
    X(JOBS_UNREACHABLE, "network_error", 2, true, "no relay answered")                                                 \
    X(JOBS_REFUSED, "relay_error", 2, false, "the relay refused it")                                                   \
    X(JOBS_DENIED, "auth_error", 3, false, "the relay does not let this key in")                                       \
    X(JOBS_BAD_KEY, "key_error", 3, false, "there is no usable key or owner attestation")                              \
    X(JOBS_NO_MEMORY, "error", 4, true, "out of memory")                                                               \
    X(JOBS_SYSTEM, "error", 4, false, "the system refused an operation")                                               \
    X(JOBS_BUSY, "error", 4, true, "another process holds this job's folder")                                          \
    X(JOBS_CONFLICT, "conflict", 5, false, "a different handoff for this job is already there")

enum jobs_code {
#define X(code, category, exit_status, retryable, sentence) code,
    JOBS_CODES(X)
#undef X
};

/* Static strings and numbers of the table above. */
JOBS_PUBLIC const char *jobs_code_category(int code);
JOBS_PUBLIC const char *jobs_code_sentence(int code);
JOBS_PUBLIC int jobs_code_exit(int code);

struct jobs_error {
    enum jobs_code code;
    bool retryable;     /* of this occurrence; starts as the table's word for the code */
    int retry_after;    /* seconds the relay asked for, 0 when it did not */
    char message[1024]; /* one line, UTF-8: what, where, what would be right */
    char hint[256];     /* one line: what to do next; may be empty */
};

/* Sets code, the table's retryable and a printf-formatted message (cut at the field's size, never within a character);
 * clears the rest. Returns code, so that `return jobs_error_set(...)` reads well. error may be NULL. */
JOBS_PUBLIC int jobs_error_set(struct jobs_error *error, int code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* One broken rule. */
struct jobs_violation {
    const char *rule; /* "H301": static, a number of docs/protocol */
    char *pointer;    /* JSON Pointer (RFC 6901) into the input; "" is the whole document */
    char *message;    /* one sentence saying what would be right */
    size_t line;      /* 1-based line of the input, 0 when it has none */
};

/* All of them, in document order. Starts zeroed ({ 0 }); _wipe frees what it holds and zeroes it again. */
struct jobs_report {
    struct jobs_violation *violations;
    size_t count;
    size_t capacity;
};

JOBS_PUBLIC void jobs_report_wipe(struct jobs_report *report);

/* Copies pointer and the formatted message. Returns JOBS_OK or JOBS_NO_MEMORY. */
JOBS_PUBLIC int jobs_report_add(struct jobs_report *report, const char *rule, const char *pointer, size_t line,
                                const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
