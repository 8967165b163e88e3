#!/usr/bin/env bash
# finish.sh CHANNEL JOB MANIFEST - the last step of an agent's run: hand the result over, and act on how it went.
# BUZZ_RELAY_URL and BUZZ_PRIVATE_KEY say where and who. May be run again at any time: one result stays one event.
set -uo pipefail
jobs() { env jobs "$@"; } # the shell has a builtin of that name

receipt=$(jobs handoff --channel "$1" --job "$2" --manifest "$3" 2>handoff.err)
case $? in
0) echo "handed over: $receipt" ;;
1) echo "the manifest has to change, each rule is named:"; cat handoff.err; exit 1 ;;
2) echo "no relay has confirmed it; it is signed and kept, so run this again later:"; cat handoff.err; exit 2 ;;
3) echo "this key may not, or there is none:"; cat handoff.err; exit 3 ;;
5) echo "another result for this job is out; to replace it, use --supersede:"; cat handoff.err; exit 5 ;;
130 | 143) echo "stopped before it was done; run this again"; exit 130 ;;
*) echo "this machine is in the way (a full disk, a closed output):"; cat handoff.err; exit 4 ;;
esac
