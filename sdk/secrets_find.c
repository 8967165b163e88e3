/* secrets_find.c - where a credential stands in a text, for those who redact instead of refusing.
 *
 * The guard's table says whether there is one; here the words are looked for that it is made of: the end of the first
 * one, then its beginning. More words in a text never make fewer credentials, so that halving finds both.
 */
#include <jobs/event.h>

#include <string.h>

#define EXACT_MAX  65536 /* a longer text is hidden as a whole */
#define FIRST_LOOK 256   /* bytes looked at first, then twice as many, and so on */

static bool holds_one(const char *text, size_t len, const struct jobs_secret_options *options)
{
    struct jobs_report report = {0};
    int code = jobs_secrets_check_text("", text, len, options, &report);
    jobs_report_wipe(&report);
    return code != JOBS_OK; /* out of memory: better hidden than shown */
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t word_end(const char *text, size_t len, size_t at)
{
    while (at < len && !is_space(text[at]))
        at++;
    return at;
}

static size_t word_start(const char *text, size_t at)
{
    while (at > 0 && !is_space(text[at - 1]))
        at--;
    return at;
}

/* The end of the word with which the first credential is whole. What stands far behind it is not looked at. */
static size_t find_end(const char *text, size_t len, const struct jobs_secret_options *options)
{
    size_t low = 0, high = FIRST_LOOK;
    while (high < len && !holds_one(text, word_end(text, len, high), options)) {
        low = high;
        high *= 2;
    }
    if (high > len)
        high = len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (holds_one(text, word_end(text, len, middle), options))
            high = middle;
        else
            low = middle + 1;
    }
    return word_end(text, len, high);
}

/* The last beginning of a word from which it is still whole before end. */
static size_t find_start(const char *text, size_t end, const struct jobs_secret_options *options)
{
    size_t back = FIRST_LOOK, low = 0, high = end;
    while (back < end) {
        low = word_start(text, end - back);
        if (holds_one(text + low, end - low, options))
            break;
        high = end - back;
        low = 0;
        back *= 2;
    }
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        size_t start = word_start(text, middle);
        if (holds_one(text + start, end - start, options))
            low = middle;
        else
            high = middle - 1;
    }
    return word_start(text, low);
}

static size_t count_words(const char *text, size_t len)
{
    size_t words = 0;
    for (size_t i = 0; i < len; i++)
        words += !is_space(text[i]) && (i == 0 || is_space(text[i - 1]));
    return words;
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
    size_t end = find_end(text, len, options);
    size_t first = find_start(text, end, options);
    size_t words = count_words(text + first, end - first);
    if (words == 0)
        return true; /* there was no memory to look */
    /* One word, or two ("Bearer …"). More are several lines, such as a PEM block: nobody knows where it ends. */
    *start = first;
    *length = words <= 2 ? end - first : len - first;
    return true;
}
