/* plain.c - the key-and-item form under a RESULT-ENVELOPE heading.
 *
 *     agent: bubbles.test
 *     addressedFindings:
 *       - F-1: cursor fixed
 *     evidenceRefs:
 *       - report.md#test
 *
 * Lines are `key: value`, `- item` or blank; any other is refused. `null` and an empty value are null, `[]` an empty
 * list. Everything else stays text.
 */
#include "conversion.h"

#include "../text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Members that are lists even when nothing stands under them. */
static const char *const lists[] = {"findings",         "addressedFindings", "unresolvedFindings",
                                    "observations",     "evidenceRefs",      "toolCalls",
                                    "artifactsCreated", "artifactsUpdated",  NULL};

struct plain {
    struct jobs__conversion *c;
    json_t *object;
    char key[65];       /* of the list that items belong to, "" when none is open */
    bool key_has_value; /* it had a value on its own line: no items may follow */
};

static void note_line(struct plain *p, const char *key, size_t index, bool item, size_t line)
{
    char place[128];
    if (item)
        snprintf(place, sizeof place, "/%s/%zu", key, index);
    else
        snprintf(place, sizeof place, "/%s", key);
    jobs__set(p->c, p->c->lines, place, json_integer((json_int_t)line));
}

static void refuse(struct plain *p, size_t line, const char *why)
{
    jobs__violate(p->c, "X105", "", "line %zu: %s", line, why);
}

static void take_key(struct plain *p, const char *key, size_t key_len, const char *value, size_t len, size_t line)
{
    char name[sizeof p->key];
    memcpy(name, key, key_len);
    name[key_len] = '\0';
    if (json_object_get(p->object, name) != NULL) {
        refuse(p, line, "this key stands twice");
        return;
    }
    json_t *to = NULL;
    bool list = jobs__is_one_of(name, lists);
    if (len == 2 && memcmp(value, "[]", 2) == 0)
        to = json_array();
    else if (len == 0)
        to = list ? json_array() : json_null();
    else if (len == 4 && memcmp(value, "null", 4) == 0)
        to = list ? json_array() : json_null();
    else if (list) {
        refuse(p, line, "a list has one `- item` a line, or `[]`");
        return;
    } else
        to = json_stringn(value, len);
    jobs__set(p->c, p->object, name, to);
    memcpy(p->key, name, sizeof name);
    p->key_has_value = len > 0;
    note_line(p, name, 0, false, line);
}

static void take_item(struct plain *p, const char *item, size_t len, size_t line)
{
    if (p->key[0] == '\0' || p->key_has_value || len == 0) {
        refuse(p, line, len == 0 ? "this item is empty" : "this item belongs to no list");
        return;
    }
    json_t *list = json_object_get(p->object, p->key);
    if (!json_is_array(list)) {
        list = json_array();
        jobs__set(p->c, p->object, p->key, list);
    }
    note_line(p, p->key, json_array_size(list), true, line);
    if (json_array_append_new(list, json_stringn(item, len)) != 0)
        p->c->failed = JOBS_NO_MEMORY;
}

static void take_line(struct plain *p, const char *text, size_t len, size_t line)
{
    jobs__text_trim(&text, &len);
    if (len == 0)
        return;
    if (text[0] == '-' && (len == 1 || isspace((unsigned char)text[1]))) {
        const char *item = text + 1;
        size_t item_len = len - 1;
        jobs__text_trim(&item, &item_len);
        take_item(p, item, item_len, line);
        return;
    }
    size_t key = 0;
    while (key < len && (isalnum((unsigned char)text[key]) || text[key] == '_'))
        key++;
    if (key == 0 || key >= sizeof p->key || key == len || text[key] != ':' ||
        (key + 1 < len && !isspace((unsigned char)text[key + 1]))) {
        refuse(p, line, "this is neither `key: value` nor `- item`");
        return;
    }
    const char *value = text + key + 1;
    size_t value_len = len - key - 1;
    jobs__text_trim(&value, &value_len);
    take_key(p, text, key, value, value_len, line);
}

/* `reason` is the summary, or the blocker's reason when the outcome is blocked. */
static void place_reason(struct plain *p)
{
    const char *reason = jobs__text(p->object, "reason");
    const char *outcome = jobs__text(p->object, "outcome");
    if (reason == NULL || jobs__text(p->object, "summary") != NULL)
        return;
    if (outcome == NULL || strcmp(outcome, "blocked") != 0)
        jobs__set(p->c, p->object, "summary", json_string(reason));
}

json_t *jobs__plain_read(struct jobs__conversion *c, const char *text, size_t len, size_t line)
{
    struct plain p = {.c = c, .object = json_object()};
    c->lines = json_object();
    if (p.object == NULL || c->lines == NULL) {
        c->failed = JOBS_NO_MEMORY;
        return p.object;
    }
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t stop = end == NULL ? len : (size_t)(end - text);
        take_line(&p, text + at, stop - at, line++);
        at = stop + 1;
    }
    if (json_object_size(p.object) == 0 && !jobs__violated(c))
        refuse(&p, c->candidate.line, "there is no envelope under this heading");
    place_reason(&p);
    jobs__repair(c, JOBS__REPAIR_PLAIN_FORM);
    return p.object;
}
