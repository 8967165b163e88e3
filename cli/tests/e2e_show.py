"""`jobs show`: where the event comes from, what is refused, and the forms a card has."""
import json
import os
import re
import shutil
import subprocess

import card_samples
import harness
from card_samples import CHANNEL, JOB, KEY, SAMPLES, event, payload
from harness import Case, run, run_on_terminal

nostr = card_samples.nostr


def show(shown, *arguments, **options):
    stdin = shown if isinstance(shown, bytes) else nostr.compact(shown).encode()
    return run("show", "-", *arguments, stdin=stdin, **options)


class Stdin(Case):
    def test_a_card_needs_neither_relay_nor_key(self):
        result = show(SAMPLES["small"](), env={"BUZZ_RELAY_URL": "ws://127.0.0.1:1"})
        self.assertEqual((result.status, result.err), (0, b""), result)
        card = result.line
        self.assertEqual(list(card)[:10], ["event_id", "created_at", "author", "channel", "job", "disposition", "headline",
                                           "card", "kind", "label"])
        self.assertEqual((card["author"], card["channel"], card["job"], card["card"], card["kind"]),
                         (KEY.public, CHANNEL, JOB, True, 43004))
        self.assertEqual((card["disposition"], card["headline"], card["label"]),
                         ("no_artifact", "Job completed", "Completed without an artifact"))
        self.assertEqual(card["payload"], payload())

    def test_the_payload_is_as_it_is(self):
        content = nostr.compact(payload())[:-1] + ',"odd":[1.10,1e400,"\\u0000",12345678901234567890123]}'
        result = show(event(content))
        self.assertIn(b'"odd":[1.10,1e400,"\\u0000",12345678901234567890123]', result.out)

    def test_what_does_not_hold_is_not_shown(self):
        good = SAMPLES["small"]()
        cases = {
            "id": ({**good, "id": "00" * 32}, "id"),
            "content": ({**good, "content": good["content"].replace("We do not", "We do")}, "id"),
            "signature": ({**good, "sig": good["sig"][:-1] + ("0" if good["sig"][-1] != "0" else "1")}, "signature"),
            "author": (dict(KEY.sign(43004, good["tags"], good["content"], good["created_at"] + 1), sig=good["sig"]),
                       "signature"),
        }
        for name, (bad, word) in cases.items():
            for form in ("terminal", "markdown", "html", "json", "raw"):
                with self.subTest(name, form=form):
                    result = show(bad, "--format", form)
                    self.assertEqual(result.out, b"", result)
                    self.assert_failure(result, 1, "user_error", word)

    def test_what_is_no_event(self):
        for bad in (b"", b"{}", b"[]", b"x", b'"', nostr.compact(SAMPLES["small"]()).encode() * 2, b"\xff", b"{" * 70000,
                    b" " * 1048577):
            with self.subTest(bad[:20]):
                result = show(bad)
                self.assertEqual(result.out, b"", result)
                self.assert_failure(result, 1, "user_error")

    def test_white_space_and_order_do_not_matter(self):
        good = SAMPLES["small"]()
        result = show(json.dumps(dict(reversed(good.items())), indent=2).encode() + b"\n\n")
        self.assertEqual((result.status, result.line["event_id"]), (0, good["id"]), result)


