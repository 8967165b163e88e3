/* store.c - see store.h. */
#include "store.h"

#include "index.h"
#include "need.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct store {
    int fd;
    struct record *records;
    size_t count;
    size_t capacity;
    size_t synced;
    uint64_t file_end;           /* bytes written */
    struct jobs__buffer pending; /* bytes that follow file_end, not written yet */
    struct index by_id;          /* 32 bytes → its one number */
    struct index by_value;       /* "a" author, "k" kind, "#" letter value → numbers */
};

/* --- what is remembered of an event --- */

static void add_tags(struct record *record, const struct jobs_event *event)
{
    struct jobs__buffer tags = {.max = 64u << 20};
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        if (tag.count < 2 || strlen(tag.values[0]) != 1)
            continue;
        uint32_t len = (uint32_t)strlen(tag.values[1]);
        jobs__buffer_add(&tags, tag.values[0], 1);
        jobs__buffer_add(&tags, &len, sizeof len);
        jobs__buffer_add(&tags, tag.values[1], len);
    }
    if (tags.failed)
        give_up("out of memory (tags)");
    record->tags_len = (uint32_t)tags.len;
    record->tags = jobs__buffer_take(&tags);
}

static size_t key_of_author(char key[33], const unsigned char author[32])
{
    key[0] = 'a';
    memcpy(key + 1, author, 32);
    return 33;
}

static size_t key_of_kind(char key[33], uint32_t kind)
{
    key[0] = 'k';
    memcpy(key + 1, &kind, sizeof kind);
    return 1 + sizeof kind;
}

static char *key_of_tag(size_t *len, char letter, const char *value, uint32_t value_len)
{
    char *key = need(2 + (size_t)value_len);
    key[0] = '#';
    key[1] = letter;
    memcpy(key + 2, value, value_len);
    *len = 2 + (size_t)value_len;
    return key;
}

static uint32_t remember(struct store *store, const struct jobs_event *event, uint64_t offset, size_t len)
{
    if (store->count == store->capacity) {
        store->capacity = store->capacity ? store->capacity * 2 : 1024;
        store->records = need_more(store->records, store->capacity, sizeof *store->records);
    }
    uint32_t number = (uint32_t)store->count++;
    struct record *record = &store->records[number];
    *record = (struct record){.created_at = jobs_event_created_at(event),
                              .kind = jobs_event_kind(event),
                              .offset = offset,
                              .len = (uint32_t)len};
    (void)hex_bytes(record->id, jobs_event_id(event), 64);
    (void)hex_bytes(record->author, jobs_event_author(event), 64);
    add_tags(record, event);

    char key[33];
    index_add(&store->by_id, record->id, 32, number);
    index_add(&store->by_value, key, key_of_author(key, record->author), number);
    index_add(&store->by_value, key, key_of_kind(key, record->kind), number);
    uint32_t at = 0, value_len;
    char letter;
    const char *value;
    while (record_tag(record, &at, &letter, &value, &value_len)) {
        size_t tag_len;
        char *tag = key_of_tag(&tag_len, letter, value, value_len);
        const struct numbers *have = index_get(&store->by_value, tag, tag_len);
        if (have == NULL || have->at[have->count - 1] != number) /* the same tag twice is one entry */
            index_add(&store->by_value, tag, tag_len, number);
        free(tag);
    }
    return number;
}

void store_hide(struct store *store, uint32_t number)
{
    store->records[number].hidden = true;
}

void store_obey_deletion(struct store *store, const struct record *deletion)
{
    uint32_t at = 0, len, number;
    char letter;
    const char *value;
    unsigned char id[32];
    while (record_tag(deletion, &at, &letter, &value, &len))
        if (letter == 'e' && hex_bytes(id, value, len) && store_find(store, id, &number) &&
            memcmp(store->records[number].author, deletion->author, 32) == 0)
            store_hide(store, number);
}

/* --- the file --- */

