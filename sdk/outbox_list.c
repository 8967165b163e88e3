/* outbox_list.c - the outbox as a person sees it: list, show, drop, prune. No network.
 *
 * Looking takes no lock and changes nothing; drop and prune take the folder's.
 */
#include "outbox.h"

#include "../core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY        86400
#define LOCK_AWAIT 30000 /* ms */

struct tour { /* through every folder, or those that may hold one event */
    const char *state_dir, *folder;
    const char *only; /* an event id, or NULL */
    int (*visit)(void *context, const struct jobs_entry *entry);
    void *context;
    bool found;
    struct jobs_error *error;
};

static bool is_folder_name(const char *name)
{
    return strlen(name) == 64 && jobs__text_is_hex(name, 64, true);
}

static int show_entry(struct tour *tour, const struct jobs__entry *entry, const char *path)
{
    struct jobs_entry_relay *relays = calloc(entry->fact_count + 1, sizeof *relays);
    if (relays == NULL)
        return jobs_error_set(tour->error, JOBS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < entry->fact_count; i++) {
        const struct jobs__fact *fact = &entry->facts[i];
        relays[i] = (struct jobs_entry_relay){.url = fact->url,
                                              .state = jobs__relay_state_name(fact->state),
                                              .message = fact->message,
                                              .attempts = fact->attempts};
    }
    const struct jobs_entry shown = {.event_id = entry->id,
                                     .job = entry->job,
                                     .channel = entry->channel,
                                     .author = entry->author,
                                     .created_at = entry->created_at,
                                     .state = jobs__entry_state(entry),
                                     .relays = relays,
                                     .relay_count = entry->fact_count,
                                     .event = entry->event,
                                     .path = path};
    int code = tour->visit(tour->context, &shown);
    free(relays);
    return code;
}

static int show_damaged(struct tour *tour, const char *file, const char *path, const char *why)
{
    char id[65] = "";
    if (strlen(file) >= 64 && jobs__text_is_hex(file, 64, true))
        memcpy(id, file, 64);
    const struct jobs_entry shown = {.event_id = id,
                                     .job = "",
                                     .channel = "",
                                     .author = "",
                                     .state = JOBS_ENTRY_DAMAGED,
                                     .path = path,
                                     .damage = why};
    return tour->visit(tour->context, &shown);
}

static int on_file(void *context, struct jobs__entry *entry, const char *file, const char *why)
{
    struct tour *tour = context;
    char *path = NULL;
    if (tour->only != NULL && strncmp(file, tour->only, 64) != 0)
        return JOBS_OK;
    if (asprintf(&path, "%s/outbox/%s/%s", tour->state_dir, tour->folder, file) < 0)
        return jobs_error_set(tour->error, JOBS_NO_MEMORY, "out of memory");
    tour->found = true;
    int code = entry != NULL ? show_entry(tour, entry, path) : show_damaged(tour, file, path, why);
    free(path);
    return code;
}

/* Whether a folder has the event's file, whole or set aside. "Cannot tell" is no answer: an event that is nowhere
 * else is not said to be missing while a folder cannot be looked at. */
