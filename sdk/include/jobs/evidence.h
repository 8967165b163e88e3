/* jobs/evidence.h - files below one folder, hashed; no way out of it through links, `..` or absolute paths. */
#ifndef JOBS_EVIDENCE_H
#define JOBS_EVIDENCE_H

#include <jobs/convert.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct jobs_evidence_root;

/* Opens the folder for reading. JOBS_OK, JOBS_USAGE (it is no folder that can be read) or JOBS_NO_MEMORY. */
JOBS_PUBLIC JOBS_MUST_USE int jobs_evidence_open(struct jobs_evidence_root **out, const char *directory,
                                                 struct jobs_error *error);
JOBS_PUBLIC void jobs_evidence_close(struct jobs_evidence_root *root);

/* SHA-256 of the regular file at path (relative, components split at '/'), as 64 lower-case hex; *bytes (may be NULL)
 * is its size. A link on the way, `..`, an absolute path or anything but a regular file is UNREADABLE. Fits
 * jobs_convert_options.hash_evidence when root is its context. */
JOBS_PUBLIC enum jobs_evidence jobs_evidence_hash(const struct jobs_evidence_root *root, const char *path, char hex[65],
                                                  int64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
