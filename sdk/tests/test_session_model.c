/* test_session_model.c - the promise, explored: thousands of conversations with a relay whose truth only we know.
 *
 * JOBS_MODEL_RUNS says how many (default 20,000), JOBS_MODEL_SEED where to begin; a broken invariant is printed with
 * the seed that breaks it.
 */
#include <stdlib.h>

#include "support.h"

#include "session_model.h"

static unsigned random_choice(void *context, unsigned n) /* splitmix64 */
{
    uint64_t *state = context;
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ (z >> 31)) % n);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

static void the_promise_holds(void **state)
{
    (void)state;
    struct model_world world = {0};
    model_world_make(&world);
    uint64_t first = number_from("JOBS_MODEL_SEED", 1), runs = number_from("JOBS_MODEL_RUNS", 20000);
    unsigned broken = 0;
    assert_true(runs > 0);
    for (uint64_t seed = first; seed < first + runs && broken < 10; seed++) {
        uint64_t random = seed * UINT64_C(0x2545f4914f6cdd1d);
        const char *what = model_run(&world, random_choice, &random);
        if (what != NULL) {
            print_error("JOBS_MODEL_SEED=%llu JOBS_MODEL_RUNS=1: %s\n", (unsigned long long)seed, what);
            broken++;
        }
    }
    print_message("%llu conversations from seed %llu, %u broken promises\n", (unsigned long long)runs,
                  (unsigned long long)first, broken);
    for (enum jobs_verdict v = JOBS_ACCEPTED; v <= JOBS_UNCLEAR; v++) {
        print_message("  %s: %lu\n", jobs_verdict_name(v), world.verdicts[v]);
        assert_true(runs < 1000 || world.verdicts[v] > 0);
    }
    print_message("  that had to arrive: %lu\n", world.mended);
    print_message("  on a connection of another's: %lu; that left theirs to another: %lu\n", world.inherited,
                  world.left);
    assert_true(runs < 1000 || world.mended > 0);
    model_world_free(&world);
    assert_int_equal(broken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_promise_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
