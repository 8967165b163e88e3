/* fuzz_session.c - the input's bytes are the choices of the model's relay; the invariants are the same. */
#include "../tests/session_model.h"

#include <stdint.h>

struct choices {
    const uint8_t *bytes;
    size_t left;
};

static unsigned next_choice(void *context, unsigned n)
{
    struct choices *choices = context;
    unsigned value = 0;
    for (unsigned range = 1; range<n; range = range> n / 256 ? n : range * 256) {
        if (choices->left == 0)
            return 0;
        value = value << 8 | *choices->bytes++;
        choices->left--;
    }
    return value % n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model_world world;
    if (world.event == NULL)
        model_world_make(&world);
    struct choices choices = {data, size};
    const char *broken = model_run(&world, next_choice, &choices);
    if (broken != NULL) {
        fprintf(stderr, "broken: %s\n", broken);
        abort();
    }
    return 0;
}