class Forms(Case):
    def test_raw_is_the_event(self):
        for name, sample in SAMPLES.items():
            with self.subTest(name):
                given = sample()
                result = show(given, "--format", "raw")
                self.assertEqual(result.out.decode(), nostr.compact(given) + "\n")

    def test_the_form_that_was_asked_for(self):
        shown = {form: show(SAMPLES["small"](), "--format", form).out.decode()
                 for form in ("terminal", "markdown", "html", "json", "raw")}
        self.assertTrue(shown["terminal"].startswith("● Job completed"), shown["terminal"])
        self.assertTrue(shown["markdown"].startswith("# Job completed\n"))
        self.assertTrue(shown["html"].startswith("<!DOCTYPE html>\n"))
        self.assertTrue(json.loads(shown["json"])["card"])
        self.assertEqual(json.loads(shown["raw"])["kind"], 43004)
        self.assert_failure(show(SAMPLES["small"](), "--format", "pdf"), 1, "user_error", "terminal markdown html")

    def test_every_disposition_has_its_headline_and_label(self):
        for word, headline, label in [("completed", "Job completed", "Completed"),
                                      ("partial", "Job partially completed", "Partially completed"),
                                      ("blocked", "Job blocked", "Blocked"), ("failed", "Job failed", "Failed"),
                                      ("no_artifact", "Job completed", "Completed without an artifact")]:
            changes = {"disposition": word}
            if word == "completed":
                changes["artifacts"] = [{"kind": "file", "label": "x", "reference": "a"}]
            if word == "blocked":
                changes["blocker"] = "b"
            given = event(payload(**changes))
            for form in ("terminal", "markdown", "html", "json"):
                with self.subTest(word, form=form):
                    shown = show(given, "--format", form).out.decode()
                    self.assertIn(headline, shown)
                    self.assertIn(label, shown)

    def test_passed_is_shown_as_a_claim(self):
        for form in ("terminal", "markdown", "html"):
            shown = show(SAMPLES["full"](), "--format", form).out.decode().replace("\\", "")
            for words in ("claimed: passed", "executed: the author says", "reported: the author was told so",
                          "make -j4 test", "claimed: failed", "not run", "obliges nobody"):
                self.assertIn(words, shown, form)

    def test_texts_are_trimmed_and_references_encoded(self):
        given = event(payload(disposition="partial", outcome="\u3000 \n What came out. \n\ufeff", artifacts=[
            {"kind": "other", "label": " Result\u00a0", "reference": " https://example.org/a b\\c "}]))
        shown = show(given, "--format", "terminal").out.decode()
        self.assertIn("Outcome       What came out.\n", shown)
        self.assertIn("other  Result\n", shown)
        self.assertIn("https://example.org/a%20b%5Cc\n", shown)
        self.assertIn('href="https://example.org/a%20b%5Cc"', show(given, "--format", "html").out.decode())


class Fallback(Case):
    def test_content_is_shown_as_markdown(self):
        given = SAMPLES["fallback"]()
        card = show(given).line
        self.assertEqual((card["card"], card["disposition"], card["headline"]), (False, None, "Job result"))
        self.assertEqual(card["content"], given["content"])
        html = show(given, "--format", "html").out.decode()
        self.assertIn("<strong>backs off</strong>", html)
        self.assertIn('href="https://git.example/acme/uploader/pull/412"', html)
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt;", html)
        self.assertNotIn("<script", html)
        self.assertNotIn('href="javascript', html)
        terminal = show(given, "--format", "terminal").out.decode()
        self.assertIn("1. waits as long as asked\n", terminal)
        self.assertIn("│ Windows is not built yet.\n", terminal)

    def test_the_reason_is_told_on_request(self):
        cases = [
            (event(payload(disposition="done")), "H209"),
            (event(payload(), tags=[["h", CHANNEL]]), "marked `reply`"),
            (event(payload(), tags=[["e", JOB, "", "reply"]] * 2), "marked `reply`"),
            (event(payload(), tags=[["e", "cd" * 32, "", "reply"]]), "H304"),
            (event(payload(), kind=43003), "kind 43004"),
        ]
        for given, words in cases:
            with self.subTest(words):
                self.assertNotIn("violations", show(given).line)
                card = show(given, "--reason").line
                self.assertIs(card["card"], False)
                self.assertIn(words, json.dumps([card.get("reason"), card["violations"]]))
                for form in ("terminal", "html", "markdown"):
                    shown = " ".join(show(given, "--format", form, "--reason").out.decode().replace("\\", "").split())
                    self.assertIn("Why no card", shown)
                    self.assertIn(words, shown)

    def test_a_field_that_is_left_out_is_named_on_request(self):
        given = event(payload(supersedes="no id", next={"owner": 3, "text": "t"}))
        self.assertNotIn("left_out", show(given).line)
        left = show(given, "--reason").line["left_out"]
        self.assertEqual({item["pointer"] for item in left}, {"/supersedes", "/next/owner"})
        self.assertIn("/next/owner", show(given, "--format", "terminal", "--reason").out.decode())
        self.assertNotIn("Replaces", show(given, "--format", "terminal").out.decode())

    def test_a_hint_that_is_wrong_is_named_and_the_content_shown(self):
        card = show(SAMPLES["hints"]()).line
        self.assertIs(card["card"], True)
        self.assertEqual(len(card["notes"]), 2)
        shown = show(SAMPLES["hints"](), "--format", "terminal").out.decode()
        self.assertIn("Job completed", shown)
        self.assertIn("schema tag", shown)
        self.assertIn("disposition tag", shown)
        self.assertNotIn("notes", show(SAMPLES["full"]()).line)

    def test_the_vectors_of_the_reader(self):
        place = os.path.join(os.path.dirname(__file__), "../../docs/protocol/vectors/reader")
        count = 0
        for name in sorted(os.listdir(place)):
            if not os.path.exists(os.path.join(place, name, "content.json")):
                continue
            expected = json.loads(self.read(os.path.join(place, name, "expected.json")))
            content = self.read(os.path.join(place, name, "content.json"))
            with self.subTest(name):
                given = event(content, tags=[["h", CHANNEL], ["e", expected["reply"], "", "reply"]])
                self.assertIs(show(given).line["card"], expected["card"])
            count += 1
        self.assertGreater(count, 20)


