/* outbox_room.h - what the outbox tests share: a scratch state folder, a key, signed events of ours. */
#ifndef OUTBOX_ROOM_H
#define OUTBOX_ROOM_H

#include "sdk/outbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <ftw.h>

#define CHANNEL "6f1e4c2a-9b0d-4a53-8c7e-2d1f0a9b8c7d"
#define JOB     "1111111111111111111111111111111111111111111111111111111111111111"
#define URL_A   "ws://127.0.0.1:1/a"
#define URL_B   "ws://127.0.0.1:1/b"

static char room[64]; /* the scratch state folder of the running test */
static struct jobs_key *room_key;

static inline int room_open(void **state)
{
    static const char secret[] = "00000000000000000000000000000000000000000000000000000000000000a7";
    (void)state;
    snprintf(room, sizeof room, "%s/jobs-outbox-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(room) == NULL || jobs_key_from_text(&room_key, secret, sizeof secret - 1, NULL) != JOBS_OK;
}

static inline int room_unlink(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline int room_close(void **state)
{
    (void)state;
    jobs_key_free(room_key);
    room_key = NULL;
    return nftw(room, room_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* A sealed 43004 for the job; outcome makes it another handoff, supersedes may be NULL. */
static inline struct jobs_event *room_event(const char *job, const char *outcome, const char *supersedes,
                                            int64_t created_at)
{
    char content[1024], extra[128] = "";
    if (supersedes != NULL)
        snprintf(extra, sizeof extra, ",\"supersedes\":\"%s\"", supersedes);
    int len = snprintf(content, sizeof content,
                       "{\"schemaVersion\":1,\"jobRequest\":\"%s\",\"requestedOutcome\":\"Do it.\",\"outcome\":\"%s\","
                       "\"disposition\":\"no_artifact\"%s}",
                       job, outcome, extra);
    const char *const h[] = {"h", CHANNEL};
    const char *const e[] = {"e", job, "", "reply"};
    const struct jobs_tag tags[] = {{h, 2}, {e, 4}};
    struct jobs_event *event = NULL;
    assert_int_equal(jobs_event_new(&event, JOBS_KIND_RESULT, created_at, tags, 2, content, (size_t)len, NULL),
                     JOBS_OK);
    assert_int_equal(jobs_event_seal(event, room_key, NULL), JOBS_OK);
    return event;
}

static inline struct jobs__entry *room_entry(const char *job, const char *outcome, const char *supersedes,
                                             int64_t created_at)
{
    struct jobs__entry *entry = NULL;
    assert_int_equal(jobs__entry_new(&entry, room_event(job, outcome, supersedes, created_at)), JOBS_OK);
    assert_non_null(jobs__entry_fact(entry, URL_A, true));
    return entry;
}

static inline void room_folder_name(char name[65], const char *job)
{
    assert_int_equal(jobs__folder_name(name, jobs_key_public(room_key), job), JOBS_OK);
}

static inline int room_folder(struct jobs__folder *folder, const char *job, int64_t timeout_ms,
                              struct jobs_error *error)
{
    char name[65];
    room_folder_name(name, job);
    return jobs__folder_open(folder, room, name, true, timeout_ms, NULL, error);
}

/* Stores an entry in the folder of its job and lets go of it; returns its id in a static place. */
static inline const char *room_store(struct jobs__entry *entry)
{
    static char id[65];
    struct jobs__folder folder;
    bool stored;
    memcpy(id, entry->id, sizeof id);
    assert_int_equal(room_folder(&folder, entry->job, 5000, NULL), JOBS_OK);
    assert_int_equal(jobs__folder_store(&folder, entry, &stored, NULL), JOBS_OK);
    assert_true(stored);
    jobs__folder_free(&folder);
    return id;
}

static inline char *room_path(const char *job, const char *file)
{
    static char path[512];
    char name[65];
    room_folder_name(name, job);
    snprintf(path, sizeof path, "%s/outbox/%s/%s", room, name, file);
    return path;
}

static inline void room_write(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static inline char *room_read(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    *len = fread(bytes, 1, (1 << 20) - 1, file);
    fclose(file);
    return bytes;
}

#endif
