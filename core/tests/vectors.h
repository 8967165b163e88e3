/* vectors.h - the folders of docs/protocol/vectors, for those tests that walk them.
 *
 * A file NAME.json is the bytes themselves; NAME.repeat.json says {"before", "repeat", "times", "after"} where the
 * bytes would be large, NAME.bin is for manifests that are no text.
 */
#ifndef JOBS_TESTS_VECTORS_H
#define JOBS_TESTS_VECTORS_H

#include "core/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>

#define VECTORS JOBS_SOURCE_DIR "/docs/protocol/vectors"

static inline bool vector_file(const char *folder, const char *name, struct jobs__buffer *out)
{
    char path[1024], piece[65536];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    *out = (struct jobs__buffer){.max = 4 << 20};
    if (file == NULL)
        return false;
    for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;)
        jobs__buffer_add(out, piece, n);
    jobs__buffer_add(out, "", 0);
    fclose(file);
    return true;
}

/* The parsed file, or NULL when there is none. */
static inline json_t *vector_json(const char *folder, const char *name)
{
    struct jobs__buffer bytes;
    if (!vector_file(folder, name, &bytes))
        return NULL;
    json_t *json = json_loadb(bytes.bytes, bytes.len, 0, NULL);
    if (json == NULL)
        fail_msg("%s/%s is no JSON", folder, name);
    jobs__buffer_free(&bytes);
    return json;
}

/* The bytes of `stem`, in whichever form they are written down. */
static inline void vector_bytes(const char *folder, const char *stem, struct jobs__buffer *out)
{
    char name[64];
    snprintf(name, sizeof name, "%s.repeat.json", stem);
    json_t *repeat = vector_json(folder, name);
    if (repeat != NULL) {
        *out = (struct jobs__buffer){.max = 4 << 20};
        jobs__buffer_text(out, json_string_value(json_object_get(repeat, "before")));
        for (json_int_t i = 0; i < json_integer_value(json_object_get(repeat, "times")); i++)
            jobs__buffer_text(out, json_string_value(json_object_get(repeat, "repeat")));
        jobs__buffer_text(out, json_string_value(json_object_get(repeat, "after")));
        json_decref(repeat);
        return;
    }
    snprintf(name, sizeof name, "%s.json", stem);
    if (vector_file(folder, name, out))
        return;
    snprintf(name, sizeof name, "%s.bin", stem);
    if (!vector_file(folder, name, out))
        fail_msg("%s has no %s", folder, stem);
}

static inline int vector_is_folder(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Calls run for every folder of a kind ("valid"), in order; returns how many there were. */
static inline size_t vector_walk(const char *kind, void (*run)(const char *folder, const char *name))
{
    char path[1024];
    struct dirent **entries;
    snprintf(path, sizeof path, VECTORS "/%s", kind);
    int count = scandir(path, &entries, vector_is_folder, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, VECTORS "/%s/%s", kind, entries[i]->d_name);
        run(path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return (size_t)count;
}

#endif