static int may_hold(bool *holds, int root, const char *folder, const char *id, struct jobs_error *error)
{
    static const char *const ends[] = {"", ".damaged"};
    char path[192];
    *holds = id == NULL;
    for (size_t i = 0; id != NULL && !*holds && i < 2; i++) {
        snprintf(path, sizeof path, "%s/%.64s.json%s", folder, id, ends[i]);
        *holds = faccessat(root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
        if (!*holds && errno != ENOENT && errno != ENOTDIR)
            return jobs_error_set(error, JOBS_SYSTEM, "cannot look into a folder of the outbox: %s", strerror(errno));
    }
    return JOBS_OK;
}

static int walk(struct tour *tour, const char *option)
{
    char *state_dir = NULL;
    int root = -1, blind = JOBS_OK;
    struct jobs__names names = {0};
    int code = jobs__state_dir(&state_dir, option, tour->error);
    if (!code)
        code = jobs__outbox_open(&root, state_dir, false, tour->error);
    if (code == JOBS_NOT_FOUND) {
        code = JOBS_OK; /* no outbox holds nothing */
        goto out;
    }
    if (!code)
        code = jobs__names_read(&names, root, tour->error);
    tour->state_dir = state_dir;
    for (size_t i = 0; !code && i < names.count; i++) {
        bool holds;
        tour->folder = names.names[i];
        if (!is_folder_name(tour->folder))
            continue;
        int number = may_hold(&holds, root, tour->folder, tour->only, tour->error);
        blind = number ? number : blind;
        if (holds)
            code = jobs__folder_peek(root, tour->folder, on_file, tour, tour->error);
    }
    if (!code && !tour->found)
        code = blind;

out:
    jobs__names_free(&names);
    if (root >= 0)
        close(root);
    free(state_dir);
    return code;
}

int jobs_outbox_list(const char *state_dir, int (*visit)(void *context, const struct jobs_entry *entry), void *context,
                     struct jobs_error *error)
{
    struct tour tour = {.visit = visit, .context = context, .error = error};
    return walk(&tour, state_dir);
}

static int not_found(struct jobs_error *error)
{
    return jobs_error_set(error, JOBS_NOT_FOUND, "the outbox holds no such event");
}

int jobs_outbox_show(const char *state_dir, const char *event_id,
                     int (*visit)(void *context, const struct jobs_entry *entry), void *context,
                     struct jobs_error *error)
{
    struct tour tour = {.visit = visit, .context = context, .error = error, .only = event_id};
    if (strlen(event_id) != 64 || !jobs__text_is_hex(event_id, 64, true))
        return not_found(error);
    int code = walk(&tour, state_dir);
    return code == JOBS_OK && !tour.found ? not_found(error) : code;
}

/* Calls act for every folder (or those that may hold `only`), locked and loaded. A busy one is skipped unless it is the
 * one that is meant. */
static int each_folder(const char *option, const char *only,
                       int (*act)(void *context, struct jobs__folder *folder, struct jobs_error *error), void *context,
                       struct jobs_error *error)
{
    char *state_dir = NULL;
    int root = -1, blind = JOBS_OK;
    bool acted = false;
    struct jobs__names names = {0};
    int code = jobs__state_dir(&state_dir, option, error);
    if (!code)
        code = jobs__outbox_open(&root, state_dir, false, error);
    if (code == JOBS_NOT_FOUND) {
        code = JOBS_OK;
        goto out;
    }
    if (!code)
        code = jobs__names_read(&names, root, error);
    for (size_t i = 0; !code && i < names.count; i++) {
        struct jobs__folder folder;
        bool holds;
        if (!is_folder_name(names.names[i]))
            continue;
        int number = may_hold(&holds, root, names.names[i], only, error);
        blind = number ? number : blind;
        if (!holds)
            continue;
        acted = true;
        code = jobs__folder_open(&folder, state_dir, names.names[i], false, only != NULL ? LOCK_AWAIT : 0, NULL, error);
        if (!code)
            code = act(context, &folder, error);
        else if (only == NULL && (code == JOBS_BUSY || code == JOBS_NOT_FOUND))
            code = JOBS_OK;
        jobs__folder_free(&folder);
    }
    if (!code && !acted)
        code = blind;

out:
    jobs__names_free(&names);
    if (root >= 0)
        close(root);
    free(state_dir);
    return code;
}

struct removal {
    const char *id;
    bool done;
    struct jobs_error damaged; /* set when a folder had it only as a file that was set aside */
};

static int drop_one(void *context, struct jobs__folder *folder, struct jobs_error *error)
{
    struct removal *removal = context;
    char name[80];
    const struct jobs__entry *entry = jobs__folder_find(folder, removal->id);
    snprintf(name, sizeof name, "%.64s.json", removal->id);
    if (entry == NULL) { /* another folder may have it whole */
        jobs_error_set(&removal->damaged, JOBS_USAGE,
                       "that file is damaged and was set aside in %s: it is yours to look at and to remove",
                       folder->path);
        return JOBS_OK;
    }
    if (unlinkat(folder->fd, name, 0) != 0 && errno != ENOENT)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot remove %s: %s", name, strerror(errno));
    int number = jobs__file_sync(folder->fd);
    if (number != 0)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot sync the folder of %s: %s", name, strerror(number));
    int pending;
    if (jobs__folder_open_in(&pending, folder->root, "pending", false, NULL) == JOBS_OK) {
        jobs__pending_remove(pending, entry->created_at, entry->id);
        close(pending);
    }
    removal->done = true;
    return JOBS_OK;
}

int jobs_outbox_drop(const char *state_dir, const char *event_id, struct jobs_error *error)
{
    struct removal removal = {.id = event_id};
    if (strlen(event_id) != 64 || !jobs__text_is_hex(event_id, 64, true))
        return not_found(error);
    int code = each_folder(state_dir, event_id, drop_one, &removal, error);
    if (code != JOBS_OK || removal.done)
        return code;
    if (removal.damaged.code == JOBS_OK)
        return not_found(error);
    if (error != NULL)
        *error = removal.damaged;
    return JOBS_USAGE;
}

struct pruning {
    int64_t before; /* unix */
    size_t count;
};

static int prune_one(void *context, struct jobs__folder *folder, struct jobs_error *error)
{
    struct pruning *pruning = context;
    for (size_t i = 0; i < folder->count; i++) {
        struct jobs__entry *entry = folder->entries[i];
        int64_t age_from = entry->stored_at > entry->created_at ? entry->stored_at : entry->created_at;
        bool stored;
        if (entry->event == NULL || jobs__entry_state(entry) != JOBS_ENTRY_SENT || age_from > pruning->before)
            continue;
        jobs_event_free(entry->event);
        entry->event = NULL;
        int code = jobs__folder_store(folder, entry, &stored, error);
        if (code)
            return code;
        pruning->count++;
    }
    return JOBS_OK;
}

int jobs_outbox_prune(const char *state_dir, unsigned days, size_t *count, struct jobs_error *error)
{
    struct pruning pruning = {.before = jobs__outbox_now() - (int64_t)days * DAY};
    int code = each_folder(state_dir, NULL, prune_one, &pruning, error);
    if (count != NULL)
        *count = pruning.count;
    return code;
}
