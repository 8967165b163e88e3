/* choices.h - a fuzzer's bytes as the choices of a model's relay. */
#ifndef FUZZ_CHOICES_H
#define FUZZ_CHOICES_H

#include <stddef.h>
#include <stdint.h>

struct choices {
    const uint8_t *bytes;
    size_t left;
    unsigned spent; /* the choice when none are left */
};

static inline unsigned next_choice(void *context, unsigned n)
{
    struct choices *choices = context;
    unsigned value = 0;
    for (unsigned range = 1; range<n; range = range> n / 256 ? n : range * 256) {
        if (choices->left == 0)
            return n > choices->spent ? choices->spent : 0;
        value = value << 8 | *choices->bytes++;
        choices->left--;
    }
    return n == 0 ? 0 : value % n;
}

#endif
