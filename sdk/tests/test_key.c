/* test_key.c - Keys: every spelling that is taken, every file and variable that is not, and that nothing of a key is
 * left behind. */
#include "support.h"

#include "../../core/hex.h"
#include "../bech32.h"
#include "../signature.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 /* as gcc says it */
#endif
#endif

/* The example of NIP-19. */
#define NIP19_HEX  "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
#define NIP19_NSEC "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
#define NIP19_PUB  "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/jobs-key-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); /* NOLINT(cert-env33-c): a test's own folder */
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *file_with(const char *name, const char *bytes, size_t len, mode_t mode)
{
    const char *path = path_of(name);
    unlink(path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, len), (ssize_t)len);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
    return path;
}

static int try_text(const char *text, size_t len, char message[1024])
{
    struct jobs_key *key = NULL;
    struct jobs_error error = {0};
    int code = jobs_key_from_text(&key, text, len, &error);
    strcpy(message, error.message);
    if (code == JOBS_OK)
        strcpy(message, jobs_key_public(key));
    else
        assert_null(key);
    jobs_key_free(key);
    return code;
}

static void takes_every_spelling(void **state)
{
    (void)state;
    static const char *const good[] = {
        NIP19_HEX,
        "67DEA2ED018072D675F5415ECFAED7D2597555E202D85B3D65EA4E58D2D92FFA",
        NIP19_NSEC,
        "NSEC1VL029MGPSPEDVA04G90VLTKH6FVH240ZQTV9K0T9AF8935KE9LAQSNLFE5",
        "  " NIP19_NSEC "\r\n",
        "\n\t" NIP19_HEX "\xC2\xA0",
    };
    char message[1024];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(try_text(good[i], strlen(good[i]), message), JOBS_OK);
        assert_string_equal(message, NIP19_PUB);
    }
}

static void refuses_what_is_no_key_without_repeating_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } bad[] = {
        {"", "empty"},
        {" \n", "empty"},
        {"0000000000000000000000000000000000000000000000000000000000000000", "no such key"},
        {"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", "no such key"},
        {"67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ff", "63 bytes"},
        {"67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffg", "64 bytes"},
        {NIP19_HEX "0", "65 bytes"},
        {"nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe6", "checksum"},
        {"nsec1Vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5", "checksum"},
        {"npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg", "public key"},
        {"ncryptsec1qgg9947rlpvqu76pj5ecreduf9jxhselq2nae2kghhvd5g7dgjtcxfqtd67p9m0w57lspw8gsq6yphnm8623nsl8xn9j4jdzz84"
         "zm3frztj3z7"
         "s35vpzmqf6ksu8r89qk5z2zxfmu5gv8th8wclt0h4p",
         "ncryptsec1"},
        {"nostr:" NIP19_NSEC, "nostr:"},
        {"-----BEGIN OPENSSH PRIVATE KEY-----", "PEM"},
        {"correct horse battery staple", "28 bytes"},
        {"\xff\xfe", "no text"},
    };
    char message[1024];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(try_text(bad[i].text, strlen(bad[i].text), message), JOBS_BAD_KEY);
        if (strstr(message, bad[i].says) == NULL)
            fail_msg("case %zu says: %s", i, message);
        if (strlen(bad[i].text) > 20)
            assert_null(strstr(message, bad[i].text + 12));
    }
    /* A NUL is no end: the length counts. */
    assert_int_equal(try_text(NIP19_HEX "\0x", 66, message), JOBS_BAD_KEY);
}

/* Reads a whole /proc file of this process. */
static size_t slurp(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    size_t len = 0;
    for (ssize_t n; len < size && (n = read(file, out + len, size - len)) > 0;)
        len += (size_t)n;
    close(file);
    return len;
}

/* The variable has to be there when the process starts, so the test starts itself again with the key's name in it. */
static int child_reads_environment(void)
{
    struct jobs_key *key = NULL;
    struct jobs_error error = {0};
    static char bytes[1 << 20];
    if (jobs_key_from_environment(&key, "JOBS_TEST_KEY", &error) != JOBS_OK)
        return 10;
    if (strcmp(jobs_key_public(key), NIP19_PUB) != 0)
        return 11;
    size_t len = slurp("/proc/self/environ", bytes, sizeof bytes);
    if (memmem(bytes, len, NIP19_NSEC, 20) != NULL)
        return 12;
    if (memmem(bytes, len, "JOBS_TEST_KEY=", 14) == NULL)
        return 13; /* the region was read at all */
    jobs_key_free(key);
    if (jobs_key_from_environment(&key, "JOBS_TEST_KEY", &error) != JOBS_BAD_KEY || key != NULL)
        return 14;
    return strstr(error.message, "JOBS_TEST_KEY is not set") != NULL ? 0 : 15;
}

