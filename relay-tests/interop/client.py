"""A Nostr client that shares no code with jobs: Python's json and hashlib, coincurve's signatures, websockets' sockets."""
import hashlib
import json
import os
import time

import coincurve
import websockets.sync.client

PATIENCE = 5  # seconds for an answer that must come


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def event_id(event):
    fields = [0, event["pubkey"], event["created_at"], event["kind"], event["tags"], event["content"]]
    return hashlib.sha256(compact(fields).encode()).hexdigest()


def holds(event):
    """Whether id and signature are what they should be."""
    author = coincurve.PublicKeyXOnly(bytes.fromhex(event["pubkey"]))
    return event["id"] == event_id(event) and author.verify(bytes.fromhex(event["sig"]), bytes.fromhex(event["id"]))


class Key:
    def __init__(self, secret=None):
        self.secret = coincurve.PrivateKey(secret or os.urandom(32))
        self.public = coincurve.PublicKeyXOnly.from_secret(self.secret.secret).format().hex()

    def sign(self, kind, tags, content, created_at=None):
        event = {"pubkey": self.public, "created_at": created_at or int(time.time()), "kind": kind, "tags": tags,
                 "content": content}
        event["id"] = event_id(event)
        event["sig"] = self.secret.sign_schnorr(bytes.fromhex(event["id"]), os.urandom(32)).hex()
        return event


class Client:
    """One connection. `said` holds every frame that came, in order."""

    def __init__(self, url):
        self.url = url
        self.key = Key()
        self.said = []
        self.socket = websockets.sync.client.connect(url, proxy=None, compression=None, max_size=None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def raw(self, text):
        self.socket.send(text)

    def send(self, *message):
        self.raw(compact(list(message)))

    def next(self, patience=PATIENCE):
        try:
            frame = json.loads(self.socket.recv(timeout=patience))
        except (TimeoutError, websockets.exceptions.ConnectionClosed):
            return None
        self.said.append(frame)
        return frame

    def until(self, wanted, patience=PATIENCE):
        """Frames up to the first that `wanted` takes, answering AUTH by the way; None when it does not come."""
        end = time.monotonic() + patience
        while (left := end - time.monotonic()) > 0:
            frame = self.next(left)
            if frame is None or wanted(frame):
                return frame
            if frame[0] == "AUTH":
                self.send("AUTH", self.key.sign(22242, [["relay", self.url], ["challenge", frame[1]]], ""))
        return None

    def publish(self, event, patience=PATIENCE):
        """The first thing said about the event: ["OK", id, true or false, text] or ["NOTICE", text]."""
        self.send("EVENT", event)
        about = lambda frame: frame[0] == "NOTICE" or frame[0] == "OK" and frame[1] in (event["id"], "")
        answer = self.until(about, patience)
        if answer and answer[0] == "OK" and answer[3].startswith("auth-required:"):
            # the challenge may come on either side of the refusal
            if not any(frame[0] == "OK" and frame[2] for frame in self.said):
                self.until(lambda frame: frame[0] == "OK" and frame[2])
            self.send("EVENT", event)
            answer = self.until(about, patience)
        return answer

    def find(self, **filters):
        """Every stored event of a filter."""
        for attempt in ("first", "after AUTH"):
            self.send("REQ", attempt, filters)
            end = self.until(lambda frame: frame[0] in ("EOSE", "CLOSED") and frame[1] == attempt)
            if end is None:
                raise AssertionError(f"no end of a query in {PATIENCE} s: {self.said[-3:]}")
            if end[0] == "EOSE":
                self.send("CLOSE", attempt)
                return [frame[2] for frame in self.said if frame[0] == "EVENT" and frame[1] == attempt]
            self.until(lambda frame: frame[0] == "OK" and frame[2])
        raise AssertionError(f"the query was refused: {end}")
