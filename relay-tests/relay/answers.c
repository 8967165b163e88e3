/* answers.c - what a peer is told: a queue that the transport empties.
 *
 * Stored events are queued as numbers, so a slow reader of a large answer costs four bytes an event. Whatever is said
 * of an event waits until the store has synced it.
 */
#include "../../core/hex.h"
#include "need.h"
#include "peer.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void quote(struct jobs__buffer *out, const char *text, size_t len)
{
    static const char short_form[] = "\b\f\n\r\t\"\\";
    static const char letter[] = "bfnrt\"\\";
    jobs__buffer_char(out, '"');
    size_t from = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        jobs__buffer_add(out, text + from, i - from);
        from = i + 1;
        const char *found = c == 0 ? NULL : strchr(short_form, c);
        if (found != NULL) {
            jobs__buffer_char(out, '\\');
            jobs__buffer_char(out, letter[found - short_form]);
        } else
            jobs__buffer_format(out, "\\u%04x", c);
    }
    jobs__buffer_add(out, text + from, len - from);
    jobs__buffer_char(out, '"');
}

void peer_set_reading(struct peer *peer)
{
    bool paused = peer->deaf || peer->queued_bytes > QUEUE_PAUSE_BYTES || peer->queued_items > QUEUE_PAUSE_ITEMS;
    if (paused == peer->paused)
        return;
    peer->paused = paused;
    peer->relay->transport.read(peer->connection, !paused);
}

static struct out *append(struct peer *peer, enum out_kind kind, const char *bytes, size_t len)
{
    struct out *out = need(sizeof *out + len + 1);
    out->kind = kind;
    out->mark = store_count(peer->relay->store);
    out->frame = peer->style;
    out->len = len;
    if (len > 0)
        memcpy(out->bytes, bytes, len);
    if (peer->last != NULL)
        peer->last->next = out;
    else
        peer->first = out;
    peer->last = out;
    peer->queued_bytes += len;
    peer->queued_items++;
    peer_set_reading(peer);
    peer->relay->transport.wake(peer->connection);
    return out;
}

void peer_free_queue(struct peer *peer)
{
    while (peer->first != NULL) {
        struct out *out = peer->first;
        peer->first = out->next;
        numbers_free(&out->numbers);
        free(out);
    }
    peer->last = NULL;
    peer->queued_bytes = peer->queued_items = 0;
}

static void drop_first(struct peer *peer)
{
    struct out *out = peer->first;
    peer->first = out->next;
    if (peer->first == NULL)
        peer->last = NULL;
    peer->queued_bytes -= out->len;
    peer->queued_items--;
    numbers_free(&out->numbers);
    free(out);
    peer_set_reading(peer);
}

static struct step next_event(struct peer *peer, struct out *out)
{
    struct jobs__buffer *text = &peer->scratch;
    jobs__buffer_text(text, "[\"EVENT\",");
    quote(text, out->bytes, out->len);
    jobs__buffer_char(text, ',');
    store_read(peer->relay->store, out->numbers.at[out->at++], text);
    jobs__buffer_char(text, ']');
    if (text->failed)
        give_up("out of memory (an EVENT)");
    struct step step = {STEP_TEXT, text->bytes, text->len, 0, out->frame};
    if (out->at == out->numbers.count)
        drop_first(peer);
    return step;
}

struct step peer_next(struct peer *peer)
{
    static const enum step_kind step_of[] = {
        [OUT_TEXT] = STEP_TEXT,   [OUT_OK] = STEP_TEXT,   [OUT_BYTES] = STEP_BYTES, [OUT_FRAME] = STEP_FRAME,
        [OUT_CLOSE] = STEP_CLOSE, [OUT_DROP] = STEP_DROP, [OUT_RESET] = STEP_RESET, [OUT_UPGRADE] = STEP_UPGRADE};
    struct out *out = peer->first;
    if (out == NULL || out->mark > store_synced(peer->relay->store))
        return (struct step){.kind = STEP_NONE};
    jobs__buffer_clear(&peer->scratch);
    if (out->kind == OUT_EVENTS)
        return next_event(peer, out);
    jobs__buffer_add(&peer->scratch, out->bytes, out->len);
    if (peer->scratch.failed)
        give_up("out of memory (a message of %zu bytes)", out->len);
    struct step step = {step_of[out->kind], peer->scratch.bytes, peer->scratch.len, out->code, out->frame};
    drop_first(peer);
    return step;
}

void say_text(struct peer *peer, const char *text, size_t len)
{
    if (!peer->ending)
        append(peer, OUT_TEXT, text, len);
}

void say_bytes(struct peer *peer, const char *bytes, size_t len)
{
    if (!peer->ending)
        append(peer, OUT_BYTES, bytes, len);
}

