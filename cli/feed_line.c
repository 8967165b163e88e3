/* feed_line.c - see feed_line.h. */
#include "feed_line.h"

#include "card/card.h"
#include "escape.h"
#include "print.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* What does not fit is not what belongs there: nothing is cut, least of all within a character. */
static void copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text != NULL && strlen(text) < size ? text : "");
}

/* The job that an event's tag names, when it is an id at all. */
static void copy_id(char out[65], const char *text)
{
    out[0] = '\0';
    if (text == NULL || strlen(text) != 64 || strspn(text, "0123456789abcdefABCDEF") != 64)
        return;
    for (size_t i = 0; i <= 64; i++)
        out[i] = (char)tolower((unsigned char)text[i]);
}

/* Feed lines are lines: what a text says after its first break is for the card. */
static char *first_line(const char *before, const char *text, size_t len)
{
    size_t start = 0;
    while (start < len && strchr(" \t\r\n", text[start]) != NULL)
        start++;
    size_t end = start;
    while (end < len && text[end] != '\n' && text[end] != '\r')
        end++;
    char *line = malloc(strlen(before) + (end - start) + 1);
    if (line != NULL)
        sprintf(line, "%s%.*s", before, (int)(end - start), text + start);
    return line;
}

static int read_card(struct feed_line *out, const struct jobs_handoff *handoff, const char *label)
{
    char before[64];
    const char *outcome = jobs_handoff_outcome(handoff);
    snprintf(before, sizeof before, "%s: ", label);
    out->card = true;
    out->disposition = jobs_disposition_name(jobs_handoff_disposition(handoff));
    copy(out->job, sizeof out->job, jobs_handoff_job_request(handoff));
    copy(out->supersedes, sizeof out->supersedes, jobs_handoff_supersedes(handoff));
    out->headline = first_line(before, outcome, strlen(outcome));
    return jobs_handoff_digest(out->digest, handoff);
}

int feed_line_read(struct feed_line *out, const struct jobs_event *event)
{
    struct card card;
    size_t len;
    const char *content = jobs_event_content(event, &len);
    memset(out, 0, sizeof *out);
    copy(out->id, sizeof out->id, jobs_event_id(event));
    copy(out->author, sizeof out->author, jobs_event_author(event));
    copy(out->channel, sizeof out->channel, jobs_event_channel(event));
    copy_id(out->job, jobs_event_reply(event));
    out->created_at = jobs_event_created_at(event);
    int code = card_open_verified(&card, event);
    if (code == JOBS_OK && card.handoff != NULL)
        code = read_card(out, card.handoff, card_headline(&card));
    else if (code == JOBS_OK)
        out->headline = first_line("", content, strnlen(content, len));
    card_close(&card);
    return code == JOBS_OK && out->headline == NULL ? JOBS_NO_MEMORY : code;
}

void feed_line_wipe(struct feed_line *line)
{
    free(line->headline);
    memset(line, 0, sizeof *line);
}

json_t *feed_line_json(const struct feed_line *line)
{
    char headline[1024];
    escape_line(headline, sizeof headline, line->headline, strlen(line->headline));
    return json_pack("{s:s, s:I, s:s, s:s, s:o, s:o, s:o, s:b}", "event_id", line->id, "created_at",
                     (json_int_t)line->created_at, "author", line->author, "channel", line->channel, "job",
                     line->job[0] != '\0' ? json_string(line->job) : json_null(), "disposition",
                     line->disposition != NULL ? json_string(line->disposition) : json_null(), "headline",
                     print_string(headline), "card", line->card);
}

static size_t terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 80;
}

static enum print_colour colour_of(const struct feed_line *line)
{
    if (!line->card)
        return PRINT_DIM;
    if (strcmp(line->disposition, "completed") == 0 || strcmp(line->disposition, "no_artifact") == 0)
        return PRINT_GREEN;
    return strcmp(line->disposition, "partial") == 0 ? PRINT_YELLOW : PRINT_RED;
}

static int print_for_person(struct run *run, const struct feed_line *line)
{
    char when[32] = "?", headline[4096], row[4400];
    struct tm tm;
    time_t at = (time_t)line->created_at;
    if (localtime_r(&at, &tm) != NULL)
        strftime(when, sizeof when, "%m-%d %H:%M", &tm);
    /* time, author, id: 11 + 1 + 8 + 1 + 8 + 1 columns before the words */
    size_t room = terminal_width() - 31;
    escape_line(headline, sizeof headline, line->headline, strlen(line->headline));
    escape_fit(headline, room);
    snprintf(row, sizeof row, "%s%s %.8s %.8s%s %s%s%s\n", print_colour(run, STDOUT_FILENO, PRINT_DIM), when, line->id,
             line->author, print_colour(run, STDOUT_FILENO, PRINT_PLAIN),
             print_colour(run, STDOUT_FILENO, colour_of(line)), headline,
             print_colour(run, STDOUT_FILENO, PRINT_PLAIN));
    return print_text(run, row);
}

int feed_line_print(struct run *run, const struct feed_line *line)
{
    return print_is_for_person(run, STDOUT_FILENO) ? print_for_person(run, line)
                                                   : print_line(run, feed_line_json(line));
}

int feed_since(int64_t *out, const char *text, struct jobs_error *error)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    int64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && digits <= 12 && sscanf(text, "%" SCNd64, &number) == 1) {
        if (text[digits] == '\0') {
            *out = number;
            return JOBS_OK;
        }
        for (size_t i = 0; i < sizeof units / sizeof units[0] && text[digits + 1] == '\0'; i++)
            if (text[digits] == units[i].unit && number <= INT32_MAX) {
                *out = (int64_t)time(NULL) - number * units[i].seconds;
                *out = *out > 0 ? *out : 1;
                return JOBS_OK;
            }
    }
    return jobs_error_set(error, JOBS_USAGE, "--since takes seconds since 1970, or how long ago: 90s, 15m, 2h, 7d");
}
