/* answer.c - see answer.h. A new relay's habit becomes a row here, and a line in its test. */
#include "answer.h"

#include <string.h>
#include <strings.h>

struct word {
    const char *word;
    enum jobs__answer answer;
};

/* NIP-01's prefixes and what is seen beside them. Whatever is not here is final. */
static const struct word refusals[] = {
    {"duplicate", JOBS__ANSWER_DUPLICATE},    {"auth-required", JOBS__ANSWER_AUTH}, {"restricted", JOBS__ANSWER_DENIED},
    {"rate-limited", JOBS__ANSWER_THROTTLED}, {"error", JOBS__ANSWER_ERROR},        {"write error", JOBS__ANSWER_ERROR},
    {"invalid", JOBS__ANSWER_FINAL},          {"blocked", JOBS__ANSWER_FINAL},      {"pow", JOBS__ANSWER_FINAL},
    {"unsupported", JOBS__ANSWER_FINAL},      {"mute", JOBS__ANSWER_FINAL},
};

static const struct word notices[] = {
    {"rate-limited", JOBS__ANSWER_THROTTLED}, {"auth-required", JOBS__ANSWER_AUTH}, {"invalid", JOBS__ANSWER_FINAL},
    {"invalid message", JOBS__ANSWER_FINAL},  {"bad msg", JOBS__ANSWER_FINAL},
};

static const char *find(const char *text, size_t len, const char *needle)
{
    size_t size = strlen(needle);
    for (size_t i = 0; size <= len && i <= len - size; i++)
        if (strncasecmp(text + i, needle, size) == 0)
            return text + i;
    return NULL;
}

static bool names_one(const char *text, size_t len, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (find(text, len, words[i]) != NULL)
            return true;
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

void jobs__answer_strip(const char **text, size_t *len)
{
    static const char prefix[] = "ERROR: "; /* exactly so: "error: " is a prefix of its own */
    while (*len > 0 && is_space(**text)) {
        (*text)++;
        (*len)--;
    }
    if (*len >= sizeof prefix - 1 && memcmp(*text, prefix, sizeof prefix - 1) == 0) {
        *text += sizeof prefix - 1;
        *len -= sizeof prefix - 1;
    }
}

/* The row whose word the text begins with, followed by a colon or nothing more. */
static enum jobs__answer look_up(const struct word *table, size_t rows, const char *text, size_t len,
                                 enum jobs__answer otherwise)
{
    jobs__answer_strip(&text, &len);
    for (size_t i = 0; i < rows; i++) {
        size_t size = strlen(table[i].word);
        if (len >= size && strncasecmp(text, table[i].word, size) == 0 && (len == size || text[size] == ':'))
            return table[i].answer;
    }
    return otherwise;
}

enum jobs__answer jobs__answer_refusal(const char *text, size_t len)
{
    enum jobs__answer answer = look_up(refusals, sizeof refusals / sizeof *refusals, text, len, JOBS__ANSWER_FINAL);
    return answer == JOBS__ANSWER_DENIED && find(text, len, "kind") != NULL ? JOBS__ANSWER_KIND : answer;
}

enum jobs__answer jobs__answer_notice(const char *text, size_t len)
{
    return look_up(notices, sizeof notices / sizeof *notices, text, len, JOBS__ANSWER_NOTHING);
}

bool jobs__answer_close_is_final(int code)
{
    static const int codes[] = {1003, 1007, 1008, 1009}; /* unacceptable data, bad payload, policy, too big */
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == codes[i])
            return true;
    return false; /* 1002 too: libwebsockets reports 1012 to 1014 as 1002 */
}

/* A number at *at, at most some 10^11; moves *at behind it and behind a fraction, which rounds up. */
static bool read_number(int64_t *out, const char *text, size_t len, size_t *at)
{
    size_t start = *at;
    *out = 0;
    for (; *at < len && text[*at] >= '0' && text[*at] <= '9'; (*at)++)
        if (*out < INT64_C(100000000000))
            *out = *out * 10 + (text[*at] - '0');
    if (*at == start)
        return false;
    if (*at + 1 < len && text[*at] == '.' && text[*at + 1] >= '0' && text[*at + 1] <= '9') {
        bool more = false;
        for ((*at)++; *at < len && text[*at] >= '0' && text[*at] <= '9'; (*at)++)
            more = more || text[*at] != '0';
        *out += more;
    }
    return true;
}

/* Seconds that an amount in the unit at `at` stands for ("5s", "5 sec", "2 minutes", "500ms"); bare numbers are s. */
static int64_t in_seconds(int64_t amount, const char *text, size_t len, size_t at)
{
    static const struct {
        const char *unit;
        int64_t multiply, divide;
    } units[] = {{"ms", 1, 1000}, {"milli", 1, 1000}, {"m", 60, 1}, {"h", 3600, 1}, {"d", 86400, 1}};
    while (at < len && text[at] == ' ')
        at++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (len - at >= strlen(units[i].unit) && strncasecmp(text + at, units[i].unit, strlen(units[i].unit)) == 0)
            return (amount * units[i].multiply + units[i].divide - 1) / units[i].divide;
    return amount;
}

int jobs__answer_retry_in(const char *text, size_t len)
{
    static const char *const phrases[] = {"retry in ", "retry after ", "try again in ", "retry-after: "};
    const int64_t year = 366 * 86400;
    int64_t longest = 0;
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        const char *end = text + len;
        for (const char *p = find(text, len, phrases[i]); p != NULL; p = find(p, (size_t)(end - p), phrases[i])) {
            p += strlen(phrases[i]);
            size_t at = 0, left = (size_t)(end - p);
            int64_t amount;
            if (!read_number(&amount, p, left, &at))
                continue;
            int64_t seconds = in_seconds(amount, p, left, at);
            longest = seconds > longest ? seconds : longest;
        }
    }
    return (int)(longest > year ? year : longest);
}

bool jobs__answer_speaks_of_time(const char *text, size_t len)
{
    static const char *const words[] = {"created_at", "created at", "timestamp",     "too old",   "too early",
                                        "too late",   "future",     "in the past",   "too far",   "server time",
                                        "clock",      "stale",      "expired event", "event time"};
    return names_one(text, len, words, sizeof words / sizeof *words);
}

int jobs__answer_window(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool starts = text[i] >= '0' && text[i] <= '9' && (i == 0 || is_one_of(text[i - 1], " (+-<>=~"));
        if (!starts)
            continue;
        int64_t amount;
        size_t at = i;
        if (!read_number(&amount, text, len, &at))
            continue;
        size_t unit = at < len && text[at] == ' ' ? at + 1 : at;
        if (unit < len && is_one_of(text[unit], "smh") && amount > 0) {
            int64_t seconds = in_seconds(amount, text, len, at);
            return seconds <= 366 * 86400 ? (int)seconds : 0;
        }
        i = at;
    }
    return 0;
}

enum jobs__http jobs__answer_http(int status)
{
    static const struct {
        int from, to;
        enum jobs__http what;
    } rows[] = {
        {300, 399, JOBS__HTTP_REDIRECT}, {401, 401, JOBS__HTTP_DENIED}, {403, 403, JOBS__HTTP_DENIED},
        {404, 404, JOBS__HTTP_AGAIN},    {408, 408, JOBS__HTTP_AGAIN},  {425, 425, JOBS__HTTP_AGAIN},
        {429, 429, JOBS__HTTP_AGAIN},    {500, 599, JOBS__HTTP_AGAIN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (status >= rows[i].from && status <= rows[i].to)
            return rows[i].what;
    return JOBS__HTTP_FINAL;
}
