"""Measures `jobs list` and `jobs watch` on a channel of very many handoffs: feed.py BUILD [COUNT]

Prints, for each, the time from the first byte the relay sends of an event to the first line on stdout, the whole time,
and the peak resident memory. COUNT (100000) handoffs of about 2 KB are put into the relay's folder first.
"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
CHANNEL = "00000000-0000-4000-8000-000000000000"


class Tap:
    """Passes bytes on, and notes when the first event went by."""

    def __init__(self, port):
        self.port, self.first = port, None
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "ws://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near = self.socket.accept()[0]
            far = socket.create_connection(("127.0.0.1", self.port))
            threading.Thread(target=self.carry, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self.carry, args=(far, near, True), daemon=True).start()

    def carry(self, source, sink, listens):
        try:
            while piece := source.recv(1 << 16):
                if listens and self.first is None and b'["EVENT"' in piece:
                    self.first = time.monotonic()
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def measure(what, port, lines, *command):
    tap = Tap(port)
    began = time.monotonic()
    child = subprocess.Popen([BUILD / "bin/jobs", *command, "--relay", tap.url, "--channel", CHANNEL],
                             stdout=subprocess.PIPE, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
    count, first = 0, None
    while piece := os.read(child.stdout.fileno(), 1 << 16):
        first = first or time.monotonic()
        count += piece.count(b"\n")
        if lines is not None and count >= lines:
            child.send_signal(signal.SIGINT)
            lines = None
    took = time.monotonic() - began
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    print(f"| {what} | {count} | {(first - tap.first) * 1000:.0f} ms | {took:.2f} s | {usage.ru_maxrss / 1024:.1f} MiB |",
          flush=True)


with tempfile.TemporaryDirectory(prefix="jobs-feed-") as folder:
    with open(f"{folder}/events.jsonl", "wb") as file:
        subprocess.run([BUILD / "bench/bench-events", str(COUNT), "64"], stdout=file, check=True)
    relay = subprocess.Popen([BUILD / "bin/jobs-relay", "--dir", folder], stdout=subprocess.PIPE, text=True)
    port = int(relay.stdout.readline().strip().rsplit(":", 1)[1])
    try:
        print("| what | lines | first event to first line | whole | peak memory |\n|---|---|---|---|---|")
        measure("list", port, None, "list")
        measure("list --limit 1000", port, None, "list", "--limit", "1000")
        measure("list --limit 0", port, None, "list", "--limit", "0", "--timeout", "600")
        measure("watch --since, 1,000 of them", port, 1000, "watch", "--since", "1")
        measure("watch --since, all", port, COUNT, "watch", "--since", "1")
    finally:
        relay.terminate()
        relay.wait()
