"""jobs convert and jobs handoff --from: the samples of docs/protocol/vectors/convert through the real binary."""
import hashlib
import json
import os
import re

import harness
from harness import CHANNEL, JOB, SECRET, Case, run
from e2e_write import Relay

SAMPLES = os.path.join(os.path.dirname(__file__), "../../docs/protocol/vectors/convert")
FORMATS = {"bubbles": "bubbles", "aw-outcome": "skill-outcome", "aw-envelope": "workflow-envelope",
           "sublation-manifest": "sublation-manifest", "sublation-report": "sublation-report"}
GIVEN = ("--job", JOB, "--requested-outcome", "Do the work.")


def sample(name):
    return os.path.join(SAMPLES, name)


class Convert(Case):
    def test_samples(self):
        names = sorted(os.listdir(SAMPLES))
        self.assertEqual(len(names), 51)
        for name in names:
            stem, letter = re.match(r"(.*?)-([abcr])\d+-", name).groups()
            with self.subTest(name):
                done = run("convert", "--from", "auto", *GIVEN, sample(name))
                named = run("convert", "--from", FORMATS[stem], *GIVEN, sample(name))
                loose = run("convert", "--level", "schema", *GIVEN, sample(name))
                self.assertEqual(done.status, 0 if letter in "ar" else 1, done)
                self.assertEqual((named.status, named.out), (done.status, done.out), named)
                if letter in "arc":
                    self.assertEqual(loose.status, 0, loose)
                if done.status == 0:
                    checked = run("validate", "-", stdin=done.out)
                    self.assertEqual(checked.line["valid"], True, checked)
                    self.assertEqual(done.line["source"]["format"], FORMATS[stem])
                    with open(sample(name), "rb") as file:
                        self.assertEqual(done.line["source"]["sha256"], hashlib.sha256(file.read()).hexdigest())
                else:
                    self.assertEqual(done.out, b"")
                    self.assertTrue(done.failure["violations"], done)

    def test_stdin_is_the_default(self):
        with open(sample("bubbles-a1-owned.md"), "rb") as file:
            text = file.read()
        self.assertEqual(run("convert", *GIVEN, stdin=text).line["disposition"], "completed")

    def test_what_is_foreign_is_made_harmless(self):
        with open(sample("bubbles-a1-owned.md"), "rb") as file:
            text = file.read().replace(b"Search pagination", "\u202eSearch pagination".encode())
        done = run("convert", *GIVEN, stdin=text)
        self.assertTrue(done.line["outcome"].startswith("\u202eSearch"), done)
        self.assertIn(b"\\u202eSearch", done.out)
        self.assertNotIn("\u202e".encode(), done.out)

    def test_what_is_missing_names_its_option(self):
        done = run("convert", sample("bubbles-a1-owned.md"))
        self.assertEqual(done.status, 1)
        messages = " ".join(v["message"] for v in done.failure["violations"])
        self.assertIn("--job", messages)
        self.assertIn("--requested-outcome", messages)
        self.assertIn("--check-job", done.failure["hint"])

    def test_reask(self):
        done = run("convert", "--reask", *GIVEN, sample("aw-outcome-b8-duplicate-key.md"))
        self.assertEqual(done.status, 1)
        self.assertEqual(done.out.count(b"\n"), 1)
        self.assertIn(b"agentic-workflow/skill-outcome", done.out)
        self.assertNotIn("hint", done.failure)  # it would name --reask
        self.assertEqual(run("convert", "--reask", *GIVEN, sample("aw-outcome-a1-completed.md")).line["disposition"],
                         "completed")

    def test_index(self):
        two = sample("bubbles-b16-two-envelopes.md")
        self.assertIn("--index", run("convert", *GIVEN, two).failure["hint"])
        self.assertEqual(run("convert", "--index", "1", *GIVEN, two).line["disposition"], "completed")
        self.assertEqual(run("convert", "--index", "2", *GIVEN, two).line["disposition"], "blocked")
        self.assertEqual(run("convert", "--index", "3", *GIVEN, two).status, 1)

    def evidence(self, content):
        """A report whose one evidence file is made below the folder; the hash in the report is that of b"patch"."""
        with open(sample("sublation-report-a1-v1.json"), encoding="utf-8") as file:
            report = json.load(file)
        digest = "sha256:" + hashlib.sha256(b"patch").hexdigest()
        report["items"][0]["evidence"][0]["sha256"] = digest
        kept = {k: v for k, v in report.items() if k not in ("report_hash", "plain_report_sha256", "delivery")}
        body = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        report["report_hash"] = "sha256:" + hashlib.sha256(body).hexdigest()
        os.makedirs(self.path("ocr-1"), exist_ok=True)
        if content is not None:
            with open(self.path("ocr-1/PATCH.diff"), "wb") as file:
                file.write(content)
        done = run("convert", *GIVEN, "--evidence-root", self.folder, stdin=json.dumps(report).encode())
        return done.line["verification"][0]

    def test_evidence_is_hashed_again(self):
        self.assertEqual(self.evidence(None)["status"], "failed")
        self.assertEqual(self.evidence(b"other")["status"], "failed")
        claim = self.evidence(b"patch")
        self.assertEqual((claim["status"], claim["claimSource"]), ("passed", "executed"))
        self.assertEqual(run("convert", *GIVEN, "--evidence-root", self.path("none"),
                             sample("sublation-report-a1-v1.json")).status, 1)

    def test_a_tampered_report(self):
        with open(sample("sublation-report-a1-v1.json"), encoding="utf-8") as file:
            text = file.read().replace("cap retries at 3", "cap retries at 9")
        done = run("convert", *GIVEN, stdin=text.encode())
        self.assertEqual(done.failure["violations"][0]["rule"], "R201", done)

    def test_secrets_stay_here(self):
        token = "ghp_" + "a1B2" * 9
        source = {"agent": "bubbles.a", "outcome": "completed_owned", "summary": f"Used {token} for it."}
        done = run("convert", *GIVEN, stdin=json.dumps(source).encode())
        self.assertEqual(done.line["outcome"], "Used <redacted> for it.")
        self.assertEqual(done.line["source"]["repairs"], ["text-redacted"])

    def test_handoff_in_one_go(self):
        relay = Relay(self.path("relay"))
        self.addCleanup(relay.stop)
        env = {"BUZZ_PRIVATE_KEY": SECRET, "BUZZ_RELAY_URL": relay.url, "HOME": self.folder}
        done = run("handoff", "--from", "auto", "--channel", CHANNEL, *GIVEN, "--manifest",
                   sample("bubbles-a1-owned.md"), env=env)
        self.assertEqual(done.status, 0, done)
        event = [e for e in relay.events() if e["kind"] == 43004][0]
        content = json.loads(event["content"])
        self.assertEqual(content["source"]["nativeOutcome"], "completed_owned")
        self.assertEqual(content["jobRequest"], JOB)
        again = run("handoff", "--from", "bubbles", "--channel", CHANNEL, *GIVEN, "--manifest",
                    sample("bubbles-a1-owned.md"), env=env)
        self.assertEqual(again.line["event_id"], event["id"], again)
        refused = run("handoff", "--from", "auto", "--channel", CHANNEL, *GIVEN, "--manifest",
                      sample("bubbles-b14-blocked-null.md"), env=env)
        self.assertEqual((refused.status, refused.out), (1, b""))
        self.assertEqual(refused.failure["violations"][0]["rule"], "B203")

    def test_the_requested_outcome_comes_from_the_request(self):
        relay = Relay(self.path("relay"))
        self.addCleanup(relay.stop)
        env = {"BUZZ_PRIVATE_KEY": SECRET, "BUZZ_RELAY_URL": relay.url, "HOME": self.folder}
        job = run("request", "--channel", CHANNEL, "Fix the search.", env=env).line["event_id"]
        done = run("handoff", "--from", "auto", "--job", job, "--manifest", sample("bubbles-a1-owned.md"), env=env)
        self.assertEqual(done.status, 0, done)
        event = [e for e in relay.events() if e["kind"] == 43004][0]
        self.assertEqual(json.loads(event["content"])["requestedOutcome"], "Fix the search.")


if __name__ == "__main__":
    harness.unittest.main()
