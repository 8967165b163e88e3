/* outbox.h - what lies on the disk of a job: entries, their facts per relay, the folder they share, and what a new
 * order means in the light of them. docs/outbox.md is the format.
 *
 * Nothing here opens a socket. Everything that writes needs the folder's lock.
 */
#ifndef JOBS_SDK_OUTBOX_H
#define JOBS_SDK_OUTBOX_H

#include "outbox_files.h"
#include "session.h"

#include <jobs/outbox.h>

#include <dirent.h>

/* --- time: one place, so that the whole outbox agrees on what now is --- */
int64_t jobs__outbox_now(void); /* unix seconds */

/* --- facts: what one relay is known to hold (outbox_facts.c) --- */

#define JOBS__RELAY_STATES(X)                                                                                          \
    X(JOBS__RELAY_PENDING, "pending")                                                                                  \
    X(JOBS__RELAY_CONFIRMED, "confirmed")                                                                              \
    X(JOBS__RELAY_ACCEPTED, "accepted")                                                                                \
    X(JOBS__RELAY_UNSEEN, "unseen")                                                                                    \
    X(JOBS__RELAY_REJECTED, "rejected")

enum jobs__relay_state {
#define X(state, name) state,
    JOBS__RELAY_STATES(X)
#undef X
};
const char *jobs__relay_state_name(enum jobs__relay_state state);
bool jobs__relay_state_from_name(enum jobs__relay_state *out, const char *name);

struct jobs__fact {
    char *url; /* normalised */
    enum jobs__relay_state state;
    char message[JOBS_RELAY_MESSAGE_MAX + 1];
    enum jobs_read_back read_back; /* as last heard */
    unsigned attempts;             /* EVENT frames, over all runs */
    int64_t last_send;             /* unix: no byte of it left after this; 0: never sent */
    int64_t absent_at;             /* unix: the relay answered by EOSE without it; 0: never */
    int64_t unseen_since;          /* unix; 0 unless unseen */
    bool refused_for_time;         /* its last refusal spoke of created_at */
    bool said_stored;              /* OK true or `duplicate:`, ever */
};

/* --- entries: one event each (outbox_entry.c) --- */

#define JOBS__FACTS_MAX 1000 /* relays of an entry */

struct jobs__entry {
    char id[65], author[65], job[65], channel[37];
    char digest[65];          /* "" when the content is no handoff */
    char digest_loose[65];    /* without requestedOutcome */
    char supersedes[65];      /* what its payload names, or "" */
    char replaces[65];        /* the event it was signed anew for, or "" */
    char superseded_by[65];   /* set when that is known, or "" */
    int64_t created_at;       /* the event's */
    int64_t stored_at;        /* when it came into the folder */
    struct jobs_event *event; /* NULL when pruned */
    struct jobs__fact *facts;
    size_t fact_count;
};

void jobs__entry_free(struct jobs__entry *entry);
/* A fresh entry of an event of ours: fields, digests; takes over event on success. JOBS_OK, JOBS_INVALID (not a 43004
 * with one h and one reply), JOBS_NO_MEMORY. */
int jobs__entry_new(struct jobs__entry **out, struct jobs_event *event);
/* The fact for url, added as pending when there is none; NULL when out of memory. */
struct jobs__fact *jobs__entry_fact(struct jobs__entry *entry, const char *url, bool add);

/* The file's bytes, and back (outbox_entry_file.c). Reading checks everything: form, checksum, the event's id and
 * signature, that the event is what the fields say; with fields_only it leaves out the event, so that such an entry
 * must never be written. *why is a static text when the answer is JOBS_INVALID; JOBS_USAGE is a whole file of a newer
 * version of this program. */
#define JOBS__ENTRY_FILE_MAX ((size_t)4 * 1024 * 1024)
int jobs__entry_write(struct jobs__buffer *out, const struct jobs__entry *entry);
int jobs__entry_read(struct jobs__entry **out, const char *bytes, size_t len, bool fields_only, const char **why);

enum jobs_entry_state jobs__entry_state(const struct jobs__entry *entry);

/* digest over public key, channel and the comparable payload; hex into out. */
int jobs__entry_digest(char out[65], const char *author, const char *channel, const struct jobs_handoff *handoff,
                       bool loose);

/* What a conversation's end means for the fact; now is unix, mono the loop's clock at the same moment. */
void jobs__fact_update(struct jobs__fact *fact, const struct jobs__session_result *result, int64_t now, int64_t mono);
/* Whether it was, or may have been, sent there and nothing since has said what became of it. NULL: never heard of. */
bool jobs__fact_is_open(const struct jobs__fact *fact);
/* A refusal for its time is one only once another relay has it. Call after any change of a fact. */
void jobs__entry_settle(struct jobs__entry *entry);
/* Replaced by another: what is not there is not sent any more. */
void jobs__entry_mark_superseded(struct jobs__entry *entry, const char *by);
/* Whether it is proven that this event is nowhere, and that it is its time that relays refuse: only then may the same
 * handoff be signed again. */
