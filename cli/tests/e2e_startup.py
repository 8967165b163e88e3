"""Nothing is initialised that a command does not use. OpenSSL's configuration is a FIFO here: whoever starts OpenSSL as
a whole opens it, and waits for its other end."""
import os
import subprocess

import harness
from harness import CHANNEL, JOB, SECRET, Case, manifest, run


class OpenSsl(Case):
    def setUp(self):
        super().setUp()
        self.fifo = self.path("openssl.cnf")
        os.mkfifo(self.fifo)
        self.env = {"OPENSSL_CONF": self.fifo, "BUZZ_PRIVATE_KEY": SECRET, "JOBS_STATE_DIR": self.path("state")}

    def test_is_not_started_without_a_relay(self):
        self.assertEqual(run("--version", env=self.env).status, 0)
        self.assertEqual(run("validate", "--job", JOB, "-", stdin=manifest(jobRequest=None), env=self.env).status, 0)
        self.assertEqual(run("outbox", "list", env=self.env).status, 0)

    def test_is_not_started_for_ws(self):
        relay = subprocess.Popen([harness.RELAY, "--port", "0", "--dir", self.path("relay")], stdout=subprocess.PIPE,
                                 env=harness.environment())
        try:
            url = relay.stdout.readline().decode().strip()
            result = run("handoff", "--relay", url, "--channel", CHANNEL, "--job", JOB, "--manifest", "-",
                         stdin=manifest(jobRequest=None), env=self.env)
        finally:
            relay.terminate()
            relay.wait(10)
            relay.stdout.close()
        self.assertEqual((result.status, result.line["relays"][0]["read_back"]), (0, "confirmed"), result)

    def test_is_started_for_wss(self):
        child = subprocess.Popen(
            [harness.JOBS, "handoff", "--relay", "wss://127.0.0.1:1", "--channel", CHANNEL, "--job", JOB, "--timeout", "1",
             "--manifest", self.write("manifest", manifest(jobRequest=None))],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.environment(**self.env))
        os.close(os.open(self.fifo, os.O_WRONLY))  # returns when the other end is opened
        self.assertEqual(child.wait(30), 2)


if __name__ == "__main__":
    harness.main()
