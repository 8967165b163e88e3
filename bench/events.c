/* events.c - writes signed handoffs of about 2 KB as JSON Lines: bench-events COUNT AUTHORS [A_SECOND]
 *
 * Each is valid and none equals another; the authors go round. They are of now or, with A_SECOND, so many of each
 * second of the past.
 */
#include <jobs/event.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AUTHORS_MAX 4096

static int write_event(const struct jobs_key *key, long number, int64_t created_at, struct jobs_error *error)
{
    char job[65];
    char manifest[2048];
    char filler[1001];
    struct jobs_handoff *handoff = NULL;
    struct jobs_event *event = NULL;
    struct jobs_report report = {0};

    snprintf(job, sizeof job, "%064lx", (unsigned long)number);
    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = '\0';
    int len =
        snprintf(manifest, sizeof manifest,
                 "{\"schemaVersion\":1,\"jobRequest\":\"%s\",\"requestedOutcome\":\"Event %ld.\",\"outcome\":\"%s\","
                 "\"disposition\":\"completed\",\"artifacts\":[{\"kind\":\"link\",\"label\":\"One\",\"reference\":"
                 "\"https://example.com/%ld\"}],\"verification\":[{\"label\":\"Checked\",\"status\":\"passed\"}]}",
                 job, number, filler, number);
    struct jobs_envelope envelope = {.channel = "00000000-0000-4000-8000-000000000000"};

    int rc = jobs_handoff_parse(&handoff, manifest, (size_t)len, NULL, &report);
    if (rc == JOBS_OK)
        rc = jobs_event_from_handoff(&event, handoff, &envelope, created_at, error);
    if (rc == JOBS_OK)
        rc = jobs_event_seal(event, key, error);
    if (rc == JOBS_OK) {
        size_t json_len = 0;
        const char *json = jobs_event_json(event, &json_len);
        printf("%.*s\n", (int)json_len, json);
    }
    jobs_event_free(event);
    jobs_handoff_free(handoff);
    jobs_report_wipe(&report);
    return rc;
}

int main(int argc, char **argv)
{
    long count = argc >= 3 ? strtol(argv[1], NULL, 10) : 0;
    long authors = argc >= 3 ? strtol(argv[2], NULL, 10) : 0;
    long a_second = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
    int64_t now = (int64_t)time(NULL);
    if (count < 1 || authors < 1 || authors > AUTHORS_MAX || a_second < 0) {
        fprintf(stderr, "usage: bench-events COUNT AUTHORS [A_SECOND]\n");
        return 2;
    }
    static struct jobs_key *keys[AUTHORS_MAX];
    struct jobs_error error = {0};
    int rc = JOBS_OK;

    for (long i = 0; i < authors && rc == JOBS_OK; i++) {
        char secret[65];
        snprintf(secret, sizeof secret, "%064lx", (unsigned long)i + 1); /* of no worth: known to everybody */
        rc = jobs_key_from_text(&keys[i], secret, 64, &error);
    }
    for (long i = 0; i < count && rc == JOBS_OK; i++)
        rc = write_event(keys[i % authors], i, a_second > 0 ? now - i / a_second : now, &error);
    for (long i = 0; i < authors; i++)
        jobs_key_free(keys[i]);
    if (rc != JOBS_OK)
        fprintf(stderr, "bench-events: %s\n", error.message);
    return rc == JOBS_OK && fflush(stdout) == 0 ? 0 : 1;
}
