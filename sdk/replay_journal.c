/* replay_journal.c - see replay_journal.h. */
#include "replay_journal.h"

#include "../core/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE     ((size_t)8192)
#define LINE_MAX_ ((size_t)16384) /* of a journal, as we write it */

/* One earlier run: its lines, read in order. */
struct run {
    off_t at, end;
    char *bytes;
    size_t len, used;
    uint64_t line; /* of the line that is next; 0 when it has to be looked for, UINT64_MAX when there is none */
    struct jobs__buffer id, verdict, message;
    bool sent;
};

struct jobs__journal {
    int file;
    off_t began; /* where this run's lines begin */
    struct run *runs;
    size_t run_count;
    uint64_t last;
    struct jobs__json doc;
    struct jobs__buffer out;
};

static int fail(struct jobs_error *error, int code, const char *what)
{
    if (code == JOBS_SYSTEM)
        return jobs_error_set(error, code, "the journal cannot be %s: %s", what, strerror(errno));
    return jobs_error_set(error, code, "%s", code == JOBS_NO_MEMORY ? "out of memory" : what);
}

/* --- reading --- */

/* The run's next line of text; JOBS_NOT_FOUND at its end. */
static int next_text(struct run *run, int file, const char **text, size_t *len)
{
    for (;;) {
        char *newline = run->len > run->used ? memchr(run->bytes + run->used, '\n', run->len - run->used) : NULL;
        if (newline != NULL) {
            *text = run->bytes + run->used;
            *len = (size_t)(newline - *text);
            run->used += *len + 1;
            return JOBS_OK;
        }
        size_t rest = run->len - run->used;
        if (run->at == run->end || rest >= LINE_MAX_)
            return JOBS_NOT_FOUND;
        if (run->bytes == NULL && (run->bytes = malloc(LINE_MAX_ + PIECE)) == NULL)
            return JOBS_NO_MEMORY;
        memmove(run->bytes, run->bytes + run->used, rest);
        size_t want = run->end - run->at < (off_t)PIECE ? (size_t)(run->end - run->at) : PIECE;
        ssize_t got = pread(file, run->bytes + rest, want, run->at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return JOBS_SYSTEM;
        run->at += got;
        run->used = 0;
        run->len = rest + (size_t)got;
    }
}

static void take_string(struct jobs__buffer *out, const struct jobs__json *doc, const char *name)
{
    uint32_t at = jobs__json_member(doc, 0, name);
    out->max = LINE_MAX_;
    jobs__buffer_clear(out);
    jobs__buffer_add(out, "", 0);
    if (at != 0 && doc->values[at].type == JOBS__JSON_STRING)
        jobs__json_string(doc, at, out);
}

static bool is_verdict(const struct jobs__buffer *word)
{
    static const char *const words[] = {"accepted", "duplicate", "rejected", "malformed", "bad_id", "bad_signature"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!word->failed && strlen(words[i]) == word->len && memcmp(words[i], word->bytes, word->len) == 0)
            return true;
    return false;
}

/* Takes a decided line apart; false when it is none. */
static bool take_line(struct jobs__journal *journal, struct run *run, const char *text, size_t len)
{
    struct jobs__json_fault fault;
    struct jobs__json *doc = &journal->doc;
    int64_t number;
    if (jobs__json_parse(doc, text, len, &fault) != JOBS_OK || doc->values[0].type != JOBS__JSON_OBJECT)
        return false;
    uint32_t line = jobs__json_member(doc, 0, "line"), sent = jobs__json_member(doc, 0, "sent");
    if (line == 0 || !jobs__json_integer(doc, line, &number) || number < 1)
        return false;
    take_string(&run->id, doc, "event_id");
    take_string(&run->verdict, doc, "verdict");
    take_string(&run->message, doc, "message");
    run->sent = sent != 0 && doc->values[sent].type == JOBS__JSON_TRUE;
    run->line = (uint64_t)number;
    return !run->id.failed && !run->verdict.failed && !run->message.failed && is_verdict(&run->verdict);
}

static int look_ahead(struct jobs__journal *journal, struct run *run)
{
    while (run->line == 0) {
        const char *text;
        size_t len;
        int code = next_text(run, journal->file, &text, &len);
        if (code == JOBS_NOT_FOUND)
            run->line = UINT64_MAX;
        else if (code != JOBS_OK)
            return code;
        else if (!take_line(journal, run, text, len))
            run->line = 0; /* the run's first line, or one that a fault of the disk spoiled: decided anew */
    }
    return JOBS_OK;
}

int jobs__journal_recall(struct jobs__memory *out, struct jobs__journal *journal, uint64_t line)
{
    bool found = false;
    for (size_t i = 0; line <= journal->last && i < journal->run_count; i++) {
        struct run *run = &journal->runs[i];
        int code = look_ahead(journal, run);
        while (code == JOBS_OK && run->line < line) {
            run->line = 0;
            code = look_ahead(journal, run);
        }
        if (code != JOBS_OK)
            return code;
        if (run->line != line)
            continue;
        *out = (struct jobs__memory){line, run->id.bytes, run->verdict.bytes, run->message.bytes, run->sent};
        found = true;
    }
    return found ? JOBS_OK : JOBS_NOT_FOUND;
}

uint64_t jobs__journal_last(const struct jobs__journal *journal)
{
    return journal->last;
}

bool jobs__journal_is_resumed(const struct jobs__journal *journal)
{
    return journal->run_count > 0;
}

/* --- opening --- */

static int add_run(struct jobs__journal *journal, off_t start)
{
    if (journal->run_count > 0)
        journal->runs[journal->run_count - 1].end = start;
    struct run *more = realloc(journal->runs, (journal->run_count + 1) * sizeof *more);
    if (more == NULL)
        return JOBS_NO_MEMORY;
    journal->runs = more;
    journal->runs[journal->run_count++] = (struct run){.at = start, .end = start};
    return JOBS_OK;
}

/* Finds the runs, the last line that was decided, and where the last whole line ends. */
static int survey(struct jobs__journal *journal, const char *head, size_t head_len, off_t *whole,
                  struct jobs_error *error)
{
    struct stat status;
    struct run all = {0};
    int code = fstat(journal->file, &status) == 0 ? JOBS_OK : JOBS_SYSTEM;
    const char *text;
    size_t len;
    all.end = code == JOBS_OK ? status.st_size : 0;
    *whole = 0;
    while (code == JOBS_OK && (code = next_text(&all, journal->file, &text, &len)) == JOBS_OK) {
        static const char mark[] = "{\"journal\":";
        if (len >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
            if (len != head_len || memcmp(text, head, len) != 0)
                code = fail(error, JOBS_USAGE, "the journal is of a replay to other relays; give it another path");
            else
                code = add_run(journal, *whole);
        } else if (journal->run_count == 0) {
            code = fail(error, JOBS_USAGE, "the file given as journal is none; it is left as it is");
        } else if (take_line(journal, &all, text, len) && all.line > journal->last) {
            journal->last = all.line;
        }
        *whole += (off_t)len + 1;
    }
    if (code == JOBS_NOT_FOUND)
        code = journal->run_count == 0 && all.end > 0 && *whole > 0
                   ? fail(error, JOBS_USAGE, "the file given as journal is none; it is left as it is")
                   : JOBS_OK;
    else if (code != JOBS_USAGE)
        fail(error, code, "read");
    if (code == JOBS_OK && journal->run_count == 0 && all.end > 0 &&
        (all.len - all.used > head_len || memcmp(all.bytes + all.used, head, all.len - all.used) != 0))
        code = fail(error, JOBS_USAGE, "the file given as journal is none; it is left as it is");
    if (journal->run_count > 0)
        journal->runs[journal->run_count - 1].end = *whole;
    free(all.bytes);
    jobs__buffer_free(&all.id);
    jobs__buffer_free(&all.verdict);
    jobs__buffer_free(&all.message);
    return code;
}

static void add_quoted(struct jobs__buffer *out, const char *text)
{
    jobs__buffer_char(out, '"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            jobs__buffer_char(out, '\\');
        if (c < ' ')
            jobs__buffer_format(out, "\\u%04x", c);
        else
            jobs__buffer_char(out, *text);
    }
    jobs__buffer_char(out, '"');
}

static void add_head(struct jobs__buffer *out, char *const *relays, size_t count)
{
    jobs__buffer_text(out, "{\"journal\":\"jobs replay\",\"version\":1,\"relays\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            jobs__buffer_char(out, ',');
        add_quoted(out, relays[i]);
    }
    jobs__buffer_text(out, "]}\n");
}

/* The name of a new file has to last as well. */
static int sync_folder(const char *path)
{
    char *folder = strdup(path);
    if (folder == NULL)
        return JOBS_NO_MEMORY;
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    int directory = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = directory >= 0 && fsync(directory) == 0 ? JOBS_OK : JOBS_SYSTEM;
    if (directory >= 0)
        close(directory);
    free(folder);
    return code;
}

static int begin(struct jobs__journal *journal, const char *path, char *const *relays, size_t count,
                 struct jobs_error *error)
{
    off_t whole = 0;
    journal->out.max = SIZE_MAX / 4;
    add_head(&journal->out, relays, count);
    if (journal->out.failed)
        return fail(error, JOBS_NO_MEMORY, "");
    struct stat status;
    if (fstat(journal->file, &status) == 0 && !S_ISREG(status.st_mode))
        return fail(error, JOBS_USAGE, "the journal must be a regular file");
    if (flock(journal->file, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? fail(error, JOBS_BUSY, "another replay is writing this journal")
                                    : fail(error, JOBS_SYSTEM, "locked");
    int code = survey(journal, journal->out.bytes, journal->out.len - 1, &whole, error);
    if (code != JOBS_OK)
        return code;
    journal->began = whole;
    if (ftruncate(journal->file, whole) != 0 || lseek(journal->file, whole, SEEK_SET) < 0)
        return fail(error, JOBS_SYSTEM, "cut behind its last whole line");
    code = jobs__journal_sync(journal, error);
    if (code == JOBS_OK && sync_folder(path) != JOBS_OK)
        code = fail(error, JOBS_SYSTEM, "synced");
    return code;
}

int jobs__journal_open(struct jobs__journal **out, const char *path, char *const *relays, size_t relay_count,
                       struct jobs_error *error)
{
    *out = NULL;
    struct jobs__journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL)
        return fail(error, JOBS_NO_MEMORY, "");
    journal->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    int code = journal->file < 0
                   ? jobs_error_set(error, JOBS_USAGE, "the journal cannot be opened: %s", strerror(errno))
                   : begin(journal, path, relays, relay_count, error);
    if (code != JOBS_OK) {
        jobs__journal_close(journal);
        return code;
    }
    *out = journal;
    return JOBS_OK;
}

void jobs__journal_close(struct jobs__journal *journal)
{
    if (journal == NULL)
        return;
    for (size_t i = 0; i < journal->run_count; i++) {
        free(journal->runs[i].bytes);
        jobs__buffer_free(&journal->runs[i].id);
        jobs__buffer_free(&journal->runs[i].verdict);
        jobs__buffer_free(&journal->runs[i].message);
    }
    free(journal->runs);
    jobs__json_free(&journal->doc);
    jobs__buffer_free(&journal->out);
    if (journal->file >= 0)
        close(journal->file);
    free(journal);
}

void jobs__journal_forget_run(struct jobs__journal *journal)
{
    /* Should that fail, a run too many is named there: no harm. */
    int ignored = journal != NULL && journal->run_count > 0 ? ftruncate(journal->file, journal->began) : 0;
    (void)ignored;
}

/* --- writing --- */

int jobs__journal_add(struct jobs__journal *journal, const struct jobs__memory *memory)
{
    struct jobs__buffer *out = &journal->out;
    jobs__buffer_format(out, "{\"line\":%" PRIu64 ",\"event_id\":", memory->line);
    if (memory->event_id[0] != '\0')
        add_quoted(out, memory->event_id);
    else
        jobs__buffer_text(out, "null");
    jobs__buffer_text(out, ",\"verdict\":");
    add_quoted(out, memory->verdict);
    if (memory->message[0] != '\0') {
        jobs__buffer_text(out, ",\"message\":");
        add_quoted(out, memory->message);
    }
    jobs__buffer_text(out, memory->sent ? ",\"sent\":true}\n" : "}\n");
    return out->failed ? JOBS_NO_MEMORY : JOBS_OK;
}

int jobs__journal_sync(struct jobs__journal *journal, struct jobs_error *error)
{
    const char *at = journal->out.bytes;
    size_t left = journal->out.len;
    if (journal->out.failed)
        return fail(error, JOBS_NO_MEMORY, "");
    while (left > 0) {
        ssize_t wrote = write(journal->file, at, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return fail(error, JOBS_SYSTEM, "written");
        at += wrote;
        left -= (size_t)wrote;
    }
    jobs__buffer_clear(&journal->out);
    return fdatasync(journal->file) == 0 ? JOBS_OK : fail(error, JOBS_SYSTEM, "synced");
}
