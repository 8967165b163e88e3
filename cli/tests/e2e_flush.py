"""outbox flush with many entries: one connection a relay for all of them, and what becomes of it when a relay breaks it,
is silent, or refuses something in between."""
import contextlib
import fcntl
import glob
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import time

import harness
from harness import CHANNEL, SECRET, Case, manifest, run


class Relay:
    """jobs-relay on a given port, with a script; its words are read when it has ended."""

    def __init__(self, case, port, script=""):
        self.folder = case.path(f"relay-{port}")
        path = case.write(f"{port}.relay", script or "# an ordinary one\n")
        self.child = subprocess.Popen([harness.RELAY, "--port", str(port), "--dir", self.folder, "--script", path],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=harness.environment())
        self.child.stdout.readline()
        case.addCleanup(self.heard)

    def heard(self):
        """Ends it; what it heard, a word a message."""
        if not self.child.stdout.closed:
            self.child.terminate()
            self.words = [line.split()[0] for line in self.child.stdout.read().decode().splitlines()]
            self.child.wait(20)
            self.child.stdout.close()
        return self.words

    def wait_for(self, word):
        while not self.child.stdout.readline().startswith(word.encode()):
            pass

    def ids(self):
        with open(os.path.join(self.folder, "events.jsonl"), encoding="utf-8") as file:
            return [json.loads(line)["id"] for line in file]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Flush(Case):
    def setUp(self):
        super().setUp()
        self.env = {"BUZZ_PRIVATE_KEY": SECRET, "JOBS_STATE_DIR": self.path("state")}

    def waiting(self, count, *ports, first=256, others=0):
        """So many entries that wait for these ports, where nobody listens yet; their ids in order."""
        where = [word for port in ports for word in ("--relay", f"ws://127.0.0.1:{port}")]
        children = []
        for number in range(first, first + count):
            child = subprocess.Popen([harness.JOBS, "handoff", *where, "--channel", CHANNEL, "--job", f"{number:064x}",
                                      "--manifest", "-", "--timeout", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=harness.environment(**self.env))
            child.stdin.write(manifest(jobRequest=f"{number:064x}"))
            child.stdin.close()
            children.append(child)
        for child in children:
            failure = json.loads(child.stderr.read())
            self.assertEqual((child.wait(20), failure.get("stored")), (2, True), failure)
            child.stdout.close()
            child.stderr.close()
        listed = run("outbox", "list", env=self.env).lines
        self.assertEqual([line["state"] for line in listed], ["pending"] * (count + others))
        return sorted(line["event_id"] for line in listed)

    def flush(self, *options):
        begun = time.monotonic()
        result = run("outbox", "flush", *options, env=self.env)
        self.took = time.monotonic() - begun
        return result

    def assert_all_there(self, result, ids, relay):
        self.assertEqual((result.status, result.err), (0, b""), result)
        self.assertEqual(sorted(line["event_id"] for line in result.lines), ids)
        self.assertEqual({line["relays"][0]["read_back"] for line in result.lines}, {"confirmed"}, result)
        self.assertEqual(sorted(relay.ids()), ids)

    def flushed(self, script, count=8, timeout="10"):
        port = free_port()
        ids = self.waiting(count, port)
        relay = Relay(self, port, script)
        result = self.flush("--timeout", timeout)
        return relay, result, ids

    def test_one_connection_for_all(self):
        relay, result, ids = self.flushed("")
        self.assert_all_there(result, ids, relay)
        heard = relay.heard()
        self.assertEqual((heard.count("CONNECT"), heard.count("EVENT")), (1, 8), heard)
        self.assertEqual(heard.count("CLOSE"), heard.count("ASK") + heard.count("READ"), "every question is closed")

    def test_one_auth_for_all(self):
        relay, result, ids = self.flushed("on CONNECT challenge\n")
        self.assert_all_there(result, ids, relay)
        heard = relay.heard()
        self.assertEqual((heard.count("CONNECT"), heard.count("AUTH")), (1, 1), heard)

    def test_a_relay_that_wants_one_connection_an_event(self):
        """It hangs up after each: no pause is made, for nobody was refused anything."""
        for how in ("drop", "reset", "close 1000", 'close 1008 "one at a time"'):
            with self.subTest(how):
                relay, result, ids = self.flushed("".join(f"on CLOSE {3 * n}  {how}\n" for n in range(1, 9)))
                self.assert_all_there(result, ids, relay)
                heard = relay.heard()
                self.assertEqual((heard.count("CONNECT"), heard.count("EVENT")), (8, 8), heard)
                self.assertLess(self.took, 3)
            self.env["JOBS_STATE_DIR"] = self.path("state of " + re.sub("[^a-z0-9]", "", how))

    def test_cut_off_in_the_middle(self):
        for answer in ("store; reset", "reset"):
            with self.subTest(answer):
                relay, result, ids = self.flushed(f"on EVENT 4  {answer}\n")
                self.assert_all_there(result, ids, relay)
                heard = relay.heard()
                self.assertEqual(heard.count("CONNECT"), 2, heard)
                self.assertEqual(heard.count("EVENT"), 8 if "store" in answer else 9, heard)
                self.assertEqual({line["relays"][0]["verdict"] for line in result.lines}, {"accepted"}, "none was there before")
            self.env["JOBS_STATE_DIR"] = self.path("another")

    def test_cut_off_at_any_moment(self):
        relay, result, ids = self.flushed("".join(f"on EVENT {n}  store; ok; after {n}ms; drop\n" for n in range(1, 25)), 24)
        self.assertEqual((result.status, result.err), (0, b""), result)
        self.assertEqual(sorted(relay.ids()), ids)  # some could not be read back, which is said in their lines

    def test_refused_without_a_name_in_the_middle(self):
        """Whose refusal that was is found out one by one."""
        relay, result, ids = self.flushed('on EVENT 4  send ["OK","",false,"invalid: one of them"]\n')
        self.assert_all_there(result, ids, relay)

    def test_refused_from_the_fourth_on(self):
        for answer in ('send ["OK","",false,"invalid: not that one"]', 'ok false "invalid: not that one"',
                       'notice "invalid: not that one"'):
            with self.subTest(answer):
                relay, result, ids = self.flushed(f"on EVENT 4..  {answer}\n")
                self.assertEqual(result.status, 0, result)
                told = [(line["accepted"], line["relays"][0]["verdict"]) for line in result.lines]
                self.assertEqual(told, [(True, "accepted")] * 3 + [(False, "rejected")] * 5, result)
                self.assertEqual({line["relays"][0]["message"] for line in result.lines[3:]}, {"invalid: not that one"})
                self.assertEqual(sorted(relay.ids()), sorted(line["event_id"] for line in result.lines[:3]))
            self.env["JOBS_STATE_DIR"] = self.path("state of " + re.sub("[^a-z0-9]", "", answer))

    def test_many_go_together(self):
        relay, result, ids = self.flushed("", 40)
        self.assert_all_there(result, ids, relay)
        self.assertEqual({(line["relays"][0]["verdict"], line["relays"][0]["attempts"]) for line in result.lines},
                         {("accepted", 1)})
        self.assertNotIn("pending", result.lines[-1])
        heard = relay.heard()
        self.assertEqual((heard.count("CONNECT"), heard.count("EVENT")), (1, 40), heard)
        self.assertLess(heard.count("ASK") + heard.count("READ"), 10, heard)

    def test_silent_in_the_middle(self):
        """It may have arrived or not: that is said, and the relay is not waited for again and again."""
        for answer, there in (("store; silence", 8), ("silence", 3)):
            with self.subTest(answer):
                relay, result, ids = self.flushed(f"on EVENT 4..  {answer}\non ASK 3..  silence\non READ 3..  silence\n", timeout="4")
                self.assertEqual((result.status, result.failure["error"]), (2, "delivery_unknown"), result)
                self.assertLess(self.took, 8, "two conversations at most")
                self.assertEqual(len(relay.ids()), there)
                told = [line["relays"][0]["verdict"] for line in result.lines]
                self.assertEqual(len(told), 8, result)
                self.assertEqual(set(told[3:]), {"unknown"}, "each of them was sent")
            self.env["JOBS_STATE_DIR"] = self.path("another state")

    def test_asked_to_wait(self):
        """By one answer to many: nothing more is sent until then."""
        for answer in ('ok false "rate-limited: slow down; retry in 2s"', 'notice "rate-limited: retry in 2s"'):
            with self.subTest(answer):
                relay, result, ids = self.flushed(f"on EVENT 4  {answer}\n")
                self.assert_all_there(result, ids, relay)
                self.assertGreater(self.took, 2)
                self.assertLess(self.took, 6)
            self.env["JOBS_STATE_DIR"] = self.path("a state for " + answer[:2])

    def test_asked_to_wait_too_long(self):
        for answer in ('ok false "rate-limited: retry in 60s"', 'notice "rate-limited: quota exceeded; retry in 52s"'):
            with self.subTest(answer):
                relay, result, ids = self.flushed(f"on EVENT 4..  {answer}\n")
                self.assertEqual((result.status, len(result.lines), len(relay.ids())), (2, 8, 3), result)
                self.assertLess(self.took, 3)
                self.assertEqual({line["relays"][0]["verdict"] for line in result.lines[3:]}, {"unknown"})
                self.assertTrue(all("retry in" in line["relays"][0]["message"] for line in result.lines[3:]), result)
                self.assertLessEqual(relay.heard().count("EVENT"), 8, "it is not asked again")
            self.env["JOBS_STATE_DIR"] = self.path("a state for " + answer[:2])

    def test_nobody_waits_for_a_lock_while_others_are_talked_about(self):
        port = free_port()
        ids = self.waiting(8, port)
        relay = Relay(self, port, "on EVENT 4..  silence\non ASK 3..  silence\non READ 3..  silence\n")
        child = subprocess.Popen([harness.JOBS, "outbox", "flush", "--timeout", "8"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=harness.environment(**self.env))
        for _ in range(2):  # the second one is that of a session, behind the batch
            relay.wait_for("CONNECT")
        free = []
        for name in ids:
            [lock] = glob.glob(os.path.join(self.env["JOBS_STATE_DIR"], "outbox", "*", name + ".json"))
            with open(os.path.join(os.path.dirname(lock), "lock"), encoding="utf-8") as file:
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    free.append(name)
        self.assertEqual(len(free), 7, "all but the one that is under way")
        self.assertIsNone(child.poll())
        child.kill()
        child.communicate()

    def test_not_kept_is_not_confirmed(self):
        """OK, but every second one is not shown: it is sent again, and told so."""
        relay, result, ids = self.flushed("".join(f"on EVENT {n}  ok\n" for n in range(2, 9, 2)))
        self.assert_all_there(result, ids, relay)
        self.assertEqual([line["relays"][0]["attempts"] for line in result.lines].count(2), 4, result)

    def test_an_ok_stands(self):
        """What comes after it, when the event is sent once more because it is not shown, takes nothing back."""
        for again in ('ok false "duplicate: have it"', 'ok false "blocked: no"', "silence"):
            with self.subTest(again):
                relay, result, ids = self.flushed(f"on EVENT first  store; ok\non EVENT 2..5  ok\non EVENT 6..  {again}\n", 5, "4")
                self.assertEqual((result.status, len(relay.ids())), (2, 1), result)
                self.assertLess(self.took, 7, "it is not waited for again and again")
                self.assertEqual([(line["accepted"], line["relays"][0]["verdict"], line["relays"][0]["read_back"])
                                  for line in result.lines[1:]], [(True, "accepted", "absent")] * 4, result)
                self.assertTrue(all("does not show it" in line["warnings"][0] for line in result.lines[1:]), result)
                states = sorted(line["relays"][0]["state"] for line in run("outbox", "list", env=self.env).lines)
                self.assertEqual(states, ["confirmed"] + ["unseen"] * 4)
            self.env["JOBS_STATE_DIR"] = self.path("state of " + re.sub("[^a-z0-9]", "", again))

    def test_an_ok_stands_unread(self):
        """After OK, reading is a courtesy: a relay that is silent then, hangs up for good or asks to wait has it."""
        for script in ("on READ 3..  silence\n", 'on READ 3..  closed "rate-limited: retry in 60s"\n',
                       "on READ 3  drop\non CONNECT 2..  drop\n"):
            with self.subTest(script):
                relay, result, ids = self.flushed(script, 5, "4")
                self.assertEqual((result.status, sorted(relay.ids())), (0, ids), result)
                self.assertLess(self.took, 9, "one conversation more at most")
                self.assertEqual([(line["accepted"], line["relays"][0]["verdict"], line["relays"][0]["read_back"])
                                  for line in result.lines[1:]], [(True, "accepted", "refused")] * 4, result)
                self.assertTrue(all("would not or did not say" in line["warnings"][0] for line in result.lines[1:]), result)
                states = [line["relays"][0]["state"] for line in run("outbox", "list", env=self.env).lines]
                self.assertEqual(sorted(states), ["accepted"] * 4 + ["confirmed"])
            self.env["JOBS_STATE_DIR"] = self.path("state of " + re.sub("[^a-z0-9]", "", script)[-40:])

    def test_called_a_duplicate(self):
        """It was there before, whoever brought it: told so, and never to be signed anew."""
        for answer in ('ok true "duplicate: have it"', 'ok false "duplicate: have it"'):
            with self.subTest(answer):
                relay, result, ids = self.flushed(f"on EVENT 4..  store; {answer}\n")
                self.assert_all_there(result, ids, relay)
                told = [(line["relays"][0]["verdict"], line["relays"][0]["attempts"]) for line in result.lines]
                self.assertEqual(told, [("accepted", 1)] * 3 + [("duplicate", 1)] * 5)
            self.env["JOBS_STATE_DIR"] = self.path("state of " + answer[:6])
        relay, result, ids = self.flushed('on EVENT 4..  ok false "duplicate: have it"\non CONNECT 2..  drop\n', timeout="2")
        self.assertEqual(result.status, 2, result)
        for line in result.lines[1:]:
            [file] = glob.glob(os.path.join(self.env["JOBS_STATE_DIR"], "outbox", "*", line["event_id"] + ".json"))
            self.assertTrue(json.loads(self.read(file))["relays"][0]["said_stored"], file)

    def test_why_a_relay_is_left_alone(self):
        """Told though an OK before that stands, so that nothing is wrong with the event for which it was asked."""
        relay, result, ids = self.flushed('on READ 3  closed "error: db"\non ASK 3..  closed "rate-limited: retry in 60s"\n', 34)
        self.assertEqual([line["accepted"] for line in result.lines], [True] * 33 + [False], result)
        self.assertEqual(result.lines[-1]["relays"][0]["message"],
                         "left alone for the rest of this run: the relay asks for a longer pause than there is time")

    def test_few_descriptors(self):
        """What is loaded ahead keeps some open: fewer are loaded then, and nothing fails."""
        port = free_port()
        ids = self.waiting(70, port)
        for limit in (128, 64, 40):
            self.env["JOBS_STATE_DIR"] = shutil.copytree(self.path("state"), self.path(f"state of {limit}"))
            relay = Relay(self, port)
            result = run("outbox", "flush", env=self.env,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
            self.assert_all_there(result, ids, relay)
            self.assertEqual([line for line in result.lines if "warnings" in line], [])
            relay.heard()
            shutil.rmtree(relay.folder)

    def test_never_shown(self):
        relay, result, ids = self.flushed("on EVENT 4..  ok\n")
        self.assertEqual(result.status, 2, result)
        self.assertEqual([line["relays"][0]["read_back"] for line in result.lines], ["confirmed"] * 3 + ["absent"] * 5)
        self.assertEqual({line["state"] for line in run("outbox", "list", env=self.env).lines[:]}, {"sent", "pending"})
        self.assertEqual(len(relay.ids()), 3)

    def test_ten_channels_and_odd_ones_between(self):
        """Only what is alike goes together; all of it goes, in order."""
        port = free_port()
        ids = []
        for number in range(10):
            job = f"{600 + number:064x}"
            channel = f"123e4567-e89b-42d3-a456-42661417400{number // 4}"
            failed = run("handoff", "--relay", f"ws://127.0.0.1:{port}", "--channel", channel, "--job", job, "--manifest", "-",
                         "--timeout", "1", stdin=manifest(jobRequest=job), env=self.env)
            ids.append(failed.failure["event_id"])
        relay = Relay(self, port)
        result = self.flush()
        self.assert_all_there(result, sorted(ids), relay)

    def test_the_outbox_vanishes(self):
        """What could not be looked at any more still waits, for all we know: that is no success."""
        port = free_port()
        self.waiting(4, port)
        relay = Relay(self, port, "on EVENT first  after 1s; store; ok\n")
        child = subprocess.Popen([harness.JOBS, "outbox", "flush"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=harness.environment(**self.env))
        while relay.child.stdout.readline().split()[0] != b"EVENT":
            pass
        os.rename(self.env["JOBS_STATE_DIR"], self.path("elsewhere"))
        out, err = child.communicate(timeout=20)
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((child.returncode, [line["accepted"] for line in lines]), (4, [True] + [False] * 3), (out, err))
        self.assertIn("3 of the outbox", json.loads(err)["message"])

    def test_two_of_one_job(self):
        """Loaded while the other one's batch is under way, its folder is locked: by ourselves, and not for ever."""
        port = free_port()
        self.waiting(4, port)
        ours, theirs = self.env["JOBS_STATE_DIR"], self.path("theirs")
        for number in (256, 258):
            job = f"{number:064x}"
            run("handoff", "--relay", f"ws://127.0.0.1:{port}", "--channel", CHANNEL, "--job", job, "--manifest", "-", "--timeout",
                "1", stdin=manifest(jobRequest=job, outcome="Another one."), env={**self.env, "JOBS_STATE_DIR": theirs})
        for file in glob.glob(theirs + "/outbox/*/*.json"):
            shutil.copy(file, file.replace(theirs, ours, 1))
        relay = Relay(self, port)
        self.assert_all_there(self.flush(), sorted(line["event_id"] for line in run("outbox", "list", env=self.env).lines), relay)
        self.assertEqual(len(relay.ids()), 6)

    def test_stopped_in_the_middle(self):
        """What was sent is told; what was not is counted; the next run brings all of it, once."""
        port = free_port()
        ids = self.waiting(8, port)
        relay = Relay(self, port, "on EVENT 5..  silence\n")
        child = subprocess.Popen([harness.JOBS, "outbox", "flush"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=harness.environment(**self.env))
        for _ in range(5):
            relay.wait_for("EVENT")
        child.terminate()
        out, err = child.communicate(timeout=10)
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((child.returncode, json.loads(err)["error"]), (143, "delivery_unknown"), (out, err))
        self.assertEqual(len({line["event_id"] for line in lines}), len(lines))
        relay.heard()
        relay = Relay(self, port)
        result = self.flush()
        self.assertEqual((result.status, sorted(relay.ids())), (0, ids), result)

    def test_late_words_are_nobodys(self):
        """What a relay says twice, or after its time, is not taken for an answer to the next event."""
        relay, result, ids = self.flushed(
            'on EVENT  store; ok; ok; ok false "invalid: no"; send ["EOSE","jobs-1"]; send ["EOSE","jobs-2"]\n'
            'on READ   events; eose; eose; send ["CLOSED","$sub","error: late"]\n')
        self.assert_all_there(result, ids, relay)
        self.assertEqual(relay.heard().count("EVENT"), 8)

    def test_each_relay_has_one(self):
        ports = free_port(), free_port()
        ids = self.waiting(6, *ports)
        relays = [Relay(self, ports[0]), Relay(self, ports[1], "".join(f"on CLOSE {3 * n}  drop\n" for n in range(1, 7)))]
        result = self.flush()
        self.assertEqual(result.status, 0, result)
        for relay, connections in zip(relays, (1, 6)):
            self.assertEqual(sorted(relay.ids()), ids)
            self.assertEqual(relay.heard().count("CONNECT"), connections)

    def test_only_one_of_its_relays(self):
        """What waits for others is left alone, and said: on stderr, and it is no failure."""
        ports = free_port(), free_port()
        self.waiting(2, ports[0])
        self.waiting(3, ports[1], first=512, others=2)
        relay = Relay(self, ports[0])
        result = self.flush("--relay", f"ws://127.0.0.1:{ports[0]}")
        self.assertEqual((result.status, len(result.lines), len(relay.ids())), (0, 2, 2), result)
        self.assertEqual(json.loads(result.err), {"counts": {"waiting_for_other_relays": 3}}, result)
        result = harness.run_on_terminal("outbox", "flush", "--relay", f"ws://127.0.0.1:{ports[0]}", env=self.env)
        self.assertEqual(result.out, b"3 entries wait for other relays than those named\n", result)
        result = self.flush("--relay", f"ws://127.0.0.1:{ports[1]}", "--timeout", "1")
        self.assertEqual(result.status, 2, result)
        self.assertNotIn("counts", result.failure)

    def test_one_of_both_relays(self):
        ports = free_port(), free_port()
        self.waiting(2, *ports)
        Relay(self, ports[0])
        result = self.flush("--relay", f"ws://127.0.0.1:{ports[0]}")
        self.assertEqual(result.status, 2, result)
        self.assertEqual([line["accepted"] for line in result.lines], [True, True], result)
        self.assertEqual(result.failure["counts"], {"waiting_for_other_relays": 2}, result)

    def test_a_mistyped_relay(self):
        """The way out is named where it is looked for, and works: nothing is doubled at the right one."""
        right, wrong = free_port(), free_port()
        relay = Relay(self, right)
        words = ("handoff", "--channel", CHANNEL, "--job", "5" * 64, "--manifest", "-", "--timeout", "1",
                 "--relay", f"ws://127.0.0.1:{right}")
        failed = run(*words, "--relay", f"ws://127.0.0.1:{wrong}", stdin=manifest(jobRequest="5" * 64), env=self.env)
        [id] = relay.ids()
        self.assertEqual(failed.status, 2, failed)
        way_out = f"jobs outbox drop {id}"
        self.assertIn(way_out, failed.failure["hint"])
        self.assertIn(way_out, run("outbox", "show", id, env=self.env).line["hint"])
        self.assertEqual(run(*way_out.split()[1:], env=self.env).line, {"dropped": id})
        again = run(*words, stdin=manifest(jobRequest="5" * 64), env=self.env)
        self.assertEqual((again.status, again.line["event_id"], relay.ids()), (0, id, [id]), again)
        self.assertNotIn("hint", run("outbox", "show", id, env=self.env).line)


if __name__ == "__main__":
    harness.main()
