"""list and watch against jobs-relay: what is shown, folded, counted, waited for, and that a cut connection loses nothing."""
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import harness
from harness import CHANNEL, JOB, SECRET, Case, run, run_on_terminal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../relay-tests"))
os.environ.setdefault("JOBS_BIN_DIR", os.path.dirname(os.path.abspath(harness.RELAY)))
import local
import nostr

ALICE, BOB = nostr.Key(b"\1" * 32), nostr.Key(b"\2" * 32)
OTHER_JOB = "cd" * 32
MEMBERS = ["event_id", "created_at", "author", "channel", "job", "disposition", "headline", "card"]
NOW = int(time.time())


def payload(outcome="All done.", disposition="completed", job=JOB, supersedes=None):
    content = {"schemaVersion": 1, "jobRequest": job, "requestedOutcome": "Do it.", "outcome": outcome,
               "disposition": disposition}
    if disposition in ("completed", "partial"):
        content["artifacts"] = [{"kind": "link", "label": "One", "reference": "https://example.com/1"}]
        content["verification"] = [{"label": "Checked", "status": "passed"}]
    if disposition == "partial":
        content["questions"] = [{"id": "Q1", "question": "What else?"}]
    if disposition == "blocked":
        content["blocker"] = "There is no access."
    if disposition == "failed":
        content["verification"] = [{"label": "Checked", "status": "failed"}]
    if supersedes:
        content["supersedes"] = supersedes
    return nostr.compact(content)


def handoff(key=ALICE, at=None, channel=CHANNEL, job=JOB, content=None, **more):
    content = payload(job=job, **more) if content is None else content
    return key.sign(43004, [["h", channel], ["e", job, "", "reply"]], content, NOW if at is None else at)


class Watch:
    """`jobs watch` in the background; its lines as they come."""

    def __init__(self, *arguments, env=None):
        self.child = subprocess.Popen([harness.JOBS, "watch", "--channel", CHANNEL, *arguments],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.environment(**(env or {})))
        self.text = b""

    def lines(self, count, timeout=20):
        deadline = time.monotonic() + timeout
        while self.text.count(b"\n") < count:
            if not select.select([self.child.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"{count} lines wanted, got {self.text!r}")
            piece = os.read(self.child.stdout.fileno(), 1 << 16)
            if not piece:
                raise EOFError(self.text)
            self.text += piece
        return [json.loads(line) for line in self.text.decode().splitlines()]

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.child.stdout.close()
        self.child.stderr.close()

    def end(self, number=None, timeout=20):
        if number is not None:
            self.child.send_signal(number)
        out, err = self.child.communicate(timeout=timeout)
        return harness.Result(self.child.returncode, self.text + out, err)


class Proxy:
    """Passes bytes on to a relay; cuts every connection when told to, or every so many bytes of what the relay says."""

    def __init__(self, port, cut_after=None):
        self.port, self.cut_after, self.cuts, self.open = port, cut_after, 0, []
        self.lock, self.halves = threading.Lock(), {}
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "ws://127.0.0.1:%d" % self.socket.getsockname()[1]
        self.connections = 0
        self.ends = threading.Semaphore(0)  # one for each EOSE that was passed on
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                near = self.socket.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.port))
                self.connections += 1
                self.open += [near, far]
                threading.Thread(target=self.carry, args=(near, far, None), daemon=True).start()
                threading.Thread(target=self.carry, args=(far, near, self.cut_after), daemon=True).start()
        except OSError:
            pass

    def carry(self, source, sink, budget):
        try:
            while piece := source.recv(1 << 16):
                piece = piece.replace(b"Host: 127.0.0.1:%d\r" % self.socket.getsockname()[1],
                                      b"Host: 127.0.0.1:%d\r" % self.port)
                if budget is not None:
                    budget -= len(piece)
                    if budget < 0 and self.cuts < 200:
                        break
                sink.sendall(piece)
                for _ in range(piece.count(b'["EOSE",')):
                    self.ends.release()
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        with self.lock:  # the second of the two directions closes both
            for end in (source, sink):
                self.halves[end] = self.halves.get(end, 0) + 1
                if self.halves[end] == 2:
                    end.close()
                    self.open.remove(end)
        if budget is not None:
            with self.lock:
                self.cuts += 1

    def cut(self):
        with self.lock:
            for end in self.open:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def stop(self):
        self.socket.close()
        self.cut()


