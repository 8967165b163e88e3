/* test_outbox_decide.c - the decision table, walked whole; and what of a folder goes into it. */
#include "outbox_room.h"

static const char *const disks[] = {
#define X(value, name) #value,
    JOBS__DISK(X)
#undef X
};

/* The design in other words than the table's: what has to happen for one combination. */
static enum jobs__decision expected(enum jobs__disk disk, enum jobs__wish wish, enum jobs__heard heard, bool must_know)
{
    bool same = disk == JOBS__DISK_SAME_PENDING || disk == JOBS__DISK_SAME_SENT || disk == JOBS__DISK_SAME_REJECTED;
    if (same && (wish != JOBS__WISH_NEW || disk == JOBS__DISK_SAME_PENDING))
        return JOBS__GO_ON; /* the same command again is the same event, whatever became of it */
    if (disk == JOBS__DISK_ELSEWHERE)
        return JOBS__CONFLICT; /* no reader would see it replaced */
    if (disk == JOBS__DISK_SAME_OLDER)
        return JOBS__CONFLICT; /* nobody goes back to what was replaced */
    if (disk == JOBS__DISK_OTHER && wish != JOBS__WISH_SUPERSEDE && wish != JOBS__WISH_NAMES_NEWEST)
        return JOBS__CONFLICT; /* replacing is said in so many words */
    if (heard == JOBS__HEARD_NOT_ASKED || (heard == JOBS__HEARD_SKIPPED && must_know))
        return JOBS__ASK;
    if (heard == JOBS__HEARD_SOME && must_know)
        return JOBS__BLIND;
    return JOBS__SIGN;
}

static void every_combination(void **state)
{
    (void)state;
    size_t hits[64] = {0};
    assert_true(jobs__rule_count <= 64);
    for (int disk = 0; disk < JOBS__DISK_COUNT; disk++)
        for (int wish = 0; wish < JOBS__WISH_COUNT; wish++)
            for (int heard = 0; heard < JOBS__HEARD_COUNT; heard++)
                for (int must_know = 0; must_know < 2; must_know++) {
                    const struct jobs__rule *rule = jobs__decide((enum jobs__disk)disk, (enum jobs__wish)wish,
                                                                 (enum jobs__heard)heard, must_know != 0);
                    assert_true(rule >= jobs__rules && rule < jobs__rules + jobs__rule_count);
                    hits[rule - jobs__rules]++;
                    enum jobs__decision want =
                        expected((enum jobs__disk)disk, (enum jobs__wish)wish, (enum jobs__heard)heard, must_know != 0);
                    if (rule->decision != want)
                        fail_msg("%s, wish %d, heard %d, must know %d: row \"%s\" says %d, not %d", disks[disk], wish,
                                 heard, must_know, rule->name, (int)rule->decision, (int)want);
                }
    for (size_t i = 0; i < jobs__rule_count; i++) {
        if (hits[i] == 0)
            fail_msg("the row \"%s\" is never reached", jobs__rules[i].name);
    }
}

static void the_document_has_every_row(void **state)
{
    (void)state;
    size_t len;
    char *text = room_read(JOBS_SOURCE_DIR "/docs/delivery.md", &len);
    const char *at = strstr(text, "| row |");
    assert_non_null(at);
    size_t rows = 0;
    for (size_t i = 0; i < jobs__rule_count; i++) {
        char cell[128];
        snprintf(cell, sizeof cell, "\n| %s |", jobs__rules[i].name);
        const char *found = strstr(at, cell);
        if (found == NULL)
            fail_msg("docs/delivery.md lacks the row \"%s\", or has it out of order", jobs__rules[i].name);
        at = found;
        rows++;
    }
    /* and none too many: behind the last one the table ends */
    at = strchr(at + 1, '\n');
    assert_non_null(at);
    assert_int_not_equal(at[1], '|');
    assert_int_equal(rows, jobs__rule_count);
    free(text);
}

/* --- a folder against a wish --- */

static void put(struct jobs__folder *folder, const char *outcome, const char *supersedes, int64_t created_at,
                enum jobs__relay_state at_a, char id[65])
{
    bool stored;
    struct jobs__entry *entry = room_entry(JOB, outcome, supersedes, created_at);
    entry->facts[0].state = at_a;
    memcpy(id, entry->id, 65);
    assert_int_equal(jobs__folder_store(folder, entry, &stored, NULL), JOBS_OK);
}

