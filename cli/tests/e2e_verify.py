"""verify: one verdict a line in the input's order, counts on stderr, flat memory, and how it ends."""
import hashlib
import json
import os
import resource
import signal
import subprocess

import events
import harness
from events import spoil
from harness import JOB, JOBS, run


class Verify(harness.Case):
    def test_one_line_a_line(self):
        good = events.many(1)[0]
        note = json.loads(good)
        lines = [good, b"{", spoil(good, "id"), spoil(good, "sig"), b"", b'{"kind":1}', good]
        result = run("verify", stdin=b"\r\n".join(lines))
        self.assertEqual(result.status, 1, result)
        id = note["id"]
        self.assertEqual(
            result.out.decode().splitlines()[0],
            '{"line":1,"event_id":"%s","event":"valid","kind":43004,"card":true}' % id)
        verdicts = result.lines
        self.assertEqual([v["line"] for v in verdicts], [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual([v["event"] for v in verdicts],
                         ["valid", "malformed", "bad_id", "bad_signature", "malformed", "malformed", "valid"], result)
        for verdict in verdicts:
            self.assertEqual(list(verdict)[:5], ["line", "event_id", "event", "kind", "card"])
            self.assertEqual("reason" in verdict, verdict["event"] != "valid")
        self.assertIsNone(verdicts[1]["event_id"])
        self.assertIsNone(verdicts[3]["card"])
        failure = self.assert_failure(result, 1, "user_error")
        self.assertEqual(failure["counts"], {"lines": 7, "valid": 2, "malformed": 3, "bad_id": 1, "bad_signature": 1,
                                             "cards": 2, "no_cards": 0})

    def test_valid_is_0_and_counts_are_told(self):
        path = self.write("events", b"\n".join(events.many(3)) + b"\n")
        for arguments in (["verify", path], ["verify", "--threads", "3", path]):
            result = run(*arguments)
            self.assertEqual(result.status, 0, result)
            self.assertEqual(result.failure["counts"]["cards"], 3)
        self.assertEqual(run("verify", "-", stdin=b"").status, 0)

    def test_a_result_that_is_no_card(self):
        for content, card in ((harness.manifest(jobRequest=JOB), True), (harness.manifest(jobRequest=JOB, outcome=None),
                                                                         False), (b"# Done", False)):
            result = run("verify", stdin=events.handoff(content))
            self.assertEqual((result.status, result.line["card"], result.line["event"]), (not card, card, "valid"), result)
            self.assertEqual("reason" in result.line, not card)

    def test_limit_of_a_line(self):
        good = events.many(1)[0]
        fits = good[:-1] + b" " * (1048576 - len(good)) + b"}"
        self.assertEqual(len(fits), 1048576)
        longer = good[:-1] + b" " * (1048577 - len(good)) + b"}"
        huge = b"[" + b"1," * (3 << 20)
        for end in (b"\n", b"\r\n"):
            result = run("verify", stdin=end.join([fits, longer, huge, good, fits]))
            self.assertEqual([v["event"] for v in result.lines], ["valid", "malformed", "malformed", "valid", "valid"])
            self.assertEqual([v["line"] for v in result.lines], [1, 2, 3, 4, 5])

    def test_order_with_threads(self):
        good = events.many(50)
        lines = [line for i in range(40) for line in good + [b"x" * (i * 97)]]
        alone = run("verify", stdin=b"\n".join(lines))
        for threads in ("2", "5"):
            many = run("verify", "--threads", threads, stdin=b"\n".join(lines))
            self.assertEqual(many.out, alone.out)
            self.assertEqual(many.err, alone.err)

    def test_verdicts_come_as_lines_come(self):
        good = events.many(1)[0]
        for threads in ("1", "2"):
            child = subprocess.Popen([JOBS, "verify", "--threads", threads], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.environment())
            for number in (1, 2):
                child.stdin.write(good + b"\n")
                child.stdin.flush()
                self.assertEqual(json.loads(child.stdout.readline())["line"], number)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=20)
            self.assertEqual((child.returncode, out), (130, b""))
            self.assertEqual(json.loads(err)["counts"]["valid"], 2)

    def test_closed_stdout_is_4(self):
        path = self.write("events", b"\n".join(events.many(1) * 3000))
        for threads in ("1", "3"):
            child = subprocess.Popen([JOBS, "verify", "--threads", threads, path], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=harness.environment())
            child.stdout.close()
            err = child.stderr.read()
            child.stderr.close()
            self.assertEqual(child.wait(30), 4, err)
            self.assertEqual(json.loads(err)["error"], "error")

    def test_memory_is_flat(self):
        good = events.many(20)
        peaks = []
        for times in (50, 3000):
            path = self.write("events", b"\n".join(good * times))
            peaks.append(events.peak("verify", "--threads", "2", path))
        self.assertLess(peaks[1], peaks[0] * 1.1 + 600, peaks)

    def test_bad_input(self):
        self.assert_failure(run("verify", self.path("nothing")), 1, "user_error", "No such file")
        self.assert_failure(run("verify", self.folder), 1, "user_error", "directory")
        self.assert_failure(run("verify", "--threads", "0"), 1, "user_error", "threads")
        self.assert_failure(run("verify", "--evidence-root", self.path("nothing"), stdin=b""), 1, "user_error", "folder")

    def test_progress_on_a_terminal(self):
        path = self.write("events", b"\n".join(events.many(200) * 300))
        result = harness.run_on_terminal("verify", path, which=(2,), columns=120, timeout=120)
        self.assertIn("events, ", result.out.decode())
        self.assertIn(" left", result.out.decode())
        self.assertIn("60000 are valid", result.out.decode())


class Evidence(harness.Case):
    def test_confirmed_different_missing(self):
        root = self.path("root")
        os.makedirs(root + "/sub")
        for name, content in (("same", b"one"), ("sub/other", b"two"), ("log", b"three")):
            with open(os.path.join(root, name), "wb") as file:
                file.write(content)
        os.symlink("/etc/hostname", root + "/link")
        sha = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("one", "three", "x")}

        def file(reference, digest, **more):
            return {"kind": "file", "label": reference, "reference": reference, "sha256": digest, **more}

        text = harness.manifest(
            jobRequest=JOB,
            artifacts=[file("same", sha["one"]), file("sub/other", sha["x"]), file("gone", sha["x"]),
                       file("link", sha["x"]), {"kind": "link", "label": "l", "reference": "https://example.com/"},
                       file("same", sha["one"], bytes=4)],
            verification=[{"label": "v", "status": "passed", "evidence": "log", "evidenceSha256": sha["three"]},
                          {"label": "w", "status": "passed", "evidence": "412 passed, 0 failed", "evidenceSha256": sha["three"]}])
        event = events.handoff(text)
        result = run("verify", "--evidence-root", root, stdin=event)
        self.assertEqual(result.status, 1, result)
        self.assertEqual(
            [(e["pointer"], e["result"]) for e in result.line["evidence"]],
            [("/artifacts/0", "confirmed"), ("/artifacts/1", "different"), ("/artifacts/2", "missing"),
             ("/artifacts/3", "missing"), ("/artifacts/5", "different"), ("/verification/0", "confirmed")], result)
        self.assertEqual(result.failure["counts"]["missing"], 2)

        good = events.handoff(harness.manifest(jobRequest=JOB, artifacts=[file("same", sha["one"], bytes=3)],
                                             verification=[]))
        result = run("verify", "--evidence-root", root, stdin=good)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(result.line["evidence"], [{"pointer": "/artifacts/0", "result": "confirmed"}])


harness.main()
