/* doctor_talk.c - one relay looked at: dial, AUTH when asked for, questions, and its document (NIP-11). An engine like
 * a session, but every step is tried once and written down, and no EVENT is ever sent.
 */
#include "doctor.h"

#include "../core/text.h"
#include "answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define QUESTION_MS 5000
#define DOCUMENT_MS 5000
#define EXPIRY_SOON (14 * 86400) /* s */
#define SKEW_NAMED  30           /* s; AUTH allows 60 on some relays */
#define NO_MORE     JOBS_CHECK_KINDS

static struct jobs__doctor *of(struct jobs__engine *engine)
{
    return (struct jobs__doctor *)engine;
}

#define note_ok(d, check, ...)      jobs__examination_note((d)->found, check, JOBS_CHECK_OK, JOBS_OK, __VA_ARGS__)
#define note_warning(d, check, ...) jobs__examination_note((d)->found, check, JOBS_CHECK_WARNING, JOBS_OK, __VA_ARGS__)
#define note_failure(d, check, code, ...)                                                                              \
    jobs__examination_note((d)->found, check, JOBS_CHECK_FAILED, code, __VA_ARGS__)

/* --- the line --- */

static void note_clock(struct jobs__doctor *d, bool has_date, int64_t skew)
{
    struct jobs_examination *found = d->found;
    if (!has_date)
        return;
    found->has_skew = true;
    found->skew = skew;
    if (skew <= SKEW_NAMED && skew >= -SKEW_NAMED)
        note_ok(d, JOBS_CHECK_CLOCK, "%" PRId64 " s apart", skew < 0 ? -skew : skew);
    else
        note_warning(d, JOBS_CHECK_CLOCK,
                     "this machine's clock is %" PRId64 " s %s the relay's: AUTH and events may be refused",
                     skew < 0 ? -skew : skew, skew < 0 ? "behind" : "ahead of");
}

static void note_tls(struct jobs__doctor *d, const struct jobs__opened *opened)
{
    struct jobs_examination *found = d->found;
    int64_t left = opened->tls_expires - (int64_t)time(NULL);
    jobs__text_one_line(found->tls_issuer, sizeof found->tls_issuer - 1, opened->tls_issuer,
                        strlen(opened->tls_issuer));
    snprintf(found->tls_protocol, sizeof found->tls_protocol, "%s", opened->tls_protocol);
    found->tls_expires = opened->tls_expires;
    const char *soon = left < EXPIRY_SOON ? ": it expires soon" : "";
    jobs__examination_note(found, JOBS_CHECK_TLS, left < EXPIRY_SOON ? JOBS_CHECK_WARNING : JOBS_CHECK_OK, 0,
                           "%s, a certificate by %s for %" PRId64 " more days%s", found->tls_protocol,
                           found->tls_issuer, left / 86400, soon);
}

static void opened(struct jobs__engine *engine, int64_t now, const struct jobs__opened *opened)
{
    struct jobs__doctor *d = of(engine);
    (void)now;
    if (d->phase != JOBS__DOCTOR_DIALING)
        return;
    d->was_open = true;
    note_ok(d, JOBS_CHECK_NAME, "%s", opened->address);
    note_ok(d, JOBS_CHECK_REACH, "connected");
    if (opened->tls_protocol != NULL)
        note_tls(d, opened);
    note_ok(d, JOBS_CHECK_UPGRADE, "it speaks WebSocket");
    note_clock(d, opened->has_date, opened->skew);
    d->phase = JOBS__DOCTOR_TALK;
}

/* How far a dial came that failed. */
static enum jobs_check failed_at(const struct jobs__closed *closed)
{
    switch (closed->reached) {
    case JOBS__REACHED_NOTHING:
        return JOBS_CHECK_NAME;
    case JOBS__REACHED_ADDRESS:
        return JOBS_CHECK_REACH;
    case JOBS__REACHED_HOST:
        return JOBS_CHECK_TLS;
    case JOBS__REACHED_SERVER:
    default:
        return JOBS_CHECK_UPGRADE;
    }
}

