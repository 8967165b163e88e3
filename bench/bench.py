"""Measures what `jobs` costs beside yardsticks that do the least possible, alternating, and prints medians and ratios.

bench.py BUILD [--quick]: without --quick it also writes bench/RESULTS.md. Times of one machine mean little elsewhere;
the ratios are what to read.
"""
import json
import os
import pathlib
import platform
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import bulk

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
QUICK = "--quick" in sys.argv
ONE_SHOT, BULK = (10, 3) if QUICK else (50, 7)
CHANNEL = "00000000-0000-4000-8000-000000000000"


class Server:
    """A relay that prints its URL when it listens."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = self.url.rsplit(":", 1)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)


def once(*command, env=None, given=None):
    """One run of a command: milliseconds and peak KiB, as bench-once measures them."""
    result, into = os.pipe()
    runner = [BUILD / "bench/bench-once", *command]
    done = subprocess.run(["sh", "-c", f'exec "$@" 3>&{into}', "sh", *runner], pass_fds=(into,), env=env,
                          stdin=given or subprocess.DEVNULL, capture_output=True)
    os.close(into)
    with os.fdopen(result) as lines:
        said = lines.read().split()
    if done.returncode or int(said[2]):
        sys.exit(f"bench: {' '.join(map(str, command))}: exit {said[2:]}\n{done.stderr.decode()}")
    return int(said[0]) / 1000, int(said[1])


def spread(values):
    """Median, and the middle half."""
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, f"{middle:.1f} ({low:.1f} to {high:.1f})"


def one_shot(place):
    """Rows: one handoff over ws://, with and without reading back, beside BARE on the same relay."""
    manifest, events = place / "manifest.json", place / "events.jsonl"
    manifest.write_text(json.dumps({
        "schemaVersion": 1, "requestedOutcome": "Measure.", "outcome": "x" * 1000, "disposition": "completed",
        "artifacts": [{"kind": "link", "label": "One", "reference": "https://example.com/1"}]}))
    with open(events, "w") as out:
        subprocess.run([BUILD / "bench/bench-events", str(2 * ONE_SHOT), "1"], stdout=out, check=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(place), "JOBS_STATE_DIR": str(place / "state")}
    subprocess.run([BUILD / "bin/jobs", "keys", "new", place / "key"], check=True, capture_output=True, env=environment)

    def handoff(relay, *more):
        return once(BUILD / "bin/jobs", "handoff", "--relay", relay.url, "--key-file", place / "key", "--channel", CHANNEL,
                    "--job", secrets.token_hex(32), "--manifest", manifest, *more, env=environment)

    runs = {"bare": [], "handoff": [], "handoff, not read back": []}
    with Server(BUILD / "bin/jobs-relay", "--port", "0", "--dir", place / "relay") as relay:
        for turn in range(ONE_SHOT):
            runs["bare"].append(once(BUILD / "bench/bench-bare", relay.port, events, str(turn)))
            runs["handoff"].append(handoff(relay))
            runs["handoff, not read back"].append(handoff(relay, "--no-read-back"))
    bare, bare_text = spread([ms for ms, _ in runs["bare"]])
    yield "BARE: one libwebsockets exchange", bare_text + " ms", "1", f"{max(kib for _, kib in runs['bare'])} KiB"
    for name in ("handoff", "handoff, not read back"):
        median, text = spread([ms for ms, _ in runs[name]])
        peak = max(kib for _, kib in runs[name])
        yield f"jobs {name}", text + " ms", f"{median / bare:.2f} × BARE", f"{peak} KiB"


def bulk_rows(place):
    """Rows: verifying and replaying."""
    return bulk.Bulk(place, BUILD, once, spread, Server, BULK, QUICK).rows()


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return f"{platform.machine()}, {os.cpu_count()} cores"


def main():
    # On tmpfs where there is one: what is measured is the program, not the disk. Removed at the end.
    home = "/dev/shm" if os.access("/dev/shm", os.W_OK) else BUILD
    place = pathlib.Path(tempfile.mkdtemp(prefix="jobs-bench-", dir=home))
    try:
        rows = [*one_shot(place), *bulk_rows(place)]
    finally:
        shutil.rmtree(place)
    head = ("what", "median (middle half)", "ratio", "peak memory")
    lines = ["| " + " | ".join(row) + " |" for row in (head, ("---",) * 4, *rows)]
    print("\n".join(lines))
    if not QUICK:
        (SOURCE / "bench/RESULTS.md").write_text(
            f"# What `./dev bench` printed\n\n{time.strftime('%Y-%m-%d')}, {machine()}, Linux {platform.release()}. One-shot "
            f"rows: {ONE_SHOT} runs each, alternating;\nbulk rows: {BULK}. Outbox and relay store on tmpfs. Peak memory is "
            "the largest of all runs.\n\n" + "\n".join(lines) + "\n")


main()
