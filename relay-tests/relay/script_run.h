/* script_run.h - the insides of a running script, for script_run.c (what is done) and script_text.c (what is said). */
#ifndef RELAY_SCRIPT_RUN_H
#define RELAY_SCRIPT_RUN_H

#include "peer.h"
#include "script.h"

/* A rule at work; it owns what it answers, since it may go on later. */
struct moment {
    struct moment *next;
    const struct rule *rule;
    size_t at; /* next action */
    enum heard heard;
    uint64_t peer; /* serial */
    int64_t due;
    struct jobs_event *event;
    struct subscription *wanted;
};

struct run {
    const struct script *script;
    size_t heard[HEARD_COUNT];
    struct moment *later;
    struct jobs_key *stranger; /* signs what nobody asked for */
};

/* The event this moment is about, else the newest 43004 in the store; NULL when there is none. The caller frees it. */
struct jobs_event *script_subject(const struct relay *relay, const struct moment *moment);
/* Appends the event's JSON with other content: the id and the signature do not hold. */
void script_add_forged(struct jobs__buffer *out, const struct jobs_event *event);
/* An action's text with its placeholders filled in; *out is new, and never without bytes. */
void script_expand(struct jobs__buffer *out, struct relay *relay, const struct moment *moment, const char *text,
                   size_t len);

#endif
