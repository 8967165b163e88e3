/* test_evidence.c - what is hashed lies below the root, and nothing else is. */
#include <jobs/evidence.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/jobs-evidence-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make(const char *name, int (*how)(const char *path))
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(how(path), 0);
}

static int make_folder(const char *path)
{
    return mkdir(path, 0700);
}

static int make_fifo(const char *path)
{
    return mkfifo(path, 0600);
}

static int link_to_passwd(const char *path)
{
    return symlink("/etc/passwd", path);
}

static int link_to_self(const char *path)
{
    return symlink(".", path);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    make("root", make_folder);
    make("root/sub", make_folder);
    write_file("root/sub/abc.txt", "abc");
    write_file("outside.txt", "secret");
    make("root/link.txt", link_to_passwd);
    make("root/here", link_to_self);
    make("root/fifo", make_fifo);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void only_what_lies_below(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum jobs_evidence expected;
    } cases[] = {
        {"sub/abc.txt", JOBS_EVIDENCE_HASHED},
        {"sub/./abc.txt", JOBS_EVIDENCE_HASHED},
        {"sub/none.txt", JOBS_EVIDENCE_MISSING},
        {"none/abc.txt", JOBS_EVIDENCE_MISSING},
        {"../outside.txt", JOBS_EVIDENCE_UNREADABLE},
        {"sub/../sub/abc.txt", JOBS_EVIDENCE_UNREADABLE},
        {"/etc/passwd", JOBS_EVIDENCE_UNREADABLE},
        {"link.txt", JOBS_EVIDENCE_UNREADABLE},
        {"here/sub/abc.txt", JOBS_EVIDENCE_UNREADABLE},
        {"sub", JOBS_EVIDENCE_UNREADABLE},
        {"sub/", JOBS_EVIDENCE_UNREADABLE},
        {"", JOBS_EVIDENCE_UNREADABLE},
        {"fifo", JOBS_EVIDENCE_UNREADABLE},
        {"sub//abc.txt", JOBS_EVIDENCE_UNREADABLE},
    };
    char root_path[256], hex[65];
    struct jobs_evidence_root *root = NULL;
    struct jobs_error error;
    snprintf(root_path, sizeof root_path, "%s/root", folder);
    assert_int_equal(jobs_evidence_open(&root, root_path, &error), JOBS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t bytes = -1;
        enum jobs_evidence got = jobs_evidence_hash(root, cases[i].path, hex, &bytes);
        if (got != cases[i].expected)
            fail_msg("%s: %d instead of %d", cases[i].path, got, cases[i].expected);
        if (got == JOBS_EVIDENCE_HASHED) {
            assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
            assert_int_equal(bytes, 3);
        }
    }
    jobs_evidence_close(root);
}

static void a_root_must_be_a_folder(void **state)
{
    (void)state;
    struct jobs_evidence_root *root = NULL;
    struct jobs_error error;
    assert_int_equal(jobs_evidence_open(&root, "/nowhere/at/all", &error), JOBS_USAGE);
    assert_null(root);
    assert_true(strlen(error.message) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_lies_below),
        cmocka_unit_test(a_root_must_be_a_folder),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
