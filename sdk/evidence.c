/* evidence.c - see jobs/evidence.h. Every component is opened by itself, from its folder's descriptor, without
 * following links: what is hashed lies below the root, whatever anyone renames meanwhile. */
#include "../core/hex.h"

#include <jobs/evidence.h>

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct jobs_evidence_root {
    int descriptor;
};

int jobs_evidence_open(struct jobs_evidence_root **out, const char *directory, struct jobs_error *error)
{
    *out = NULL;
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return jobs_error_set(error, JOBS_USAGE, "the evidence root cannot be read as a folder: %s", strerror(errno));
    struct jobs_evidence_root *root = malloc(sizeof *root);
    if (root == NULL) {
        close(descriptor);
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    }
    root->descriptor = descriptor;
    *out = root;
    return JOBS_OK;
}

void jobs_evidence_close(struct jobs_evidence_root *root)
{
    if (root == NULL)
        return;
    close(root->descriptor);
    free(root);
}

/* Opens the file below the root; -1 with errno. */
static int open_beneath(const struct jobs_evidence_root *root, const char *path)
{
    int at = fcntl(root->descriptor, F_DUPFD_CLOEXEC, 0);
    while (at >= 0) {
        char name[256];
        size_t len = strcspn(path, "/");
        bool last = path[len] == '\0';
        if (len == 0 || len >= sizeof name || (len == 2 && memcmp(path, "..", 2) == 0)) {
            close(at);
            errno = EINVAL;
            return -1;
        }
        memcpy(name, path, len);
        name[len] = '\0';
        /* O_NONBLOCK: a FIFO must not hold us up before fstat tells what it is */
        int next = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
        int why = errno;
        close(at);
        errno = why;
        if (next < 0 || last)
            return next;
        at = next;
        path += len + 1;
    }
    return at;
}

static bool hash_file(int file, char hex[65], int64_t *bytes)
{
    unsigned char block[65536], digest[32];
    struct stat status;
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    bool good = md != NULL && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1;
    int64_t total = 0;
    while (good) {
        ssize_t got = read(file, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            good = got == 0;
            break;
        }
        total += got;
        good = EVP_DigestUpdate(md, block, (size_t)got) == 1;
    }
    good = good && EVP_DigestFinal_ex(md, digest, NULL) == 1;
    EVP_MD_CTX_free(md);
    if (good)
        jobs__hex_write(hex, digest, sizeof digest);
    if (good && bytes != NULL)
        *bytes = total;
    return good;
}

enum jobs_evidence jobs_evidence_hash(const struct jobs_evidence_root *root, const char *path, char hex[65],
                                      int64_t *bytes)
{
    int file = open_beneath(root, path);
    if (file < 0)
        return errno == ENOENT ? JOBS_EVIDENCE_MISSING : JOBS_EVIDENCE_UNREADABLE;
    bool good = hash_file(file, hex, bytes);
    close(file);
    return good ? JOBS_EVIDENCE_HASHED : JOBS_EVIDENCE_UNREADABLE;
}
