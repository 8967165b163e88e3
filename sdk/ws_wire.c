/* ws_wire.c - what is done to one connection once it is there: frames and pings out, its end. ws.c decides when.
 *
 * A frame is written whole, from a copy (libwebsockets masks in place), and only when the one before has left.
 */
#include "ws_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PONG_MS     20000 /* to answer a ping in */
#define KEEP_MEMORY ((size_t)256 * 1024)

void jobs__wire_empty(struct jobs__buffer *buffer)
{
    if (buffer->capacity > KEEP_MEMORY)
        jobs__buffer_free(buffer);
    else
        jobs__buffer_clear(buffer);
}

/* --- ending a connection --- */

void jobs__wire_drop(struct jobs__wire *wire, bool politely)
{
    struct lws *lws = wire->lws;
    wire->lws = NULL;
    if (lws != NULL) {
        lws_set_opaque_user_data(lws, NULL);
        if (politely && wire->stage == JOBS__STAGE_OPEN) {
            /* the close frame leaves with the next turn; nobody waits for its echo */
            lws_close_reason(lws, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
            lws_set_timeout(lws, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
        } else {
            lws_set_timeout(lws, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
        }
    }
    jobs__lookup_free(wire->lookup);
    wire->lookup = NULL;
    wire->stage = JOBS__STAGE_IDLE;
    wire->explaining = false;
    wire->dial_by = wire->attempt_by = wire->ping_at = wire->pong_by = wire->closing_by = 0;
    wire->ping_owed = false;
    jobs__wire_empty(&wire->out);
}

void jobs__wire_end(struct jobs__wire *wire, enum jobs__ending ending, const char *format, ...)
{
    static const enum jobs__reached reached[] = {
        [JOBS__STAGE_IDLE] = JOBS__REACHED_NOTHING,       [JOBS__STAGE_RESOLVING] = JOBS__REACHED_NOTHING,
        [JOBS__STAGE_CONNECTING] = JOBS__REACHED_ADDRESS, [JOBS__STAGE_TUNNEL] = JOBS__REACHED_ADDRESS,
        [JOBS__STAGE_TLS] = JOBS__REACHED_HOST,           [JOBS__STAGE_ANSWER] = JOBS__REACHED_SERVER,
        [JOBS__STAGE_OPEN] = JOBS__REACHED_SERVER,        [JOBS__STAGE_CLOSING] = JOBS__REACHED_SERVER,
    };
    bool explaining = wire->explaining;
    enum jobs__stage stage = wire->stage;
    jobs__wire_drop(wire, false);
    if (explaining) {
        wire->explained = true; /* with what there is of a body */
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wire->text, sizeof(wire->text), format, arguments);
    va_end(arguments);
    wire->closed = (struct jobs__closed){
        .ending = ending, .reached = reached[stage], .text = wire->text, .len = strlen(wire->text)};
    wire->ended = true;
}

/* --- sending --- */

bool jobs__wire_is_blocked(const struct jobs__wire *wire)
{
    return wire->stage == JOBS__STAGE_OPEN && (wire->out.len > 0 || lws_partial_buffered(wire->lws));
}

/* Writes the ping that is owed and the frame that waits, if the last one has left. */
void jobs__wire_flush(struct jobs__wire *wire)
{
    if (wire->stage != JOBS__STAGE_OPEN)
        return;
    int result = 0;
    if (wire->ping_owed && !lws_partial_buffered(wire->lws)) {
        unsigned char ping[LWS_PRE] = {0};
        wire->ping_owed = false;
        result = lws_write(wire->lws, ping + LWS_PRE, 0, LWS_WRITE_PING);
    }
    if (result >= 0 && wire->out.len > 0 && !lws_partial_buffered(wire->lws)) {
        result =
            lws_write(wire->lws, (unsigned char *)wire->out.bytes + LWS_PRE, wire->out.len - LWS_PRE, LWS_WRITE_TEXT);
        jobs__wire_empty(&wire->out);
    }
    if (result < 0)
        jobs__wire_end(wire, JOBS__END_BROKEN, "the connection was lost while sending");
    else if (jobs__wire_is_blocked(wire))
        lws_callback_on_writable(wire->lws);
}

void jobs__wire_send(struct jobs__wire *wire, const struct jobs__step *step)
{
    static const char room[LWS_PRE];
    if (wire->stage != JOBS__STAGE_OPEN)
        return; /* its engine is about to be told why */
    if (wire->out.len > 0) {
        jobs__wire_end(wire, JOBS__END_BROKEN, "the relay does not read what it is sent");
        return;
    }
    jobs__buffer_add(&wire->out, room, sizeof(room));
    jobs__buffer_add(&wire->out, step->bytes, step->len);
    if (wire->out.failed)
        jobs__wire_end(wire, JOBS__END_BROKEN, "no memory for a frame of this size");
    else
        jobs__wire_flush(wire);
}

/* --- staying alive --- */

void jobs__wire_keep_alive(struct jobs__wire *wire, int64_t now)
{
    if (wire->stage != JOBS__STAGE_OPEN)
        return;
    if (wire->pong_by != 0 && now >= wire->pong_by) {
        jobs__wire_end(wire, JOBS__END_BROKEN, "the relay did not answer a ping within %d s", PONG_MS / 1000);
    } else if (wire->pong_by == 0 && now >= wire->ping_at) {
        wire->pong_by = now + PONG_MS;
        wire->ping_owed = true;
    }
}
