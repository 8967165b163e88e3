"""A stage on which `jobs` is killed and let down: relays, a key, a state folder; runs of the command with an order for
torture.c; and what is true afterwards, by the relays' own word and the files on the disk, beside what the runs said."""
import glob
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import nostr  # noqa: E402

BUILD = os.path.abspath(os.environ.get("JOBS_BINARY_DIR") or os.path.join(HERE, "..", "..", "build"))
LIBRARY = os.path.join(BUILD, "tests", "torture.so")
CHANNEL = "4f1b7a52-9d0e-4c86-b3a7-2f6c8d1e9a40"
WAIT = 90  # s: no run may take longer, whatever befalls it


class Tally:
    """What one part did, and what it found."""

    def __init__(self, name, seed):
        self.name, self.seed = name, seed
        self.random = random.Random(f"{seed}-{name}")
        self.runs = self.kills = self.faults = 0
        self.lost, self.doubled, self.misreported = [], [], []
        self.note = ""
        self.begin = time.monotonic()

    def found(self, kind, what):
        getattr(self, kind).append(what)
        print(f"  {kind.upper()} {self.name}: {what}", file=sys.stderr, flush=True)

    def clean(self):
        return not (self.lost or self.doubled or self.misreported)


class Ran:
    """One run: its exit status (negative: the signal), what it said, and whether the order was carried out."""

    def __init__(self, words, exit, out, err, fired, seconds):
        self.words, self.exit, self.out, self.err, self.fired, self.seconds = words, exit, out, err, fired, seconds
        self.lines = [json.loads(line) for line in out.splitlines() if line.startswith("{") and line.endswith("}")]
        last = err.strip().splitlines()[-1:]
        self.error = json.loads(last[0]) if last and last[0].startswith("{") and last[0].endswith("}") else {}

    def __str__(self):
        return f"[{self.words}] exit {self.exit}: {self.out.strip()[:300]} {self.err.strip()[:500]}"


