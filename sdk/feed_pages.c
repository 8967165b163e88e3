/* feed_pages.c - see feed_pages.h. */
#include "feed_pages.h"

#include <string.h>

#define CROWD 100U /* events of a second, before their number and their ids tell anything */

void jobs__pages_start(struct jobs__pages *pages, int64_t floor, int64_t until, unsigned size)
{
    *pages = (struct jobs__pages){.floor = floor, .until = until, .first_size = size, .size = size};
}

void jobs__pages_ask(struct jobs__pages *pages)
{
    pages->taken = pages->fresh = pages->outside = 0;
    pages->oldest = INT64_MAX;
    pages->oldest_id[0] = '\0';
    pages->unordered = false;
}

void jobs__pages_take(struct jobs__pages *pages, const char id[65], int64_t created_at, bool fresh)
{
    if (created_at < pages->floor || (pages->until > 0 && created_at > pages->until)) {
        pages->outside++;
        return;
    }
    pages->taken++;
    pages->fresh += fresh;
    pages->unordered = pages->unordered || created_at > pages->oldest ||
                       (created_at == pages->oldest && strcmp(id, pages->oldest_id) <= 0);
    if (created_at < pages->oldest)
        pages->oldest = created_at;
    memcpy(pages->oldest_id, id, sizeof pages->oldest_id);
}

/* On to that second; false when there is nothing left to ask for. */
static bool go_on(struct jobs__pages *pages, int64_t until)
{
    if (pages->resume > 0 && until < pages->upper) {
        until = pages->resume < until ? pages->resume : until;
        pages->resume = pages->upper = 0;
    }
    pages->until = until;
    return until > 0 && until >= pages->floor;
}

/* A relay that shows fewer events than it is asked for, of its oldest second, has no more; or it has a limit. It gives
 * itself away: a larger question brings as many as the one before; or what it gives begins with the lowest id, in
 * order, and ends long before the highest: ids are hashes, and of a hundred one begins with e or f. */
static bool looks_cut(const struct jobs__pages *pages)
{
    return !pages->selected && pages->taken >= CROWD &&
           (pages->unordered ? pages->taken == pages->filled : pages->oldest_id[0] < 'e');
}

/* The second that was asked for again gave nothing new: it is whole, or cannot be had whole. */
static bool leave_second(struct jobs__pages *pages, bool whole)
{
    int64_t second = pages->oldest;
    pages->cut = pages->cut || !whole;
    pages->doubted = whole ? second : 0;
    pages->suspect = whole && looks_cut(pages);
    pages->filled = 0;
    pages->size = pages->first_size;
    bool more = go_on(pages, second - 1);
    pages->cut = pages->cut || (!more && pages->suspect);
    return more;
}

bool jobs__pages_end(struct jobs__pages *pages)
{
    if (pages->taken == 0 && !pages->checking) {
        pages->cut = pages->cut || pages->outside > 0 || (pages->doubted != 0 && pages->suspect);
        return pages->resume > 0 && go_on(pages, pages->upper - 1);
    }
    if (pages->doubted != 0 && !pages->checking) {
        pages->checking = true;
        pages->until = pages->doubted;
        return true;
    }
    if (pages->checking) {
        int64_t second = pages->doubted;
        pages->checking = false;
        pages->doubted = 0;
        /* A page that is not full and holds one second alone, though there is older: the second may be cut, too. */
        pages->cut = pages->cut || pages->oldest >= second;
        if (pages->oldest >= second)
            return go_on(pages, second - 1);
    }
    if (pages->until == 0 || pages->oldest < pages->until) {
        pages->size = pages->first_size;
        return go_on(pages, pages->oldest);
    }
    if (pages->fresh > 0)
        return true; /* the same second once more: it may show yet others */
    if (pages->taken < pages->size)
        return leave_second(pages, true);
    if (pages->size == JOBS__PAGE_MAX)
        return leave_second(pages, false);
    pages->filled = pages->taken;
    pages->size = pages->size * 4 < JOBS__PAGE_MAX ? pages->size * 4 : JOBS__PAGE_MAX;
    return true;
}

bool jobs__pages_shrink(struct jobs__pages *pages)
{
    if (pages->size <= pages->first_size)
        return false;
    pages->oldest = pages->until;
    return leave_second(pages, false);
}

void jobs__pages_interrupt(struct jobs__pages *pages, int64_t known)
{
    if (pages->resume == 0 && pages->until > 0 && known > pages->until) {
        pages->resume = pages->until;
        pages->upper = known > 1 ? known : 1;
    }
    pages->until = 0; /* the size stays: the crowded second that needed it comes again */
    pages->doubted = 0;
    pages->checking = false;
}
