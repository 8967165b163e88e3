/* test_publisher.c - orders carried through against a real relay, over real sockets, with a real folder. */
#include "relay_room.h"

#include <time.h>

static struct relay relay_a, relay_b;

static int open_all(void **state)
{
    relay_a = relay_b = (struct relay){0};
    return room_open(state);
}

static int close_all(void **state)
{
    relay_stop(&relay_a);
    relay_stop(&relay_b);
    return room_close(state);
}

struct run {
    struct jobs_handoff_order order;
    struct jobs_client_options options;
    struct jobs_receipt receipt;
    struct jobs_report report;
    struct jobs_error error;
    const char *urls[2];
    char manifest[512];
    int code;
};

/* An order for `outcome` to relay_a; change it, then hand_over. */
static struct run plan(const char *outcome)
{
    struct run run = {.order = {.channel = CHANNEL, .given = {.job_request = JOB}}};
    snprintf(run.manifest, sizeof run.manifest,
             "{\"schemaVersion\":1,\"requestedOutcome\":\"Do it.\",\"outcome\":\"%s\",\"disposition\":\"no_artifact\"}",
             outcome);
    run.options = (struct jobs_client_options){
        .relay_count = 1, .timeout = 1, .connect_timeout = 1, .state_dir = room, .key = room_key};
    run.urls[0] = relay_a.url;
    return run;
}

/* A manifest with the finding F2, and what stands before it. */
static void write_findings(struct run *run, const char *outcome, const char *before)
{
    snprintf(run->manifest, sizeof run->manifest,
             "{\"schemaVersion\":1,\"requestedOutcome\":\"Do it.\",\"outcome\":\"%s\",\"disposition\":"
             "\"no_artifact\",\"findings\":[%s{\"id\":\"F2\",\"severity\":\"low\",\"summary\":\"s\","
             "\"bucket\":\"addressed\"}]}",
             outcome, before);
}

static int hand_over(struct run *run)
{
    jobs_receipt_wipe(&run->receipt);
    jobs_report_wipe(&run->report);
    run->error = (struct jobs_error){0};
    run->order.manifest = run->manifest;
    run->order.manifest_len = strlen(run->manifest);
    run->options.relays = run->urls;
    run->code = jobs_publish_handoff(&run->receipt, NULL, &run->order, &run->options, &run->report, &run->error);
    if (run->code && getenv("VERBOSE") != NULL)
        print_message("%d: %s\n", run->code, run->error.message);
    return run->code;
}

static void finish(struct run *run)
{
    jobs_receipt_wipe(&run->receipt);
    jobs_report_wipe(&run->report);
}

