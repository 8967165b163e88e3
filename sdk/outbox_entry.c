/* outbox_entry.c - one entry: made of an event, written as one JSON object, read back with distrust.
 *
 * No disk and no socket. The file format is described in docs/outbox.md; a change of it needs a new version number.
 */
#include "outbox.h"

#include "../core/sha256.h"
#include "../core/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FORMAT_VERSION 1
#define FACTS_MAX      1000

int64_t jobs__outbox_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec;
}

int jobs__folder_name(char out[65], const char *author, const char *job)
{
    char both[129];
    if (strlen(author) != 64 || strlen(job) != 64)
        return JOBS_INVALID;
    memcpy(both, author, 64);
    memcpy(both + 64, job, 65);
    jobs__sha256_hex(out, both, 128);
    return JOBS_OK;
}

int jobs__entry_digest(char out[65], const char *author, const char *channel, const struct jobs_handoff *handoff,
                       bool loose)
{
    char *comparable = NULL;
    size_t len;
    struct jobs__buffer all = {.max = 2 * JOBS_CONTENT_MAX + JOBS_INPUT_MAX};
    int code = jobs_handoff_comparable(&comparable, &len, handoff, loose);
    if (code)
        return code;
    jobs__buffer_text(&all, author);
    jobs__buffer_char(&all, '\n');
    jobs__buffer_text(&all, channel);
    jobs__buffer_char(&all, '\n');
    jobs__buffer_add(&all, comparable, len);
    code = all.failed;
    if (!code)
        jobs__sha256_hex(out, all.bytes, all.len);
    jobs__buffer_free(&all);
    free(comparable);
    return code;
}

void jobs__entry_free(struct jobs__entry *entry)
{
    if (entry == NULL)
        return;
    for (size_t i = 0; i < entry->fact_count; i++)
        free(entry->facts[i].url);
    free(entry->facts);
    jobs_event_free(entry->event);
    free(entry);
}

static void copy_hex(char out[65], const char *hex)
{
    snprintf(out, 65, "%s", hex == NULL ? "" : hex);
}

/* The digests of an event's content; what is no handoff has none, and is then equal to nothing. */
static int digest_event(struct jobs__entry *entry, const struct jobs_event *event)
{
    struct jobs_handoff *handoff = NULL;
    struct jobs_report report = {0};
    size_t len;
    const char *content = jobs_event_content(event, &len);
    int code = jobs_handoff_parse(&handoff, content, len, NULL, &report);
    if (code == JOBS_INVALID) {
        jobs_report_wipe(&report);
        code = jobs_handoff_read(&handoff, content, len, entry->job, &report, NULL);
    }
    jobs_report_wipe(&report);
    if (code == JOBS_INVALID)
        return JOBS_OK;
    if (!code)
        code = jobs__entry_digest(entry->digest, entry->author, entry->channel, handoff, false);
    if (!code)
        code = jobs__entry_digest(entry->digest_loose, entry->author, entry->channel, handoff, true);
    if (!code)
        copy_hex(entry->supersedes, jobs_handoff_supersedes(handoff));
    jobs_handoff_free(handoff);
    return code;
}

