/* filter.c - see filter.h. */
#include "filter.h"

#include "need.h"

#include <stdlib.h>
#include <string.h>

bool hex_bytes(unsigned char out[32], const char *hex, size_t len)
{
    if (len != 64)
        return false;
    for (size_t i = 0; i < 64; i++) {
        char c = hex[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        out[i / 2] = (unsigned char)(i % 2 ? out[i / 2] * 16 + digit : digit);
    }
    return true;
}

bool record_tag(const struct record *record, uint32_t *at, char *letter, const char **value, uint32_t *len)
{
    if (*at >= record->tags_len)
        return false;
    *letter = record->tags[*at];
    memcpy(len, record->tags + *at + 1, sizeof *len);
    *value = record->tags + *at + 5;
    *at += 5 + *len;
    return true;
}

/* 64 hex digits each, into a growing array of 32 bytes. */
static const char *parse_hex_list(unsigned char (**out)[32], size_t *count, const struct jobs__json *doc,
                                  uint32_t array, const char *what)
{
    if (doc->values[array].type != JOBS__JSON_ARRAY)
        return what;
    *out = need((doc->values[array].count + 1) * sizeof **out);
    for (uint32_t i = array + 1; i < doc->values[array].after; i = doc->values[i].after) {
        const struct jobs__json_value *value = &doc->values[i];
        if (value->type != JOBS__JSON_STRING || value->escaped ||
            !hex_bytes((*out)[*count], doc->text + value->start + 1, value->end - value->start - 2))
            return what;
        (*count)++;
    }
    return NULL;
}

static const char *parse_kinds(struct filter *filter, const struct jobs__json *doc, uint32_t array)
{
    if (doc->values[array].type != JOBS__JSON_ARRAY)
        return "kinds must be an array of integers";
    filter->kinds = need((doc->values[array].count + 1) * sizeof *filter->kinds);
    for (uint32_t i = array + 1; i < doc->values[array].after; i = doc->values[i].after) {
        int64_t kind;
        if (!jobs__json_integer(doc, i, &kind) || kind < 0 || kind > 65535)
            return "kinds must be integers from 0 to 65535";
        filter->kinds[filter->kind_count++] = (uint32_t)kind;
    }
    return NULL;
}

static const char *parse_tag(struct filter *filter, char letter, const struct jobs__json *doc, uint32_t array)
{
    if (doc->values[array].type != JOBS__JSON_ARRAY)
        return "#x must be an array of strings";
    filter->tags = need_more(filter->tags, filter->tag_count + 1, sizeof *filter->tags);
    struct filter_tag *tag = &filter->tags[filter->tag_count++];
    *tag = (struct filter_tag){.letter = letter};
    tag->values = need((doc->values[array].count + 1) * sizeof *tag->values);
    for (uint32_t i = array + 1; i < doc->values[array].after; i = doc->values[i].after) {
        if (doc->values[i].type != JOBS__JSON_STRING)
            return "#x must be an array of strings";
        struct jobs__buffer text = {.max = 1u << 20};
        jobs__json_string(doc, i, &text);
        tag->values[tag->count].len = (uint32_t)text.len;
        tag->values[tag->count].text = need_copy(text.bytes, text.len);
        tag->count++;
        jobs__buffer_free(&text);
    }
    return NULL;
}

static const char *parse_member(struct filter *filter, const struct jobs__json *doc, uint32_t name, uint32_t value)
{
    const struct jobs__json_value *n = &doc->values[name];
    size_t len = n->end - n->start - 2;
    const char *text = doc->text + n->start + 1;
    int64_t number;

    if (jobs__json_equals(doc, name, "ids", 3)) {
        filter->has_ids = true;
        return parse_hex_list(&filter->ids, &filter->id_count, doc, value, "ids must be 64 lower-case hex digits each");
    }
    if (jobs__json_equals(doc, name, "authors", 7)) {
        filter->has_authors = true;
        return parse_hex_list(&filter->authors, &filter->author_count, doc, value,
                              "authors must be 64 lower-case hex digits each");
    }
    if (jobs__json_equals(doc, name, "kinds", 5)) {
        filter->has_kinds = true;
        return parse_kinds(filter, doc, value);
    }
    if (len == 2 && text[0] == '#' && ((text[1] >= 'a' && text[1] <= 'z') || (text[1] >= 'A' && text[1] <= 'Z')))
        return parse_tag(filter, text[1], doc, value);
    if (jobs__json_equals(doc, name, "since", 5))
        return jobs__json_integer(doc, value, &filter->since) ? NULL : "since must be an integer";
    if (jobs__json_equals(doc, name, "until", 5))
        return jobs__json_integer(doc, value, &filter->until) ? NULL : "until must be an integer";
    if (jobs__json_equals(doc, name, "limit", 5)) {
        if (!jobs__json_integer(doc, value, &number) || number < 0)
            return "limit must be an integer from 0 up";
        filter->limit = (size_t)number;
        return NULL;
    }
    return "a filter may hold ids, authors, kinds, #x, since, until and limit";
}

const char *filter_parse(struct filter *filter, const struct jobs__json *doc, uint32_t index)
{
    *filter = (struct filter){.since = INT64_MIN, .until = INT64_MAX, .limit = SIZE_MAX};
    if (doc->values[index].type != JOBS__JSON_OBJECT)
        return "a filter must be an object";
    const char *wrong = NULL;
    uint32_t name = index + 1;
    while (wrong == NULL && name < doc->values[index].after) {
        wrong = parse_member(filter, doc, name, name + 1);
        name = doc->values[name + 1].after;
    }
    if (wrong != NULL)
        filter_free(filter);
    return wrong;
}

void filter_free(struct filter *filter)
{
    if (filter == NULL)
        return;
    free(filter->ids);
    free(filter->authors);
    free(filter->kinds);
    for (size_t i = 0; i < filter->tag_count; i++) {
        for (size_t j = 0; j < filter->tags[i].count; j++)
            free(filter->tags[i].values[j].text);
        free(filter->tags[i].values);
    }
    free(filter->tags);
    *filter = (struct filter){0};
}

static bool among(unsigned char (*list)[32], size_t count, const unsigned char wanted[32])
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(list[i], wanted, 32) == 0)
            return true;
    return false;
}

static bool has_tag(const struct record *record, const struct filter_tag *tag)
{
    uint32_t at = 0, len;
    char letter;
    const char *value;
    while (record_tag(record, &at, &letter, &value, &len)) {
        if (letter != tag->letter)
            continue;
        for (size_t i = 0; i < tag->count; i++)
            if (tag->values[i].len == len && memcmp(tag->values[i].text, value, len) == 0)
                return true;
    }
    return false;
}

bool filter_match(const struct filter *filter, const struct record *record)
{
    if (record->created_at < filter->since || record->created_at > filter->until)
        return false;
    if (filter->has_ids && !among(filter->ids, filter->id_count, record->id))
        return false;
    if (filter->has_authors && !among(filter->authors, filter->author_count, record->author))
        return false;
    if (filter->has_kinds) {
        size_t i = 0;
        while (i < filter->kind_count && filter->kinds[i] != record->kind)
            i++;
        if (i == filter->kind_count)
            return false;
    }
    for (size_t i = 0; i < filter->tag_count; i++)
        if (!has_tag(record, &filter->tags[i]))
            return false;
    return true;
}