static void forget_state(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/outbox", room);
    assert_int_equal(nftw(path, room_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static size_t entries_now(enum jobs_entry_state *first)
{
    struct jobs__folder folder;
    assert_int_equal(room_folder(&folder, JOB, 5000, NULL), JOBS_OK);
    size_t count = folder.count;
    if (first != NULL && count > 0)
        *first = jobs__entry_state(folder.entries[0]);
    jobs__folder_free(&folder);
    return count;
}

struct flushed {
    size_t lines;
    int last;
    char id[65], message[JOBS_RELAY_MESSAGE_MAX + 1];
};

static int on_line(void *context, const struct jobs_receipt *receipt, int code)
{
    struct flushed *flushed = context;
    flushed->lines++;
    flushed->last = code;
    memcpy(flushed->id, receipt->event_id, sizeof flushed->id);
    memcpy(flushed->message, receipt->message, sizeof flushed->message);
    return 0;
}

static int flush(struct flushed *flushed)
{
    const struct jobs_client_options options = {.timeout = 1, .connect_timeout = 1, .state_dir = room, .key = room_key};
    *flushed = (struct flushed){0};
    return jobs_outbox_flush(&options, on_line, flushed, NULL, NULL);
}

static void once_and_again(void **state)
{
    (void)state;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", NULL);
    struct run run = plan("done");
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_true(run.receipt.accepted && run.receipt.stored);
    assert_int_equal(run.receipt.relay_count, 1);
    assert_int_equal(run.receipt.relays[0].verdict, JOBS_ACCEPTED);
    assert_int_equal(run.receipt.relays[0].read_back, JOBS_CONFIRMED);
    assert_int_equal(run.receipt.relays[0].attempts, 1);
    assert_int_equal(run.receipt.warning_count, 0);
    assert_int_equal(run.receipt.pending_count, 0);
    char id[65];
    memcpy(id, run.receipt.event_id, sizeof id);

    /* the same, spelled differently, and with nobody listening: what is known is enough */
    relay_stop(&relay_a);
    snprintf(run.manifest, sizeof run.manifest,
             "{ \"disposition\": \"no_artifact\", \"outcome\": \"d\\u006fne\",\n \"requestedOutcome\":\"Do it.\", "
             "\"schemaVersion\": 1 }");
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_string_equal(run.receipt.event_id, id);
    assert_int_equal(run.receipt.relays[0].verdict, JOBS_DUPLICATE);
    assert_int_equal(run.receipt.relays[0].read_back, JOBS_CONFIRMED);
    assert_int_equal(run.receipt.relays[0].attempts, 0);
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_SENT);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    finish(&run);
}

static void the_relay_remembers_for_a_lost_folder(void **state)
{
    (void)state;
    relay_start(&relay_a, "a", NULL);
    struct run run = plan("done");
    assert_int_equal(hand_over(&run), JOBS_OK);
    char id[65];
    memcpy(id, run.receipt.event_id, sizeof id);
    forget_state();
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_string_equal(run.receipt.event_id, id);
    assert_int_equal(run.receipt.relays[0].verdict, JOBS_DUPLICATE);
    assert_int_equal(run.receipt.relays[0].attempts, 0);
    forget_state();
    struct run other = plan("something else");
    assert_int_equal(hand_over(&other), JOBS_CONFLICT);
    assert_string_equal(other.receipt.event_id, id);
    forget_state();
    other.order.supersede = true;
    assert_int_equal(hand_over(&other), JOBS_OK);
    assert_string_not_equal(other.receipt.event_id, id);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 2);
    finish(&run);
    finish(&other);
}

static void another_needs_to_say_so(void **state)
{
    (void)state;
    relay_start(&relay_a, "a", NULL);
    struct run run = plan("A"), other = plan("B");
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(hand_over(&other), JOBS_CONFLICT);
    assert_string_equal(other.receipt.event_id, run.receipt.event_id);
    other.order.again = true;
    assert_int_equal(hand_over(&other), JOBS_CONFLICT);
    other.order.again = false;
    other.order.given.supersedes = JOB; /* names something else */
    assert_int_equal(hand_over(&other), JOBS_CONFLICT);
    other.order.given.supersedes = run.receipt.event_id;
    assert_int_equal(hand_over(&other), JOBS_OK);
    /* again, in either way of saying it: the same event */
    char id[65];
    memcpy(id, other.receipt.event_id, sizeof id);
    other.order.given.supersedes = NULL;
    other.order.supersede = true;
    assert_int_equal(hand_over(&other), JOBS_OK);
    assert_string_equal(other.receipt.event_id, id);
    /* and there is no way back to the first, but to say something new */
    run.order.supersede = true;
    assert_int_equal(hand_over(&run), JOBS_CONFLICT);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 2);
    finish(&run);
    finish(&other);
}

/* S101: findings are accounted for again, or the new one is not signed. */
static void findings_are_not_dropped_by_superseding(void **state)
{
    (void)state;
    static const char *const first =
        "{\"id\":\"F1\",\"severity\":\"low\",\"summary\":\"s\",\"bucket\":\"unresolved\"},";
    relay_start(&relay_a, "a", NULL);
    struct run run = plan(""), other = plan("");
    write_findings(&run, "A", first);
    write_findings(&other, "B", "");
    other.order.supersede = true;
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(hand_over(&other), JOBS_INVALID);
    assert_int_equal(other.report.count, 1);
    assert_string_equal(other.report.violations[0].rule, "S101");
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    write_findings(&other, "B", first);
    assert_int_equal(hand_over(&other), JOBS_OK);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 2);
    finish(&run);
    finish(&other);
}

static void new_is_new_once_the_first_is_out(void **state)
{
    (void)state;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", NULL);
    relay_stop(&relay_a);
    struct run run = plan("A");
    run.order.again = true;
    assert_int_equal(hand_over(&run), JOBS_UNREACHABLE);
    assert_int_equal(hand_over(&run), JOBS_UNREACHABLE); /* still the same one */
    assert_int_equal(entries_now(&entry), 1);
    relay_start(&relay_a, "a", NULL);
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(entries_now(NULL), 1);
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(entries_now(NULL), 2);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 2);
    finish(&run);
}

