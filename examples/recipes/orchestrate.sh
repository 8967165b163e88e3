#!/usr/bin/env bash
# orchestrate.sh CHANNEL WORKER SECONDS TASK - ask a worker for a job, wait for its result, act on the disposition.
# WORKER is the public key whose word counts: any key can sign a result. BUZZ_RELAY_URL and BUZZ_PRIVATE_KEY say where
# and who. Needs jq.
set -uo pipefail
jobs() { env jobs "$@"; } # the shell has a builtin of that name

job=$(jobs request --channel "$1" --notify "$2" "$4" | jq -er .event_id) || exit 1
echo "asked: $job"

# Ends with the card that stands, be it there already or new; a dropped connection is none of our business.
result=$(jobs watch --channel "$1" --job "$job" --first --author "$2" --wait "$3" 2>watch.err)
case $? in
0) ;;
2) echo "no result after $3 s; the same watch, later, finds it if it comes:"; cat watch.err; exit 2 ;;
3) echo "this key may not read here:"; cat watch.err; exit 3 ;;
*) cat watch.err; exit 4 ;;
esac

jq -r .headline <<<"$result"
case $(jq -r .disposition <<<"$result") in
completed) jq -r '.handoff.artifacts[]? | "take \(.reference)"' <<<"$result" ;;
no_artifact) echo "done, and there is nothing to take" ;;
partial) echo "not all of it"; jq -r '.handoff.questions[]? | "answer \(.id): \(.question)"' <<<"$result"; exit 10 ;;
blocked) jq -r '"remove: \(.handoff.blocker)"' <<<"$result"; exit 11 ;;
failed) echo "ask somebody else"; exit 12 ;;
esac