static void dial_failed(struct jobs__doctor *d, const struct jobs__closed *closed)
{
    enum jobs_check at = failed_at(closed);
    bool denied = closed->ending == JOBS__END_HTTP && jobs__answer_http(closed->status) == JOBS__HTTP_DENIED;
    if (at > JOBS_CHECK_NAME)
        note_ok(d, JOBS_CHECK_NAME, "found");
    if (at > JOBS_CHECK_REACH)
        note_ok(d, JOBS_CHECK_REACH, "connected");
    if (at > JOBS_CHECK_TLS && strncmp(d->found->url, "wss:", 4) == 0)
        note_ok(d, JOBS_CHECK_TLS, "it proves to be the host");
    note_failure(d, at, denied ? JOBS_DENIED : JOBS_UNREACHABLE, "%s%.*s",
                 closed->ending == JOBS__END_HTTP ? "refused with " : "", (int)closed->len,
                 closed->len > 0 ? closed->text : "");
    note_clock(d, closed->has_date, closed->skew);
    /* what answers with HTTP may have something to say for itself */
    d->phase = closed->ending == JOBS__END_HTTP ? JOBS__DOCTOR_INFORM : JOBS__DOCTOR_DONE;
}

/* --- the questions --- */

static void ask_next(struct jobs__doctor *d)
{
    d->out = false;
    do {
        d->asking = (enum jobs_check)(d->asking + 1);
    } while ((d->asking == JOBS_CHECK_CHANNEL && d->channel == NULL) ||
             (d->asking == JOBS_CHECK_JOB && d->job == NULL));
}

static void write_question(struct jobs__doctor *d)
{
    struct jobs__buffer *out = &d->bytes;
    d->out = true;
    d->authed = d->auth.state == JOBS__AUTH_GOOD;
    snprintf(d->subscription, sizeof d->subscription, "jobs-doctor-%u", ++d->questions);
    jobs__buffer_format(out, "[\"REQ\",\"%s\",", d->subscription);
    if (d->asking == JOBS_CHECK_JOB)
        jobs__buffer_format(out, "{\"ids\":[\"%s\"],\"limit\":1}]", d->job);
    else if (d->asking == JOBS_CHECK_CHANNEL)
        jobs__buffer_format(out, "{\"kinds\":[%d,%d],\"#h\":[\"%s\"],\"limit\":1}]", JOBS_KIND_REQUEST,
                            JOBS_KIND_RESULT, d->channel);
    else if (d->options->key != NULL) /* as before a handoff: what is ours, some relays allow nothing wider */
        jobs__buffer_format(out, "{\"kinds\":[%d],\"authors\":[\"%s\"],\"limit\":1}]", JOBS_KIND_RESULT,
                            jobs_key_public(d->options->key));
    else
        jobs__buffer_format(out, "{\"kinds\":[%d],\"limit\":1}]", JOBS_KIND_RESULT);
}

static void answered(struct jobs__doctor *d)
{
    if (d->asking == JOBS_CHECK_JOB && !d->job_found)
        note_failure(d, JOBS_CHECK_JOB, JOBS_NOT_FOUND, "it does not have this event");
    else if (d->asking == JOBS_CHECK_CHANNEL)
        note_ok(d, JOBS_CHECK_CHANNEL, "it answers for this channel");
    else if (d->asking == JOBS_CHECK_READ)
        note_ok(d, JOBS_CHECK_READ, "it answers");
    ask_next(d);
}

static void not_answered(struct jobs__doctor *d, const char *words)
{
    if (d->asking == JOBS_CHECK_JOB)
        note_failure(d, d->asking, JOBS_UNREACHABLE, "%s", words);
    else /* a handoff goes out all the same, only unconfirmed */
        note_warning(d, d->asking, "%s: a handoff could not be confirmed", words);
    ask_next(d);
}

static void denied(struct jobs__doctor *d, enum jobs_check check, const char *words)
{
    note_failure(d, check, JOBS_DENIED, "%s", words);
    d->out = false;
    if (check == JOBS_CHECK_AUTH)
        d->asking = NO_MORE;
    else
        ask_next(d);
}

static void on_request(struct jobs__doctor *d, const struct jobs_event *event)
{
    const char *channel = jobs_event_channel(event);
    d->job_found = true;
    if (jobs_event_kind(event) != JOBS_KIND_REQUEST)
        note_failure(d, JOBS_CHECK_JOB, JOBS_USAGE, "it is no job request (43001), but of kind %u",
                     (unsigned)jobs_event_kind(event));
    else if (d->channel != NULL && (channel == NULL || strcmp(channel, d->channel) != 0))
        note_failure(d, JOBS_CHECK_JOB, JOBS_USAGE, "the request belongs to another channel");
    else
        note_ok(d, JOBS_CHECK_JOB, "it has the request");
}

