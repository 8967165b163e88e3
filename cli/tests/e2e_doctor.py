"""`jobs doctor` against jobs-relay, plain, as Buzz, over TLS and scripted, and against what is none."""
import json
import os
import socket
import subprocess
import time

import harness
from harness import CHANNEL, JOB, SECRET, Case, run, run_on_terminal

CHECKS = ["name", "reach", "tls", "upgrade", "clock", "auth", "read", "channel", "job", "kinds", "limits"]


class Doctor(Case):
    def relay(self, *arguments, script=None):
        folder = self.path(f"relay-{len(os.listdir(self.folder))}")
        os.mkdir(folder)
        if script is not None:
            self.write(folder + ".relay", script)
            arguments = (*arguments, "--script", folder + ".relay")
        child = subprocess.Popen([harness.RELAY, "--port", "0", "--dir", folder, *arguments], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, env=harness.environment())
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait, 10)
        self.addCleanup(child.terminate)
        self.heard = child.stdout
        self.store = os.path.join(folder, "events.jsonl")
        return child.stdout.readline().decode().strip()

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def doctor(self, *arguments, key=SECRET):
        return run("doctor", *arguments, "--state-dir", self.path("state"), "--timeout", "6", env={"BUZZ_PRIVATE_KEY": key})

    def states(self, line):
        self.assertEqual(list(line["checks"]), CHECKS)
        return {name: check["state"] for name, check in line["checks"].items()}

    def test_all_is_well(self):
        for profile in "plain", "buzz":
            url = self.relay("--profile", profile)
            done = self.doctor("--relay", url, "--channel", CHANNEL)
            self.assertEqual((done.status, done.err), (0, b""), done)
            line = done.line
            self.assertEqual((line["url"], line["ok"]), (url, True))
            self.assertEqual(self.states(line), {**dict.fromkeys(CHECKS, "ok"), "tls": "skipped", "job": "skipped",
                                                 "kinds": "skipped"})
            self.assertEqual(line["auth"], {"asked": profile == "buzz", "accepted": profile == "buzz"})
            self.assertEqual(line["information"]["name"], "jobs-relay")
            self.assertIn(11, line["information"]["supported_nips"])
            self.assertTrue(line["outbox"]["writable"])
            self.assertGreater(line["outbox"]["free_bytes"], 0)
            self.assertFalse(os.path.exists(self.path("state")), "it made a folder")
            self.assertFalse(os.path.exists(self.store) and os.path.getsize(self.store), "it published something")

    def test_a_list_for_a_person(self):
        done = run_on_terminal("doctor", "--relay", self.relay(), "--state-dir", self.path("state"),
                               env={"BUZZ_PRIVATE_KEY": SECRET, "NO_COLOR": "1"})
        self.assertEqual(done.status, 0, done)
        text = done.out.decode()
        self.assertIn("(jobs-relay, jobs-relay)", text)
        self.assertIn("  ok      upgrade  it speaks WebSocket\n", text)
        self.assertRegex(text, r"outbox .*state\n  ok      disk     \d+ MiB free, 0 waiting\n")

    def test_the_request(self):
        url = self.relay()
        asked = run("request", "--relay", url, "--channel", CHANNEL, "Count them.", env={"BUZZ_PRIVATE_KEY": SECRET})
        job = asked.line["event_id"]
        line = self.doctor("--relay", url, "--channel", CHANNEL, "--job", job).line
        self.assertEqual({self.states(line)[name] for name in ("channel", "job", "kinds")}, {"ok"})
        other = CHANNEL.replace("123", "321", 1)
        done = self.doctor("--relay", url, "--channel", other, "--job", job)
        self.assertEqual((done.status, self.states(done.line)["job"]), (1, "failed"), done)
        done = self.doctor("--relay", url, "--job", JOB)
        self.assertEqual((done.status, done.failure["error"]), (1, "not_found"), done)

    def test_nobody_there(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            dead = f"ws://127.0.0.1:{taken.getsockname()[1]}"
            good = self.relay()
            done = self.doctor("--relay", dead, "--relay", good, "--relay", "ws://no-such-host.invalid")
        self.assertEqual((done.status, done.failure["error"]), (2, "network_error"), done)
        first, second, third = done.lines
        self.assertEqual((first["ok"], self.states(first)["name"], self.states(first)["reach"]), (False, "ok", "failed"))
        self.assertTrue(second["ok"])
        self.assertEqual((third["ok"], self.states(third)["name"]), (False, "failed"))

    def test_keys(self):
        done = self.doctor("--relay", self.relay(), key="")
        self.assertEqual((done.status, self.states(done.line)["auth"]), (3, "failed"), done)
        refuses = 'on CONNECT challenge\non AUTH ok false "auth-required: who is that"\n'
        done = self.doctor("--relay", self.relay(script=refuses + 'on REQ closed "auth-required: we do not know you"\n'))
        self.assertEqual((done.status, done.failure["error"]), (3, "auth_error"), done)
        self.assertIn("who is that", done.failure["message"])
        # A handoff gets through where AUTH is refused, but not demanded.
        done = self.doctor("--relay", self.relay(script=refuses))
        self.assertEqual((done.status, self.states(done.line)["auth"], self.states(done.line)["read"]), (0, "warning", "ok"))
        self.assertIn("who is that", done.line["checks"]["auth"]["message"])
        done = self.doctor("--relay", self.relay(script='on CONNECT challenge\non AUTH silence\n'))
        self.assertIn("AUTH was not answered", done.line["checks"]["auth"]["message"])

    def test_refused_on_one_challenge_and_taken_on_the_next(self):
        script = ('on REQ first closed "auth-required: who"; challenge\non AUTH first challenge; ok false "restricted: no"\n'
                  'on AUTH ok\n')
        done = self.doctor("--relay", self.relay(script=script))
        self.assertEqual((done.status, done.err), (0, b""), done)
        self.assertEqual(self.states(done.line), {**dict.fromkeys(CHECKS, "ok"), "tls": "skipped", "channel": "skipped",
                                                  "job": "skipped", "kinds": "skipped"})
        self.assertEqual(done.line["auth"], {"asked": True, "accepted": True})

    def test_the_channel(self):
        members = 'on REQ second closed "restricted: not a channel member"\n'
        done = self.doctor("--relay", self.relay(script=members), "--channel", CHANNEL)
        self.assertEqual((done.status, self.states(done.line)["channel"]), (3, "failed"), done)
        self.assertIn("not a channel member", done.failure["message"])
        done = self.doctor("--relay", self.relay(script="on REQ silence\n"))
        self.assertEqual((done.status, self.states(done.line)["read"]), (0, "warning"), done)
        wants = 'on REQ first challenge; closed "auth-required: who are you"\n'
        done = self.doctor("--relay", self.relay(script=wants), "--channel", CHANNEL)
        self.assertEqual((done.status, done.line["auth"]), (0, {"asked": True, "accepted": True}), done)
        line = self.doctor("--relay", self.relay(script='on REQ close 1008 "go away"\n')).line
        self.assertIn("go away", line["checks"]["read"]["message"])

    def test_the_clock(self):
        done = self.doctor("--relay", self.relay(script="clock +3600s\n"))
        self.assertEqual((done.status, self.states(done.line)["clock"]), (0, "warning"), done)
        self.assertLess(abs(done.line["skew"] + 3600), 5)

    def test_http(self):
        done = self.doctor("--relay", self.relay(script='on UPGRADE status 503 body "out"\n'))
        self.assertEqual((done.status, self.states(done.line)["upgrade"]), (2, "failed"), done)
        self.assertIn("503", done.failure["message"])
        done = self.doctor("--relay", self.relay(script="on UPGRADE status 403\n"))
        self.assertEqual((done.status, done.failure["error"]), (3, "auth_error"), done)

    def test_tls(self):
        cert, key = self.path("cert.pem"), self.path("key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "30", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                        "-out", cert], check=True, capture_output=True)
        url = self.relay("--cert", cert, "--key", key, "--ca", cert)
        done = self.doctor("--relay", url, "--ca", cert)
        self.assertEqual((done.status, self.states(done.line)["tls"]), (0, "ok"), done)
        self.assertEqual((done.line["tls"]["issuer"], done.line["tls"]["protocol"][:4]), ("127.0.0.1", "TLSv"))
        self.assertLess(abs(done.line["tls"]["expires"] - time.time() - 30 * 86400), 3600)
        done = self.doctor("--relay", url)
        self.assertEqual((done.status, self.states(done.line)["tls"]), (2, "failed"), done)
        self.assertIn("self-signed", done.failure["message"])
        done = self.doctor("--relay", url.replace("wss:", "ws:"))
        self.assertEqual((done.status, self.states(done.line)["upgrade"]), (2, "failed"), done)

    def test_an_outbox_that_cannot_be_written(self):
        self.write(self.path("file"), "")
        done = run("doctor", "--relay", self.relay(), "--state-dir", self.path("file") + "/state",
                   env={"BUZZ_PRIVATE_KEY": SECRET})
        self.assertEqual((done.status, done.failure["error"]), (4, "error"), done)
        self.assertFalse(json.loads(done.out)["outbox"]["writable"])


if __name__ == "__main__":
    harness.main()