static enum jobs__disk compare(const struct jobs__folder *folder, const char *outcome, const struct jobs__entry **which)
{
    struct jobs__entry *wanted = room_entry(JOB, outcome, NULL, 1), *found;
    enum jobs__disk disk = jobs__folder_compare(folder, CHANNEL, wanted->digest, wanted->digest_loose, &found);
    /* without the requested outcome, the second digest decides in the same way */
    struct jobs__entry *loosely;
    assert_int_equal(jobs__folder_compare(folder, CHANNEL, "", wanted->digest_loose, &loosely), disk);
    assert_ptr_equal(loosely, found);
    jobs__entry_free(wanted);
    if (which != NULL)
        *which = found;
    return disk;
}

static void what_the_folder_holds(void **state)
{
    (void)state;
    struct jobs__folder folder;
    const struct jobs__entry *which;
    char a[65], b[65], c[65];
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    assert_int_equal(compare(&folder, "A", &which), JOBS__DISK_NOTHING);
    assert_null(which);

    put(&folder, "A", NULL, 100, JOBS__RELAY_PENDING, a);
    assert_int_equal(compare(&folder, "A", &which), JOBS__DISK_SAME_PENDING);
    assert_string_equal(which->id, a);
    assert_int_equal(compare(&folder, "B", &which), JOBS__DISK_OTHER);
    struct jobs__entry *found;
    assert_int_equal(jobs__folder_compare(&folder, "00000000-0000-4000-8000-000000000000", "b", "b", &found),
                     JOBS__DISK_ELSEWHERE);
    assert_string_equal(found->id, a);
    assert_int_equal(jobs__folder_compare(&folder, "", "b", "b", &found), JOBS__DISK_OTHER);
    assert_string_equal(which->id, a);

    /* Replaced: by what names it, although the clock says it is older. */
    put(&folder, "B", a, 50, JOBS__RELAY_CONFIRMED, b);
    assert_int_equal(compare(&folder, "A", &which), JOBS__DISK_SAME_OLDER);
    assert_string_equal(which->id, b);
    assert_int_equal(compare(&folder, "B", NULL), JOBS__DISK_SAME_SENT);
    assert_int_equal(compare(&folder, "C", &which), JOBS__DISK_OTHER);
    assert_string_equal(which->id, b);
    struct jobs__entry *replaced = jobs__folder_find(&folder, a);
    assert_int_equal(jobs__entry_state(replaced), JOBS_ENTRY_REJECTED);
    assert_string_equal(replaced->superseded_by, b);
    assert_non_null(strstr(replaced->facts[0].message, "superseded by"));

    /* Refused everywhere: it is remembered, but what it wanted to replace stands again. */
    put(&folder, "C", b, 200, JOBS__RELAY_REJECTED, c);
    assert_int_equal(compare(&folder, "C", &which), JOBS__DISK_SAME_REJECTED);
    assert_string_equal(which->id, c);
    assert_int_equal(compare(&folder, "B", &which), JOBS__DISK_SAME_SENT);
    assert_string_equal(which->id, b);
    assert_int_equal(compare(&folder, "D", &which), JOBS__DISK_OTHER);
    assert_string_equal(which->id, b);
    jobs__folder_free(&folder);
}

static void refused_everywhere_stands_in_nobodys_way(void **state)
{
    (void)state;
    struct jobs__folder folder;
    char a[65];
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    put(&folder, "A", NULL, 100, JOBS__RELAY_REJECTED, a);
    assert_int_equal(compare(&folder, "B", NULL), JOBS__DISK_NOTHING);
    assert_int_equal(compare(&folder, "A", NULL), JOBS__DISK_SAME_REJECTED);
    jobs__folder_free(&folder);
}

static void the_newest(void **state)
{
    (void)state;
    struct jobs__folder folder;
    char a[65], b[65], c[65];
    assert_int_equal(room_folder(&folder, JOB, 0, NULL), JOBS_OK);
    put(&folder, "A", NULL, 100, JOBS__RELAY_CONFIRMED, a);
    put(&folder, "B", NULL, 300, JOBS__RELAY_CONFIRMED, b);
    put(&folder, "C", NULL, 300, JOBS__RELAY_CONFIRMED, c);
    const char *lowest = strcmp(b, c) < 0 ? b : c;
    assert_string_equal(jobs__folder_newest(&folder, false)->id, lowest);
    jobs__folder_free(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
        cmocka_unit_test(the_document_has_every_row),
        cmocka_unit_test_setup_teardown(what_the_folder_holds, room_open, room_close),
        cmocka_unit_test_setup_teardown(refused_everywhere_stands_in_nobodys_way, room_open, room_close),
        cmocka_unit_test_setup_teardown(the_newest, room_open, room_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