static void on_event(struct jobs__doctor *d, const struct jobs__frame *frame)
{
    struct jobs_event *event = NULL;
    if (!d->out || strcmp(frame->subscription, d->subscription) != 0 || (d->kinds_seen && d->job_found) ||
        jobs_event_parse(&event, frame->event, frame->event_len, NULL) != JOBS_OK)
        return;
    if (jobs_event_check(event) == JOBS_EVENT_VALID) {
        uint32_t kind = jobs_event_kind(event);
        d->kinds_seen = d->kinds_seen || kind == JOBS_KIND_REQUEST || kind == JOBS_KIND_RESULT;
        if (d->asking == JOBS_CHECK_JOB && strcmp(jobs_event_id(event), d->job) == 0)
            on_request(d, event);
    }
    jobs_event_free(event);
}

static void on_closed(struct jobs__doctor *d, int64_t now, const struct jobs__frame *frame)
{
    char words[JOBS_RELAY_MESSAGE_MAX + 1];
    if (!d->out || strcmp(frame->subscription, d->subscription) != 0)
        return;
    jobs__text_one_line(words, JOBS_RELAY_MESSAGE_MAX, frame->text, frame->text_len);
    switch (jobs__answer_refusal(frame->text, frame->text_len)) {
    case JOBS__ANSWER_AUTH:
        d->found->auth_asked = true;
        if (d->authed || d->auth_cannot)
            denied(d, d->authed ? d->asking : JOBS_CHECK_AUTH, words);
        else if (d->auth.state == JOBS__AUTH_GOOD || jobs__auth_demand(&d->auth, now))
            d->out = false; /* again after it */
        else
            denied(d, JOBS_CHECK_AUTH, d->auth_words[0] != '\0' ? d->auth_words : words);
        break;
    case JOBS__ANSWER_DENIED:
    case JOBS__ANSWER_KIND:
        denied(d, d->asking, words);
        break;
    default:
        not_answered(d, words[0] != '\0' ? words : "refused without a reason");
        break;
    }
}

static void on_ok(struct jobs__doctor *d, const struct jobs__frame *frame)
{
    if (d->auth.state != JOBS__AUTH_OUT || (frame->id_is == JOBS__ID_EVENT && strcmp(frame->id, d->auth.id) != 0))
        return;
    jobs__auth_answered(&d->auth, frame->accepted);
    d->found->auth_accepted = frame->accepted;
    if (frame->accepted) {
        if (d->found->checks[JOBS_CHECK_AUTH].state == JOBS_CHECK_FAILED) { /* refused before a newer challenge: anew */
            d->found->code = JOBS_OK;
            d->asking = JOBS_CHECK_READ;
        }
        note_ok(d, JOBS_CHECK_AUTH, "it takes our key");
        return;
    }
    jobs__text_one_line(d->auth_words, JOBS_RELAY_MESSAGE_MAX, frame->text, frame->text_len);
    const char *words = d->auth_words[0] != '\0' ? d->auth_words : "refused without a reason";
    if (d->auth.demanded)
        denied(d, JOBS_CHECK_AUTH, words);
    else /* it challenges everybody, and may do without: a handoff would try, and so do the questions */
        note_warning(d, JOBS_CHECK_AUTH, "it does not take our key, nor has it demanded one: %s", words);
}

static void frame(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct jobs__doctor *d = of(engine);
    struct jobs__frame frame;
    if (d->phase != JOBS__DOCTOR_TALK)
        return;
    jobs__frame_read(&frame, &d->reader, text, len);
    if (frame.type == JOBS__FRAME_AUTH) {
        d->found->auth_asked = true;
        (void)jobs__auth_challenge(&d->auth, frame.text, frame.text_len);
    } else if (frame.type == JOBS__FRAME_OK) {
        on_ok(d, &frame);
    } else if (frame.type == JOBS__FRAME_CLOSED) {
        on_closed(d, now, &frame);
    } else if (frame.type == JOBS__FRAME_EVENT) {
        on_event(d, &frame);
    } else if (frame.type == JOBS__FRAME_EOSE && d->out && strcmp(frame.subscription, d->subscription) == 0) {
        answered(d);
    }
}

