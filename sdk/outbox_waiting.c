/* outbox_waiting.c - what waits in the outbox: every folder looked at, the markers in pending/ put right.
 */
#include "outbox_flush.h"

#include "../core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int add_waiting(struct jobs__flush *flush, const struct jobs__entry *entry, const char *folder)
{
    if (flush->count == flush->capacity) {
        size_t capacity = flush->capacity == 0 ? 64 : flush->capacity * 2;
        struct jobs__waiting *more = realloc(flush->waiting, capacity * sizeof *more);
        if (more == NULL)
            return jobs_error_set(flush->error, JOBS_NO_MEMORY, "out of memory");
        flush->waiting = more;
        flush->capacity = capacity;
    }
    struct jobs__waiting *one = &flush->waiting[flush->count++];
    *one = (struct jobs__waiting){.created_at = entry->created_at};
    for (size_t i = 0; i < entry->fact_count; i++) {
        const struct jobs__fact *fact = &entry->facts[i];
        if (fact->state == JOBS__RELAY_PENDING && fact->last_send > one->tried)
            one->tried = fact->last_send;
    }
    memcpy(one->id, entry->id, sizeof one->id);
    memcpy(one->folder, folder, sizeof one->folder);
    return JOBS_OK;
}

static void use_marker(struct jobs__flush *flush, const struct jobs__entry *entry)
{
    char name[JOBS__PENDING_NAME];
    jobs__pending_name(name, entry->created_at, entry->id);
    char **marker = jobs__names_find(&flush->markers, name);
    if (marker != NULL)
        flush->marker_used[marker - flush->markers.names] = true;
}

static int look_at(struct jobs__flush *flush, struct jobs__folder *folder, int pending)
{
    jobs__flush_say_damaged(flush, folder);
    for (size_t i = 0; i < folder->count; i++) {
        const struct jobs__entry *entry = folder->entries[i];
        if (jobs__entry_state(entry) != JOBS_ENTRY_PENDING) {
            jobs__pending_remove(pending, entry->created_at, entry->id);
            continue;
        }
        int code = jobs__pending_add(pending, entry->created_at, entry->id, flush->error);
        use_marker(flush, entry);
        if (code)
            return code;
        if (strcmp(entry->author, jobs_key_public(flush->options->key)) == 0) {
            code = add_waiting(flush, entry, folder->name);
        } else {
            char words[128];
            snprintf(words, sizeof words, "skipped: it was signed by another key, %s", entry->author);
            jobs__flush_say(flush, entry->id, true, JOBS_OK, words);
        }
        if (code)
            return code;
    }
    return JOBS_OK;
}

static int on_busy_file(void *context, struct jobs__entry *entry, const char *file, const char *why)
{
    struct jobs__flush *flush = context;
    (void)file;
    (void)why;
    if (entry == NULL || jobs__entry_state(entry) != JOBS_ENTRY_PENDING ||
        strcmp(entry->author, jobs_key_public(flush->options->key)) != 0)
        return JOBS_OK;
    char folder[65];
    int code = jobs__folder_name(folder, entry->author, entry->job);
    return code ? code : add_waiting(flush, entry, folder); /* it may be free when its turn comes */
}

static int compare_waiting(const void *a, const void *b)
{
    const struct jobs__waiting *left = a, *right = b;
    if (left->tried != right->tried)
        return left->tried < right->tried ? -1 : 1;
    if (left->created_at != right->created_at)
        return left->created_at < right->created_at ? -1 : 1;
    return strcmp(left->id, right->id);
}

/* Markers that belong to nothing. Whoever makes one holds its folder's lock until the entry is there: so if no folder
 * was locked, or kept its entries to itself, while we looked, one that was there before and that no entry claimed is
 * left over. */
static void remove_strays(const struct jobs__flush *flush, int pending)
{
    for (size_t i = 0; !flush->some_unseen && i < flush->markers.count; i++) {
        if (!flush->marker_used[i])
            unlinkat(pending, flush->markers.names[i], 0);
    }
}

static int collect_folder(struct jobs__flush *flush, int root, int pending, const char *name)
{
    struct jobs__folder folder;
    int code = jobs__folder_look(&folder, flush->state_dir, name, flush->error);
    if (!code)
        code = look_at(flush, &folder, pending);
    jobs__folder_free(&folder);
    if (code == JOBS_BUSY) {
        flush->some_unseen = true;
        code = jobs__folder_peek(root, name, on_busy_file, flush, flush->error);
    }
    if (code == JOBS_SYSTEM) { /* one folder that cannot be read is no reason to leave the others unsent */
        jobs__flush_say(flush, "", false, code, flush->error == NULL ? "" : flush->error->message);
        jobs__flush_note(flush, code);
        flush->left++;
        flush->some_unseen = true;
        code = JOBS_OK;
    }
    return code == JOBS_NOT_FOUND ? JOBS_OK : code;
}

int jobs__flush_collect(struct jobs__flush *flush)
{
    int root = -1, pending = -1;
    struct jobs__names names = {0};
    int code = jobs__outbox_open(&root, flush->state_dir, false, flush->error);
    if (code == JOBS_NOT_FOUND)
        return JOBS_OK;
    if (!code)
        code = jobs__pending_open(&pending, root, flush->error);
    if (!code)
        code = jobs__names_read(&flush->markers, pending, flush->error);
    if (!code) {
        flush->marker_used = calloc(flush->markers.count + 1, sizeof *flush->marker_used);
        if (flush->marker_used == NULL)
            code = jobs_error_set(flush->error, JOBS_NO_MEMORY, "out of memory");
    }
    if (!code)
        code = jobs__names_read(&names, root, flush->error);
    for (size_t i = 0; !code && i < names.count; i++) {
        flush->cut_short = jobs__stopped(flush->options);
        if (flush->cut_short)
            break;
        if (strlen(names.names[i]) == 64 && jobs__text_is_hex(names.names[i], 64, true))
            code = collect_folder(flush, root, pending, names.names[i]);
    }
    if (!code && !flush->cut_short)
        remove_strays(flush, pending);
    if (!code && flush->count > 1)
        qsort(flush->waiting, flush->count, sizeof *flush->waiting, compare_waiting);
    jobs__names_free(&names);
    if (pending >= 0)
        close(pending);
    if (root >= 0)
        close(root);
    return code;
}
