/* bidi.c - the rule of RFC 5893 for hosts that hold text written from right to left.
 *
 * libidn2 judges each label alone and lets some through that URL parsers refuse: Arabic beside European numbers, a mark
 * behind a hyphen, a label of digits beside a Hebrew one. The tables hold what may stand in a domain name; a character
 * of none of them fits nowhere, which errs on the side of refusing.
 */
#include "reference.h"
#include "text.h"

enum direction {
    UNKNOWN,
    LEFT,
    RIGHT,
    ARABIC_NUMBER,
    NUMBER,
    MARK,
    NEUTRAL
};

struct range {
    uint32_t first, last;
};

static const struct range marks[] = {
    {0x300, 0x36f},     {0x591, 0x5bd},     {0x5bf, 0x5bf},     {0x5c1, 0x5c2},     {0x5c4, 0x5c5},
    {0x5c7, 0x5c7},     {0x610, 0x61a},     {0x64b, 0x65f},     {0x670, 0x670},     {0x6d6, 0x6dc},
    {0x6df, 0x6e4},     {0x6e7, 0x6e8},     {0x6ea, 0x6ed},     {0x711, 0x711},     {0x730, 0x74a},
    {0x7a6, 0x7b0},     {0x7eb, 0x7f3},     {0x7fd, 0x7fd},     {0x816, 0x819},     {0x81b, 0x823},
    {0x825, 0x827},     {0x829, 0x82d},     {0x859, 0x85b},     {0x898, 0x89f},     {0x8ca, 0x8e1},
    {0x8e3, 0x8ff},     {0xfb1e, 0xfb1e},   {0x10a01, 0x10a03}, {0x10a05, 0x10a06}, {0x10a0c, 0x10a0f},
    {0x10a38, 0x10a3a}, {0x10a3f, 0x10a3f}, {0x10ae5, 0x10ae6}, {0x10d24, 0x10d27}, {0x10eab, 0x10eac},
    {0x10efd, 0x10eff}, {0x10f46, 0x10f50}, {0x10f82, 0x10f85}, {0x1e8d0, 0x1e8d6}, {0x1e944, 0x1e94a},
};
static const struct range arabic_numbers[] = {{0x660, 0x669}, {0x10d30, 0x10d39}};
static const struct range numbers[] = {{'0', '9'}, {0x6f0, 0x6f9}};
static const struct range neutrals[] = {{'-', '-'}, {'_', '_'}};
static const struct range right[] = {
    {0x5d0, 0x8ff}, {0xfb1d, 0xfdff}, {0xfe70, 0xfefe}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};
/* Letters of Latin, Greek, Cyrillic, kana, Han and Hangul. */
static const struct range left[] = {{'a', 'z'},        {'A', 'Z'},       {0xdf, 0x2af},    {0x370, 0x373},
                                    {0x376, 0x3ff},    {0x400, 0x482},   {0x48a, 0x52f},   {0x3041, 0x3096},
                                    {0x30a1, 0x30fa},  {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3},
                                    {0x20000, 0x2a6df}};

/* The first table that holds a character tells what it is: marks and numbers lie within the ranges of `right`. */
static const struct {
    const struct range *ranges;
    size_t count;
    enum direction direction;
} tables[] = {
#define TABLE(name, direction)                                                                                         \
    {                                                                                                                  \
        name, sizeof(name) / sizeof *(name), direction                                                                 \
    }
    TABLE(marks, MARK),     TABLE(arabic_numbers, ARABIC_NUMBER),
    TABLE(numbers, NUMBER), TABLE(neutrals, NEUTRAL),
    TABLE(right, RIGHT),    TABLE(left, LEFT),
};

static enum direction direction_of(uint32_t c)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            if (c >= tables[t].ranges[i].first && c <= tables[t].ranges[i].last)
                return tables[t].direction;
        }
    }
    return UNKNOWN;
}

bool jobs__label_is_bidi(const char *label, size_t len, bool *fits)
{
    bool seen[NEUTRAL + 1] = {false};
    enum direction first = UNKNOWN, last = UNKNOWN; /* of last, marks do not count */
    for (size_t at = 0; at < len;) {
        bool begins = at == 0;
        enum direction direction = direction_of(jobs__text_next(label, len, &at));
        seen[direction] = true;
        first = begins ? direction : first;
        last = direction != MARK ? direction : last;
    }
    bool is_bidi = seen[RIGHT] || seen[ARABIC_NUMBER];
    if (is_bidi)
        *fits = first == RIGHT && (last == RIGHT || last == NUMBER || last == ARABIC_NUMBER) && !seen[LEFT] &&
                !seen[UNKNOWN] && !(seen[NUMBER] && seen[ARABIC_NUMBER]);
    else
        *fits = first == LEFT && (last == LEFT || last == NUMBER);
    return is_bidi;
}
