/* fuzz_proxy.c - any bytes as a proxy variable and as a no_proxy list. */
#include "sdk/proxy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[] = {"relay.example", "10.1.2.3", "2001:db8::1", "a.localhost"};
    struct jobs__proxy proxy;
    char *text = malloc(size + 3);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (jobs__proxy_parse(&proxy, text) == NULL && (proxy.port == 0 || *proxy.host == '\0'))
        abort();
    jobs__proxy_is_loopback(text);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        jobs__proxy_excepts(text, hosts[i], 443);
    strcpy(text + size, ",*"); /* however odd what stands before it */
    if (memchr(data, 0, size) == NULL && !jobs__proxy_excepts(text, hosts[0], 443))
        abort();
    free(text);
    return 0;
}
