"""What cards look like: compared with cli/tests/snapshots, byte for byte. After a change that is meant, look at the new
ones (`git diff`) and commit them:

    python3 cli/tests/e2e_card.py --write
"""
import base64
import hashlib
import json
import os
import re
import sys

import harness
from card_samples import CHANNEL, JOB, SAMPLES, event, nostr
from harness import Case, run

PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "snapshots")


def show(shown, *arguments, **options):
    return run("show", "-", *arguments, stdin=nostr.compact(shown).encode(), **options)


def snapshots():
    """(file, what should stand in it)"""
    for name, sample in SAMPLES.items():
        given = sample()
        for width in ("60", "80", "120"):
            yield f"{name}-{width}.txt", show(given, "--format", "terminal", "--reason", env={"COLUMNS": width}).out
        yield f"{name}.html", show(given, "--format", "html", "--reason").out
        yield f"{name}.markdown", show(given, "--format", "markdown", "--reason").out


class Snapshots(Case):
    def test_each_is_as_it_was(self):
        seen = []
        for name, shown in snapshots():
            seen.append(name)
            with self.subTest(name), open(os.path.join(PLACE, name), "rb") as file:
                self.assertEqual(file.read().decode(), shown.decode())
        self.assertEqual(sorted(seen), sorted(os.listdir(PLACE)))


class Page(Case):
    def test_the_policy_allows_this_style_sheet_and_nothing_else(self):
        page = show(SAMPLES["full"](), "--format", "html").out.decode()
        style = re.search(r"<style>(.*)</style>", page, re.S).group(1)
        digest = "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertIn(f"content=\"default-src 'none'; style-src '{digest}'; base-uri 'none'; form-action 'none'\"", page,
                      "html_style_digest of cli/card/html_style.c is the digest of what stands above it")
        for word in ("<script", "url(", "@import", "src=", "<link", "<iframe", "<form", "<img"):
            self.assertNotIn(word, page)


class Controls(Case):
    """What no publisher of ours writes, and a signature allows."""

    STRINGS = ["\x1b[2J\x1b]0;title\x07", "a\x00b", "\x9b31m", "bell\x07 back\x08\x08", "\x7f", "over\rwritten", "\x0b\x0c",
               "[x](\x01javascript:alert(1))", "`\x1b[31m`", "<\x1b>", "\x85", "line\r\nend", "\u202e\x1b"]

    def assert_harmless(self, shown):
        self.assertEqual(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", shown), [])

    def test_in_content_and_tags(self):
        for string in self.STRINGS:
            for given in (event(string), event(f"# {string}\n\n- {string}\n\n```\n{string}\n```\n"),
                          event("x", tags=[["h", string], ["e", string, "", "reply"], ["schema", string]]),
                          event("x", kind=1, tags=[["e", JOB, "", "reply"], ["h", CHANNEL, string]])):
                for form in ("terminal", "markdown", "html", "json", "raw"):
                    with self.subTest(string, form=form):
                        result = show(given, "--format", form, "--reason")
                        self.assertEqual(result.status, 0, result)
                        self.assert_harmless(result.out.decode())
                        self.assertNotIn(b"<a ", result.out)

    def test_the_event_is_not_changed_by_being_harmless(self):
        for string in self.STRINGS:
            given = event(string)
            self.assertEqual(json.loads(show(given, "--format", "raw").out), given)
            self.assertEqual(show(given).line["content"], string)


class Large(Case):
    def test_content_made_to_be_slow(self):
        for name, content in {"brackets": "[" * 300000, "quotes": ">" * 300000, "stars": "*a " * 100000,
                              "lists": "".join(" " * i + "- a\n" for i in range(700)), "ticks": "`" * 300000 + "a",
                              "ticks of every length": "".join("`" * i + "a" for i in range(700)),
                              "table": "|" * 1000 + "\n" + "|-" * 1000 + "|\n" + ("|" * 1000 + "\n") * 100,
                              "links": "[a](b" * 50000, "entities": "&#x41;" * 50000, "lines": "\n" * 300000,
                              "nested": "**_" * 60000, "marks": "a" + "\u0301" * 100000}.items():
            given = event(content)
            for form in ("terminal", "markdown", "html", "json"):
                with self.subTest(name, form=form):
                    self.assertEqual(show(given, "--format", form, timeout=20).status, 0)


class Narrow(Case):
    def test_what_lies_deep_fits(self):
        """Rather not shown how deep it lies than lines that the terminal breaks where it likes."""
        for mark in ("> ", "- ", "1. ", "> - 1. "):
            given = event(mark * 30 + "a few words that need more than one line of their own")
            for width in (40, 60, 80, 200):
                with self.subTest(mark, width=width):
                    shown = show(given, "--format", "terminal", env={"COLUMNS": str(width)}).out.decode()
                    self.assertLessEqual(max(len(line) for line in shown.splitlines()), width, shown)
                    self.assertEqual(len(re.findall("few|words|line", shown)), 3, shown)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        for old in os.listdir(PLACE):
            os.remove(os.path.join(PLACE, old))
        for name, shown in snapshots():
            with open(os.path.join(PLACE, name), "wb") as file:
                file.write(shown)
    else:
        harness.main()
