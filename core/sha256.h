/* sha256.h - SHA-256 of bytes in memory. */
#ifndef JOBS_SHA256_H
#define JOBS_SHA256_H

#include <stddef.h>

void jobs__sha256(unsigned char digest[32], const void *bytes, size_t len);

/* The same as 64 lower-case hex digits and a NUL. */
void jobs__sha256_hex(char hex[65], const void *bytes, size_t len);

#endif