class OnRelay(Case):
    def setUp(self):
        super().setUp()
        self.relay = subprocess.Popen([harness.RELAY, "--port", "0", "--dir", self.path("relay")],
                                      stdout=subprocess.PIPE, env=harness.environment())
        self.url = self.relay.stdout.readline().decode().strip()
        self.addCleanup(self.end)
        made = run("channel", "create", "--key-file", self.key_file(), "--relay", self.url).line
        job = run("request", "--key-file", self.path("key"), "--relay", self.url, "--channel", made["channel"], "Do it").line
        done = run("handoff", "--key-file", self.path("key"), "--relay", self.url, "--channel", made["channel"],
                   "--job", job["event_id"], "--manifest", self.write("m", harness.manifest(jobRequest=None)),
                   "--state-dir", self.path("state"))
        self.id, self.job, self.channel = done.line["event_id"], job["event_id"], made["channel"]

    def end(self):
        self.relay.terminate()
        self.relay.wait()
        self.relay.stdout.close()


class Relay(OnRelay):
    def test_by_id_in_every_spelling(self):
        for spelling in (self.id, self.id.upper(), "nostr:" + self.note(self.id)):
            result = run("show", spelling, "--relay", self.url)
            self.assertEqual(result.status, 0, result)
            self.assertEqual(result.line["event_id"], self.id)

    def test_one_that_is_nowhere(self):
        self.assert_failure(run("show", "00" * 32, "--relay", self.url), 1, "not_found", "no relay has this event")
        self.assert_failure(run("show", "00" * 32, "--relay", "ws://127.0.0.1:1", "--timeout", "2"), 2, "network_error")

    def test_one_relay_that_has_it_is_enough(self):
        self.assertEqual(run("show", self.id, "--relay", "ws://127.0.0.1:1", "--relay", self.url).status, 0)

    def test_a_relay_that_will_not_say(self):
        for number, (script, status, category, words) in enumerate((
                ('on READ   closed "auth-required: who are you"\n', 3, "auth_error", "who are you"),
                ('on CONNECT   challenge\non READ   closed "auth-required: who are you"\n', 3, "auth_error", "who are you"),
                ('on READ   closed "blocked: not here"\n', 2, "relay_error", "not here"),
                ('on READ   closed ""\n', 2, "relay_error", "refused without a reason"),
                ("on READ   forge; eose\n", 2, "relay_error", "is not this event"),
                ('on READ   closed "error: busy"\n', 2, "network_error", "no answer in time"))):
            folder = shutil.copytree(self.path("relay"), self.path(f"relay{number}"))
            relay = subprocess.Popen([harness.RELAY, "--port", "0", "--dir", folder, "--script", self.write("script", script)],
                                     stdout=subprocess.PIPE, env=harness.environment())
            try:
                url = relay.stdout.readline().decode().strip()
                failure = self.assert_failure(run("show", self.id, "--relay", url, "--timeout", "2"), status, category, words)
                self.assertEqual(failure["retryable"], category == "network_error", failure)
                self.assertEqual("no key" in failure.get("hint", ""), category == "auth_error", failure)
            finally:
                relay.terminate()
                relay.wait()
                relay.stdout.close()

    def test_hints_are_followed_only_when_asked(self):
        empty = subprocess.Popen([harness.RELAY, "--port", "0", "--dir", self.path("empty")], stdout=subprocess.PIPE,
                                 env=harness.environment())
        try:
            other = empty.stdout.readline().decode().strip()
            hinted = self.nevent(self.id, self.url)
            failure = self.assert_failure(run("show", hinted, "--relay", other), 1, "not_found")
            self.assertIn("--follow-hints", failure["hint"])
            self.assertEqual(run("show", hinted, "--relay", other, "--follow-hints").line["event_id"], self.id)
        finally:
            empty.terminate()
            empty.wait()
            empty.stdout.close()

    def note(self, hexadecimal):
        return bech32("note", bytes.fromhex(hexadecimal))

    def nevent(self, hexadecimal, relay):
        return bech32("nevent", b"\0\x20" + bytes.fromhex(hexadecimal) + b"\1" + bytes([len(relay)]) + relay.encode())


