/* test_tls_start.c - how OpenSSL is started: as anybody would, unless the program says that nobody else uses it. Each
 * test is a process of its own, for a process starts OpenSSL once.
 */
#include "../tls.h"

#include <jobs/publish.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int cleaned_up_to = -1;

static void clean_up(void)
{
    (void)!write(cleaned_up_to, "!", 1);
}

/* Starts OpenSSL and ends. Exit status: 1 its own texts, 2 those of TLS, 4 cleaned up at the end. */
static int start(bool ours)
{
    int ends[2], status = -1;
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        cleaned_up_to = ends[1];
        if (ours)
            jobs_openssl_is_ours();
        jobs__tls_prepare();
        bool good = OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS, NULL) == 1 && OPENSSL_atexit(clean_up) == 1;
        int texts = ERR_reason_error_string(ERR_PACK(ERR_LIB_PEM, 0, PEM_R_NO_START_LINE)) != NULL ? 1 : 0;
        if (ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, SSL_R_WRONG_VERSION_NUMBER)) != NULL)
            texts += 2;
        exit(good ? texts : 9);
    }
    close(ends[1]);
    bool cleaned_up = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) + (cleaned_up ? 4 : 0);
}

static void as_anybody_would(void **state)
{
    (void)state;
    assert_int_equal(start(false), 1 + 2 + 4);
}

static void as_one_who_is_alone(void **state)
{
    (void)state;
    assert_int_equal(start(true), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_anybody_would),
        cmocka_unit_test(as_one_who_is_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