static void closed(struct jobs__engine *engine, int64_t now, const struct jobs__closed *closed)
{
    struct jobs__doctor *d = of(engine);
    (void)now;
    if (d->phase == JOBS__DOCTOR_DIALING) {
        dial_failed(d, closed);
    } else if (d->phase == JOBS__DOCTOR_TALK) {
        enum jobs_check at = d->auth.state == JOBS__AUTH_OUT || d->asking == NO_MORE ? JOBS_CHECK_AUTH : d->asking;
        if (d->asking != NO_MORE)
            note_failure(d, at, JOBS_UNREACHABLE, "it ended the connection: %.*s", (int)closed->len,
                         closed->len > 0 ? closed->text : "");
        d->phase = JOBS__DOCTOR_INFORM;
    }
}

static void explained(struct jobs__engine *engine, int64_t now, const char *text, size_t len)
{
    struct jobs__doctor *d = of(engine);
    (void)now;
    if (d->phase != JOBS__DOCTOR_INFORMING)
        return;
    jobs__examination_read(d->found, text, len);
    d->phase = JOBS__DOCTOR_DONE;
}

/* --- what is wanted next --- */

static struct jobs__step step_of(enum jobs__want want, int64_t at)
{
    return (struct jobs__step){.want = want, .at = at};
}