class FeedCase(Case):
    def relay(self, *options):
        relay = local.Relay(*options)
        self.addCleanup(relay.__exit__)
        return relay

    def store(self, relay, *events):
        with nostr.Client(relay.url) as client:
            for event in events:
                client.send("EVENT", event)
                while (said := client.next())[0] != "OK":
                    pass
                self.assertTrue(said[2], said)
        return events

    def watch(self, *arguments, **more):
        watch = Watch(*arguments, **more)
        self.addCleanup(watch.close)
        return watch

    def list(self, relay, *arguments, **more):
        relays = [word for one in ([relay] if isinstance(relay, local.Relay) else relay) for word in ("--relay", one.url)]
        return run("list", "--channel", CHANNEL, *relays, *arguments, **more)

    def ids(self, result, status=0):
        self.assertEqual(result.status, status, result)
        return [line["event_id"] for line in result.lines]


class Listing(FeedCase):
    def test_one_line_a_handoff(self):
        relay = self.relay()
        old, new = self.store(relay, handoff(at=NOW - 20), handoff(at=NOW - 10, outcome="Line one.\nLine two."))
        result = self.list(relay)
        self.assertEqual(self.ids(result), [old["id"], new["id"]])
        self.assertEqual(result.err, b"")
        first, second = result.lines
        self.assertEqual(list(first), MEMBERS)
        self.assertEqual(first, {"event_id": old["id"], "created_at": NOW - 20, "author": ALICE.public,
                                 "channel": CHANNEL, "job": JOB, "disposition": "completed",
                                 "headline": "Job completed: All done.", "card": True})
        self.assertEqual(second["headline"], "Job completed: Line one.")

    def test_what_is_no_card_is_a_line_too(self):
        relay = self.relay()
        self.store(relay, handoff(content="just words\nand more"),
                   ALICE.sign(43004, [["h", CHANNEL]], "no job", NOW - 1))
        lines = self.list(relay).lines
        self.assertEqual([(line["card"], line["disposition"], line["job"], line["headline"]) for line in lines],
                         [(False, None, None, "no job"), (False, None, JOB, "just words")])

    def test_a_tag_that_names_no_job_names_none(self):
        relay = self.relay()
        job = "Ab" * 32
        self.store(relay, ALICE.sign(43004, [["h", CHANNEL], ["e", "x" + "é" * 40, "", "reply"]], "long", NOW - 2),
                   ALICE.sign(43004, [["h", CHANNEL], ["e", job, "", "reply"]], "upper case", NOW - 1))
        self.assertEqual([line["job"] for line in self.list(relay).lines], [None, job.lower()])

    def test_supersedes_counts_within_one_author_channel_and_job_only(self):
        relay = self.relay()
        first = handoff(at=NOW - 50, outcome="First.")
        taken_back = handoff(at=NOW - 40, outcome="Second.", supersedes=first["id"])
        by_bob = handoff(BOB, at=NOW - 30, outcome="Mine.", supersedes=taken_back["id"])
        other_job = handoff(at=NOW - 20, job=OTHER_JOB, outcome="Else.", supersedes=taken_back["id"])
        self.store(relay, first, taken_back, by_bob, other_job)
        result = self.list(relay)
        self.assertEqual(self.ids(result), [event["id"] for event in (taken_back, by_bob, other_job)])
        self.assertEqual(json.loads(result.err), {"listed": 3, "folded": 1, "foreign": 0, "malformed": 0,
                                                  "incomplete": []})

    def test_a_chain_within_one_second_leaves_its_end(self):
        relay = self.relay()
        a = handoff(outcome="A.")
        b = handoff(outcome="B.", supersedes=a["id"])
        c = handoff(outcome="C.", supersedes=b["id"])
        self.store(relay, a, b, c)
        self.assertEqual(self.ids(self.list(relay)), [c["id"]])

    def test_equal_payloads_are_one_card(self):
        relay = self.relay()
        doubled = [handoff(at=NOW - 9), handoff(at=NOW - 8)]
        by_bob = handoff(BOB, at=NOW - 7)
        self.store(relay, *doubled, by_bob)
        self.assertEqual(self.ids(self.list(relay)), [doubled[1]["id"], by_bob["id"]])
        end = handoff(at=NOW - 6, outcome="Better.", supersedes=doubled[0]["id"])
        self.store(relay, end)
        self.assertEqual(self.ids(self.list(relay)), [by_bob["id"], end["id"]])

    def test_said_again_on_purpose(self):
        """X, then Y instead, then X again instead: the last one stands."""
        relay = self.relay()
        x = handoff()
        y = handoff(outcome="Y.", supersedes=x["id"])
        again = handoff(supersedes=y["id"])
        self.store(relay, x, y, again)
        self.assertEqual(self.ids(self.list(relay)), [again["id"]])

    def test_filters(self):
        relay = self.relay()
        alice, bob = handoff(at=NOW - 500), handoff(BOB, at=NOW - 400, disposition="blocked", outcome="Stuck.")
        other = handoff(at=NOW - 300, job=OTHER_JOB, disposition="failed", outcome="No.")
        self.store(relay, alice, bob, other, handoff(channel="00000000-0000-4000-8000-000000000001"),
                   ALICE.sign(43003, [["h", CHANNEL], ["e", JOB]], "progress", NOW))
        for arguments, events in (((), (alice, bob, other)),
                                  (("--job", JOB), (alice, bob)),
                                  (("--author", BOB.public), (bob,)),
                                  (("--author", BOB.public, "--author", ALICE.public), (alice, bob, other)),
                                  (("--disposition", "blocked"), (bob,)),
                                  (("--disposition", "partial"), ()),
                                  (("--since", str(NOW - 400)), (bob, other)),
                                  (("--since", f"{int(time.time()) - NOW + 350}s"), (other,)),
                                  (("--limit", "2"), (bob, other)),
                                  (("--limit", "1", "--disposition", "completed"), (alice,)),
                                  (("--limit", "0"), (alice, bob, other))):
            self.assertEqual(self.ids(self.list(relay, *arguments)), [event["id"] for event in events], arguments)

    def test_limit_counts_what_stands(self):
        """More than a page of events of which most are folded: the newest N that stand, over all pages."""
        relay = self.relay()
        events, last = [], None
        for i in range(130):
            last = handoff(at=NOW - 1000 + i, outcome=f"{i}.", supersedes=last and last["id"])
            events.append(last)
        old = [handoff(BOB, at=NOW - 3000 + i, outcome=f"{i}.") for i in range(3)]
        self.store(relay, *old, *events)
        self.assertEqual(self.ids(self.list(relay, "--limit", "3")), [old[1]["id"], old[2]["id"], last["id"]])

    def test_a_second_that_holds_more_than_a_page(self):
        relay = self.relay()
        crowd = [handoff(at=NOW - 60, outcome=f"{i}.") for i in range(530)]
        self.store(relay, handoff(at=NOW - 90, outcome="before"), *crowd, handoff(at=NOW - 30, outcome="after"))
        listed = self.ids(self.list(relay, "--limit", "0"))
        self.assertEqual(len(listed), 532)
        self.assertEqual(set(listed[1:-1]), {event["id"] for event in crowd})

    def crowd_with_superseders(self, relay, count):
        """300 in one second, of which `count` of the lowest ids are superseded by such as come behind the first page.
        Returns the ids of all that stand, newest last."""
        crowd = sorted((handoff(at=NOW - 60, outcome=f"{i}.") for i in range(300)), key=lambda event: event["id"])
        later = []
        for i, old in enumerate(crowd[:count]):
            attempts = (handoff(at=NOW - 60, outcome=f"{i}.{n}", supersedes=old["id"]) for n in range(1000))
            later.append(next(event for event in attempts if event["id"] > crowd[100]["id"]))
        self.store(relay, *crowd, *later)
        return sorted((event["id"] for event in crowd[count:] + later), reverse=True)

    def test_a_crowded_second_is_asked_what_it_takes_back(self):
        relay = self.relay()
        stand = self.crowd_with_superseders(relay, 2)
        self.assertEqual(self.ids(self.list(relay, "--limit", "5")), stand[-5:])

    def test_a_crowded_second_that_takes_too_much_back_is_read_whole(self):
        relay = self.relay()
        stand = self.crowd_with_superseders(relay, 20)
        self.assertEqual(self.ids(self.list(relay, "--limit", "40")), stand[-40:])
        self.assertEqual(self.ids(self.list(relay, "--limit", "0")), stand)

    def test_two_relays(self):
        a, b = self.relay(), self.relay()
        both, one, two = handoff(at=NOW - 3, outcome="1"), handoff(at=NOW - 2, outcome="2"), handoff(at=NOW - 1, outcome="3")
        self.store(a, both, one)
        self.store(b, both, two)
        ids = [event["id"] for event in (both, one, two)]
        self.assertEqual(self.ids(self.list([a, b])), ids)
        self.assertEqual(self.ids(self.list([a, b], "--limit", "2")), ids[1:])

    def test_one_of_two_relays_is_gone(self):
        a, b = self.relay(), self.relay()
        event, = self.store(a, handoff())
        b.stop()
        result = self.list([a, b])
        self.assertEqual(self.ids(result), [event["id"]])
        incomplete = json.loads(result.err)["incomplete"]
        self.assertEqual([(one["url"], one["error"]) for one in incomplete], [(b.url, "network_error")])

    def test_no_relay(self):
        relay = self.relay()
        relay.stop()
        began = time.monotonic()
        self.assert_failure(self.list(relay), 2, "network_error", "could not be read")
        self.assertLess(time.monotonic() - began, 10)

    def test_a_relay_that_wants_to_know_who_reads(self):
        relay = self.relay("--profile", "buzz")
        self.assert_failure(self.list(relay), 3, "auth_error", "auth-required", "key")
        result = self.list(relay, env={"BUZZ_PRIVATE_KEY": SECRET})
        self.assertEqual((result.status, result.out), (0, b""), result)

    def test_an_empty_channel(self):
        result = self.list(self.relay())
        self.assertEqual((result.status, result.out, result.err), (0, b"", b""), result)


