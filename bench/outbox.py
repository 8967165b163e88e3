"""Rows: what a handoff costs beside an outbox that is full, and how fast a flush empties one."""
import shutil
import subprocess

from measure import port, spread

ELSEWHERE = "ws://127.0.0.1:9"  # the discard port: nobody listens


def fill(bench, state, count, url):
    """So many entries that wait for that relay."""
    shutil.rmtree(state, ignore_errors=True)
    with open(bench.events(count, 1)) as events:
        subprocess.run([bench.program("outbox"), state, url], stdin=events, check=True)


def handoff(bench):
    count = 1000 if bench.quick else 10000
    states = {"empty": bench.place / "outbox-empty", "full": bench.place / "outbox-full"}
    runs = {name: [] for name in states}
    fill(bench, states["full"], count, ELSEWHERE)
    with bench.relay() as url:
        for _ in range(bench.one_shot):
            for name, state in states.items():
                if name == "empty":
                    shutil.rmtree(state, ignore_errors=True)
                runs[name].append(bench.handoff(url, JOBS_STATE_DIR=str(state)))
    empty = spread([ms for ms, _ in runs["empty"]])[0]
    full, text = spread([ms for ms, _ in runs["full"]])
    yield (f"jobs handoff, {count:,} entries in the outbox", text + " ms", f"{full / empty:.2f} × empty",
           f"{max(kib for _, kib in runs['full'])} KiB")


def flush(bench):
    count = 200 if bench.quick else 2000
    state = bench.place / "outbox-flush"
    rates = {"pub": [], "flush": []}
    for _ in range(3):
        for name in rates:
            shutil.rmtree(bench.place / "relay", ignore_errors=True)
            with bench.relay() as url:
                if name == "pub":
                    rates[name].append(bench.number("pub", port(url), bench.events(count, 1), 1) / 1000)
                else:
                    fill(bench, state, count, url)
                    took, _ = bench.once(bench.jobs, "outbox", "flush", "--key-file", bench.key, JOBS_STATE_DIR=str(state))
                    rates[name].append(count / took)
    pub, text = spread(rates["pub"])
    yield f"PUB: {count:,} events into jobs-relay", text + " k/s", "1", ""
    rate, text = spread(rates["flush"])
    yield f"jobs outbox flush, {count:,} entries into jobs-relay", text + " k/s", f"{rate / pub:.2f} × PUB", ""


def rows(bench):
    yield from handoff(bench)
    yield from flush(bench)
