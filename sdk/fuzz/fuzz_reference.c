/* fuzz_reference.c - words that people paste: references and keys of any bytes; what decodes encodes to the same word.
 */
#include "../bech32.h"

#include <jobs/key.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const char *text, size_t len)
{
    char prefix[JOBS__BECH32_PREFIX_MAX + 1];
    unsigned char bytes[2048];
    char word[4096];
    size_t bytes_len;
    if (!jobs__bech32_decode(prefix, bytes, &bytes_len, sizeof bytes, text, len))
        return;
    jobs__bech32_encode(word, prefix, bytes, bytes_len);
    if (!jobs__bech32_is(prefix, text, len) || strlen(word) != len || strncasecmp(word, text, len) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jobs_reference reference;
    struct jobs_error error;
    struct jobs_key *key = NULL;
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (jobs_reference_event(&reference, text, &error) == JOBS_OK && strlen(reference.hex) != 64)
        abort();
    if (jobs_reference_author(&reference, text, &error) == JOBS_OK && strlen(reference.hex) != 64)
        abort();
    if (jobs_key_from_text(&key, text, size, &error) == JOBS_OK && !jobs_key_is_in(key, text, size))
        abort();
    jobs_key_free(key);
    round_trip(text, size);
    /* Bytes of the fuzzer's own as a well-formed word reach what stands behind the checksum. */
    if (size <= 1000) {
        static const char *const prefixes[] = {"note", "nevent", "npub", "nprofile", "nsec"};
        char word[2048] = "";
        jobs__bech32_encode(word, prefixes[size == 0 ? 0 : data[0] % 5], data, size);
        (void)!jobs_reference_event(&reference, word, &error);
        (void)!jobs_reference_author(&reference, word, &error);
        round_trip(word, strlen(word));
    }
    free(text);
    return 0;
}
