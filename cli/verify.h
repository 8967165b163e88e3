/* verify.h - what the parts of `jobs verify` share: the verdict of one line, and many threads that give them in order.
 */
#ifndef JOBS_CLI_VERIFY_H
#define JOBS_CLI_VERIFY_H

#include "stream.h"

#include <jobs/evidence.h>
#include <jobs/read.h>

struct verify_counts {
    uint64_t lines, bytes;
    uint64_t events[4]; /* by enum jobs_verified_event */
    uint64_t cards, no_cards;
    uint64_t confirmed, different, missing; /* pieces of evidence */
};
void verify_counts_add(struct verify_counts *to, const struct verify_counts *more);

/* verify_line.c: the verdicts of a block's lines, appended. JOBS_OK or JOBS_NO_MEMORY. root may be NULL. */
JOBS_MUST_USE int verify_block(struct stream *out, struct verify_counts *counts, struct jobs_verifier *verifier,
                               const struct jobs_lines_block *block, const struct jobs_evidence_root *root);

/* verify_threads.c: the whole input, verdicts in its order. `tick` is called now and then by whoever reads.
 * Returns JOBS_OK, also when it was stopped; or a code with run->error. */
struct verify_work {
    struct run *run;
    int descriptor;
    size_t threads;
    const struct jobs_evidence_root *root;
    struct verify_counts counts; /* of what was printed */
    void (*tick)(struct verify_work *work, const struct verify_counts *so_far);
    int64_t size;
    int64_t started, shown; /* ms */
};
JOBS_MUST_USE int verify_run(struct verify_work *work);

#endif
