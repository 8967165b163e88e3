"""Nostr events and a WebSocket client from Python's standard library alone. It shares no code with jobs: hashlib hashes,
json writes, and BIP-340 is spelled out below. Slow (2 ms a signature) and not constant in time: for tests, with
throw-away keys."""
import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import time
import urllib.parse

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
     0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8, 1)


def double(p):
    x, y, z = p
    if y == 0:
        return (0, 1, 0)
    s = 4 * x * y * y % P
    m = 3 * x * x % P
    x3 = (m * m - 2 * s) % P
    return (x3, (m * (s - x3) - 8 * pow(y, 4, P)) % P, 2 * y * z % P)


def add(p, q):
    if p[2] == 0:
        return q
    if q[2] == 0:
        return p
    z1, z2 = p[2] * p[2] % P, q[2] * q[2] % P
    u1, u2 = p[0] * z2 % P, q[0] * z1 % P
    s1, s2 = p[1] * z2 * q[2] % P, q[1] * z1 * p[2] % P
    if u1 == u2:
        return double(p) if s1 == s2 else (0, 1, 0)
    h, r = (u2 - u1) % P, (s2 - s1) % P
    h2, h3 = h * h % P, pow(h, 3, P)
    x3 = (r * r - h3 - 2 * u1 * h2) % P
    return (x3, (r * (u1 * h2 - x3) - s1 * h3) % P, h * p[2] * q[2] % P)


def times(k, p=G):
    result = (0, 1, 0)
    while k:
        if k & 1:
            result = add(result, p)
        p = double(p)
        k >>= 1
    return result


def affine(p):
    inverse = pow(p[2], -1, P)
    return p[0] * inverse * inverse % P, p[1] * pow(inverse, 3, P) % P


def tagged(tag, data):
    t = hashlib.sha256(tag.encode()).digest()
    return hashlib.sha256(t + t + data).digest()