def bech32(prefix, data):
    letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    values = [int(bits[i:i + 5], 2) for i in range(0, len(bits), 5)]

    def polymod(all_values):
        check = 1
        for value in all_values:
            top = check >> 25
            check = (check & 0x1FFFFFF) << 5 ^ value
            for i, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
                check ^= generator if top >> i & 1 else 0
        return check
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    checksum = polymod(expanded + values + [0] * 6) ^ 1
    values += [checksum >> 5 * (5 - i) & 31 for i in range(6)]
    return prefix + "1" + "".join(letters[value] for value in values)


class Life(OnRelay):
    def publish(self, *events):
        lines = "".join(nostr.compact(one) + "\n" for one in events).encode()
        result = run("replay", "-", "--relay", self.url, "--all", stdin=lines)
        self.assertEqual(result.status, 0, result)

    def of(self, kind, content, key=KEY, channel=None, after=1, **changes):
        tags = [["h", channel or self.channel], ["e", self.job, "", "reply"]]
        text = content if isinstance(content, str) else nostr.compact({**content, "jobRequest": self.job, **changes})
        return key.sign(kind, tags, text, self.start + after)

    def setUp(self):
        super().setUp()
        card = run("show", self.id, "--relay", self.url).line
        self.start = card["created_at"]

    def test_all_of_it_in_order(self):
        other = nostr.Key((5).to_bytes(32, "big"))
        second = self.of(43004, payload(supersedes=self.id), after=4)
        foreign = self.of(43004, payload(supersedes=second["id"]), key=other, after=5)
        self.publish(foreign, self.of(43003, "half way", after=2), second, self.of(43002, "on it", after=1),
                     self.of(43006, "and an error", after=7), self.of(43005, "never mind", after=6),
                     self.of(43003, "elsewhere", channel="00000000-0000-4000-8000-000000000000"))
        result = run("show", "--job", self.job, "--relay", self.url)
        self.assertEqual(result.status, 0, result)
        life = result.line
        self.assertEqual([event["kind"] for event in life["events"]],
                         [43001, 43004, 43002, 43003, 43004, 43004, 43005, 43006])
        self.assertEqual((life["job"], life["request"], life["headline"], life["elsewhere"]),
                         (self.job, True, "Several results stand", 1))
        replaced = {event["event_id"]: event["superseded_by"] for event in life["events"] if event["kind"] == 43004}
        self.assertEqual(replaced, {self.id: second["id"], second["id"]: None, foreign["id"]: None})
        for form, word in (("terminal", "● Life of a job"), ("markdown", "# Life of a job"), ("html", "<h1>Life of a job")):
            shown = run("show", "--job", self.job, "--relay", self.url, "--format", form).out.decode()
            self.assertIn(word, shown)
            self.assertIn("half way", shown)
            self.assertIn("replaced by", shown)
            self.assertIn("Its request, and what names it.", shown)
        raw = run("show", "--job", self.job, "--relay", self.url, "--format", "raw").lines
        self.assertEqual([event["id"] for event in raw], [event["event_id"] for event in life["events"]])

    def test_a_part_that_is_missing(self):
        self.job = "77" * 32
        self.publish(self.of(43003, "still at it"))
        life = run("show", "--job", self.job, "--relay", self.url).line
        self.assertEqual((life["request"], life["headline"], len(life["events"])), (False, "Job progress", 1))
        shown = run("show", "--job", self.job, "--relay", self.url, "--format", "terminal").out.decode()
        self.assertIn("No relay had the request itself.", shown)
        self.assert_failure(run("show", "--job", "66" * 32, "--relay", self.url), 1, "not_found")

    def test_a_relay_that_did_not_answer_is_named(self):
        dead = "ws://127.0.0.1:1"
        shown = run("show", "--job", self.job, "--relay", self.url, "--relay", dead, "--timeout", "1")
        self.assertEqual((shown.status, shown.line["request"]), (0, True), shown)
        [fault] = json.loads(shown.err)["incomplete"]
        self.assertEqual((fault["url"], fault["error"]), (dead, "network_error"))
        self.assertEqual(run("show", "--job", self.job, "--relay", self.url).err, b"")

    def test_one_thing_at_a_time(self):
        self.assert_failure(run("show"), 1, "user_error", "--job")
        self.assert_failure(run("show", self.id, "--job", self.job), 1, "user_error", "one of them")


