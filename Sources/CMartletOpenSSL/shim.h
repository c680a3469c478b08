// SPDX-License-Identifier: Apache-2.0

// OpenSSL 3: TLS, ES256 and X.509. Each function below stands for a macro, which Swift cannot call.
#ifndef MARTLET_COPENSSL_H
#define MARTLET_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

static inline int martlet_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline void martlet_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_mode(context, mode);
}

static inline int martlet_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline void martlet_SSL_CTX_set_servername_callback(
    SSL_CTX *context, int (*callback)(SSL *, int *, void *), void *argument) {
    SSL_CTX_set_tlsext_servername_callback(context, callback);
    SSL_CTX_set_tlsext_servername_arg(context, argument);
}

static inline int martlet_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int martlet_X509_stack_count(const STACK_OF(X509) *stack) {
    return stack ? sk_X509_num(stack) : 0;
}

static inline X509 *martlet_X509_stack_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}

static inline void martlet_X509_stack_free(STACK_OF(X509) *stack) {
    sk_X509_pop_free(stack, X509_free);
}

static inline int martlet_X509_NAME_print_RFC2253(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253);
}

/// A fresh P-256 key: `EVP_EC_gen` is a macro over a variadic function.
static inline EVP_PKEY *martlet_EVP_EC_gen_P256(void) {
    return EVP_EC_gen("P-256");
}

/// Whether an entry of the error queue reports an algorithm that no provider has.
static inline int martlet_ERR_is_unsupported(unsigned long code) {
    return ERR_GET_REASON(code) == ERR_R_UNSUPPORTED;
}

static inline int martlet_BIO_flush(BIO *bio) {
    return (int)BIO_flush(bio);
}

static inline long martlet_BIO_set_read_buffer_size(BIO *bio, long size) {
    return BIO_set_read_buffer_size(bio, size);
}

static inline long martlet_BIO_set_write_buffer_size(BIO *bio, long size) {
    return BIO_set_write_buffer_size(bio, size);
}

static inline long martlet_BIO_get_mem_data(BIO *bio, char **data) {
    return BIO_get_mem_data(bio, data);
}

#endif
