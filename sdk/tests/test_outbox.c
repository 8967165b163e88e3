/* test_outbox.c - entries and folders on a real disk: what is written is read back, what is damaged is set aside, what
 * is locked is alone.
 */
#include "outbox_room.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static void an_entry_survives_its_file(void **state)
{
    (void)state;
    struct jobs__buffer bytes = {.max = JOBS__ENTRY_FILE_MAX};
    struct jobs__entry *entry = room_entry(JOB, "umlauts \\u00e4, quotes \\\" and \\n", NULL, 1700000000), *again;
    const char *why;
    struct jobs__fact *fact = jobs__entry_fact(entry, URL_B, true);
    fact->state = JOBS__RELAY_UNSEEN;
    fact->read_back = JOBS_ABSENT;
    fact->attempts = 7;
    fact->last_send = 11;
    fact->absent_at = 12;
    fact->unseen_since = 13;
    fact->refused_for_time = fact->said_stored = true;
    snprintf(fact->message, sizeof fact->message, "words \"of\" the relay");
    assert_int_equal(jobs__entry_write(&bytes, entry), JOBS_OK);
    assert_int_equal(jobs__entry_read(&again, bytes.bytes, bytes.len, false, &why), JOBS_OK);
    assert_string_equal(again->id, entry->id);
    assert_string_equal(again->digest, entry->digest);
    assert_string_equal(again->digest_loose, entry->digest_loose);
    assert_int_equal(again->created_at, 1700000000);
    assert_true(jobs_event_same(again->event, entry->event));
    assert_string_equal(jobs_event_json(again->event, NULL), jobs_event_json(entry->event, NULL));
    assert_int_equal(again->fact_count, 2);
    const struct jobs__fact *read = &again->facts[1];
    assert_string_equal(read->url, URL_B);
    assert_int_equal(read->state, JOBS__RELAY_UNSEEN);
    assert_int_equal(read->read_back, JOBS_ABSENT);
    assert_int_equal(read->attempts, 7);
    assert_int_equal(read->last_send, 11);
    assert_int_equal(read->absent_at, 12);
    assert_int_equal(read->unseen_since, 13);
    assert_true(read->refused_for_time && read->said_stored);
    assert_string_equal(read->message, "words \"of\" the relay");
    jobs__buffer_free(&bytes);
    jobs__entry_free(entry);
    jobs__entry_free(again);
}

static void cut_or_edited_anywhere_is_damaged(void **state)
{
    (void)state;
    struct jobs__buffer bytes = {.max = JOBS__ENTRY_FILE_MAX};
    struct jobs__entry *entry = room_entry(JOB, "done", NULL, 1700000000), *again;
    const char *why;
    assert_int_equal(jobs__entry_write(&bytes, entry), JOBS_OK);
    for (size_t len = 0; len < bytes.len; len++) {
        char *cut = malloc(len + 1); /* its own allocation: a read behind the end is seen */
        assert_non_null(cut);
        memcpy(cut, bytes.bytes, len);
        assert_int_equal(jobs__entry_read(&again, cut, len, false, &why), JOBS_INVALID);
        free(cut);
    }
    for (size_t at = 0; at < bytes.len; at++) {
        char was = bytes.bytes[at];
        bytes.bytes[at] = (char)(was ^ 1);
        assert_int_equal(jobs__entry_read(&again, bytes.bytes, bytes.len, false, &why), JOBS_INVALID);
        bytes.bytes[at] = was;
    }
    assert_int_equal(jobs__entry_read(&again, bytes.bytes, bytes.len, false, &why), JOBS_OK);
    jobs__entry_free(again);
    jobs__buffer_free(&bytes);
    jobs__entry_free(entry);
}

/* A file whose form and checksum are right, around an event that is not. */
static void a_forged_event_is_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } changes[] = {{"Do it.", "Do is."}, {"\"kind\":43004", "\"kind\":43003"}, {"\"sig\":\"", NULL}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct jobs__buffer bytes = {.max = JOBS__ENTRY_FILE_MAX};
        struct jobs__entry *entry = room_entry(JOB, "done", NULL, 1700000000), *again;
        const char *why = "";
        size_t len;
        char *json = strdup(jobs_event_json(entry->event, &len));
        char *at = strstr(json, changes[i].from);
        assert_non_null(at);
        if (changes[i].to != NULL)
            memcpy(at, changes[i].to, strlen(changes[i].to));
        else
            at[7] = at[7] == '0' ? '1' : '0';
        jobs_event_free(entry->event);
        assert_int_equal(jobs_event_parse(&entry->event, json, len, NULL), JOBS_OK);
        assert_int_equal(jobs__entry_write(&bytes, entry), JOBS_OK);
        assert_int_equal(jobs__entry_read(&again, bytes.bytes, bytes.len, false, &why), JOBS_INVALID);
        assert_non_null(strstr(why, "event"));
        free(json);
        jobs__buffer_free(&bytes);
        jobs__entry_free(entry);
    }
}

