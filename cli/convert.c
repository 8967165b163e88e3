/* convert.c - `jobs convert`, and the conversion that `jobs handoff --from` does first. */
#include "convert.h"

#include "card/card.h"
#include "print.h"

#include <jobs/evidence.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum jobs_evidence hash_evidence(void *context, const char *path, char hex[65])
{
    return jobs_evidence_hash(context, path, hex, NULL);
}

static bool find_secret(void *context, const char *text, size_t len, size_t *start, size_t *length)
{
    (void)context;
    const struct jobs_secret_options options = {0};
    return jobs_secrets_find(text, len, &options, start, length);
}

static int blame(struct run *run, enum jobs_format format)
{
    size_t count = run->report.count;
    const char *what = format == JOBS_FORMAT_AUTO ? "the input" : jobs_format_name(format);
    jobs_error_set(&run->error, JOBS_INVALID, "%s cannot be converted: %zu thing%s wrong with it", what, count,
                   count == 1 ? " is" : "s are");
    const char *rule = count > 0 ? run->report.violations[0].rule : "";
    const char *hint =
        strcmp(rule, "X103") == 0   ? "--index N takes the N-th result of the input"
        : strcmp(rule, "X109") == 0 ? "--job and --requested-outcome say it; `jobs handoff --from` with "
                                      "--check-job takes it from the request"
        : format != JOBS_FORMAT_AUTO && jobs_format_reask(format) != NULL && !options_has(&run->options, OPT_REASK)
            ? "`jobs convert --reask` prints what to send back to the model"
        : strcmp(rule, "X102") == 0 ? "`jobs convert --help` lists the formats"
                                    : "";
    snprintf(run->error.hint, sizeof run->error.hint, "%s", hint);
    return JOBS_INVALID;
}

static int convert(struct run *run, struct input *input, enum option_id from, bool job_later, enum jobs_format *format)
{
    const struct options *given = &run->options;
    const char *root_path = options_text(given, OPT_EVIDENCE_ROOT);
    struct jobs_evidence_root *root = NULL;
    struct jobs_convert_options options = {
        .schema_level = options_text(given, OPT_LEVEL) != NULL && strcmp(options_text(given, OPT_LEVEL), "schema") == 0,
        .index = options_has(given, OPT_INDEX) ? (size_t)options_number(given, OPT_INDEX) : 0,
        .keep_original = options_has(given, OPT_KEEP_ORIGINAL),
        .job_request = options_text(given, OPT_JOB),
        .requested_outcome = options_text(given, OPT_REQUESTED_OUTCOME),
        .job_later = job_later,
        .find_secret = find_secret,
    };
    char *manifest = NULL;
    size_t len = 0;
    int code = JOBS_OK;
    *format = JOBS_FORMAT_AUTO;
    (void)jobs_format_from_name(&options.format, options_text(given, from)); /* the option's words are the formats */
    if (root_path != NULL) {
        code = jobs_evidence_open(&root, root_path, &run->error);
        options.hash_evidence = hash_evidence;
        options.context = root;
    }
    if (code == JOBS_OK) {
        code = jobs_convert(&manifest, &len, format, input->bytes == NULL ? "" : input->bytes, input->len, &options,
                            &run->report);
        if (code == JOBS_INVALID)
            code = blame(run, *format);
        else if (code != JOBS_OK)
            jobs_error_set(&run->error, code, "out of memory");
    }
    if (code == JOBS_OK) {
        free(input->bytes);
        input->bytes = manifest;
        input->len = len;
    }
    jobs_evidence_close(root);
    return code;
}

int convert_input(struct run *run, struct input *input, enum option_id from, bool job_later)
{
    enum jobs_format format;
    return convert(run, input, from, job_later, &format);
}

/* With what is foreign in it made harmless, of the same value. */
static int print_manifest(struct run *run, const struct input *input)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (out != NULL) {
        card_put_json(out, input->bytes, input->len);
        fputc('\n', out);
    }
    int code = out == NULL || fclose(out) != 0 ? jobs_error_set(&run->error, JOBS_NO_MEMORY, "out of memory")
                                               : print_bytes(run, text, len);
    free(text);
    return code;
}

int command_convert(struct run *run)
{
    struct input input = {0};
    enum jobs_format format = JOBS_FORMAT_AUTO;
    const char *path = run->options.operand != NULL ? run->options.operand : "-";
    int code = input_read(&input, run, path, "the result", JOBS_CONVERT_INPUT_MAX);
    if (code == JOBS_OK)
        code = convert(run, &input, OPT_FROM, false, &format);
    if (code == JOBS_OK) {
        code = print_manifest(run, &input);
    } else if (code == JOBS_INVALID && options_has(&run->options, OPT_REASK) && jobs_format_reask(format) != NULL) {
        int told = print_text(run, jobs_format_reask(format));
        if (told == JOBS_OK)
            told = print_text(run, "\n");
        if (told != JOBS_OK)
            code = told;
    }
    input_free(&input);
    return code;
}