void say_frame(struct peer *peer, const struct frame *frame, const char *bytes, size_t len)
{
    if (!peer->ending)
        append(peer, OUT_FRAME, bytes, len)->frame = *frame;
}

void say_upgrade(struct peer *peer, bool right_key)
{
    if (!peer->ending)
        append(peer, OUT_UPGRADE, "", 0)->code = right_key ? 0 : 1;
}

void say_events(struct peer *peer, const char *name, size_t name_len, struct numbers *numbers)
{
    if (peer->ending || numbers->count == 0) {
        numbers_free(numbers);
        return;
    }
    struct out *out = append(peer, OUT_EVENTS, name, name_len);
    out->numbers = *numbers;
    *numbers = (struct numbers){0};
    if (peer->queued_items > QUEUE_BREAK_ITEMS)
        say_end(peer, OUT_RESET);
}

void say_close(struct peer *peer, unsigned code, const char *text)
{
    if (peer->ending)
        return;
    append(peer, OUT_CLOSE, text, strlen(text))->code = code;
    peer->ending = true;
}

void say_end(struct peer *peer, enum out_kind kind)
{
    if (peer->ending)
        return;
    append(peer, kind, "", 0);
    peer->ending = true;
}

/* ["WORD", then what the caller adds */
static struct jobs__buffer *begin(struct peer *peer, const char *word)
{
    struct jobs__buffer *text = &peer->relay->scratch;
    jobs__buffer_clear(text);
    jobs__buffer_format(text, "[\"%s\"", word);
    return text;
}

static void add(struct jobs__buffer *text, const char *value)
{
    jobs__buffer_char(text, ',');
    quote(text, value, strlen(value));
}

static void finish(struct peer *peer, struct jobs__buffer *text)
{
    jobs__buffer_char(text, ']');
    if (text->failed)
        give_up("out of memory (an answer)");
    say_text(peer, text->bytes, text->len);
}

/* Lets the newest OK overtake some of those unsent right before it. */
static void shuffle_ok(struct peer *peer)
{
    size_t oks = 0;
    struct out *before = NULL; /* the last that is no OK, ahead of the run of OKs at the end */
    for (struct out *out = peer->first; out != peer->last; out = out->next) {
        oks = out->kind == OUT_OK ? oks + 1 : 0;
        if (oks == 0)
            before = out;
    }
    if (oks == 0)
        return;
    size_t place = (size_t)rand_r(&peer->shuffle) % (oks + 1);
    if (place == oks)
        return;
    struct out *newest = peer->last, *at = before;
    for (size_t i = 0; i < place; i++)
        at = at == NULL ? peer->first : at->next;
    struct out *end = peer->first;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): at least one stands before the newest
    while (end->next != newest)
        end = end->next;
    end->next = NULL;
    peer->last = end;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an OK was just queued
    newest->next = at == NULL ? peer->first : at->next;
    if (at == NULL)
        peer->first = newest;
    else
        at->next = newest;
}

void say_ok(struct peer *peer, const char *id, bool ok, const char *why)
{
    struct jobs__buffer *text = begin(peer, "OK");
    add(text, id);
    jobs__buffer_text(text, ok ? ",true" : ",false");
    add(text, why);
    jobs__buffer_char(text, ']');
    if (text->failed)
        give_up("out of memory (an OK)");
    if (peer->ending)
        return;
    append(peer, OUT_OK, text->bytes, text->len);
    if (peer->relay->options.profile->any_order)
        shuffle_ok(peer);
}

void say_notice(struct peer *peer, const char *why)
{
    struct jobs__buffer *text = begin(peer, "NOTICE");
    add(text, why);
    finish(peer, text);
}

void say_closed(struct peer *peer, const char *name, const char *why)
{
    struct jobs__buffer *text = begin(peer, "CLOSED");
    add(text, name);
    add(text, why);
    finish(peer, text);
}

void say_eose(struct peer *peer, const char *name)
{
    struct jobs__buffer *text = begin(peer, "EOSE");
    add(text, name);
    finish(peer, text);
}

void say_challenge(struct peer *peer, const char *challenge, size_t len)
{
    char fresh[65];
    if (challenge == NULL) {
        unsigned char bytes[32];
        if (RAND_bytes(bytes, sizeof bytes) != 1)
            give_up("no random bytes");
        jobs__hex_write(fresh, bytes, sizeof bytes);
        challenge = fresh;
        len = 64;
    }
    free(peer->challenge);
    peer->challenge = need_copy(challenge, len);
    struct jobs__buffer *text = begin(peer, "AUTH");
    jobs__buffer_char(text, ',');
    quote(text, challenge, len);
    finish(peer, text);
}
