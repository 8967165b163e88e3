"""The rows about very many events: verify and replay beside CORE and PUB, alternating; memory; allocations.

bench.py calls rows(); `once` and `spread` are its own.
"""
import contextlib
import json
import os
import subprocess
import threading


class Bulk:
    def __init__(self, place, build, once, spread, server, runs, quick):
        self.place, self.build, self.once, self.spread, self.server = place, build, once, spread, server
        self.runs, self.quick = runs, quick
        self.events = 4000 if quick else 20000
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(place)}

    def make(self, count, authors):
        path = self.place / f"events-{count}-{authors}.jsonl"
        if not path.exists():
            with open(path, "w") as out:
                subprocess.run([self.build / "bench/bench-events", str(count), str(authors)], stdout=out, check=True)
        return path

    @contextlib.contextmanager
    def repeated(self, path, times):
        """A pipe that gives the file so many times, so that a million events need no disk."""
        content = path.read_bytes()
        out, into = os.pipe()

        def feed():
            with contextlib.suppress(BrokenPipeError), os.fdopen(into, "wb", buffering=0) as pipe:
                for _ in range(times):
                    pipe.write(content)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        with os.fdopen(out, "rb") as pipe:
            yield pipe
        feeder.join()

    def jobs(self, *arguments, given=None):
        """Milliseconds and peak KiB."""
        return self.once(self.build / "bin/jobs", *arguments, env=self.environment, given=given)

    def measured(self, *command):
        return float(subprocess.run([self.build / "bench" / command[0], *command[1:]], capture_output=True,
                                    check=True).stdout)

    def verify(self):
        few, many = self.make(self.events, 250), self.make(self.events, 4000)
        rates = {name: [] for name in ("core", "few", "many", "two")}
        for _ in range(self.runs):
            rates["core"].append(self.measured("bench-core", "0.5"))
            for name, arguments in (("few", [few]), ("many", [many]), ("two", ["--threads", "2", few])):
                rates[name].append(self.events * 1000 / self.jobs("verify", *arguments)[0])
        core, text = self.spread([rate / 1000 for rate in rates["core"]])
        yield "CORE: digest, key, signature of 2 KB events", text + " k/s", "1", ""
        one, text = self.spread([rate / 1000 for rate in rates["few"]])
        yield "jobs verify, 250 authors", text + " k/s", f"{one / core:.2f} × CORE", ""
        other, text = self.spread([rate / 1000 for rate in rates["many"]])
        yield "jobs verify, 4000 authors", text + " k/s", f"{other / core:.2f} × CORE", ""
        two, text = self.spread([rate / 1000 for rate in rates["two"]])
        yield "jobs verify --threads 2", text + " k/s", f"{two / one:.2f} × one thread", ""

    def replay(self):
        few = self.make(self.events, 250)
        sample = self.make(2000, 250)
        times = 20 if self.quick else 100
        rates = {name: [] for name in ("pub", "replay", "verify", "both")}
        with self.server(self.build / "bench/bench-null-relay") as relay:
            for _ in range(self.runs):
                rates["pub"].append(self.measured("bench-pub", relay.port, sample, str(times)))
                with self.repeated(sample, times) as given:
                    rates["replay"].append(2000 * times * 1000 / self.jobs("replay", "--relay", relay.url, given=given)[0])
                rates["verify"].append(self.events * 1000 / self.jobs("verify", few)[0])
                rates["both"].append(
                    self.events * 1000 / self.jobs("replay", "--verify", "--relay", relay.url, few)[0])
        pub, text = self.spread([rate / 1000 for rate in rates["pub"]])
        yield "PUB: 2 KB events into NULL RELAY", text + " k/s", "1", ""
        rate, text = self.spread([rate / 1000 for rate in rates["replay"]])
        yield "jobs replay into NULL RELAY", text + " k/s", f"{rate / pub:.2f} × PUB", ""
        own = self.spread([rate / 1000 for rate in rates["verify"]])[0]
        rate, text = self.spread([rate / 1000 for rate in rates["both"]])
        yield "jobs replay --verify into NULL RELAY", text + " k/s", f"{rate / own:.2f} × jobs verify", ""

    def memory(self):
        thousand = self.make(1000, 250)
        times = 50 if self.quick else 1000
        with self.server(self.build / "bench/bench-null-relay") as relay:
            for name, arguments in (("verify", ["verify"]), ("replay", ["replay", "--relay", relay.url])):
                peaks = []
                for count in (1, times):
                    with self.repeated(thousand, count) as given:
                        peaks.append(self.jobs(*arguments, given=given)[1])
                yield (f"jobs {name}, {times * 1000:,} events beside 1,000", f"{peaks[1]} beside {peaks[0]} KiB",
                       f"{peaks[1] / peaks[0]:.2f} ×", f"{peaks[1]} KiB")

    def allocations(self):
        """What one event more costs: the difference between two runs, so that start-up is none of it."""
        files = {2000: self.make(2000, 250), 4000: self.make(4000, 250)}  # the ring of a replay is full by then
        with self.server(self.build / "bench/bench-null-relay") as relay:
            for name, arguments in (("verify", ["verify"]), ("replay", ["replay", "--relay", relay.url])):
                counted = {}
                for count, path in files.items():
                    told = self.place / "allocations"
                    environment = self.environment | {"LD_PRELOAD": str(self.build / "bench/bench-allocations.so"),
                                                      "BENCH_ALLOCATIONS": str(told)}
                    subprocess.run([self.build / "bin/jobs", *arguments, path], env=environment, check=True,
                                   capture_output=True)
                    counted[count] = json.loads(told.read_text())
                each = (counted[4000] - counted[2000]) / 2000
                yield f"jobs {name}: allocations an event", f"{each:.3f}", "", ""

    def rows(self):
        yield from self.verify()
        yield from self.replay()
        yield from self.memory()
        yield from self.allocations()
