"""`jobs keys`, and how a key is treated."""
import os

import harness
from harness import PUBLIC, SECRET, Case, run, start_reading


class Keys(Case):
    def test_new_makes_a_file_that_show_reads(self):
        path = self.path("key")
        result = run("keys", "new", path)
        self.assertEqual((result.status, result.err), (0, b""), result)
        self.assertEqual(list(result.line), ["public_key", "key_file"])
        self.assertEqual(result.line["key_file"], path)
        self.assertRegex(result.line["public_key"], r"^[0-9a-f]{64}$")
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o600)
        secret = self.read(path)
        self.assertRegex(secret, r"^nsec1[a-z0-9]{58}\n$")
        self.assertNotIn(secret.strip(), result.out.decode())
        shown = run("keys", "show", "--key-file", path)
        self.assertEqual(shown.line, {"public_key": result.line["public_key"]})
        self.assertEqual(run("keys", "show", env={"BUZZ_PRIVATE_KEY": secret}).line, shown.line)

    def test_new_never_writes_over_a_file(self):
        path = self.write("key", "precious")
        result = run("keys", "new", path)
        self.assertNotEqual(result.status, 0)
        self.assertEqual(self.read(path), "precious")
        os.symlink(path, self.path("link"))
        self.assertNotEqual(run("keys", "new", self.path("link")).status, 0)
        self.assertEqual(self.read(path), "precious")

    def test_show_from_variable_and_file(self):
        self.assertEqual(run("keys", "show", env={"BUZZ_PRIVATE_KEY": SECRET}).line, {"public_key": PUBLIC})
        self.assertEqual(run("keys", "show", env={"BUZZ_PRIVATE_KEY": f"  {SECRET.upper()}\n"}).line["public_key"], PUBLIC)
        self.assertEqual(run("keys", "show", "--key-file", self.key_file()).line["public_key"], PUBLIC)
        # The flag beats the variable.
        self.assertEqual(
            run("keys", "show", "--key-file", self.key_file(), env={"BUZZ_PRIVATE_KEY": "1" * 64}).line["public_key"], PUBLIC)

    def test_no_or_bad_key(self):
        for env in ({}, {"BUZZ_PRIVATE_KEY": ""}, {"BUZZ_PRIVATE_KEY": "abc"}, {"BUZZ_PRIVATE_KEY": "0" * 64}):
            result = run("keys", "show", env=env)
            self.assert_failure(result, 3, "key_error")
            self.assertNotIn(b"abc", result.err)
        self.assert_failure(run("keys", "show"), 3, "key_error", "BUZZ_PRIVATE_KEY", "--key-file")
        self.assert_failure(run("keys", "show", "--key-file", self.path("missing")), 3, "key_error", "missing")
        self.assert_failure(run("keys", "show", "--key-file", self.key_file("bad", "not a key")), 3, "key_error")

    def test_a_file_that_others_can_read_is_refused(self):
        for mode in (0o644, 0o640, 0o604, 0o660):
            result = run("keys", "show", "--key-file", self.key_file(mode=mode))
            self.assert_failure(result, 3, "key_error", "chmod")
            os.unlink(self.path("key"))

    def test_the_variable_is_gone_while_it_works(self):
        """/proc/PID/environ no longer holds the key once the process waits for something else."""
        child = start_reading("validate", "-", env={"BUZZ_PRIVATE_KEY": SECRET})
        if os.geteuid() == 0:  # others may not even look any more
            with open(f"/proc/{child.pid}/environ", "rb") as variables:
                content = variables.read()
            self.assertIn(b"BUZZ_PRIVATE_KEY", content)
            self.assertNotIn(SECRET.encode(), content)
        self.assertEqual(os.stat(f"/proc/{child.pid}/environ").st_uid, 0)  # PR_SET_DUMPABLE 0
        child.communicate(timeout=30)

    def test_no_key_in_any_output(self):
        for arguments in (["keys", "show"], ["validate", "-"]):
            result = run(*arguments, env={"BUZZ_PRIVATE_KEY": SECRET})
            self.assertNotIn(SECRET.encode(), result.out + result.err)


if __name__ == "__main__":
    harness.main()
