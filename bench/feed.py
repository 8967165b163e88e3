"""Rows: `jobs list` and `jobs watch` on a channel of very many handoffs, and how their memory grows with the channel.

Once with one handoff a second, and once with thousands in each, as an import leaves them. What counts is the time from
the first byte of an event that the relay sends to the first line on stdout.
"""
import os
import shutil
import signal
import socket
import sys
import threading
import time

from measure import CHANNEL, port, spread


class Tap:
    """Passes bytes on, and notes when the first event went by."""

    def __init__(self, url):
        self.port, self.first = port(url), None
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "ws://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.socket.accept()[0]
            except OSError:
                return  # closed
            far = socket.create_connection(("127.0.0.1", self.port))
            for one in near, far:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def first_line(bench, url, lines, *command):
    """Milliseconds to the first line, and peak KiB at the end; that is after so many lines, of a command without end."""
    tap = Tap(url)
    child, cost = bench.start(bench.jobs, *command, "--relay", tap.url, "--channel", CHANNEL)
    count, first = 0, None
    while piece := os.read(child.stdout.fileno(), 1 << 16):
        first = first or time.monotonic()
        count += piece.count(b"\n")
        if lines is not None and count >= lines:
            child.send_signal(signal.SIGINT)
            lines = None
    _, errors = child.communicate()
    tap.close()
    if first is None:
        sys.exit(f"bench: jobs {command[0]} says nothing\n{errors.decode()}")
    return (first - tap.first) * 1000, cost()[1]


def channel(bench, count, a_second):
    """A relay that holds such a channel."""
    folder = bench.place / f"channel-{count}-{a_second}"
    folder.mkdir()
    os.rename(bench.events(count, 64, a_second), folder / "events.jsonl")
    return bench.relay(bench.build / "bin/jobs-relay", "--port", "0", "--dir", folder)


def rows(bench):
    count = 10000 if bench.quick else 100000
    commands = (("list", None, ["list"]), ("watch --since", 1000, ["watch", "--since", "1"]))
    for a_second, spacing in ((1, "one a second"), (25000, "25,000 a second")):
        with channel(bench, 1000, a_second) as small, channel(bench, count, a_second) as large:
            for name, lines, command in commands:
                few, many = [], []
                for _ in range(bench.bulk):
                    few.append(first_line(bench, small, lines, *command))
                    many.append(first_line(bench, large, lines, *command))
                _, text = spread([ms for ms, _ in many])
                peaks = [max(kib for _, kib in runs) for runs in (few, many)]
                yield (f"jobs {name}, channel of {count:,}, {spacing}: first event to first line", text + " ms",
                       f"{peaks[1] / peaks[0]:.2f} × the memory of 1,000", f"{peaks[1]} KiB")
        shutil.rmtree(bench.place / f"channel-{count}-{a_second}")
