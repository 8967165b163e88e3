"""What all rows share: one command and what it cost, the programs of the build, events, a relay that is there for a while.

A row is four texts: what was measured, median and middle half, a ratio, the peak memory.
"""
import contextlib
import json
import os
import secrets
import statistics
import subprocess
import sys

CHANNEL = "00000000-0000-4000-8000-000000000000"  # that of bench-events
SECRET = f"{1:064x}"  # and the key of its first author, of no worth: known to everybody


def spread(values):
    """Median, and the middle half as text."""
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, f"{middle:.1f} ({low:.1f} to {high:.1f})"


def beside(values, others):
    """Median of the ratios within a round each: the machine's own speed changes from round to round."""
    return statistics.median(value / other for value, other in zip(values, others))


class Bench:
    """build: the build folder. place: a folder on tmpfs, for all that is written. quick: fewer and shorter runs."""

    def __init__(self, build, place, quick):
        self.build, self.place, self.quick = build, place, quick
        self.one_shot, self.bulk = (10, 3) if quick else (50, 15)
        self.jobs = build / "bin/jobs"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(place), "JOBS_STATE_DIR": str(place / "state")}
        self.manifest = place / "manifest.json"
        self.manifest.write_text(json.dumps({
            "schemaVersion": 1, "requestedOutcome": "Measure.", "outcome": "x" * 1000, "disposition": "completed",
            "artifacts": [{"kind": "link", "label": "One", "reference": "https://example.com/1"}]}))
        self.key = place / "key"
        self.key.write_text(SECRET + "\n")
        self.key.chmod(0o600)

    def program(self, name):
        return self.build / "bench" / f"bench-{name}"

    def start(self, *command, given=None, out=subprocess.PIPE, **environment):
        """Starts a command below bench-once. The process, and a function that says what it cost once it has ended."""
        result, into = os.pipe()
        process = subprocess.Popen([self.program("once"), str(into), *command], pass_fds=(into,), env=self.environment | environment,
                                   stdin=given or subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        os.close(into)

        def cost():
            """Milliseconds, peak KiB, exit status."""
            with os.fdopen(result) as lines:
                said = lines.read().split()
            return int(said[0]) / 1000, int(said[1]), int(said[2])

        return process, cost

    def once(self, *command, given=None, **environment):
        """One run of a command: milliseconds and peak KiB."""
        return self.at_once(1, *command, given=given, **environment)[0]

    def at_once(self, count, *command, **more):
        """So many runs of a command at the same time. What they print is read by nobody, for that takes a core as well."""
        runs = [self.start(*command, out=subprocess.DEVNULL, **more) for _ in range(count)]
        costs = []
        for process, cost in runs:
            _, errors = process.communicate()
            milliseconds, peak, status = cost()
            if process.returncode or status:
                sys.exit(f"bench: {' '.join(map(str, command))}: exit {status}\n{errors.decode()}")
            costs.append((milliseconds, peak))
        return costs

    def handoff(self, url, *more, **environment):
        """One handoff for a job of its own."""
        return self.once(self.jobs, "handoff", "--relay", url, "--key-file", self.key, "--channel", CHANNEL, "--job",
                         secrets.token_hex(32), "--manifest", self.manifest, *more, **environment)

    def number(self, name, *arguments):
        """What a yardstick prints: events per second."""
        return float(subprocess.run([self.program(name), *map(str, arguments)], capture_output=True, check=True).stdout)

    def events(self, count, authors, a_second=0):
        """A file of so many handoffs of about 2 KB; with a_second, so many of them to each second of the past."""
        path = self.place / f"events-{count}-{authors}-{a_second}.jsonl"
        if not path.exists():
            with open(path, "w") as out:
                subprocess.run([self.program("events"), *map(str, (count, authors, a_second))], stdout=out, check=True)
        return path

    @contextlib.contextmanager
    def relay(self, *command):
        """A relay that prints its URL when it listens; jobs-relay in a folder of its own unless another is named."""
        command = command or (self.build / "bin/jobs-relay", "--port", "0", "--dir", self.place / "relay")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(timeout=20)

    def null_relay(self):
        return self.relay(self.program("null-relay"))


def port(url):
    return url.rsplit(":", 1)[1]
