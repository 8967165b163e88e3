"""A stage for the real binary: a fresh key, a job request, a manifest, a state folder, and the command itself."""
import json
import os
import subprocess
import time

import local
import nostr

CHANNEL = "4f1b7a52-9d0e-4c86-b3a7-2f6c8d1e9a40"
OUTCOME = "Replaced the build cache; all 412 tests pass."


class Stage:
    def __init__(self, folder, url=None):
        self.folder, self.url = folder, url
        self.relay_dir = os.path.join(folder, "relay")
        self.state_dir = os.path.join(folder, "state")
        os.mkdir(self.relay_dir)
        self.key, self.requester = nostr.Key(), nostr.Key()
        self.request = self.requester.sign(43001, [["h", CHANNEL]], "Make the build faster.")
        self.job = self.request["id"]
        self.manifest = os.path.join(folder, "result.json")
        self.write(self.payload())
        self.put(self.requester.sign(9007, [["h", CHANNEL], ["name", "builds"]], ""), self.request,
                 self.key.sign(9021, [["h", CHANNEL]], ""))

    def payload(self, outcome=OUTCOME, **fields):
        return {"schemaVersion": 1, "jobRequest": self.job, "requestedOutcome": "Make the build faster.",
                "outcome": outcome, "disposition": "partial", **fields}

    def write(self, payload):
        with open(self.manifest, "w", encoding="utf-8") as file:
            json.dump(payload, file)

    def put(self, *events, relay_dir=None):
        """Into the relay's store, before it starts."""
        with open(os.path.join(relay_dir or self.relay_dir, "events.jsonl"), "a", encoding="utf-8") as file:
            for event in events:
                file.write(nostr.compact(event) + "\n")

    def sign(self, payload, key=None, created_at=None):
        """A handoff by our key that our program has not made."""
        tags = [["h", CHANNEL], ["e", self.job, "", "reply"], ["schema", "buzz.job-result", "1"],
                ["disposition", payload["disposition"]]]
        return (key or self.key).sign(43004, tags, nostr.compact(payload), created_at or int(time.time()) - 60)

    def give(self, kinds, relay_dir=None):
        for kind in kinds:
            self.put(self.sign(self.payload("Something else." if kind == "other" else OUTCOME),
                               nostr.Key() if kind == "foreign" else None), relay_dir=relay_dir)

    def environment(self):
        keep = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE")
        return {**{name: os.environ[name] for name in keep if name in os.environ}, "BUZZ_PRIVATE_KEY": self.key.hex()}

    def jobs(self, *arguments, stdin=None, wait=60, env=None, meanwhile=None, wrapper=()):
        """Runs the command to its end; meanwhile(process) is called once it has started."""
        command = [*wrapper, os.path.join(local.BIN, "jobs"), *arguments]
        with subprocess.Popen(command, stdin=subprocess.PIPE if stdin is not None else None, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env={**self.environment(), **(env or {})}) as process:
            try:
                if meanwhile is not None:
                    meanwhile(process)
                out, err = process.communicate(stdin, timeout=wait)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def handoff(self, *options, wait=60, env=None, manifest=None, meanwhile=None):
        urls = [self.url] if isinstance(self.url, str) else self.url
        relays = [word for url in urls for word in ("--relay", url)]
        return self.jobs("handoff", *relays, "--channel", CHANNEL, "--job", self.job, "--manifest",
                         manifest or self.manifest, "--state-dir", self.state_dir, *options, wait=wait, env=env,
                         meanwhile=meanwhile)

    def states_by_relay(self):
        """The states of all entries as `states` has them, and those of the last one's relays by URL."""
        lines = self.jobs("outbox", "list", "--state-dir", self.state_dir).stdout.splitlines()
        entries = [json.loads(line) for line in lines]
        relays = entries[-1]["relays"] if entries else []
        return " ".join(entry["state"] for entry in entries), {one["url"]: one["state"] for one in relays}

    def states(self):
        """The states of all entries, as one word when there is one."""
        listed = self.jobs("outbox", "list", "--state-dir", self.state_dir)
        return " ".join(json.loads(line)["state"] for line in listed.stdout.splitlines())
