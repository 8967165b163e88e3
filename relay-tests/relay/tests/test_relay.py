"""The relay itself: filters, subscriptions, both profiles' answers, the store across restarts and crashes, scripts."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import local
import nostr
from local import Relay
from nostr import Client, Key

NOW = int(time.time())
CHANNEL = "0b5e2c1a-7f34-4d0e-9a66-c2d1e8f7a901"
SANITIZED = 8 if os.environ.get("JOBS_SANITIZED") else 1  # freed memory is kept for a while by a sanitizer
WATCH = os.environ.get("WATCH_IO_LIBRARY", "")


def rss(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) * 1024


def ids(events):
    return [event["id"] for event in events]


def masked(text):
    """A client's frame for text, as bytes."""
    data = text.encode()
    head = bytes([0x81, 0x80 | 126]) + len(data).to_bytes(2, "big")
    return head + b"\0\0\0\0" + data


class Plain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.relay = Relay()
        cls.addClassCleanup(cls.relay.__exit__)

    def client(self, key=None):
        client = Client(self.relay.url, key)
        self.addCleanup(client.close)
        return client

    def refused(self, event, words):
        verb, event_id, ok, text = self.client().publish(event)
        self.assertEqual((verb, event_id, ok), ("OK", event["id"], False))
        self.assertIn(words, text)

    def test_ok_and_duplicate(self):
        client = self.client()
        event = client.key.sign(43004, [["h", CHANNEL]], "done \u001b \u2028 \"x\" \\ /")
        self.assertEqual(client.publish(event), ["OK", event["id"], True, ""])
        self.assertEqual(client.publish(event), ["OK", event["id"], True, "duplicate: have this event"])
        self.assertEqual(client.ask({"ids": [event["id"]]}), [event])

    def test_both_events_of_one_kind_are_kept(self):
        client = self.client()
        events = [client.key.sign(43004, [], text, NOW + n) for n, text in enumerate(("one", "two"))]
        for event in events:
            self.assertTrue(client.publish(event)[2])
        self.assertEqual(ids(client.ask({"authors": [client.key.public]})), ids(reversed(events)))

    def test_bad_signature(self):
        event = Key().sign(1, [], "x")
        event["sig"] = event["sig"][:-2] + ("00" if event["sig"][-2:] != "00" else "01")
        self.refused(event, "invalid: bad signature")

    def test_bad_id(self):
        event = Key().sign(1, [], "x")
        event["content"] = "y"
        self.refused(event, "invalid: bad event id")

    def test_del_makes_a_bad_id(self):
        self.refused(Key().sign(1, [], "a\x7fb"), "invalid: bad event id")

    def test_too_early(self):
        self.refused(Key().sign(1, [], "x", NOW - 4 * 365 * 86400), "invalid: created_at too early")

    def test_too_late(self):
        self.refused(Key().sign(1, [], "x", NOW + 3600), "invalid: created_at too late")

    def test_too_large(self):
        self.refused(Key().sign(1, [], "x" * 65536), "invalid: event too large: 6")

    def test_an_event_without_shape(self):
        event = Key().sign(1, [], "x")
        event["kind"] = "1"
        self.refused(event, "invalid: ")
        client = self.client()
        client.send("EVENT", {"id": 7})
        self.assertEqual(client.next()[0], "NOTICE")

    def test_not_a_message(self):
        client = self.client()
        for text in ("hello", "", "{}", "[]", "[1]", '["EVENT"', "null"):
            client.raw(text)
            self.assertEqual(client.next(), ["NOTICE", "ERROR: bad msg: unparseable message"] if text != "[1]" else
                             ["NOTICE", "ERROR: bad msg: unknown command"])

    def test_filters(self):
        client, other = self.client(), Key()
        a = client.key.sign(7001, [["t", "red"], ["e", "00" * 32]], "a", NOW - 30)
        b = client.key.sign(7002, [["t", "blue"], ["T", "red"]], "b", NOW - 20)
        c = other.sign(7001, [["t", "red", "x"], ["t", "blue"], ["tt", "red"]], "c", NOW - 10)
        for event in (a, b, c):
            self.assertTrue(client.publish(event)[2])
        mine, both = client.key.public, [client.key.public, other.public]
        for filters, expected in (
                ([{"ids": [a["id"], b["id"]]}], [b, a]),
                ([{"authors": [mine]}], [b, a]),
                ([{"authors": both, "kinds": [7001]}], [c, a]),
                ([{"authors": both, "#t": ["red"]}], [c, a]),
                ([{"authors": both, "#T": ["red"]}], [b]),
                ([{"authors": both, "#t": ["red", "blue"]}], [c, b, a]),
                ([{"authors": both, "#e": ["00" * 32]}], [a]),
                ([{"authors": both, "since": NOW - 20}], [c, b]),
                ([{"authors": both, "until": NOW - 20}], [b, a]),
                ([{"authors": both, "since": NOW - 20, "until": NOW - 20}], [b]),
                ([{"authors": both, "limit": 2}], [c, b]),
                ([{"authors": both, "limit": 0}], []),
                ([{"authors": both, "limit": 1}, {"ids": [a["id"]]}], [c, a]),
                ([{"authors": both}, {"authors": both}], [c, b, a]),
                ([{"ids": ["11" * 32]}], []),
                ([{"authors": []}], []),
                ([{"kinds": [], "authors": both}], []),
                ([{"#t": ["green"], "authors": both}], [])):
            self.assertEqual(client.ask(*filters), expected, filters)

    def test_the_newest_come_first_and_of_one_second_the_lowest_id(self):
        client = self.client()
        events = [client.key.sign(1, [], str(n), NOW - n % 4) for n in range(40)]
        for event in events:
            self.assertTrue(client.publish(event)[2])
        in_order = ids(sorted(events, key=lambda event: (-event["created_at"], event["id"])))
        self.assertEqual(ids(client.ask({"authors": [client.key.public]})), in_order)
        for limit in range(len(in_order) + 2):
            self.assertEqual(ids(client.ask({"authors": [client.key.public], "limit": limit})), in_order[:limit])

    def test_bad_filters(self):
        client = self.client()
        for bad in ({"ids": ["abc"]}, {"ids": "x"}, {"authors": ["G" * 64]}, {"kinds": ["1"]}, {"kinds": [70000]},
                    {"since": "x"}, {"limit": -1}, {"#t": [1]}, {"words": ["x"]}, [], "x"):
            client.send("REQ", "bad", bad)
            verb, name, text = client.next()
            self.assertEqual((verb, name), ("CLOSED", "bad"), bad)
            self.assertTrue(text.startswith("ERROR: invalid: bad req: "), text)

    def test_bad_subscription_names(self):
        client = self.client()
        for bad in ("", "n" * 65, 7, None):
            client.send("REQ", bad, {})
            self.assertEqual(client.next()[0], "NOTICE")

    def test_live(self):
        reader, writer = self.client(), self.client()
        name = 'quo"te\\'
        self.assertEqual(reader.ask({"authors": [writer.key.public], "kinds": [1]}, name=name), [])
        first, other, second = (writer.key.sign(kind, [], text) for kind, text in ((1, "a"), (2, "b"), (1, "c")))
        for event in (first, other, second, second):
            writer.publish(event)
        self.assertEqual(reader.next(), ["EVENT", name, first])
        self.assertEqual(reader.next(), ["EVENT", name, second])
        reader.send("CLOSE", name)
        self.assertEqual(reader.ask({"ids": ["22" * 32]}), [])  # the CLOSE has been read
        writer.publish(writer.key.sign(1, [], "d"))
        reader.quiet()

    def test_a_known_name_is_replaced(self):
        reader, writer = self.client(), self.client()
        reader.ask({"authors": [writer.key.public]}, name="s")
        reader.ask({"ids": ["33" * 32]}, name="s")
        writer.publish(writer.key.sign(1, [], "x"))
        reader.quiet()

    def test_too_many_subscriptions(self):
        client = self.client()
        for n in range(64):
            client.ask({"ids": ["44" * 32]}, name=str(n))
        client.send("REQ", "one more", {"ids": ["44" * 32]})
        self.assertEqual(client.next()[:2], ["CLOSED", "one more"])

    def test_deletion(self):
        client, other = self.client(), self.client()
        mine = client.key.sign(1, [], "mine")
        client.publish(mine)
        other.publish(other.key.sign(5, [["e", mine["id"]]], ""))
        self.assertEqual(client.ask({"ids": [mine["id"]]}), [mine])
        client.publish(client.key.sign(5, [["e", mine["id"]]], ""))
        self.assertEqual(client.ask({"ids": [mine["id"]]}), [])
        self.assertTrue(client.publish(mine)[2])
        self.assertEqual(client.ask({"ids": [mine["id"]]}), [])

    def test_fragments_and_long_messages(self):
        client = self.client()
        event = client.key.sign(1, [], "x" * 60000)
        text = nostr.compact(["EVENT", event]).encode()
        for at in range(0, len(text), 7000):
            client.frame(1 if at == 0 else 0, text[at:at + 7000], at + 7000 >= len(text))
        self.assertTrue(client.next()[2])
        self.assertEqual(client.ask({"ids": [event["id"]]}), [event])
        with self.assertRaises(nostr.Closed) as closed:
            client.raw("x" * (1 << 20) + "y")
            client.next()
        self.assertIn(closed.exception.code, (1009, None))  # None: the RST overtook the close frame

    def test_http(self):
        status, headers, body = nostr.get(self.relay.url, "application/nostr+json")
        self.assertEqual((status, headers["content-type"]), (200, "application/nostr+json"))
        self.assertEqual(json.loads(body)["limitation"]["auth_required"], False)
        self.assertEqual(nostr.get(self.relay.url)[0], 426)
        self.assertIn("date", self.client().headers)

    def test_who_does_not_read_costs_no_memory(self):
        before = rss(self.relay.process)
        client = self.client()
        count = 150000  # so many that answers and messages fill the kernel's buffers in both directions
        one = masked(nostr.compact(["EVENT", {"id": "88" * 32, "pad": "x" * 400}]))
        client.wire.settimeout(60)
        sender = threading.Thread(target=client.wire.sendall, args=(one * count,))
        sender.start()
        sender.join(1)
        self.assertTrue(sender.is_alive(), "the relay read everything, though its answers were not read")
        self.assertLess(rss(self.relay.process) - before, SANITIZED * 48 << 20)
        for _ in range(count):
            self.assertEqual(client.next(30)[0], "OK")
        sender.join()

    def test_ten_answers_of_everything_to_one_who_does_not_read(self):
        client = self.client()
        for n in range(60):
            client.publish(client.key.sign(9900, [], "x" * 50000, NOW + n))
        before = rss(self.relay.process)
        for n in range(40):
            client.send("REQ", f"all{n}", {"authors": [client.key.public]})
        self.client().ask({"ids": ["55" * 32]})  # the loop has turned
        self.assertLess(rss(self.relay.process) - before, SANITIZED * 30 << 20)
        ends = 0
        while ends < 40:
            ends += client.next()[0] == "EOSE"


