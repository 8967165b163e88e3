"""Measures what `jobs` costs beside yardsticks that do the least possible, alternating, and prints medians and ratios.

bench.py BUILD [--quick] [TOPIC]: the whole without --quick is also written down (report.py). Times of one machine mean
little elsewhere; the ratios are what to read.
"""
import os
import pathlib
import shutil
import sys
import tempfile

import bulk
import feed
import measure
import one_shot
import outbox
import report
import startup

TOPICS = {"one_shot": one_shot, "startup": startup, "outbox": outbox, "feed": feed, "bulk": bulk}


def main(build, *words):
    quick = "--quick" in words
    only = [word for word in words if word in TOPICS]
    # On tmpfs where there is one: what is measured is the program, not the disk. Removed at the end.
    home = "/dev/shm" if os.access("/dev/shm", os.W_OK) else build
    place = pathlib.Path(tempfile.mkdtemp(prefix="jobs-bench-", dir=home))
    bench = measure.Bench(pathlib.Path(build).resolve(), place, quick)
    lines, load = [], os.getloadavg()[0]
    print(report.HEAD, end="")
    try:
        for topic in only or TOPICS:
            for row in TOPICS[topic].rows(bench):
                lines.append(report.line(row))
                print(lines[-1], end="", flush=True)
    finally:
        shutil.rmtree(place)
    if not quick and not only:
        report.write(lines, load, bench.one_shot, bench.bulk)


main(*sys.argv[1:])
