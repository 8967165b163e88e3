/* script_run.c - does what a script says, when it says so. Each thing heard goes to stdout as a line ("EVENT id", "ASK
 * name"), so that a runner can count, and a reader can see, what really came.
 */
#include "script_run.h"
#include "../../core/hex.h"
#include "need.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run *run_new(const struct script *script)
{
    struct run *run = need(sizeof *run);
    unsigned char secret[32];
    char hex[65];
    run->script = script;
    if (RAND_bytes(secret, sizeof secret) != 1)
        give_up("no random bytes");
    jobs__hex_write(hex, secret, sizeof secret);
    if (jobs_key_from_text(&run->stranger, hex, 64, NULL) != JOBS_OK)
        give_up("no key for what a stranger signs");
    return run;
}

static void moment_free(struct moment *moment)
{
    jobs_event_free(moment->event);
    subscription_free(moment->wanted);
    free(moment);
}

void run_free(struct run *run)
{
    if (run == NULL)
        return;
    while (run->later != NULL) {
        struct moment *gone = run->later;
        run->later = gone->next;
        moment_free(gone);
    }
    jobs_key_free(run->stranger);
    free(run);
}

/* --- actions --- */

/* What an ordinary relay does. */
static void answer(struct peer *peer, struct moment *moment)
{
    switch (moment->heard) {
    case HEARD_EVENT:
        peer_event(peer, moment->event);
        break;
    case HEARD_AUTH:
        peer_auth(peer, moment->event);
        break;
    case HEARD_ASK:
    case HEARD_READ:
    case HEARD_REQ:
        if (moment->wanted != NULL)
            peer_req(peer, &moment->wanted);
        break;
    case HEARD_CONNECT:
        peer_greet(peer);
        break;
    case HEARD_CLOSE:
        if (peer->relay->options.profile->answers_close)
            say_closed(peer, moment->wanted->name, "");
        break;
    default:
        break;
    }
}

static void say(struct peer *peer, struct moment *moment, const struct action *action)
{
    struct jobs__buffer text;
    script_expand(&text, peer->relay, moment, action->text == NULL ? "" : action->text, action->len);
    switch (action->what) {
    case DO_OK:
        if (moment->heard == HEARD_AUTH && action->ok) {
            peer->authenticated = true;
            peer->auth_deadline = INT64_MAX;
            memcpy(peer->author, jobs_event_author(moment->event), sizeof peer->author);
        }
        say_ok(peer, jobs_event_id(moment->event), action->ok, text.bytes);
        break;
    case DO_NOTICE:
        say_notice(peer, text.bytes);
        break;
    case DO_CLOSED:
        say_closed(peer, moment->wanted->name, text.bytes);
        break;
    case DO_CHALLENGE:
        say_challenge(peer, action->text == NULL ? NULL : text.bytes, text.len);
        break;
    case DO_SEND:
    case DO_TEXT:
        say_text(peer, text.bytes, text.len);
        break;
    case DO_CLOSE:
        say_close(peer, (unsigned)action->number, text.bytes);
        break;
    case DO_BYTES:
        say_bytes(peer, text.bytes, text.len);
        break;
    case DO_FRAME:
        say_frame(peer, &action->frame, text.bytes, text.len);
        break;
    default:
        break;
    }
    jobs__buffer_free(&text);
}

static void forge(struct peer *peer, const struct moment *moment)
{
    struct jobs_event *event = script_subject(peer->relay, moment);
    if (event != NULL) {
        struct jobs__buffer text = {.max = 64u << 20};
        jobs__buffer_text(&text, "[\"EVENT\",");
        quote(&text, moment->wanted->name, moment->wanted->name_len);
        jobs__buffer_char(&text, ',');
        script_add_forged(&text, event);
        jobs__buffer_char(&text, ']');
        if (text.failed)
            give_up("out of memory (a forged event)");
        say_text(peer, text.bytes, text.len);
        jobs__buffer_free(&text);
    }
    jobs_event_free(event);
}

static void to_peer(struct peer *peer, struct moment *moment, const struct action *action)
{
    switch (action->what) {
    case DO_ANSWER:
        answer(peer, moment);
        break;
    case DO_EVENTS:
        peer_query(peer, moment->wanted);
        break;
    case DO_EOSE:
        say_eose(peer, moment->wanted->name);
        break;
    case DO_FORGE:
        forge(peer, moment);
        break;
    case DO_DROP:
        say_end(peer, OUT_DROP);
        break;
    case DO_RESET:
        say_end(peer, OUT_RESET);
        break;
    case DO_DEAF:
        peer->deaf = true;
        peer_set_reading(peer);
        break;
    case DO_STYLE:
        peer->style = action->frame;
        break;
    case DO_UPGRADE:
        say_upgrade(peer, action->ok);
        break;
    default:
        say(peer, moment, action);
    }
}

