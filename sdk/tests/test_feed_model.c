/* test_feed_model.c - thousands of random relays; a failure names its seed: JOBS_SEED=N runs that one alone. */
#include "support.h"

#include "feed_model.h"

static unsigned next_random(void *context, unsigned n)
{
    uint64_t *state = context;
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n == 0 ? 0 : (unsigned)((*state >> 33) % n);
}

static const char *run_seed(struct feed_model *model, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return feed_model_run(model, next_random, &state);
}

static void everything_is_handed_in_once(void **state)
{
    (void)state;
    static struct feed_model model;
    const char *only = getenv("JOBS_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1, last = only != NULL ? first : 4000;
    unsigned live = 0, events = 0;
    for (uint64_t seed = first; seed <= last; seed++) {
        const char *broken = run_seed(&model, seed);
        if (broken != NULL)
            fail_msg("%s: JOBS_SEED=%" PRIu64 " (%u events, %u steps, page %u, cap %u, %s: %s)", broken, seed,
                     model.count, model.steps, model.page, model.cap, model.live ? "live" : "list", model.message);
        live += model.live;
        events += model.count;
    }
    if (only == NULL) {
        assert_in_range(live, 1000, 3000); /* both are tried */
        assert_true(events > 100000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_is_handed_in_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
