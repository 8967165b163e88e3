/* conversion.h - what the converters share: one conversion under way, and the parts a manifest is built from.
 *
 * A converter (one file a format) checks the shape of its source by a table, then the rules of its contract, then maps.
 * It never decides what is harmless: text goes in through jobs__put_text, references through jobs__add_artifact, and
 * both keep local paths and secrets out.
 */
#ifndef JOBS_CONVERSION_H
#define JOBS_CONVERSION_H

#include "../buffer.h"

#include <jobs/convert.h>

#include <jansson.h>
#include <stdint.h>

/* Repairs, in the order in which docs/protocol/convert.md names them; source.repairs keeps that order. */
enum jobs__repair {
    JOBS__REPAIR_TEXT_REDACTED,
    JOBS__REPAIR_PLAIN_FORM,
    JOBS__REPAIR_BINDING_REDACTED,
    JOBS__REPAIR_LEGACY_INTENT,
    JOBS__REPAIR_DETAIL_DEFAULTED,
    JOBS__REPAIR_DESIGN_CANDIDATES_MOVED,
    JOBS__REPAIR_PATH_RELATIVE,
    JOBS__REPAIR_COUNT
};

/* Bytes of one text on its way: an input of nothing but "~ " grows five times when it is redacted. */
#define JOBS__TEXT_MAX (8 * JOBS_CONVERT_INPUT_MAX)

enum jobs__block {
    JOBS__BLOCK_JSON,
    JOBS__BLOCK_YAML,
    JOBS__BLOCK_PLAIN,
    JOBS__BLOCK_UNMARKED /* a fence under a heading that does not say what it holds */
};

/* One block of the input that carries a result. */
struct jobs__candidate {
    enum jobs_format format;
    enum jobs__block block;
    size_t start, len; /* span of the input, fences aside */
    size_t line;       /* 1-based, of its first line */
};

struct jobs__conversion {
    const struct jobs_convert_options *options;
    const char *input;
    size_t input_len;
    struct jobs__candidate candidate;
    json_t *source; /* the result, whatever its spelling was */
    json_t *lines;  /* YAML and plain form: JSON Pointer → line */
    struct jobs_report *report;
    int failed; /* JOBS_NO_MEMORY sticks */

    /* the manifest under construction */
    const char *disposition;
    const char *native_outcome, *producer, *version; /* borrowed from source, static, or version_text */
    char version_text[24];
    struct jobs__buffer outcome, blocker, progress;
    json_t *artifacts, *verification, *findings, *reviews, *questions, *next;
    json_t *origins; /* pointer into the manifest → pointer into the source */
    json_t *ids;     /* of Bubbles: what findings call themselves */
    json_t *hidden;  /* strings that must not appear anywhere: approval codes, MACs, local roots */
    size_t nameable; /* artifacts that make a result `completed` */
    bool local_binding;
    bool repairs[JOBS__REPAIR_COUNT];
};

