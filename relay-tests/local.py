"""Starts jobs-relay for a test and ends it again."""
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile

BIN = os.environ.get("JOBS_BIN_DIR") or os.path.join(os.path.dirname(__file__), "..", "build", "bin")


class Relay:
    """A running jobs-relay with a folder of its own; `with` ends it and removes the folder."""

    def __init__(self, *options, dir=None, wrapper=()):
        self.own = dir is None
        self.dir = dir or tempfile.mkdtemp(prefix="jobs-relay-")
        self.options, self.wrapper = options, wrapper
        self.process = self.log = None
        self.start()

    def start(self, *more):
        command = [*self.wrapper, os.path.join(BIN, "jobs-relay"), "--dir", self.dir, *self.options, *more]
        self.close_log()
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, bufsize=0)
        self.url = self.process.stdout.readline().decode().strip()
        fcntl.fcntl(self.process.stdout, fcntl.F_SETPIPE_SZ, 1 << 20)
        if not self.url:
            self.process.communicate()
            words = self.errors()
            self.close_log()
            raise RuntimeError(f"jobs-relay did not start: {words}")
        self.port = int(self.url.rsplit(":", 1)[1])

    def heard(self):
        """What a script's relay heard since the last call; it says so before it answers."""
        stream, text = self.process.stdout.fileno(), b""
        while select.select([stream], [], [], 0)[0] and (piece := os.read(stream, 65536)):
            text += piece
        return text.decode().splitlines()

    def close_log(self):
        if self.log is not None:
            self.log.close()

    def errors(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self, number=signal.SIGTERM):
        """Ends it; returns its exit status and the rest of its stdout."""
        if self.process is None:
            return None, ""
        self.process.send_signal(number)
        said, _ = self.process.communicate(timeout=20)
        status, self.process = self.process.returncode, None
        return status, said.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.close_log()
        if self.own:
            shutil.rmtree(self.dir, ignore_errors=True)

    def path(self):
        return os.path.join(self.dir, "events.jsonl")

    def stored(self):
        """The events on disk, in order."""
        try:
            with open(self.path(), encoding="utf-8") as file:
                return [json.loads(line) for line in file]
        except FileNotFoundError:
            return []
