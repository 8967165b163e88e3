/* outbox_decide.c - what an order means, given what the folder holds and what the relays said: one table.
 *
 * Pure. The table is walked row by row by the tests and printed in docs/delivery.md; a row's name is the same there.
 */
#include "outbox.h"

#include <string.h>

#define D(value)   (1u << JOBS__DISK_##value)
#define W(value)   (1u << JOBS__WISH_##value)
#define H(value)   (1u << JOBS__HEARD_##value)
#define ANY        (~0u)
#define SAME_AGAIN (W(PLAIN) | W(NAMES_NEWEST) | W(NAMES_OTHER) | W(SUPERSEDE))

/* The first row that fits is the one. */
const struct jobs__rule jobs__rules[] = {
    /* name, on the disk, asked for, the relays, must know, what happens */
    {"the same waits", D(SAME_PENDING), ANY, ANY, 0, JOBS__GO_ON},
    {"the same is out", D(SAME_SENT), SAME_AGAIN, ANY, 0, JOBS__GO_ON},
    {"the same was refused", D(SAME_REJECTED), SAME_AGAIN, ANY, 0, JOBS__GO_ON},
    {"said before, replaced since", D(SAME_OLDER), ANY, ANY, 0, JOBS__CONFLICT},
    {"another is there", D(OTHER), W(PLAIN) | W(NAMES_OTHER) | W(NEW), ANY, 0, JOBS__CONFLICT},
    {"another channel has one", D(ELSEWHERE), ANY, ANY, 0, JOBS__CONFLICT},
    {"needs an answer first", ANY, ANY, H(SKIPPED), 1, JOBS__ASK},
    {"ask before the first send", ANY, ANY, H(NOT_ASKED), 0, JOBS__ASK},
    {"cannot know", ANY, ANY, H(SOME), 1, JOBS__BLIND},
    {"replace the newest", D(OTHER), W(NAMES_NEWEST) | W(SUPERSEDE), ANY, 0, JOBS__SIGN},
    {"once more", D(SAME_SENT) | D(SAME_REJECTED), W(NEW), ANY, 0, JOBS__SIGN},
    {"first", ANY, ANY, ANY, 0, JOBS__SIGN},
};
const size_t jobs__rule_count = sizeof jobs__rules / sizeof *jobs__rules;

const struct jobs__rule *jobs__decide(enum jobs__disk disk, enum jobs__wish wish, enum jobs__heard heard,
                                      bool must_know)
{
    const struct jobs__rule *rule = jobs__rules;
    for (;; rule++) {
        if ((rule->disk & 1u << disk) != 0 && (rule->wish & 1u << wish) != 0 && (rule->heard & 1u << heard) != 0 &&
            (rule->must_know == 0 || must_know))
            return rule;
    }
}

static bool same(const struct jobs__entry *entry, const char *digest, const char *digest_loose)
{
    if (digest[0] != '\0')
        return strcmp(entry->digest, digest) == 0;
    return digest_loose[0] != '\0' && strcmp(entry->digest_loose, digest_loose) == 0;
}

static enum jobs__disk same_as(const struct jobs__entry *entry)
{
    switch (jobs__entry_state(entry)) {
    case JOBS_ENTRY_PENDING:
        return JOBS__DISK_SAME_PENDING;
    case JOBS_ENTRY_SENT:
        return JOBS__DISK_SAME_SENT;
    default:
        return JOBS__DISK_SAME_REJECTED;
    }
}

enum jobs__disk jobs__folder_compare(const struct jobs__folder *folder, const char *channel, const char *digest,
                                     const char *digest_loose, struct jobs__entry **entry)
{
    struct jobs__entry *newest = jobs__folder_newest(folder, false);
    struct jobs__entry *standing = jobs__folder_newest(folder, true);
    *entry = newest;
    if (newest != NULL && same(newest, digest, digest_loose))
        return same_as(newest);
    *entry = standing;
    if (standing != NULL && same(standing, digest, digest_loose))
        return same_as(standing);
    *entry = standing != NULL ? standing : newest;
    for (size_t i = 0; i < folder->count; i++) {
        if (same(folder->entries[i], digest, digest_loose))
            return JOBS__DISK_SAME_OLDER;
    }
    *entry = standing;
    if (standing == NULL)
        return JOBS__DISK_NOTHING;
    /* readers count `supersedes` within one channel only: what is elsewhere cannot be replaced from here */
    bool elsewhere = channel[0] != '\0' && strcmp(standing->channel, channel) != 0;
    return elsewhere ? JOBS__DISK_ELSEWHERE : JOBS__DISK_OTHER;
}
