/* supersede.c - see supersede.h. */
#include "supersede.h"

#include <string.h>

static bool has_finding(const struct jobs_handoff *handoff, const char *id)
{
    size_t count;
    const struct jobs_finding *findings = jobs_handoff_findings(handoff, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(findings[i].id, id) == 0)
            return true;
    return false;
}

int jobs__supersede_check(const struct jobs_handoff *newer, const struct jobs_event *older, struct jobs_report *report)
{
    struct jobs_handoff *replaced = NULL;
    struct jobs_report reasons = {0};
    size_t len, count;
    const char *content = jobs_event_content(older, &len), *reply = jobs_event_reply(older);
    int code = reply == NULL ? JOBS_INVALID : jobs_handoff_read(&replaced, content, len, reply, &reasons, NULL);
    jobs_report_wipe(&reasons);
    if (code != JOBS_OK)
        return code == JOBS_INVALID ? JOBS_OK : code;
    const struct jobs_finding *findings = jobs_handoff_findings(replaced, &count);
    for (size_t i = 0; i < count && code != JOBS_NO_MEMORY; i++)
        if (!has_finding(newer, findings[i].id))
            code = jobs_report_add(report, JOBS__RULE_SUPERSEDE, "/findings", 0,
                                   "finding %zu of the handoff that this one supersedes is not accounted for: list it "
                                   "again under its id, as addressed, unresolved or observation",
                                   i) == JOBS_OK
                       ? JOBS_INVALID
                       : JOBS_NO_MEMORY;
    jobs_handoff_free(replaced);
    return code;
}
