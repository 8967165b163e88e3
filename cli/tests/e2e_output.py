"""stdout and stderr that are closed, full, a pipe without a reader, or a terminal."""
import os
import subprocess

import harness
from harness import Case, manifest, run, run_on_terminal


class Broken(Case):
    def each_printing_command(self):
        yield ["--help"], b""
        yield ["--version"], b""
        yield ["validate", "--help"], b""
        yield ["schema"], b""
        yield ["template"], b""
        yield ["validate", "-"], manifest()
        yield ["validate", "-"], b"{}"

    def test_a_full_disk(self):
        for arguments, stdin in self.each_printing_command():
            with open("/dev/full", "wb") as full, self.subTest(arguments):
                self.assert_failure(run(*arguments, stdin=stdin, stdout=full), 4, "error", "standard output",
                                    "No space left")

    def test_a_closed_stdout(self):
        for arguments, stdin in self.each_printing_command():
            with self.subTest(arguments):
                result = run(*arguments, stdin=stdin, stdout=None, preexec_fn=lambda: os.close(1))
                self.assert_failure(result, 4, "error", "standard output", "Bad file descriptor")

    def test_a_pipe_without_reader(self):
        for arguments, stdin in self.each_printing_command():
            with self.subTest(arguments):
                reading, writing = os.pipe()
                os.close(reading)
                result = run(*arguments, stdin=stdin, stdout=writing)
                os.close(writing)
                self.assert_failure(result, 4, "error", "standard output", "Broken pipe")

    def test_a_closed_stderr_changes_no_exit_status(self):
        for close in ((2,), (1, 2), (0, 1, 2)):
            for arguments, expected in ((["validate"], 1), (["--version"], 4 if 1 in close else 0)):
                def preexec():
                    for descriptor in close:
                        os.close(descriptor)
                result = run(*arguments, stdin=None, stdout=None if 1 in close else subprocess.PIPE, stderr=None,
                             preexec_fn=preexec)
                self.assertEqual(result.status, expected, (close, arguments, result))

    def test_a_file_never_gets_the_number_of_stdout(self):
        path = self.write("m.json", manifest())
        before = self.read(path)
        result = run("validate", path, stdout=None, preexec_fn=lambda: (os.close(0), os.close(1)))
        self.assertEqual(result.status, 4, result)
        self.assertEqual(self.read(path), before)


class Terminal(Case):
    def test_a_sentence_and_a_hint(self):
        result = run_on_terminal("valdate", which=(2,), env={"NO_COLOR": "1"})
        self.assertEqual(result.status, 1)
        self.assertEqual(result.out, b"jobs: there is no command `valdate`\nhint: did you mean `jobs validate`?\n")

    def test_json_forces_the_line(self):
        result = run_on_terminal("valdate", "--json", which=(2,))
        self.assertTrue(result.out.startswith(b'{"error":"user_error","message":'), result)

    def test_colours_only_where_they_are_wanted(self):
        coloured = b"\x1b["
        self.assertIn(coloured, run_on_terminal("valdate").out)
        self.assertIn(coloured, run_on_terminal("valdate", env={"NO_COLOR": ""}).out)
        self.assertNotIn(coloured, run_on_terminal("valdate", env={"NO_COLOR": "1"}).out)
        self.assertNotIn(coloured, run_on_terminal("valdate", env={"TERM": "dumb"}).out)
        self.assertNotIn(coloured, run_on_terminal("valdate", "--json").out)
        self.assertNotIn(coloured, run("valdate").err)

    def test_only_the_descriptor_that_is_a_terminal_counts(self):
        result = run_on_terminal("valdate", which=(0, 1))
        self.assertTrue(result.err.startswith(b'{"error"'), result)


if __name__ == "__main__":
    harness.main()