/* --- violations: rules.c --- */
void jobs__violate(struct jobs__conversion *c, const char *rule, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same where the rule's own sentence says all. */
void jobs__break(struct jobs__conversion *c, const char *rule, const char *pointer);
bool jobs__violated(const struct jobs__conversion *c); /* or out of memory */
/* Walks the table of rules; false behind its end. */
bool jobs__convert_rule(size_t i, const char **number, const char **sentence);

/* --- extraction: extract.c, json_source.c, plain.c, yaml.c --- */
/* Finds the one candidate and reads it into c->source; violations when there is none, several, or a cut one. */
void jobs__extract(struct jobs__conversion *c);
json_t *jobs__json_read(struct jobs__conversion *c, const char *text, size_t len);
json_t *jobs__plain_read(struct jobs__conversion *c, const char *text, size_t len, size_t line);
json_t *jobs__yaml_read(struct jobs__conversion *c, const char *text, size_t len, size_t line);
/* The bytes that the hash of a JSON result is of, members of the root in left_out aside. False for a real: its spelling
 * is not certain. */
bool jobs__json_canonical(struct jobs__conversion *c, const char *const *left_out, struct jobs__buffer *out);

/* --- shapes: shape.c --- */
enum jobs__shape_type {
    JOBS__STRING,
    JOBS__INTEGER,
    JOBS__BOOLEAN,
    JOBS__ARRAY,
    JOBS__OBJECT,
    JOBS__ANY
};
#define JOBS__REQUIRED 1u
#define JOBS__NULLABLE 2u
#define JOBS__FILLED   4u /* a string, or an array's strings, with something in it */
#define JOBS__NATURAL  8u /* an integer ≥ 0 */

#define JOBS__POINTER_MAX 2048
/* Goes on by one name, escaped and harmless to show. */
void jobs__pointer_add(struct jobs__buffer *pointer, const char *name);

struct jobs__shape;
struct jobs__field {
    const char *name;
    enum jobs__shape_type type;
    unsigned flags;
    const char *const *words;         /* the strings allowed, NULL-terminated; or NULL */
    enum jobs__shape_type items;      /* of an array */
    const struct jobs__shape *object; /* of an object, or of an array's objects; or NULL */
};
struct jobs__shape {
    bool closed; /* other members are refused */
    const struct jobs__field *fields;
    size_t count;
};
/* The format's four shape rules: a member is missing, not known, of the wrong type, not one of the words. */
struct jobs__shape_rules {
    const char *missing, *unknown, *type, *word;
};
void jobs__shape_check(struct jobs__conversion *c, const struct jobs__shape *shape,
                       const struct jobs__shape_rules *rules, const json_t *object, const char *pointer);

/* --- reading the source: shape.c --- */
const char *jobs__text(const json_t *object, const char *name); /* NULL unless a string that is not blank */
bool jobs__is_blank(const char *text);
bool jobs__is_one_of(const char *word, const char *const *words);
bool jobs__is_hex(const char *text, size_t digits);
/* A day, with or without a clock and a zone: time.c. */
bool jobs__is_time(const char *text);
bool jobs__is_sha256(const char *text); /* "sha256:" + 64 lower-case hex */

/* --- building the manifest: parts.c --- */
void jobs__repair(struct jobs__conversion *c, enum jobs__repair repair);
/* Sets object[name], taking the value over; one that memory did not hold fails the conversion. */
void jobs__set(struct jobs__conversion *c, json_t *object, const char *name, json_t *value);
/* Sets object[name] to the redacted text; NULL or blank sets nothing. */
void jobs__put_text(struct jobs__conversion *c, json_t *object, const char *name, const char *text);
/* The texts of a list, redacted, those that are blank aside; NULL when out of memory. The caller's to release. */
json_t *jobs__texts(struct jobs__conversion *c, const json_t *list);
/* Frees a composed text; one that memory did not hold fails the conversion, so that nothing comes out shorter. */
void jobs__close(struct jobs__conversion *c, struct jobs__buffer *text);
void jobs__append_text(struct jobs__conversion *c, struct jobs__buffer *to, const char *text);
/* "LABEL: text" on a line of its own, below what the outcome already says. */
void jobs__outcome_line(struct jobs__conversion *c, const char *label, const char *text);
/* Adds an artifact; returns it for additive fields, NULL when the reference is refused. origin is of the source.
 * nameable: it counts when completed is told from no_artifact. */
json_t *jobs__add_artifact(struct jobs__conversion *c, const char *kind, const char *label, const char *reference,
                           const char *source_state, const char *origin, bool nameable);
/* Claims are `not_run` or `failed`; only a hash that was recomputed here makes one `passed`. */
json_t *jobs__add_claim(struct jobs__conversion *c, const char *label, bool failed, const char *evidence,
                        const char *origin);
/* An evidence file: re-hashed when there is a hash and an evidence root, else not_run. */
void jobs__add_evidence(struct jobs__conversion *c, const char *path, const char *sha256, const char *origin);
json_t *jobs__add_finding(struct jobs__conversion *c, const char *id, const char *severity, const char *summary,
                          const char *bucket, const char *origin);
void jobs__add_question(struct jobs__conversion *c, const char *id, const char *question, const json_t *options,
                        const char *origin);
/* A URL becomes a link or pull_request, 40/64 hex a commit; anything else is left to the caller: false. */
bool jobs__add_link(struct jobs__conversion *c, const char *reference, const char *origin);
/* An absolute path, ~, .., file:, a drive: such a reference is refused (true) with the source's pointer. */
bool jobs__is_local(const char *reference);
bool jobs__refuse_local(struct jobs__conversion *c, const char *reference, const char *origin);

/* --- keeping things out: redact.c --- */
/* Appends text with every local path, file: URL, hidden value and secret replaced by <redacted>; true when any was. */
bool jobs__redact(struct jobs__conversion *c, const char *text, size_t len, struct jobs__buffer *out);
/* The redacted input as source.original, or a violation when it does not fit: original.c. */
void jobs__put_original(struct jobs__conversion *c, json_t *source);
/* Collects the values that must not appear: approval codes, MACs and the like, wherever they stand in the source. */
void jobs__collect_hidden(struct jobs__conversion *c, const json_t *value, const char *name);

/* --- the formats --- */
void jobs__convert_bubbles(struct jobs__conversion *c);
void jobs__convert_skill_outcome(struct jobs__conversion *c);
void jobs__convert_workflow_envelope(struct jobs__conversion *c);
void jobs__convert_sublation_manifest(struct jobs__conversion *c);
void jobs__convert_sublation_report(struct jobs__conversion *c);

#endif