bool jobs__entry_may_sign_again(const struct jobs__entry *entry, int64_t now);
/* Whether sending these bytes to this relay is known to be in vain. */
bool jobs__fact_is_stale(const struct jobs__entry *entry, const struct jobs__fact *fact, int64_t now);

/* --- the folder of one job (outbox_folder.c) --- */

struct jobs__folder {
    int root;    /* outbox/ */
    int pending; /* outbox/pending/, -1 until needed */
    int fd;      /* outbox/NAME */
    int lock;    /* held while >= 0 */
    bool marked; /* it holds a mark */
    bool look_only;
    char name[65];
    char *path;                   /* of the folder, for people */
    struct jobs__entry **entries; /* oldest first */
    size_t count;
    size_t damaged;          /* files set aside that still lie there */
    size_t damaged_now;      /* of these, set aside by this load */
    char damaged_name[128];  /* one of damaged_now, one line */
    const char *damaged_why; /* and what is wrong with it: static */
};

/* The state folder's path, malloced: the option, $JOBS_STATE_DIR, $XDG_STATE_HOME/jobs, $HOME/.local/state/jobs. */
int jobs__state_dir(char **out, const char *option, struct jobs_error *error);
/* outbox/ inside it. */
int jobs__outbox_open(int *out, const char *state_dir, bool make, struct jobs_error *error);

/* sha256 over public key and job, hex. */
int jobs__folder_name(char out[65], const char *author, const char *job);

/* Opens (and makes) the job's folder, takes the lock, removes leftovers, sets damaged files aside, loads the entries.
 * Free in any case. Returns JOBS_OK, JOBS_BUSY, JOBS_SYSTEM, JOBS_NO_MEMORY. */
int jobs__folder_open(struct jobs__folder *folder, const char *state_dir, const char *name, bool make,
                      int64_t timeout_ms, const volatile sig_atomic_t *stop, struct jobs_error *error);
/* The same without waiting for the lock and without the events' bytes, for a look at what is known: it must not be
 * stored to. */
int jobs__folder_look(struct jobs__folder *folder, const char *state_dir, const char *name, struct jobs_error *error);
void jobs__folder_free(struct jobs__folder *folder);

/* The same without the lock, changing nothing: damaged ones come to visit with entry NULL and the file's name. */
int jobs__folder_peek(int root, const char *name,
                      int (*visit)(void *context, struct jobs__entry *entry, const char *file, const char *why),
                      void *context, struct jobs_error *error);

/* Writes an entry, new or known, and keeps the pending marker in step; a new one is taken over by the folder as soon as
 * it is in a file (*stored). */
int jobs__folder_store(struct jobs__folder *folder, struct jobs__entry *entry, bool *stored, struct jobs_error *error);
/* The same of a known entry about which more is known now. A power cut may take that back, and nothing else: then the
 * relay is asked once more. */
int jobs__folder_note(struct jobs__folder *folder, struct jobs__entry *entry, struct jobs_error *error);

/* The mark (outbox_mark.c): until when (unix) a pending event of this folder may be on its way, for whoever finds the
 * folder after this process was killed. It lies in the lock file, and jobs__folder_note takes it away: from then on
 * the entry's file says what is known. A power cut may lose it, so it is not enough where much hangs on last_send. */
int jobs__folder_mark(struct jobs__folder *folder, int64_t until, struct jobs_error *error);
void jobs__folder_unmark(struct jobs__folder *folder);
/* Of one that was left over: into the pending facts, and into their files. */
int jobs__folder_heed_mark(struct jobs__folder *folder, struct jobs_error *error);

struct jobs__entry *jobs__folder_find(const struct jobs__folder *folder, const char *id);
/* The newest: superseded by none, then latest, then lowest id. With skip_rejected those that no relay took, and what
 * they claim to supersede, do not count. NULL when there is none. */
struct jobs__entry *jobs__folder_newest(const struct jobs__folder *folder, bool skip_rejected);

/* An event of ours that a relay showed: into the folder, with that relay as confirmed. *fresh says whether it was
 * unknown. */
int jobs__folder_adopt(struct jobs__folder *folder, const struct jobs_event *found, const char *url, bool *fresh,
                       struct jobs_error *error);