/* Does the moment's actions up to its end (then frees it) or up to the next `after` (then keeps it). */
static void go_on(struct relay *relay, struct moment *moment)
{
    while (moment->at < moment->rule->count) {
        const struct action *action = &moment->rule->actions[moment->at++];
        if (action->what == DO_AFTER) {
            moment->due = relay->now + action->number;
            moment->next = relay->run->later;
            relay->run->later = moment;
            return;
        }
        struct peer *peer = relay_peer(relay, moment->peer); /* may be gone by now */
        if (action->what == DO_STORE)
            (void)relay_store(relay, moment->event);
        else if (action->what == DO_VERIFY) {
            const char *wrong = relay_check(moment->event);
            if (wrong != NULL) {
                if (peer != NULL)
                    say_ok(peer, jobs_event_id(moment->event), false, wrong);
                break;
            }
        } else if (peer != NULL)
            for (size_t i = 0; i < action->times; i++)
                to_peer(peer, moment, action);
    }
    moment_free(moment);
}

/* --- rules --- */

static const struct rule *rule_for(const struct run *run, enum heard heard)
{
    bool req = heard == HEARD_ASK || heard == HEARD_READ;
    for (size_t i = 0; i < run->script->count; i++) {
        const struct rule *rule = &run->script->rules[i];
        if (rule->heard != heard && !(req && rule->heard == HEARD_REQ))
            continue;
        size_t occurrence = run->heard[rule->heard];
        if (occurrence >= rule->from && occurrence <= rule->to)
            return rule;
    }
    return NULL;
}

static const struct rule *hear(struct run *run, enum heard heard, const char *what)
{
    static const char *const words[] = {
#define X(name, word) [name] = word,
        HEARD(X)
#undef X
    };
    run->heard[heard]++;
    if (heard == HEARD_ASK || heard == HEARD_READ)
        run->heard[HEARD_REQ]++;
    printf("%s%s%s\n", words[heard], *what == '\0' ? "" : " ", what);
    fflush(stdout);
    return rule_for(run, heard);
}

bool script_hears(struct peer *peer, enum heard heard, struct jobs_event **event, struct subscription **wanted)
{
    struct relay *relay = peer->relay;
    if (relay->run == NULL)
        return false;
    const char *what = event != NULL ? jobs_event_id(*event) : wanted != NULL ? (*wanted)->name : "";
    const struct rule *rule = hear(relay->run, heard, what);
    if (rule == NULL)
        return false;
    struct moment *moment = need(sizeof *moment);
    moment->rule = rule;
    moment->heard = heard;
    moment->peer = peer->serial;
    if (event != NULL) {
        moment->event = *event;
        *event = NULL;
    }
    if (wanted != NULL) {
        moment->wanted = *wanted;
        *wanted = NULL;
    }
    go_on(relay, moment);
    return true;
}

bool script_upgrade(struct relay *relay, struct refusal *refusal)
{
    const struct rule *rule = hear(relay->run, HEARD_UPGRADE, "");
    for (size_t i = 0; rule != NULL && i < rule->count; i++) {
        const struct action *action = &rule->actions[i];
        if (action->what == DO_STATUS)
            *refusal = (struct refusal){.status = (int)action->number,
                                        .retry_after = action->retry_after,
                                        .location = action->location,
                                        .body = action->text};
    }
    return rule != NULL;
}

int64_t script_turn(struct relay *relay, int64_t now)
{
    if (relay->run == NULL)
        return INT64_MAX;
    struct moment *waiting = relay->run->later, *due = NULL;
    relay->run->later = NULL;
    while (waiting != NULL) { /* newest first: turned round, so that what began first goes on first */
        struct moment *moment = waiting;
        waiting = moment->next;
        struct moment **list = moment->due <= now ? &due : &relay->run->later;
        moment->next = *list;
        *list = moment;
    }
    while (due != NULL) {
        struct moment *moment = due;
        due = moment->next;
        go_on(relay, moment);
    }
    int64_t next = INT64_MAX;
    for (struct moment *moment = relay->run->later; moment != NULL; moment = moment->next)
        if (moment->due < next)
            next = moment->due;
    return next;
}