static void out_of_reach_is_kept_and_flushed(void **state)
{
    (void)state;
    struct flushed flushed;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", NULL);
    relay_stop(&relay_a);
    struct run run = plan("A");
    assert_int_equal(hand_over(&run), JOBS_UNREACHABLE);
    assert_true(run.receipt.stored && !run.receipt.accepted && run.error.retryable);
    assert_int_equal(run.receipt.relays[0].verdict, JOBS_NOT_REACHED);
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_PENDING);
    assert_int_equal(flush(&flushed), JOBS_UNREACHABLE);
    assert_int_equal(flushed.lines, 1);
    relay_start(&relay_a, "a", NULL);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_int_equal(flushed.lines, 1);
    assert_int_equal(flushed.last, JOBS_OK);
    assert_string_equal(flushed.id, run.receipt.event_id);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_int_equal(flushed.lines, 0);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    finish(&run);
}

/* Stopped before it looked: "nothing is left" would be a guess. */
static void a_flush_that_was_stopped_does_not_say_all_is_out(void **state)
{
    (void)state;
    const volatile sig_atomic_t stop = 1;
    relay_start(&relay_a, "a", NULL);
    relay_stop(&relay_a);
    struct run run = plan("A");
    assert_int_equal(hand_over(&run), JOBS_UNREACHABLE);
    run.options.relay_count = 0;
    run.options.stop = &stop;
    assert_int_equal(jobs_outbox_flush(&run.options, NULL, NULL, NULL, NULL), JOBS_UNREACHABLE);
    finish(&run);
}

/* A relay that falls silent at one event must get the others all the same. */
static void what_was_sent_in_vain_goes_last(void **state)
{
    (void)state;
    static const char other_job[] = "2222222222222222222222222222222222222222222222222222222222222222";
    struct flushed flushed;
    struct jobs__folder folder;
    bool stored;
    relay_start(&relay_a, "a", NULL);
    relay_stop(&relay_a);
    struct run older = plan("A"), newer = plan("B");
    assert_int_equal(hand_over(&older), JOBS_UNREACHABLE);
    assert_int_equal(room_folder(&folder, JOB, 5000, NULL), JOBS_OK);
    folder.entries[0]->facts[0].last_send = jobs__outbox_now() - 10;
    assert_int_equal(jobs__folder_store(&folder, folder.entries[0], &stored, NULL), JOBS_OK);
    jobs__folder_free(&folder);
    newer.order.given.job_request = other_job;
    assert_int_equal(hand_over(&newer), JOBS_UNREACHABLE);
    relay_start(&relay_a, "a", NULL);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_int_equal(flushed.lines, 2);
    assert_string_equal(flushed.id, older.receipt.event_id);
    finish(&older);
    finish(&newer);
}

/* A folder that cannot be read keeps its markers: its entries wait, whatever can be seen of them. */
static void markers_of_what_cannot_be_read_stay(void **state)
{
    (void)state;
    struct flushed flushed;
    struct jobs_receipt receipt = {0};
    char name[65], path[256], kept[256];
    relay_start(&relay_a, "a", NULL);
    relay_stop(&relay_a);
    struct run run = plan("A");
    assert_int_equal(hand_over(&run), JOBS_UNREACHABLE);
    assert_int_equal(jobs__folder_name(name, jobs_key_public(room_key), JOB), JOBS_OK);
    snprintf(path, sizeof path, "%s/outbox/%s", room, name);
    snprintf(kept, sizeof kept, "%s/kept", room);
    assert_int_equal(rename(path, kept), 0);
    assert_int_equal(symlink("nowhere", path), 0); /* cannot be opened, even by root */
    assert_int_equal(flush(&flushed), JOBS_SYSTEM);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(kept, path), 0);
    jobs__pending_count(&receipt, room, "");
    assert_int_equal(receipt.pending_count, 1);
    finish(&run);
}

static void two_relays_one_dead(void **state)
{
    (void)state;
    struct flushed flushed;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", NULL);
    relay_start(&relay_b, "b", NULL);
    relay_stop(&relay_b);
    struct run run = plan("A");
    run.urls[1] = relay_b.url;
    run.options.relay_count = 2;
    assert_int_equal(hand_over(&run), JOBS_UNREACHABLE);
    assert_false(run.receipt.accepted);
    run.options.require = 1;
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(run.receipt.relays[0].verdict, JOBS_DUPLICATE);
    assert_int_equal(run.receipt.relays[1].verdict, JOBS_NOT_REACHED);
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_PENDING);
    relay_start(&relay_b, "b", NULL);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_SENT);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    assert_int_equal(relay_count(&relay_b, JOBS_KIND_RESULT), 1);
    run.options.require = 3;
    assert_int_equal(hand_over(&run), JOBS_USAGE);
    finish(&run);
}

