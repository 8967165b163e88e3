/* time.c - whether a text is a time as ISO 8601 writes it; which one is nobody's business here. */
#include "conversion.h"

#include <ctype.h>
#include <string.h>

/* Reads a number of so many digits within [least, most]. */
static bool take(const char **text, int digits, int least, int most, int *out)
{
    int value = 0;
    for (int i = 0; i < digits; i++, (*text)++) {
        if (!isdigit((unsigned char)**text))
            return false;
        value = value * 10 + (**text - '0');
    }
    *out = value;
    return value >= least && value <= most;
}

static bool skip(const char **text, char c)
{
    bool there = **text == c && c != '\0';
    *text += there;
    return there;
}

static bool take_day(const char **text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!take(text, 4, 1, 9999, &year))
        return false;
    bool dashed = skip(text, '-');
    if (!take(text, 2, 1, 12, &month) || skip(text, '-') != dashed)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return take(text, 2, 1, days[month - 1] + (month == 2 && leap), &day);
}

/* Hours, minutes and, when there are any, seconds; with colons or without. */
static bool take_clock(const char **text)
{
    int part;
    if (!take(text, 2, 0, 23, &part))
        return false;
    bool colons = skip(text, ':');
    if (!take(text, 2, 0, 59, &part))
        return false;
    return (colons ? !skip(text, ':') : !isdigit((unsigned char)**text)) || take(text, 2, 0, 60, &part);
}

/* ISO 8601: a day, then optionally T or a space, a clock, a fraction, Z or an offset. */
bool jobs__is_time(const char *text)
{
    int hours;
    if (!take_day(&text))
        return false;
    if (*text == '\0')
        return true;
    if ((!skip(&text, 'T') && !skip(&text, ' ')) || !take_clock(&text))
        return false;
    if (skip(&text, '.')) {
        if (!isdigit((unsigned char)*text))
            return false;
        text += strspn(text, "0123456789");
    }
    if (skip(&text, '+') || skip(&text, '-')) {
        if (strlen(text) == 2)
            return take(&text, 2, 0, 23, &hours);
        return take_clock(&text) && *text == '\0';
    }
    skip(&text, 'Z');
    return *text == '\0';
}
