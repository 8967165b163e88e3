/* fuzz_batch.c - the input's bytes are the choices of the model's relay (batch_model.h); the invariants are the same.
 */
#include "../tests/batch_model.h"

#include "choices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct batch_world world;
    if (world.key == NULL)
        batch_world_make(&world);
    struct choices choices = {data, size, 0};
    const char *broken = batch_model_run(&world, next_choice, &choices);
    if (broken != NULL) {
        fprintf(stderr, "broken: %s\n", broken);
        abort();
    }
    return 0;
}
