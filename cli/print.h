/* print.h - everything this program says. stdout: data, one JSON object a line. stderr: what went wrong, one JSON line,
 * or on a terminal a sentence. Nothing is printed that could change the terminal it is shown on.
 */
#ifndef JOBS_CLI_PRINT_H
#define JOBS_CLI_PRINT_H

#include "run.h"

#include <jobs/read.h>

#include <jansson.h>

/* Fills closed descriptors 0 to 2 so that no file we open gets one of them, and is written to by accident. */
void print_settle_descriptors(void);

/* Whether a person reads it: a terminal, and not --json. */
bool print_is_for_person(const struct run *run, int descriptor);

/* The escape sequence when the descriptor may show colours (a terminal, no NO_COLOR, no TERM=dumb), else "". */
enum print_colour {
    PRINT_PLAIN,
    PRINT_BOLD,
    PRINT_DIM,
    PRINT_RED,
    PRINT_GREEN,
    PRINT_YELLOW,
    PRINT_COLOUR_COUNT
};
const char *print_colour(const struct run *run, int descriptor, enum print_colour colour);

/* A JSON string of text; invalid UTF-8 is escaped instead of lost. NULL when out of memory, which print_line reports.
 */
json_t *print_string(const char *text);

/* Writes the object and a newline to stdout and gives the object back to jansson; NULL is out of memory. Returns
 * JOBS_OK, JOBS_NO_MEMORY or JOBS_SYSTEM (a closed pipe, a full disk) with run->error set. */
JOBS_MUST_USE int print_line(struct run *run, json_t *line);
/* The same for text as it stands. */
JOBS_MUST_USE int print_text(struct run *run, const char *text);
JOBS_MUST_USE int print_bytes(struct run *run, const char *bytes, size_t len);

/* Without a word about failure; errno says why it is JOBS_SYSTEM. */
JOBS_MUST_USE int print_line_to(int descriptor, json_t *line);

/* The parts that a receipt and a failure share. */
json_t *print_relays(const struct jobs_receipt *receipt);
json_t *print_warning_list(const struct jobs_receipt *receipt);
/* The line of a write: accepted, event_id, message, relays, warnings, pending; without newline or channel. */
json_t *print_receipt(const struct jobs_receipt *receipt, bool accepted);
/* [{"rule","pointer","message"}] */
json_t *print_violations(const struct jobs_report *report);
/* Relays that did not give everything they have: a list of objects, or a note each for a person. */
json_t *print_faults(const struct jobs_read_counts *counts);
void print_faults_for_person(const struct run *run, const struct jobs_read_counts *counts);
/* The event in NIP-01's order; of a template only what is known before it is signed. */
json_t *print_event(const struct jobs_event *event);

/* The broken rules as a person reads them, to stdout or stderr. */
void print_violations_for_person(const struct run *run, int descriptor, const struct jobs_report *report);

/* Tells on stderr why the run failed: run->error, receipt and report. */
void print_failure(const struct run *run, int code);
/* {"counts":{…}} on stderr, after a run that went well. */
void print_counts(json_t *counts);
/* What a person should know although it went well: warnings. */
void print_warnings(const struct run *run);
/* One line for a person on stderr, when one reads it. */
void print_note(const struct run *run, const char *text);

#endif
