/* publisher_receipt.c - what came of a delivery, in one place: verdicts, warnings, and the one code that the exit
 * status comes from. It only reads.
 */
#include "publisher.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void jobs_receipt_wipe(struct jobs_receipt *receipt)
{
    for (size_t i = 0; i < receipt->relay_count; i++)
        free(receipt->relays[i].url);
    free(receipt->relays);
    for (size_t i = 0; i < receipt->warning_count; i++)
        free(receipt->warnings[i]);
    free(receipt->warnings);
    memset(receipt, 0, sizeof *receipt);
}

int jobs__receipt_warn(struct jobs_receipt *receipt, const char *format, ...)
{
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    int len = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (len < 0)
        return JOBS_NO_MEMORY;
    char **warnings = realloc(receipt->warnings, (receipt->warning_count + 1) * sizeof *warnings);
    if (warnings == NULL) {
        free(line);
        return JOBS_NO_MEMORY;
    }
    receipt->warnings = warnings;
    warnings[receipt->warning_count++] = line;
    return JOBS_OK;
}

int jobs__receipt_warn_of_facts(struct jobs_receipt *receipt)
{
    return jobs__receipt_warn(receipt, "what the relays said could not be written into the outbox; the same command "
                                       "again, or a flush, asks them once more");
}

bool jobs__result_holds(const struct jobs_relay_result *result)
{
    return result->verdict == JOBS_ACCEPTED || result->verdict == JOBS_DUPLICATE;
}

int jobs__receipt_warn_of_reading(struct jobs_receipt *receipt, const struct jobs_relay_result *result,
                                  const char *said)
{
    if (jobs__result_holds(result) && result->read_back == JOBS_ABSENT)
        return jobs__receipt_warn(receipt, "%s took it, but does not show it when asked", result->url);
    if (jobs__result_holds(result) && result->read_back == JOBS_READ_REFUSED)
        return jobs__receipt_warn(receipt, "%s took it, but would not or did not say whether it shows it%s%s",
                                  result->url, said[0] != '\0' ? ": " : "", said);
    return JOBS_OK;
}

static int warn_about(struct jobs_receipt *receipt, const struct jobs__post *post)
{
    const struct jobs_relay_result *result = &receipt->relays[receipt->relay_count - 1];
    if (!jobs__result_holds(result))
        return JOBS_OK;
    const char *said = post->session == NULL ? "" : jobs__session_result(post->session)->closed;
    const char *before = said[0] != '\0' ? ": " : "";
    if (result->read_back == JOBS_ABSENT || result->read_back == JOBS_READ_REFUSED)
        return jobs__receipt_warn_of_reading(receipt, result, said);
    if (post->session != NULL && post->asked == JOBS__ASK_REFUSED)
        return jobs__receipt_warn(receipt, "%s would not say whether it already held a handoff of this job%s%s",
                                  post->url, before, said);
    if (post->session != NULL && post->asked == JOBS__ASK_SILENT)
        return jobs__receipt_warn(receipt, "%s did not say whether it already held a handoff of this job", post->url);
    return JOBS_OK;
}

static int fill_in(struct jobs_receipt *receipt, const struct jobs__delivery *delivery)
{
    int code = JOBS_OK;
    receipt->relays = calloc(delivery->count + 1, sizeof *receipt->relays);
    if (receipt->relays == NULL)
        return JOBS_NO_MEMORY;
    for (size_t i = 0; !code && i < delivery->count; i++) {
        const struct jobs__post *post = &delivery->posts[i];
        if (post->proof_only)
            continue;
        struct jobs_relay_result *result = &receipt->relays[receipt->relay_count];
        *result = post->result;
        result->url = strdup(post->url);
        if (result->url == NULL)
            return JOBS_NO_MEMORY;
        receipt->relay_count++;
        code = warn_about(receipt, post);
    }
    if (!code && delivery->facts_failed)
        code = jobs__receipt_warn_of_facts(receipt);
    return code;
}

/* What the relays that did not take it have in common. */
struct shortfall {
    size_t failed, denied;
    bool conflict, unclear, unreached, retryable;
    int retry_after;
    const char *hint;
};

