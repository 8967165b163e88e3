/* doctor_limits.c - what a relay says of itself (NIP-11), and which of it stands against a handoff. Advice at most: a
 * document may be old, or about something else, so that only what it states outright is a failure.
 */
#include "doctor.h"

#include "../core/text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define FIRST_KIND 43001
#define LAST_KIND  43006

static void copy_line(char *out, size_t size, const json_t *value)
{
    if (json_is_string(value))
        jobs__text_one_line(out, size - 1, json_string_value(value), json_string_length(value));
}

static void read_nips(struct jobs_examination *found, const json_t *nips)
{
    size_t i;
    json_t *nip;
    json_array_foreach(nips, i, nip)
    {
        json_int_t number = json_integer_value(nip);
        if (json_is_integer(nip) && number > 0 && number < 100000 && found->nip_count < JOBS_NIPS_MAX)
            found->nips[found->nip_count++] = (int)number;
    }
}

/* "kinds": numbers, and pairs of a first and a last one. */
static bool names_job_kinds(const json_t *kinds)
{
    size_t i;
    json_t *kind;
    json_array_foreach(kinds, i, kind)
    {
        json_int_t first = json_integer_value(json_is_array(kind) ? json_array_get(kind, 0) : kind);
        json_int_t last = json_is_array(kind) ? json_integer_value(json_array_get(kind, 1)) : first;
        if (first <= LAST_KIND && last >= FIRST_KIND)
            return true;
    }
    return false;
}

/* A retention of no time or no events for our kinds: taken, and thrown away. */
static bool keeps_none(const json_t *retention)
{
    size_t i;
    json_t *row;
    json_array_foreach(retention, i, row)
    {
        json_t *time = json_object_get(row, "time"), *count = json_object_get(row, "count");
        bool none = (json_is_integer(time) && json_integer_value(time) == 0) ||
                    (json_is_integer(count) && json_integer_value(count) == 0);
        if (none && names_job_kinds(json_object_get(row, "kinds")))
            return true;
    }
    return false;
}

void jobs__examination_read(struct jobs_examination *found, const char *text, size_t len)
{
    const enum jobs_check check = JOBS_CHECK_LIMITS;
    json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(document)) {
        jobs__examination_note(found, check, JOBS_CHECK_SKIPPED, 0, "it says nothing of itself (NIP-11)");
        json_decref(document);
        return;
    }
    const json_t *limits = json_object_get(document, "limitation");
    found->informed = true;
    copy_line(found->name, sizeof found->name, json_object_get(document, "name"));
    copy_line(found->software, sizeof found->software, json_object_get(document, "software"));
    copy_line(found->version, sizeof found->version, json_object_get(document, "version"));
    read_nips(found, json_object_get(document, "supported_nips"));
    json_int_t message = json_integer_value(json_object_get(limits, "max_message_length"));
    json_int_t work = json_integer_value(json_object_get(limits, "min_pow_difficulty"));
    found->max_message_length = message > 0 ? message : 0;
    if (keeps_none(json_object_get(document, "retention")))
        jobs__examination_note(found, JOBS_CHECK_KINDS, JOBS_CHECK_FAILED, JOBS_REFUSED,
                               "it says that it does not keep job kinds (%d to %d)", FIRST_KIND, LAST_KIND);
    if (work > 0)
        jobs__examination_note(found, check, JOBS_CHECK_FAILED, JOBS_REFUSED,
                               "it wants proof of work (%lld bits), which jobs does not do", (long long)work);
    else if (json_is_true(json_object_get(limits, "payment_required")))
        jobs__examination_note(found, check, JOBS_CHECK_WARNING, 0, "it says that writing must be paid for");
    else if (json_is_true(json_object_get(limits, "restricted_writes")))
        jobs__examination_note(found, check, JOBS_CHECK_WARNING, 0,
                               "it says that not everybody may write: only a handoff itself will tell");
    else if (message > 0 && (size_t)message < JOBS_CONTENT_MAX)
        jobs__examination_note(found, check, JOBS_CHECK_WARNING, 0,
                               "it takes messages of %lld bytes at most: larger handoffs (up to %zu) will be refused",
                               (long long)message, JOBS_CONTENT_MAX);
    else
        jobs__examination_note(found, check, JOBS_CHECK_OK, 0, "nothing it says stands against a handoff");
    json_decref(document);
}
