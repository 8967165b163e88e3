/* schema.c - `jobs schema` and `jobs template`: what the core knows about manifests, as it stands. */
#include "print.h"

int command_schema(struct run *run)
{
    return print_text(run, jobs_handoff_schema());
}

int command_template(struct run *run)
{
    return print_text(run, jobs_handoff_template());
}
