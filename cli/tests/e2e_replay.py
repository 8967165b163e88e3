"""replay: what arrives at relays of every kind, what is said about it, and that a kill on the way changes neither."""
import json
import os
import random
import re
import signal
import subprocess
import time

import events
import harness
from events import spoil
from harness import CHANNEL, JOBS, run

SUMMARY = ["sent", "accepted", "duplicate", "rejected", "unknown", "invalid"]


class Relay:
    """jobs-relay on a port of its own, with a script when one is given."""

    def __init__(self, case, name="relay", script=None, arguments=(), port="0"):
        self.folder = case.path(name)
        more = ["--script", case.write(name + ".relay", script)] if script else []
        self.child = subprocess.Popen([harness.RELAY, "--port", port, "--dir", self.folder, *more, *arguments],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=harness.environment())
        self.url = self.child.stdout.readline().decode().strip()
        case.addCleanup(self.stop)

    def stop(self):
        if not self.child.stdout.closed:
            self.child.terminate()
            self.child.wait(20)
            self.child.stdout.close()

    def ids(self):
        """Of all it holds, in its order."""
        found = []
        for folder, _, files in os.walk(self.folder):
            for file in files:
                with open(os.path.join(folder, file), "rb") as lines:
                    found += re.findall(rb'"id":"([0-9a-f]{64})"', lines.read())
        return [id.decode() for id in found]


def ids(lines):
    return [json.loads(line)["id"] for line in lines]


def counts(**given):
    return {name: given.get(name, 0) for name in SUMMARY}