static void the_variable_is_overwritten_in_place(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char *const arguments[] = {(char *)"test", (char *)"child-reads-environment", NULL};
        /* Twice the same name: both values must go. */
        char *const variables[] = {(char *)"JOBS_TEST_KEY=" NIP19_NSEC, (char *)"A=b",
                                   (char *)"JOBS_TEST_KEY=" NIP19_NSEC, NULL};
        execve("/proc/self/exe", arguments, variables);
        _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_bad_variable_is_named_and_wiped_too(void **state)
{
    (void)state;
    struct jobs_key *key = NULL;
    struct jobs_error error = {0};
    assert_int_equal(setenv("JOBS_TEST_BAD_KEY", "almost-a-secret-value", 1), 0);
    assert_int_equal(jobs_key_from_environment(&key, "JOBS_TEST_BAD_KEY", &error), JOBS_BAD_KEY);
    assert_null(key);
    assert_non_null(strstr(error.message, "JOBS_TEST_BAD_KEY"));
    assert_null(strstr(error.message, "almost"));
    assert_string_equal(getenv("JOBS_TEST_BAD_KEY"), "");
    unsetenv("JOBS_TEST_BAD_KEY");
    assert_int_equal(jobs_key_from_environment(&key, "JOBS_TEST_BAD_KEY", &error), JOBS_BAD_KEY);
}

static void expect_file(const char *path, int code, const char *says)
{
    struct jobs_key *key = NULL;
    struct jobs_error error = {0};
    int got = jobs_key_from_file(&key, path, &error);
    if (got != code || (says != NULL && strstr(error.message, says) == NULL))
        fail_msg("%s: code %d, says: %s", path, got, error.message);
    if (code == JOBS_OK)
        assert_string_equal(jobs_key_public(key), NIP19_PUB);
    else
        assert_null(key);
    jobs_key_free(key);
}

static void reads_key_files(void **state)
{
    (void)state;
    expect_file(file_with("good", NIP19_NSEC "\n", 64, 0600), JOBS_OK, NULL);
    expect_file(file_with("read-only", NIP19_HEX, 64, 0400), JOBS_OK, NULL);
    static char wide[1025];
    memset(wide, ' ', sizeof wide);
    memcpy(wide + 100, NIP19_HEX, 64);
    expect_file(file_with("wide", wide, 1024, 0600), JOBS_OK, NULL);
    expect_file(file_with("too-wide", wide, 1025, 0600), JOBS_BAD_KEY, "more than 1024 bytes");
    expect_file(file_with("empty", "", 0, 0600), JOBS_BAD_KEY, "empty");
    expect_file(file_with("two", NIP19_HEX "\n" NIP19_HEX "\n", 130, 0600), JOBS_BAD_KEY, "neither");

    /* A link to a good file is a good file: that is how mounted secrets look. */
    char target[128];
    strcpy(target, file_with("target", NIP19_NSEC "\n", 64, 0600));
    assert_int_equal(symlink(target, path_of("link")), 0);
    expect_file(path_of("link"), JOBS_OK, NULL);
}

static void refuses_files_that_others_can_read(void **state)
{
    (void)state;
    static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610, 0601, 0644, 0666, 0777};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        expect_file(file_with("open", NIP19_NSEC "\n", 64, modes[i]), JOBS_BAD_KEY, "chmod 600 /tmp/jobs-key-");
    expect_file(file_with("open", NIP19_NSEC "\n", 64, 0644), JOBS_BAD_KEY, "(mode 0644)");
}

static void refuses_what_is_no_regular_file_at_once(void **state)
{
    (void)state;
    expect_file(path_of("missing"), JOBS_BAD_KEY, "No such file");
    expect_file(folder, JOBS_BAD_KEY, "a directory");
    expect_file("/dev/null", JOBS_BAD_KEY, "a device");
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    expect_file(path_of("pipe"), JOBS_BAD_KEY, "a named pipe");
    assert_int_equal(symlink("loop", path_of("loop")), 0);
    expect_file(path_of("loop"), JOBS_BAD_KEY, "cannot open");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path_of("socket"));
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    expect_file(path_of("socket"), JOBS_BAD_KEY, "socket");
    close(listener);
}

