/* convert_sources.h - generated results of other systems: the good samples with random members changed, removed,
 * repeated, and local paths and codes strewn in. The seed is printed; JOBS_SEED sets it.
 */
#ifndef CONVERT_SOURCES_H
#define CONVERT_SOURCES_H

#include "convert_samples.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static uint64_t seed;

static inline uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static inline size_t below(size_t n)
{
    return (size_t)(next_random() % n);
}

/* What must never come out; each is strewn into texts, and some into references. */
static const char *const poison[] = {"/srv/private/x.c", "~/keys.txt",  "a/../../b",      "file:///etc/passwd",
                                     "C:\\Users\\me",    "SR-0BADF00D", "/opt/agent/repo"};
static const char *const words[] = {"completed_owned",
                                    "completed_diagnostic",
                                    "route_required",
                                    "blocked",
                                    "completed",
                                    "continue",
                                    "needs-input",
                                    "failed",
                                    "OK",
                                    "CONTINUE",
                                    "READY_FOR_REVIEW",
                                    "READY_FOR_AUDIT",
                                    "MERGE_READY",
                                    "MERGED",
                                    "NEEDS_FIXES",
                                    "BLOCKED",
                                    "NEEDS_INPUT",
                                    "FAILED",
                                    "HALT",
                                    "draft",
                                    "validated",
                                    "approved",
                                    "promoted",
                                    "observation_window",
                                    "closed",
                                    "rejected",
                                    "green",
                                    "red",
                                    "pending",
                                    "none",
                                    "F-1",
                                    "F-2",
                                    "F-3",
                                    "info",
                                    "warn",
                                    "blocker",
                                    "routed",
                                    "fixed-in-session",
                                    "independent",
                                    "required",
                                    "bubbles.plan",
                                    "bubbles.workflow",
                                    "unit",
                                    "run",
                                    "high",
                                    "low",
                                    "hold",
                                    "approve",
                                    "https://example.org/o/r/pull/7",
                                    "https://example.org/x",
                                    "9f1c2d3e4b5a69788776655443322110ffeeddcc",
                                    "docs/a.md",
                                    "plain words",
                                    "text with /srv/private/x.c inside",
                                    "see ~/keys.txt",
                                    "code SR-0BADF00D here",
                                    "",
                                    " "};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Picks a random value somewhere below `value`, with its holder; depth-first, by reservoir. */
struct place {
    json_t *holder;
    char name[128];
    size_t index, seen;
};

static inline void choose_place(json_t *value, struct place *p)
{
    const char *name;
    json_t *child;
    size_t i;
    if (json_is_object(value)) {
        json_object_foreach(value, name, child)
        {
            if (below(++p->seen) == 0) {
                p->holder = value;
                snprintf(p->name, sizeof p->name, "%s", name);
            }
            choose_place(child, p);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, child)
        {
            if (below(++p->seen) == 0) {
                p->holder = value;
                p->index = i;
            }
            choose_place(child, p);
        }
    }
}

static inline json_t *invent(const json_t *old)
{
    char text[256];
    switch (below(8)) {
    case 0:
        return json_null();
    case 1:
        return json_is_boolean(old) ? json_boolean(json_is_false(old)) : json_integer((json_int_t)below(5));
    case 2:
        snprintf(text, sizeof text, "words %s more", poison[below(COUNT(poison))]);
        return json_string(text);
    case 3:
        return json_string(poison[below(COUNT(poison))]);
    case 4:
        return json_is_array(old) ? json_array() : json_string(words[below(COUNT(words))]);
    default:
        return json_string(words[below(COUNT(words))]);
    }
}

static inline void mutate(json_t *source)
{
    struct place p = {0};
    choose_place(source, &p);
    if (p.holder == NULL)
        return;
    bool object = json_is_object(p.holder);
    json_t *old = object ? json_object_get(p.holder, p.name) : json_array_get(p.holder, p.index);
    json_t *value = below(4) == 0 ? json_deep_copy(old) : invent(old);
    if (!object && below(2) == 0)
        json_array_append_new(p.holder, value);
    else if (object)
        json_object_set_new(p.holder, p.name, value);
    else
        json_array_set_new(p.holder, p.index, value);
    if (below(12) == 0 && object)
        json_object_del(p.holder, p.name);
}

/* The good samples of one format. */
struct pool {
    json_t *sources[16];
    size_t count;
    enum jobs_format format;
};

static inline void gather(const struct sample *s, void *context)
{
    struct pool *pool = context;
    const char *open = strchr(s->text, '{');
    if (s->format != pool->format || s->letter != 'a' || open == NULL || pool->count == COUNT(pool->sources))
        return;
    json_t *source = json_loadb(open, s->len - (size_t)(open - s->text), JSON_DISABLE_EOF_CHECK, NULL);
    if (source != NULL)
        pool->sources[pool->count++] = source;
}

/* One of them, with up to five changes. */
static inline json_t *invent_source(const struct pool *pool)
{
    json_t *source = json_deep_copy(pool->sources[below(pool->count)]);
    for (size_t n = below(6); n > 0; n--)
        mutate(source);
    return source;
}

/* Calls use with so many invented results of a format (JOBS_CONVERT_RUNS: that many); returns how many it said were
 * converted. */
static inline size_t each_invented(enum jobs_format format, size_t *runs,
                                   void (*use)(json_t *source, enum jobs_format format, size_t *converted))
{
    struct pool pool = {.format = format};
    const char *asked = getenv("JOBS_CONVERT_RUNS");
    size_t converted = 0;
    *runs = asked != NULL ? strtoul(asked, NULL, 10) : *runs;
    each_sample(gather, &pool);
    assert_true(pool.count > 0);
    for (size_t run = 0; run < *runs; run++) {
        json_t *source = invent_source(&pool);
        use(source, format, &converted);
        json_decref(source);
    }
    for (size_t i = 0; i < pool.count; i++)
        json_decref(pool.sources[i]);
    return converted;
}

static inline void set_seed(void)
{
    const char *given = getenv("JOBS_SEED");
    seed = given != NULL ? strtoull(given, NULL, 10) : 20261201; /* the same each time: what fails stays failing */
    printf("seed %llu\n", (unsigned long long)seed);
}

#endif