class Replay(harness.Case):
    def replay(self, relay, lines, *arguments, **options):
        given = b"\n".join(lines) + b"\n"
        where = [argument for url in ([relay.url] if isinstance(relay, Relay) else [r.url for r in relay])
                 for argument in ("--relay", url)]
        return run("replay", *where, *arguments, stdin=given, **options)

    def assert_replayed(self, result, *verdicts, **summary):
        """The last line is the summary; before it stands what was not accepted, as (line, verdict)."""
        lines = result.lines
        self.assertEqual(list(lines[-1])[:6], SUMMARY, result)
        self.assertEqual({name: lines[-1][name] for name in SUMMARY}, counts(**summary), result)
        for line in lines[:-1]:
            self.assertEqual(list(line)[:4], ["line", "event_id", "verdict", "message"], result)
        self.assertEqual([(line["line"], line["verdict"]) for line in lines[:-1]], list(verdicts), result)
        bad = any(summary.get(name) for name in ("rejected", "unknown", "invalid"))
        self.assertEqual(result.status, 2 if bad else 0, result)
        return lines[:-1]

    # --- a good relay ---

    def test_all_arrive_and_again_is_a_duplicate(self):
        relay, lines = Relay(self), events.many(300)
        self.assert_replayed(self.replay(relay, lines), sent=300, accepted=300)
        self.assertEqual(sorted(relay.ids()), sorted(ids(lines)))
        self.assert_replayed(self.replay(relay, lines, "--window", "7"), sent=300, duplicate=300)
        self.assertEqual(len(relay.ids()), 300)

    def test_bytes_arrive_as_they_are(self):
        relay = Relay(self)
        odd = json.dumps(json.loads(events.many(1)[0]), indent=None, ensure_ascii=True).encode()
        self.assert_replayed(self.replay(relay, [b"  " + odd + b" \r"]), sent=1, accepted=1)

    def test_all_names_everything(self):
        relay, lines = Relay(self), events.many(3)
        result = self.replay(relay, [lines[0], b"{}", lines[1], lines[0]], "--all", "--window", "1")
        told = self.assert_replayed(result, (1, "accepted"), (2, "malformed"), (3, "accepted"), (4, "duplicate"),
                                    sent=3, accepted=2, duplicate=1, invalid=1)
        self.assertEqual([line["event_id"] for line in told], [ids(lines)[0], None, ids(lines)[1], ids(lines)[0]])

    def test_invalid_lines_are_named_and_not_kept(self):
        lines = events.many(3)
        given = [lines[0], b"", spoil(lines[1], "id"), spoil(lines[1], "sig"), lines[2]]
        for name, more, sent in (("plain", (), 3), ("checked", ("--verify",), 2)):
            relay = Relay(self, name)
            self.assert_replayed(self.replay(relay, given, *more), (2, "malformed"), (3, "bad_id"),
                                 (4, "bad_signature"), sent=sent, accepted=2, invalid=3)
            self.assertEqual(sorted(relay.ids()), sorted([ids(lines)[0], ids(lines)[2]]))

    def test_a_forgery_of_what_the_relay_has_is_invalid(self):
        relay, lines = Relay(self), events.many(1)
        self.replay(relay, lines)
        self.assert_replayed(self.replay(relay, [spoil(lines[0], "sig")], "--verify"), (1, "bad_signature"), invalid=1)

    def test_several_relays(self):
        lines = events.many(120)
        good, other = Relay(self, "good"), Relay(self, "other")
        self.assert_replayed(self.replay([good, other], lines), sent=120, accepted=120)
        self.assertEqual(sorted(other.ids()), sorted(ids(lines)))
        refuses = Relay(self, "refuses", 'on EVENT 5   ok false "blocked: not that one"\n')
        result = self.replay([good, refuses], lines, "--window", "1")
        told = self.assert_replayed(result, (5, "rejected"), sent=120, accepted=119, rejected=1)
        self.assertIn(refuses.url, told[0]["message"])
        self.assertIn("not that one", told[0]["message"])
        self.assert_replayed(self.replay([good, refuses], lines, "--window", "1", "--require", "any"),
                             sent=120, accepted=1, duplicate=119)

    def test_words_are_cut_between_characters(self):
        script = 'on EVENT   ok false "blocked: ' + "é" * 250 + '"\n'
        relays = [Relay(self, "one", script), Relay(self, "two", script)]
        told = self.replay(relays, events.many(1)).lines[0]
        self.assertIn("blocked: é", told["message"])
        self.assertNotIn("\\x", told["message"])
        self.assertTrue(told["message"].endswith("é…"), told)

    def test_a_relay_that_is_not_there(self):
        lines = events.many(2)
        result = run("replay", "--relay", "ws://127.0.0.1:9", "--timeout", "1", stdin=b"\n".join(lines))
        self.assert_replayed(result, (1, "unknown"), (2, "unknown"), unknown=2)
        self.assertTrue(json.loads(result.err)["retryable"])

    def test_rate(self):
        relay, begin = Relay(self), time.monotonic()
        self.assert_replayed(self.replay(relay, events.many(12), "--rate", "10"), sent=12, accepted=12)
        self.assertGreater(time.monotonic() - begin, 1.05)

    def test_events_go_out_as_they_come_in(self):
        relay, lines = Relay(self), events.many(2)
        child = subprocess.Popen([JOBS, "replay", "--relay", relay.url, "--all"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.environment())
        for number, line in enumerate(lines, 1):
            child.stdin.write(line + b"\n")
            child.stdin.flush()
            time_limit = time.monotonic() + 20
            while len(relay.ids()) < number and time.monotonic() < time_limit:
                os.sched_yield()
            self.assertEqual(len(relay.ids()), number)
        out, err = child.communicate(timeout=20)
        self.assertEqual(child.returncode, 0, err)
        self.assertEqual(len(out.splitlines()), 3)

    def test_interrupted(self):
        relay, lines = Relay(self), events.many(2)
        child = subprocess.Popen([JOBS, "replay", "--relay", relay.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=harness.environment())
        child.stdin.write(b"\n".join(lines) + b"\n")
        child.stdin.flush()
        while len(relay.ids()) < 2:
            os.sched_yield()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
        self.assertEqual(child.returncode, 130, (out, err))
        self.assertEqual(json.loads(out.splitlines()[-1])["sent"], 2)

    def test_bad_options(self):
        for wrong in (["--window", "0"], ["--window", "1025"], ["--rate", "0"], ["--expect", self.path("none")],
                      ["--expect", self.folder], ["--journal", self.path("none/journal")], ["--relay", "nonsense"],
                      [self.path("none")]):
            result = run("replay", *wrong, stdin=b"")
            self.assert_failure(result, 1, "user_error")
            self.assertEqual(result.out, b"")

    # --- relays that throttle, refuse without a name, want AUTH, drop ---

    def hostile(self, script, lines, *arguments, **options):
        relay = Relay(self, script=script)
        result = self.replay(relay, lines, *arguments, **options)
        return relay, result

    def test_refused_without_an_id(self):
        lines = events.many(40)
        for number, answer in enumerate(('send ["OK","",false,"invalid: not that one"]',
                                         'send ["OK","0000000000000000000000000000000000000000000000000000000000000000",'
                                         'false,"invalid: not that one"]',
                                         'send ["OK",null,false,"invalid: not that one"]',
                                         'notice "invalid: not that one"')):
            bad = json.loads(lines[6])["id"]
            relay = Relay(self, f"relay{number}", f"on EVENT   {answer}\n")
            result = self.replay(relay, lines[6:7])
            told = self.assert_replayed(result, (1, "rejected"), sent=1, rejected=1)
            self.assertEqual((told[0]["event_id"], told[0]["message"]), (bad, "invalid: not that one"))
            # Out of a full window: the 7th is refused without a name when all have come, and again when it goes alone.
            relay = Relay(self, f"among{number}",
                          f"on EVENT 7   silence\non EVENT 40   {answer}; answer\non EVENT 41   {answer}\n")
            result = self.replay(relay, lines)
            told = self.assert_replayed(result, (7, "rejected"), sent=40, accepted=39, rejected=1)
            self.assertEqual((told[0]["event_id"], told[0]["message"]), (bad, "invalid: not that one"))
            self.assertEqual(len(relay.ids()), 39)

    def test_refused_without_an_id_though_stored(self):
        relay, result = self.hostile('on EVENT 3   store; send ["OK","",false,"error: what"]\n', events.many(9))
        self.assert_replayed(result, sent=9, accepted=9)
        self.assertEqual(len(relay.ids()), 9)

    def test_throttled_by_notice(self):
        lines, begin = events.many(60), time.monotonic()
        relay, result = self.hostile('on EVENT 21..60   notice "rate-limited: quota exceeded; retry in 2s"\n', lines)
        self.assert_replayed(result, sent=60, accepted=60)
        self.assertGreater(time.monotonic() - begin, 2)
        self.assertEqual(sorted(relay.ids()), sorted(ids(lines)))

    def test_throttled_by_ok(self):
        lines = events.many(60)
        relay, result = self.hostile('on EVENT 21..30   ok false "rate-limited: slow down"\n', lines)
        self.assert_replayed(result, sent=60, accepted=60)
        self.assertEqual(sorted(relay.ids()), sorted(ids(lines)))

    def test_quota_of_buzz(self):
        lines = [json.dumps(events.key().sign(1, [], f"note {n}")).encode() for n in range(4)]
        key = self.key_file()
        relay = Relay(self, script='profile buzz\non EVENT 2..3   notice "rate-limited: quota exceeded; retry in 1s"\n')
        self.assertEqual(run("channel", "create", "--relay", relay.url, "--key-file", key, "--channel",
                             CHANNEL).status, 0)
        lines = [events.handoff(harness.manifest(jobRequest="cd" * 32, outcome=f"{n}"), "cd" * 32) for n in range(1)]
        result = self.replay(relay, lines, "--key-file", key)
        self.assertEqual(result.lines[-1]["sent"], 1, result)

    def test_auth(self):
        lines, key = events.many(50), self.key_file()
        for number, script in enumerate(('on CONNECT   challenge\n',
                                         'on EVENT 1..2   challenge; ok false "auth-required: please"\n',
                                         'on EVENT first   ok false "auth-required: please"; challenge\n')):
            relay = Relay(self, f"relay{number}", script)
            self.assert_replayed(self.replay(relay, lines, "--key-file", key), sent=50, accepted=50)
            self.assertEqual(len(relay.ids()), 50)

    def test_auth_that_is_refused_but_not_demanded(self):
        relay = Relay(self, script='on CONNECT   challenge\non AUTH   ok false "restricted: who is that"\n')
        result = self.replay(relay, events.many(50), "--window", "1", "--key-file", self.key_file())
        self.assert_replayed(result, sent=50, accepted=50)

    def test_auth_without_a_key(self):
        relay, result = self.hostile('on EVENT   ok false "auth-required: please"\n', events.many(2))
        told = self.assert_replayed(result, (1, "rejected"), (2, "rejected"), sent=2, rejected=2)
        self.assertIn("auth-required", told[0]["message"])

    def test_duplicate_is_read_back(self):
        relay, result = self.hostile('on EVENT 2   store; ok false "duplicate: exists"\n'
                                     'on EVENT 3   ok false "duplicate: but removed"\n', events.many(3), "--window", "1")
        told = self.assert_replayed(result, (3, "unknown"), sent=3, accepted=1, duplicate=1, unknown=1)
        self.assertIn("does not return it", told[0]["message"])

    def test_refused_though_stored_is_no_rejection(self):
        relay, result = self.hostile('on EVENT 2   store; ok false "invalid: too old"\n', events.many(3))
        self.assert_replayed(result, sent=3, accepted=2, duplicate=1)

    def test_lines_that_drop(self):
        lines = events.many(200)
        for number, end in enumerate(("drop", "reset", "close 1012", "store; reset", "close 1008", "store; close 1008")):
            more = "" if "1008" in end else f"on EVENT 130   {end}\n"
            relay = Relay(self, f"relay{number}", f"on EVENT 60   {end}\n" + more)
            self.assert_replayed(self.replay(relay, lines), sent=200, accepted=200)
            self.assertEqual(sorted(relay.ids()), sorted(ids(lines)), end)

    def test_an_event_that_kills_the_line_every_time(self):
        relay, result = self.hostile("on EVENT   close 1009\n", events.many(1), "--timeout", "15")
        told = self.assert_replayed(result, (1, "rejected"), sent=1, rejected=1)
        relay = Relay(self, "drops", "on EVENT   drop\n")
        result = self.replay(relay, events.many(1), "--timeout", "15")
        self.assert_replayed(result, (1, "unknown"), sent=1, unknown=1)

    def test_answers_that_do_not_come(self):
        relay, result = self.hostile("on EVENT 5   silence\non EVENT 6   store; silence\n", events.many(20),
                                     "--timeout", "4")
        self.assert_replayed(result, sent=20, accepted=20)
        self.assertEqual(len(relay.ids()), 20)

    def test_a_relay_that_says_nothing(self):
        begin = time.monotonic()
        relay, result = self.hostile("on EVENT   silence\non REQ   silence\n", events.many(3), "--timeout", "2")
        self.assert_replayed(result, (1, "unknown"), (2, "unknown"), (3, "unknown"), sent=3, unknown=3)
        self.assertLess(time.monotonic() - begin, 15)

    # --- what comes back ---

    def test_expect(self):
        relay, lines = Relay(self), events.many(250)
        path = self.write("expected", b"\n".join(lines[:240]))
        result = self.replay(relay, lines, "--expect", path)
        self.assert_replayed(result, sent=250, accepted=250)
        self.assertEqual([result.lines[-1][name] for name in ("confirmed", "missing", "different", "unasked")],
                         [240, 0, 0, 0])
        result = self.replay(relay, lines[:1], "--expect", self.write("more", b"\n".join(events.many(251)[-2:])))
        self.assertEqual(result.status, 2, result)
        named = result.lines[:-1]
        self.assertEqual([line["verdict"] for line in named], ["missing"] * len(named), result)
        self.assertTrue(named and all(line["expected"] for line in named))

    def test_expect_names_what_differs(self):
        relay, result = self.hostile('on READ   send ["EVENT","$sub",$forged]; eose\n', events.many(1), "--expect",
                                     self.write("expected", events.many(1)[0]))
        self.assertEqual((result.status, result.lines[-1]["different"]), (2, 1), result)

    # --- journals ---

    def test_journal_goes_on(self):
        relay, lines, journal = Relay(self), events.many(30), self.path("journal")
        first = self.replay(relay, lines, "--journal", journal)
        self.assert_replayed(first, sent=30, accepted=30)
        relay.stop()
        again = self.replay(relay, lines, "--journal", journal, "--timeout", "5")
        self.assertEqual((again.status, again.out), (0, first.out), again)  # no relay was needed
        more = Relay(self, "relay", port=relay.url.rsplit(":", 1)[1].strip("/"))
        result = self.replay(more, lines + [b"{}"], "--journal", journal)
        self.assert_replayed(result, (31, "malformed"), sent=30, accepted=30, invalid=1)
        with open(journal, "rb") as file:
            content = file.read()
        for other in ([lines[1], lines[0], *lines[2:]], lines[:20] + [lines[21]], lines[:9]):
            result = self.replay(more, other, "--journal", journal)
            self.assert_failure(result, 1, "user_error", "another input")
            with open(journal, "rb") as file:
                self.assertEqual(file.read(), content)  # left as it is

    def test_a_spoiled_journal_is_not_believed(self):
        relay, lines, path = Relay(self), events.many(3), self.path("journal")
        self.assert_replayed(self.replay(relay, lines, "--journal", path), sent=3, accepted=3)
        with open(path, "rb") as file:
            content = file.read()
        self.write("journal", content.replace(b"accepted", b"accepteb", 1))
        result = self.replay(relay, lines, "--journal", path)
        self.assertEqual((result.status, result.lines[-1]["invalid"]), (0, 0), result)

    def test_journal_of_something_else(self):
        relay, lines = Relay(self), events.many(1)
        for content in (b"my only copy\n", b"my only copy", b'{"a":1}\n', b"x" * 40000):
            path = self.write("precious", content)
            self.assert_failure(self.replay(relay, lines, "--journal", path), 1, "user_error", "left as it is")
            with open(path, "rb") as file:
                self.assertEqual(file.read(), content)
        self.assert_failure(self.replay(relay, lines, "--journal", "/dev/null"), 1, "user_error", "regular file")
        self.replay(relay, lines, "--journal", self.path("journal"))
        result = run("replay", "--relay", relay.url, "--relay", "ws://127.0.0.1:9", "--journal", self.path("journal"))
        self.assert_failure(result, 1, "user_error", "other relays")

    def test_torn_journal(self):
        relay, lines, path = Relay(self), events.many(30), self.path("journal")
        whole = self.replay(relay, lines, "--journal", path)
        with open(path, "rb") as file:
            content = file.read()
        for cut in (1, 50, 700, len(content) - 20, len(content)):
            self.write("journal", content[:-cut])
            result = self.replay(relay, lines, "--journal", path)
            self.assertEqual(result.status, 0, result)
            self.assertEqual(result.lines[-1]["accepted"] + result.lines[-1]["duplicate"], 30, (cut, result))
        self.assertEqual(len(relay.ids()), 30)

    def test_unknown_is_tried_again(self):
        lines, path = events.many(6), self.path("journal")
        relay = Relay(self, script="on EVENT 3   drop\non EVENT 4..   drop\n")
        port = relay.url.rsplit(":", 1)[1].strip("/")
        result = self.replay(relay, lines, "--journal", path, "--window", "1", "--timeout", "2")
        self.assertEqual(result.lines[-1]["accepted"], 2, result)
        self.assertEqual(result.lines[-1]["unknown"], 4, result)
        relay.stop()
        good = Relay(self, "relay", port=port)
        result = self.replay(good, lines, "--journal", path)
        self.assert_replayed(result, sent=6, accepted=6)

    def test_killed_twenty_times(self):
        lines, path, journal = events.many(4000), self.path("events"), self.path("journal")
        bad = [lines[1000], b"{}", spoil(lines[1001], "sig")]
        given = lines[:1000] + bad[1:] + lines[1000:]
        self.write("events", b"\n".join(given))
        relay, kills = Relay(self), 0
        draw = random.Random(7)
        while kills < 20:
            child = subprocess.Popen([JOBS, "replay", "--relay", relay.url, "--journal", journal, "--rate", "2500", path],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.environment())
            before, wanted = len(relay.ids()), draw.randrange(10, 120)
            while child.poll() is None and len(relay.ids()) < before + wanted:
                os.sched_yield()
            if child.poll() is None:
                kills += 1
            child.kill()
            child.wait()
            if before >= 4000:
                break
        self.assertGreaterEqual(kills, 20)
        result = run("replay", "--relay", relay.url, "--journal", journal, path)
        last = result.lines[-1]
        self.assertEqual([(line["line"], line["verdict"]) for line in result.lines[:-1]],
                         [(1001, "malformed"), (1002, "bad_signature")], result)
        self.assertEqual((last["accepted"] + last["duplicate"], last["rejected"], last["unknown"], last["invalid"]),
                         (4000, 0, 0, 2), last)
        self.assertEqual(sorted(relay.ids()), sorted(ids(lines)))

    # --- bounds ---

    def test_memory_is_flat(self):
        relay, few, many = Relay(self), self.path("few"), self.path("many")
        lines = events.many(1000, 50)
        self.write("few", b"\n".join(lines))
        self.write("many", b"\n".join(lines * 20))
        self.replay(relay, lines)  # all duplicates from now on
        peaks = [events.peak("replay", "--relay", relay.url, path) for path in (few, many)]
        self.assertLess(peaks[1], peaks[0] * 1.1 + 300, peaks)


harness.main()
