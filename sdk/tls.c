/* tls.c - see tls.h. libwebsockets would also trust "../share" and skips the name check for "::1"; so verification,
 * name and certificates are all set here, and it gets a finished SSL_CTX. Certificates are looked up in the hashed
 * folder when one is needed: loading the whole bundle costs 25 ms.
 */
#include "tls.h"

#include <jobs/publish.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static const struct {
    int error;
    const char *text;
} verify_texts[] = {
    {X509_V_ERR_CERT_HAS_EXPIRED, "the relay's certificate has expired"},
    {X509_V_ERR_CERT_NOT_YET_VALID, "the relay's certificate is not valid yet; is this machine's clock right?"},
    {X509_V_ERR_HOSTNAME_MISMATCH, "the relay's certificate is for another host name"},
    {X509_V_ERR_IP_ADDRESS_MISMATCH, "the relay's certificate is not for this address"},
    {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "the relay's certificate is self-signed; --ca FILE names one to trust"},
    {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
     "the relay's certificate was issued by a CA that is not trusted here; --ca FILE names one to trust"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
     "the relay's certificate was issued by a CA that is not known here; --ca FILE names one to trust"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
     "the relay's certificate was issued by a CA that is not known here; --ca FILE names one to trust"},
    {X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
     "the relay's certificate was issued by a CA that is not known here; --ca FILE names one to trust"},
    {X509_V_ERR_INVALID_CA, "the relay's certificate was issued by one that is no CA"},
    {X509_V_ERR_INVALID_PURPOSE, "the relay's certificate is not one for servers"},
    {X509_V_ERR_CERT_REVOKED, "the relay's certificate has been revoked"},
};

/* An address is no host name: RFC 6066 keeps it out of SNI. libwebsockets names whatever it is given. */
static void note(const SSL *ssl, int where, int value)
{
    struct jobs__tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    if ((where & SSL_CB_HANDSHAKE_START) && tls->numeric)
        SSL_set_tlsext_host_name((SSL *)(uintptr_t)ssl, NULL);
    if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && (value >> 8) == SSL3_AL_FATAL)
        tls->alert = value & 0xff;
    if ((where & SSL_CB_CONNECT_EXIT) == SSL_CB_CONNECT_EXIT && value <= 0 && tls->error == 0)
        tls->error = ERR_peek_error(); /* libwebsockets empties the queue before it tells us */
}

static bool set_host(struct jobs__tls *tls, const struct jobs__url *url)
{
    X509_VERIFY_PARAM *parameters = SSL_CTX_get0_param(tls->context);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    struct in_addr ip4;
    tls->numeric = url->ip6 || inet_pton(AF_INET, url->host, &ip4) == 1;
    if (tls->numeric)
        return X509_VERIFY_PARAM_set1_ip_asc(parameters, url->host) == 1;
    return X509_VERIFY_PARAM_set1_host(parameters, url->host, 0) == 1;
}

static atomic_bool openssl_is_ours;

void jobs_openssl_is_ours(void)
{
    atomic_store(&openssl_is_ours, true);
}

/* TLS fetches its ciphers from providers and asks no table of names; digests are left in theirs, because the strength
 * of a certificate's signature is looked up there. */
void jobs__tls_prepare(void)
{
    if (atomic_load(&openssl_is_ours))
        (void)!OPENSSL_init_crypto(
            OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_ADD_ALL_CIPHERS, NULL);
}

const char *jobs__tls_new(struct jobs__tls **out, const struct jobs__url *url, const char *ca_file)
{
    const char *wrong = "TLS cannot be set up";
    struct jobs__tls *tls = *out = calloc(1, sizeof(*tls));
    if (tls == NULL)
        return "out of memory";
    ERR_clear_error();
    tls->context = SSL_CTX_new(TLS_client_method());
    if (tls->context == NULL)
        goto out;
    SSL_CTX_set_app_data(tls->context, tls);
    SSL_CTX_set_info_callback(tls->context, note);
    SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(tls->context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(tls->context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    if (SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1 || !set_host(tls, url))
        goto out;
    if (ca_file != NULL) {
        wrong = "the CA file cannot be read, or holds no PEM certificate";
        if (SSL_CTX_load_verify_file(tls->context, ca_file) != 1)
            goto out;
    } else if (SSL_CTX_set_default_verify_dir(tls->context) != 1 ||
               SSL_CTX_set_default_verify_file(tls->context) != 1) {
        wrong = "the system's certificates cannot be used";
        goto out;
    }
    wrong = NULL;
out:
    ERR_clear_error();
    return wrong;
}

void jobs__tls_free(struct jobs__tls *tls)
{
    if (tls == NULL)
        return;
    SSL_CTX_free(tls->context);
    free(tls);
}

void jobs__tls_start(struct jobs__tls *tls)
{
    tls->verify_error = 0;
    tls->alert = 0;
    tls->error = 0;
    ERR_clear_error();
}

void jobs__tls_verified(struct jobs__tls *tls, X509_STORE_CTX *store, int ok)
{
    if (!ok && tls->verify_error == 0)
        tls->verify_error = X509_STORE_CTX_get_error(store);
}

static const char *verify_text(int error)
{
    for (size_t i = 0; i < sizeof(verify_texts) / sizeof(verify_texts[0]); i++) {
        if (verify_texts[i].error == error)
            return verify_texts[i].text;
    }
    return X509_verify_cert_error_string(error);
}

const char *jobs__tls_fault(const struct jobs__tls *tls)
{
    if (tls->verify_error != 0)
        return verify_text(tls->verify_error);
    if (tls->alert == SSL_AD_PROTOCOL_VERSION)
        return "the relay speaks no TLS 1.2 or newer";
    if (tls->alert != 0)
        return SSL_alert_desc_string_long(tls->alert);
    if (ERR_GET_LIB(tls->error) != ERR_LIB_SSL)
        return NULL;
    switch (ERR_GET_REASON(tls->error)) {
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
        return NULL;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
        return "what answers there does not speak TLS; is it a ws:// relay?";
    case SSL_R_UNSUPPORTED_PROTOCOL:
        return "the relay speaks no TLS 1.2 or newer";
    default:
        break;
    }
    const char *reason = ERR_reason_error_string(tls->error);
    return reason != NULL ? reason : "the TLS handshake failed";
}

const char *jobs__tls_describe(SSL *ssl, char *issuer, size_t size, int64_t *expires)
{
    static const int names[] = {NID_organizationName, NID_commonName};
    X509 *certificate = SSL_get1_peer_certificate(ssl);
    struct tm until;
    issuer[0] = '\0';
    *expires = 0;
    if (certificate != NULL) {
        X509_NAME *name = X509_get_issuer_name(certificate);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && issuer[0] == '\0'; i++)
            if (X509_NAME_get_text_by_NID(name, names[i], issuer, (int)size) < 0)
                issuer[0] = '\0';
        if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &until) == 1)
            *expires = timegm(&until);
    }
    X509_free(certificate);
    return SSL_get_version(ssl);
}
