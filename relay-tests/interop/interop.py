"""The real `jobs` against relays nobody here wrote, each step looked at by a client that shares no code with it.

Prints a table, a row a relay, and writes ctest-like results for .ci/run to build/interop/tests.xml. Run it by
`./dev interop`, which installs what it needs.
"""
import json
import shutil
import subprocess
import sys
import time
import traceback
import uuid
import xml.etree.ElementTree

import client
import relays

SOURCE = relays.HERE.parent.parent
JOBS = SOURCE / "build/bin/jobs"
NOWHERE = "ws://127.0.0.1:9"  # the discard port: nobody listens
REQUESTED = 'Say "done" in two lines;\n\ttabs, \\ and U+2028 [\u2028] stay — 日本語, 🎉'
LARGE = 65536  # bytes of the largest payload


class Failed(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failed(message)


def equal(have, want, what):
    expect(have == want, f"{what}: {have!r}, not {want!r}")


class Ran:
    """One run of the binary: exit status, both outputs, and what of them is JSON."""

    def __init__(self, folder, arguments, given):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        begin = time.monotonic()
        done = subprocess.run([JOBS, *arguments], input=given, capture_output=True, timeout=60, env=environment)
        self.seconds = time.monotonic() - begin
        self.command = "jobs " + " ".join(map(str, arguments))
        self.exit, self.out, self.err = done.returncode, done.stdout.decode(), done.stderr.decode()
        line = (self.out if self.exit == 0 else self.err).strip().splitlines()[-1:]
        self.said = json.loads(line[0]) if line and line[0].startswith("{") else {}

    def ended(self, status):
        expect(self.exit == status, f"{self.command}: exit {self.exit}, not {status}\n  {self.out}  {self.err}")
        return self

    def relay(self):
        expect(len(self.said.get("relays", [])) == 1, f"{self.command}: no word on its relay\n  {self.out}  {self.err}")
        return self.said["relays"][0]


class Round:
    """What one relay is put through. Each `check_` method is one test and may rely on those before it."""

    def __init__(self, name, relay, folder, large, refused):
        self.name, self.url, self.process, self.folder = name, relay.url, relay, folder
        self.large, self.refused = large, refused
        self.channel = str(uuid.uuid4())
        self.row = dict.fromkeys(("accepted", "read back", "duplicate", "refusal shown", "wall time"), "no")
        if large is None and refused is None:
            self.row["refusal shown"] = "(takes all of this)"
        self.key = folder / "key"
        Ran(folder, ["keys", "new", self.key], None).ended(0)

    def jobs(self, *arguments, given=None, state="state", relay=None, timeout=20):
        where = ["--relay", relay or self.url, "--key-file", self.key, "--timeout", str(timeout)]
        if arguments[0] == "handoff":
            where += ["--state-dir", self.folder / state]
        return Ran(self.folder, [*arguments, *where], given)

    def manifest(self, **fields):
        """A manifest in an order and spelling of its own."""
        return json.dumps({"disposition": "no_artifact", "outcome": "Looked.", **fields, "schemaVersion": 1}).encode()

    def handoff(self, job, manifest, **more):
        return self.jobs("handoff", "--channel", self.channel, "--job", job, "--manifest", "-", given=manifest, **more)

    def request(self, text):
        return self.jobs("request", "--channel", self.channel, text).ended(0).said["event_id"]

    def stored(self, **filters):
        with client.Client(self.url) as reader:
            return reader.find(**filters)

    def results(self, job):
        return self.stored(kinds=[43004], **{"#e": [job]})

    def check_request(self):
        self.job = self.request(REQUESTED)
        event, = self.stored(ids=[self.job])
        expect(client.holds(event), "the request's id or signature does not hold")
        equal((event["kind"], event["content"], event["tags"]), (43001, REQUESTED, [["h", self.channel]]), "the request")
        self.public = event["pubkey"]

    def check_accepted(self):
        artifact = {"reference": "https://example.com/a?b=%22c%22", "label": "日本語 \\ \"x\"", "kind": "link"}
        self.first = self.manifest(disposition="completed", requestedOutcome=REQUESTED, outcome="Two lines:\n\t🎉",
                                   artifacts=[artifact], verification=[{"status": "passed", "label": "looked"}])
        ran = self.handoff(self.job, self.first).ended(0)
        relay = ran.relay()
        expect(ran.said["accepted"], "accepted is false")
        equal((relay["verdict"], relay["read_back"], relay["attempts"]), ("accepted", "confirmed", 1), "the receipt")
        self.event, self.row["wall time"] = ran.said["event_id"], f"{1000 * ran.seconds:.0f} ms"
        self.row["accepted"] = "yes"

    def check_read_back(self):
        event, = self.stored(ids=[self.event])
        expect(client.holds(event), "id or signature does not hold")
        equal(event["pubkey"], self.public, "author")
        equal(event["tags"], [["h", self.channel], ["e", self.job, "", "reply"], ["schema", "buzz.job-result", "1"],
                              ["disposition", "completed"]], "tags")
        content = client.compact({
            "schemaVersion": 1, "jobRequest": self.job, "requestedOutcome": REQUESTED, "outcome": "Two lines:\n\t🎉",
            "disposition": "completed",
            "artifacts": [{"kind": "link", "label": "日本語 \\ \"x\"", "reference": "https://example.com/a?b=%22c%22"}],
            "verification": [{"label": "looked", "status": "passed"}]})
        equal(event["content"].encode(), content.encode(), "content")
        self.row["read back"] = "every byte"

    def check_same_command_again(self):
        """From the same outbox, and from an empty one: the same event, and nothing is sent."""
        for state in ("state", "empty"):
            ran = self.handoff(self.job, self.first, state=state).ended(0)
            equal(ran.said["event_id"], self.event, f"the event of a second run, state folder {state}")
            equal((ran.relay()["verdict"], ran.relay()["attempts"]), ("duplicate", 0), f"second run, {state}")
        equal(len(self.results(self.job)), 1, "events for the job")

    def check_same_bytes_again(self):
        """What this relay says to an event that it has; whatever it is, the relay keeps one."""
        event, = self.stored(ids=[self.event])
        with client.Client(self.url) as writer:
            answer = writer.publish(event)
        expect(answer and answer[0] == "OK" and (answer[2] or answer[3].startswith("duplicate:")), f"said {answer}")
        equal(len(self.results(self.job)), 1, "events for the job")
        self.row["duplicate"] = f"one event; it says `{client.compact(answer[2])} {client.compact(answer[3])}`"

    def check_two_jobs_of_one_key(self):
        """No relay here takes 43004 for a kind that replaces."""
        job = self.request("another")
        self.handoff(job, self.manifest(requestedOutcome="another")).ended(0)
        kept = {event["id"] for event in self.stored(kinds=[43004], authors=[self.public])}
        expect(self.event in kept and len(kept) == 2, f"{len(kept)} handoffs of one key are there, not 2")

    def check_another_result_is_a_conflict(self):
        other = self.manifest(requestedOutcome=REQUESTED, outcome="Something else.")
        for state in ("state", "vanished"):
            ran = self.handoff(self.job, other, state=state).ended(5)
            equal(ran.said["event_id"], self.event, f"the event in the way, state folder {state}")
        equal(len(self.results(self.job)), 1, "events for the job")

    def check_signed_in_an_outage(self):
        """Signed while no relay answered; the same event goes out later."""
        job = self.request("outage")
        manifest = self.manifest(requestedOutcome="outage")
        down = self.handoff(job, manifest, relay=NOWHERE, timeout=1).ended(2)
        equal((down.said["error"], down.said["stored"]), ("network_error", True), "without a relay")
        up = self.handoff(job, manifest).ended(0)
        equal(up.said["event_id"], down.said["event_id"], "the event after the outage")
        equal([event["id"] for event in self.results(job)], [down.said["event_id"]], "events for the job")

    def check_largest_payload(self):
        """65,536 bytes: the event is larger, so a warning; half of the relays refuse it."""
        job = self.request("large")
        empty = {"schemaVersion": 1, "jobRequest": job, "requestedOutcome": "large", "outcome": "x" * 8192,
                 "disposition": "no_artifact"}
        # not an artifact, which no_artifact may not have: unknown members are carried, and count
        filler = "y" * (LARGE - len(client.compact(empty | {"z": ""})))
        ran = self.handoff(job, self.manifest(requestedOutcome="large", outcome="x" * 8192, z=filler))
        if self.large is None:
            ran.ended(0)
            equal([len(event["content"]) for event in self.results(job)], [LARGE], "bytes stored")
            expect("65536" in ran.out or "65,536" in ran.out, f"no warning of its size: {ran.out}")
        else:
            self.refuse(job, ran, self.large)

    def check_refusal(self):
        if self.refused is None:
            return  # the largest payload was this relay's refusal
        job = self.request("refused")
        self.refuse(job, self.handoff(job, self.manifest(requestedOutcome="refused", outcome="xyzzy")), self.refused)

    def refuse(self, job, ran, words):
        ran.ended(2)
        equal(ran.relay()["verdict"], "rejected", "the verdict")
        expect(words in ran.relay()["message"] and words in ran.said["message"], f"the words are lost: {ran.err}")
        equal(self.results(job), [], "events for the job")
        self.row["refusal shown"] = f"`{ran.relay()['message']}`"

    def check_authenticated(self):
        """Only where the relay tells whom it let in."""
        if "AUTH" in self.name and "core" in self.name:
            self.process.wait_for(f"^auth {self.public}$")


# name, start, the words that refuse the largest payload (None: taken), the words that refuse "xyzzy" (None: taken)
TOO_LARGE = "blocked: event size ("
ROWS = (
    ("Python nostr-relay 1.14", relays.python_relay, "invalid: 280 characters should be enough for anybody", None),
    ("Python nostr-relay 1.14, larger limit", lambda folder: relays.python_relay(folder, "\nmax_event_size: 70000\n"),
     None, None),
    ("rust-nostr LocalRelay 0.45.1", relays.local_relay, TOO_LARGE, None),
    ("rust-nostr LocalRelay 0.45.1, AUTH", lambda folder: relays.local_relay(folder, "auth"), TOO_LARGE, None),
    ("@nostr-relay/core 0.0.40", relays.core_relay, None, "blocked: not that word"),
    ("@nostr-relay/core 0.0.40, AUTH", lambda folder: relays.core_relay(folder, "localhost"), None,
     "blocked: not that word"),
    ("nostr-rs-relay 0.8.12", relays.rs_relay, None, None),
)
COLUMNS = ("accepted", "read back", "duplicate", "refusal shown", "wall time")
CHECKS = [name for name in vars(Round) if name.startswith("check_")]


def run_row(suite, number, name, start, large, refused):
    """One relay through all checks; every result goes into the suite. Returns the table's row."""
    folder = relays.INSTALLED / "run" / str(number)
    folder.mkdir(parents=True)
    relay = start(folder)
    try:
        turn = Round(name, relay, folder, large, refused)
        for check in CHECKS:
            case = xml.etree.ElementTree.SubElement(suite, "testcase", name=f"{name}: {check[6:].replace('_', ' ')}")
            try:
                getattr(turn, check)()
            except Exception as error:
                text = str(error) if isinstance(error, Failed) else traceback.format_exc()
                xml.etree.ElementTree.SubElement(case, "failure").text = text
                print(f"FAILED {case.get('name')}\n  {text}", file=sys.stderr)
        return turn.row
    finally:
        relay.stop()


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    shutil.rmtree(relays.INSTALLED / "run", ignore_errors=True)
    relays.install_node()
    suite = xml.etree.ElementTree.Element("testsuite", name="interop")
    table = ["| relay | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for number, (name, start, large, refused) in enumerate(ROWS):
        if only not in name:
            continue
        if start is relays.rs_relay and not relays.rs_relay_path():
            case = xml.etree.ElementTree.SubElement(suite, "testcase", name=name)
            xml.etree.ElementTree.SubElement(case, "skipped")
            xml.etree.ElementTree.SubElement(case, "system-out").text = \
                "lacks nostr-rs-relay (cargo install nostr-rs-relay --version 0.8.12 --root build/interop)"
            continue
        row = run_row(suite, number, name, start, large, refused)
        table.append(f"| {name} | " + " | ".join(row[column] for column in COLUMNS) + " |")
    xml.etree.ElementTree.ElementTree(suite).write(relays.INSTALLED / "tests.xml")
    (relays.INSTALLED / "table.md").write_text("\n".join(table) + "\n")
    print("\n".join(table))
    failed = len(suite.findall("testcase/failure"))
    print(f"{len(suite) - failed - len(suite.findall('testcase/skipped'))} passed, {failed} failed, "
          f"{len(suite.findall('testcase/skipped'))} skipped")
    return 1 if failed or not table[2:] else 0


if __name__ == "__main__":
    sys.exit(main())
