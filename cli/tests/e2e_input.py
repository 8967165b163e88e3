"""`jobs validate`, `schema`, `template`: what may be wrong with what is read."""
import json
import os
import subprocess
import threading

import harness
from harness import CHANNEL, JOB, Case, manifest, run, run_on_terminal


class Validate(Case):
    def assert_invalid(self, result, pointer=None, hint=None):
        self.assertEqual(result.status, 1, result)
        line = result.line
        self.assertEqual(list(line), ["valid", "violations"], result)
        self.assertIs(line["valid"], False)
        self.assertGreater(len(line["violations"]), 0)
        for violation in line["violations"]:
            self.assertEqual(list(violation), ["rule", "pointer", "message"], result)
            self.assertRegex(violation["rule"], r"^H\d+$")
        if pointer is not None:
            self.assertIn(pointer, [violation["pointer"] for violation in line["violations"]], result)
        failure = self.assert_failure(result, 1, "user_error")
        if hint:
            self.assertIn(hint, failure.get("hint", ""), result)
        return line

    def test_the_template_is_valid(self):
        result = run("validate", "-", stdin=run("template").out)
        self.assertEqual((result.status, result.err), (0, b""), result)
        self.assertEqual(list(result.line), ["valid", "bytes"])
        self.assertIs(result.line["valid"], True)
        self.assertGreater(result.line["bytes"], 100)
        self.assertEqual(run("validate", self.write("m.json", run("template").out)).status, 0)

    def test_the_schema_is_one(self):
        schema = json.loads(run("schema").out)
        self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertTrue(run("schema").out.endswith(b"\n"))

    def test_all_violations_at_once_in_document_order(self):
        result = run("validate", "-", stdin=manifest(schemaVersion=2, outcome=" ", disposition="done"))
        line = self.assert_invalid(result, "/outcome")
        self.assertEqual([v["pointer"] for v in line["violations"]], ["/schemaVersion", "/outcome", "/disposition"],
                         result)
        self.assertIn("3 places", result.failure["message"])

    def test_flags_stand_in_for_members(self):
        bare = manifest(jobRequest=None, requestedOutcome=None)
        self.assert_invalid(run("validate", "-", stdin=bare), "/jobRequest", hint="--job ID")
        self.assert_invalid(run("validate", "--job", JOB, "-", stdin=bare), hint="--requested-outcome TEXT")
        self.assertEqual(run("validate", "--job", JOB, "--requested-outcome", "Do it", "-", stdin=bare).status, 0)
        self.assert_invalid(run("validate", "--job", "cd" * 32, "-", stdin=manifest(jobRequest=JOB)), "/jobRequest",
                            hint="--job names another")
        self.assert_invalid(run("validate", "--requested-outcome", "other", "-", stdin=manifest()),
                            "/requestedOutcome", hint="says something else")

    def test_bad_bytes(self):
        good = manifest().decode()
        for name, bad, hint in [
            ("empty", b"", "empty"),
            ("blank", b" \n\t\n", "empty"),
            ("fence", b"```json\n" + good.encode() + b"\n```\n", "fence"),
            ("indented fence", b"\n  ~~~\n{}\n~~~\n", "fence"),
            ("UTF-8 mark", b"\xef\xbb\xbf" + good.encode(), "byte-order mark"),
            ("UTF-16", good.encode("utf-16"), "UTF-16"),
            ("UTF-16BE without mark", good.encode("utf-16-be"), "UTF-16"),
            ("invalid UTF-8", b'{"outcome":"\xff"}', None),
            ("NUL", b'{"a":"\0"}', None),
            ("duplicate", b'{"a":1,"a":2}', None),
            ("second value", good.encode() + b"{}", None),
            ("deep", b"[" * 100000, None),
            ("an array", b"[]", None),
            ("cut", good.encode()[:-20], None),
        ]:
            with self.subTest(name):
                self.assert_invalid(run("validate", "-", stdin=bad), hint=hint)
                self.assert_invalid(run("validate", self.write("bad", bad)), hint=hint)

    def test_what_has_no_pointer_has_a_line(self):
        line = self.assert_invalid(run("validate", "-", stdin=b'{\n"schemaVersion": 1,\n}\n'))
        self.assertEqual([(v["pointer"], v["message"][:8]) for v in line["violations"]], [("", "line 3: ")])

    def test_names_of_members_are_harmless(self):
        result = run("validate", "-", stdin=manifest(artifacts=[{"kind": "x\u202e\x1b"}]))
        self.assertNotIn("\u202e".encode(), result.out)
        self.assertNotIn(b"\x1b", result.out)

    def test_a_secret_is_a_violation_and_is_not_echoed(self):
        token = "ghp_" + "A1b2C3d4E5f6" * 3
        result = run("validate", "-", stdin=manifest(outcome="pushed with " + token))
        self.assert_invalid(result, "/outcome")
        self.assertNotIn(token.encode(), result.out + result.err)
        self.assertEqual(
            run("validate", "--allow-secret", "/outcome", "-", stdin=manifest(outcome="with " + token)).status, 0)

    def test_our_own_key_is_found_when_there_is_one(self):
        text = manifest(outcome="the key is " + harness.SECRET)
        self.assertEqual(run("validate", "-", stdin=text).status, 0)  # bare hex is an id like others
        self.assert_invalid(run("validate", "--allow-secret", "/outcome", "-", stdin=text,
                                env={"BUZZ_PRIVATE_KEY": harness.SECRET}), "/outcome")
        # A variable that holds no key is no reason not to validate.
        self.assertEqual(run("validate", "-", stdin=manifest(), env={"BUZZ_PRIVATE_KEY": "no key"}).status, 0)

    def test_files_that_are_none(self):
        self.assert_failure(run("validate", self.path("missing")), 1, "user_error", "missing", "No such file")
        self.assert_failure(run("validate", self.folder), 1, "user_error", "directory")
        self.assert_failure(run("validate", "-", stdin=os.open(self.folder, os.O_RDONLY)), 1, "user_error",
                            "standard input", "directory")
        self.assert_failure(run("validate", ""), 1, "user_error", "No such file")
        if os.geteuid() != 0:
            self.assert_failure(run("validate", self.key_file(mode=0)), 1, "user_error", "Permission denied")
        closed = run("validate", "-", stdin=None, preexec_fn=lambda: os.close(0))
        self.assert_failure(closed, 1, "user_error", "standard input")

    def test_a_fifo_that_closes_early(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for text, hint in ((b"", "empty"), (b'{"schemaVersion":1,', None)):
            def feed():
                with open(fifo, "wb") as end:
                    end.write(text)
            writer = threading.Thread(target=feed)
            writer.start()
            self.assert_invalid(run("validate", fifo), hint=hint)
            writer.join()

    def test_the_limit_is_one_mebibyte(self):
        good = manifest()
        fits = good + b" " * (1048576 - len(good))
        self.assertEqual(run("validate", "-", stdin=fits).status, 0)
        self.assert_invalid(run("validate", "-", stdin=fits + b" "), "")

    def test_ten_megabytes_are_not_buffered(self):
        big = self.write("big", b'{"a":"' + b"x" * 10_000_000 + b'"}')
        child = subprocess.Popen([harness.JOBS, "validate", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=harness.environment(), bufsize=0)
        sent = 0
        try:
            with open(big, "rb") as source:
                while chunk := source.read(65536):
                    sent += child.stdin.write(chunk)
        except BrokenPipeError:
            pass
        out, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 1)
        self.assertLess(sent, 2_000_000)
        self.assertIs(json.loads(out)["valid"], False)


class Terminal(Case):
    def test_a_person_gets_a_list_with_line_numbers(self):
        bad = self.write("bad.json", '{\n"schemaVersion": 1,\n"outcome": " "\n}')
        shown = run_on_terminal("validate", bad, which=(1, 2)).out.decode()
        self.assertRegex(shown, r"line 3, .*/outcome.*: .* \[H\d+\]")
        self.assertNotIn('{"valid"', shown)
        result = run_on_terminal("validate", "--json", bad, which=(1, 2))
        self.assertEqual(result.status, 1)
        self.assertIs(json.loads(result.out.splitlines()[0])["valid"], False)
        self.assertIn('{"error":"user_error"', result.out.decode())

    def test_valid_is_said_in_words(self):
        good = self.write("good.json", manifest())
        self.assertRegex(run_on_terminal("validate", good, which=(1, 2), env={"NO_COLOR": "1"}).out.decode(),
                         r"^valid, \d+ of 65536 bytes\n$")

    def test_typing_gets_a_hint(self):
        result = run_on_terminal("validate", "-", typed=b"\x04")
        self.assertEqual(result.status, 1)
        self.assertIn("reading the manifest from this terminal", result.out.decode())
        self.assertIn("hint: nothing was typed", result.out.decode())
        result = run_on_terminal("validate", "-", which=(0,), typed=b"hello\n\x04")
        failure = json.loads(result.err.splitlines()[1])
        self.assertIn("read from the terminal", failure["hint"])


if __name__ == "__main__":
    harness.main()
