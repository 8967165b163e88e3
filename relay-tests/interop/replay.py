"""`jobs replay` into relays nobody here wrote, and into ours, killed on the way again and again: everything is there
once, and nothing is reported that is not so.

replay.py [--count N] [part of a relay's name]: 5,000 events each by default; run by ./dev interop, with 100,000 into
jobs-relay by ./dev torture.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import relays

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
JOBS = SOURCE / "build/bin/jobs"
EVENTS = SOURCE / "build/bench/bench-events"
KILLS = 20


def jobs_relay(folder):
    return relays.Relay(folder, [SOURCE / "build/bin/jobs-relay", "--port", "0", "--dir", folder / "events"],
                        relays.environment(folder), r"^(ws://\S+)")


RELAYS = {
    "jobs-relay": jobs_relay,
    "Python nostr-relay": lambda folder: relays.python_relay(folder, "\nmax_event_size: 70000\n"),
    "@nostr-relay/core": relays.core_relay,
}


def decided(journal):
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def replay(relay, journal, events, *more):
    return [JOBS, "replay", "--relay", relay.url, "--journal", journal, "--timeout", "60", *more, events]


def kill_on_the_way(relay, folder, events, count, draw):
    """Runs and kills, each time after a random part of what is left; returns how often it was killed."""
    journal, kills = folder / "journal", 0
    for left in range(KILLS, 0, -1):
        begun = decided(journal)
        child = subprocess.Popen(replay(relay, journal, events), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env=relays.environment(folder))
        wanted = begun + draw.randrange(1, max(2, (count - begun) // (left + 1)))
        while child.poll() is None and decided(journal) < wanted:
            try:
                child.wait(timeout=0.01)
            except subprocess.TimeoutExpired:
                pass
        kills += child.poll() is None
        child.kill()
        child.wait()
    return kills


def check(name, start, folder, count):
    """What is wrong, or nothing."""
    events = folder / "events.jsonl"
    with open(events, "w") as out:
        subprocess.run([EVENTS, str(count), "50"], stdout=out, check=True)
    relay = start(folder)
    try:
        begin = time.monotonic()
        kills = kill_on_the_way(relay, folder, events, count, random.Random(count))
        done = subprocess.run(replay(relay, folder / "journal", events, "--expect", events), capture_output=True,
                              env=relays.environment(folder), text=True)
        took = time.monotonic() - begin
        lines = done.stdout.splitlines()
        said = json.loads(lines[-1]) if lines else {}
    finally:
        relay.stop()
    print(f"{name}: {count} events, killed {kills} times, {took:.1f} s, exit {done.returncode}: {said}")
    if done.returncode or said["accepted"] + said["duplicate"] != count or said["confirmed"] != count or len(lines) != 1:
        return f"{name}: {lines[:5]} {done.stderr}"
    return None if kills >= KILLS - 2 else f"{name}: killed only {kills} times"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--count", type=int, default=5000)
    options.add_argument("part", nargs="?", default="")
    options = options.parse_args()
    wrong = []
    if any(options.part in name for name in list(RELAYS)[1:]):
        relays.install_node()
    for name, start in RELAYS.items():
        if options.part not in name:
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="jobs-replay-"))
        try:
            wrong.append(check(name, start, folder, options.count))
        finally:
            shutil.rmtree(folder)
    failures = [problem for problem in wrong if problem]
    print("\n".join(failures))
    return 1 if failures or not wrong else 0


if __name__ == "__main__":
    sys.exit(main())