/* --- outbox/pending/ (outbox_pending.c): one empty file an entry that waits, so that counting needs no search --- */

#define JOBS__PENDING_MAX  1000
#define JOBS__PENDING_NAME 96
void jobs__pending_name(char out[JOBS__PENDING_NAME], int64_t created_at, const char *id);
/* Opens pending/ inside outbox/, after making it when it is missing. */
int jobs__pending_open(int *out, int root, struct jobs_error *error);
int jobs__pending_add(int pending, int64_t created_at, const char *id, struct jobs_error *error);
void jobs__pending_remove(int pending, int64_t created_at, const char *id);
/* Fills in the receipt's pending_*; `except` is not counted (may be ""). Silent when there is no outbox. */
void jobs__pending_count(struct jobs_receipt *receipt, const char *state_dir, const char *except);
/* The same in steps of so many names, for whoever has to wait for something else meanwhile. Zero it; the rest is
 * counted when it is told; close it if it never is. */
struct jobs__counter {
    DIR *stream;
    size_t looked_at, count;
    int64_t oldest;
    bool more, over;
};
void jobs__counter_step(struct jobs__counter *counter, const char *state_dir, const char *except, size_t names);
void jobs__counter_tell(struct jobs__counter *counter, struct jobs_receipt *receipt, const char *state_dir,
                        const char *except);
void jobs__counter_close(struct jobs__counter *counter);

/* --- what an order means (outbox_decide.c) --- */

/* What the folder holds, beside the handoff that is asked for. */
#define JOBS__DISK(X)                                                                                                  \
    X(JOBS__DISK_NOTHING, "nothing")                                                                                   \
    X(JOBS__DISK_SAME_PENDING, "same, pending")                                                                        \
    X(JOBS__DISK_SAME_SENT, "same, sent")                                                                              \
    X(JOBS__DISK_SAME_REJECTED, "same, rejected")                                                                      \
    X(JOBS__DISK_SAME_OLDER, "same, but a newer one is there")                                                         \
    X(JOBS__DISK_OTHER, "another")                                                                                     \
    X(JOBS__DISK_ELSEWHERE, "another, of another channel")

/* What is asked. */
#define JOBS__WISH(X)                                                                                                  \
    X(JOBS__WISH_PLAIN, "plain")                                                                                       \
    X(JOBS__WISH_NAMES_NEWEST, "supersedes names the newest")                                                          \
    X(JOBS__WISH_NAMES_OTHER, "supersedes names something else")                                                       \
    X(JOBS__WISH_SUPERSEDE, "--supersede")                                                                             \
    X(JOBS__WISH_NEW, "--new")

/* What the relays said, whatever they held having gone into the folder first. */
#define JOBS__HEARD(X)                                                                                                 \
    X(JOBS__HEARD_NOT_ASKED, "not asked yet")                                                                          \
    X(JOBS__HEARD_ALL, "all answered")                                                                                 \
    X(JOBS__HEARD_SOME, "one refused or is silent")                                                                    \
    X(JOBS__HEARD_SKIPPED, "--no-read-back")

#define X(value, name) value,
enum jobs__disk {
    JOBS__DISK(X) JOBS__DISK_COUNT
};
enum jobs__wish {
    JOBS__WISH(X) JOBS__WISH_COUNT
};
enum jobs__heard {
    JOBS__HEARD(X) JOBS__HEARD_COUNT
};
#undef X

enum jobs__decision {
    JOBS__GO_ON,    /* with the entry that says the same */
    JOBS__CONFLICT, /* nothing signed, exit 5 */
    JOBS__ASK,      /* ask the relays, then decide again */
    JOBS__SIGN,     /* a new event */
    JOBS__BLIND     /* nothing signed, exit 2: it would need an answer that a relay did not give */
};

struct jobs__rule {
    const char *name;
    unsigned disk, wish, heard; /* sets: 1u << value */
    int must_know;              /* 1: only when a damaged file lies there or --supersede has nothing to go by; 0: any */
    enum jobs__decision decision;
};
extern const struct jobs__rule jobs__rules[];
extern const size_t jobs__rule_count;

/* The first rule that fits; the last one always does. */
const struct jobs__rule *jobs__decide(enum jobs__disk disk, enum jobs__wish wish, enum jobs__heard heard,
                                      bool must_know);

/* What the folder holds beside a handoff for this channel ("" when not known yet) with these digests (digest "" when
 * only the loose one is known). *entry is the one that says the same, or the one that stands in the way; NULL when
 * nothing does. */
enum jobs__disk jobs__folder_compare(const struct jobs__folder *folder, const char *channel, const char *digest,
                                     const char *digest_loose, struct jobs__entry **entry);

#endif