class Refusing(unittest.TestCase):
    def test_job_kinds(self):
        for profile in ("plain", "buzz"):
            with self.subTest(profile), Relay("--profile", profile, "--refuse-jobs") as relay, \
                    Client(relay.url) as client:
                if profile == "buzz":
                    client.authenticate()
                event = client.key.sign(43004, [["h", CHANNEL]], "x")
                self.assertEqual(client.publish(event), ["OK", event["id"], False, "restricted: unknown event kind"])


class Buzz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.relay = Relay("--profile", "buzz")
        cls.addClassCleanup(cls.relay.__exit__)

    def client(self, key=None, auth=True):
        client = Client(self.relay.url, key)
        self.addCleanup(client.close)
        if auth:
            self.assertTrue(client.authenticate()[2])
        return client

    def says(self, client, event, ok, text):
        self.assertEqual(client.publish(event), ["OK", event["id"], ok, text])

    def channel(self, client):
        channel = f"{int(client.key.public[:8], 16):08x}-0000-4000-8000-{os.urandom(6).hex()}"
        self.says(client, client.key.sign(9007, [["h", channel], ["name", "c"]], ""), True, "")
        return channel

    def test_before_auth(self):
        client = self.client(auth=False)
        verb, challenge = client.next()
        self.assertEqual((verb, len(challenge)), ("AUTH", 64))
        self.says(client, client.key.sign(43001, [["h", CHANNEL]], ""), False, "auth-required: not authenticated")
        client.send("REQ", "q", {})
        self.assertEqual(client.next(), ["NOTICE", "auth-required: not authenticated"])
        self.assertEqual(client.next(), ["CLOSED", "q", "auth-required: not authenticated"])

    def test_auth_that_does_not_hold(self):
        now = int(time.time())
        for what in ({"url": "ws://example.com"}, {"url": "ws://127.0.0.1/"}, {"created_at": now - 120},
                     {"created_at": now + 120}, {"challenge": "f" * 64}):
            client = self.client(auth=False)
            if "challenge" in what:
                client.next()
            self.assertEqual(client.authenticate(**what)[2:], [False, "auth-required: verification failed"], what)
            self.assertEqual(client.authenticate("0" * 64)[2:], [False, "auth-required: authentication already failed"])

    def test_auth_that_holds(self):
        now = int(time.time())
        for what in ({"url": self.relay.url + "/"}, {"url": self.relay.url.replace("127.0.0.1", "localhost")},
                     {"created_at": now - 55}, {"created_at": now + 55}):
            client = self.client(auth=False)
            self.assertEqual(client.authenticate(**what)[2:], [True, ""], what)
            self.assertEqual(client.authenticate("0" * 64)[2:], [False, "auth-required: already authenticated"])

    def test_host_of_no_community(self):
        with self.assertRaises(nostr.Refused) as refused:
            Client(self.relay.url.replace("127.0.0.1", "localhost"))
        self.assertEqual((refused.exception.status, refused.exception.body),
                         (404, "relay: no community is configured for this host"))

    def test_channels(self):
        client, stranger = self.client(), self.client()
        channel = self.channel(client)
        again = client.key.sign(9007, [["h", channel], ["name", "d"]], "")
        self.says(client, again, False, "duplicate: channel already exists")
        self.says(stranger, stranger.key.sign(43001, [["h", channel]], ""), False, "restricted: not a channel member")
        self.says(stranger, stranger.key.sign(9021, [["h", channel]], ""), True, "")
        self.says(stranger, stranger.key.sign(43001, [["h", channel]], ""), True, "")
        self.says(client, client.key.sign(43001, [["h", CHANNEL]], ""), False, "restricted: not a channel member")
        self.assertFalse(client.publish(client.key.sign(43001, [["h", "No-UUID"]], ""))[2])
        self.assertFalse(client.publish(client.key.sign(43001, [], ""))[2])

    def test_handoff_duplicate_and_deletion(self):
        client = self.client()
        channel = self.channel(client)
        request = client.key.sign(43001, [["h", channel]], "do it")
        self.says(client, request, True, "")
        handoff = client.key.sign(43004, [["h", channel], ["e", request["id"], "", "reply"]], "{}")
        self.says(client, handoff, True, "")
        self.says(client, handoff, True, "duplicate:")
        self.says(client, client.key.sign(5, [["e", handoff["id"]]], ""), True, "")
        self.says(client, handoff, True, "duplicate:")
        self.assertEqual(client.ask({"ids": [handoff["id"]]}), [])

    def test_threads(self):
        client = self.client()
        channel, elsewhere = self.channel(client), self.channel(client)
        root = client.key.sign(43001, [["h", channel]], "root")
        reply = client.key.sign(43001, [["h", channel], ["e", root["id"], "", "reply"]], "reply")
        self.says(client, root, True, "")
        self.says(client, reply, True, "")
        for tags, ok, text in (
                ([["e", "66" * 32, "", "reply"]], False, "invalid: reply parent not found"),
                ([["e", reply["id"], "", "reply"]], False, "invalid: root tag does not match thread ancestry"),
                ([["e", reply["id"], "", "reply"], ["e", root["id"], "", "root"]], True, "")):
            self.says(client, client.key.sign(43004, [["h", channel], *tags], text), ok, text)
        self.says(client, client.key.sign(43004, [["h", elsewhere], ["e", root["id"], "", "reply"]], ""), False,
                  "invalid: parent event belongs to a different channel")

    def test_time_comes_before_duplicate(self):
        client = self.client()
        channel, now = self.channel(client), int(time.time())
        for offset in (-901 - 5, 901 + 5):
            self.says(client, client.key.sign(43001, [["h", channel]], "", now + offset), False,
                      "invalid: event timestamp too far from server time")
        event = client.key.sign(43001, [["h", channel]], "", now - 880)
        self.says(client, event, True, "")

    def test_other_kinds(self):
        client = self.client()
        self.says(client, client.key.sign(31337, [["h", CHANNEL]], ""), False, "restricted: unknown event kind")

    def test_sizes(self):
        client = self.client()
        self.assertIn("invalid: content exceeds maximum size",
                      client.publish(client.key.sign(43001, [["h", CHANNEL]], "x" * (256 * 1024 + 1)))[3])
        with self.assertRaises(nostr.Closed) as closed:
            client.raw("x" * (512 * 1024 + 1))
            client.next()
        self.assertIsNone(closed.exception.code)

    def test_close_is_answered(self):
        client = self.client()
        client.ask({"ids": ["77" * 32]})
        client.send("CLOSE", "q")
        self.assertEqual(client.next(), ["CLOSED", "q", ""])

    def test_quota(self):
        client = self.client()
        events = [client.key.sign(9, [["h", CHANNEL]], str(n)) for n in range(55)]
        for event in events:
            client.send("EVENT", event)
        said = [client.next() for _ in events]
        self.assertEqual([frame[0] for frame in said], ["OK"] * 50 + ["NOTICE"] * 5)
        self.assertRegex(said[-1][1], r"^rate-limited: quota exceeded; retry in [45]s$")

    def test_oks_overtake_each_other(self):
        client = self.client()
        events = [client.key.sign(9, [["h", CHANNEL]], str(n)) for n in range(30)]
        client.wire.sendall(b"".join(masked(nostr.compact(["EVENT", event])) for event in events))
        said = [client.next()[1] for _ in events]
        self.assertEqual(sorted(said), sorted(ids(events)))
        self.assertNotEqual(said, ids(events))

    def test_restart(self):
        with Relay("--profile", "buzz") as relay, Client(relay.url) as client:
            client.authenticate()
            self.channel(client)
            self.assertEqual(relay.stop()[0], 0)
            with self.assertRaises(nostr.Closed) as closed:
                client.next()
            self.assertEqual((closed.exception.code, closed.exception.reason), (1012, "relay restarting"))
            relay.start()
            with Client(relay.url, client.key) as back:
                back.authenticate()
                self.assertEqual(len(back.ask({"kinds": [9007]})), 1)

    def test_no_auth_in_five_seconds(self):
        client = self.client(auth=False)
        client.next()
        start = time.monotonic()
        with self.assertRaises(nostr.Closed) as closed:
            client.next(20)
        self.assertIsNone(closed.exception.code)
        self.assertGreater(time.monotonic() - start, 4.5)


