/* fuzz_session.c - the input's bytes are the choices of the model's relay; the invariants are the same. */
#include "../tests/session_model.h"

#include "choices.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model_world world;
    if (world.event == NULL)
        model_world_make(&world);
    struct choices choices = {data, size, 0};
    const char *broken = model_run(&world, next_choice, &choices);
    if (broken != NULL) {
        fprintf(stderr, "broken: %s\n", broken);
        abort();
    }
    return 0;
}
