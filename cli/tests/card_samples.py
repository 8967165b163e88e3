"""Signed events that the tests of cards show: one of everything, one of each disposition, and what is no card."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../relay-tests"))
import nostr  # noqa: E402

CHANNEL = "123e4567-e89b-42d3-a456-426614174000"
JOB = "ab" * 32
KEY = nostr.Key((3).to_bytes(32, "big"))
TIME = 1796072645


def sample(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples", name), encoding="utf-8") as file:
        return file.read()


FULL = json.loads(sample("card.json"))


def event(payload, kind=43004, tags=None, created_at=TIME):
    """payload is an object, or the content itself."""
    content = payload if isinstance(payload, str) else nostr.compact(payload)
    if tags is None:
        tags = [["h", CHANNEL], ["e", JOB, "", "reply"], ["schema", "buzz.job-result", "1"]]
        if isinstance(payload, dict):
            tags.append(["disposition", payload["disposition"]])
    return KEY.sign(kind, tags, content, created_at)


def payload(**changes):
    small = {"schemaVersion": 1, "jobRequest": JOB, "requestedOutcome": "Find out whether we ship the hole.",
             "outcome": "We do not: the vulnerable function is compiled out.", "disposition": "no_artifact"}
    small.update(changes)
    return small


FALLBACK = sample("fallback.markdown")

SAMPLES = {
    "full": lambda: event(FULL),
    "small": lambda: event(payload()),
    "blocked": lambda: event(payload(disposition="blocked", outcome="Nothing was changed.",
                                     blocker="The database password has expired; only its owner can renew it.")),
    "fallback": lambda: event(FALLBACK),
    "request": lambda: event("Count the open issues.", kind=43001, tags=[["h", CHANNEL]]),
    "hints": lambda: event(payload(), tags=[["h", CHANNEL], ["e", JOB, "", "reply"], ["schema", "other", "1"],
                                            ["disposition", "completed"]]),
}

if __name__ == "__main__":
    print(json.dumps(SAMPLES[sys.argv[1]](), ensure_ascii=False))
