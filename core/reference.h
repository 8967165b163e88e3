/* reference.h - what an artifact may point at: URLs and relative paths. */
#ifndef JOBS_REFERENCE_H
#define JOBS_REFERENCE_H

#include "rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of the rules H401 to H414. */
#define JOBS__REFERENCE_BIT(rule) (UINT32_C(1) << ((rule)-JOBS__H401))
#define JOBS__REFERENCE_NO_MEMORY (UINT32_C(1) << 31)

/* The rules of its own that a reference (a line) breaks. The reader is looser: spaces around it do not count, and
 * spaces and backslashes may stand behind a URL's host. */
uint32_t jobs__reference_faults(const char *text, size_t len, bool reader);

/* Whether it begins with a URL scheme, known or not; spaces around it do not count. */
bool jobs__reference_is_url(const char *text, size_t len);

/* 40 or 64 hexadecimal digits; spaces around them do not count. */
bool jobs__reference_is_object_id(const char *text, size_t len);

/* What would be right, for a rule of H401 to H414. Static. */
const char *jobs__reference_advice(enum jobs__rule rule);

/* host.c: the rules (H405, H408, H409) that what stands between // and the port breaks. */
uint32_t jobs__host_faults(const char *host, size_t len);

/* bidi.c: whether a label, in Unicode, holds text written from right to left; *fits says whether it may stand in a host
 * that has such a label (RFC 5893, section 2). */
bool jobs__label_is_bidi(const char *label, size_t len, bool *fits);

#endif