class Store(unittest.TestCase):
    def setUp(self):
        self.key = Key()
        folder = tempfile.TemporaryDirectory(prefix="jobs-relay-")
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def publish(self, relay, count, **more):
        events = [self.key.sign(1, [["t", "x"]], str(n), NOW + n) for n in range(count)]
        with Client(relay.url) as client:
            for event in events:
                self.assertTrue(client.publish(event)[2])
        return events

    def all(self, relay):
        with Client(relay.url) as client:
            return client.ask({})

    def test_restart_keeps_everything(self):
        with Relay(dir=self.dir) as relay:
            events = self.publish(relay, 5)
            self.assertEqual(relay.stop()[0], 0)
            relay.start()
            self.assertEqual(self.all(relay), events[::-1])
            self.assertEqual(self.publish(relay, 0), [])
            with Client(relay.url) as client:
                self.assertIn("duplicate:", client.publish(events[0])[3])
        self.assertEqual(relay.stored(), events)

    def test_killed_after_ok(self):
        with Relay(dir=self.dir) as relay:
            events = self.publish(relay, 20)
            relay.stop(signal.SIGKILL)
            self.assertEqual(relay.stored(), events)

    def test_torn_last_line(self):
        with Relay(dir=self.dir) as relay:
            events = self.publish(relay, 3)
            relay.stop()
            with open(relay.path(), "r+b") as file:
                file.truncate(os.path.getsize(relay.path()) - 40)
            relay.start()
            self.assertEqual(self.all(relay), [events[1], events[0]])
            self.assertIn("cut off", relay.errors())
            with Client(relay.url) as client:
                self.assertEqual(client.publish(events[2])[2:], [True, ""])
            relay.stop()
        self.assertEqual(relay.stored(), events)

    def test_damaged_line_in_the_middle(self):
        with Relay(dir=self.dir) as relay:
            events = self.publish(relay, 2)
            relay.stop()
            with open(relay.path(), encoding="utf-8") as file:
                lines = file.readlines()
            with open(relay.path(), "w", encoding="utf-8") as file:
                file.writelines([lines[0], "{not an event}\n", "\n", lines[1], lines[1]])
            relay.start()
            self.assertEqual(self.all(relay), events[::-1])
            self.assertIn("no event at byte", relay.errors())

    def test_one_relay_a_folder(self):
        with Relay(dir=self.dir):
            with self.assertRaisesRegex(RuntimeError, "in use by another relay"):
                Relay(dir=self.dir)

    @unittest.skipUnless(WATCH, "WATCH_IO_LIBRARY is not set")
    def test_synced_before_ok(self):
        log = os.path.join(self.dir, "io")
        environment = ["env", f"LD_PRELOAD={WATCH}", f"WATCH_IO={log}", "ASAN_OPTIONS=verify_asan_link_order=0"]
        with Relay(dir=self.dir, wrapper=environment) as relay:
            os.remove(log)
            self.publish(relay, 10)
        with open(log, encoding="ascii") as file:
            order = [word for word in (line.split()[0] for line in file) if word != "send"]
        self.assertEqual(order, ["write", "fsync", "send-ok"] * 10)

    @unittest.skipUnless(WATCH, "WATCH_IO_LIBRARY is not set")
    def test_one_sync_for_many(self):
        log = os.path.join(self.dir, "io")
        environment = ["env", f"LD_PRELOAD={WATCH}", f"WATCH_IO={log}", "ASAN_OPTIONS=verify_asan_link_order=0"]
        with Relay(dir=self.dir, wrapper=environment) as relay, Client(relay.url) as client:
            os.remove(log)
            events = [self.key.sign(1, [], str(n)) for n in range(100)]
            client.wire.sendall(b"".join(masked(nostr.compact(["EVENT", event])) for event in events))
            for _ in events:
                self.assertTrue(client.next()[2])
        with open(log, encoding="ascii") as file:
            syncs = sum(line.startswith("fsync") for line in file)
        self.assertLess(syncs, 20)

    @unittest.skipUnless(WATCH, "WATCH_IO_LIBRARY is not set")
    def test_no_ok_when_the_sync_fails(self):
        environment = ["env", f"LD_PRELOAD={WATCH}", "FAIL_FSYNC=1", "ASAN_OPTIONS=verify_asan_link_order=0"]
        with Relay(dir=self.dir, wrapper=environment) as relay:
            with Client(relay.url) as client, self.assertRaises(nostr.Closed):
                client.publish(self.key.sign(1, [], "x"))
            self.assertEqual(relay.process.wait(10), 1)
            self.assertIn("cannot sync", relay.errors())

    def test_a_hundred_thousand(self):
        path = os.path.join(self.dir, "events.jsonl")
        with open(path, "w", encoding="ascii") as file:
            for n in range(100000):  # signatures are checked when events come, not when they are loaded
                event = {"id": os.urandom(32).hex(), "pubkey": f"{n % 100:064x}", "created_at": NOW - n % 5000,
                         "kind": 43004, "tags": [["h", f"c{n % 50}"], ["e", f"{n:064x}", "", "reply"]],
                         "content": str(n), "sig": "00" * 64}
                file.write(nostr.compact(event) + "\n")
        with Relay(dir=self.dir) as relay, Client(relay.url, patience=30) as client:
            start = time.monotonic()
            for n in range(200):
                found = client.ask({"#e": [f"{n * 37:064x}"], "kinds": [43004]})
                self.assertEqual([event["content"] for event in found], [str(n * 37)])
            asked = time.monotonic() - start
            self.assertLess(asked, 4, "200 questions by tag")
            self.assertEqual(len(client.ask({"#h": ["c7"]})), 2000)
            self.assertEqual(len(client.ask({"limit": 500})), 500)
            self.assertEqual(len(client.ask({})), 100000)