class Terminal(FeedCase):
    def shown(self, relay, columns=80, **env):
        result = run_on_terminal("list", "--channel", CHANNEL, "--relay", relay.url, columns=columns, env=env)
        self.assertEqual(result.status, 0, result)
        return result.out.decode()

    def test_lines_fit(self):
        relay = self.relay()
        self.store(relay, handoff(outcome="w" * 300), handoff(BOB, outcome="\u65e5\u672c\u8a9e" * 60),
                   handoff(BOB, job=OTHER_JOB, outcome="\U0001f680" * 90))
        for columns in (40, 60, 80, 120, 200):
            lines = self.shown(relay, columns, NO_COLOR="1").splitlines()
            self.assertEqual(len(lines), 3)
            for line in lines:
                wide = sum(2 if ord(c) > 0x2e80 else 1 for c in line)
                self.assertLessEqual(wide, columns, line)
                self.assertGreaterEqual(wide, columns - 2, line)
                self.assertTrue(line.endswith("\u2026"), line)

    def test_colours(self):
        relay = self.relay()
        self.store(relay, handoff(at=NOW - 3), handoff(BOB, at=NOW - 2, disposition="failed", outcome="No."),
                   handoff(BOB, at=NOW - 1, job=OTHER_JOB, content="words"))
        lines = self.shown(relay).splitlines()
        self.assertIn("\033[32mJob completed", lines[0])
        self.assertIn("\033[31mJob failed", lines[1])
        self.assertIn("\033[2mwords", lines[2])
        self.assertNotIn("\033", self.shown(relay, NO_COLOR="1"))

    def test_foreign_text_is_harmless(self):
        relay = self.relay()
        self.store(relay, handoff(outcome="a\u202eb\u2028c\u009bd"), handoff(BOB, content="x\u001b[2Jy\u0007"))
        for text in (self.shown(relay, 200, NO_COLOR="1"), self.list(relay).out.decode()):
            for hazard in "\u202e\u2028\u009b\u001b\u0007":
                self.assertNotIn(hazard, text)


