#!/usr/bin/env bash
# evidence.sh FILE COMMAND... - run a check, and print a manifest that carries the digests of what was made (FILE, a
# path inside the repository) and of what the check printed. What failed is handed over as failed.
set -euo pipefail
file=$1; shift

log=$(mktemp); trap 'rm -f "$log"' EXIT
status=0; "$@" >"$log" 2>&1 || status=$?
digest() { sha256sum "$1" | cut -d' ' -f1; }

jq -n --arg file "$file" --arg sha "$(digest "$file")" --argjson bytes "$(stat -c %s "$file")" \
    --arg command "$*" --argjson status "$status" --arg log "$(digest "$log")" '{
    schemaVersion: 1,
    outcome: (if $status == 0 then "Made, and the check passed." else "Made, but the check failed." end),
    disposition: (if $status == 0 then "completed" else "failed" end),
    artifacts: [{kind: "file", label: $file, reference: $file, sha256: $sha, bytes: $bytes}],
    verification: [{label: $command, status: (if $status == 0 then "passed" else "failed" end),
                    claimSource: "executed", command: $command, exitCode: $status, evidenceSha256: $log}]
}'
