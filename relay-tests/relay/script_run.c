/* script_run.c - does what a script says, when it says so. Each thing heard goes to stdout as a line ("EVENT id", "ASK
 * name"), so that a runner can count, and a reader can see, what really came.
 */
#include "need.h"
#include "peer.h"
#include "script.h"

#include <ctype.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct run *run_new(const struct script *script)
{
    struct run *run = need(sizeof *run);
    unsigned char secret[32];
    char hex[65];
    run->script = script;
    if (RAND_bytes(secret, sizeof secret) != 1)
        give_up("no random bytes");
    for (size_t i = 0; i < sizeof secret; i++)
        snprintf(hex + 2 * i, 3, "%02x", secret[i]);
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

/* --- placeholders --- */

static void add_escaped(struct jobs__buffer *out, const char *text)
{
    struct jobs__buffer quoted = {.max = 64u << 20};
    quote(&quoted, text, strlen(text));
    if (quoted.failed)
        give_up("out of memory (a placeholder)");
    jobs__buffer_add(out, quoted.bytes + 1, quoted.len - 2);
    jobs__buffer_free(&quoted);
}

/* The newest 43004 in the store, or what this moment is about; NULL when there is none. The caller frees it. */
static struct jobs_event *subject(const struct relay *relay, const struct moment *moment)
{
    struct jobs__buffer json = {.max = 16u << 20};
    struct jobs_event *event = NULL;
    if (moment->event != NULL) {
        size_t len;
        const char *text = jobs_event_json(moment->event, &len);
        jobs__buffer_add(&json, text, len);
    } else {
        uint32_t number = store_count(relay->store);
        while (number > 0 && store_record(relay->store, number - 1)->kind != 43004)
            number--;
        if (number == 0)
            return NULL;
        store_read(relay->store, number - 1, &json);
    }
    if (json.failed || jobs_event_parse(&event, json.bytes, json.len, NULL) != JOBS_OK)
        give_up("an event cannot be read again");
    jobs__buffer_free(&json);
    return event;
}

/* The event with another last character in its content: the id and the signature do not hold. */
static void add_forged(struct jobs__buffer *out, const struct jobs_event *event)
{
    size_t len, content_len;
    const char *json = jobs_event_json(event, &len);
    (void)jobs_event_content(event, &content_len);
    const char *content = strstr(json, "\"content\":\"");
    if (content == NULL || content_len == 0)
        give_up("`forge` needs an event with content");
    size_t at = (size_t)(content - json) + strlen("\"content\":\"");
    jobs__buffer_add(out, json, at);
    jobs__buffer_text(out, "forged ");
    jobs__buffer_add(out, json + at, len - at);
}

/* The same kind, tags and content, signed by another key. */
static void add_strangers(struct jobs__buffer *out, const struct run *run, const struct jobs_event *event)
{
    struct jobs_event *other = NULL;
    struct jobs_error error = {0};
    size_t count = jobs_event_tag_count(event), len;
    struct jobs_tag *tags = need((count + 1) * sizeof *tags);
    for (size_t i = 0; i < count; i++)
        tags[i] = jobs_event_tag(event, i);
    const char *content = jobs_event_content(event, &len);
    if (jobs_event_new(&other, jobs_event_kind(event), jobs_event_created_at(event), tags, count, content, len,
                       &error) != JOBS_OK ||
        jobs_event_seal(other, run->stranger, &error) != JOBS_OK)
        give_up("`$strangers`: %s", error.message);
    const char *json = jobs_event_json(other, &len);
    jobs__buffer_add(out, json, len);
    jobs_event_free(other);
    free(tags);
}

static void add_times(struct jobs__buffer *out, char c, size_t times)
{
    char piece[1024];
    memset(piece, c, sizeof piece);
    for (; times > 0; times -= times < sizeof piece ? times : sizeof piece)
        jobs__buffer_add(out, piece, times < sizeof piece ? times : sizeof piece);
}

enum placeholder {
    FILL,
    OPEN,
    SHUT,
    ID,
    LOUD_ID,
    SUB,
    CHALLENGE,
    AUTHOR,
    URL,
    EVENT,
    FORGED,
    STRANGERS,
    DOLLAR
};
static const char *const placeholders[] = {
    [FILL] = "fill(",    [OPEN] = "open(",    [SHUT] = "shut(",         [ID] = "id",
    [LOUD_ID] = "ID",    [SUB] = "sub",       [CHALLENGE] = "challenge", [AUTHOR] = "author",
    [URL] = "url",       [EVENT] = "event",   [FORGED] = "forged",      [STRANGERS] = "strangers",
    [DOLLAR] = "$",
};

static void add_placeholder(struct jobs__buffer *out, struct relay *relay, const struct moment *moment,
                            enum placeholder which, size_t number)
{
    static const char none[] = "0000000000000000000000000000000000000000000000000000000000000000";
    const struct peer *peer = relay_peer(relay, moment->peer);
    struct jobs_event *event = which == ID || which == LOUD_ID || which >= AUTHOR ? subject(relay, moment) : NULL;
    size_t len;
    const char *json;
    switch (which) {
    case FILL:
        add_times(out, 'a', number);
        break;
    case OPEN:
        add_times(out, '[', number);
        break;
    case SHUT:
        add_times(out, ']', number);
        break;
    case ID:
        jobs__buffer_text(out, event == NULL ? none : jobs_event_id(event));
        break;
    case LOUD_ID:
        for (const char *c = event == NULL ? none : jobs_event_id(event); *c != '\0'; c++)
            jobs__buffer_char(out, (char)toupper((unsigned char)*c));
        break;
    case AUTHOR:
        jobs__buffer_text(out, event == NULL ? none : jobs_event_author(event));
        break;
    case SUB:
        add_escaped(out, moment->wanted == NULL ? "" : moment->wanted->name);
        break;
    case CHALLENGE:
        add_escaped(out, peer == NULL || peer->challenge == NULL ? "" : peer->challenge);
        break;
    case URL:
        add_escaped(out, relay->url);
        break;
    case EVENT:
        if (event != NULL && (json = jobs_event_json(event, &len)) != NULL)
            jobs__buffer_add(out, json, len);
        break;
    case FORGED:
        if (event != NULL)
            add_forged(out, event);
        break;
    case STRANGERS:
        if (event != NULL)
            add_strangers(out, relay->run, event);
        break;
    case DOLLAR:
        jobs__buffer_char(out, '$');
        break;
    }
    jobs_event_free(event);
}

/* The action's text with its placeholders filled in. */
static void expand(struct jobs__buffer *out, struct relay *relay, const struct moment *moment, const char *text,
                   size_t len)
{
    *out = (struct jobs__buffer){.max = 64u << 20};
    jobs__buffer_add(out, "", 0);
    for (size_t i = 0; i < len; i++) {
        size_t which = 0, count = sizeof placeholders / sizeof *placeholders;
        if (text[i] == '$')
            while (which < count && strncmp(text + i + 1, placeholders[which], strlen(placeholders[which])) != 0)
                which++;
        if (text[i] != '$' || which == count) {
            jobs__buffer_char(out, text[i]);
            continue;
        }
        i += strlen(placeholders[which]);
        size_t number = 0;
        if (which <= SHUT) {
            for (i++; text[i] >= '0' && text[i] <= '9'; i++)
                number = number * 10 + (size_t)(text[i] - '0');
        }
        add_placeholder(out, relay, moment, (enum placeholder)which, number);
    }
    if (out->failed || out->bytes == NULL)
        give_up("a message of the script needs more than 64 MiB");
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
    expand(&text, peer->relay, moment, action->text == NULL ? "" : action->text, action->len);
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
    struct jobs_event *event = subject(peer->relay, moment);
    if (event != NULL) {
        struct jobs__buffer text = {.max = 64u << 20};
        jobs__buffer_text(&text, "[\"EVENT\",");
        quote(&text, moment->wanted->name, moment->wanted->name_len);
        jobs__buffer_char(&text, ',');
        add_forged(&text, event);
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
