"""What each relay answers to what a publisher may meet, asked by the independent client alone.

The scripts of relay-tests/ replay these answers: when a new version of a relay says something else, this fails first.
`...` stands for what differs from run to run; silence is None.
"""
import fnmatch
import shutil
import sys
import time

import client
import relays

HOUR, YEAR = 3600, 365 * 86400
TAKEN = ["OK", "ID", True, ""]


def refused(text, name="ID"):
    return ["OK", name, False, text]


# case, then what Python nostr-relay, rust-nostr LocalRelay and @nostr-relay/core say
ANSWERS = {
    "a handoff": (TAKEN, TAKEN, TAKEN),
    "another by the same key": (TAKEN, TAKEN, TAKEN),
    "the same again": (refused("duplicate: exists"), ["OK", "ID", True, "duplicate: already have this event"], TAKEN),
    "a bad signature": (refused("invalid: Bad signature", ""), refused("invalid: invalid event signature"),
                        refused("invalid: signature is wrong")),
    "4 years old": (refused("invalid: * is too old", ""), TAKEN, TAKEN),
    "1 hour ahead": (TAKEN, TAKEN, TAKEN),
    "DEL in content": (TAKEN, TAKEN, TAKEN),
    "U+000B in content": (refused("invalid: Bad signature", ""), TAKEN, TAKEN),
    "content of 64 KiB": (refused("invalid: 280 characters should be enough for anybody", ""),
                          refused("blocked: event size (* bytes) exceeds *65536*"), TAKEN),
    "content of 200 KB": (refused("invalid: 280 characters should be enough for anybody", ""),
                          refused("blocked: event size (* bytes) exceeds *65536*"),
                          ["NOTICE", "invalid: must be less than or equal to 102400 chars at *"]),
    "not JSON": (None, ["NOTICE", "invalid client message"], ["NOTICE", "*in JSON*"]),
    "CLOSE": (None, None, None),
}
SILENCE = 1  # second without a word


def ask(url, case, key, first):
    """One case on a connection of its own."""
    now = int(time.time())
    event = {
        "a handoff": lambda: first,
        "another by the same key": lambda: key.sign(43004, [["h", "x"]], "another"),
        "the same again": lambda: first,
        "4 years old": lambda: key.sign(43004, [], "old", now - 4 * YEAR),
        "1 hour ahead": lambda: key.sign(43004, [], "ahead", now + HOUR - 60),
        "DEL in content": lambda: key.sign(43004, [], "\x7f"),
        "U+000B in content": lambda: key.sign(43004, [], "\x0b"),
        "content of 64 KiB": lambda: key.sign(43004, [], "x" * 65536),
        "content of 200 KB": lambda: key.sign(43004, [], "x" * 200000),
    }
    with client.Client(url) as asker:
        if case == "not JSON":
            asker.raw("{not json")
            return asker.next(SILENCE)
        if case == "CLOSE":
            asker.send("REQ", "s", {"kinds": [43004], "limit": 1})
            asker.until(lambda frame: frame[0] == "EOSE")
            asker.send("CLOSE", "s")
            return asker.next(SILENCE)
        if case == "a bad signature":
            sent = key.sign(43004, [], "forged") | {"sig": first["sig"]}
        else:
            sent = event[case]()
        answer = asker.publish(sent)
        if answer and answer[0] == "OK":
            answer = ["OK", "ID" if answer[1] == sent["id"] else answer[1], *answer[2:]]
        return answer


def same(have, want):
    if have is None or want is None:
        return have is want
    return len(have) == len(want) and all(
        fnmatch.fnmatchcase(a, b.replace("[", "[[]")) if isinstance(a, str) and isinstance(b, str) else a is b
        for a, b in zip(have, want))


def main():
    relays.install_node()
    findings = 0
    for column, start in enumerate((relays.python_relay, relays.local_relay, relays.core_relay)):
        folder = relays.INSTALLED / "answers" / start.__name__
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        relay = start(folder)
        try:
            key = client.Key()
            first = key.sign(43004, [["h", "x"]], "first")
            for case, wants in ANSWERS.items():
                have = ask(relay.url, case, key, first)
                if not same(have, wants[column]):
                    findings += 1
                    print(f"{start.__name__}: {case}: says {have}, not {wants[column]}", file=sys.stderr)
        finally:
            relay.stop()
    print(f"{3 * len(ANSWERS)} answers of three relays looked at, {findings} differ")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
