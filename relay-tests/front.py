"""TLS in front of a relay that speaks none: certificates of every sort, and handshakes that end too early.

What the relay behind it does to its connection, the front does to the one in front: no close_notify is ever sent.
"""
import contextlib
import os
import select
import socket
import ssl
import struct
import subprocess
import threading
import time

DAY = 86400
HERE = "IP:127.0.0.1,DNS:localhost"
CERTIFICATES = {  # name: (what it is for, who signed it, valid from, to, in days)
    "good": (HERE, "ca", -1, 1),
    "expired": (HERE, "ca", -2, -1),
    "early": (HERE, "ca", 1, 2),
    "other-host": ("DNS:relay.example", "ca", -1, 1),
    "stranger": (HERE, "stranger", -1, 1),
    "self-signed": (HERE, None, -1, 1),
}
CONFIG = """[ca]
default_ca=it
[it]
database={0}/index
serial={0}/serial
new_certs_dir={0}
default_md=sha256
policy=any
unique_subject=no
[any]
commonName=supplied
[leaf]
basicConstraints=CA:FALSE
subjectAltName={1}
[ca_ext]
basicConstraints=critical,CA:TRUE
[req]
distinguished_name=none
[none]
"""


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def when(days):
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + days * DAY))


class Authority:
    """Makes certificates; `file` is what a command is to trust."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "tls")
        os.mkdir(self.folder)
        self.number = 0
        for name in ("ca", "stranger"):
            self.make(name, None, -1, 1, "ca_ext")
        self.file = self.path("ca.pem")

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, signer, begin, end, extensions="leaf", names=HERE):
        """Its certificate in NAME.pem, its key in NAME.key."""
        self.number += 1
        for file, text in (("config", CONFIG.format(self.folder, names)), ("index", ""), ("serial", f"{self.number:02x}\n")):
            with open(self.path(file), "w", encoding="ascii") as out:
                out.write(text)
        key, request = self.path(name + ".key"), self.path("request")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                "-subj", f"/CN={name}", "-out", request, "-config", self.path("config"))
        by = ("-cert", self.path(signer + ".pem"), "-keyfile", self.path(signer + ".key")) if signer else \
            ("-selfsign", "-keyfile", key)
        openssl("ca", "-batch", "-notext", "-config", self.path("config"), "-extensions", extensions, "-in", request,
                "-out", self.path(name + ".pem"), "-startdate", when(begin), "-enddate", when(end), *by)

    def context(self, which):
        names, signer, begin, end = CERTIFICATES[which]
        name = f"leaf-{which}"
        if not os.path.exists(self.path(name + ".pem")):
            self.make(name, signer, begin, end, names=names)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path(name + ".pem"), self.path(name + ".key"))
        context.set_alpn_protocols(["http/1.1"])
        return context


class Front:
    """Listens with TLS and passes on to 127.0.0.1:port. cut: the first connection ends within the handshake."""

    def __init__(self, context, port, cut=False):
        self.context, self.port, self.cut = context, port, cut
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"wss://127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.server.accept()
                threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        with contextlib.suppress(OSError), peer:
            if self.cut:
                self.cut = False
                peer.recv(1)
                return
            with self.context.wrap_socket(peer, server_side=True) as outer, \
                    socket.create_connection(("127.0.0.1", self.port)) as inner:
                try:
                    pass_on(outer, inner)
                except ConnectionResetError:
                    outer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def stop(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()


def pass_on(outer, inner):
    while True:
        ready = [outer] if outer.pending() else select.select([outer, inner], [], [])[0]
        for source, sink in ((outer, inner), (inner, outer)):
            if source in ready:
                piece = source.recv(65536)
                if not piece:
                    return
                sink.sendall(piece)
