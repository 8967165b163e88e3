/* outbox_folder.c - the folder of one job: found, locked, put in order, loaded, written to.
 *
 * Whoever holds the lock is alone with the folder. The lock file itself is never renamed or removed, so that two
 * processes can never hold two different ones.
 */
#include "outbox.h"

#include "../core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

int jobs__state_dir(char **out, const char *option, struct jobs_error *error)
{
    const char *base = option != NULL && option[0] != '\0' ? option : variable("JOBS_STATE_DIR");
    const char *below = "";
    *out = NULL;
    if (base == NULL) {
        base = variable("XDG_STATE_HOME");
        below = "/jobs";
        if (base != NULL && base[0] != '/') /* the XDG specification: relative ones are to be ignored */
            base = NULL;
    }
    if (base == NULL) {
        base = variable("HOME");
        below = "/.local/state/jobs";
    }
    if (base == NULL)
        return jobs_error_set(error, JOBS_USAGE, "no place for the outbox: set JOBS_STATE_DIR, XDG_STATE_HOME or HOME");
    if (asprintf(out, "%s%s", base, below) < 0) {
        *out = NULL;
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    }
    return JOBS_OK;
}

int jobs__outbox_open(int *out, const char *state_dir, bool make, struct jobs_error *error)
{
    int state;
    *out = -1;
    int code = jobs__folder_open_path(&state, state_dir, make, error);
    if (code)
        return code;
    code = jobs__folder_open_in(out, state, "outbox", make, error);
    close(state);
    return code;
}

static bool ends_with(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);
    return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

enum kind_of_name {
    OF_ENTRY,
    OF_DAMAGED,
    OF_LEFTOVER,
    OF_US,
    OF_STRANGER
};

static enum kind_of_name classify(const char *name)
{
    if (strcmp(name, "lock") == 0)
        return OF_US;
    if (strcmp(name, JOBS__TEMPORARY) == 0)
        return OF_LEFTOVER;
    if (name[0] == '.')
        return OF_US; /* the file system's own, such as .nfs… */
    if (ends_with(name, ".damaged"))
        return OF_DAMAGED;
    if (strlen(name) == 64 + 5 && jobs__text_is_hex(name, 64, true) && ends_with(name, ".json"))
        return OF_ENTRY;
    return OF_STRANGER;
}

/* Reads one entry file. JOBS_INVALID: damaged, *why says how; JOBS_NOT_FOUND: gone meanwhile. */
static int read_entry(struct jobs__entry **out, int folder, const char *folder_name, const char *file, bool fields_only,
                      const char **why, struct jobs_error *error)
{
    struct jobs__buffer bytes = {.max = JOBS__ENTRY_FILE_MAX};
    char expected[65];
    *out = NULL;
    int code = JOBS_OK;
    int number = jobs__file_read(&bytes, folder, file);
    if (number == ENOENT) {
        code = JOBS_NOT_FOUND;
    } else if (number == EINVAL || number == EFBIG) {
        *why = number == EFBIG ? "it is too large" : "it is no plain file";
        code = JOBS_INVALID;
    } else if (number != 0) {
        code = jobs_error_set(error, number == ENOMEM ? JOBS_NO_MEMORY : JOBS_SYSTEM,
                              "cannot read %s in the outbox: %s", file, strerror(number));
    } else {
        code = jobs__entry_read(out, bytes.bytes, bytes.len, fields_only, why);
        if (code == JOBS_NO_MEMORY)
            jobs_error_set(error, code, "out of memory");
        if (code == JOBS_USAGE)
            code = jobs_error_set(error, JOBS_SYSTEM, "%s in the outbox was written by a newer version of this program",
                                  file);
    }
    if (code == JOBS_OK &&
        (strncmp(file, (*out)->id, 64) != 0 || jobs__folder_name(expected, (*out)->author, (*out)->job) ||
         strcmp(expected, folder_name) != 0)) {
        *why = "it belongs elsewhere";
        code = JOBS_INVALID;
    }
    if (code) {
        jobs__entry_free(*out);
        *out = NULL;
    }
    jobs__buffer_free(&bytes);
    return code;
}

static int compare_entries(const void *a, const void *b)
{
    const struct jobs__entry *left = *(struct jobs__entry *const *)a, *right = *(struct jobs__entry *const *)b;
    if (left->created_at != right->created_at)
        return left->created_at < right->created_at ? -1 : 1;
    return strcmp(left->id, right->id);
}