class Tls(unittest.TestCase):
    def test_wss(self):
        with tempfile.TemporaryDirectory() as folder:
            cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
                            "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
                           check=True, capture_output=True)
            with Relay("--cert", cert, "--key", key, "--ca", cert) as relay:
                self.assertTrue(relay.url.startswith("wss://127.0.0.1:"))
                with Client(relay.url, ca=cert) as client:
                    event = client.key.sign(1, [], "x" * 50000)
                    self.assertTrue(client.publish(event)[2])
                    self.assertEqual(client.ask({"ids": [event["id"]]}), [event])


class Options(unittest.TestCase):
    def fails(self, *options):
        result = subprocess.run([os.path.join(local.BIN, "jobs-relay"), *options], capture_output=True, text=True,
                                timeout=10)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def test_wrong_ones(self):
        self.assertIn("plain or buzz", self.fails("--profile", "x"))
        self.assertIn("0 to 65535", self.fails("--port", "70000"))
        self.assertIn("--cert and --key", self.fails("--cert", "x"))
        self.assertIn("options only", self.fails("x"))
        self.assertIn("cannot listen", self.fails("--cert", "/dev/null", "--key", "/dev/null"))
        self.assertIn("cannot make", self.fails("--dir", "/dev/null/x"))

    def test_port_in_use(self):
        with Relay() as relay:
            self.assertIn("cannot listen", self.fails("--port", str(relay.port)))