static struct shortfall sum_up(const struct jobs__delivery *delivery)
{
    struct shortfall sum = {.hint = ""};
    for (size_t i = 0; i < delivery->count; i++) {
        const struct jobs__post *post = &delivery->posts[i];
        const struct jobs_relay_result *result = &post->result;
        if (post->proof_only || jobs__result_holds(result))
            continue;
        sum.failed++;
        sum.denied += result->denied;
        sum.conflict = sum.conflict || post->conflict;
        sum.unclear = sum.unclear || result->verdict == JOBS_UNCLEAR;
        sum.unreached = sum.unreached || (result->verdict == JOBS_NOT_REACHED && !result->denied);
        sum.retryable = sum.retryable || result->retryable || post->held;
        if (result->retry_after > sum.retry_after)
            sum.retry_after = result->retry_after;
        if (sum.hint[0] == '\0')
            sum.hint = post->hint;
    }
    return sum;
}

static int code_of(const struct shortfall *sum)
{
    if (sum->conflict)
        return JOBS_CONFLICT;
    if (sum->denied == sum->failed)
        return JOBS_DENIED;
    if (sum->unclear)
        return JOBS_UNKNOWN;
    return sum->unreached ? JOBS_UNREACHABLE : JOBS_REFUSED;
}

static void explain(struct jobs_receipt *receipt, const struct shortfall *sum, size_t took, size_t required, int code,
                    struct jobs_error *error)
{
    char words[1024];
    size_t len = 0;
    for (size_t i = 0; i < receipt->relay_count && len < sizeof words - 1; i++) {
        const struct jobs_relay_result *result = &receipt->relays[i];
        if (jobs__result_holds(result))
            continue;
        int wrote =
            snprintf(words + len, sizeof words - len, "; %s: %s%s%s", result->url, jobs_verdict_name(result->verdict),
                     result->message[0] != '\0' ? ": " : "", result->message);
        len += wrote > 0 ? (size_t)wrote : 0;
    }
    if (receipt->relay_count == 1)
        jobs_error_set(error, code, "%s", words + 2);
    else
        jobs_error_set(error, code, "%zu of %zu relays took it, %zu required%s", took, receipt->relay_count, required,
                       words);
    if (error == NULL)
        return;
    error->retry_after = sum->retry_after;
    error->retryable = code == JOBS_UNKNOWN || code == JOBS_UNREACHABLE || sum->retryable;
    if (sum->hint[0] != '\0')
        snprintf(error->hint, sizeof error->hint, "%s", sum->hint);
    else if (receipt->stored && error->retryable)
        snprintf(error->hint, sizeof error->hint,
                 "it is in the outbox: the same command again, or `jobs outbox flush`, goes on with it%s%s%s",
                 sum->unreached ? "; if a relay is mistyped, `jobs outbox drop " : "",
                 sum->unreached ? receipt->event_id : "", sum->unreached ? "` first" : "");
}

int jobs__receipt_conclude(struct jobs_receipt *receipt, const struct jobs__delivery *delivery,
                           struct jobs_error *error)
{
    size_t took = 0;
    if (fill_in(receipt, delivery))
        return jobs_error_set(error, JOBS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < receipt->relay_count; i++) {
        const struct jobs_relay_result *result = &receipt->relays[i];
        if (!jobs__result_holds(result))
            continue;
        if (took == 0)
            memcpy(receipt->message, result->message, sizeof receipt->message);
        took++;
    }
    struct shortfall sum = sum_up(delivery);
    receipt->accepted = took >= delivery->relays->require;
    if (receipt->accepted) {
        int code = JOBS_OK;
        if (sum.conflict)
            code = jobs__receipt_warn(receipt, "a relay holds a different handoff of this key for the same job");
        return code ? jobs_error_set(error, code, "out of memory") : JOBS_OK;
    }
    int code = code_of(&sum);
    explain(receipt, &sum, took, delivery->relays->require, code, error);
    snprintf(receipt->message, sizeof receipt->message, "%s", jobs_code_sentence(code));
    return code;
}
