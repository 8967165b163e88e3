"""What the end-to-end tests share: the real binary in a clean environment, on pipes or on a pseudo-terminal."""
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

JOBS = os.environ.get("JOBS_BIN") or os.path.join(os.path.dirname(__file__), "../../build/bin/jobs")
RELAY = os.environ.get("JOBS_RELAY_BIN") or os.path.join(os.path.dirname(JOBS), "jobs-relay")

SECRET = "0000000000000000000000000000000000000000000000000000000000000003"
PUBLIC = "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9"
CHANNEL = "123e4567-e89b-42d3-a456-426614174000"
JOB = "ab" * 32


def environment(**more):
    """PATH, a home of its own, and nothing of the caller's configuration."""
    clean = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm", "HOME": more.pop("HOME", "/nonexistent")}
    for name in os.environ:
        if name.endswith("SAN_OPTIONS"):
            clean[name] = os.environ[name]
    clean.update({name: value for name, value in more.items() if value is not None})
    return clean


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def line(self):
        """The one object on stdout, its members in order."""
        lines = self.out.decode().splitlines()
        assert len(lines) == 1, self
        return json.loads(lines[0])

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.decode().splitlines()]

    @property
    def failure(self):
        """The one object on stderr."""
        assert self.err.endswith(b"\n") and self.err.count(b"\n") == 1, self
        return json.loads(self.err)

    def __repr__(self):
        return f"exit {self.status}\nstdout: {self.out!r}\nstderr: {self.err!r}"


def run(*arguments, stdin=b"", env=None, timeout=30, **options):
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    done = subprocess.run([JOBS, *arguments], env=environment(**(env or {})), timeout=timeout, **given, **options)
    return Result(done.returncode, done.stdout, done.stderr)


def start_reading(*arguments, env=None):
    """Starts a command that reads stdin, and returns once it has begun to: it took the byte it was given."""
    import array
    import fcntl
    import termios

    child = subprocess.Popen([JOBS, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment(**(env or {})), bufsize=0)
    child.stdin.write(b"{")
    left = array.array("i", [1])
    while left[0] != 0 and child.poll() is None:
        fcntl.ioctl(child.stdin, termios.FIONREAD, left)
        os.sched_yield()
    return child


def run_on_terminal(*arguments, env=None, which=(0, 1, 2), typed=b"", columns=80, rows=24, timeout=30, stdin=None):
    """Runs with the named descriptors on a pseudo-terminal; the others are pipes. Result.out is what the terminal
    showed, Result.err what the pipes got."""
    import fcntl
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    child = subprocess.Popen(
        [JOBS, *arguments],
        env=environment(**(env or {})),
        stdin=slave if 0 in which else (stdin or subprocess.DEVNULL),
        stdout=slave if 1 in which else subprocess.PIPE,
        stderr=slave if 2 in which else subprocess.PIPE,
        start_new_session=True,
    )
    os.close(slave)
    if typed:
        os.write(master, typed)
    piped = [pipe for pipe in (child.stdout, child.stderr) if pipe]
    shown, rest, deadline = b"", b"", time.monotonic() + timeout
    open_ends = [master, *[pipe.fileno() for pipe in piped]]
    while open_ends:
        ready, _, _ = select.select(open_ends, [], [], max(0, deadline - time.monotonic()))
        if not ready:
            child.kill()
            raise TimeoutError(f"{arguments}: {shown!r} {rest!r}")
        for end in ready:
            try:
                got = os.read(end, 65536)
            except OSError:  # EIO: the last one has closed the terminal
                got = b""
            if not got:
                open_ends.remove(end)
            elif end == master:
                shown += got
            else:
                rest += got
    status = child.wait(timeout)
    for pipe in piped:
        pipe.close()
    os.close(master)
    return Result(status, shown.replace(b"\r\n", b"\n"), rest)


class Case(unittest.TestCase):
    """Has a folder of its own, and asserts with the whole result in the message."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jobs-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def key_file(self, name="key", content=SECRET, mode=0o600):
        path = self.write(name, content + "\n")
        os.chmod(path, mode)
        return path

    def assert_failure(self, result, status, category, *words):
        """One line on stderr with the members in their order, and the words in its message or hint."""
        self.assertEqual(result.status, status, result)
        failure = result.failure
        self.assertEqual(list(failure)[:3], ["error", "message", "retryable"], result)
        self.assertEqual(failure["error"], category, result)
        order = ["error", "message", "retryable", "event_id", "stored", "retry_after", "violations", "relays", "hint"]
        named = [member for member in failure if member in order]
        self.assertEqual(named, [member for member in order if member in failure], result)
        text = failure["message"] + " " + failure.get("hint", "")
        for word in words:
            self.assertIn(word, text, result)
        return failure


def main():
    """Runs the tests of the calling file; a suite of no tests fails."""
    program = unittest.main(module="__main__", exit=False)
    sys.exit(0 if program.result.wasSuccessful() and program.result.testsRun > 0 else 1)


def template():
    return json.loads(run("template").out)


def manifest(**changes):
    """The template, with members replaced, or left out where the value is None."""
    whole = template()
    whole.update(changes)
    return json.dumps({name: value for name, value in whole.items() if value is not None}).encode()
