/* tls.h - whom a wss:// relay must prove to be, and in which words it failed to. */
#ifndef JOBS_TLS_H
#define JOBS_TLS_H

#include "url.h"

#include <openssl/ssl.h>

#include <stdint.h>

/* One relay's TLS settings, for any number of connections to it. */
struct jobs__tls {
    SSL_CTX *context;
    bool numeric;        /* the host is an address: it is checked as one, and never named in SNI */
    int verify_error;    /* of the last handshake: an X509_V_ERR_..., or 0 */
    int alert;           /* of the last handshake: the alert the relay sent, or 0 */
    unsigned long error; /* of the last handshake: OpenSSL's, or 0 */
};

/* Before libwebsockets starts OpenSSL. Without effect where the program has used OpenSSL before. */
void jobs__tls_prepare(void);

/* TLS 1.2 or newer, ALPN left to the connection, certificate checked against ca_file (or the system's certificates) and
 * the host. Returns NULL, or what is wrong (static; *out is then safe to free). */
const char *jobs__tls_new(struct jobs__tls **out, const struct jobs__url *url, const char *ca_file);
void jobs__tls_free(struct jobs__tls *tls); /* NULL-safe */

void jobs__tls_start(struct jobs__tls *tls); /* before a handshake: forgets the last one's faults */

/* From the verify callback, once a certificate. */
void jobs__tls_verified(struct jobs__tls *tls, X509_STORE_CTX *store, int ok);

/* Why the last handshake failed; NULL when the connection just went away, which is not TLS's fault. */
const char *jobs__tls_fault(const struct jobs__tls *tls);

/* Of an open connection: the protocol's name (static), who issued the certificate, and until when it holds (unix). */
const char *jobs__tls_describe(SSL *ssl, char *issuer, size_t size, int64_t *expires);

#endif
