"""What the examples are run on: a relay of our own, a key, a channel. Everything lives in one folder below the build."""
import json
import os
import pathlib
import shutil
import subprocess
import uuid

SOURCE = pathlib.Path(os.environ.get("JOBS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("JOBS_BINARY_DIR", SOURCE / "build"))


def run(*command, **more):
    """Stdout of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def manifest(name):
    return (SOURCE / "examples/manifests" / name).read_text()


class Stand:
    def __init__(self, name):
        self.folder = BINARY / "stand" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.channel = str(uuid.uuid4())
        self.relay = subprocess.Popen([BINARY / "bin/jobs-relay", "--port", "0", "--dir", self.folder / "relay"],
                                      stdout=subprocess.PIPE, text=True)
        self.url = self.relay.stdout.readline().strip()
        self.environment = {"PATH": f"{BINARY}/bin:/usr/bin:/bin", "HOME": str(self.folder), "BUZZ_RELAY_URL": self.url}
        self.run("jobs", "keys", "new", self.folder / "key", ok=True)
        self.environment["BUZZ_PRIVATE_KEY"] = (self.folder / "key").read_text().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.relay.terminate()
        assert self.relay.wait(timeout=20) == 0, "the relay did not end clean"

    def run(self, *command, given="", ok=False, cwd=None):
        if command[0] == "jobs":
            command = (BINARY / "bin/jobs", *command[1:])
        done = subprocess.run(command, input=given, capture_output=True, text=True, env=self.environment,
                              cwd=cwd or self.folder, timeout=60)
        assert not ok or done.returncode == 0, done
        return done

    def request(self, text):
        return json.loads(self.run("jobs", "request", "--channel", self.channel, text, ok=True).stdout)["event_id"]

    def stored(self, event_id):
        """The event as the relay has it on disk."""
        for file in (self.folder / "relay").glob("**/*"):
            for line in file.read_text().splitlines() if file.is_file() else ():
                if event_id in line and (event := json.loads(line)).get("id") == event_id:
                    return event
        raise AssertionError(f"the relay does not have {event_id}")
