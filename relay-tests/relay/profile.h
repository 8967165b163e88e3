/* profile.h - what kind of relay it is: which events it takes, in which words it refuses, what it wants first.
 *
 * A profile judges; it neither stores nor sends. `plain` answers like a strfry with its defaults, `buzz` like a Buzz
 * relay with its job kinds admitted.
 */
#ifndef RELAY_PROFILE_H
#define RELAY_PROFILE_H

#include <jobs/event.h>

struct relay;
struct peer;

struct verdict {
    bool ok;          /* the boolean of OK */
    bool store;       /* keep it (ok must be true) */
    bool notice;      /* text goes out as a NOTICE, and no OK at all */
    const char *text; /* of OK or NOTICE; static or of the relay's scratch memory */
};

struct profile {
    const char *name;
    bool auth_first;      /* challenge on connect; nothing goes before AUTH */
    bool auth_once;       /* one attempt a socket */
    int auth_seconds;     /* to AUTH after connect, then it is closed; 0: any time */
    int auth_window;      /* seconds an AUTH event's clock may be off */
    bool answers_close;   /* CLOSED after a CLOSE */
    bool checks_host;     /* 404 for a Host that is not its own */
    bool any_order;       /* OKs of events that came together go out in any order */
    bool silent_too_long; /* a longer message: dropped without a word, else close 1009 */
    size_t frame_max;
    unsigned stop_code; /* close code when the process ends */
    const char *stop_text;
    const char *bad_message; /* NOTICE for what is no message */
    const char *closed_mark; /* what CLOSED texts begin with */
    struct verdict (*judge)(struct relay *relay, struct peer *peer, const struct jobs_event *event);
    const char *(*throttle)(struct relay *relay, struct peer *peer, bool event); /* rate-limited text, or NULL */
};

extern const struct profile profile_plain;
extern const struct profile profile_buzz;
const struct profile *profile_named(const char *name); /* NULL when there is none */

#endif