static struct jobs__step send(const struct jobs__doctor *d, int64_t at)
{
    return (struct jobs__step){.want = JOBS__WANT_SEND, .bytes = d->bytes.bytes, .len = d->bytes.len, .at = at};
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool sign(struct jobs__doctor *d, int64_t now)
{
    size_t len;
    jobs_event_free(d->auth_event);
    d->auth_event = NULL;
    if (d->options->key == NULL || jobs__sign_auth(&d->auth_event, d->options, d->auth_url, d->auth.challenge)) {
        d->auth_cannot = true;
        d->auth.fresh = false;
        d->auth.state = JOBS__AUTH_REFUSED;
        return false;
    }
    const char *json = jobs_event_json(d->auth_event, &len);
    jobs__buffer_text(&d->bytes, "[\"AUTH\",");
    jobs__buffer_add(&d->bytes, json, len);
    jobs__buffer_text(&d->bytes, "]");
    jobs__auth_sent(&d->auth, now, jobs_event_id(d->auth_event));
    return true;
}

static void auth_expired(struct jobs__doctor *d, bool was_sent)
{
    if (d->auth.demanded)
        denied(d, JOBS_CHECK_AUTH, was_sent ? "AUTH was not answered" : "it demands AUTH, but sends no challenge");
    else
        note_warning(d, JOBS_CHECK_AUTH, "AUTH was not answered");
}

static struct jobs__step talk(struct jobs__doctor *d, int64_t now)
{
    bool was_sent = d->auth.state == JOBS__AUTH_OUT;
    if (jobs__auth_expire(&d->auth, now))
        auth_expired(d, was_sent);
    /* also when all questions are answered: a challenge may have come behind the first of them */
    if (jobs__auth_due(&d->auth) && sign(d, now))
        return send(d, d->deadline);
    if (jobs__auth_pending(&d->auth))
        return step_of(JOBS__WANT_WAIT, least(d->deadline, jobs__auth_deadline(&d->auth)));
    if (d->out && now >= d->limit)
        not_answered(d, "it does not answer");
    if (d->out)
        return step_of(JOBS__WANT_WAIT, least(d->deadline, d->limit));
    if (d->asking != NO_MORE) {
        write_question(d);
        d->limit = now + QUESTION_MS;
        return send(d, least(d->deadline, d->limit));
    }
    d->phase = JOBS__DOCTOR_INFORM;
    return step_of(JOBS__WANT_HANG_UP, d->deadline);
}

static struct jobs__step next(struct jobs__engine *engine, int64_t now)
{
    struct jobs__doctor *d = of(engine);
    static const char wanted[] = "application/nostr+json";
    jobs__buffer_clear(&d->bytes);
    if (now >= d->deadline)
        jobs__doctor_end(d);
    switch (d->phase) {
    case JOBS__DOCTOR_DIAL:
        d->phase = JOBS__DOCTOR_DIALING;
        d->limit = least(d->deadline, now + jobs__connect_timeout_ms(d->options));
        return step_of(JOBS__WANT_DIAL, d->limit);
    case JOBS__DOCTOR_DIALING:
        return step_of(JOBS__WANT_WAIT, d->deadline);
    case JOBS__DOCTOR_TALK:
        return talk(d, now);
    case JOBS__DOCTOR_INFORM:
        d->phase = JOBS__DOCTOR_INFORMING;
        d->limit = least(d->deadline, now + DOCUMENT_MS);
        return (struct jobs__step){
            .want = JOBS__WANT_EXPLAIN, .bytes = wanted, .len = sizeof wanted - 1, .at = d->limit};
    case JOBS__DOCTOR_INFORMING:
        if (now < d->limit)
            return step_of(JOBS__WANT_WAIT, d->limit);
        d->phase = JOBS__DOCTOR_DONE;
        break;
    case JOBS__DOCTOR_DONE:
        break;
    }
    return step_of(JOBS__WANT_DONE, now);
}

static const char *doing(const struct jobs__engine *engine)
{
    const struct jobs__doctor *d = (const struct jobs__doctor *)engine;
    return d->phase <= JOBS__DOCTOR_DIALING ? "connecting"
           : jobs__auth_pending(&d->auth)   ? "authenticating"
           : d->phase == JOBS__DOCTOR_TALK  ? "asking"
                                            : "reading what it says of itself";
}

/* --- its life --- */

static const struct jobs__engine_ops ops = {
    .opened = opened, .frame = frame, .closed = closed, .explained = explained, .next = next, .doing = doing};

void jobs__doctor_begin(struct jobs__doctor *d, const char *url, int64_t now)
{
    d->engine.ops = &ops;
    d->phase = JOBS__DOCTOR_DIAL;
    d->asking = JOBS_CHECK_READ;
    d->deadline = now + jobs__timeout_ms(d->options);
    d->bytes.max = (size_t)1 << 20;
    if (d->auth_url == NULL)
        d->auth_url = url;
}

/* What was under way has not come to an end; what never began is skipped. */
static void give_up(struct jobs__doctor *d)
{
    static const char late[] = "no answer in time";
    if (d->phase == JOBS__DOCTOR_DIALING)
        note_failure(d, JOBS_CHECK_REACH, JOBS_UNREACHABLE, "%s", late);
    else if (d->phase == JOBS__DOCTOR_TALK && d->auth.state == JOBS__AUTH_OUT)
        note_failure(d, JOBS_CHECK_AUTH, JOBS_UNREACHABLE, "AUTH was not answered in time");
    else if (d->phase == JOBS__DOCTOR_TALK && d->asking != NO_MORE)
        note_failure(d, d->asking, JOBS_UNREACHABLE, "%s", late);
}

void jobs__doctor_end(struct jobs__doctor *d)
{
    struct jobs_examination *found = d->found;
    if (!d->ended)
        give_up(d);
    if (!d->ended && d->options->key == NULL)
        note_failure(d, JOBS_CHECK_AUTH, JOBS_BAD_KEY, "there is no key here: a handoff could not even be signed");
    else if (!d->ended && d->was_open && found->checks[JOBS_CHECK_AUTH].state == JOBS_CHECK_SKIPPED)
        note_ok(d, JOBS_CHECK_AUTH,
                found->auth_asked ? "it asks for it, and answers without" : "it does not ask for it");
    struct jobs_check_result *kinds = &found->checks[JOBS_CHECK_KINDS];
    if (!d->ended && d->kinds_seen && kinds->state != JOBS_CHECK_FAILED)
        note_ok(d, JOBS_CHECK_KINDS, "it holds job events");
    else if (!d->ended && d->was_open && kinds->state == JOBS_CHECK_SKIPPED)
        jobs__examination_note(found, JOBS_CHECK_KINDS, JOBS_CHECK_SKIPPED, 0,
                               "nothing shows whether it admits job kinds: the first handoff will");
    d->ended = true;
    d->phase = JOBS__DOCTOR_DONE;
    jobs_event_free(d->auth_event);
    d->auth_event = NULL;
    jobs__frame_reader_free(&d->reader);
    jobs__buffer_free(&d->bytes);
}