static void nothing_is_signed_blindly(void **state)
{
    (void)state;
    relay_start(&relay_a, "a", "on ASK silence\n");
    struct run run = plan("A");
    run.options.timeout = 5;
    run.order.supersede = true;
    assert_int_equal(hand_over(&run), JOBS_UNREACHABLE);
    assert_true(run.error.retryable);
    assert_false(run.receipt.stored);
    assert_int_equal(entries_now(NULL), 0);
    run.order.supersede = false;
    run.options.skip_read_back = true;
    room_write(room_path(JOB, "junk.json"), "?", 1);
    assert_int_equal(hand_over(&run), JOBS_UNREACHABLE);
    assert_int_equal(run.receipt.warning_count, 1);
    assert_int_equal(entries_now(NULL), 0);
    assert_int_equal(unlink(room_path(JOB, "junk.json.damaged")), 0);
    run.options.skip_read_back = false;
    assert_int_equal(hand_over(&run), JOBS_OK); /* a first one may go out, with a warning */
    assert_int_equal(run.receipt.warning_count, 1);
    finish(&run);
}

static void the_job_check_fills_in(void **state)
{
    (void)state;
    relay_start(&relay_a, "a", NULL);
    const char *const h[] = {"h", CHANNEL}, *const root[] = {"e", JOB, "", "reply"};
    const struct jobs_tag tags[] = {{h, 2}, {root, 4}};
    struct jobs_event *request = NULL, *event = NULL;
    struct run run = plan("A");
    run.options.relays = run.urls;
    assert_int_equal(jobs_event_new(&request, JOBS_KIND_REQUEST, time(NULL), tags, 2, "Please do it.", 13, NULL),
                     JOBS_OK);
    assert_int_equal(jobs_event_seal(request, room_key, NULL), JOBS_OK);
    snprintf(run.manifest, sizeof run.manifest,
             "{\"schemaVersion\":1,\"outcome\":\"A\",\"disposition\":\"no_artifact\"}");
    run.order.given.job_request = jobs_event_id(request);
    run.order.channel = NULL;
    run.order.notify_requester = true;
    assert_int_equal(hand_over(&run), JOBS_NOT_FOUND); /* not there yet: nothing signed */
    assert_false(run.receipt.stored);

    jobs_receipt_wipe(&run.receipt);
    assert_int_equal(jobs_publish_event(&run.receipt, request, &run.options, NULL), JOBS_OK);
    assert_true(run.receipt.accepted);
    jobs_receipt_wipe(&run.receipt);
    run.order.manifest = run.manifest;
    run.order.manifest_len = strlen(run.manifest);
    assert_int_equal(jobs_publish_handoff(&run.receipt, &event, &run.order, &run.options, &run.report, &run.error),
                     JOBS_OK);
    assert_string_equal(jobs_event_channel(event), CHANNEL);
    assert_string_equal(jobs_event_tag_value(event, "p"), jobs_key_public(room_key));
    assert_non_null(strstr(jobs_event_content(event, NULL), "Please do it."));
    bool has_root = false;
    for (size_t i = 0; i < jobs_event_tag_count(event); i++) {
        struct jobs_tag tag = jobs_event_tag(event, i);
        has_root =
            has_root || (tag.count == 4 && strcmp(tag.values[3], "root") == 0 && strcmp(tag.values[1], JOB) == 0);
    }
    assert_true(has_root);
    /* a rerun knows it all, and asks nobody */
    relay_stop(&relay_a);
    assert_int_equal(hand_over(&run), JOBS_OK);
    /* another channel than the request's */
    relay_start(&relay_a, "a", NULL);
    forget_state();
    run.order.channel = "00000000-0000-4000-8000-000000000000";
    assert_int_equal(hand_over(&run), JOBS_USAGE);
    jobs_event_free(event);
    jobs_event_free(request);
    finish(&run);
}

