/* hand_over.c - the smallest program that hands a job over: hand_over RELAY CHANNEL JOB < manifest.json
 *
 * The key comes from BUZZ_PRIVATE_KEY. Prints the event's id; exits as `jobs handoff` does.
 *
 *     cc hand_over.c $(pkg-config --cflags --libs jobs-sdk) -o hand_over
 *
 * After an install with --prefix DIR, say PKG_CONFIG_PATH=DIR/lib/pkgconfig, and add -Wl,-rpath,DIR/lib, by which the
 * program finds the libraries when it runs.
 */
#include <jobs/publish.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: hand_over RELAY CHANNEL JOB < manifest.json\n");
        return jobs_code_exit(JOBS_USAGE);
    }
    static char manifest[JOBS_INPUT_MAX + 1];
    size_t len = fread(manifest, 1, sizeof manifest, stdin);

    struct jobs_key *key = NULL;
    struct jobs_receipt receipt = {0};
    struct jobs_report report = {0};
    struct jobs_error error = {0};

    int rc = jobs_key_from_environment(&key, "BUZZ_PRIVATE_KEY", &error);
    if (rc == JOBS_OK) {
        const char *const relays[] = {argv[1]};
        struct jobs_client_options options = {
            .relays = relays, .relay_count = 1, .connect_timeout = 15, .timeout = 30, .key = key};
        struct jobs_handoff_order order = {
            .manifest = manifest, .manifest_len = len, .given = {.job_request = argv[3]}, .channel = argv[2]};
        rc = jobs_publish_handoff(&receipt, NULL, &order, &options, &report, &error);
    }
    if (rc == JOBS_OK)
        printf("%s\n", receipt.event_id);
    else
        fprintf(stderr, "%s\n", error.message);
    for (size_t i = 0; i < report.count; i++)
        fprintf(stderr, "%s: %s\n", report.violations[i].pointer, report.violations[i].message);

    jobs_receipt_wipe(&receipt);
    jobs_report_wipe(&report);
    jobs_key_free(key);
    return jobs_code_exit(rc);
}
