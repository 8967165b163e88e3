/* feed_pages.h - going back in time through what a relay has, page by page. Arithmetic only: no frames, no clock.
 *
 * Each page ends (`until`) in the second in which the one before it ended, so that a second cut in two is read whole.
 * An empty page is the only end; what a relay sends from outside the range it was asked for moves nothing.
 */
#ifndef JOBS_FEED_PAGES_H
#define JOBS_FEED_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOBS__PAGE_MAX (1U << 19) /* events asked for at once, for a second that holds very many */

struct jobs__pages {
    int64_t floor; /* how far back, inclusive; 0: to the beginning */
    int64_t until; /* of the page that is out, or next; 0: the newest */
    unsigned first_size, size;
    bool cut; /* the relay did not show a crowded second whole, or not the times it was asked for */
    /* Two stretches, after an interruption: from now down to `upper`, then on from `resume`. 0: one stretch. */
    int64_t upper, resume;
    int64_t doubted; /* a second that is whole if nothing older follows; 0: none */
    bool checking;   /* something does: the second once more, for it may have come only now */
    bool selected;   /* what is asked for was chosen by its ids: they prove nothing */
    bool suspect;    /* nothing older may follow, and yet the doubted second looks as if it had been cut */
    size_t filled;   /* the last full page of a second that a larger question was then asked about; 0: none */
    /* the page that is out */
    size_t taken, fresh, outside;
    int64_t oldest;
    bool unordered; /* the newest first, and of one second the lowest id: NIP-01 wants it, not every relay does it */
    char oldest_id[65];
};

void jobs__pages_start(struct jobs__pages *pages, int64_t floor, int64_t until, unsigned size);
/* A page is asked for. */
void jobs__pages_ask(struct jobs__pages *pages);
/* One of its events; fresh: it was not known before. */
void jobs__pages_take(struct jobs__pages *pages, const char id[65], int64_t created_at, bool fresh);
/* It is over. Returns whether there is another one to ask for. */
bool jobs__pages_end(struct jobs__pages *pages);
/* The relay does not answer so large a page: goes on without. Returns false when it was no larger than the first. */
bool jobs__pages_shrink(struct jobs__pages *pages);
/* The connection is gone before the end: the next one begins at the newest again, reads what may have come meanwhile
 * (down to `known`), and goes on where this one was. */
void jobs__pages_interrupt(struct jobs__pages *pages, int64_t known);

#endif
