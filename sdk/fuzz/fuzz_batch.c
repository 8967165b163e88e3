/* fuzz_batch.c - the input's bytes are the choices of the model's relay (batch_model.h); the invariants are the same.
 */
#include "../tests/batch_model.h"

struct choices {
    const uint8_t *bytes;
    size_t left;
};

static unsigned next_choice(void *context, unsigned n)
{
    struct choices *choices = context;
    if (choices->left < 2)
        return 0;
    unsigned value = (unsigned)choices->bytes[0] << 8 | choices->bytes[1];
    choices->bytes += 2;
    choices->left -= 2;
    return value % n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct batch_world world;
    if (world.key == NULL)
        batch_world_make(&world);
    struct choices choices = {data, size};
    const char *broken = batch_model_run(&world, next_choice, &choices);
    if (broken != NULL) {
        fprintf(stderr, "broken: %s\n", broken);
        abort();
    }
    return 0;
}