static int add_entry(struct jobs__folder *folder, struct jobs__entry *entry, struct jobs_error *error)
{
    struct jobs__entry **entries = realloc(folder->entries, (folder->count + 1) * sizeof *entries);
    if (entries == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    folder->entries = entries;
    entries[folder->count++] = entry;
    return JOBS_OK;
}

static int load_file(struct jobs__folder *folder, const char *name, struct jobs_error *error)
{
    struct jobs__entry *entry = NULL;
    const char *why = "it is no file of the outbox";
    int code = JOBS_INVALID;
    switch (classify(name)) {
    case OF_US:
        return JOBS_OK;
    case OF_LEFTOVER:
        unlinkat(folder->fd, name, 0); /* never renamed, so never sent: whoever wrote it did not come to that */
        return JOBS_OK;
    case OF_DAMAGED:
        folder->damaged++;
        return JOBS_OK;
    case OF_ENTRY:
        code = read_entry(&entry, folder->fd, folder->name, name, folder->look_only, &why, error);
        break;
    case OF_STRANGER:
        break;
    }
    if (code == JOBS_INVALID) {
        code = jobs__file_set_aside(folder->fd, name, error);
        folder->damaged++;
        folder->damaged_now++;
        jobs__text_one_line(folder->damaged_name, sizeof folder->damaged_name - 1, name, strlen(name));
        folder->damaged_why = why;
        return code;
    }
    if (code == JOBS_NOT_FOUND)
        return JOBS_OK;
    if (!code)
        code = add_entry(folder, entry, error);
    if (code)
        jobs__entry_free(entry);
    return code;
}

/* What an entry replaces is not to be sent any more: said by the newer file alone, so that its rename did both; written
 * into the older one when there is time. */
static void mark_superseded(struct jobs__folder *folder)
{
    for (size_t i = 0; i < folder->count; i++) {
        const struct jobs__entry *newer = folder->entries[i];
        for (size_t j = 0; j < folder->count; j++) {
            struct jobs__entry *older = folder->entries[j];
            if (older == newer || older->superseded_by[0] != '\0' ||
                (strcmp(newer->supersedes, older->id) != 0 && strcmp(newer->replaces, older->id) != 0))
                continue;
            jobs__entry_mark_superseded(older, newer->id);
            if (!folder->look_only) /* the newer file says it again at the next load */
                (void)!jobs__folder_note(folder, older, NULL);
        }
    }
}

static int open_folder(struct jobs__folder *folder, const char *state_dir, const char *name, bool make, bool look_only,
                       int64_t timeout_ms, const volatile sig_atomic_t *stop, struct jobs_error *error)
{
    *folder = (struct jobs__folder){.root = -1, .pending = -1, .fd = -1, .lock = -1, .look_only = look_only};
    struct jobs__names names = {0};
    snprintf(folder->name, sizeof folder->name, "%s", name);
    int code = JOBS_OK;
    if (asprintf(&folder->path, "%s/outbox/%s", state_dir, name) < 0) {
        folder->path = NULL;
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    }
    code = jobs__outbox_open(&folder->root, state_dir, make, error);
    if (!code)
        code = jobs__folder_open_in(&folder->fd, folder->root, name, make, error);
    if (!code)
        code = jobs__file_lock(&folder->lock, folder->fd, timeout_ms, stop, error);
    if (!code)
        code = jobs__names_read(&names, folder->fd, error);
    for (size_t i = 0; !code && i < names.count; i++)
        code = load_file(folder, names.names[i], error);
    jobs__names_free(&names);
    if (code)
        return code;
    if (folder->count > 1)
        qsort(folder->entries, folder->count, sizeof *folder->entries, compare_entries);
    code = jobs__folder_heed_mark(folder, error);
    if (!code && folder->count > 1)
        mark_superseded(folder);
    return code;
}

int jobs__folder_open(struct jobs__folder *folder, const char *state_dir, const char *name, bool make,
                      int64_t timeout_ms, const volatile sig_atomic_t *stop, struct jobs_error *error)
{
    return open_folder(folder, state_dir, name, make, false, timeout_ms, stop, error);
}

int jobs__folder_look(struct jobs__folder *folder, const char *state_dir, const char *name, struct jobs_error *error)
{
    return open_folder(folder, state_dir, name, false, true, 0, NULL, error);
}

void jobs__folder_free(struct jobs__folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        jobs__entry_free(folder->entries[i]);
    free(folder->entries);
    free(folder->path);
    const int fds[] = {folder->lock, folder->fd, folder->pending, folder->root};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    *folder = (struct jobs__folder){.root = -1, .pending = -1, .fd = -1, .lock = -1};
}

int jobs__folder_peek(int root, const char *name,
                      int (*visit)(void *context, struct jobs__entry *entry, const char *file, const char *why),
                      void *context, struct jobs_error *error)
{
    int fd = -1;
    struct jobs__names names = {0};
    struct jobs__folder found = {0};
    int code = jobs__folder_open_in(&fd, root, name, false, error);
    if (!code)
        code = jobs__names_read(&names, fd, error);
    for (size_t i = 0; !code && i < names.count; i++) {
        enum kind_of_name kind = classify(names.names[i]);
        struct jobs__entry *entry = NULL;
        const char *why = kind == OF_DAMAGED ? "it was set aside" : "it is no file of the outbox";
        if (kind == OF_US || kind == OF_LEFTOVER)
            continue;
        code = kind == OF_ENTRY ? read_entry(&entry, fd, name, names.names[i], false, &why, error) : JOBS_INVALID;
        if (code == JOBS_INVALID) {
            code = visit(context, NULL, names.names[i], why);
        } else if (code == JOBS_NOT_FOUND) {
            code = JOBS_OK;
        } else if (!code) {
            code = add_entry(&found, entry, error);
            if (code)
                jobs__entry_free(entry);
        }
    }
    if (!code && found.count > 1)
        qsort(found.entries, found.count, sizeof *found.entries, compare_entries);
    for (size_t i = 0; !code && i < found.count; i++) {
        struct jobs__entry *entry = found.entries[i];
        for (size_t j = 0; j < found.count; j++) { /* as mark_superseded, in memory only */
            const struct jobs__entry *newer = found.entries[j];
            if (newer != entry && entry->superseded_by[0] == '\0' &&
                (strcmp(newer->supersedes, entry->id) == 0 || strcmp(newer->replaces, entry->id) == 0))
                jobs__entry_mark_superseded(entry, newer->id);
        }
        char file[80];
        snprintf(file, sizeof file, "%s.json", entry->id);
        code = visit(context, entry, file, NULL);
    }
    for (size_t i = 0; i < found.count; i++)
        jobs__entry_free(found.entries[i]);
    free(found.entries);
    jobs__names_free(&names);
    if (fd >= 0)
        close(fd);
    return code;
}

// NOLINTBEGIN(clang-analyzer-core.NullDereference): that entry_new sets its result stands in another file
static int store(struct jobs__folder *folder, struct jobs__entry *entry, bool lasting, bool *stored,
                 struct jobs_error *error)
{
    struct jobs__buffer bytes = {.max = JOBS__ENTRY_FILE_MAX};
    bool known = jobs__folder_find(folder, entry->id) == entry;
    bool waits = jobs__entry_state(entry) == JOBS_ENTRY_PENDING;
    bool renamed = false;
    char name[80];
    snprintf(name, sizeof name, "%s.json", entry->id);
    *stored = false;
    if (folder->look_only) /* its event would be lost */
        return jobs_error_set(error, JOBS_SYSTEM, "this folder was opened for a look alone");
    if (!known && jobs__folder_find(folder, entry->id) != NULL)
        return jobs_error_set(error, JOBS_SYSTEM, "this event is in the outbox already");
    /* Room in the list first: an entry that is in a file must be in the list. */
    struct jobs__entry **entries = realloc(folder->entries, (folder->count + 1) * sizeof *entries);
    if (entries == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    folder->entries = entries;

    int code = jobs__entry_write(&bytes, entry);
    if (code)
        jobs_error_set(error, code, "the entry cannot be written down");
    if (!code && folder->pending < 0)
        code = jobs__pending_open(&folder->pending, folder->root, error);
    if (!code && waits)
        code = jobs__pending_add(folder->pending, entry->created_at, entry->id, error);
    /* The folder's own name must be on the disk too; the process that made it may have died before it came to that. */
    int number = !code && folder->count == 0 ? jobs__file_sync(folder->root) : 0;
    if (number != 0)
        code = jobs_error_set(error, JOBS_SYSTEM, "cannot sync the outbox: %s", strerror(number));
    if (!code)
        code = jobs__file_replace(folder->fd, name, bytes.bytes, bytes.len, lasting, &renamed, error);
    jobs__buffer_free(&bytes);
    if (renamed && !known) {
        folder->entries[folder->count++] = entry;
        qsort(folder->entries, folder->count, sizeof *folder->entries, compare_entries);
        *stored = true;
    }
    if (!code && !waits)
        jobs__pending_remove(folder->pending, entry->created_at, entry->id);
    if (code && !renamed && !known && folder->pending >= 0)
        jobs__pending_remove(folder->pending, entry->created_at, entry->id);
    if (!code && !known && folder->count > 1)
        mark_superseded(folder);
    return code;
}
// NOLINTEND(clang-analyzer-core.NullDereference)

int jobs__folder_store(struct jobs__folder *folder, struct jobs__entry *entry, bool *stored, struct jobs_error *error)
{
    return store(folder, entry, true, stored, error);
}

int jobs__folder_note(struct jobs__folder *folder, struct jobs__entry *entry, struct jobs_error *error)
{
    bool stored;
    int code = store(folder, entry, false, &stored, error);
    if (!code)
        jobs__folder_unmark(folder); /* the file says it now */
    return code;
}

struct jobs__entry *jobs__folder_find(const struct jobs__folder *folder, const char *id)
{
    for (size_t i = 0; i < folder->count; i++) {
        if (strcmp(folder->entries[i]->id, id) == 0)
            return folder->entries[i];
    }
    return NULL;
}

static bool stands(const struct jobs__entry *entry, bool skip_rejected)
{
    return !skip_rejected || jobs__entry_state(entry) != JOBS_ENTRY_REJECTED;
}

struct jobs__entry *jobs__folder_newest(const struct jobs__folder *folder, bool skip_rejected)
{
    struct jobs__entry *newest = NULL;
    for (size_t i = 0; i < folder->count; i++) {
        struct jobs__entry *entry = folder->entries[i];
        bool superseded = false;
        for (size_t j = 0; j < folder->count && !superseded; j++) {
            const struct jobs__entry *other = folder->entries[j];
            superseded = other != entry && stands(other, skip_rejected) &&
                         (strcmp(other->supersedes, entry->id) == 0 || strcmp(other->replaces, entry->id) == 0);
        }
        /* They come oldest first and, of one time, lowest id first: a later one wins only by its time. */
        if (!superseded && stands(entry, skip_rejected) && (newest == NULL || entry->created_at > newest->created_at))
            newest = entry;
    }
    return newest;
}

int jobs__folder_adopt(struct jobs__folder *folder, const struct jobs_event *found, const char *url, bool *fresh,
                       struct jobs_error *error)
{
    struct jobs_event *copy = NULL;
    struct jobs__entry *made = NULL;
    *fresh = false;
    int code = JOBS_OK;
    struct jobs__entry *entry = jobs__folder_find(folder, jobs_event_id(found));
    if (entry == NULL) {
        size_t len;
        const char *json = jobs_event_json(found, &len);
        code = json == NULL ? JOBS_NO_MEMORY : jobs_event_parse(&copy, json, len, NULL);
        if (!code)
            code = jobs__entry_new(&made, copy);
        if (code) {
            jobs_event_free(copy);
            /* Not a result with one channel and one request: nothing that could stand for this job. */
            return code == JOBS_INVALID ? JOBS_OK : jobs_error_set(error, code, "out of memory");
        }
        entry = made;
        *fresh = true;
    }
    struct jobs__fact *fact = jobs__entry_fact(entry, url, true);
    if (fact == NULL) {
        jobs__entry_free(made);
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    }
    if (made == NULL && fact->state == JOBS__RELAY_CONFIRMED)
        return JOBS_OK;
    fact->state = JOBS__RELAY_CONFIRMED;
    fact->read_back = JOBS_CONFIRMED;
    fact->refused_for_time = false;
    fact->unseen_since = 0;
    fact->message[0] = '\0';
    jobs__entry_settle(entry);
    bool stored;
    code = jobs__folder_store(folder, entry, &stored, error);
    if (made != NULL && !stored)
        jobs__entry_free(made);
    return code;
}
