"""The commands that publish, and the outbox, against jobs-relay and against sockets that say nothing."""
import glob
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

import harness
from harness import CHANNEL, JOB, PUBLIC, SECRET, Case, manifest, run, run_on_terminal

RELAY_MEMBERS = ["url", "verdict", "message", "read_back", "attempts"]


class Relay:
    """jobs-relay on a port of its own."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.child = subprocess.Popen([harness.RELAY, "--port", "0", "--dir", folder, *arguments],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=harness.environment())
        self.url = self.child.stdout.readline().decode().strip()

    def stop(self):
        self.child.terminate()
        self.child.wait(10)
        self.child.stdout.close()

    def events(self):
        found = []
        for path in glob.glob(os.path.join(self.folder, "**"), recursive=True):
            if os.path.isfile(path):
                with open(path, encoding="utf-8") as file:
                    found += [json.loads(line) for line in file if line.startswith("{")]
        return found


class Silent:
    """A port that takes connections and says nothing; `taken` is set when the first one came."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "ws://127.0.0.1:%d" % self.socket.getsockname()[1]
        self.taken = threading.Event()
        self.kept = []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        try:
            while True:
                self.kept.append(self.socket.accept()[0])
                self.taken.set()
        except OSError:
            pass

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        for one in self.kept:
            one.close()


held = []


def dead_url():
    """A port that nobody listens on, and that nobody else can take meanwhile."""
    held.append(socket.socket())
    held[-1].bind(("127.0.0.1", 0))
    return "ws://127.0.0.1:%d" % held[-1].getsockname()[1]


class Write(Case):
    def setUp(self):
        super().setUp()
        self.state = self.path("state")
        self.env = {"BUZZ_PRIVATE_KEY": SECRET, "JOBS_STATE_DIR": self.state}

    def relay(self, *arguments):
        folder = self.path("relay%d" % len(os.listdir(self.folder)))
        os.mkdir(folder)
        relay = Relay(folder, *arguments)
        self.addCleanup(relay.stop)
        return relay

    def silent(self):
        silent = Silent()
        self.addCleanup(silent.stop)
        return silent

    def jobs(self, *arguments, stdin=b"", env=None, **options):
        return run(*arguments, stdin=stdin, env={**self.env, **(env or {})}, **options)

    def handoff(self, *arguments, text=None, **options):
        return self.jobs("handoff", "--channel", CHANNEL, "--manifest", "-", *arguments,
                         stdin=manifest(jobRequest=JOB) if text is None else text, **options)