def lift(x):
    y = pow((pow(x, 3, P) + 7) % P, (P + 1) // 4, P)
    if y * y % P != (pow(x, 3, P) + 7) % P:
        raise ValueError("no such point")
    return (x, y if y % 2 == 0 else P - y, 1)


def verifies(public, message, signature):
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if r >= P or s >= N:
        return False
    e = int.from_bytes(tagged("BIP0340/challenge", signature[:32] + public + message), "big") % N
    point = add(times(s), times(N - e, lift(int.from_bytes(public, "big"))))
    if point[2] == 0:
        return False
    x, y = affine(point)
    return y % 2 == 0 and x == r


class Key:
    def __init__(self, secret=None):
        self.secret = int.from_bytes(secret or os.urandom(32), "big") % N
        x, y = affine(times(self.secret))
        self.d = self.secret if y % 2 == 0 else N - self.secret
        self.bytes = x.to_bytes(32, "big")
        self.public = self.bytes.hex()

    def hex(self):
        return self.secret.to_bytes(32, "big").hex()

    def sign_bytes(self, message):
        t = (self.d ^ int.from_bytes(tagged("BIP0340/aux", os.urandom(32)), "big")).to_bytes(32, "big")
        k = int.from_bytes(tagged("BIP0340/nonce", t + self.bytes + message), "big") % N
        x, y = affine(times(k))
        k = k if y % 2 == 0 else N - k
        r = x.to_bytes(32, "big")
        e = int.from_bytes(tagged("BIP0340/challenge", r + self.bytes + message), "big") % N
        return r + ((k + e * self.d) % N).to_bytes(32, "big")

    def sign(self, kind, tags, content, created_at=None):
        event = {"id": "", "pubkey": self.public, "created_at": int(time.time()) if created_at is None else created_at,
                 "kind": kind, "tags": tags, "content": content}
        event["id"] = event_id(event)
        event["sig"] = self.sign_bytes(bytes.fromhex(event["id"])).hex()
        return event


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def event_id(event):
    fields = [0, event["pubkey"], event["created_at"], event["kind"], event["tags"], event["content"]]
    return hashlib.sha256(compact(fields).encode()).hexdigest()


def holds(event):
    """Whether id and signature are what they should be."""
    return event["id"] == event_id(event) and verifies(bytes.fromhex(event["pubkey"]), bytes.fromhex(event["id"]),
                                                       bytes.fromhex(event["sig"]))


class Closed(Exception):
    """The connection ended; code is the close frame's, None without one."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed: {code} {reason}")
        self.code, self.reason = code, reason


class Refused(Exception):
    """HTTP instead of a WebSocket."""

    def __init__(self, status, headers, body):
        super().__init__(f"HTTP {status}")
        self.status, self.headers, self.body = status, headers, body


def http(url, method_and_headers, ca=None, patience=5):
    """Sends a request, returns socket, status, headers and what came behind them."""
    parts = urllib.parse.urlsplit(url)
    secure = parts.scheme == "wss"
    port = parts.port or (443 if secure else 80)
    wire = socket.create_connection((parts.hostname, port), patience)
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if secure:
        wire = ssl.create_default_context(cafile=ca).wrap_socket(wire, server_hostname=parts.hostname)
    host = f"{parts.hostname}:{port}"
    wire.sendall(f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {host}\r\n{method_and_headers}\r\n".encode())
    data = b""
    while b"\r\n\r\n" not in data:
        piece = wire.recv(65536)
        if not piece:
            wire.close()
            raise Closed(None, "no HTTP answer")
        data += piece
    head, rest = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    headers = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
    return wire, int(lines[0].split()[1]), headers, rest


def get(url, accept="*/*", ca=None):
    wire, status, headers, body = http(url, f"Accept: {accept}\r\nConnection: close\r\n", ca)
    with wire:
        while len(body) < int(headers.get("content-length", 0)):
            body += wire.recv(65536)
    return status, headers, body.decode()


class Client:
    """One connection. next() is the next message as parsed JSON; text() as it came."""

    def __init__(self, url, key=None, ca=None, patience=5):
        self.url, self.key, self.patience = url, key or Key(), patience
        self.at = 0  # what has been taken of data
        nonce = base64.b64encode(os.urandom(16)).decode()
        self.wire, status, self.headers, self.data = http(
            url, f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {nonce}\r\n",
            ca, patience)
        if status != 101:
            length = int(self.headers.get("content-length", 0))
            while len(self.data) < length:
                self.data += self.wire.recv(65536)
            self.wire.close()
            raise Refused(status, self.headers, self.data.decode())
        expected = base64.b64encode(hashlib.sha1((nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        if self.headers.get("sec-websocket-accept") != expected.decode():
            self.wire.close()
            raise Closed(None, "wrong Sec-WebSocket-Accept")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()

    def close(self):
        self.wire.close()

    def frame(self, opcode, payload, final=True):
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([(0x80 if final else 0) | opcode])
        head += bytes([0x80 | size]) if size < 126 else \
            bytes([0x80 | 126]) + struct.pack(">H", size) if size < 65536 else bytes([0x80 | 127]) + struct.pack(">Q", size)
        masked = (int.from_bytes(payload, "big") ^
                  int.from_bytes((mask * (size // 4 + 1))[:size], "big")).to_bytes(size, "big") if size else b""
        self.wire.sendall(head + mask + masked)

    def raw(self, text):
        self.frame(1, text.encode() if isinstance(text, str) else text)

    def send(self, *message):
        self.raw(compact(list(message)))

    def take(self, count, deadline):
        while len(self.data) - self.at < count:
            self.wire.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                piece = self.wire.recv(1 << 16)
            except TimeoutError:
                raise TimeoutError("nothing came") from None
            except OSError as reason:
                raise Closed(None, str(reason)) from None
            if not piece:
                raise Closed(None, "end of stream")
            self.data, self.at = self.data[self.at:] + piece, 0
        self.at += count
        return self.data[self.at - count:self.at]

    def text(self, patience=None):
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        message = b""
        while True:
            first, second = self.take(2, deadline)
            size = second & 0x7F
            if size == 126:
                size, = struct.unpack(">H", self.take(2, deadline))
            elif size == 127:
                size, = struct.unpack(">Q", self.take(8, deadline))
            payload = self.take(size, deadline)
            opcode = first & 0x0F
            if opcode == 8:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None
                raise Closed(code, payload[2:].decode())
            if opcode == 9:
                self.frame(10, payload)
            elif opcode <= 2:
                message += payload
                if first & 0x80:
                    return message.decode()

    def next(self, patience=None):
        return json.loads(self.text(patience))

    def quiet(self, patience=0.2):
        """Nothing comes within the time."""
        try:
            frame = self.next(patience)
        except TimeoutError:
            return
        raise AssertionError(f"unexpected: {frame}")

    def authenticate(self, challenge=None, url=None, created_at=None):
        """Answers the challenge (the next message, unless given); returns the OK."""
        if challenge is None:
            verb, challenge = self.next()
            assert verb == "AUTH", verb
        event = self.key.sign(22242, [["relay", url or self.url], ["challenge", challenge]], "", created_at)
        self.send("AUTH", event)
        return self.next()

    def publish(self, event):
        self.send("EVENT", event)
        return self.next()

    def ask(self, *filters, name="q"):
        """The events of a REQ up to EOSE."""
        self.send("REQ", name, *filters)
        found = []
        while True:
            frame = self.next()
            if frame[0] == "EVENT":
                assert frame[1] == name, frame
                found.append(frame[2])
            elif frame[0] == "EOSE":
                return found
            else:
                raise AssertionError(f"unexpected: {frame}")
