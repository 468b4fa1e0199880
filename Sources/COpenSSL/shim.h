#ifndef HOUSEHOLD_COPENSSL_SHIM_H
#define HOUSEHOLD_COPENSSL_SHIM_H
#include <openssl/ssl.h>
#endif
