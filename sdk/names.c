/* names.c - the words that scripts rely on, one table each. */
#include <jobs/outbox.h>

const char *jobs_verdict_name(enum jobs_verdict verdict)
{
    static const char *const names[] = {"accepted", "duplicate", "rejected", "unreachable", "unknown"};
    return names[verdict];
}

const char *jobs_read_back_name(enum jobs_read_back read_back)
{
    static const char *const names[] = {"confirmed", "absent", "different", "refused", "not_asked"};
    return names[read_back];
}

const char *jobs_entry_state_name(enum jobs_entry_state state)
{
    static const char *const names[] = {"pending", "sent", "rejected", "damaged"};
    return names[state];
}
