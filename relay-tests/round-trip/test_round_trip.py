"""The real binary against jobs-relay: exit code, stdout, stderr, stored bytes. The events are checked by code that shares
nothing with the binary."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import nostr
import world
from local import Relay


class RoundTrip(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="jobs-round-trip-")
        self.addCleanup(folder.cleanup)
        self.stage = world.Stage(folder.name)

    def relay(self, *options):
        relay = Relay(*options, dir=self.stage.relay_dir)
        self.addCleanup(relay.__exit__)
        self.stage.url = relay.url
        return relay

    def handoff(self, *options, status=0):
        """Runs it; returns the receipt (exit 0) or the error line."""
        result = self.stage.handoff("--timeout", "5", *options)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertEqual((result.stdout if status else result.stderr).strip(), "")
        text = result.stderr if status else result.stdout
        self.assertEqual(text.count("\n"), 1, text)
        return json.loads(text)

    def handoffs(self, relay):
        return [event for event in relay.stored() if event["kind"] == 43004]

    def check_receipt(self, receipt, verdict="accepted", attempts=1):
        self.assertIs(receipt["accepted"], True)
        (of_relay,) = receipt["relays"]
        self.assertEqual((of_relay["url"].rstrip("/"), of_relay["verdict"], of_relay["read_back"], of_relay["attempts"]),
                         (self.stage.url, verdict, "confirmed", attempts))

    def check_event(self, event, receipt, payload=None):
        """Every byte of what the relay keeps."""
        payload = payload or self.stage.payload()
        self.assertEqual(event["id"], receipt["event_id"])
        self.assertTrue(nostr.holds(event))
        self.assertEqual(event["pubkey"], self.stage.key.public)
        self.assertEqual(event["tags"], [["h", world.CHANNEL], ["e", self.stage.job, "", "reply"],
                                         ["schema", "buzz.job-result", "1"], ["disposition", payload["disposition"]]])
        order = ("schemaVersion", "jobRequest", "requestedOutcome", "outcome", "lastProgress", "disposition",
                 "artifacts", "verification", "blocker")
        self.assertEqual(event["content"], nostr.compact({name: payload[name] for name in order if name in payload}))

    def round_trip(self, *options, command=()):
        relay = self.relay(*options)
        receipt = self.handoff(*command)
        self.check_receipt(receipt)
        (event,) = self.handoffs(relay)
        self.check_event(event, receipt)
        again = self.handoff(*command)
        self.check_receipt(again, "duplicate", attempts=0)
        self.assertEqual(again["event_id"], receipt["event_id"])
        self.assertEqual(self.handoffs(relay), [event])
        return relay, receipt

    def test_plain(self):
        self.round_trip()

    def test_buzz(self):
        self.round_trip("--profile", "buzz")

    def test_wss(self):
        cert, key = os.path.join(self.stage.folder, "cert.pem"), os.path.join(self.stage.folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
                       check=True, capture_output=True)
        self.round_trip("--profile", "buzz", "--cert", cert, "--key", key, command=("--ca", cert))

    def test_whole_payload(self):
        payload = self.stage.payload(
            "Two lines:\nund ein Umlaut ä, \"quotes\", a \\ and an emoji 🐝.", lastProgress="cache warmed",
            artifacts=[{"kind": "file", "label": "Report", "reference": "out/report.md"},
                       {"kind": "commit", "label": "The change", "reference": "ab" * 20, "sourceState": "main"}],
            verification=[{"label": "unit tests", "status": "passed", "evidence": "412 passed"}])
        payload["disposition"] = "completed"
        self.stage.write(payload)
        relay = self.relay()
        receipt = self.handoff()
        self.check_event(self.handoffs(relay)[0], receipt, payload)

    def test_restart(self):
        relay, receipt = self.round_trip()
        relay.stop()
        relay.start("--port", str(relay.port))
        self.stage.state_dir += "-new"  # nothing is known here: the relay is asked
        again = self.handoff()
        self.assertEqual(again["event_id"], receipt["event_id"])
        self.assertEqual(len(self.handoffs(relay)), 1)

    def test_conflict(self):
        relay, receipt = self.round_trip()
        self.stage.write(self.stage.payload("Something else."))
        error = self.handoff(status=5)
        self.assertEqual((error["error"], error["event_id"]), ("conflict", receipt["event_id"]))
        self.assertEqual(len(self.handoffs(relay)), 1)

    def test_supersede(self):
        relay, receipt = self.round_trip()
        self.stage.write(self.stage.payload("Something else."))
        second = self.handoff("--supersede")
        newest = next(event for event in self.handoffs(relay) if event["id"] == second["event_id"])
        self.assertEqual(json.loads(newest["content"])["supersedes"], receipt["event_id"])

    def test_refused_job_kinds(self):
        for profile in ("plain", "buzz"):
            with self.subTest(profile):
                relay = self.relay("--profile", profile, "--refuse-jobs")
                error = self.handoff(status=2)
                self.assertEqual((error["error"], error["retryable"], error["relays"][0]["verdict"]),
                                 ("relay_error", False, "rejected"))
                self.assertIn("unknown event kind", error["message"])
                self.assertEqual(self.handoffs(relay), [])
                relay.stop()

    def test_no_member(self):
        self.stage.key = nostr.Key()  # never joined
        relay = self.relay("--profile", "buzz")
        error = self.handoff(status=3)
        self.assertEqual(error["error"], "auth_error")
        self.assertIn("not a channel member", error["message"])
        self.assertEqual(self.handoffs(relay), [])

    def test_nobody_there(self):
        relay = self.relay()
        relay.stop()
        error = self.handoff(status=2)
        self.assertEqual((error["error"], error["stored"], error["relays"][0]["verdict"]),
                         ("network_error", True, "unreachable"))
        relay.start("--port", str(relay.port))
        receipt = self.handoff()
        self.assertEqual(receipt["event_id"], error["event_id"])
        self.assertEqual(len(self.handoffs(relay)), 1)

    def test_bad_manifest_is_never_sent(self):
        relay = self.relay()
        self.stage.write(self.stage.payload(""))
        error = self.handoff(status=1)
        self.assertEqual(error["error"], "user_error")
        self.assertEqual([v["pointer"] for v in error["violations"]], ["/outcome"])
        self.assertEqual(self.handoffs(relay), [])

    def test_two_relays(self):
        relay = self.relay()
        with Relay() as other:
            receipt = self.handoff("--relay", other.url)
            self.assertEqual([r["verdict"] for r in receipt["relays"]], ["accepted", "accepted"])
            self.assertEqual(self.handoffs(relay), self.handoffs(other))


if __name__ == "__main__":
    unittest.main()