class Watching(FeedCase):
    def test_what_comes(self):
        relay = self.relay()
        self.store(relay, handoff(at=NOW - 5, outcome="stored before"))
        watch = self.watch("--relay", relay.url)
        live = handoff(at=int(time.time()) + 2, outcome="now")
        self.store(relay, live)
        self.assertEqual(watch.lines(1)[0]["event_id"], live["id"])
        # it is connected by now: whatever its time says, it is new
        backdated, ahead = handoff(at=NOW - 899, outcome="late"), handoff(at=NOW + 890, outcome="ahead")
        ancient = handoff(at=NOW - 100000, outcome="ancient")
        self.store(relay, backdated, ahead, ancient, live)
        self.assertEqual([line["event_id"] for line in watch.lines(4)],
                         [event["id"] for event in (live, backdated, ahead, ancient)])
        result = watch.end(signal.SIGINT)
        self.assertEqual(result.status, 130, result)
        self.assertEqual(len(result.lines), 4)
        self.assertEqual(result.failure["message"], "stopped")
        self.assertEqual(list(result.lines[0]), MEMBERS)

    def test_since_shows_what_is_stored_oldest_first(self):
        relay = self.relay()
        events = self.store(relay, *[handoff(at=NOW - 60 + i, outcome=f"{i}") for i in (3, 1, 2)])
        watch = self.watch("--relay", relay.url, "--since", str(NOW - 60))
        self.assertEqual([line["event_id"] for line in watch.lines(3)],
                         [event["id"] for event in sorted(events, key=lambda e: e["created_at"])])
        self.assertEqual(watch.end(signal.SIGTERM).status, 143)

    def test_a_cut_connection_and_a_restarted_relay(self):
        relay = self.relay()
        proxy = Proxy(relay.port)
        self.addCleanup(proxy.stop)
        watch = self.watch("--relay", proxy.url)
        for _ in range(2):  # it stands: the subscription, and what was stored
            self.assertTrue(proxy.ends.acquire(timeout=20))
        events = [handoff(at=int(time.time()) + 1, outcome="0")]
        self.store(relay, *events)
        watch.lines(1)
        for i in range(1, 6):
            proxy.cut()
            # one that is stored while nobody listens, and says that it is older than what was seen last
            events += self.store(relay, handoff(at=NOW - 800 + i, outcome=str(i)))
            self.assertEqual(watch.lines(i + 1)[-1]["event_id"], events[-1]["id"])
        result = watch.end(signal.SIGINT)
        self.assertEqual(len(result.lines), 6, result)
        self.assertGreaterEqual(proxy.connections, 6)

    def test_two_relays_each_handoff_once(self):
        a, b = self.relay(), self.relay()
        watch = self.watch("--relay", a.url, "--relay", b.url)
        event, other = handoff(at=int(time.time()) + 2, outcome="both"), handoff(at=int(time.time()) + 3, outcome="b")
        self.store(a, event)
        self.store(b, event, other)
        self.assertEqual([line["event_id"] for line in watch.lines(2)], [event["id"], other["id"]])
        self.assertEqual(len(watch.end(signal.SIGINT).lines), 2)

    def test_wait_is_over_in_time(self):
        relay = self.relay()
        began = time.monotonic()
        result = run("watch", "--channel", CHANNEL, "--relay", relay.url, "--wait", "1")
        took = time.monotonic() - began
        self.assert_failure(result, 2, "network_error", "the time is up")
        self.assertTrue(1 <= took < 1.5, took)

    def test_a_relay_that_never_answers(self):
        relay = self.relay()
        relay.stop()
        result = run("watch", "--channel", CHANNEL, "--relay", relay.url, "--timeout", "1")
        self.assert_failure(result, 2, "network_error", "could not be read")


