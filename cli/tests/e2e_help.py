"""--help, --version and what is said about a command line that is wrong."""
import re
import shlex
import unittest

import harness
from harness import Case, run


def commands():
    text = run("--help").out.decode()
    listed = text.split("commands:\n")[1].split("\n\n")[0]
    return [re.match(r"  ([a-z]+(?: [a-z]+)?)(?:  |$)", line).group(1) for line in listed.splitlines() if line[2] != " "]


class Help(Case):
    def test_every_command_has_help_and_version(self):
        self.assertIn("validate", commands())
        for words in ["", *commands(), *{c.split()[0] for c in commands() if " " in c}]:
            for ask in ("--help", "-h"):
                result = run(*words.split(), ask)
                self.assertEqual((result.status, result.err), (0, b""), result)
                self.assertIn(f"usage: jobs {words}".rstrip(), result.out.decode())
                for line in result.out.decode().splitlines():
                    self.assertLessEqual(len(line), 80, f"jobs {words} --help: {line}")
                    self.assertEqual(line, line.rstrip())
            result = run(*words.split(), "--version")
            self.assertRegex(result.out.decode(), r"^jobs \d+\.\d+\.\d+\n$")
            self.assertEqual((result.status, result.err), (0, b""))

    def test_examples_are_command_lines_that_parse(self):
        seen = 0
        env = {"CHANNEL": harness.CHANNEL, "JOB": harness.JOB, "ID": harness.JOB, "AGENT": harness.PUBLIC}
        for words in commands():
            text = run(*words.split(), "--help").out.decode().split("examples:\n")[1].replace("\\\n", " ")
            for example in text.splitlines():
                for part in re.split(r" [|] ", example):
                    for name, value in env.items():
                        part = part.replace("$" + name, value)
                    tokens = shlex.split(re.split(r" [<>] ", part)[0])
                    if tokens[0] == "jobs":
                        result = run(*tokens[1:], "--help")
                        self.assertEqual(result.status, 0, (example, result))
                        seen += 1
        self.assertGreaterEqual(seen, 2 * len(commands()))

    def test_wrong_command_lines(self):
        for arguments, words in [
            ([], ["needs a command", "jobs --help"]),
            (["valdate"], ["`valdate`", "did you mean `jobs validate`?"]),
            (["keys"], ["needs one of: new, show"]),
            (["keys", "shwo"], ["did you mean `jobs keys show`?"]),
            (["outbox", "nosuch"], ["`outbox nosuch`", "`jobs outbox --help` lists"]),
            (["validate"], ["needs PATH|-"]),
            (["validate", "--jbo", "x", "-"], ["--jbo", "did you mean --job?"]),
            (["validate", "--job"], ["--job needs a value"]),
            (["validate", "--job", "zz", "-"], ["--job"]),
            (["validate", "a", "b"], ["one argument"]),
            (["--json"], ["needs a command"]),
            (["schema", "x"], ["no argument"]),
            (["-x"], ["`-"]),
            ([""], ["no command"]),
        ]:
            with self.subTest(arguments=arguments):
                self.assert_failure(run(*arguments), 1, "user_error", *words)

    def test_hostile_arguments_are_escaped(self):
        result = run("\x1b]0;owned\x07")
        self.assertNotIn(b"\x1b", result.err)
        self.assertNotIn(b"\\u001b", result.err.replace(b"\\\\u001b", b""))
        self.assert_failure(run(b"\xff\xfe"), 1, "user_error", "\\xff\\xfe")
        self.assert_failure(run("--\u202eevil"), 1, "user_error", "\\u202e")

    def test_keys_on_the_command_line_are_refused(self):
        nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
        for arguments in (["keys", "show", "--key", harness.SECRET], ["keys", "show", "--nsec=" + nsec],
                          ["keys", "show", "--key-file", harness.SECRET], ["validate", nsec]):
            result = run(*arguments)
            self.assert_failure(result, 1, "user_error", "does not belong on the command line", "--key-file")
            self.assertNotIn(b"nsec1vl0", result.err)
            self.assertNotIn(harness.SECRET.encode(), result.err)


if __name__ == "__main__":
    harness.main()