class Events(Write):
    def test_request(self):
        relay = self.relay()
        result = self.jobs("request", "--channel", CHANNEL, "--relay", relay.url, "--notify", PUBLIC, "Count « it »\n\ttwice")
        self.assertEqual((result.status, result.err), (0, b""), result)
        line = result.line
        self.assertEqual(list(line), ["accepted", "event_id", "message", "relays", "channel"])
        self.assertEqual(list(line["relays"][0]), RELAY_MEMBERS)
        self.assertEqual(line["channel"], CHANNEL)
        [event] = relay.events()
        self.assertEqual(event["id"], line["event_id"])
        self.assertEqual((event["kind"], event["pubkey"]), (43001, PUBLIC))
        self.assertEqual(event["tags"], [["h", CHANNEL], ["p", PUBLIC]])
        self.assertEqual(event["content"], "Count « it »\n\ttwice")

    def test_request_from_stdin_and_by_variable(self):
        relay = self.relay()
        result = self.jobs("request", "--channel", CHANNEL, "-", stdin=b"do it",
                           env={"BUZZ_RELAY_URL": relay.url.replace("ws://", "http://")})
        self.assertEqual(result.status, 0, result)
        self.assertEqual(relay.events()[0]["content"], "do it")
        self.assertEqual(relay.events()[0]["tags"], [["h", CHANNEL]])
        self.assertFalse(os.path.exists(self.state))

    def test_asking_twice_is_two_jobs(self):
        relay = self.relay()
        ids = {self.jobs("request", "--channel", CHANNEL, "--relay", relay.url, "again").line["event_id"] for _ in range(3)}
        self.assertEqual(len(ids), 3)
        self.assertEqual({event["id"] for event in relay.events()}, ids)

    def test_requests_that_are_refused_unsent(self):
        relay = self.relay()
        for text, words in ((b"", "empty"), (b" \n\t ", "empty"), (b"x" * 65537, "65536"), (b"\xff", "UTF-8"), (b"a\x00b", ""),
                            (b"use ghp_" + b"A1b2C3d4E5f6" * 3, "credential")):
            result = self.jobs("request", "--channel", CHANNEL, "--relay", relay.url, "-", stdin=text)
            failure = self.assert_failure(result, 1, "user_error", words)
        self.assertEqual(failure["hint"], "when it is none: --allow-secret ''")
        ours = self.jobs("request", "--channel", CHANNEL, "--relay", relay.url, "--allow-secret", "", "-",
                         stdin=b"it is " + SECRET.encode())
        self.assertNotIn("hint", self.assert_failure(ours, 1, "user_error"))
        self.assertEqual(relay.events(), [])
        allowed = self.jobs("request", "--channel", CHANNEL, "--relay", relay.url, "--allow-secret", "",
                            "use ghp_" + "A1b2C3d4E5f6" * 3)
        self.assertEqual(allowed.status, 0, allowed)

    def test_a_request_that_one_relay_has_is_not_for_repeating(self):
        relay = self.relay()
        arguments = ["request", "--channel", CHANNEL, "--timeout", "1", "do it", "--relay", dead_url()]
        failure = self.assert_failure(self.jobs(*arguments), 2, "network_error")
        self.assertIs(failure["retryable"], True)
        failure = self.assert_failure(self.jobs(*arguments, "--relay", relay.url), 2, "network_error", "second event")
        self.assertIs(failure["retryable"], False)
        self.assertEqual([event["id"] for event in relay.events()], [failure["event_id"]])

    def test_channel_create_and_join(self):
        relay = self.relay("--profile", "buzz")
        made = self.jobs("channel", "create", "--relay", relay.url, "--name", "Releases")
        self.assertEqual(made.status, 0, made)
        channel = made.line["channel"]
        self.assertRegex(channel, r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        again = self.jobs("channel", "create", "--relay", relay.url)
        self.assertNotEqual(again.line["channel"], channel)
        named = self.jobs("channel", "create", "--channel", CHANNEL, "--relay", relay.url)
        self.assertEqual(named.line["channel"], CHANNEL)
        joined = self.jobs("channel", "join", "--channel", channel, "--relay", relay.url,
                           env={"BUZZ_PRIVATE_KEY": "22" * 32})
        self.assertEqual(joined.status, 0, joined)
        events = {event["id"]: event for event in relay.events()}
        event = events[made.line["event_id"]]
        self.assertEqual((event["kind"], event["content"]), (9007, ""))
        self.assertEqual(event["tags"], [["h", channel], ["name", "Releases"]])
        event = events[joined.line["event_id"]]
        self.assertEqual((event["kind"], event["tags"], event["content"]), (9021, [["h", channel]], ""))


class Handoff(Write):
    def test_receipt(self):
        relay = self.relay()
        result = self.handoff("--relay", relay.url)
        self.assertEqual((result.status, result.err), (0, b""), result)
        line = result.line
        self.assertEqual(list(line)[:4], ["accepted", "event_id", "message", "relays"])
        self.assertIs(line["accepted"], True)
        [one] = line["relays"]
        self.assertEqual(list(one), RELAY_MEMBERS)
        self.assertEqual((one["url"], one["verdict"], one["read_back"], one["attempts"]),
                         (relay.url, "accepted", "confirmed", 1))
        [event] = relay.events()
        self.assertEqual((event["id"], event["kind"]), (line["event_id"], 43004))
        again = self.handoff("--relay", relay.url)
        self.assertEqual((again.status, again.line["event_id"]), (0, line["event_id"]), again)
        self.assertEqual((again.line["relays"][0]["verdict"], again.line["relays"][0]["attempts"]), ("duplicate", 0))

    def test_no_read_back(self):
        relay = self.relay()
        result = self.handoff("--relay", relay.url, "--no-read-back")
        self.assertEqual(result.line["relays"][0]["read_back"], "not_asked", result)

    def test_conflict_and_supersede(self):
        relay = self.relay()
        first = self.handoff("--relay", relay.url).line["event_id"]
        other = manifest(jobRequest=JOB, outcome="something else")
        conflict = self.handoff("--relay", relay.url, text=other)
        failure = self.assert_failure(conflict, 5, "conflict")
        self.assertEqual(failure["event_id"], first)
        self.assertEqual(conflict.out, b"")
        replaced = self.handoff("--relay", relay.url, "--supersede", text=other)
        self.assertEqual(replaced.status, 0, replaced)
        self.assertEqual(len(relay.events()), 2)

    def test_nothing_is_replaced_across_channels(self):
        """Readers count `supersedes` within one channel: what waits for another one would be lost, not replaced."""
        relay = self.relay()
        unsent = self.handoff("--relay", "ws://127.0.0.1:9", "--timeout", "1")
        self.assertEqual(unsent.status, 2, unsent)
        other, channel = manifest(jobRequest=JOB, outcome="something else"), "00000000-0000-4000-8000-000000000000"
        result = self.jobs("handoff", "--channel", channel, "--manifest", "-", "--relay", relay.url, "--supersede", stdin=other)
        self.assertIn("channel", self.assert_failure(result, 5, "conflict")["hint"])
        self.assertEqual(relay.events(), [])
        self.assertEqual(run("outbox", "list", "--state-dir", self.state).line["state"], "pending")

    def test_dry_run_stores_and_sends_nothing(self):
        relay = self.relay()
        result = self.handoff("--relay", relay.url, "--dry-run", "--notify", PUBLIC)
        self.assertEqual(result.status, 0, result)
        event = result.line
        self.assertEqual([member for member in event if member not in ("id", "pubkey")],
                         ["created_at", "kind", "tags", "content"])
        self.assertEqual(event["tags"][:2], [["h", CHANNEL], ["e", JOB, "", "reply"]])
        self.assertIn(["p", PUBLIC], event["tags"])
        self.assertEqual(json.loads(event["content"])["jobRequest"], JOB)
        self.assertEqual(relay.events(), [])
        self.assertFalse(os.path.exists(os.path.join(self.state, "outbox")))

    def test_dry_run_of_what_was_pruned(self):
        relay = self.relay()
        self.assertEqual(self.handoff("--relay", relay.url).status, 0)
        self.assertEqual(self.jobs("outbox", "prune", "--days", "0").line, {"pruned": 1})
        self.assert_failure(self.handoff("--relay", relay.url, "--dry-run"), 1, "user_error", "prune", "--new")
        self.assertEqual(self.handoff("--relay", relay.url, "--dry-run", "--new").line["kind"], 43004)

    def test_violations_come_with_the_failure(self):
        result = self.handoff("--relay", dead_url(), text=b'{"schemaVersion":2}')
        failure = self.assert_failure(result, 1, "user_error")
        self.assertIn("/schemaVersion", [violation["pointer"] for violation in failure["violations"]])
        self.assertEqual(list(failure["violations"][0]), ["rule", "pointer", "message"])
        self.assert_failure(self.handoff("--relay", dead_url(), text=b"```json\n{}\n```"), 1, "user_error", "fence")
        self.assert_failure(self.handoff("--relay", dead_url(), text=b""), 1, "user_error", "empty")
        self.assertFalse(os.path.exists(os.path.join(self.state, "outbox")))

    def test_unreachable_is_kept_and_flushed(self):
        url = dead_url()
        result = self.handoff("--relay", url, "--timeout", "1")
        failure = self.assert_failure(result, 2, "network_error")
        self.assertIs(failure["retryable"], True)
        self.assertIs(failure["stored"], True)
        self.assertEqual(list(failure["relays"][0]), RELAY_MEMBERS)
        self.assertEqual(failure["relays"][0]["verdict"], "unreachable", result)
        event_id = failure["event_id"]

        listed = self.jobs("outbox", "list")
        [entry] = listed.lines
        self.assertEqual(list(entry), ["event_id", "job", "channel", "created_at", "state", "relays"])
        self.assertEqual((entry["event_id"], entry["job"], entry["channel"], entry["state"]),
                         (event_id, JOB, CHANNEL, "pending"))
        self.assertEqual(list(entry["relays"][0]), ["url", "state", "message", "attempts"])
        self.assertEqual((entry["relays"][0]["url"], entry["relays"][0]["state"]), (url, "pending"))

        shown = self.jobs("outbox", "show", event_id.upper())
        self.assertEqual(shown.status, 0, shown)
        self.assertEqual(list(shown.line)[:6], list(entry))
        event = shown.line["event"]
        self.assertEqual(list(event), ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"])
        self.assertEqual(event["id"], event_id)

        with open("/dev/full", "wb") as full:
            for arguments in (["list"], ["show", event_id], ["flush", "--timeout", "1"]):
                self.assert_failure(self.jobs("outbox", *arguments, stdout=full), 4, "error", "No space left")

        failed = self.jobs("outbox", "flush", "--timeout", "1")
        self.assertEqual(failed.status, 2, failed)
        self.assertIs(failed.line["accepted"], False)
        self.assertEqual(failed.line["event_id"], event_id)

        held.pop().close()
        port = url.rsplit(":", 1)[1]
        folder = self.path("late")
        os.mkdir(folder)
        relay = Relay(folder, "--port", port)
        self.addCleanup(relay.stop)
        flushed = self.jobs("outbox", "flush")
        self.assertEqual((flushed.status, flushed.err), (0, b""), flushed)
        self.assertEqual(list(flushed.line)[:4], ["accepted", "event_id", "message", "relays"])
        self.assertIs(flushed.line["accepted"], True)
        self.assertEqual(relay.events()[0], event)
        self.assertEqual(self.jobs("outbox", "list").lines[0]["state"], "sent")
        nothing = self.jobs("outbox", "flush")
        self.assertEqual((nothing.status, nothing.out), (0, b""), nothing)

        self.assertEqual(self.jobs("outbox", "prune").line, {"pruned": 0})
        self.assertEqual(self.jobs("outbox", "prune", "--days", "0").line, {"pruned": 1})
        self.assertEqual(self.jobs("outbox", "drop", event_id).line, {"dropped": event_id})
        self.assertEqual(self.jobs("outbox", "list").out, b"")

    def test_pending_ones_are_counted_on_the_next_write(self):
        relay = self.relay()
        self.handoff("--relay", dead_url(), "--timeout", "1")
        other = self.handoff("--relay", relay.url, text=manifest(jobRequest="cd" * 32))
        self.assertEqual(list(other.line["pending"]), ["count", "oldest", "more"], other)
        self.assertEqual((other.line["pending"]["count"], other.line["pending"]["more"]), (1, False))

    def test_require(self):
        relay = self.relay()
        relays = ["--relay", relay.url, "--relay", dead_url(), "--timeout", "1"]
        self.assertEqual(self.handoff(*relays, "--require", "any").status, 0)
        missing = self.handoff(*relays)
        failure = self.assert_failure(missing, 2, "network_error")
        self.assertEqual([one["verdict"] for one in failure["relays"]], ["duplicate", "unreachable"])
        for require in ("3", "0", "2x"):
            self.assert_failure(self.handoff(*relays, "--require", require), 1, "user_error", "--require")
        # Two spellings of one relay are one.
        self.assert_failure(self.handoff("--relay", relay.url, "--relay", relay.url + "/", "--require", "2"), 1,
                            "user_error", "there is only 1")

    def test_the_receipt_cannot_be_printed(self):
        relay = self.relay()
        with open("/dev/full", "wb") as full:
            failure = self.assert_failure(self.handoff("--relay", relay.url, stdout=full), 4, "error", "No space left")
        [event] = relay.events()
        self.assertEqual(failure["event_id"], event["id"])
        closed = self.handoff("--relay", relay.url, stdout=None, preexec_fn=lambda: os.close(1))
        self.assertEqual(self.assert_failure(closed, 4, "error")["event_id"], event["id"])
        reading, writing = os.pipe()
        os.close(reading)
        self.assertEqual(self.assert_failure(self.handoff("--relay", relay.url, stdout=writing), 4, "error")["event_id"],
                         event["id"])
        os.close(writing)

    def test_flush_calls_accepted_only_what_a_relay_took(self):
        relay, dead = self.relay(), dead_url()
        self.handoff("--relay", dead, "--timeout", "1")
        other = {"BUZZ_PRIVATE_KEY": "22" * 32}
        kept = self.handoff("--relay", relay.url, "--timeout", "1", env=other, text=manifest(jobRequest="cd" * 32))
        self.assertEqual(kept.status, 0, kept)
        skipped = self.jobs("outbox", "flush", "--timeout", "1", env=other)
        self.assertEqual((skipped.status, skipped.line["accepted"]), (0, False), skipped)
        self.assertIn("another key", skipped.line["message"])
        [path] = [path for path in glob.glob(os.path.join(self.state, "outbox", "*", "*.json"))
                  if kept.line["event_id"] not in path]
        with open(path, "a", encoding="utf-8") as file:
            file.write("{")
        damaged = self.jobs("outbox", "flush", "--timeout", "1")
        self.assertEqual((damaged.status, damaged.line["accepted"]), (0, False), damaged)
        self.assertIn("damaged", damaged.line["message"])

    def test_one_that_is_damaged_elsewhere_can_be_dropped(self):
        self.handoff("--relay", dead_url(), "--timeout", "1")
        [path] = glob.glob(os.path.join(self.state, "outbox", "*", "*.json"))
        event_id = os.path.basename(path)[:64]
        for folder in ("00" * 32, "ff" * 32):
            os.mkdir(os.path.join(self.state, "outbox", folder))
            shutil.copy(path, os.path.join(self.state, "outbox", folder))
        self.assertEqual(self.jobs("outbox", "drop", event_id).line, {"dropped": event_id})
        self.assert_failure(self.jobs("outbox", "drop", event_id), 1, "user_error", "damaged")

    def test_what_is_wrong_with_a_damaged_entry_is_said(self):
        self.handoff("--relay", dead_url(), "--timeout", "1")
        [path] = glob.glob(os.path.join(self.state, "outbox", "*", "*.json"))
        with open(path, "a", encoding="utf-8") as file:
            file.write("{")
        [line] = self.jobs("outbox", "list").lines
        self.assertEqual((line["state"], line["message"]), ("damaged", "it is cut short or was edited"))
        shown = self.jobs("outbox", "show", os.path.basename(path)[:64]).line
        self.assertEqual((shown["message"], shown["event"]), (line["message"], None))

    def test_a_file_that_may_not_grow(self):
        relay = self.relay()
        result = self.handoff("--relay", relay.url, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assert_failure(result, 4, "error", "File too large")
        self.assertEqual(relay.events(), [])
        self.assertEqual(self.handoff("--relay", relay.url).status, 0)

    def test_no_such_entry(self):
        for command in ("show", "drop"):
            self.assert_failure(self.jobs("outbox", command, "ef" * 32), 1, "not_found")
            self.assert_failure(self.jobs("outbox", command, "ef"), 1, "user_error")
        empty = self.jobs("outbox", "list")
        self.assertEqual((empty.status, empty.out, empty.err), (0, b"", b""))
        self.assertFalse(os.path.exists(self.state))


class Configuration(Write):
    def test_what_cannot_be(self):
        for arguments, status, category, words in [
            (["--relay", "ws://user:hunter2@127.0.0.1:1"], 1, "user_error", ""),
            (["--relay", "ftp://127.0.0.1"], 1, "user_error", ""),
            (["--relay", "ws://a", "--relay", "ws://b", "--auth-url", "ws://c"], 1, "user_error", "--auth-url"),
            (["--timeout", "soon"], 1, "user_error", "--timeout"),
            (["--ca", self.path("missing")], 1, "user_error", "--ca: cannot read"),
            (["--ca", self.write("text", "none")], 1, "user_error", "holds no certificate"),
            (["--evidence-root", "."], 1, "user_error", "--evidence-root goes with --from"),
            (["--keep-original"], 1, "user_error", "--from"),
            (["--auth-tag", "[]"], 3, "key_error", ""),
            (["--key-file", self.path("missing")], 3, "key_error", "missing"),
        ]:
            with self.subTest(arguments):
                result = self.handoff(*arguments)
                self.assert_failure(result, status, category, words)
                self.assertNotIn(b"hunter2", result.err)
        self.assert_failure(self.handoff(env={"BUZZ_TIMEOUT_SECS": "30s"}), 1, "user_error", "BUZZ_TIMEOUT_SECS")
        self.assert_failure(self.handoff(env={"BUZZ_RELAY_URL": "nonsense"}), 1, "user_error")
        self.assert_failure(self.handoff(env={"BUZZ_AUTH_TAG": '["auth"]'}), 3, "key_error")
        self.assert_failure(self.handoff(env={"BUZZ_PRIVATE_KEY": None}), 3, "key_error", "--key-file")

    def test_flags_beat_variables(self):
        relay = self.relay()
        env = {"BUZZ_RELAY_URL": "nonsense", "BUZZ_TIMEOUT_SECS": "nonsense", "BUZZ_PRIVATE_KEY": "nonsense",
               "BUZZ_AUTH_TAG": ""}
        result = self.handoff("--relay", relay.url, "--timeout", "10", "--key-file", self.key_file(), env=env)
        self.assertEqual(result.status, 0, result)


class Interrupted(Write):
    def start(self, *arguments):
        child = subprocess.Popen([harness.JOBS, "handoff", "--channel", CHANNEL, "--manifest",
                                  self.write("m.json", manifest(jobRequest=JOB)), *arguments],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=harness.environment(**self.env))
        return child

    def finish(self, child):
        out, err = child.communicate(timeout=10)
        return harness.Result(child.returncode, out, err)

    def test_nothing_is_signed_before_the_relay_was_asked(self):
        silent = self.silent()
        child = self.start("--relay", silent.url)
        silent.taken.wait(10)
        child.send_signal(signal.SIGINT)
        failure = self.assert_failure(self.finish(child), 130, "network_error")
        self.assertNotIn("event_id", failure)

    def test_the_verdict_so_far(self):
        self.handoff("--relay", dead_url(), "--timeout", "1")  # it is signed and stored
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            silent = self.silent()
            child = self.start("--relay", silent.url)
            silent.taken.wait(10)
            child.send_signal(number)
            result = self.finish(child)
            failure = self.assert_failure(result, status, "network_error")
            self.assertEqual(failure["relays"][0]["verdict"], "unreachable", result)
            self.assertIs(failure["stored"], True)

    def test_zero_when_the_required_number_was_reached(self):
        relay, silent = self.relay(), self.silent()
        child = self.start("--relay", relay.url, "--relay", silent.url, "--require", "any")
        silent.taken.wait(10)
        # The answer of the relay has been worked in when the outbox says so.
        deadline = time.monotonic() + 20
        while not any(one["state"] == "confirmed" for entry in self.jobs("outbox", "list").lines
                      for one in entry["relays"]):
            self.assertLess(time.monotonic(), deadline)
        child.send_signal(signal.SIGTERM)
        result = self.finish(child)
        self.assertEqual(result.status, 0, result)
        self.assertEqual([one["verdict"] for one in result.line["relays"]], ["accepted", "unreachable"])


class Terminal(Write):
    def test_progress_is_shown_and_taken_back(self):
        silent = self.silent()
        path = self.write("m.json", manifest(jobRequest=JOB))
        result = run_on_terminal("handoff", "--channel", CHANNEL, "--manifest", path, "--relay", silent.url, "--timeout",
                                 "2", which=(2,), columns=60, env=self.env)
        self.assertEqual(result.status, 2, result)
        shown = result.out.decode()
        self.assertRegex(shown, re.escape(silent.url) + r": .*, 1 s")
        before, after = shown.rsplit("\r\x1b[K", 1)
        self.assertIn("jobs:", after)
        self.assertIn("in the outbox", after)
        for line in re.split(r"\r|\n", re.sub(r"\x1b\[\d*[mK]", "", before)):
            self.assertLess(len(line), 60)
        quiet = run_on_terminal("handoff", "--channel", CHANNEL, "--manifest", path, "--relay", silent.url, "--timeout",
                                "2", "--json", which=(2,), env=self.env)
        self.assertTrue(quiet.out.startswith(b'{"error":'), quiet)

    def test_several_relays_are_a_list(self):
        relay, dead = self.relay(), dead_url()
        path = self.write("m.json", manifest(jobRequest=JOB))
        shown = run_on_terminal("handoff", "--channel", CHANNEL, "--manifest", path, "--relay", relay.url, "--relay", dead,
                                "--timeout", "1", which=(2,), env={**self.env, "NO_COLOR": "1"}).out.decode()
        self.assertIn("jobs: 1 of 2 relays took it; no relay answered\n", shown)
        self.assertIn(f"  {relay.url} accepted\n", shown)
        self.assertIn(f"  {dead} unreachable: ", shown)

    def test_the_outbox_as_a_table(self):
        self.handoff("--relay", dead_url(), "--timeout", "1")
        shown = run_on_terminal("outbox", "list", which=(1,), env=self.env).out.decode()
        self.assertRegex(shown, r"(?m)^STATE +SIGNED +JOB +RELAYS +EVENT$")
        self.assertRegex(re.sub(r"\x1b\[\d*m", "", shown), r"pending +\d{4}-\d\d-\d\d \d\d:\d\d +abababab +0 of 1 +[0-9a-f]{64}")
        relay = self.relay()
        self.handoff("--relay", relay.url)
        self.handoff("--relay", relay.url, "--supersede", text=manifest(jobRequest=JOB, outcome="Another."))
        shown = run_on_terminal("outbox", "list", which=(1,), env=self.env).out.decode()
        self.assertRegex(shown, r"sent .* 1 of 2 ")  # the other one was not taken: it was given up for its successor
        self.assertIn("the outbox is empty",
                      run_on_terminal("outbox", "list", which=(2,), env={**self.env, "JOBS_STATE_DIR": "/nonexistent"}).out.decode())


if __name__ == "__main__":
    harness.main()
