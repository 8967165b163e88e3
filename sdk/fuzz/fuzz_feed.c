/* fuzz_feed.c - the input's bytes are the choices of the model's relay; then raw frames, which may change nothing. */
#include "../tests/feed_model.h"

#include "choices.h"

#include <stdint.h>

static enum jobs__feed_taken take_none(void *context, const char *id, const char *json, size_t len, bool baseline,
                                       int64_t *created_at)
{
    (void)context;
    (void)id;
    (void)json;
    (void)baseline;
    *created_at = (int64_t)len;
    return len % 3 == 0 ? JOBS__TAKEN_NEW : len % 3 == 1 ? JOBS__TAKEN_KNOWN : JOBS__TAKEN_FOREIGN;
}

/* Frames of any bytes, one a line, between everything a feed may want. */
static void talk_raw(const uint8_t *data, size_t size, bool live)
{
    const struct jobs__feed_options options = {.auth_url = "wss://relay.example",
                                               .unix_start = MODEL_TODAY,
                                               .give_up = 30000,
                                               .wake = INT64_MAX,
                                               .timeout = 1000,
                                               .connect_timeout = 1000,
                                               .filter = "\"kinds\":[43004]",
                                               .page = 4,
                                               .live = live,
                                               .take = take_none};
    struct jobs__feed *feed = NULL;
    const struct jobs__opened opened = {0};
    if (jobs__feed_new(&feed, &options) != JOBS_OK)
        return;
    struct jobs__engine *engine = jobs__feed_engine(feed);
    int64_t now = 0;
    for (unsigned steps = 0; steps < 300; steps++) {
        struct jobs__step step = engine->ops->next(engine, now);
        if (step.want == JOBS__WANT_DONE)
            break;
        if (step.want == JOBS__WANT_DIAL)
            engine->ops->opened(engine, now, &opened);
        if (step.want != JOBS__WANT_WAIT)
            continue;
        const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
        size_t len = end != NULL ? (size_t)(end - data) : size;
        if (len > 0)
            engine->ops->frame(engine, now, (const char *)data, len);
        else
            now = step.at < now + 5000 ? step.at : now + 5000;
        data += end != NULL ? len + 1 : len;
        size -= end != NULL ? len + 1 : len;
    }
    jobs__feed_free(feed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct feed_model model;
    struct choices choices = {data, size, 1}; /* spent: neither drops nor refuses any more */
    const char *broken = feed_model_run(&model, next_choice, &choices);
    if (broken != NULL) {
        fprintf(stderr, "broken: %s\n", broken);
        abort();
    }
    talk_raw(data, size, false);
    talk_raw(data, size, true);
    return 0;
}