static void a_pruned_one_cannot_go_elsewhere(void **state)
{
    (void)state;
    relay_start(&relay_a, "a", NULL);
    relay_start(&relay_b, "b", NULL);
    struct run run = plan("A");
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(jobs_outbox_prune(room, 0, NULL, NULL), JOBS_OK);
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(run.receipt.relays[0].attempts, 0);
    run.urls[0] = relay_b.url;
    assert_int_equal(hand_over(&run), JOBS_USAGE);
    assert_non_null(strstr(run.error.hint, "--new"));
    run.order.again = true;
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(relay_count(&relay_b, JOBS_KIND_RESULT), 1);
    finish(&run);
}

static void while_one_waits_the_relay_shows_another(void **state)
{
    (void)state;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", NULL);
    struct run run = plan("A"), other = plan("B");
    assert_int_equal(hand_over(&run), JOBS_OK);
    char id[65];
    memcpy(id, run.receipt.event_id, sizeof id);
    /* this machine knows nothing of it and could not ask when it signed */
    forget_state();
    relay_stop(&relay_a);
    assert_int_equal(hand_over(&other), JOBS_UNREACHABLE);
    relay_start(&relay_a, "a", NULL);
    assert_int_equal(hand_over(&other), JOBS_CONFLICT);
    assert_int_equal(other.receipt.relays[0].verdict, JOBS_REJECTED);
    assert_non_null(strstr(other.receipt.relays[0].message, id));
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_REJECTED);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    finish(&run);
    finish(&other);
}

static void while_one_waits_the_relay_shows_the_same(void **state)
{
    (void)state;
    struct flushed flushed;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", NULL);
    struct run run = plan("A");
    assert_int_equal(hand_over(&run), JOBS_OK);
    char id[65];
    memcpy(id, run.receipt.event_id, sizeof id);
    forget_state();
    room_store(room_entry(JOB, "A", NULL, 1700000000)); /* signed elsewhere at another time; waits for relay_a */
    struct jobs__folder folder;
    bool stored;
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    free(folder.entries[0]->facts[0].url);
    folder.entries[0]->facts[0].url = strdup(relay_a.url);
    assert_int_equal(jobs__folder_store(&folder, folder.entries[0], &stored, NULL), JOBS_OK);
    jobs__folder_free(&folder);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_non_null(strstr(flushed.message, id));
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_SENT);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    finish(&run);
}

/* Back-dates what the folder knows of sends and answers, as if that much time had passed. The event's own time is
 * signed: the clock must at least have moved on from it. */
static void let_time_pass(int64_t seconds)
{
    const struct timespec tick = {.tv_nsec = 10000000};
    for (time_t before = time(NULL); time(NULL) == before;)
        nanosleep(&tick, NULL);
    struct jobs__folder folder;
    bool stored;
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    for (size_t i = 0; i < folder.count; i++) {
        struct jobs__fact *fact = &folder.entries[i]->facts[0];
        fact->last_send -= fact->last_send > seconds ? seconds : 0;
        fact->absent_at -= fact->absent_at > seconds ? seconds : 0;
        fact->unseen_since -= fact->unseen_since > seconds ? seconds : 0;
        assert_int_equal(jobs__folder_store(&folder, folder.entries[i], &stored, NULL), JOBS_OK);
    }
    jobs__folder_free(&folder);
}

static void too_old_is_signed_again_when_proven(void **state)
{
    (void)state;
    struct flushed flushed;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", "on EVENT first ok false \"invalid: event timestamp too far from server time\"\n");
    struct run run = plan("A");
    assert_int_equal(hand_over(&run), JOBS_REFUSED);
    assert_int_equal(run.receipt.relays[0].verdict, JOBS_REJECTED);
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_PENDING);
    char id[65];
    memcpy(id, run.receipt.event_id, sizeof id);
    assert_int_equal(flush(&flushed), JOBS_REFUSED); /* too early to be sure; and not sent in vain */
    assert_int_equal(entries_now(NULL), 1);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 0);
    let_time_pass(100);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_string_not_equal(flushed.id, id);
    assert_int_equal(entries_now(NULL), 2);
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_int_equal(flushed.lines, 0);
    assert_int_equal(hand_over(&run), JOBS_OK); /* goes on with the new one */
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    finish(&run);
}