class Scripts(unittest.TestCase):
    def script(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".relay", encoding="utf-8")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def relay(self, text):
        relay = Relay("--script", self.script(text))
        self.addCleanup(relay.__exit__)
        return relay

    def test_faults_are_named(self):
        for text, line, words in (
                ("oops", 1, "a line begins with"),
                ("# fine\n\non EVENTS ok", 3, "after `on` comes"),
                ("on EVENT dance", 1, "`dance` is no action"),
                ("on EVENT ok false oops", 1, "separated by `;`"),
                ("on EVENT 0 ok", 1, "which ones"),
                ("on EVENT 5..2 ok", 1, "which ones"),
                ("on EVENT after 2 store", 1, "a time such as"),
                ('on EVENT notice "x', 1, "must end with a double quote"),
                ('on EVENT notice "\\q"', 1, "a backslash must begin"),
                ('on EVENT send {"a":1}', 1, "a message such as"),
                ('on EVENT send ["a"', 1, "must end with its ]"),
                ("on EVENT close 70", 1, "1000 to 4999"),
                ("on REQ store", 1, "for `on EVENT`"),
                ("on EVENT eose", 1, "for `on REQ`"),
                ("on EVENT status 503", 1, "for `on UPGRADE`"),
                ("on UPGRADE reset", 1, "`status` or `answer`"),
                ('on EVENT bytes "x"', 1, "transport raw"),
                ("on ACCEPT reset", 1, "transport raw"),
                ("on EVENT ok\ntransport raw", 2, "above the first rule"),
                ("transport raw\non EVENT frame opcode 77 \"x\"", 2, "0 to 15"),
                ("profile khatru", 1, "plain or buzz"),
                ("clock soon", 1, "a time such as"),
                ("given nothing", 1, "given equal handoff"),
                ("relay", 1, "needs a name"),
                ("relay a somebody", 1, "or `nobody`"),
                ("stop at EVENT", 1, "`stop` must read"),
                ("expect exit no", 1, "needs a number"),
                ("expect luck", 1, "`expect` knows")):
            with self.subTest(text):
                path = self.script(text)
                result = subprocess.run([os.path.join(local.BIN, "jobs-relay"), "--check-script", path],
                                        capture_output=True, text=True, timeout=10)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"{path}:{line}: ", result.stderr)
                self.assertIn(words, result.stderr)

    def test_which_one(self):
        relay = self.relay('on EVENT first ok false "one"\non EVENT 2..3 ok false "two"\non EVENT 5.. ok false "five"\n')
        said = []
        for _ in range(3):  # over all connections
            with Client(relay.url) as client:
                said += [client.publish(client.key.sign(1, [], str(n)))[3] for n in range(2)]
        self.assertEqual(said, ["one", "two", "two", "", "five", "five"])
        self.assertEqual(len(relay.stored()), 1)

    def test_stored_when_nobody_listens(self):
        relay = self.relay("on EVENT reset; after 100ms store\n")
        with Client(relay.url) as client:
            event = client.key.sign(1, [], "x")
            with self.assertRaises(nostr.Closed):
                client.publish(event)
        with Client(relay.url) as client:
            client.send("REQ", "q", {"ids": [event["id"]]})  # live: it comes when it is stored
            frames = [client.next(), client.next()]
        self.assertIn(["EVENT", "q", event], frames)
        self.assertEqual(relay.heard(), ["UPGRADE", "CONNECT", f"EVENT {event['id']}", "UPGRADE", "CONNECT", "READ q"])

    def test_verify(self):
        relay = self.relay("on EVENT verify; notice \"held\"\n")
        with Client(relay.url) as client:
            event = client.key.sign(1, [], "x")
            self.assertEqual(client.publish(event), ["NOTICE", "held"])
            event["content"] = "y"
            self.assertEqual(client.publish(event)[3], "invalid: bad event id")

    def test_placeholders(self):
        relay = self.relay('on EVENT store; send ["X","$id","$ID","$author","$url","$$","$fill(3)",$open(2)$shut(2),$event]; '
                           'send ["Y",$forged,$strangers]\non ASK send ["Z","$sub"]\n')
        with Client(relay.url) as client:
            event = client.key.sign(43004, [["t", "x"]], "text")
            said = client.publish(event)
            self.assertEqual(said, ["X", event["id"], event["id"].upper(), event["pubkey"], relay.url, "$", "aaa",
                                    [[]], event])
            _, forged, strangers = client.next()
            self.assertFalse(nostr.holds(forged))
            self.assertEqual({**forged, "content": ""}, {**event, "content": ""})
            self.assertTrue(nostr.holds(strangers))
            self.assertNotEqual(strangers["pubkey"], event["pubkey"])
            self.assertEqual((strangers["tags"], strangers["content"]), (event["tags"], event["content"]))
            client.send("REQ", 'a"b', {})
            self.assertEqual(client.next(), ["Z", 'a"b'])

    def test_upgrade_and_get(self):
        relay = self.relay('on UPGRADE first status 503 retry-after 7 body "gone"\n'
                           'on UPGRADE second status 302 location "ws://x/"\n')
        with self.assertRaises(nostr.Refused) as refused:
            Client(relay.url)
        self.assertEqual((refused.exception.status, refused.exception.headers["retry-after"], refused.exception.body),
                         (503, "7", "gone"))
        self.assertEqual(nostr.get(relay.url)[::2], (503, "gone"))
        with self.assertRaises(nostr.Refused) as refused:
            Client(relay.url)
        self.assertEqual((refused.exception.status, refused.exception.headers["location"]), (302, "ws://x/"))
        with Client(relay.url):
            pass

    def test_auth_by_script(self):
        relay = self.relay('on EVENT first challenge "a\\"b"; ok false "auth-required: please"\n')
        with Client(relay.url) as client:
            event = client.key.sign(1, [], "x")
            self.assertEqual(client.publish(event), ["AUTH", 'a"b'])
            self.assertEqual(client.next()[3], "auth-required: please")
            self.assertEqual(client.authenticate('a"b')[2:], [True, ""])
            self.assertTrue(client.publish(event)[2])

    def test_clock(self):
        relay = self.relay("clock +7200s\n")
        with Client(relay.url) as client:
            self.assertEqual(client.publish(client.key.sign(1, [], "x", NOW + 7200))[2], True)
            stamp = time.mktime(time.strptime(client.headers["date"], "%a, %d %b %Y %H:%M:%S GMT")) - time.timezone
            self.assertAlmostEqual(stamp, time.time() + 7200, delta=5)

    def test_close_and_deaf(self):
        relay = self.relay('on EVENT first close 1012 "bye"\non EVENT second drop\non EVENT third deaf\n')
        for code in (1012, None):
            with Client(relay.url) as client, self.assertRaises(nostr.Closed) as closed:
                client.publish(client.key.sign(1, [], "x"))
            self.assertEqual(closed.exception.code, code)
        with Client(relay.url) as client:
            client.send("EVENT", client.key.sign(1, [], "x"))
            client.frame(9, b"ping")
            client.quiet()


