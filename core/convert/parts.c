/* parts.c - the pieces a manifest is built from; every foreign string passes the redactor here. */
#include "conversion.h"

#include "../text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void jobs__repair(struct jobs__conversion *c, enum jobs__repair repair)
{
    c->repairs[repair] = true;
}

void jobs__set(struct jobs__conversion *c, json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value) != 0)
        c->failed = JOBS_NO_MEMORY;
}

void jobs__append_text(struct jobs__conversion *c, struct jobs__buffer *to, const char *text)
{
    jobs__redact(c, text, strlen(text), to);
}

void jobs__put_text(struct jobs__conversion *c, json_t *object, const char *name, const char *text)
{
    if (text == NULL || jobs__is_blank(text) || object == NULL)
        return;
    struct jobs__buffer clean = {.max = JOBS__TEXT_MAX};
    jobs__append_text(c, &clean, text);
    if (!clean.failed)
        jobs__set(c, object, name, json_stringn(clean.bytes, clean.len));
    jobs__close(c, &clean);
}

json_t *jobs__texts(struct jobs__conversion *c, const json_t *list)
{
    json_t *entry, *texts = json_array();
    size_t i;
    json_array_foreach(list, i, entry)
    {
        struct jobs__buffer clean = {.max = JOBS__TEXT_MAX};
        const char *text = json_string_value(entry);
        if (jobs__is_blank(text))
            continue;
        jobs__append_text(c, &clean, text);
        if (!clean.failed && json_array_append_new(texts, json_stringn(clean.bytes, clean.len)) != 0)
            c->failed = JOBS_NO_MEMORY;
        jobs__close(c, &clean);
    }
    if (texts == NULL)
        c->failed = JOBS_NO_MEMORY;
    return texts;
}

void jobs__close(struct jobs__conversion *c, struct jobs__buffer *text)
{
    if (text->failed)
        c->failed = JOBS_NO_MEMORY;
    jobs__buffer_free(text);
}

void jobs__outcome_line(struct jobs__conversion *c, const char *label, const char *text)
{
    if (text == NULL || jobs__is_blank(text))
        return;
    jobs__buffer_text(&c->outcome, c->outcome.len == 0 ? "" : "\n");
    if (label != NULL)
        jobs__buffer_format(&c->outcome, "%s: ", label);
    jobs__append_text(c, &c->outcome, text);
}

static void remember_origin(struct jobs__conversion *c, const char *list, const json_t *array, const char *origin)
{
    char place[64];
    snprintf(place, sizeof place, "/%s/%zu", list, json_array_size(array));
    jobs__set(c, c->origins, place, json_string(origin));
}

static json_t *append(struct jobs__conversion *c, const char *list, json_t *array, const char *origin)
{
    json_t *object = json_object();
    remember_origin(c, list, array, origin);
    if (object == NULL || json_array_append_new(array, object) != 0) {
        c->failed = JOBS_NO_MEMORY;
        return NULL;
    }
    return object;
}

bool jobs__is_local(const char *reference)
{
    size_t len = strlen(reference);
    if (len == 0)
        return false;
    if (strchr("/\\~", reference[0]) != NULL || strncasecmp(reference, "file:", 5) == 0)
        return true;
    if (len >= 2 && isalpha((unsigned char)reference[0]) && reference[1] == ':')
        return true;
    if (strstr(reference, "://") != NULL)
        return false;
    for (const char *p = reference; (p = strstr(p, "..")) != NULL; p++)
        if ((p == reference || p[-1] == '/' || p[-1] == '\\') && (p[2] == '\0' || p[2] == '/' || p[2] == '\\'))
            return true;
    return false;
}

bool jobs__refuse_local(struct jobs__conversion *c, const char *reference, const char *origin)
{
    struct jobs__buffer clean = {.max = JOBS__TEXT_MAX};
    bool local = jobs__is_local(reference) || jobs__redact(c, reference, strlen(reference), &clean);
    if (local)
        jobs__violate(c, "X107", origin,
                      "names a place on this machine, or a secret; a URL or a path inside the repository is right");
    jobs__close(c, &clean);
    return local;
}