static void load_line(struct store *store, const char *line, size_t len, uint64_t offset)
{
    struct jobs_event *event = NULL;
    unsigned char id[32];
    uint32_t known;
    if (len == 0)
        return;
    if (jobs_event_parse(&event, line, len, NULL) != JOBS_OK)
        fprintf(stderr, "jobs-relay: %s: no event at byte %llu; left there, not shown\n", STORE_FILE,
                (unsigned long long)offset);
    else if (hex_bytes(id, jobs_event_id(event), 64) && !store_find(store, id, &known)) {
        uint32_t number = remember(store, event, offset, len);
        if (store->records[number].kind == 5)
            store_obey_deletion(store, &store->records[number]);
    }
    jobs_event_free(event);
}

static int load(struct store *store, const char *path, struct jobs_error *error)
{
    struct stat status;
    if (fstat(store->fd, &status) != 0)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot look at %s: %s", path, strerror(errno));
    size_t size = (size_t)status.st_size;
    if (size == 0)
        return JOBS_OK;
    char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, store->fd, 0);
    if (bytes == MAP_FAILED)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot read %s: %s", path, strerror(errno));

    size_t start = 0;
    for (const char *end; (end = memchr(bytes + start, '\n', size - start)) != NULL;) {
        load_line(store, bytes + start, (size_t)(end - bytes) - start, start);
        start = (size_t)(end - bytes) + 1;
        if (start == size)
            break;
    }
    munmap(bytes, size);
    store->file_end = start;
    store->synced = store->count;
    if (start < size) {
        /* A crash within a write: nobody was told OK, since that waits for the fsync of the whole line. */
        fprintf(stderr, "jobs-relay: %s: the last line was cut off by a crash; %zu bytes removed\n", STORE_FILE,
                size - start);
        if (ftruncate(store->fd, (off_t)start) != 0 || fsync(store->fd) != 0)
            return jobs_error_set(error, JOBS_SYSTEM, "cannot mend %s: %s", path, strerror(errno));
    }
    return JOBS_OK;
}

static int open_file(struct store *store, const char *dir, struct jobs_error *error)
{
    if (dir == NULL) {
        store->fd = memfd_create("events", MFD_CLOEXEC);
        return store->fd >= 0 ? JOBS_OK : jobs_error_set(error, JOBS_SYSTEM, "no memory file: %s", strerror(errno));
    }
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, STORE_FILE) >= sizeof path)
        return jobs_error_set(error, JOBS_SYSTEM, "--dir is too long");
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot make %s: %s", dir, strerror(errno));
    store->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->fd < 0)
        return jobs_error_set(error, JOBS_SYSTEM, "cannot open %s: %s", path, strerror(errno));
    if (flock(store->fd, LOCK_EX | LOCK_NB) != 0)
        return jobs_error_set(error, JOBS_SYSTEM, "%s is in use by another relay", path);
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fsync(folder) != 0) {
        int reason = errno;
        if (folder >= 0)
            close(folder);
        return jobs_error_set(error, JOBS_SYSTEM, "cannot sync %s: %s", dir, strerror(reason));
    }
    close(folder);
    return load(store, path, error);
}

int store_open(struct store **out, const char *dir, struct jobs_error *error)
{
    struct store *store = need(sizeof *store);
    store->fd = -1;
    store->pending.max = SIZE_MAX / 2;
    int rc = open_file(store, dir, error);
    if (rc != JOBS_OK) {
        store_close(store);
        store = NULL;
    }
    *out = store;
    return rc;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->count; i++)
        free(store->records[i].tags);
    free(store->records);
    index_free(&store->by_id);
    index_free(&store->by_value);
    jobs__buffer_free(&store->pending);
    if (store->fd >= 0)
        close(store->fd);
    free(store);
}

bool store_add(struct store *store, const struct jobs_event *event, uint32_t *number)
{
    unsigned char id[32];
    (void)hex_bytes(id, jobs_event_id(event), 64);
    if (store_find(store, id, number))
        return false;
    size_t len;
    const char *json = jobs_event_json(event, &len);
    uint64_t offset = store->file_end + store->pending.len;
    jobs__buffer_add(&store->pending, json, len);
    jobs__buffer_char(&store->pending, '\n');
    if (json == NULL || store->pending.failed)
        give_up("out of memory (an event of %zu bytes)", len);
    *number = remember(store, event, offset, len);
    return true;
}

