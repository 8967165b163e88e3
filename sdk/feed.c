/* feed.c - see feed.h: its life, and what the other parts share (feed_state.h says which they are). Knows no frame. */
#include "feed_state.h"

#include "../core/text.h"

#include <stdlib.h>
#include <string.h>

#define OUT_MAX ((size_t)1 << 20)

void jobs__feed_say(struct jobs__feed *f, const char *text, size_t len)
{
    jobs__answer_strip(&text, &len);
    jobs__text_one_line(f->result.message, JOBS_RELAY_MESSAGE_MAX, text, len);
}

void jobs__feed_say_plain(struct jobs__feed *f, const char *text)
{
    jobs__feed_say(f, text, strlen(text));
}

void jobs__feed_end(struct jobs__feed *f, enum jobs_code code)
{
    f->result.complete = code == JOBS_OK;
    f->result.code = code;
    f->done = true;
    f->resting = false;
}

bool jobs__feed_is_limited(const struct jobs__feed *f)
{
    return !f->options.live || !f->answered;
}

bool jobs__feed_is_resting(const struct jobs__feed *feed)
{
    return feed->resting;
}

bool jobs__feed_needs_more(const struct jobs__feed *f)
{
    const struct jobs__pages *pages = &f->pages;
    return f->options.live || f->options.more == NULL ||
           f->options.more(f->options.context, pages->oldest, pages->unordered ? NULL : pages->oldest_id);
}

bool jobs__feed_go_on(struct jobs__feed *f, int64_t now)
{
    if (!f->resting || !jobs__feed_needs_more(f))
        return false;
    f->resting = false;
    jobs__feed_want(&f->page, now);
    return true;
}

static const struct jobs__engine_ops ops = {
    .opened = jobs__feed_opened,
    .frame = jobs__feed_frame,
    .closed = jobs__feed_closed,
    .explained = jobs__feed_explained,
    .next = jobs__feed_next,
    .doing = jobs__feed_doing,
};

int jobs__feed_new(struct jobs__feed **out, const struct jobs__feed_options *options)
{
    struct jobs__feed *f = calloc(1, sizeof *f);
    *out = f;
    if (f == NULL)
        return JOBS_NO_MEMORY;
    f->engine.ops = &ops;
    f->options = *options;
    f->random = options->seed;
    f->out.max = OUT_MAX;
    f->dial_at = options->start;
    f->result.code = JOBS_UNREACHABLE;
    jobs__pages_start(&f->pages, options->floor > options->since ? options->floor : options->since, options->until,
                      options->page);
    if (options->first_page > 0)
        f->pages.size = options->first_page;
    f->options.floor = f->pages.floor;
    f->pages.selected = options->selected;
    f->auth_url = strdup(options->auth_url);
    f->filter = strdup(options->filter);
    if (f->auth_url != NULL && f->filter != NULL)
        return JOBS_OK;
    jobs__feed_free(f);
    *out = NULL;
    return JOBS_NO_MEMORY;
}

void jobs__feed_free(struct jobs__feed *feed)
{
    if (feed == NULL)
        return;
    jobs__frame_reader_free(&feed->reader);
    jobs__buffer_free(&feed->out);
    free(feed->auth_url);
    free(feed->filter);
    free(feed);
}

struct jobs__engine *jobs__feed_engine(struct jobs__feed *feed)
{
    return &feed->engine;
}

void jobs__feed_stop(struct jobs__feed *feed)
{
    if (!feed->done)
        jobs__feed_end(feed, JOBS_OK);
}

bool jobs__feed_is_over(const struct jobs__feed *feed)
{
    return feed->done;
}

const struct jobs__feed_result *jobs__feed_result(const struct jobs__feed *feed)
{
    return &feed->result;
}
