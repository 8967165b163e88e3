/* resolve.c - see resolve.h. The only threads of the library; each touches nothing but its own look-up. */
#include "resolve.h"

#include "proxy.h"

#include <jobs/error.h>

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Held by the asker and by the thread; whoever lets go last frees it. */
struct jobs__lookup {
    pthread_mutex_t lock;
    unsigned holders;
    bool ended;
    const char *problem;
    struct jobs__addresses addresses;
    void (*wake)(void *context); /* NULL once the asker has let go */
    void *context;
    char host[];
};

static void add_address(struct jobs__addresses *out, const char *text)
{
    for (size_t i = 0; i < out->count; i++) {
        if (strcmp(out->text[i], text) == 0)
            return;
    }
    if (out->count < JOBS__ADDRESSES_MAX && strlen(text) < sizeof(out->text[0]))
        strcpy(out->text[out->count++], text);
}

bool jobs__resolve_at_once(struct jobs__addresses *out, const char *host)
{
    unsigned char binary[sizeof(struct in6_addr)];
    out->count = 0;
    if (inet_pton(AF_INET, host, binary) == 1 || inet_pton(AF_INET6, host, binary) == 1) {
        add_address(out, host);
    } else if (jobs__proxy_is_loopback(host)) {
        add_address(out, "::1");
        add_address(out, "127.0.0.1");
    }
    return out->count > 0;
}

static void let_go(struct jobs__lookup *lookup)
{
    pthread_mutex_lock(&lookup->lock);
    bool last = --lookup->holders == 0;
    pthread_mutex_unlock(&lookup->lock);
    if (last) {
        pthread_mutex_destroy(&lookup->lock);
        free(lookup);
    }
}

static const char *ask(struct jobs__addresses *out, const char *host)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int failed = getaddrinfo(host, NULL, &hints, &found);
    if (failed != 0)
        return failed == EAI_SYSTEM ? "the system could not ask for it" : gai_strerror(failed);
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
        char text[sizeof(out->text[0])];
        bool internet = at->ai_family == AF_INET || at->ai_family == AF_INET6;
        if (internet && getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0)
            add_address(out, text);
    }
    freeaddrinfo(found);
    return out->count > 0 ? NULL : "the name has no address";
}

static void *look_up(void *argument)
{
    struct jobs__lookup *lookup = argument;
    struct jobs__addresses addresses = {0};
    const char *problem = ask(&addresses, lookup->host);
    pthread_mutex_lock(&lookup->lock);
    lookup->addresses = addresses;
    lookup->problem = problem;
    lookup->ended = true;
    if (lookup->wake != NULL)
        lookup->wake(lookup->context);
    pthread_mutex_unlock(&lookup->lock);
    let_go(lookup);
    return NULL;
}

/* Signals are the caller's business: none is delivered to this thread. */
static int start_thread(struct jobs__lookup *lookup)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return JOBS_NO_MEMORY;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, (size_t)512 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, look_up, lookup);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed == 0 ? JOBS_OK : JOBS_SYSTEM;
}

int jobs__lookup_start(struct jobs__lookup **out, const char *host, void (*wake)(void *context), void *context)
{
    *out = NULL;
    size_t size = strlen(host) + 1;
    struct jobs__lookup *lookup = calloc(1, sizeof(*lookup) + size);
    if (lookup == NULL)
        return JOBS_NO_MEMORY;
    memcpy(lookup->host, host, size);
    lookup->wake = wake;
    lookup->context = context;
    lookup->holders = 2;
    pthread_mutex_init(&lookup->lock, NULL);
    int code = start_thread(lookup);
    if (code != JOBS_OK) {
        pthread_mutex_destroy(&lookup->lock);
        free(lookup);
        return code;
    }
    *out = lookup;
    return JOBS_OK;
}

bool jobs__lookup_ended(struct jobs__lookup *lookup, struct jobs__addresses *out, const char **problem)
{
    pthread_mutex_lock(&lookup->lock);
    bool ended = lookup->ended;
    if (ended) {
        *out = lookup->addresses;
        *problem = lookup->problem;
    }
    pthread_mutex_unlock(&lookup->lock);
    return ended;
}

void jobs__lookup_free(struct jobs__lookup *lookup)
{
    if (lookup == NULL)
        return;
    pthread_mutex_lock(&lookup->lock);
    lookup->wake = NULL;
    pthread_mutex_unlock(&lookup->lock);
    let_go(lookup);
}
