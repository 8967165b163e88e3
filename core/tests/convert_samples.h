/* convert_samples.h - the samples of docs/protocol/vectors/convert, read for the tests of the conversions. */
#ifndef CONVERT_SAMPLES_H
#define CONVERT_SAMPLES_H

#include <jobs/convert.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_FOLDER JOBS_SOURCE_DIR "/docs/protocol/vectors/convert"
#define SAMPLE_JOB    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct sample {
    char name[128];
    char *text;
    size_t len;
    enum jobs_format format;
    char letter; /* a, b, c or r: what the name says about it */
};

static inline enum jobs_format sample_format(const char *name)
{
    static const struct {
        const char *prefix;
        enum jobs_format format;
    } prefixes[] = {{"bubbles-", JOBS_FORMAT_BUBBLES},
                    {"aw-outcome-", JOBS_FORMAT_SKILL_OUTCOME},
                    {"aw-envelope-", JOBS_FORMAT_WORKFLOW_ENVELOPE},
                    {"sublation-manifest-", JOBS_FORMAT_SUBLATION_MANIFEST},
                    {"sublation-report-", JOBS_FORMAT_SUBLATION_REPORT}};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0)
            return prefixes[i].format;
    return JOBS_FORMAT_AUTO;
}

static inline char sample_letter(const char *name)
{
    const char *at = strstr(name, "-outcome-");
    at = at != NULL                                  ? at + 9
         : (at = strstr(name, "-envelope-")) != NULL ? at + 10
         : (at = strstr(name, "-manifest-")) != NULL ? at + 10
         : (at = strstr(name, "-report-")) != NULL   ? at + 8
                                                     : strchr(name, '-') + 1;
    return *at;
}

/* Calls use for every sample; returns how many there were. */
static inline size_t each_sample(void (*use)(const struct sample *sample, void *context), void *context)
{
    struct dirent **entries = NULL;
    int count = scandir(SAMPLE_FOLDER, &entries, NULL, alphasort);
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        struct sample s = {.format = sample_format(entries[i]->d_name)};
        char path[512];
        snprintf(s.name, sizeof s.name, "%.127s", entries[i]->d_name);
        snprintf(path, sizeof path, "%s/%s", SAMPLE_FOLDER, entries[i]->d_name);
        FILE *file = s.format == JOBS_FORMAT_AUTO ? NULL : fopen(path, "r");
        if (file != NULL) {
            s.text = malloc(JOBS_CONVERT_INPUT_MAX);
            s.len = fread(s.text, 1, JOBS_CONVERT_INPUT_MAX, file);
            s.letter = sample_letter(s.name);
            use(&s, context);
            used++;
            free(s.text);
            fclose(file);
        }
        free(entries[i]);
    }
    free(entries);
    return used;
}

#endif