class Scene:
    def __init__(self, tally, urls, binaries=None):
        self.tally, self.urls = tally, urls
        self.bin = binaries or os.path.join(BUILD, "bin")
        self.folder = tempfile.mkdtemp(prefix="jobs-torture-")
        self.key = nostr.Key(self.bytes(32))
        self.state = os.path.join(self.folder, "state")
        self.number = itertools.count()
        self.options = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def bytes(self, count):
        return self.tally.random.randbytes(count)

    def job(self):
        return self.bytes(32).hex()

    def fresh_state(self):
        shutil.rmtree(self.state, ignore_errors=True)

    # --- running ---

    def environment(self, torture=None, fired=""):
        clean = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        clean.update(HOME=self.folder, LC_ALL="C.UTF-8", BUZZ_PRIVATE_KEY=self.key.hex(),
                     ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:abort_on_error=0", UBSAN_OPTIONS="halt_on_error=1")
        if torture:
            clean.update(LD_PRELOAD=LIBRARY, TORTURE=torture, TORTURE_FIRED=fired)
        return clean

    def command(self, *words):
        if words[0] in ("handoff", "outbox"):
            words += ("--state-dir", self.state, *self.options)
        return [os.path.join(self.bin, "jobs"), *words]

    def start(self, *words, torture=None, given=None, **more):
        fired = os.path.join(self.folder, f"fired-{next(self.number)}")
        process = subprocess.Popen(self.command(*words), stdin=subprocess.PIPE, stdout=more.get("stdout", subprocess.PIPE),
                                   stderr=subprocess.PIPE, env=self.environment(torture, fired), text=True)
        process.fired = fired
        process.words = f"{' '.join(words[:2])}{' under ' + torture if torture else ''}"
        process.began = time.monotonic()
        process.given = given
        return process

    def end(self, process, kill_after=None):
        self.tally.runs += 1
        try:
            out, err = process.communicate(process.given, timeout=kill_after or WAIT)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
            if kill_after is None:
                self.tally.found("misreported", f"[{process.words}] did not end within {WAIT} s")
        fired = os.path.exists(process.fired)
        if fired:
            os.unlink(process.fired)
        if process.returncode == -signal.SIGKILL:
            self.tally.kills += 1
        elif fired:
            self.tally.faults += 1
        if "Sanitizer" in err or "runtime error" in err or process.returncode < 0 and process.returncode != -signal.SIGKILL:
            self.tally.found("misreported", f"[{process.words}] died: {process.returncode} {err[-1500:]}")
        return Ran(process.words, process.returncode, out or "", err, fired, time.monotonic() - process.began)

    def run(self, *words, torture=None, given=None, kill_after=None, **more):
        return self.end(self.start(*words, torture=torture, given=given, **more), kill_after)

    def manifest(self, job, outcome="Replaced the build cache."):
        return json.dumps({"schemaVersion": 1, "jobRequest": job, "requestedOutcome": "Make the build faster.",
                           "outcome": outcome, "disposition": "no_artifact"})

    def handoff_words(self, *options, urls=None):
        where = [word for url in urls or self.urls for word in ("--relay", url)]
        return ("handoff", "--channel", CHANNEL, "--manifest", "-", "--timeout", "20", *where, *options)

    def handoff(self, job, *options, outcome="Replaced the build cache.", urls=None, **more):
        return self.run(*self.handoff_words(*options, urls=urls), "--job", job, given=self.manifest(job, outcome), **more)

    def flush(self, **more):
        return self.run("outbox", "flush", "--timeout", "20", **more)

    # --- what is true ---

    def entries(self, job=None):
        """{event id: (event, {relay: state})} of what lies in the outbox."""
        found = {}
        for path in glob.glob(os.path.join(self.state, "outbox", "*", "*.json")):
            with open(path, encoding="utf-8") as file:
                entry = json.load(file)
            if job is None or entry["job"] == job:
                found[entry["event_id"]] = (entry["event"], {one["url"]: one["state"] for one in entry["relays"]})
        return found

    def damaged(self):
        return glob.glob(os.path.join(self.state, "outbox", "*", "*.damaged"))

    def held(self, job):
        """{relay: ids of our handoffs for the job}, asked of each relay by a client that is not ours."""
        held = {}
        for url in self.urls:
            with nostr.Client(url) as client:
                found = client.ask({"kinds": [43004], "authors": [self.key.public], "#e": [job]})
            held[url] = {event["id"] for event in found}
        return held

    # --- the promise ---

    def judge(self, ran, job, where=""):
        """Whatever became of the run: what it left and what it said must be so."""
        held, entries = self.held(job), self.entries(job)
        ids = set().union(*held.values())
        what = f"job {job[:8]} seed {self.tally.seed} {where} {ran}; the relays hold {[sorted(v) for v in held.values()]}, " \
               f"the outbox {sorted(entries)}"
        if len(ids) > 1 or len(entries) > 1:
            self.tally.found("doubled", what)
        if self.damaged():
            self.tally.found("misreported", f"a damaged file: {what}")
        if ids - set(entries):
            self.tally.found("lost", f"published, but the outbox does not know: {what}")
        for line in ran.lines:
            if line.get("accepted") and line["event_id"] in entries and not all(line["event_id"] in v for v in held.values()):
                self.tally.found("lost", f"said accepted: {what}")
        if ran.exit == 0 and ran.words.startswith("handoff"):
            if not ran.lines or not all(ran.lines[-1]["event_id"] in v for v in held.values()):
                self.tally.found("lost", f"exit 0: {what}")
        elif ran.exit > 0:
            if ran.exit not in (2, 4) or not ran.error:
                self.tally.found("misreported", f"not this exit: {what}")
            said = ran.error.get("event_id")
            if ran.words.startswith("handoff") and bool(ran.error.get("stored")) != bool(entries):
                self.tally.found("misreported", f"stored is not so: {what}")
            if ids and ran.words.startswith("handoff") and said not in ids:
                self.tally.found("misreported", f"the event is there, and not named: {what}")
        for relay in (ran.error or (ran.lines or [{}])[-1]).get("relays", []) if len(entries) == 1 else []:
            here = bool(held.get(relay["url"]) or held.get(relay["url"].rstrip("/")))
            if relay["verdict"] == "rejected" and here or relay["verdict"] in ("accepted", "duplicate") and not here:
                self.tally.found("misreported", f"the verdict {relay['verdict']}: {what}")
        return ids, entries

    def settle(self, job, how="handoff", where="", outcome="Replaced the build cache."):
        """The same command again, or a flush, ends by itself: then exactly one is everywhere, if ever there was one."""
        before = self.entries(job)
        ran = self.handoff(job, outcome=outcome) if how == "handoff" else self.flush()
        ids, entries = self.judge(ran, job, where)
        what = f"job {job[:8]} seed {self.tally.seed} {where} {ran}"
        if ran.exit != 0:
            self.tally.found("misreported", f"the run after it failed: {what}")
        if (how == "handoff" or before) and (len(ids) != 1 or not all(self.held(job).values())):
            self.tally.found("lost", f"not there in the end: {what}")
        if not before and how == "flush" and (ids or entries):
            self.tally.found("doubled", f"flush made something: {what}")
        for id, (_, relays) in entries.items():
            if ran.exit == 0 and set(relays.values()) - {"confirmed", "accepted"}:
                self.tally.found("misreported", f"{id} is {relays} in the outbox: {what}")
        markers = os.path.join(self.state, "outbox", "pending")
        if how == "flush" and os.path.isdir(markers) and os.listdir(markers):
            self.tally.found("misreported", f"still counted as pending: {os.listdir(markers)} {what}")
        return ran
