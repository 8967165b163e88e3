"""Kills and lets down the real `jobs`, and counts what became of its handoffs: lost, doubled, misreported.

torture.py [--quick] [--seed N] [PART ...]. Prints a table; exit 0 when all three are 0. Run it by `./dev torture`, which
installs what it needs. A finding names what repeats it: seed, order for torture.c, job.
"""
import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
import time

import parts
import scene

sys.path.insert(0, os.path.join(scene.HERE, "..", "interop"))
os.environ.setdefault("JOBS_BIN_DIR", os.path.join(scene.BUILD, "bin"))
import local  # noqa: E402
import relays  # noqa: E402


def ours():
    return local.Relay("--port", "0")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--quick", action="store_true", help="some minutes instead of hours")
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--kills", type=int, help="how many, at least")
    options.add_argument("--entries", type=int, help="how many in the full outbox")
    options.add_argument("part", nargs="*")
    asked = options.parse_args()
    quick, sanitized = asked.quick, os.path.join(scene.BUILD, "asan", "bin")

    with contextlib.ExitStack() as stack:
        near = stack.enter_context(ours())
        folder = stack.enter_context(tempfile.TemporaryDirectory())

        def foreign():
            relay = relays.local_relay(pathlib.Path(folder))
            stack.callback(relay.stop)
            return relay

        plan = {
            "random relays, modelled": lambda t: parts.model(t, 100_000 if quick else 1_000_000),
            "kill -9, handoff and flush": lambda t: parts.kills(t, foreign().url, near.url, asked.kills or (300 if quick else 10000)),
            "kill -9, --supersede": lambda t: parts.replacements(t, near.url, 3 if quick else 1),
            "a flush of several": lambda t: parts.several(t, near.url, 7 if quick else 1),
            "kill -9, keys new": parts.keys_killed,
            "system calls that fail": lambda t: parts.faults(t, near.url, 3 if quick else 1),
            "the same, ASan and UBSan": lambda t: parts.faults(t, near.url, 23 if quick else 5, sanitized),
            "no place to write": lambda t: parts.places(t, near.url),
            "the relay is killed": lambda t: parts.crashes(t, ours),
            "many at once": lambda t: parts.crowds(t, near.url, (2, 8, 50)),
            "what strace sees": lambda t: parts.trace(t, near.url),
            "a full outbox": lambda t: parts.many(t, near.url, asked.entries or (300 if quick else 10000)),
        }
        tallies = []
        print(f"seed {asked.seed}", flush=True)
        for name, part in plan.items():
            if asked.part and not any(word in name for word in asked.part):
                continue
            if part is plan["the same, ASan and UBSan"] and not os.path.exists(os.path.join(sanitized, "jobs")):
                print(f"skipped: {name} (build/asan is not built)", flush=True)
                continue
            tally = scene.Tally(name, asked.seed)
            tallies.append(tally)
            part(tally)
            print(f"{name}: {tally.runs} runs, {time.monotonic() - tally.begin:.0f} s", file=sys.stderr, flush=True)
    print("\n| what is done to it | runs | kills | failed calls | lost | doubled | misreported | |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for t in tallies:
        print(f"| {t.name} | {t.runs} | {t.kills} | {t.faults} | {len(t.lost)} | {len(t.doubled)} | {len(t.misreported)} | {t.note} |")
    print(f"\nseed {asked.seed}; a handoff is looked for by a client that shares no code with jobs")
    return 0 if all(t.clean() for t in tallies) else 1


sys.exit(main())