class Terminal(Case):
    def on_terminal(self, sample, *arguments, **options):
        path = self.write("event.json", nostr.compact(SAMPLES[sample]()))
        with open(path, "rb") as stdin:
            return run_on_terminal("show", "-", *arguments, which=(1, 2), stdin=stdin, **options)

    def test_a_person_gets_a_card_and_a_program_an_object(self):
        shown = self.on_terminal("small", env={"NO_COLOR": "1"}).out.decode()
        self.assertTrue(shown.startswith("● Job completed"), shown)
        self.assertEqual(json.loads(self.on_terminal("small", "--json").out)["card"], True)

    def test_colours_only_where_they_are_wanted(self):
        self.assertIn(b"\x1b[", self.on_terminal("small").out)
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn(b"\x1b", self.on_terminal("small", env=env).out)
        self.assertNotIn(b"\x1b", self.on_terminal("small", "--format", "html").out)

    def test_the_terminal_says_how_wide_it_is(self):
        for columns in (20, 40, 97, 200, 500):
            shown = self.on_terminal("small", columns=columns, rows=100, env={"NO_COLOR": "1"}).out.decode()
            rule = next(line for line in shown.splitlines() if line.startswith("─"))
            self.assertEqual(len(rule), min(max(columns, 40), 200))

    def test_a_long_card_goes_through_the_pager(self):
        pager = {"PAGER": "tee " + self.path("paged") + "; echo the pager was here"}
        shown = self.on_terminal("full", env={**pager, "NO_COLOR": "1"}).out.decode()
        self.assertIn("the pager was here", shown)
        self.assertIn("Job partially completed", self.read(self.path("paged")))
        self.assertNotIn("the pager was here", self.on_terminal("small", env=pager, rows=60).out.decode())
        for unpaged in (self.on_terminal("full", "--format", "json", env=pager),
                        self.on_terminal("full", "--json", env=pager)):
            self.assertNotIn("the pager was here", unpaged.out.decode())
        for nothing in ("", "/nonexistent/pager"):
            self.assertIn("Job partially completed", self.on_terminal("full", env={"PAGER": nothing}).out.decode())

    def test_a_pager_that_ends_early_is_no_failure(self):
        result = self.on_terminal("full", env={"PAGER": "true"})
        self.assertEqual((result.status, re.sub(rb"\s", b"", result.out)), (0, b""), result)


if __name__ == "__main__":
    harness.main()
