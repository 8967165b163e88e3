"""Signed events that the tests of cards show: one of everything, one of each disposition, and what is no card."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../relay-tests"))
import nostr  # noqa: E402

CHANNEL = "123e4567-e89b-42d3-a456-426614174000"
JOB = "ab" * 32
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
KEY = nostr.Key((3).to_bytes(32, "big"))
TIME = 1796072645

FULL = {
    "schemaVersion": 1,
    "jobRequest": JOB,
    "requestedOutcome": "Make the uploader back off when the storage service throttles it, and prove that no part is "
                        "sent twice.",
    "outcome": "The uploader waits as long as the service asks, and doubles its own wait when the service does not say. "
               "Each part carries its digest, so a part that arrived is never sent again.\n\n"
               "Not done: the Windows build, whose runner was down all day.",
    "lastProgress": "Parts are resumed after a restart; the soak test has run for two hours.",
    "disposition": "partial",
    "artifacts": [
        {"kind": "pull_request", "label": "Back off when throttled", "reference": "https://git.example/acme/uploader/pull/412",
         "sourceState": "open, 3 commits, head 0f3c2d1"},
        {"kind": "file", "label": "Soak test report", "reference": "reports/soak-2026-11-30.md",
         "sha256": DIGEST, "bytes": 48213, "mediaType": "text/markdown"},
        {"kind": "commit", "label": "Head of the branch", "reference": "0f3c2d1b" * 5},
    ],
    "verification": [
        {"label": "Unit tests", "status": "passed", "claimSource": "executed", "command": "make -j4 test",
         "exitCode": 0, "evidence": "412 passed, 0 failed, 3 skipped", "evidenceSha256": DIGEST},
        {"label": "Throttling against the real service", "status": "passed", "claimSource": "reported"},
        {"label": "Windows build", "status": "not_run", "evidence": "The runner was down."},
        {"label": "Lint", "status": "failed", "claimSource": "executed", "command": "make lint", "exitCode": 2},
    ],
    "blocker": "The Windows runner is down; nobody here can restart it.",
    "findings": [
        {"id": "F-1", "severity": "high", "summary": "A part could be sent twice after a timeout", "bucket": "addressed",
         "owner": "uploader team", "disposition": "fixed in the pull request"},
        {"id": "F-2", "severity": "low", "summary": "The retry counter is an int and never reset", "bucket": "unresolved",
         "filedArtifact": "#418"},
        {"id": "F-3", "severity": "info", "summary": "日本語のログメッセージは文字化けします。原因はまだ調べていません。", "bucket": "observation"},
    ],
    "reviews": [
        {"role": "security", "reviewer": "Ines", "verdict": "approve", "summary": "No credential reaches the log."},
        {"role": "storage", "reviewer": "Tomas", "verdict": "hold", "summary": "Wants the jitter measured first.",
         "reference": "https://git.example/acme/uploader/pull/412#note-9"},
    ],
    "questions": [
        {"id": "Q-1", "question": "Ship without Windows?", "options": ["yes, Windows follows", "no, wait for the runner"]},
    ],
    "next": {"owner": "release team", "intent": "review", "targets": ["pull request 412"],
             "text": "Restart the Windows runner, then merge."},
    "supersedes": "cd" * 32,
    "source": {"format": "workflow-envelope", "version": "1", "producer": "builder 4.2", "nativeOutcome": "continue",
               "sha256": DIGEST, "bytes": 2048, "repairs": ["a trailing comma was removed"]},
}


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


FALLBACK = """# Upload fixed

The uploader **backs off** now; see [the change](https://git.example/acme/uploader/pull/412) and `make test`.

1. waits as long as asked
2. never sends a part *twice*
   - not even after a restart

> Windows is not built yet.

```
412 passed, 0 failed
```

| check | result |
|-------|--------|
| unit  | passed |
| lint  | failed |

<script>alert(1)</script> is text, and so is [this](javascript:alert(1)).
"""

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