static void makes_a_file_once(void **state)
{
    (void)state;
    struct jobs_key *key = NULL;
    struct jobs_key *again = NULL;
    struct jobs_error error = {0};
    mode_t before = umask(0277); /* a mask is no reason for a file that cannot be read */
    int code = jobs_key_create_file(&key, path_of("new"), &error);
    umask(before);
    assert_int_equal(code, JOBS_OK);
    struct stat status;
    assert_int_equal(stat(path_of("new"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_size, 64);
    assert_int_equal(jobs_key_from_file(&again, path_of("new"), &error), JOBS_OK);
    assert_string_equal(jobs_key_public(key), jobs_key_public(again));
    jobs_key_free(key);
    jobs_key_free(again);

    assert_int_equal(jobs_key_create_file(&key, path_of("new"), &error), JOBS_USAGE);
    assert_non_null(strstr(error.message, "never overwritten"));
    assert_int_equal(symlink("nowhere", path_of("dangling")), 0);
    assert_int_equal(jobs_key_create_file(&key, path_of("dangling"), &error), JOBS_USAGE);
    assert_int_equal(jobs_key_create_file(&key, path_of("no/such/folder"), &error), JOBS_USAGE);
    assert_int_equal(jobs_key_create_file(&key, "", &error), JOBS_USAGE);
    assert_int_equal(jobs_key_create_file(&key, "/dev/full", &error), JOBS_USAGE);
    assert_null(key);
    assert_int_equal(jobs_key_create_file(&again, path_of("other"), &error), JOBS_OK);
    assert_int_equal(jobs_key_from_file(&key, path_of("new"), &error), JOBS_OK);
    assert_string_not_equal(jobs_key_public(key), jobs_key_public(again));
    jobs_key_free(key);
    jobs_key_free(again);
}

static void finds_itself_in_text(void **state)
{
    (void)state;
    struct jobs_key *key = key_of(NIP19_NSEC);
    static const char *const in[] = {NIP19_HEX,
                                     NIP19_NSEC,
                                     "x" NIP19_HEX "y",
                                     "NSEC1VL029MGPSPEDVA04G90VLTKH6FVH240ZQTV9K0T9AF8935KE9LAQSNLFE5",
                                     "aa67DEA2ED018072D675F5415ECFAED7D2597555E202D85B3D65EA4E58D2D92FFAaa",
                                     "see (nostr:" NIP19_NSEC ")"};
    static const char *const out[] = {"", NIP19_PUB, "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ff",
                                      "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe"};
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
        assert_true(jobs_key_is_in(key, in[i], strlen(in[i])));
    for (size_t i = 0; i < sizeof out / sizeof out[0]; i++)
        assert_false(jobs_key_is_in(key, out[i], strlen(out[i])));
    assert_false(jobs_key_is_in(key, NIP19_HEX, 63));
    assert_true(jobs_key_is_in(key, "a\0" NIP19_HEX, 66));
    jobs_key_free(key);
    jobs_key_free(NULL);
}

/* The page of a key that lives is locked and left out of dumps; the kernel says so. */
static void a_key_is_locked_into_memory(void **state)
{
    (void)state;
    struct jobs_key *key = key_of(NIP19_NSEC);
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    char line[512];
    bool inside = false;
    bool seen = false;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long from;
        unsigned long to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) /* NOLINT(cert-err34-c) */
            inside = (unsigned long)(uintptr_t)key >= from && (unsigned long)(uintptr_t)key < to;
        if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            seen = true;
            assert_non_null(strstr(line, " dd"));
#ifndef __SANITIZE_ADDRESS__ /* which turns mlock off */
            if (limit.rlim_cur >= 65536)
                assert_non_null(strstr(line, " lo"));
#endif
        }
    }
    fclose(maps);
    assert_true(seen);
    jobs_key_free(key);
}

