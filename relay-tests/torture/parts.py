"""The parts of the torture: each a function of a tally and of how much of it is wanted."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import threading
import time

import scene

WRITES = ("nospc", "nospc+", "rofs+", "io", "io+", "nofile", "interrupted", "short")
HARMLESS = ("interrupted", "short")  # no faults at all: nothing may be seen of them


def pending_entry(stage, job):
    """An entry that waits, and of which no byte has left: killed when it was about to connect."""
    stage.handoff(job, "--no-read-back", torture="kill:1:connect")
    stage.tally.kills -= 1  # a preparation
    assert len(stage.entries(job)) == 1, "the handoff was not stored before it connected"


def walk(stage, kind, prepare, run, check, step=1, first=1):
    """Carries the order out at each call in turn, until a run ends before it."""
    number = first
    while True:
        job = stage.job()
        prepare(job)
        ran = run(job, f"{kind}:{number}")
        check(ran, job, f"{kind}:{number}")
        if not ran.fired:
            return number
        number += step
        if number > 5000:
            raise AssertionError(f"{kind} goes on for ever")


# --- random relays ---

def model(tally, count):
    """Conversations with relays that do anything, in any order, without a socket: every invariant after every step. Each
    has a seed of its own; a broken one is printed with it."""
    first = tally.seed % 1_000_000 * 1_000_000 + 1
    done = subprocess.run([os.path.join(scene.BUILD, "tests", "sdk-session_model")], capture_output=True, text=True,
                          env={**os.environ, "JOBS_MODEL_RUNS": str(count), "JOBS_MODEL_SEED": str(first)})
    with open(os.path.join(scene.HERE, "..", "..", "sdk", "tests", "session_model.h"), encoding="utf-8") as file:
        invariants = sorted(set(re.findall(r'model_broke\(\w+, "([^"]+)"\)', file.read())))
    print("  never: " + "; ".join(invariants), flush=True)
    said = done.stdout + done.stderr
    print("".join(f"  {line}\n" for line in said.splitlines() if re.match(r"\d+ conversations|  \w", line)), end="", flush=True)
    for line in said.splitlines():
        if line.startswith("JOBS_MODEL_SEED="):
            tally.found("misreported", line)
    if done.returncode and tally.clean():
        tally.found("misreported", said)
    tally.runs = count
    tally.note = f"{len(invariants)} invariants; seeds {first} to {first + count - 1}"


# --- kill -9 ---

def kills(tally, foreign, ours, most):
    """Walks handoff and flush call by call; then at random times, several times in a row."""
    with scene.Scene(tally, [foreign]) as stage:
        def killed_handoff(job, order):
            return stage.handoff(job, torture=order)

        def killed_flush(job, order):
            return stage.flush(torture=order)

        def go_on(ran, job, order):
            stage.judge(ran, job, order)
            stage.settle(job, tally.random.choice(("handoff", "flush")), order)
            if len(stage.entries()) > 60:
                stage.fresh_state()

        step = 1 if most > 300 else 2
        calls = walk(stage, "kill", lambda job: None, killed_handoff, go_on, step)
        stage.fresh_state()
        flushed = walk(stage, "kill", lambda job: pending_entry(stage, job), killed_flush, go_on, step)
        tally.note = f"{calls} calls of handoff, {flushed} of flush"
        usual = sum(stage.handoff(stage.job()).seconds for _ in range(5)) / 5
        for urls in ([foreign], [foreign, ours]):
            stage.urls = urls
            stage.fresh_state()
            target = tally.kills + max(40, (most - tally.kills) // (3 - len(urls)))
            while tally.kills < target:
                job = stage.job()
                for _ in range(tally.random.randint(1, 4)):
                    delay = tally.random.uniform(0.001, usual * 1.1)
                    again = tally.random.random()
                    if again < 0.5:
                        ran = stage.handoff(job, kill_after=delay)
                    elif again < 0.75:
                        ran = stage.handoff(job, torture=f"kill:{tally.random.randint(1, calls)}")
                    else:
                        ran = stage.flush(kill_after=delay)
                    stage.judge(ran, job, f"after {delay:.4f} s")
                stage.settle(job, tally.random.choice(("handoff", "flush")))
                if tally.random.random() < 0.02:
                    stage.fresh_state()


def replacements(tally, url, step):
    """--supersede is killed call by call; the same again, and there are two: what was there, and what replaces it."""
    with scene.Scene(tally, [url]) as stage:
        def replace(job, order=None):
            return stage.handoff(job, "--supersede", outcome="Better.", torture=order)

        def check(ran, job, order):
            again = replace(job)
            ids, entries = stage.held(job)[url], stage.entries(job)
            what = f"--supersede {order}: {ran}, then {again}; the relay holds {sorted(ids)}, the outbox {sorted(entries)}"
            if again.exit != 0 or again.lines[-1]["event_id"] not in ids:
                tally.found("lost", what)
            elif len(ids) != 2 or set(entries) != ids:
                tally.found("doubled", what)

        walk(stage, "kill", stage.handoff, replace, check, step)


# --- several entries in one flush ---

SEVERAL = 5


def several(tally, url, step):
    """A flush of some entries, which go together, is killed and let down call by call; then another one ends it."""
    for kind in ("kill", *WRITES, "reset"):
        with scene.Scene(tally, [url]) as stage:
            jobs = []

            def prepare(_):
                stage.fresh_state()
                jobs[:] = [stage.job() for _ in range(SEVERAL)]
                for job in jobs:
                    pending_entry(stage, job)

            def check(ran, _, order):
                named = [line for line in ran.lines if line["event_id"]]  # a folder that cannot be read has no name
                told = {line["event_id"]: line["relays"][0]["verdict"] if line["relays"] else "" for line in named}
                if len(told) != len(named):
                    tally.found("misreported", f"{order}: an entry was told twice: {ran}")
                if ran.exit == 0 and len(told) != SEVERAL or kind in HARMLESS and ran.exit != 0:
                    tally.found("misreported", f"{order}: {ran}")
                again = stage.flush()
                if again.exit != 0 or stage.damaged() or os.listdir(os.path.join(stage.state, "outbox", "pending")):
                    tally.found("misreported", f"{order}: {ran}, then {again}; damaged: {stage.damaged()}")
                for job in jobs:
                    [(id, (_, relays))] = stage.entries(job).items()
                    held = stage.held(job)[url]
                    what = f"{order}: {ran}, then {again}; the relay holds {sorted(held)}, the outbox {id} {relays}"
                    if held != {id}:
                        tally.found("doubled" if len(held) > 1 else "lost", what)
                    if set(relays.values()) - {"confirmed", "accepted"}:
                        tally.found("misreported", what)
                    if told.get(id) == "rejected":
                        tally.found("misreported", what)

            last = walk(stage, kind, prepare, lambda _, order: stage.flush(torture=order), check, step)
            tally.note = tally.note or f"{SEVERAL} entries, {last} calls"


# --- calls that fail ---

def check_handoff(stage, ran, job, order):
    stage.judge(ran, job, order)
    if order.split(":")[0] in HARMLESS and ran.exit != 0:
        stage.tally.found("misreported", f"{order} is no fault: {ran}")
    stage.settle(job, where=order)


def faults(tally, url, step, binaries=None):
    with scene.Scene(tally, [url], binaries) as stage:
        keys_fail(stage, "nolinks", 1)
    for command in (handoffs_fail, flushes_fail, prunes_fail, drops_fail, keys_fail):
        for kind in (*WRITES, "reset"):
            with scene.Scene(tally, [url], binaries) as stage:
                command(stage, kind, step)


def handoffs_fail(stage, kind, step):
    walk(stage, kind, lambda job: stage.fresh_state(), lambda job, order: stage.handoff(job, torture=order),
         lambda ran, job, order: check_handoff(stage, ran, job, order), step)


def flushes_fail(stage, kind, step):
    def prepare(job):
        stage.fresh_state()
        pending_entry(stage, job)

    def check(ran, job, order):
        stage.judge(ran, job, order)
        if kind in HARMLESS and ran.exit != 0:
            stage.tally.found("misreported", f"{order} is no fault: {ran}")
        if ran.exit == 0 and not all(stage.held(job).values()):
            stage.tally.found("misreported", f"flush said nothing is left: {ran}")
        stage.settle(job, "flush", order)

    walk(stage, kind, prepare, lambda job, order: stage.flush(torture=order), check, step)


def prunes_fail(stage, kind, step):
    if kind == "reset":
        return
    sent = {}

    def prepare(job):
        stage.fresh_state()
        sent[job] = stage.handoff(job).lines[-1]["event_id"]

    def check(ran, job, order):
        entries = stage.entries(job)
        if list(entries) != [sent[job]] or stage.damaged():
            stage.tally.found("lost", f"prune {order}: {entries} {ran}")
        elif ran.exit == 0 and entries[sent[job]][0] is not None:
            stage.tally.found("misreported", f"prune {order} left the bytes: {ran}")
        elif ran.exit not in (0, 4) or kind in HARMLESS and ran.exit != 0:
            stage.tally.found("misreported", f"prune {order}: {ran}")
        again = stage.handoff(job)
        if again.exit != 0 or again.lines[-1]["event_id"] != sent[job] or again.lines[-1]["relays"][0]["attempts"] != 0:
            stage.tally.found("doubled", f"after prune {order}: {again}")

    walk(stage, kind, prepare, lambda job, order: stage.run("outbox", "prune", "--days", "0", torture=order), check, step)


def drops_fail(stage, kind, step):
    if kind == "reset":
        return
    sent = {}

    def prepare(job):
        stage.fresh_state()
        sent[job] = stage.handoff(job).lines[-1]["event_id"]

    def check(ran, job, order):
        entries = stage.entries(job)
        if ran.exit == 0 and entries or ran.exit not in (0, 4) or kind in HARMLESS and ran.exit != 0:
            stage.tally.found("misreported", f"drop {order}: {entries} {ran}")
        again = stage.settle(job, where=f"after drop {order}")
        if again.lines[-1:] and again.lines[-1]["event_id"] != sent[job]:
            stage.tally.found("doubled", f"after drop {order}: {again}")

    walk(stage, kind, prepare, lambda job, order: stage.run("outbox", "drop", sent[job], torture=order), check, step)


def check_key(stage, ran, path, order, killed=False):
    mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else None
    if ran.exit == 0:
        shown = stage.run("keys", "show", "--key-file", path)
        if mode != 0o600 or shown.exit != 0 or not ran.lines or shown.lines[-1]["public_key"] != ran.lines[-1]["public_key"]:
            stage.tally.found("lost", f"keys new {order}: mode {mode}, {ran} {shown}")
        return
    if order.split(":")[0] in (*HARMLESS, "nolinks"):
        stage.tally.found("misreported", f"{order} is no fault: {ran}")
    if mode is None:
        if not killed and os.path.basename(path) in "".join(os.listdir(stage.folder)):
            stage.tally.found("misreported", f"keys new {order} left {os.listdir(stage.folder)}")
        ran = stage.run("keys", "new", path)
        if ran.exit != 0:
            stage.tally.found("misreported", f"keys new after {order}: {ran}")
    elif stage.run("keys", "show", "--key-file", path).exit != 0 or not killed:
        stage.tally.found("misreported", f"keys new {order}: something stands in the way of the next try: {ran}")


def keys_fail(stage, kind, step):
    """The key is there whole, or nothing is, so that the same command works once the fault is gone."""
    if kind in ("reset", "io+"):  # where removing fails too, a file stays
        return
    path = os.path.join(stage.folder, "new-key")

    def prepare(_):
        for name in glob.glob(path + "*"):
            os.unlink(name)

    walk(stage, kind, prepare, lambda _, order: stage.run("keys", "new", path, torture=order),
         lambda ran, _, order: check_key(stage, ran, path, order), step)


def keys_killed(tally):
    with scene.Scene(tally, []) as stage:
        path = os.path.join(stage.folder, "new-key")

        def prepare(_):
            for name in glob.glob(path + "*"):
                os.unlink(name)

        walk(stage, "kill", prepare, lambda _, order: stage.run("keys", "new", path, torture=order),
             lambda ran, _, order: check_key(stage, ran, path, order, True))


# --- where it cannot write ---

def places(tally, url):
    """A receipt that cannot be printed, a state folder that cannot be written."""
    with scene.Scene(tally, [url]) as stage:
        for name, redirect in (("closed", ">&-"), ("full", ">/dev/full")):
            job = stage.job()
            words = stage.command(*stage.handoff_words(), "--job", job)
            process = subprocess.run(["sh", "-c", f'exec "$@" {redirect}', "sh", *words], input=stage.manifest(job), text=True,
                                     capture_output=True, env=stage.environment(), timeout=scene.WAIT)
            ran = scene.Ran(f"handoff, stdout {name}", process.returncode, "", process.stderr, False, 0)
            tally.runs, tally.faults = tally.runs + 1, tally.faults + 1
            ids, _ = stage.judge(ran, job, name)
            if ran.exit != 4 or ran.error.get("event_id") not in ids:
                tally.found("misreported", f"stdout {name}: {ran}, the relay holds {ids}")
            stage.settle(job, where=name)

        job = stage.job()
        stage.fresh_state()
        with open(stage.state, "w"):
            pass
        ran = stage.handoff(job)
        os.unlink(stage.state)
        if ran.exit != 4 or any(stage.held(job).values()):
            tally.found("misreported", f"the state folder is a file: {ran}")

        if os.geteuid() != 0:
            os.mkdir(stage.state, 0o500)
            unwritable(stage)
            os.chmod(stage.state, 0o700)
            print("  skipped: the full disk and the read-only one, which take root to mount", flush=True)
            return
        os.mkdir(stage.state, 0o700)
        for name, options in (("read only", "ro,size=1m"), ("full", "size=64k,nr_inodes=4")):
            if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", stage.state], capture_output=True).returncode:
                print(f"  skipped: the {name} disk, which cannot be mounted here", flush=True)
                continue
            try:
                unwritable(stage, name)
            finally:
                subprocess.run(["umount", stage.state], check=True)


def unwritable(stage, name="read only"):
    job = stage.job()
    ran = stage.handoff(job)
    stage.tally.faults += 1
    if ran.exit != 4 or not ran.error.get("message") or ran.error.get("stored") or any(stage.held(job).values()):
        stage.tally.found("misreported", f"the disk is {name}: {ran}, the relay holds {stage.held(job)}")


# --- the relay dies ---

def revive(relay):
    """Starts a relay that died on its port and folder."""
    if relay.process is None or relay.process.poll() is not None:
        if relay.process is not None:
            relay.process.stdout.close()
            relay.process = None
        relay.start("--port", str(relay.port))


def crashes(tally, start_relay):
    """jobs-relay is killed at each of its calls in turn, in the middle of a conversation, and started again."""
    number, most = 1, 0
    while True:
        with start_relay() as relay, scene.Scene(tally, [relay.url]) as stage:
            port = relay.port
            relay.stop(signal.SIGKILL)
            fired = os.path.join(stage.folder, "relay-fired")
            os.environ.update(LD_PRELOAD=scene.LIBRARY, TORTURE=f"kill:{number}", TORTURE_FIRED=fired)
            try:
                relay.start("--port", str(port))
            except RuntimeError:  # it died before it listened
                relay.process = None
            finally:
                for name in ("LD_PRELOAD", "TORTURE", "TORTURE_FIRED"):
                    del os.environ[name]
            job = stage.job()
            process = stage.start(*stage.handoff_words(), "--job", job, given=stage.manifest(job))
            ran = []
            thread = threading.Thread(target=lambda: ran.append(stage.end(process)))
            thread.start()
            while thread.is_alive():
                thread.join(0.01)
                revive(relay)
            relay.stop(signal.SIGKILL)
            revive(relay)  # one without an order
            tally.kills += os.path.exists(fired)
            stage.judge(ran[0], job, f"the relay died at its call {number}")
            stage.settle(job, where=f"the relay died at its call {number}")
            on_disk = {event["id"] for event in relay.stored() if event["kind"] == 43004}
            if len(on_disk) != 1:
                tally.found("lost", f"on the relay's disk: {on_disk}, it died at call {number}: {ran[0]}")
            most = number
            if not os.path.exists(fired):
                break
        number += 1
    tally.note = f"up to its call {most}"


# --- many at once ---

def crowds(tally, url, sizes):
    for size in sizes:
        with scene.Scene(tally, [url]) as stage:
            same, jobs, fought = stage.job(), [stage.job() for _ in range(size)], stage.job()
            stop = threading.Event()
            flushes = []

            def cron():
                while not stop.is_set():
                    flushes.append(stage.run("outbox", "flush", "--timeout", "20"))
            thread = threading.Thread(target=cron)
            thread.start()
            started = [(job, outcome, stage.start(*stage.handoff_words(), "--job", job, given=stage.manifest(job, outcome)))
                       for i in range(size)
                       for job, outcome in ((same, "One."), (jobs[i], "Each."), (fought, f"Mine is number {i}."))]
            ends = []
            readers = [threading.Thread(target=lambda j, o, p: ends.append((j, o, stage.end(p))), args=one) for one in started]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join()
            stop.set()
            thread.join()

            if any(ran.exit not in (0, 4) for ran in flushes):
                tally.found("misreported", f"a flush beside them: {[str(ran) for ran in flushes if ran.exit not in (0, 4)][:2]}")
            for job, outcome, ran in ends:
                if job == fought:
                    if ran.exit not in (0, 5):
                        tally.found("misreported", f"{size} at once, {outcome}: {ran}")
                elif ran.exit != 0:
                    tally.found("misreported", f"{size} at once: {ran}")
            winners = [ran for job, _, ran in ends if job == fought and ran.exit == 0]
            if len(winners) != 1:
                tally.found("doubled", f"{size} conflicting ones, {len(winners)} were accepted")
            for job in {job for job, _, _ in ends}:
                count = len(stage.held(job)[url])
                if count != 1:
                    tally.found("doubled" if count else "lost", f"{size} at once: {count} events for {job}")

    with scene.Scene(tally, [url]) as stage:  # a holder of the lock that dies holds up nobody
        job = stage.job()
        held = stage.start(*stage.handoff_words(), "--job", job, given=stage.manifest(job), torture="kill:1:connect")
        stage.end(held)
        begin = time.monotonic()
        stage.settle(job, where="the holder of the lock was killed")
        if time.monotonic() - begin > 5:
            tally.found("misreported", f"a dead holder held up the next for {time.monotonic() - begin:.1f} s")


# --- the order of system calls ---

def trace(tally, url):
    """By strace: no byte of the event leaves before file and folder are synced."""
    if shutil.which("strace") is None or \
            subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode:
        print("  skipped: the trace, since strace is not here or may not trace", flush=True)
        tally.note = "skipped: no strace"
        return
    import tracing
    with scene.Scene(tally, [url]) as stage:
        for _ in range(2):
            tracing.handoff(stage)
    tally.note = "file, rename, folder, then the event"


# --- ten thousand ---

def fill(stage, jobs):
    """An entry that waits for each job."""
    queue = list(jobs)

    def some():
        while queue:
            with contextlib.suppress(IndexError):
                stage.handoff(queue.pop(), "--no-read-back", torture="kill:1:connect")
    fillers = [threading.Thread(target=some) for _ in range(2)]
    for filler in fillers:
        filler.start()
    for filler in fillers:
        filler.join()
    stage.tally.kills -= len(jobs)  # a preparation


def compare(stage, beside, rounds=41):
    """The median of a handoff beside others and beside none, in ms, taken in turns: both see the same machine."""
    times = [], []
    for _ in range(rounds):
        for state, column in ((stage.folder + "/none", times[0]), (beside, times[1])):
            stage.state = state
            column.append(stage.handoff(stage.job()).seconds * 1000)
    stage.state = beside
    return [sorted(column)[rounds // 2] for column in times]


def memory_of(process):
    """KiB, as often as it can be seen until the process ends; not while it is still a copy of this one."""
    seen = []
    while process.poll() is None:
        with contextlib.suppress(OSError, StopIteration), open(f"/proc/{process.pid}/status") as file:
            lines = file.read().splitlines()
            if lines[0].split()[1] == "jobs":
                seen.append(int(next(line for line in lines if line.startswith("VmRSS")).split()[1]))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
    return seen or [0]


def many(tally, url, count):
    """An outbox with many entries: what a handoff then costs, and a flush of all of them."""
    with scene.Scene(tally, [url]) as stage:
        jobs = [stage.job() for _ in range(count)]
        fill(stage, jobs)
        empty, full = compare(stage, stage.state)
        begin = time.monotonic()
        with open(os.path.join(stage.folder, "receipts"), "w+") as receipts:
            process = stage.start("outbox", "flush", "--timeout", "20", stdout=receipts)
            memory = memory_of(process)
            seconds = time.monotonic() - begin
            _, err = process.communicate()
            receipts.seek(0)
            lines = [json.loads(line) for line in receipts]
        tally.runs += 1
        if process.returncode != 0 or sum(line["accepted"] for line in lines) != count:
            tally.found("lost", f"flush of {count}: exit {process.returncode}, {len(lines)} lines, {err[-300:]}")
        for job in jobs[::max(1, count // 200)]:
            if len(stage.held(job)[url]) != 1:
                tally.found("lost", f"after the flush of {count}: {stage.held(job)}")
        tally.note = f"handoff {full:.1f} ms beside {count}, {empty:.1f} ms beside none ({full / empty:.2f}); flush " \
                     f"{count / seconds:.0f} a second; {memory[len(memory) // 10]} KiB early, {memory[-1]} KiB late"
