/* json.h - the one strict JSON reader (RFC 8259, and stricter: see docs/protocol/handoff.md, "Bytes").
 *
 * It reads events and payloads. A document is a flat array of values in document order, each a span over the input:
 * nothing is decoded, numbers stay as they were spelled. An object's children are its members: a STRING value (the
 * name) directly followed by the member's value. jansson is its oracle in tests and fuzzing.
 *
 * A struct jobs__json may be parsed into again and again; it keeps its memory, so a steady stream allocates nothing.
 */
#ifndef JOBS_JSON_H
#define JOBS_JSON_H

#include "buffer.h"

#include <stdint.h>

enum jobs__json_type {
    JOBS__JSON_NULL,
    JOBS__JSON_FALSE,
    JOBS__JSON_TRUE,
    JOBS__JSON_NUMBER,
    JOBS__JSON_STRING,
    JOBS__JSON_ARRAY,
    JOBS__JSON_OBJECT
};

struct jobs__json_value {
    uint32_t start; /* offset of the first byte; of a string: of its opening quote */
    uint32_t end;   /* offset behind the last byte */
    uint32_t after; /* index of the next value that is not inside this one */
    uint32_t count; /* children of an array, members of an object */
    uint8_t type;
    bool escaped; /* a string with at least one backslash */
};

struct jobs__json {
    const char *text; /* borrowed; must outlive the document's use */
    size_t len;
    struct jobs__json_value *values; /* values[0] is the root */
    size_t count;
    size_t capacity;
    uint32_t *scratch; /* duplicate search */
    size_t scratch_capacity;
};

#define JOBS__JSON_NAME_SHOWN ((size_t)128) /* bytes of a member's name in a fault's pointer */

#define JOBS__JSON_DEPTH 32 /* the root is 1 */

/* What is wrong with bytes that are no JSON document for us. */
struct jobs__json_fault {
    const char *rule; /* of docs/protocol/handoff.md */
    const char *what; /* static sentence: what would be right */
    size_t offset;
    size_t line;       /* 1-based */
    char pointer[256]; /* nearest value's JSON Pointer, cut from the left with "…" when longer */
};

/* Returns JOBS_OK, JOBS_INVALID (fault filled in) or JOBS_NO_MEMORY. len up to 16 MiB. */
int jobs__json_parse(struct jobs__json *doc, const char *text, size_t len, struct jobs__json_fault *fault);

/* The same, but goes on behind every fault that leaves the structure readable (a duplicate name, a byte-order mark, a
 * bad byte or escape within a string, something behind the value), so that one pass tells of all of them. JOBS_OK: the
 * document can be walked, though its strings may hold invalid bytes if there were faults. */
typedef void jobs__json_report(void *context, const struct jobs__json_fault *fault);
int jobs__json_parse_all(struct jobs__json *doc, const char *text, size_t len, jobs__json_report *report,
                         void *context);
void jobs__json_free(struct jobs__json *doc);

/* Index of the member's value in the object at index `object`, or 0 when there is none (0 is the root, never a member).
 * name is plain ASCII. */
uint32_t jobs__json_member(const struct jobs__json *doc, uint32_t object, const char *name);

/* Appends the decoded text of the string at index (UTF-8; may hold NUL). */
void jobs__json_string(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out);

/* Whether the string at index decodes to exactly these bytes. */
bool jobs__json_equals(const struct jobs__json *doc, uint32_t index, const char *text, size_t len);

/* An integer without sign tricks: false for 1.0, 1e3, -0, out of int64. */
bool jobs__json_integer(const struct jobs__json *doc, uint32_t index, int64_t *out);

/* The value's JSON Pointer (appended) and 1-based line. A pointer is one printable line: what jobs__text_one_line would
 * escape in a member's name is escaped the same way. */
void jobs__json_pointer(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out);
size_t jobs__json_line(const struct jobs__json *doc, uint32_t index);

/* Sorts n strings, given by index, by the bytes they decode to; equal ones keep their order. `strings` has room for 2n.
 * Never slower than n log n. */
void jobs__json_sort(const struct jobs__json *doc, uint32_t *strings, size_t n);
#define JOBS__JSON_FEW 16 /* up to here each name is held against each other one, without a sort */
/* Of n strings, leaves those that equal an earlier one, in document order, and returns how many. Room for 2n. */
size_t jobs__json_repeats(const struct jobs__json *doc, uint32_t *strings, size_t n);

/* Appends one reference token of a pointer: the name at index, with ~ and / escaped. */
void jobs__json_add_token(const struct jobs__json *doc, uint32_t index, struct jobs__buffer *out);
/* The same, cut with "…" at max bytes. out holds max + 1 bytes; returns the length. */
size_t jobs__json_token(char *out, size_t max, const struct jobs__json *doc, uint32_t index);

#endif
