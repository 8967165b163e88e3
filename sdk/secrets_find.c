/* secrets_find.c - where a credential stands in a text, for those who redact instead of refusing.
 *
 * The guard's table says whether there is one; here the smallest run of words that still holds one is looked for: a
 * word, two words ("Bearer …"), else everything from the first word without which nothing is found.
 */
#include <jobs/event.h>

#include <string.h>

#define EXACT_MAX 65536 /* a longer text is hidden as a whole: looking word by word would take too long */

static bool holds_one(const char *text, size_t len, const struct jobs_secret_options *options)
{
    struct jobs_report report = {0};
    int code = jobs_secrets_check_text("", text, len, options, &report);
    jobs_report_wipe(&report);
    return code != JOBS_OK; /* out of memory: better hidden than shown */
}

static size_t skip(const char *text, size_t len, size_t at, bool spaces)
{
    while (at < len && (strchr(" \t\r\n", text[at]) != NULL) == spaces)
        at++;
    return at;
}

bool jobs_secrets_find(const char *text, size_t len, const struct jobs_secret_options *options, size_t *start,
                       size_t *length)
{
    if (!holds_one(text, len, options))
        return false;
    *start = 0;
    *length = len;
    if (len > EXACT_MAX)
        return true;
    size_t first = len;
    for (size_t words = 1; words <= 2; words++) {
        for (size_t at = skip(text, len, 0, true); at < len; at = skip(text, len, skip(text, len, at, false), true)) {
            size_t end = skip(text, len, at, false);
            if (words == 2)
                end = skip(text, len, skip(text, len, end, true), false);
            if (holds_one(text + at, end - at, options)) {
                *start = at;
                *length = end - at;
                return true;
            }
        }
    }
    /* several lines, such as a PEM block: from its latest possible beginning */
    for (size_t at = 0; at < len; at = skip(text, len, skip(text, len, at, false), true)) {
        if (!holds_one(text + at, len - at, options))
            break;
        first = at;
    }
    *start = first == len ? 0 : first;
    *length = len - *start;
    return true;
}
