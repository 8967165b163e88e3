/* fuzz_frame.c - raw bytes as one message, in three states: while asking, after the send, during the read-back.
 *
 * Whatever they are, the session does not call the event stored unless they are an OK with its very id.
 */
#include "../tests/session_model.h"

#include <stdint.h>
#include <strings.h>

static int no_auth(void *context, const char *url, const char *challenge, const char **json, size_t *len, char id[65])
{
    (void)context;
    (void)url;
    (void)challenge;
    (void)id;
    *json = NULL;
    *len = 0;
    return JOBS_BAD_KEY;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model_world world;
    if (world.event == NULL)
        model_world_make(&world);
    if (size == 0)
        return 0;
    const unsigned state = data[0] % 3;
    const struct jobs__session_options options = {.auth_url = "wss://relay.example",
                                                  .timeout = 30000,
                                                  .connect_timeout = 15000,
                                                  .read_back = true,
                                                  .ask_filter = state == 0 ? world.filter : NULL,
                                                  .sign_auth = no_auth};
    struct jobs__session *session = NULL;
    if (jobs__session_new(&session, &options) != JOBS_OK)
        return 0;
    struct jobs__engine *engine = jobs__session_engine(session);
    const struct jobs__opened opened = {0};
    char ok[128];
    int ok_len = snprintf(ok, sizeof ok, "[\"OK\",\"%s\",true,\"\"]", jobs_event_id(world.event));
    if (state > 0)
        jobs__session_send(session, world.event, false);
    engine->ops->next(engine, 0);
    engine->ops->opened(engine, 0, &opened);
    engine->ops->next(engine, 0);
    if (state == 2) {
        engine->ops->frame(engine, 0, ok, (size_t)ok_len);
        engine->ops->next(engine, 0);
    }

    char *text = malloc(size);
    if (text != NULL) {
        memcpy(text, data + 1, size - 1);
        engine->ops->frame(engine, 0, text, size - 1);
    }
    const struct jobs__session_result *result = jobs__session_result(session);
    if (result->said_stored && state != 2) {
        bool named = false;
        for (size_t i = 0; text != NULL && i + 64 <= size - 1; i++)
            named = named || strncasecmp(text + i, jobs_event_id(world.event), 64) == 0;
        bool duplicate = text != NULL && memmem(text, size - 1, "uplicate", 8) != NULL;
        if (!named && !duplicate && (text == NULL || memmem(text, size - 1, "\\u", 2) == NULL))
            abort();
    }
    for (int64_t now = 0; !result->done && now <= 30000; now += 1000)
        while (engine->ops->next(engine, now).want == JOBS__WANT_SEND)
            ;
    if (!result->done || (state == 2 && result->verdict != JOBS_ACCEPTED && result->verdict != JOBS_UNCLEAR))
        abort();
    free(text);
    jobs__session_free(session);
    return 0;
}