json_t *jobs__add_artifact(struct jobs__conversion *c, const char *kind, const char *label, const char *reference,
                           const char *source_state, const char *origin, bool nameable)
{
    if (jobs__refuse_local(c, reference, origin))
        return NULL;
    json_t *artifact = append(c, "artifacts", c->artifacts, origin);
    if (artifact == NULL)
        return NULL;
    jobs__set(c, artifact, "kind", json_string(kind));
    jobs__put_text(c, artifact, "label", label);
    jobs__set(c, artifact, "reference", json_string(reference));
    jobs__put_text(c, artifact, "sourceState", source_state);
    if (nameable)
        c->nameable++;
    return artifact;
}

json_t *jobs__add_claim(struct jobs__conversion *c, const char *label, bool failed, const char *evidence,
                        const char *origin)
{
    json_t *claim = append(c, "verification", c->verification, origin);
    if (claim == NULL)
        return NULL;
    jobs__put_text(c, claim, "label", label);
    jobs__set(c, claim, "status", json_string(failed ? "failed" : "not_run"));
    jobs__put_text(c, claim, "evidence", evidence);
    jobs__set(c, claim, "claimSource", json_string("reported"));
    return claim;
}

void jobs__add_evidence(struct jobs__conversion *c, const char *path, const char *sha256, const char *origin)
{
    const struct jobs_convert_options *o = c->options;
    char hex[65];
    if (jobs__refuse_local(c, path, origin))
        return;
    json_t *claim = jobs__add_claim(c, path, false, NULL, origin);
    if (claim == NULL || sha256 == NULL)
        return;
    jobs__set(c, claim, "evidenceSha256", json_string(sha256));
    if (o->hash_evidence == NULL)
        return;
    enum jobs_evidence found = o->hash_evidence(o->context, path, hex);
    bool same = found == JOBS_EVIDENCE_HASHED && strcmp(hex, sha256) == 0;
    static const char *const said[] = {"the file was read and its hash differs", "the file is missing",
                                       "the file could not be read"};
    jobs__set(c, claim, "status", json_string(same ? "passed" : "failed"));
    jobs__set(c, claim, "claimSource", json_string("executed"));
    jobs__set(c, claim, "evidence",
              json_string(same ? "the file was read and its hash is the one stated" : said[found]));
}

json_t *jobs__add_finding(struct jobs__conversion *c, const char *id, const char *severity, const char *summary,
                          const char *bucket, const char *origin)
{
    json_t *finding = append(c, "findings", c->findings, origin);
    if (finding == NULL)
        return NULL;
    jobs__put_text(c, finding, "id", id);
    jobs__put_text(c, finding, "severity", severity == NULL ? "unstated" : severity);
    jobs__put_text(c, finding, "summary", summary == NULL ? id : summary);
    jobs__set(c, finding, "bucket", json_string(bucket));
    return finding;
}

void jobs__add_question(struct jobs__conversion *c, const char *id, const char *question, const json_t *options,
                        const char *origin)
{
    json_t *entry = append(c, "questions", c->questions, origin), *texts = jobs__texts(c, options);
    jobs__put_text(c, entry, "id", id);
    jobs__put_text(c, entry, "question", question);
    if (entry != NULL && json_array_size(texts) > 0)
        jobs__set(c, entry, "options", json_incref(texts));
    json_decref(texts);
}

/* http(s)://host/…/pull/N, a query or fragment aside. */
static bool is_pull_request(const char *url)
{
    const char *pull = strstr(url, "/pull/");
    if (pull == NULL || !isdigit((unsigned char)pull[6]))
        return false;
    const char *p = pull + 6;
    while (isdigit((unsigned char)*p))
        p++;
    return *p == '\0' || *p == '#' || *p == '?';
}

bool jobs__add_link(struct jobs__conversion *c, const char *reference, const char *origin)
{
    bool url = strncasecmp(reference, "http://", 7) == 0 || strncasecmp(reference, "https://", 8) == 0;
    if (url) {
        bool pull = is_pull_request(reference);
        jobs__add_artifact(c, pull ? "pull_request" : "link", pull ? "Pull request" : "Evidence", reference, NULL,
                           origin, true);
        return true;
    }
    if (jobs__is_hex(reference, 40) || jobs__is_hex(reference, 64)) {
        jobs__add_artifact(c, "commit", "Commit", reference, NULL, origin, true);
        return true;
    }
    return false;
}