class First(FeedCase):
    def first(self, relay, *arguments, who=("--author", ALICE.public), **more):
        return run("watch", "--channel", CHANNEL, "--relay", relay.url, "--job", JOB, "--first", *who, *arguments, **more)

    def test_stored_already(self):
        relay = self.relay()
        event, = self.store(relay, handoff(at=NOW - 5000))
        result = self.first(relay, "--wait", "5")
        self.assertEqual(result.status, 0, result)
        self.assertEqual(result.line["event_id"], event["id"])
        self.assertEqual(list(result.line), MEMBERS + ["handoff"])
        self.assertEqual(result.line["handoff"], json.loads(event["content"]))
        self.assertEqual(result.err, b"")

    def test_numbers_come_as_they_were_spelled(self):
        relay = self.relay()
        content = payload()[:-1] + ',"zz":[1e400,123456789012345678901234567890,1.50]}'
        self.store(relay, handoff(content=content))
        result = self.first(relay, "--wait", "5")
        self.assertEqual(result.status, 0, result)
        self.assertIn(b'"zz":[1e400,123456789012345678901234567890,1.50]', result.out)

    def test_the_one_that_stands(self):
        """Two of one second, one of which takes back the other; and whoever is not asked for does not count."""
        relay = self.relay()
        early = handoff(outcome="Early.")
        late = handoff(outcome="Late.", supersedes=early["id"])
        self.store(relay, early, late, handoff(BOB, at=NOW + 1, outcome="Mine."))
        self.assertEqual(self.first(relay).line["event_id"], late["id"])
        self.assertEqual(self.first(relay, "--author", BOB.public).line["headline"], "Job completed: Mine.")

    def test_new_ones_and_not_those_of_others(self):
        relay = self.relay()
        watch = self.watch("--relay", relay.url, "--job", JOB, "--first", "--author", ALICE.public, "--wait", "20")
        right = handoff(at=NOW + 3, outcome="Right.")
        self.store(relay, handoff(BOB, outcome="Foreign."), handoff(content="no card"), handoff(job=OTHER_JOB), right)
        result = watch.end()
        self.assertEqual((result.status, result.line["event_id"]), (0, right["id"]), result)

    def test_of_one_disposition(self):
        relay = self.relay()
        _, blocked = self.store(relay, handoff(), handoff(at=NOW - 9, disposition="blocked", outcome="Stuck."))
        self.assertEqual(self.first(relay, "--disposition", "blocked").line["event_id"], blocked["id"])

    def test_nobody_answers(self):
        relay = self.relay()
        self.store(relay, handoff(BOB), handoff(content="{}"))
        self.assert_failure(self.first(relay, "--wait", "1"), 2, "network_error", "the time is up")
        self.assertEqual(self.first(relay, "--wait", "1", who=("--any-author",)).line["author"], BOB.public)

    def test_who_must_be_said(self):
        relay = self.relay()
        self.assert_failure(self.first(relay, who=()), 1, "user_error", "--any-author")
        self.assert_failure(self.first(relay, who=("--any-author", "--author", ALICE.public)), 1, "user_error")
        self.assert_failure(run("watch", "--channel", CHANNEL, "--relay", relay.url, "--first", "--any-author"), 1,
                            "user_error", "--job")


