"""The relays of other people: how each is installed (into build/interop, versions pinned) and started.

A started relay has printed where it listens, or its port was seen to answer; stopping it waits until it is gone.
"""
import contextlib
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
INSTALLED = HERE.parent.parent / "build" / "interop"
START = 30  # seconds for a relay to come up


def run(log, *command, **more):
    with open(INSTALLED / log, "w") as out:
        if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **more).returncode:
            sys.exit(f"interop: failed: {' '.join(map(str, command))} (see build/interop/{log})")


def install_node():
    """@nostr-relay/core. SQLite's binding is compiled here: its install script would fetch a binary instead."""
    modules, lock = INSTALLED / "node", HERE / "package-lock.json"
    done = modules / "installed-package-lock.json"
    if done.exists() and done.read_bytes() == lock.read_bytes():
        return
    shutil.rmtree(modules, ignore_errors=True)
    modules.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, modules)
    print("interop: installing @nostr-relay/core and compiling its SQLite binding, one to two minutes", file=sys.stderr)
    run("npm-ci.log", "npm", "ci", "--ignore-scripts", cwd=modules)
    run("npm-rebuild.log", "npm", "rebuild", "better-sqlite3", cwd=modules)
    shutil.copy(lock, done)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Relay:
    """A running relay: `url`, and every line it printed so far in `log`."""

    def __init__(self, folder, command, env, told):
        self.log = folder / "relay.log"
        self.out = open(self.log, "w")
        self.process = subprocess.Popen(command, stdout=self.out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                        cwd=folder, env=env, start_new_session=True)
        try:
            self.url = self.wait_for(told).group(1).replace("http://", "ws://")
            self.wait_port()
        except BaseException:
            self.stop()
            raise

    def wait_for(self, pattern, seconds=START):
        """The first match of a line it prints."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if match := re.search(pattern, self.log.read_text(), re.M):
                return match
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.05)  # ends at once when the relay dies
                if not re.search(pattern, self.log.read_text(), re.M):
                    raise RuntimeError(f"the relay ended with {self.process.returncode}:\n{self.log.read_text()}")
        raise RuntimeError(f"the relay did not say {pattern} in {seconds} s:\n{self.log.read_text()}")

    def wait_port(self):
        host, port = re.fullmatch(r"ws://([^:/]+):(\d+)/?", self.url).groups()
        end = time.monotonic() + START
        while True:
            try:
                with socket.create_connection((host, int(port)), timeout=1):
                    return
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise RuntimeError(f"nothing listens at {self.url}:\n{self.log.read_text()}") from None
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(timeout=0.05)

    def stop(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(timeout=10)
        self.out.close()


def environment(folder):
    """Nothing of the caller's, but a home of its own: gunicorn and npm leave files in it."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8",
            "INTEROP_MODULES": str(INSTALLED / "node"), "PYTHONDONTWRITEBYTECODE": "1"}


def python_relay(folder, settings=""):
    """Python nostr-relay on SQLite: its own example configuration, with our port and file."""
    example = next((INSTALLED / "venv/lib").glob("python3*/site-packages/nostr_relay/config.yaml")).read_text()
    example = example.replace("bind: 127.0.0.1:6969", "bind: 127.0.0.1:0")
    example = example.replace("///nostr.sqlite3", f"///{folder}/nostr.sqlite3")
    (folder / "config.yaml").write_text(example + settings)
    command = [INSTALLED / "venv/bin/nostr-relay", "-c", "config.yaml", "serve"]
    return Relay(folder, command, environment(folder), r"Listening at: (http://\S+)")


def local_relay(folder, *arguments):
    """rust-nostr's LocalRelay, in memory."""
    command = [INSTALLED / "venv/bin/python", HERE / "local_relay.py", str(free_port()), *arguments]
    return Relay(folder, command, environment(folder), r"^(ws://[^\s/]+)")


def core_relay(folder, *arguments):
    """@nostr-relay/core on SQLite."""
    command = ["node", HERE / "core_relay.mjs", folder / "nostr.sqlite3", *arguments]
    return Relay(folder, command, environment(folder), r"^(ws://\S+)")


def rs_relay(folder):
    """nostr-rs-relay on SQLite, where somebody has built it: `cargo install nostr-rs-relay` takes ten minutes."""
    port = free_port()
    (folder / "config.toml").write_text(f'[network]\nport = {port}\naddress = "127.0.0.1"\n')
    command = [rs_relay_path(), "--db", folder, "--config", folder / "config.toml"]
    return Relay(folder, command, environment(folder) | {"RUST_LOG": "info"}, f"listening on: (127.0.0.1:{port})")


def rs_relay_path():
    built = INSTALLED / "bin/nostr-rs-relay"
    return str(built) if built.exists() else shutil.which("nostr-rs-relay")
