#!/usr/bin/env bash
# hand_over_result.sh JOB ANSWER - an agent's answer as it is (examples/results): what another system's result says goes
# out as a handoff, and its card comes back. The channel and what was asked for are taken from the request.
set -euo pipefail
jobs() { env jobs "$@"; } # the shell has a builtin of that name

receipt=$(jobs handoff --from auto --check-job --job "$1" --manifest "$2")
jobs show "$(sed -n 's/.*"event_id":"\([0-9a-f]*\)".*/\1/p' <<<"$receipt")" --format terminal
