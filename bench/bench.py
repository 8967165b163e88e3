"""Measures what `jobs` costs beside yardsticks that do the least possible, alternating, and prints medians and ratios.

bench.py BUILD [--quick] [TOPIC]: the whole without --quick it also writes to bench/RESULTS.md. Times of one machine mean
little elsewhere; the ratios are what to read.
"""
import os
import pathlib
import platform
import shutil
import sys
import tempfile
import time

import bulk
import feed
import measure
import one_shot
import outbox
import startup

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TOPICS = {"one_shot": one_shot, "startup": startup, "outbox": outbox, "feed": feed, "bulk": bulk}


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return f"{platform.machine()}, {os.cpu_count()} cores"


def main(build, *words):
    quick = "--quick" in words
    only = [word for word in words if word in TOPICS]
    # On tmpfs where there is one: what is measured is the program, not the disk. Removed at the end.
    home = "/dev/shm" if os.access("/dev/shm", os.W_OK) else build
    place = pathlib.Path(tempfile.mkdtemp(prefix="jobs-bench-", dir=home))
    bench = measure.Bench(pathlib.Path(build).resolve(), place, quick)
    head = ("what", "median (middle half)", "ratio", "peak memory")
    lines = []
    try:
        for row in (head, ("---",) * 4, *(row for topic in only or TOPICS for row in TOPICS[topic].rows(bench))):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    finally:
        shutil.rmtree(place)
    if not quick and not only:
        (SOURCE / "bench/RESULTS.md").write_text(
            f"# What `./dev bench` printed\n\n{time.strftime('%Y-%m-%d')}, {machine()}, Linux {platform.release()}. "
            f"One-shot rows: {bench.one_shot} runs each, alternating;\nbulk rows: {bench.bulk}. Outbox and relay store on "
            "tmpfs. Peak memory is the largest of all runs.\n\n" + "\n".join(lines) + "\n")


main(*sys.argv[1:])