class Drops(FeedCase):
    """10,000 handoffs and 200 cuts with JOBS_SLOW set, a tenth of it without: 0 missed, 0 twice."""
    CUTS = 200 if os.environ.get("JOBS_SLOW") else 20
    A_CUT = 50

    def drops(self, relay, env, arguments=()):
        events = os.path.join(os.path.dirname(harness.JOBS), "../bench/bench-events")
        # they are signed before the watch begins: without --since the first of them could count as older than it
        arguments = ("--since", str(int(time.time())), *arguments)
        lines = subprocess.run([events, str(self.CUTS * self.A_CUT), "16"], stdout=subprocess.PIPE,
                               check=True).stdout.splitlines(keepends=True)
        proxy = Proxy(relay.port)
        self.addCleanup(proxy.stop)
        shown = open(self.path("shown"), "w+b")
        self.addCleanup(shown.close)
        watch = subprocess.Popen([harness.JOBS, "watch", "--channel", "00000000-0000-4000-8000-000000000000",
                                  "--relay", proxy.url, *arguments], stdout=shown, stderr=subprocess.DEVNULL,
                                 env=harness.environment(**env))
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        for _ in range(2):
            self.assertTrue(proxy.ends.acquire(timeout=20))
        publish = subprocess.Popen([harness.JOBS, "replay", "--relay", relay.url, "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=harness.environment(**env))
        for cut in range(self.CUTS):
            publish.stdin.write(b"".join(lines[cut * self.A_CUT:(cut + 1) * self.A_CUT]))
            publish.stdin.flush()
            proxy.cut()
            for _ in range(cut % 4):  # it may get through a page, or not so far
                self.assertTrue(proxy.ends.acquire(timeout=30))
        publish.communicate()
        self.assertEqual(publish.returncode, 0)
        wanted = {json.loads(line)["id"] for line in lines}
        deadline, count = time.monotonic() + 20 + self.CUTS, 0
        while count < len(wanted) and time.monotonic() < deadline:
            proxy.ends.acquire(timeout=1)  # something came, or nothing does
            shown.seek(0)
            count = shown.read().count(b"\n")
        watch.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(20), 130)
        shown.seek(0)
        found = [json.loads(line)["event_id"] for line in shown]
        self.assertEqual((len(wanted - set(found)), len(found) - len(set(found))), (0, 0), "missed, twice")
        self.assertEqual(set(found), wanted)
        self.assertGreaterEqual(proxy.connections, self.CUTS // 2)
        return proxy.connections

    def test_plain(self):
        connections = self.drops(self.relay(), {})
        if os.environ.get("JOBS_SLOW"):
            print(f"{connections} connections", file=sys.stderr)


if __name__ == "__main__":
    harness.main()
