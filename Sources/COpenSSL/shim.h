#ifndef HOUSEHOLD_COPENSSL_SHIM_H
#define HOUSEHOLD_COPENSSL_SHIM_H
// OpenSSL as Swift sees it. Below stands only what Swift cannot import: macros, stacks and inline functions.
// Never define _GNU_SOURCE here: it changes how Swift sees the C library itself.

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <string.h>

// MARK: Certificates

/// Adds an extension, in the notation of openssl.cnf, to a certificate that has its public key already.
static inline int household_add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
  X509V3_CTX context;
  memset(&context, 0, sizeof context);
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  if (extension == NULL) return 0;
  int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added;
}

static inline int household_add_common_name(X509_NAME *name, const uint8_t *text, int count) {
  return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, text, count, -1, 0);
}

/// The subject's alternative names, or NULL if there are none, several lists, or a list that cannot be read.
static inline GENERAL_NAMES *household_alternative_names(const X509 *certificate) {
  return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline int household_name_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

/// The URI at this place of the list, or NULL if another kind of name stands there.
static inline const ASN1_STRING *household_name_uri(const GENERAL_NAMES *names, int index) {
  const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
  return name->type == GEN_URI ? name->d.uniformResourceIdentifier : NULL;
}

// MARK: Secrets

static inline int household_scrypt(
    const uint8_t *secret, size_t secret_count, const uint8_t *salt, size_t salt_count, uint64_t n, uint64_t r,
    uint64_t p, uint64_t memory, uint8_t *key, size_t key_count) {
  return EVP_PBE_scrypt((const char *)secret, secret_count, salt, salt_count, n, r, p, memory, key, key_count);
}

// MARK: TLS

static inline int household_only_tls13(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1;
}

static inline void household_no_resumption(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

static inline void household_release_buffers(SSL_CTX *context) { SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS); }

static inline int household_signature_algorithms(SSL_CTX *context, const char *list) {
  return SSL_CTX_set1_sigalgs_list(context, list) == 1;
}

static inline void household_bound_peer_certificates(SSL_CTX *context, long bytes) {
  SSL_CTX_set_max_cert_list(context, bytes);
}

/// The number of certificates the peer showed.
static inline int household_shown_certificates(X509_STORE_CTX *context) {
  return sk_X509_num(X509_STORE_CTX_get0_untrusted(context));
}

static inline int household_error_library(unsigned long code) { return ERR_GET_LIB(code); }
static inline int household_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline long household_pending(BIO *bio) { return (long)BIO_ctrl_pending(bio); }

#endif
