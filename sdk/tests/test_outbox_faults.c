/* test_outbox_faults.c - every system call that the outbox makes fails once, in turn, while a handoff is on its way to
 * a real relay. Whatever fails: nothing lost, nothing doubled, nothing reported that is not so.
 *
 * The calls are replaced here, in the program itself: only those on files and folders count, sockets are left alone.
 */
#include "relay_room.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum fault {
    FAULT_NOSPC,
    FAULT_IO,
    FAULT_INTERRUPTED,
    FAULT_SHORT
};

static long countdown; /* 0: none; 1: the next call fails */
static enum fault fault;
static bool fired;
static ino_t synced[32]; /* in order; cleared by the test that looks at them */
static size_t synced_count, synced_before_rename;

/* Whether this call is the one; errno is set. */
static bool fails(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    fired = true;
    errno = fault == FAULT_NOSPC ? ENOSPC : fault == FAULT_IO ? EIO : EINTR;
    return true;
}

static bool may_be_interrupted(void)
{
    return fault != FAULT_INTERRUPTED; /* the kernel interrupts only some calls */
}

int fsync(int fd)
{
    struct stat about;
    if (synced_count < sizeof synced / sizeof *synced && fstat(fd, &about) == 0)
        synced[synced_count++] = about.st_ino;
    return fault != FAULT_SHORT && fails() ? -1 : (int)syscall(SYS_fsync, fd);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    struct stat about;
    if (countdown > 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && fails()) {
        if (fault != FAULT_SHORT)
            return -1;
        return syscall(SYS_pwrite64, fd, bytes, len > 1 ? len / 2 : len, offset);
    }
    return syscall(SYS_pwrite64, fd, bytes, len, offset);
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (fault != FAULT_SHORT && fails())
        return -1;
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    return fault != FAULT_SHORT && may_be_interrupted() && fails() ? -1 : (int)syscall(SYS_mkdirat, folder, name, mode);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    if (fault != FAULT_SHORT && may_be_interrupted() && fails())
        return -1;
    synced_before_rename = synced_count;
    return (int)syscall(SYS_renameat, from_folder, from, to_folder, to);
}

int unlinkat(int folder, const char *name, int flags)
{
    return fault != FAULT_SHORT && may_be_interrupted() && fails() ? -1
                                                                   : (int)syscall(SYS_unlinkat, folder, name, flags);
}

static struct relay relay;

static int hand_over(struct jobs_receipt *receipt, const char *job)
{
    static const char manifest[] =
        "{\"schemaVersion\":1,\"requestedOutcome\":\"Do it.\",\"outcome\":\"Done.\",\"disposition\":\"no_artifact\"}";
    const char *urls[] = {relay.url};
    const struct jobs_handoff_order order = {
        .manifest = manifest, .manifest_len = sizeof manifest - 1, .given = {.job_request = job}, .channel = CHANNEL};
    const struct jobs_client_options options = {
        .relays = urls, .relay_count = 1, .timeout = 10, .connect_timeout = 5, .state_dir = room, .key = room_key};
    struct jobs_report report = {0};
    struct jobs_error error = {0};
    int code = jobs_publish_handoff(receipt, NULL, &order, &options, &report, &error);
    jobs_report_wipe(&report);
    return code;
}

