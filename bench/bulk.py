"""Rows about very many events: verify and replay beside CORE and PUB, alternating; their memory; their allocations."""
import contextlib
import json
import os
import subprocess
import threading

from measure import beside, port, spread


@contextlib.contextmanager
def repeated(path, times):
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


def row(rates, what, name, **others):
    """Rates of one thing, and how many times those of others they are."""
    ratios = (f"{beside(rates[name], rates[other]):.2f} × {called}" for other, called in others.items())
    return what, spread(rates[name])[1] + " k/s", ", ".join(ratios) or "1", ""


def verify(bench):
    count = 4000 if bench.quick else 20000
    few, many = bench.events(count, 250), bench.events(count, 4000)
    rates = {name: [] for name in ("cores", "core", "one", "two", "both", "many")}
    for _ in range(bench.bulk):
        cores = [subprocess.Popen([bench.program("core"), "0.5"], stdout=subprocess.PIPE) for _ in range(2)]
        rates["cores"].append(sum(float(core.communicate()[0]) for core in cores) / 1000)
        rates["core"].append(bench.number("core", "0.5") / 1000)
        for name, times, arguments in (("one", 1, [few]), ("two", 1, ["--threads", "2", few]), ("both", 2, [few]),
                                       ("many", 1, [many])):
            costs = bench.at_once(times, bench.jobs, "verify", *arguments)
            rates[name].append(sum(count / milliseconds for milliseconds, _ in costs))
    yield row(rates, "CORE: digest, key, signature of 2 KB events", "core")
    yield row(rates, "CORE, two at once: what the machine has", "cores", core="CORE")
    yield row(rates, "jobs verify, 250 authors", "one", core="CORE")
    yield row(rates, "jobs verify, 4000 authors", "many", core="CORE")
    yield row(rates, "jobs verify, two processes: what two threads can reach", "both", one="one")
    yield row(rates, "jobs verify --threads 2", "two", one="one thread", both="two processes")


def replay(bench):
    count, times = (4000, 20) if bench.quick else (20000, 100)
    few, sample = bench.events(count, 250), bench.events(2000, 250)
    rates = {name: [] for name in ("pub", "replay", "verify", "both")}
    with bench.null_relay() as url:
        for _ in range(bench.bulk):
            rates["pub"].append(bench.number("pub", port(url), sample, times) / 1000)
            with repeated(sample, times) as given:
                rates["replay"].append(2000 * times / bench.once(bench.jobs, "replay", "--relay", url, given=given)[0])
            rates["verify"].append(count / bench.once(bench.jobs, "verify", few)[0])
            rates["both"].append(count / bench.once(bench.jobs, "replay", "--verify", "--relay", url, few)[0])
    yield row(rates, "PUB: 2 KB events into NULL RELAY", "pub")
    yield row(rates, "jobs replay into NULL RELAY", "replay", pub="PUB")
    yield row(rates, "jobs replay --verify into NULL RELAY", "both", verify="jobs verify")


def memory(bench):
    thousand = bench.events(1000, 250)
    times = 50 if bench.quick else 1000
    with bench.null_relay() as url:
        for name, arguments in (("verify", ["verify"]), ("replay", ["replay", "--relay", url])):
            peaks = []
            for count in (1, times):
                with repeated(thousand, count) as given:
                    peaks.append(bench.once(bench.jobs, *arguments, given=given)[1])
            yield (f"jobs {name}, {times * 1000:,} events beside 1,000", f"{peaks[1]} beside {peaks[0]} KiB",
                   f"{peaks[1] / peaks[0]:.2f} ×", f"{peaks[1]} KiB")


def allocations(bench):
    """What one event more costs: the difference between two runs, so that start-up is none of it."""
    files = {2000: bench.events(2000, 250), 4000: bench.events(4000, 250)}  # the ring of a replay is full by then
    told = bench.place / "allocations"
    environment = bench.environment | {"LD_PRELOAD": str(bench.program("allocations.so")), "BENCH_ALLOCATIONS": str(told)}
    with bench.null_relay() as url:
        for name, arguments in (("verify", ["verify"]), ("replay", ["replay", "--relay", url])):
            counted = {}
            for count, path in files.items():
                subprocess.run([bench.jobs, *arguments, path], env=environment, check=True, capture_output=True)
                counted[count] = json.loads(told.read_text())
            yield f"jobs {name}: allocations an event", f"{(counted[4000] - counted[2000]) / 2000:.3f}", "", ""


def rows(bench):
    yield from verify(bench)
    yield from replay(bench)
    yield from memory(bench)
    yield from allocations(bench)
