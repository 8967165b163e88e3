"""Rows: one handoff over ws://, with and without reading back, beside BARE and beside other libraries, on one relay.

Every command here is a process that starts, publishes one event of 2 KB, waits for its OK and ends. All alternate. What
the peers need is installed into build/bench-peers, versions pinned; one that cannot be is a row that says why.
"""
import pathlib
import shutil
import subprocess
import sys

from measure import port, spread

HERE = pathlib.Path(__file__).resolve().parent
PEERS = HERE.parent / "build/bench-peers"


def install(name, pins, *commands):
    """Makes build/bench-peers/NAME from the pins, unless they are those of last time. What went wrong, or None."""
    place, done = PEERS / name, PEERS / name / "installed"
    wanted = "".join((HERE / pin).read_text() for pin in pins)
    if done.exists() and done.read_text() == wanted:
        return None
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for pin in pins:
        shutil.copy(HERE / pin, place)
    print(f"bench: installing {name} into {place}", file=sys.stderr)
    with open(PEERS / f"{name}.log", "w") as log:
        for command in commands:
            if shutil.which(command[0]) is None and not (place / command[0]).exists():
                return f"there is no {command[0]}"
            if subprocess.run(command, cwd=place, stdout=log, stderr=log, stdin=subprocess.DEVNULL).returncode:
                return f"`{' '.join(command)}` failed: build/bench-peers/{name}.log"
    done.write_text(wanted)
    return None


def peers():
    """Name, command, and what it lacks."""
    yield ("nostr-tools (Node)", [shutil.which("node"), PEERS / "nostr-tools/peer_tools.mjs"],
           install("nostr-tools", ["package.json", "package-lock.json", "peer_tools.mjs"], ["npm", "ci", "--ignore-scripts"]))
    yield ("nostr-sdk (Python)", [PEERS / "nostr-sdk/venv/bin/python", PEERS / "nostr-sdk/peer_sdk.py"],
           install("nostr-sdk", ["requirements.txt", "peer_sdk.py"], ["python3", "-m", "venv", "venv"],
                   ["venv/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r",
                    "requirements.txt"]))


def rows(bench):
    events = bench.events(2 * bench.one_shot, 1)
    others = list(peers())
    commands = {"bare": lambda url, turn: bench.once(bench.program("bare"), port(url), events, str(turn)),
                "handoff": lambda url, turn: bench.handoff(url),
                "handoff, not read back": lambda url, turn: bench.handoff(url, "--no-read-back")}
    for name, command, lacks in others:
        if lacks is None:
            commands[name] = lambda url, turn, command=command: bench.once(*command, url)
    runs = {name: [] for name in commands}
    with bench.relay() as url:
        for turn in range(bench.one_shot):
            for name, run in commands.items():
                runs[name].append(run(url, turn))

    medians = {name: spread([ms for ms, _ in cost]) for name, cost in runs.items()}
    peaks = {name: f"{max(kib for _, kib in cost)} KiB" for name, cost in runs.items()}
    bare, ours = medians["bare"][0], medians["handoff, not read back"][0]
    yield "BARE: one libwebsockets exchange", medians["bare"][1] + " ms", "1", peaks["bare"]
    for name in ("handoff", "handoff, not read back"):
        yield f"jobs {name}", medians[name][1] + " ms", f"{medians[name][0] / bare:.2f} × BARE", peaks[name]
    for name, _, lacks in others:
        if lacks is not None:
            yield f"{name}: the same exchange", f"not measured: {lacks}", "", ""
            continue
        yield (f"{name}: the same exchange", medians[name][1] + " ms",
               f"jobs, not read back, takes 1/{medians[name][0] / ours:.0f}", peaks[name])
