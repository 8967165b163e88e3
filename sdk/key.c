/* key.c - secret keys: read, made, kept, compared against text, wiped.
 *
 * A secret lives in one page of its own that is locked into memory, left out of core dumps and wiped before it goes.
 * Text on its way in is read straight into that page. No message of this file holds a byte of it.
 */
#include "../core/hex.h"
#include "../core/text.h"
#include "bech32.h"
#include "signature.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_LEN   32
#define NSEC_LEN     63
#define KEY_TEXT_MAX 1024 /* bytes of a key file: a key with ample space around it */
#define SHOWN_PATH   200

struct jobs_key {
    secp256k1_keypair pair;
    char public_hex[65];
    char secret_hex[2 * SECRET_LEN + 1];
    char secret_nsec[NSEC_LEN + 1];
    unsigned char secret[SECRET_LEN];
    char text[KEY_TEXT_MAX + 1]; /* what was read, only while it is read */
};

static struct jobs_key *key_allocate(void)
{
    struct jobs_key *key = mmap(NULL, sizeof *key, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (key == MAP_FAILED)
        return NULL;
    /* A limit of 0 on locked memory is common in containers and no reason to lose a finished job. */
    (void)mlock(key, sizeof *key);
    (void)madvise(key, sizeof *key, MADV_DONTDUMP);
    return key;
}

void jobs_key_free(struct jobs_key *key)
{
    if (key == NULL)
        return;
    OPENSSL_cleanse(key, sizeof *key);
    munmap(key, sizeof *key); /* unlocks it too */
}

/* key->secret is set: everything else follows from it. */
static int key_complete(struct jobs_key *key, struct jobs_error *error)
{
    unsigned char public_key[32];
    int code = jobs__pair_make(&key->pair, public_key, key->secret);
    if (code == JOBS_BAD_KEY)
        return jobs_error_set(error, code, "the secret key is 0 or too large for secp256k1: no such key exists");
    if (code == JOBS_NO_MEMORY)
        return jobs_error_set(error, code, "out of memory");
    if (code != JOBS_OK)
        return jobs_error_set(error, code, "the system gave no random bytes");
    jobs__hex_write(key->public_hex, public_key, sizeof public_key);
    jobs__hex_write(key->secret_hex, key->secret, SECRET_LEN);
    jobs__bech32_encode(key->secret_nsec, "nsec", key->secret, SECRET_LEN);
    return JOBS_OK;
}

static bool starts_with(const char *text, size_t len, const char *prefix)
{
    size_t prefix_len = strlen(prefix);
    return len >= prefix_len && strncasecmp(text, prefix, prefix_len) == 0;
}

static int key_refuse(const char *text, size_t len, struct jobs_error *error)
{
    static const struct {
        const char *prefix;
        const char *why;
    } known[] = {
        {"nsec1", "the nsec1… is damaged: its checksum or its length is wrong"},
        {"npub1", "this is a public key (npub1…); the secret key is wanted, as nsec1… or 64 hex digits"},
        {"nprofile1", "this is a public profile (nprofile1…); the secret key is wanted, as nsec1… or 64 hex digits"},
        {"ncryptsec1", "encrypted keys (ncryptsec1…) are not supported; decrypt it to nsec1… first"},
        {"nostr:", "a secret key is never written behind nostr:; write nsec1… or 64 hex digits"},
        {"-----BEGIN", "this is a PEM file, not a Nostr key; write nsec1… or 64 hex digits"},
    };
    if (len == 0)
        return jobs_error_set(error, JOBS_BAD_KEY, "the key is empty; write nsec1… or 64 hex digits");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (starts_with(text, len, known[i].prefix))
            return jobs_error_set(error, JOBS_BAD_KEY, "%s", known[i].why);
    return jobs_error_set(error, JOBS_BAD_KEY, "the key (%zu bytes) is neither nsec1… nor 64 hex digits", len);
}

static int key_read_text(struct jobs_key *key, const char *text, size_t len, struct jobs_error *error)
{
    char prefix[JOBS__BECH32_PREFIX_MAX + 1];
    size_t secret_len = 0;
    if (!jobs__text_is_utf8(text, len))
        return jobs_error_set(error, JOBS_BAD_KEY, "the key is no text; write nsec1… or 64 hex digits");
    jobs__text_trim(&text, &len);
    if (len == 2 * SECRET_LEN && jobs__hex_read(key->secret, SECRET_LEN, text))
        return key_complete(key, error);
    if (jobs__bech32_decode(prefix, key->secret, &secret_len, SECRET_LEN, text, len) && secret_len == SECRET_LEN &&
        strcmp(prefix, "nsec") == 0)
        return key_complete(key, error);
    return key_refuse(text, len, error);
}

int jobs_key_from_text(struct jobs_key **out, const char *text, size_t len, struct jobs_error *error)
{
    *out = NULL;
    struct jobs_key *key = key_allocate();
    if (key == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    int code = key_read_text(key, text, len, error);
    if (code == JOBS_OK)
        *out = key;
    else
        jobs_key_free(key);
    return code;
}

/* A process can be started with the same name twice; every value is overwritten. */
static void wipe_variable(const char *name)
{
    size_t name_len = strlen(name);
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        if (strncmp(*entry, name, name_len) == 0 && (*entry)[name_len] == '=')
            OPENSSL_cleanse(*entry + name_len + 1, strlen(*entry + name_len + 1));
}

int jobs_key_from_environment(struct jobs_key **out, const char *name, struct jobs_error *error)
{
    *out = NULL;
    const char *value = getenv(name);
    if (value == NULL || value[0] == '\0')
        return jobs_error_set(error, JOBS_BAD_KEY, "%s is not set: it holds the secret key, as nsec1… or 64 hex digits",
                              name);
    struct jobs_error why;
    int code = jobs_key_from_text(out, value, strlen(value), &why);
    wipe_variable(name);
    if (code != JOBS_OK)
        jobs_error_set(error, code, "%s: %s", name, why.message);
    return code;
}

static const char *kind_of_file(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a named pipe";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

/* Opens without waiting for a pipe's other end, and only what nobody but its owner can touch. */
static int open_key_file(int *out, const char *path, const char *shown, struct jobs_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        jobs_error_set(error, JOBS_BAD_KEY, "cannot open the key file %s: %s", shown,
                       errno == ENXIO ? "it is a socket or a device" : strerror(errno));
        if (missing && error != NULL)
            strcpy(error->hint, "`jobs keys new PATH` makes a key file");
        return JOBS_BAD_KEY;
    }
    struct stat status;
    int code = JOBS_OK;
    if (fstat(file, &status) != 0)
        code = jobs_error_set(error, JOBS_SYSTEM, "cannot look at the key file %s: %s", shown, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        code = jobs_error_set(error, JOBS_BAD_KEY, "the key file %s is %s; a regular file is wanted", shown,
                              kind_of_file(status.st_mode));
    else if ((status.st_mode & 077) != 0)
        code = jobs_error_set(error, JOBS_BAD_KEY,
                              "the key file %s can be read or changed by others (mode %04o); run: chmod 600 %s", shown,
                              (unsigned)(status.st_mode & 07777), shown);
    else if (status.st_uid != geteuid() && geteuid() != 0)
        code = jobs_error_set(error, JOBS_BAD_KEY, "the key file %s belongs to another user", shown);
    if (code == JOBS_OK)
        *out = file;
    else
        close(file);
    return code;
}

static int read_key_file(struct jobs_key *key, size_t *len, int file, const char *shown, struct jobs_error *error)
{
    size_t got = 0;
    for (;;) {
        ssize_t n = read(file, key->text + got, sizeof key->text - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return jobs_error_set(error, JOBS_SYSTEM, "cannot read the key file %s: %s", shown, strerror(errno));
        if (n == 0)
            break;
        got += (size_t)n;
        if (got > KEY_TEXT_MAX)
            return jobs_error_set(error, JOBS_BAD_KEY,
                                  "the key file %s holds more than %d bytes; one key is wanted, nothing else", shown,
                                  KEY_TEXT_MAX);
    }
    *len = got;
    return JOBS_OK;
}

int jobs_key_from_file(struct jobs_key **out, const char *path, struct jobs_error *error)
{
    *out = NULL;
    char shown[SHOWN_PATH + 1];
    jobs__text_one_line(shown, SHOWN_PATH, path, strlen(path));
    int file = -1;
    size_t len = 0;
    struct jobs_error why;
    struct jobs_key *key = NULL;
    int code = open_key_file(&file, path, shown, error);
    if (code != JOBS_OK)
        goto out;
    key = key_allocate();
    if (key == NULL) {
        code = jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
        goto out;
    }
    code = read_key_file(key, &len, file, shown, error);
    if (code != JOBS_OK)
        goto out;
    code = key_read_text(key, key->text, len, &why);
    if (code != JOBS_OK) {
        jobs_error_set(error, code, "the key file %s: %s", shown, why.message);
        goto out;
    }
    OPENSSL_cleanse(key->text, sizeof key->text);
    *out = key;
    key = NULL;
out:
    jobs_key_free(key);
    if (file >= 0)
        close(file);
    return code;
}

/* A secret that no one has chosen: random bytes until they are a key, which the first are but for one in 2^128. */
static int key_make(struct jobs_key *key, struct jobs_error *error)
{
    int code;
    do {
        if (!jobs__random(key->secret, SECRET_LEN))
            return jobs_error_set(error, JOBS_SYSTEM, "the system gave no random bytes");
        code = key_complete(key, error);
    } while (code == JOBS_BAD_KEY);
    return code;
}

static bool write_all(int file, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(file, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            return false;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static int open_again(const char *path, int flags, mode_t mode)
{
    int file;
    do
        file = open(path, flags | O_CLOEXEC, mode);
    while (file < 0 && errno == EINTR);
    return file;
}

static bool sync_file(int file)
{
    int status;
    do
        status = fsync(file);
    while (status != 0 && errno == EINTR);
    return status == 0;
}

/* A new file is only there after a crash when its folder was synced too. */
static bool sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    if (folder == NULL)
        return false;
    int directory = open_again(folder, O_RDONLY | O_DIRECTORY, 0);
    free(folder);
    if (directory < 0)
        return false;
    /* Some file systems cannot sync a folder and say so by EINVAL. */
    bool synced = sync_file(directory) || errno == EINVAL;
    close(directory);
    return synced;
}

/* The name it is made under: half a key must never stand where the next try would find it. */
static int new_name(char **out, const char *path, struct jobs_error *error)
{
    unsigned char random[8];
    char hex[2 * sizeof random + 1];
    if (!jobs__random(random, sizeof random))
        return jobs_error_set(error, JOBS_SYSTEM, "the system gave no random bytes");
    jobs__hex_write(hex, random, sizeof random);
    size_t len = strlen(path) + sizeof hex + sizeof "..new";
    *out = malloc(len);
    if (*out == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    snprintf(*out, len, "%s.%s.new", path, hex);
    return JOBS_OK;
}

/* The whole file under its name, unless something is there: one step, so that no kill leaves half of it. */
static bool put_in_place(const char *made, const char *path)
{
    if (link(made, path) == 0) {
        unlink(made);
        return true;
    }
    /* Where a file cannot have two names. */
    return (errno == EPERM || errno == EOPNOTSUPP) && renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_NOREPLACE) == 0;
}

static int write_key_file(struct jobs_key *key, const char *path, const char *shown, struct jobs_error *error)
{
    char *made = NULL;
    bool placed = false, written = false;
    int code = new_name(&made, path, error);
    int file = code ? -1 : open_again(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (code)
        return code;
    if (file >= 0) {
        memcpy(key->text, key->secret_nsec, NSEC_LEN);
        key->text[NSEC_LEN] = '\n';
        written = fchmod(file, 0600) == 0 && write_all(file, key->text, NSEC_LEN + 1) && sync_file(file);
        OPENSSL_cleanse(key->text, sizeof key->text);
        placed = written && put_in_place(made, path);
    }
    if (!placed || !sync_folder_of(path)) {
        int number = errno;
        bool no_folder = number == ENOENT || number == ENOTDIR;
        bool users = !placed && (no_folder || (written && number == EEXIST));
        code = jobs_error_set(
            error, users ? JOBS_USAGE : JOBS_SYSTEM, "cannot %s the key file %s: %s", file < 0 ? "make" : "write",
            shown, users && number == EEXIST ? "there is one already, and it is never overwritten" : strerror(number));
        if (file >= 0)
            unlink(placed ? path : made); /* what may not be there after a crash is no key */
    }
    if (file >= 0)
        close(file);
    free(made);
    return code;
}

int jobs_key_create_file(struct jobs_key **out, const char *path, struct jobs_error *error)
{
    *out = NULL;
    char shown[SHOWN_PATH + 1];
    jobs__text_one_line(shown, SHOWN_PATH, path, strlen(path));
    struct jobs_key *key = key_allocate();
    if (key == NULL)
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    int code = key_make(key, error);
    if (code == JOBS_OK)
        code = write_key_file(key, path, shown, error);
    if (code == JOBS_OK) {
        *out = key;
        key = NULL;
    }
    jobs_key_free(key);
    return code;
}

const char *jobs_key_public(const struct jobs_key *key)
{
    return key->public_hex;
}

const secp256k1_keypair *jobs__key_pair(const struct jobs_key *key)
{
    return &key->pair;
}

/* needle is lower case; both spellings are digits and letters, so folding one bit of case folds nothing else. */
static bool holds_any_case(const char *text, size_t len, const char *needle, size_t needle_len)
{
    for (size_t i = 0; i + needle_len <= len; i++)
        if ((text[i] | 0x20) == needle[0] && strncasecmp(text + i, needle, needle_len) == 0)
            return true;
    return false;
}

bool jobs_key_is_in(const struct jobs_key *key, const char *text, size_t len)
{
    return holds_any_case(text, len, key->secret_hex, 2 * SECRET_LEN) ||
           holds_any_case(text, len, key->secret_nsec, NSEC_LEN);
}

void jobs_key_harden_process(void)
{
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