static void unseen_is_asked_again_for_a_day(void **state)
{
    (void)state;
    struct flushed flushed;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", "on READ eose\non ASK eose\non EVENT ok\n");
    struct run run = plan("A");
    assert_int_equal(hand_over(&run), JOBS_OK);
    assert_int_equal(run.receipt.relays[0].read_back, JOBS_ABSENT);
    assert_int_equal(run.receipt.warning_count, 1);
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_PENDING);
    assert_int_not_equal(flush(&flushed), JOBS_OK);
    let_time_pass(86400);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_SENT);
    finish(&run);
}

static void refused_for_good_is_kept_and_not_tried_for_ever(void **state)
{
    (void)state;
    struct flushed flushed;
    enum jobs_entry_state entry;
    relay_start(&relay_a, "a", "on EVENT first ok false \"blocked: not today\"\n");
    struct run run = plan("A");
    assert_int_equal(hand_over(&run), JOBS_REFUSED);
    assert_non_null(strstr(run.error.message, "blocked: not today"));
    assert_int_equal(entries_now(&entry), 1);
    assert_int_equal(entry, JOBS_ENTRY_REJECTED);
    assert_int_equal(flush(&flushed), JOBS_OK);
    assert_int_equal(flushed.lines, 0);
    assert_int_equal(hand_over(&run), JOBS_OK); /* asked for by name, it is tried again */
    finish(&run);
}

static void a_dry_run_leaves_no_trace(void **state)
{
    (void)state;
    char outbox[128];
    struct jobs_event *event = NULL;
    struct run run = plan("A");
    snprintf(outbox, sizeof outbox, "%s/outbox", room);
    run.order.dry_run = true;
    run.order.manifest = run.manifest;
    run.order.manifest_len = strlen(run.manifest);
    run.options.relay_count = 0;
    assert_int_equal(jobs_publish_handoff(&run.receipt, &event, &run.order, &run.options, &run.report, &run.error),
                     JOBS_OK);
    assert_string_equal(jobs_event_id(event), "");
    assert_non_null(strstr(jobs_event_json(event, NULL), "no_artifact"));
    assert_int_equal(access(outbox, F_OK), -1);
    jobs_event_free(event);
    finish(&run);
}

static void the_same_at_once_is_one(void **state)
{
    (void)state;
    relay_start(&relay_a, "a", NULL);
    pid_t pids[8];
    for (int i = 0; i < 8; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            struct run run = plan("A");
            run.options.timeout = 30;
            _exit(hand_over(&run));
        }
    }
    for (int i = 0; i < 8; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), 1);
    assert_int_equal(entries_now(NULL), 1);
}

static void killed_at_any_moment_it_is_one(void **state)
{
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    relay_start(&relay_a, "a", NULL);
    for (size_t round = 0; round < 40; round++) {
        char outcome[32];
        snprintf(outcome, sizeof outcome, "round %zu", round);
        char job[65];
        snprintf(job, sizeof job, "%064zx", round + 1);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct run run = plan(outcome);
            run.order.given.job_request = job;
            _exit(hand_over(&run));
        }
        struct timespec pause = {.tv_nsec = 1000L * (rand_r(&seed) % 15000)};
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        struct run run = plan(outcome);
        run.order.given.job_request = job;
        assert_int_equal(hand_over(&run), JOBS_OK);
        finish(&run);
        assert_int_equal(relay_count(&relay_a, JOBS_KIND_RESULT), round + 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(once_and_again),
        TEST(the_relay_remembers_for_a_lost_folder),
        TEST(another_needs_to_say_so),
        TEST(findings_are_not_dropped_by_superseding),
        TEST(new_is_new_once_the_first_is_out),
        TEST(out_of_reach_is_kept_and_flushed),
        TEST(a_flush_that_was_stopped_does_not_say_all_is_out),
        TEST(what_was_sent_in_vain_goes_last),
        TEST(markers_of_what_cannot_be_read_stay),
        TEST(two_relays_one_dead),
        TEST(nothing_is_signed_blindly),
        TEST(the_job_check_fills_in),
        TEST(a_pruned_one_cannot_go_elsewhere),
        TEST(while_one_waits_the_relay_shows_another),
        TEST(while_one_waits_the_relay_shows_the_same),
        TEST(too_old_is_signed_again_when_proven),
        TEST(unseen_is_asked_again_for_a_day),
        TEST(refused_for_good_is_kept_and_not_tried_for_ever),
        TEST(a_dry_run_leaves_no_trace),
        TEST(the_same_at_once_is_one),
        TEST(killed_at_any_moment_it_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