static void the_process_is_hardened(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        jobs_key_harden_process();
        struct rlimit limit;
        getrlimit(RLIMIT_CORE, &limit);
        _exit(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && limit.rlim_max == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static size_t bytes_of(unsigned char *out, const char *hex)
{
    size_t len = strlen(hex) / 2;
    assert_true(jobs__hex_read(out, len, hex));
    return len;
}

/* BIP-340's own vectors: signing with the given auxiliary bytes, and verifying. */
static void bip340_vectors(void **state)
{
    (void)state;
    FILE *file = fopen(JOBS_SOURCE_DIR "/sdk/tests/vectors/bip340.csv", "r");
    assert_non_null(file);
    char line[2048];
    int count = 0;
    int signings = 0;
    assert_non_null(fgets(line, sizeof line, file)); /* the headings */
    while (fgets(line, sizeof line, file) != NULL) {
        char *fields[8];
        char *rest = line;
        for (int i = 0; i < 8; i++)
            assert_non_null(fields[i] = strsep(&rest, ",\r\n"));
        unsigned char secret[32];
        unsigned char public_key[32];
        unsigned char auxiliary[32];
        unsigned char message[256];
        unsigned char signature[64];
        unsigned char wanted[64];
        bytes_of(public_key, fields[2]);
        size_t len = bytes_of(message, fields[4]);
        bytes_of(wanted, fields[5]);
        if (fields[1][0] != '\0') {
            secp256k1_keypair pair;
            unsigned char computed[32];
            bytes_of(secret, fields[1]);
            bytes_of(auxiliary, fields[3]);
            assert_int_equal(jobs__pair_make(&pair, computed, secret), JOBS_OK);
            assert_memory_equal(computed, public_key, 32);
            assert_int_equal(jobs__sign_with(signature, &pair, message, len, auxiliary), JOBS_OK);
            assert_memory_equal(signature, wanted, 64);
            signings++;
        }
        assert_int_equal(jobs__verify(wanted, message, len, public_key), strcmp(fields[6], "TRUE") == 0);
        count++;
    }
    fclose(file);
    assert_int_equal(count, 19);
    assert_int_equal(signings, 8);
}

static void signatures_are_fresh(void **state)
{
    (void)state;
    struct jobs_key *key = key_of(NIP19_NSEC);
    unsigned char first[64];
    unsigned char second[64];
    assert_int_equal(jobs__sign(first, key, "message", 7), JOBS_OK);
    assert_int_equal(jobs__sign(second, key, "message", 7), JOBS_OK);
    assert_memory_not_equal(first, second, 64);
    jobs_key_free(key);
}

static void bech32_round_trips(void **state)
{
    (void)state;
    unsigned char bytes[80];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        char text[160];
        char prefix[JOBS__BECH32_PREFIX_MAX + 1];
        unsigned char back[80];
        size_t back_len = 99;
        jobs__bech32_encode(text, "nsec", bytes, len);
        assert_true(jobs__bech32_is("nsec", text, strlen(text)));
        assert_false(jobs__bech32_is("npub", text, strlen(text)));
        assert_true(jobs__bech32_decode(prefix, back, &back_len, len, text, strlen(text)));
        assert_string_equal(prefix, "nsec");
        assert_int_equal(back_len, len);
        assert_memory_equal(back, bytes, len);
        if (len > 0)
            assert_false(jobs__bech32_decode(prefix, back, &back_len, len - 1, text, strlen(text)));
        for (size_t i = 0; i < strlen(text); i++) { /* any one wrong character is noticed */
            char was = text[i];
            text[i] = was == 'q' ? 'p' : 'q';
            assert_false(jobs__bech32_is("nsec", text, strlen(text)));
            text[i] = was;
        }
    }
}

/* BIP-173's own lists. */
static void bech32_vectors(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"A12UEL5L", "a"},
        {"a12uel5l", "a"},
        {"abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", "abcdef"},
        {"11qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqc8247j", "1"},
        {"split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w", "split"},
        {"?1ezyfcl", "?"},
    };
    static const char *const bad[] = {" 1nwldj5",
                                      "\x7f"
                                      "1axkwrx",
                                      "\x80"
                                      "1eym55h",
                                      "pzry9x0s0muk",
                                      "1pzry9x0s0muk",
                                      "x1b4n0q5v",
                                      "li1dgmt3",
                                      "A1G7SGD8",
                                      "10a06t8",
                                      "1qzzfhee",
                                      "A12uEL5L",
                                      "",
                                      "a",
                                      "1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(jobs__bech32_is(good[i][1], good[i][0], strlen(good[i][0])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (size_t g = 0; g < sizeof good / sizeof good[0]; g++)
            assert_false(jobs__bech32_is(good[g][1], bad[i], strlen(bad[i])));
    /* Five or more bits over, or bits that are not zero: the word is good, the bytes are not. */
    char prefix[JOBS__BECH32_PREFIX_MAX + 1];
    unsigned char bytes[64];
    size_t len;
    static const char *const ragged[] = {"nsec1qqqv9z95q", "nsec1qpvjxt40", "nsec1qe882ll"};
    for (size_t i = 0; i < sizeof ragged / sizeof ragged[0]; i++) {
        assert_true(jobs__bech32_is("nsec", ragged[i], strlen(ragged[i])));
        assert_false(jobs__bech32_decode(prefix, bytes, &len, sizeof bytes, ragged[i], strlen(ragged[i])));
    }
    assert_true(jobs__bech32_decode(prefix, bytes, &len, sizeof bytes, "nsec1qy7wsc88", 13));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "child-reads-environment") == 0)
        return child_reads_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_spelling),
        cmocka_unit_test(refuses_what_is_no_key_without_repeating_it),
        cmocka_unit_test(the_variable_is_overwritten_in_place),
        cmocka_unit_test(a_bad_variable_is_named_and_wiped_too),
        cmocka_unit_test(reads_key_files),
        cmocka_unit_test(refuses_files_that_others_can_read),
        cmocka_unit_test(refuses_what_is_no_regular_file_at_once),
        cmocka_unit_test(makes_a_file_once),
        cmocka_unit_test(finds_itself_in_text),
        cmocka_unit_test(a_key_is_locked_into_memory),
        cmocka_unit_test(the_process_is_hardened),
        cmocka_unit_test(bip340_vectors),
        cmocka_unit_test(signatures_are_fresh),
        cmocka_unit_test(bech32_round_trips),
        cmocka_unit_test(bech32_vectors),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