class Raw(Scripts):
    def test_an_ordinary_relay_on_bare_sockets(self):
        relay = self.relay("transport raw\non CLOSE silence\n")
        with Client(relay.url) as client:
            event = client.key.sign(1, [], "x" * 60000)
            self.assertTrue(client.publish(event)[2])
            self.assertEqual(client.ask({"ids": [event["id"]]}), [event])
            client.frame(9, b"ping")
            client.frame(8, b"\x03\xe8")
            with self.assertRaises(nostr.Closed) as closed:
                client.next()
            self.assertEqual(closed.exception.code, 1000)
        self.assertEqual(relay.stop()[0], 0)

    def test_wrong_key(self):
        relay = self.relay("transport raw\non UPGRADE upgrade wrong-key\n")
        with self.assertRaisesRegex(nostr.Closed, "wrong Sec-WebSocket-Accept"):
            Client(relay.url)

    def test_bytes_instead_of_http(self):
        relay = self.relay('transport raw\non UPGRADE bytes "HTTP/1.1 418 I am\\r\\nX: \\x41\\r\\n\\r\\n"; drop\n')
        with self.assertRaises(nostr.Refused) as refused:
            Client(relay.url)
        self.assertEqual((refused.exception.status, refused.exception.headers["x"]), (418, "A"))

    def test_frames(self):
        relay = self.relay('transport raw\non EVENT first frame opcode 3 rsv 5 more "abc"; frame masked "abc"; '
                           'frame claim 70000 cut 12 "abcdef"\non EVENT second frame pieces 2 "[1,2]"; '
                           'after 50ms reset\n')
        with Client(relay.url) as client:
            client.send("EVENT", client.key.sign(1, [], "x"))
            until = time.monotonic() + 5
            self.assertEqual(client.take(5, until), bytes([0x53, 3]) + b"abc")
            head = client.take(6, until)
            self.assertEqual(head[:2], bytes([0x81, 0x83]))
            self.assertEqual(bytes(a ^ b for a, b in zip(client.take(3, until), head[2:])), b"abc")
            self.assertEqual(client.take(12, until), bytes([0x81, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70]) + b"ab")
            client.send("EVENT", client.key.sign(1, [], "y"))
            self.assertEqual(client.take(11, time.monotonic() + 5),
                             b"\x01\x02[1" + b"\x00\x02,2" + b"\x80\x01]")
            with self.assertRaisesRegex(nostr.Closed, "reset"):
                client.next()

    def test_accept(self):
        relay = self.relay("transport raw\non ACCEPT first reset\n")
        with self.assertRaises((nostr.Closed, ConnectionResetError)):
            Client(relay.url)
        with Client(relay.url):
            pass


if __name__ == "__main__":
    unittest.main()
