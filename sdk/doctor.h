/* doctor.h - the inside of the doctor: doctor.c runs it and looks at the outbox, doctor_talk.c is the conversation with
 * one relay, doctor_limits.c reads what a relay says of itself.
 */
#ifndef JOBS_SDK_DOCTOR_H
#define JOBS_SDK_DOCTOR_H

#include "auth.h"
#include "frame.h"
#include "publisher.h"

#include <jobs/doctor.h>

enum jobs__doctor_phase {
    JOBS__DOCTOR_DIAL,
    JOBS__DOCTOR_DIALING,
    JOBS__DOCTOR_TALK,
    JOBS__DOCTOR_INFORM,
    JOBS__DOCTOR_INFORMING,
    JOBS__DOCTOR_DONE
};

struct jobs__doctor {
    struct jobs__engine engine; /* first */
    const struct jobs_client_options *options;
    const char *channel, *job; /* or NULL */
    const char *auth_url;
    struct jobs_examination *found;
    enum jobs__doctor_phase phase;
    int64_t deadline, limit;
    bool was_open, ended;
    struct jobs__auth auth;
    struct jobs_event *auth_event;
    char auth_words[JOBS_RELAY_MESSAGE_MAX + 1];
    bool auth_cannot;
    enum jobs_check asking; /* READ, CHANNEL or JOB; KINDS: nothing more to ask */
    bool out, authed;
    unsigned questions;
    char subscription[24];
    bool job_found, kinds_seen;
    struct jobs__frame_reader reader;
    struct jobs__buffer bytes;
};

void jobs__doctor_begin(struct jobs__doctor *doctor, const char *url, int64_t now);
void jobs__doctor_end(struct jobs__doctor *doctor); /* over, however far it came; frees what it holds */

/* Words are cut and escaped. A failure notes the code, the worst of them. */
void jobs__examination_note(struct jobs_examination *found, enum jobs_check check, enum jobs_check_state state,
                            int code, const char *format, ...) __attribute__((format(printf, 5, 6)));
void jobs__examination_read(struct jobs_examination *found, const char *text, size_t len);

#endif
