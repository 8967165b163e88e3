/* test_tls_start.c - how OpenSSL is started: as anybody would, unless the program says that nobody else uses it. Each
 * test is a process of its own, for a process starts OpenSSL once.
 */
#include "../tls.h"

#include <jobs/publish.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int told_to = -1;

static void clean_up(void)
{
    (void)!write(told_to, "!", 1);
}

#define ITS_TEXTS    1
#define TLS_TEXTS    2
#define CIPHER_NAMES 4
#define DIGEST_NAMES 8
#define CLEANED_UP   16

/* What one start of OpenSSL led to. */
struct seen {
    int things;
    char suites[8192]; /* that a client may choose from, one a line */
};

/* All that this OpenSSL knows, each found in a provider. */
static bool tell_suites(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    bool good = context != NULL && SSL_CTX_set_cipher_list(context, "ALL:COMPLEMENTOFALL:@SECLEVEL=0") == 1;
    STACK_OF(SSL_CIPHER) *suites = good ? SSL_CTX_get_ciphers(context) : NULL;
    for (int i = 0; good && i < sk_SSL_CIPHER_num(suites); i++)
        good = dprintf(told_to, "%s\n", SSL_CIPHER_get_name(sk_SSL_CIPHER_value(suites, i))) > 0;
    SSL_CTX_free(context);
    return good;
}

/* In a process of its own: its exit status is what it saw. */
static void look(bool ours)
{
    if (ours)
        jobs_openssl_is_ours();
    jobs__tls_prepare();
    bool good =
        OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS, NULL) == 1 && tell_suites() && OPENSSL_atexit(clean_up) == 1;
    int things = 0;
    if (ERR_reason_error_string(ERR_PACK(ERR_LIB_PEM, 0, PEM_R_NO_START_LINE)) != NULL)
        things |= ITS_TEXTS;
    if (ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, SSL_R_WRONG_VERSION_NUMBER)) != NULL)
        things |= TLS_TEXTS;
    if (EVP_get_cipherbyname("aes-128-cbc") != NULL)
        things |= CIPHER_NAMES;
    if (EVP_get_digestbyname("sha384") != NULL)
        things |= DIGEST_NAMES;
    exit(good ? things : 255);
}

static void start(struct seen *seen, bool ours)
{
    int ends[2], status = -1;
    size_t len = 0;
    ssize_t n;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        told_to = ends[1];
        look(ours);
    }
    close(ends[1]);
    while ((n = read(ends[0], seen->suites + len, sizeof seen->suites - 1 - len)) > 0)
        len += (size_t)n;
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    seen->things = WEXITSTATUS(status);
    if (len > 0 && seen->suites[len - 1] == '!') {
        seen->things |= CLEANED_UP;
        len--;
    }
    seen->suites[len] = '\0';
}

static void as_anybody_would(void **state)
{
    (void)state;
    struct seen seen;
    start(&seen, false);
    assert_int_equal(seen.things, ITS_TEXTS | TLS_TEXTS | CIPHER_NAMES | DIGEST_NAMES | CLEANED_UP);
}

static void as_one_who_is_alone(void **state)
{
    (void)state;
    struct seen seen;
    start(&seen, true);
    assert_int_equal(seen.things, TLS_TEXTS | DIGEST_NAMES);
}

static void with_the_same_suites(void **state)
{
    (void)state;
    struct seen theirs, ours;
    start(&theirs, false);
    start(&ours, true);
    assert_non_null(strstr(theirs.suites, "TLS_AES_128_GCM_SHA256\n"));
    assert_non_null(strstr(theirs.suites, "ECDHE-ECDSA-AES128-GCM-SHA256\n"));
    assert_string_equal(ours.suites, theirs.suites);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_anybody_would),
        cmocka_unit_test(as_one_who_is_alone),
        cmocka_unit_test(with_the_same_suites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