static void sweep(enum fault kind, unsigned group)
{
    size_t on_relay = relay_count(&relay, JOBS_KIND_RESULT);
    unsigned reached = 0;
    for (long n = 1;; n++) {
        char job[65];
        snprintf(job, sizeof job, "%032x%032lx", group, (unsigned long)n);
        struct jobs_receipt receipt = {0};
        fault = kind;
        countdown = n;
        fired = false;
        int code = hand_over(&receipt, job);
        countdown = 0;
        size_t now_on_relay = relay_count(&relay, JOBS_KIND_RESULT);
        if (code == JOBS_OK)
            assert_int_equal(now_on_relay, on_relay + 1);
        else if (now_on_relay != on_relay || code != JOBS_SYSTEM)
            fail_msg("call %ld, fault %d: code %d, %zu new on the relay", n, (int)kind, code, now_on_relay - on_relay);
        if (kind == FAULT_INTERRUPTED || kind == FAULT_SHORT)
            assert_int_equal(code, JOBS_OK); /* these are no faults at all */
        struct jobs__folder folder;
        assert_int_equal(room_folder(&folder, job, 0, NULL), JOBS_OK);
        assert_int_equal(folder.damaged, 0);
        assert_int_equal(folder.count, receipt.stored ? 1 : 0);
        jobs__folder_free(&folder);
        jobs_receipt_wipe(&receipt);

        assert_int_equal(hand_over(&receipt, job), JOBS_OK);
        assert_int_equal(relay_count(&relay, JOBS_KIND_RESULT), on_relay + 1);
        jobs_receipt_wipe(&receipt);
        on_relay++;
        if (!fired)
            break;
        reached++;
    }
    print_message("fault %d: %u calls\n", (int)kind, reached);
    assert_true(reached > 0);
}

static void every_call_fails_once(void **state)
{
    (void)state;
    relay = (struct relay){0};
    relay_start(&relay, "a", NULL);
    sweep(FAULT_NOSPC, 1);
    sweep(FAULT_IO, 2);
    sweep(FAULT_INTERRUPTED, 3);
    sweep(FAULT_SHORT, 4);
    relay_stop(&relay);
}

static bool was_synced(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    for (size_t i = 0; i < synced_before_rename; i++) {
        if (synced[i] == about.st_ino)
            return true;
    }
    return false;
}

/* A process made folders and was killed before it came to their fsync: the next one finds them there, `made` of them,
 * and every name above the first entry is on the disk before that entry is. */
static void folders_of_one_that_was_killed(void **state)
{
    (void)state;
    static const char *const below[] = {"/a", "/b", "/outbox", "/"};
    for (size_t made = 0; made <= sizeof below / sizeof *below; made++) {
        char top[100], path[4][200], name[65], here[200];
        room_folder_name(name, JOB);
        snprintf(top, sizeof top, "%s/%zu", room, made);
        assert_int_equal(mkdir(top, 0700), 0);
        snprintf(here, sizeof here, "%s", top);
        for (size_t i = 0; i < 4; i++) {
            size_t len = strlen(here);
            snprintf(here + len, sizeof here - len, "%s%s", below[i], i == 3 ? name : "");
            memcpy(path[i], here, sizeof here);
            if (i < made)
                assert_int_equal(mkdir(here, 0700), 0);
        }
        struct jobs__folder folder;
        bool stored;
        synced_count = synced_before_rename = 0;
        assert_int_equal(jobs__folder_open(&folder, path[1], name, true, 0, NULL, NULL), JOBS_OK);
        assert_int_equal(jobs__folder_store(&folder, room_entry(JOB, "Done.", NULL, 1000), &stored, NULL), JOBS_OK);
        jobs__folder_free(&folder);
        assert_true(was_synced(room));
        assert_true(was_synced(top));
        for (size_t i = 0; i < 3; i++)
            assert_true(was_synced(path[i]));

        synced_count = synced_before_rename = 0; /* another job's first entry: its own folder's name is all there is */
        memset(name, 'f', 64);
        assert_int_equal(jobs__folder_open(&folder, path[1], name, true, 0, NULL, NULL), JOBS_OK);
        struct jobs__entry *other = room_entry(JOB, "Done.", NULL, 1000);
        assert_int_equal(jobs__folder_store(&folder, other, &stored, NULL), JOBS_OK);
        jobs__folder_free(&folder);
        assert_true(was_synced(path[2]));
        assert_int_equal(synced_before_rename, 2); /* outbox/, and the file */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folders_of_one_that_was_killed, room_open, room_close),
        cmocka_unit_test_setup_teardown(every_call_fails_once, room_open, room_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