int jobs__entry_new(struct jobs__entry **out, struct jobs_event *event)
{
    *out = NULL;
    const char *job = jobs_event_reply(event);
    const char *channel = jobs_event_channel(event);
    if (jobs_event_kind(event) != JOBS_KIND_RESULT || job == NULL || channel == NULL || strlen(job) != 64 ||
        !jobs_channel_is_valid(channel))
        return JOBS_INVALID;
    struct jobs__entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return JOBS_NO_MEMORY;
    copy_hex(entry->id, jobs_event_id(event));
    copy_hex(entry->author, jobs_event_author(event));
    copy_hex(entry->job, job);
    for (char *c = entry->job; *c != '\0'; c++) /* foreign writers may have used capitals */
        *c = (char)(*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
    snprintf(entry->channel, sizeof entry->channel, "%s", channel);
    entry->created_at = jobs_event_created_at(event);
    entry->stored_at = jobs__outbox_now();
    int code = digest_event(entry, event);
    if (code) {
        jobs__entry_free(entry);
        return code;
    }
    entry->event = event;
    *out = entry;
    return JOBS_OK;
}

struct jobs__fact *jobs__entry_fact(struct jobs__entry *entry, const char *url, bool add)
{
    for (size_t i = 0; i < entry->fact_count; i++) {
        if (strcmp(entry->facts[i].url, url) == 0)
            return &entry->facts[i];
    }
    if (!add || entry->fact_count >= FACTS_MAX)
        return NULL;
    char *copy = strdup(url);
    struct jobs__fact *facts = realloc(entry->facts, (entry->fact_count + 1) * sizeof *facts);
    if (facts != NULL)
        entry->facts = facts;
    if (copy == NULL || facts == NULL) {
        free(copy);
        return NULL;
    }
    facts[entry->fact_count] = (struct jobs__fact){.url = copy, .read_back = JOBS_NOT_ASKED};
    return &facts[entry->fact_count++];
}

/* --- writing --- */

static json_t *fact_to_json(const struct jobs__fact *fact)
{
    return json_pack("{ss ss ss ss sI sI sI sI sb sb}", "url", fact->url, "state", jobs__relay_state_name(fact->state),
                     "message", fact->message, "read_back", jobs_read_back_name(fact->read_back), "attempts",
                     (json_int_t)fact->attempts, "last_send", (json_int_t)fact->last_send, "absent_at",
                     (json_int_t)fact->absent_at, "unseen_since", (json_int_t)fact->unseen_since, "refused_for_time",
                     fact->refused_for_time, "said_stored", fact->said_stored);
}

static int buffer_dump(const char *bytes, size_t len, void *buffer)
{
    jobs__buffer_add(buffer, bytes, len);
    return ((struct jobs__buffer *)buffer)->failed ? -1 : 0;
}

#define CHECKSUM_BEFORE ",\"checksum\":\""
#define CHECKSUM_AFTER  "\"}\n"
#define CHECKSUM_LEN    (sizeof CHECKSUM_BEFORE - 1 + 64 + sizeof CHECKSUM_AFTER - 1)

int jobs__entry_write(struct jobs__buffer *out, const struct jobs__entry *entry)
{
    int code = JOBS_NO_MEMORY;
    char checksum[65];
    json_t *relays = json_array();
    json_t *root = NULL;
    for (size_t i = 0; i < entry->fact_count; i++) {
        if (json_array_append_new(relays, fact_to_json(&entry->facts[i])) != 0)
            goto out;
    }
    size_t len = 0;
    const char *event = entry->event == NULL ? NULL : jobs_event_json(entry->event, &len);
    if (entry->event != NULL && event == NULL)
        goto out;
    root = json_pack("{si ss ss ss ss sI sI ss ss ss ss ss so sO}", "version", FORMAT_VERSION, "event_id", entry->id,
                     "author", entry->author, "job", entry->job, "channel", entry->channel, "created_at",
                     (json_int_t)entry->created_at, "stored_at", (json_int_t)entry->stored_at, "digest", entry->digest,
                     "digest_loose", entry->digest_loose, "supersedes", entry->supersedes, "replaces", entry->replaces,
                     "superseded_by", entry->superseded_by, "event",
                     event == NULL ? json_null() : json_stringn(event, len), "relays", relays);
    if (root == NULL || json_dump_callback(root, buffer_dump, out, JSON_COMPACT) != 0)
        goto out;
    out->len--; /* the closing brace comes again behind the checksum */
    jobs__sha256_hex(checksum, out->bytes, out->len);
    jobs__buffer_text(out, CHECKSUM_BEFORE);
    jobs__buffer_text(out, checksum);
    jobs__buffer_text(out, CHECKSUM_AFTER);
    code = out->failed;

out:
    json_decref(relays);
    json_decref(root);
    return code;
}

/* --- reading --- */

static bool read_integer(int64_t *out, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    *out = json_integer_value(value);
    return json_is_integer(value) && *out >= 0;
}

static bool read_bool(bool *out, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    *out = json_is_true(value);
    return json_is_boolean(value);
}

/* A string that fits, NUL included. */
static bool read_text(char *out, size_t size, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    size_t len = json_string_length(value);
    if (!json_is_string(value) || len >= size)
        return false;
    memcpy(out, json_string_value(value), len + 1);
    return true;
}

static bool read_hex(char out[65], const json_t *object, const char *name, bool may_be_empty)
{
    if (!read_text(out, 65, object, name))
        return false;
    size_t len = strlen(out);
    return (may_be_empty && len == 0) || (len == 64 && jobs__text_is_hex(out, len, true));
}

static bool read_back_from_name(enum jobs_read_back *out, const char *name)
{
    for (int i = JOBS_CONFIRMED; i <= JOBS_NOT_ASKED; i++) {
        if (strcmp(name, jobs_read_back_name((enum jobs_read_back)i)) == 0) {
            *out = (enum jobs_read_back)i;
            return true;
        }
    }
    return false;
}

static int read_fact(struct jobs__entry *entry, const json_t *object)
{
    char state[16], read_back[16];
    const char *url = json_string_value(json_object_get(object, "url"));
    int64_t attempts;
    if (url == NULL || jobs__entry_fact(entry, url, false) != NULL)
        return JOBS_INVALID;
    struct jobs__fact *fact = jobs__entry_fact(entry, url, true);
    if (fact == NULL)
        return entry->fact_count >= FACTS_MAX ? JOBS_INVALID : JOBS_NO_MEMORY;
    bool good = read_text(state, sizeof state, object, "state") && jobs__relay_state_from_name(&fact->state, state) &&
                read_text(fact->message, sizeof fact->message, object, "message") &&
                read_text(read_back, sizeof read_back, object, "read_back") &&
                read_back_from_name(&fact->read_back, read_back) && read_integer(&attempts, object, "attempts") &&
                read_integer(&fact->last_send, object, "last_send") &&
                read_integer(&fact->absent_at, object, "absent_at") &&
                read_integer(&fact->unseen_since, object, "unseen_since") &&
                read_bool(&fact->refused_for_time, object, "refused_for_time") &&
                read_bool(&fact->said_stored, object, "said_stored");
    fact->attempts = good ? (unsigned)attempts : 0;
    return good ? JOBS_OK : JOBS_INVALID;
}

/* The event that the fields speak of, whole and signed by the author they name. */
static int read_event(struct jobs__entry *entry, const json_t *value, const char **why)
{
    if (json_is_null(value))
        return JOBS_OK; /* pruned: digests and facts are left */
    *why = "its event is not one";
    if (!json_is_string(value))
        return JOBS_INVALID;
    struct jobs_event *event = NULL;
    int code = jobs_event_parse(&event, json_string_value(value), json_string_length(value), NULL);
    if (code)
        return code;
    entry->event = event; /* freed with the entry whatever comes */
    const char *job = jobs_event_reply(event);
    const char *channel = jobs_event_channel(event);
    *why = "its event's id or signature does not hold";
    if (jobs_event_check(event) != JOBS_EVENT_VALID)
        return JOBS_INVALID;
    *why = "its event is another than it says";
    if (jobs_event_kind(event) != JOBS_KIND_RESULT || strcmp(jobs_event_id(event), entry->id) != 0 ||
        strcmp(jobs_event_author(event), entry->author) != 0 || job == NULL || strcasecmp(job, entry->job) != 0 ||
        channel == NULL || strcmp(channel, entry->channel) != 0 || jobs_event_created_at(event) != entry->created_at)
        return JOBS_INVALID;
    return JOBS_OK;
}

static int read_fields(struct jobs__entry *entry, const json_t *root, const char **why)
{
    int64_t version;
    *why = "a field is missing or malformed";
    if (!read_integer(&version, root, "version") || version < 1)
        return JOBS_INVALID;
    if (version > FORMAT_VERSION) /* whole, but not for us: nothing is wrong with it, so it stays where it is */
        return JOBS_USAGE;
    if (!read_hex(entry->id, root, "event_id", false) || !read_hex(entry->author, root, "author", false) ||
        !read_hex(entry->job, root, "job", false) || !read_hex(entry->digest, root, "digest", true) ||
        !read_hex(entry->digest_loose, root, "digest_loose", true) ||
        !read_hex(entry->supersedes, root, "supersedes", true) || !read_hex(entry->replaces, root, "replaces", true) ||
        !read_hex(entry->superseded_by, root, "superseded_by", true) ||
        !read_text(entry->channel, sizeof entry->channel, root, "channel") || !jobs_channel_is_valid(entry->channel) ||
        !read_integer(&entry->created_at, root, "created_at") || !read_integer(&entry->stored_at, root, "stored_at"))
        return JOBS_INVALID;
    const json_t *relays = json_object_get(root, "relays");
    if (!json_is_array(relays))
        return JOBS_INVALID;
    for (size_t i = 0; i < json_array_size(relays); i++) {
        int code = read_fact(entry, json_array_get(relays, i));
        if (code)
            return code;
    }
    return read_event(entry, json_object_get(root, "event"), why);
}

int jobs__entry_read(struct jobs__entry **out, const char *bytes, size_t len, const char **why)
{
    *out = NULL;
    *why = "it is cut short or was edited";
    if (len <= CHECKSUM_LEN)
        return JOBS_INVALID;
    const char *tail = bytes + len - CHECKSUM_LEN;
    char checksum[65];
    jobs__sha256_hex(checksum, bytes, len - CHECKSUM_LEN);
    if (memcmp(tail, CHECKSUM_BEFORE, sizeof CHECKSUM_BEFORE - 1) != 0 ||
        memcmp(tail + sizeof CHECKSUM_BEFORE - 1, checksum, 64) != 0 ||
        memcmp(tail + sizeof CHECKSUM_BEFORE - 1 + 64, CHECKSUM_AFTER, sizeof CHECKSUM_AFTER - 1) != 0)
        return JOBS_INVALID;
    json_error_t fault;
    int code = JOBS_OK;
    struct jobs__entry *entry = calloc(1, sizeof *entry);
    json_t *root = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &fault);
    if (entry == NULL || (root == NULL && json_error_code(&fault) == json_error_out_of_memory))
        code = JOBS_NO_MEMORY;
    else if (!json_is_object(root))
        code = JOBS_INVALID;
    else
        code = read_fields(entry, root, why);
    json_decref(root);
    if (code) {
        jobs__entry_free(entry);
        return code;
    }
    *out = entry;
    return JOBS_OK;
}