void store_sync(struct store *store)
{
    if (store->synced == store->count)
        return;
    size_t done = 0;
    while (done < store->pending.len) {
        ssize_t n =
            pwrite(store->fd, store->pending.bytes + done, store->pending.len - done, (off_t)(store->file_end + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            give_up("cannot write %s: %s", STORE_FILE, strerror(errno));
        done += (size_t)n;
    }
    if (fsync(store->fd) != 0)
        give_up("cannot sync %s: %s", STORE_FILE, strerror(errno));
    store->file_end += done;
    jobs__buffer_clear(&store->pending);
    store->synced = store->count;
}

uint32_t store_count(const struct store *store)
{
    return (uint32_t)store->count;
}

uint32_t store_synced(const struct store *store)
{
    return (uint32_t)store->synced;
}

const struct record *store_record(const struct store *store, uint32_t number)
{
    return &store->records[number];
}

bool store_find(const struct store *store, const unsigned char id[32], uint32_t *number)
{
    const struct numbers *found = index_get(&store->by_id, id, 32);
    if (found == NULL)
        return false;
    *number = found->at[0];
    return true;
}

void store_read(const struct store *store, uint32_t number, struct jobs__buffer *out)
{
    const struct record *record = &store->records[number];
    if (record->offset >= store->file_end) {
        jobs__buffer_add(out, store->pending.bytes + (record->offset - store->file_end), record->len);
        return;
    }
    char *bytes = need(record->len);
    size_t done = 0;
    while (done < record->len) {
        ssize_t n = pread(store->fd, bytes + done, record->len - done, (off_t)(record->offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            give_up("cannot read %s: %s", STORE_FILE, n == 0 ? "it became shorter" : strerror(errno));
        done += (size_t)n;
    }
    jobs__buffer_add(out, bytes, record->len);
    free(bytes);
}

/* --- queries --- */

static int newest_first(const void *a, const void *b, void *context)
{
    const struct store *store = context;
    const struct record *x = &store->records[*(const uint32_t *)a], *y = &store->records[*(const uint32_t *)b];
    if (x->created_at != y->created_at)
        return x->created_at > y->created_at ? -1 : 1;
    return memcmp(x->id, y->id, 32);
}

static void sort(const struct store *store, struct numbers *numbers)
{
    if (numbers->count > 1)
        qsort_r(numbers->at, numbers->count, sizeof *numbers->at, newest_first, (void *)(uintptr_t)store);
}

/* One of a filter's conditions, as the lists of events that meet it. */
struct candidates {
    const struct numbers *lists[512];
    size_t count;
    size_t total;
    bool usable; /* false: too many values to be worth it */
};

static void consider(struct candidates *best, const struct candidates *other)
{
    if (other->usable && (!best->usable || other->total < best->total))
        *best = *other;
}

static void candidate(struct candidates *candidates, const struct index *index, const char *key, size_t len)
{
    const struct numbers *list = index_get(index, key, len);
    if (list == NULL)
        return;
    if (candidates->count == sizeof candidates->lists / sizeof *candidates->lists) {
        candidates->usable = false;
        return;
    }
    candidates->lists[candidates->count++] = list;
    candidates->total += list->count;
}

/* The condition that leaves the fewest events to look at. */
static void narrow(const struct store *store, const struct filter *filter, struct candidates *best)
{
    struct candidates some = {.usable = true};
    char key[33];
    *best = (struct candidates){0};
    if (filter->has_ids) {
        for (size_t i = 0; i < filter->id_count; i++)
            candidate(&some, &store->by_id, (const char *)filter->ids[i], 32);
        consider(best, &some);
    }
    for (size_t t = 0; t < filter->tag_count; t++) {
        some = (struct candidates){.usable = true};
        for (size_t i = 0; i < filter->tags[t].count; i++) {
            size_t len;
            char *tag =
                key_of_tag(&len, filter->tags[t].letter, filter->tags[t].values[i].text, filter->tags[t].values[i].len);
            candidate(&some, &store->by_value, tag, len);
            free(tag);
        }
        consider(best, &some);
    }
    if (filter->has_authors) {
        some = (struct candidates){.usable = true};
        for (size_t i = 0; i < filter->author_count; i++)
            candidate(&some, &store->by_value, key, key_of_author(key, filter->authors[i]));
        consider(best, &some);
    }
    if (filter->has_kinds) {
        some = (struct candidates){.usable = true};
        for (size_t i = 0; i < filter->kind_count; i++)
            candidate(&some, &store->by_value, key, key_of_kind(key, filter->kinds[i]));
        consider(best, &some);
    }
}

static void unique(struct numbers *sorted)
{
    size_t kept = 0;
    for (size_t i = 0; i < sorted->count; i++)
        if (kept == 0 || sorted->at[kept - 1] != sorted->at[i])
            sorted->at[kept++] = sorted->at[i];
    sorted->count = kept;
}

/* Keeps in `heap` the newest `limit` of what is offered, the oldest of them at its root. */
static void keep_newest(const struct store *store, struct numbers *heap, size_t limit, uint32_t number)
{
    size_t at = 0;
    if (heap->count < limit) {
        numbers_add(heap, number);
        for (at = heap->count - 1; at > 0; at = (at - 1) / 2) {
            uint32_t *child = &heap->at[at], *parent = &heap->at[(at - 1) / 2], kept = *child;
            if (newest_first(parent, child, (void *)(uintptr_t)store) > 0)
                break;
            *child = *parent;
            *parent = kept;
        }
        return;
    }
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count &&
            newest_first(&heap->at[child + 1], &heap->at[child], (void *)(uintptr_t)store) > 0)
            child++;
        if (newest_first(&number, &heap->at[child], (void *)(uintptr_t)store) > 0)
            break;
        heap->at[at] = heap->at[child];
    }
    heap->at[at] = number;
}

/* Of one list, in which no event stands twice, without sorting it all. */
static void query_list(const struct store *store, const struct filter *filter, const struct numbers *list,
                       struct numbers *out)
{
    for (size_t i = 0; i < list->count && filter->limit > 0; i++) {
        uint32_t number = list->at[i];
        if (out->count == filter->limit && newest_first(&number, &out->at[0], (void *)(uintptr_t)store) > 0)
            continue;
        if (!store->records[number].hidden && filter_match(filter, &store->records[number]))
            keep_newest(store, out, filter->limit, number);
    }
    sort(store, out);
}

static void query_one(const struct store *store, const struct filter *filter, struct numbers *out)
{
    struct candidates candidates;
    narrow(store, filter, &candidates);
    if (candidates.usable && candidates.count == 1) {
        query_list(store, filter, candidates.lists[0], out);
        return;
    }
    if (candidates.usable) {
        for (size_t l = 0; l < candidates.count; l++)
            for (size_t i = 0; i < candidates.lists[l]->count; i++) {
                uint32_t number = candidates.lists[l]->at[i];
                if (!store->records[number].hidden && filter_match(filter, &store->records[number]))
                    numbers_add(out, number);
            }
    } else {
        for (uint32_t number = 0; number < store->count; number++)
            if (!store->records[number].hidden && filter_match(filter, &store->records[number]))
                numbers_add(out, number);
    }
    sort(store, out);
    unique(out);
    if (out->count > filter->limit)
        out->count = filter->limit;
}

void store_query(const struct store *store, const struct filter *filters, size_t count, struct numbers *out)
{
    for (size_t f = 0; f < count; f++) {
        struct numbers one = {0};
        query_one(store, &filters[f], &one);
        for (size_t i = 0; i < one.count; i++)
            numbers_add(out, one.at[i]);
        numbers_free(&one);
    }
    if (count > 1) {
        sort(store, out);
        unique(out);
    }
}