static void modes_and_markers(void **state)
{
    (void)state;
    char marker[512], file[80];
    struct stat about;
    struct jobs__folder folder;
    bool stored;
    struct jobs__entry *entry = room_entry(JOB, "done", NULL, 1700000000);
    snprintf(marker, sizeof marker, "%s/outbox/pending/1700000000-%s", room, entry->id);
    snprintf(file, sizeof file, "%s.json", entry->id);
    mode_t old = umask(0);
    room_store(entry);
    umask(old);
    assert_int_equal(stat(marker, &about), 0);
    assert_int_equal(about.st_size, 0);
    assert_int_equal(stat(room_path(JOB, file), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_int_equal(stat(room_path(JOB, ""), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);

    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(folder.count, 1);
    folder.entries[0]->facts[0].state = JOBS__RELAY_CONFIRMED;
    assert_int_equal(jobs__folder_store(&folder, folder.entries[0], &stored, NULL), JOBS_OK);
    jobs__folder_free(&folder);
    assert_int_equal(stat(marker, &about), -1);
}

static void what_does_not_belong_is_set_aside(void **state)
{
    (void)state;
    static const char other_job[] = "2222222222222222222222222222222222222222222222222222222222222222";
    struct jobs__folder folder;
    char id[65], other[65], file[80], path[512];
    size_t len;
    memcpy(id, room_store(room_entry(JOB, "done", NULL, 1700000000)), 65);
    memcpy(other, room_store(room_entry(other_job, "done", NULL, 1700000000)), 65);

    /* a whole entry, of another job; one that was cut; and things that are no files at all */
    snprintf(file, sizeof file, "%s.json", other);
    char *whole = room_read(room_path(other_job, file), &len);
    room_write(room_path(JOB, file), whole, len);
    snprintf(file, sizeof file, "%064d.json", 3);
    room_write(room_path(JOB, file), whole, len / 2);
    free(whole);
    snprintf(file, sizeof file, "%064d.json", 4);
    assert_int_equal(mkfifo(room_path(JOB, file), 0600), 0);
    snprintf(file, sizeof file, "%064d.json", 5);
    assert_int_equal(symlink("/etc/passwd", room_path(JOB, file)), 0);
    snprintf(file, sizeof file, "%064d.json", 6);
    assert_int_equal(mkdir(room_path(JOB, file), 0700), 0);
    room_write(room_path(JOB, "notes.txt"), "x", 1);
    room_write(room_path(JOB, JOBS__TEMPORARY), "half", 4);

    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(folder.count, 1);
    assert_string_equal(folder.entries[0]->id, id);
    assert_int_equal(folder.damaged, 6);
    assert_int_equal(folder.damaged_now, 6);
    jobs__folder_free(&folder);
    assert_int_equal(access(room_path(JOB, JOBS__TEMPORARY), F_OK), -1);
    assert_int_equal(access(room_path(JOB, "notes.txt.damaged"), F_OK), 0);

    /* the same name again does not write over the first one */
    room_write(room_path(JOB, "notes.txt"), "y", 1);
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(folder.damaged, 7);
    assert_int_equal(folder.damaged_now, 1);
    jobs__folder_free(&folder);
    snprintf(path, sizeof path, "%s", room_path(JOB, "notes.txt.damaged"));
    char *first = room_read(path, &len);
    assert_string_equal(first, "x");
    free(first);
    assert_int_equal(access(room_path(JOB, "notes.txt.2.damaged"), F_OK), 0);
}

static void a_newer_program_s_file_stays(void **state)
{
    (void)state;
    struct jobs__folder folder;
    struct jobs_error error = {0};
    char file[80];
    size_t len;
    snprintf(file, sizeof file, "%s.json", room_store(room_entry(JOB, "done", NULL, 1700000000)));
    char *bytes = room_read(room_path(JOB, file), &len);
    char *version = strstr(bytes, "\"version\":1");
    assert_non_null(version);
    version[10] = '2';
    /* with a checksum that holds */
    struct jobs__buffer sum = {.max = 1 << 20};
    char command[1200];
    room_write(room_path(JOB, "body"), bytes, len - 80);
    snprintf(command, sizeof command, "sha256sum < '%s'", room_path(JOB, "body"));
    FILE *pipe = popen(command, "r");
    char hex[65];
    assert_int_equal(fread(hex, 1, 64, pipe), 64);
    pclose(pipe);
    hex[64] = '\0';
    unlink(room_path(JOB, "body"));
    jobs__buffer_add(&sum, bytes, len - 80);
    jobs__buffer_format(&sum, ",\"checksum\":\"%s\"}\n", hex);
    room_write(room_path(JOB, file), sum.bytes, sum.len);
    assert_int_equal(room_folder(&folder, JOB, 0, &error), JOBS_SYSTEM);
    assert_non_null(strstr(error.message, "newer version"));
    jobs__folder_free(&folder);
    assert_int_equal(access(room_path(JOB, file), F_OK), 0);
    jobs__buffer_free(&sum);
    free(bytes);
}

/* --- processes --- */

static int in_children(int count, void (*work)(int i))
{
    int failed = 0;
    pid_t pids[64];
    for (int i = 0; i < count; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            work(i);
            _exit(0);
        }
    }
    for (int i = 0; i < count; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        failed += status != 0;
    }
    return failed;
}

static void store_if_alone(int i)
{
    struct jobs__folder folder;
    bool stored = false;
    char outcome[16];
    snprintf(outcome, sizeof outcome, "%d", i);
    if (room_folder(&folder, JOB, 60000, NULL))
        _exit(1);
    if (folder.count == 0 &&
        (jobs__folder_store(&folder, room_entry(JOB, outcome, NULL, 1700000000 + i), &stored, NULL) || !stored))
        _exit(2);
    jobs__folder_free(&folder);
}

static void fifty_at_once_are_one(void **state)
{
    (void)state;
    struct jobs__folder folder;
    assert_int_equal(in_children(50, store_if_alone), 0);
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(folder.count, 1);
    assert_int_equal(folder.damaged, 0);
    jobs__folder_free(&folder);
}

static void a_held_lock_is_awaited_no_longer_than_asked(void **state)
{
    (void)state;
    struct jobs__folder mine, theirs;
    struct jobs_error error = {0};
    assert_int_equal(room_folder(&mine, JOB, 0, NULL), JOBS_OK);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(room_folder(&theirs, JOB, 150, &error), JOBS_BUSY);
    clock_gettime(CLOCK_MONOTONIC, &after);
    jobs__folder_free(&theirs);
    assert_true(error.retryable);
    long ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    assert_in_range(ms, 149, 1000); /* the wait counts whole milliseconds of its own clock */
    static const volatile sig_atomic_t stop = 1;
    char name[65];
    room_folder_name(name, JOB);
    assert_int_equal(jobs__folder_open(&theirs, room, name, true, 60000, &stop, NULL), JOBS_BUSY);
    jobs__folder_free(&theirs);
    jobs__folder_free(&mine);
}

/* A holder that dies lets go, and what it was writing is there whole or not at all. */
static void killed_at_any_moment(void **state)
{
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    struct jobs__entry *first = room_entry(JOB, "done", NULL, 1700000000);
    char id[65];
    memcpy(id, room_store(first), 65);
    for (int round = 0; round < 60; round++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct jobs__folder folder;
            bool stored;
            if (room_folder(&folder, JOB, 60000, NULL) || folder.count != 1)
                _exit(1);
            for (unsigned i = 0;; i++) {
                folder.entries[0]->facts[0].attempts = i;
                folder.entries[0]->facts[0].state = i % 2 == 0 ? JOBS__RELAY_PENDING : JOBS__RELAY_CONFIRMED;
                if (jobs__folder_store(&folder, folder.entries[0], &stored, NULL))
                    _exit(2);
            }
        }
        struct timespec pause = {.tv_nsec = 1000L * (rand_r(&seed) % 4000)};
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        struct jobs__folder folder;
        assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
        assert_int_equal(folder.count, 1);
        assert_int_equal(folder.damaged, 0);
        assert_string_equal(folder.entries[0]->id, id);
        jobs__folder_free(&folder);
    }
}

/* --- as a person sees it --- */

struct seen {
    size_t count, damaged;
    char ids[8][65];
    enum jobs_entry_state states[8];
    bool has_event[8];
};

static int see(void *context, const struct jobs_entry *entry)
{
    struct seen *seen = context;
    assert_true(seen->count < 8);
    assert_int_equal(access(entry->path, F_OK), 0);
    snprintf(seen->ids[seen->count], 65, "%s", entry->event_id);
    seen->states[seen->count] = entry->state;
    seen->has_event[seen->count] = entry->event != NULL;
    seen->damaged += entry->state == JOBS_ENTRY_DAMAGED;
    seen->count++;
    return JOBS_OK;
}

static int ignore_entry(void *context, const struct jobs_entry *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

/* A folder that cannot be looked into may hold what is asked for: then "there is no such event" would be a guess. */
static void what_cannot_be_looked_at_is_not_missing(void **state)
{
    (void)state;
    static const char id[] = "3333333333333333333333333333333333333333333333333333333333333333";
    struct jobs__folder folder;
    struct jobs__entry *entry = room_entry(JOB, "A", NULL, 1000);
    char path[256], there[65];
    bool stored;
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(jobs__folder_store(&folder, entry, &stored, NULL), JOBS_OK);
    memcpy(there, entry->id, sizeof there);
    jobs__folder_free(&folder);
    snprintf(path, sizeof path, "%s/outbox/%064d", room, 0);
    assert_int_equal(symlink(path, path), 0); /* a loop, which nobody can open */
    assert_int_equal(jobs_outbox_show(room, id, ignore_entry, NULL, NULL), JOBS_SYSTEM);
    assert_int_equal(jobs_outbox_drop(room, id, NULL), JOBS_SYSTEM);
    assert_int_equal(jobs_outbox_show(room, there, ignore_entry, NULL, NULL), JOBS_OK);
    assert_int_equal(jobs_outbox_drop(room, there, NULL), JOBS_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(jobs_outbox_show(room, id, ignore_entry, NULL, NULL), JOBS_NOT_FOUND);
}

static void list_show_drop_prune(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct jobs_error error;
    struct jobs_receipt receipt = {0};
    char sent[65], waits[65];
    size_t count = 9;
    assert_int_equal(jobs_outbox_list(room, see, &seen, NULL), JOBS_OK); /* no outbox yet, and none is made */
    assert_int_equal(seen.count, 0);
    char outbox[128];
    snprintf(outbox, sizeof outbox, "%s/outbox", room);
    assert_int_equal(access(outbox, F_OK), -1);

    struct jobs__entry *entry = room_entry(JOB, "first", NULL, 1700000000);
    entry->facts[0].state = JOBS__RELAY_CONFIRMED;
    memcpy(sent, room_store(entry), 65);
    memcpy(waits, room_store(room_entry(JOB, "second", sent, 1600000000)), 65);
    room_write(room_path(JOB, "junk"), "?", 1);
    assert_int_equal(jobs_outbox_list(room, see, &seen, NULL), JOBS_OK);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.damaged, 1);
    assert_string_equal(seen.ids[1], waits); /* oldest first */
    assert_int_equal(seen.states[1], JOBS_ENTRY_PENDING);
    assert_string_equal(seen.ids[2], sent);
    assert_int_equal(seen.states[2], JOBS_ENTRY_SENT);
    assert_int_equal(access(room_path(JOB, "junk"), F_OK), 0); /* looking changes nothing */

    jobs__pending_count(&receipt, room, "");
    assert_int_equal(receipt.pending_count, 1);
    assert_int_equal(receipt.pending_oldest, 1600000000);
    receipt = (struct jobs_receipt){0};
    jobs__pending_count(&receipt, room, waits);
    assert_int_equal(receipt.pending_count, 0);

    seen = (struct seen){0};
    assert_int_equal(jobs_outbox_show(room, sent, see, &seen, NULL), JOBS_OK);
    assert_int_equal(seen.count, 1);
    assert_true(seen.has_event[0]);
    assert_int_equal(jobs_outbox_show(room, JOB, see, &seen, &error), JOBS_NOT_FOUND);

    /* pruned: the bytes go, what is known stays; what waits keeps its bytes */
    assert_int_equal(jobs_outbox_prune(room, 100000, &count, NULL), JOBS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(jobs_outbox_prune(room, 0, &count, NULL), JOBS_OK);
    assert_int_equal(count, 1);
    seen = (struct seen){0};
    assert_int_equal(jobs_outbox_show(room, sent, see, &seen, NULL), JOBS_OK);
    assert_false(seen.has_event[0]);
    assert_int_equal(seen.states[0], JOBS_ENTRY_SENT);
    seen = (struct seen){0};
    assert_int_equal(jobs_outbox_show(room, waits, see, &seen, NULL), JOBS_OK);
    assert_true(seen.has_event[0]);

    assert_int_equal(jobs_outbox_drop(room, waits, NULL), JOBS_OK);
    assert_int_equal(jobs_outbox_drop(room, waits, &error), JOBS_NOT_FOUND);
    receipt = (struct jobs_receipt){0};
    jobs__pending_count(&receipt, room, "");
    assert_int_equal(receipt.pending_count, 0);
}

static void counting_what_waits_has_an_end(void **state)
{
    (void)state;
    struct jobs_receipt receipt = {0};
    int root, pending;
    assert_int_equal(jobs__outbox_open(&root, room, true, NULL), JOBS_OK);
    assert_int_equal(jobs__pending_open(&pending, root, NULL), JOBS_OK);
    for (int i = 0; i < 1500; i++) {
        char id[65];
        snprintf(id, sizeof id, "%064x", (unsigned)i);
        assert_int_equal(jobs__pending_add(pending, 1000 + i, id, NULL), JOBS_OK);
    }
    jobs__pending_count(&receipt, room, "");
    assert_int_equal(receipt.pending_count, 1000);
    assert_true(receipt.pending_more);
    close(pending);
    close(root);
}

static void where_the_state_lives(void **state)
{
    (void)state;
    char *path;
    struct jobs_error error;
    setenv("JOBS_STATE_DIR", "/of/jobs", 1);
    setenv("XDG_STATE_HOME", "/of/xdg", 1);
    setenv("HOME", "/of/home", 1);
    assert_int_equal(jobs__state_dir(&path, "/given", NULL), JOBS_OK);
    assert_string_equal(path, "/given");
    free(path);
    assert_int_equal(jobs__state_dir(&path, NULL, NULL), JOBS_OK);
    assert_string_equal(path, "/of/jobs");
    free(path);
    setenv("JOBS_STATE_DIR", "", 1);
    assert_int_equal(jobs__state_dir(&path, NULL, NULL), JOBS_OK);
    assert_string_equal(path, "/of/xdg/jobs");
    free(path);
    setenv("XDG_STATE_HOME", "relative", 1);
    assert_int_equal(jobs__state_dir(&path, NULL, NULL), JOBS_OK);
    assert_string_equal(path, "/of/home/.local/state/jobs");
    free(path);
    unsetenv("HOME");
    assert_int_equal(jobs__state_dir(&path, NULL, &error), JOBS_USAGE);
    assert_null(path);
}

static void a_missing_or_forbidden_place_says_so(void **state)
{
    (void)state;
    struct jobs__folder folder;
    struct jobs_error error = {0};
    char name[65], path[128];
    room_folder_name(name, JOB);
    snprintf(path, sizeof path, "%s/file", room);
    room_write(path, "x", 1);
    assert_int_equal(jobs__folder_open(&folder, path, name, true, 0, NULL, &error), JOBS_SYSTEM);
    assert_non_null(strstr(error.message, "Not a directory"));
    jobs__folder_free(&folder);
    assert_int_equal(jobs__folder_open(&folder, "/proc/nowhere", name, true, 0, NULL, &error), JOBS_SYSTEM);
    jobs__folder_free(&folder);
    snprintf(path, sizeof path, "%s/a/b/c", room); /* parents are made */
    assert_int_equal(jobs__folder_open(&folder, path, name, true, 0, NULL, &error), JOBS_OK);
    jobs__folder_free(&folder);
}

static void adopting_what_a_relay_shows(void **state)
{
    (void)state;
    struct jobs__folder folder;
    struct jobs_event *event = room_event(JOB, "done", NULL, 1700000000);
    bool fresh;
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(jobs__folder_adopt(&folder, event, URL_A, &fresh, NULL), JOBS_OK);
    assert_true(fresh);
    assert_int_equal(jobs__folder_adopt(&folder, event, URL_B, &fresh, NULL), JOBS_OK);
    assert_false(fresh);
    jobs__folder_free(&folder);
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(folder.count, 1);
    assert_int_equal(jobs__entry_state(folder.entries[0]), JOBS_ENTRY_SENT);
    assert_int_equal(folder.entries[0]->fact_count, 2);
    assert_int_equal(folder.entries[0]->facts[1].state, JOBS__RELAY_CONFIRMED);
    jobs__folder_free(&folder);
    jobs_event_free(event);
}

static int64_t lock_size(void)
{
    struct stat about;
    assert_int_equal(stat(room_path(JOB, "lock"), &about), 0);
    return about.st_size;
}

/* Killed while it sends: until when something was on its way is known to whoever opens the folder next. */
static void a_mark_outlives_its_maker(void **state)
{
    (void)state;
    struct jobs__folder folder;
    room_store(room_entry(JOB, "done", NULL, 1700000000));
    room_store(room_entry(JOB, "done better", NULL, 1700000001));
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(jobs__folder_mark(&folder, 1800000000, NULL), JOBS_OK);
    jobs__folder_free(&folder);
    assert_int_not_equal(lock_size(), 0);

    char name[65];
    room_folder_name(name, JOB);
    assert_int_equal(jobs__folder_look(&folder, room, name, NULL), JOBS_OK); /* a look sees it, and leaves it there */
    assert_int_equal(folder.entries[1]->facts[0].last_send, 1800000000);
    assert_int_equal(jobs__folder_note(&folder, folder.entries[1], NULL), JOBS_SYSTEM); /* without its event? never */
    jobs__folder_free(&folder);
    assert_int_not_equal(lock_size(), 0);

    for (int i = 0; i < 2; i++) {
        assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
        assert_int_equal(folder.count, 2);
        assert_int_equal(folder.entries[0]->facts[0].last_send, 1800000000);
        assert_int_equal(folder.entries[1]->facts[0].last_send, 1800000000);
        assert_non_null(folder.entries[1]->event);
        jobs__folder_free(&folder);
        assert_int_equal(lock_size(), 0); /* the files say it now */
    }
}

static void a_mark_that_is_cut_short_is_of_now(void **state)
{
    (void)state;
    static const char *const marks[] = {"18", "-5\n", "soon\n", "\n", "99999999999999999999999999999999999999"};
    struct jobs__folder folder;
    room_store(room_entry(JOB, "done", NULL, 1700000000));
    int64_t now = jobs__outbox_now();
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        room_write(room_path(JOB, "lock"), marks[i], strlen(marks[i]));
        assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
        assert_in_range(folder.entries[0]->facts[0].last_send, now, now + 60);
        jobs__folder_free(&folder);
        assert_int_equal(lock_size(), 0);
    }
}

/* What is known of an event that is out does not become less sure by a mark. */
static void a_mark_is_about_what_waits(void **state)
{
    (void)state;
    struct jobs__folder folder;
    struct jobs__entry *entry = room_entry(JOB, "done", NULL, 1700000000);
    entry->facts[0].state = JOBS__RELAY_CONFIRMED;
    entry->facts[0].last_send = 1700000010;
    room_store(entry);
    room_write(room_path(JOB, "lock"), "1800000000\n", 11);
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(folder.entries[0]->facts[0].last_send, 1700000010);

    folder.entries[0]->facts[0].state = JOBS__RELAY_PENDING;
    assert_int_equal(jobs__folder_mark(&folder, 1800000000, NULL), JOBS_OK);
    assert_int_not_equal(lock_size(), 0);
    assert_int_equal(jobs__folder_note(&folder, folder.entries[0], NULL), JOBS_OK);
    assert_int_equal(lock_size(), 0);
    jobs__folder_free(&folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_open, room_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_entry_survives_its_file),
        TEST(cut_or_edited_anywhere_is_damaged),
        TEST(a_forged_event_is_damaged),
        TEST(modes_and_markers),
        TEST(what_does_not_belong_is_set_aside),
        TEST(a_newer_program_s_file_stays),
        TEST(fifty_at_once_are_one),
        TEST(a_held_lock_is_awaited_no_longer_than_asked),
        TEST(killed_at_any_moment),
        TEST(list_show_drop_prune),
        TEST(what_cannot_be_looked_at_is_not_missing),
        TEST(counting_what_waits_has_an_end),
        TEST(where_the_state_lives),
        TEST(a_missing_or_forbidden_place_says_so),
        TEST(adopting_what_a_relay_shows),
        TEST(a_mark_outlives_its_maker),
        TEST(a_mark_that_is_cut_short_is_of_now),
        TEST(a_mark_is_about_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
