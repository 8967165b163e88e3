"""Events for the tests of verify and replay, signed by an implementation that shares no code with jobs."""
import functools
import json
import os
import subprocess
import sys

import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../relay-tests"))
import nostr  # noqa: E402


def built(name):
    return os.path.join(os.path.dirname(harness.JOBS), "..", name)


@functools.cache
def key():
    return nostr.Key(bytes.fromhex(harness.SECRET))


def handoff(manifest, job=harness.JOB, channel=harness.CHANNEL):
    """A result whose content is the manifest, as bytes of one line."""
    tags = [["h", channel], ["e", job, "", "reply"]]
    return json.dumps(key().sign(43004, tags, manifest.decode(), 1700000000)).encode()


@functools.cache
def many(count, authors=3):
    """So many different handoffs, as the benchmark's generator makes them."""
    made = subprocess.run([built("bench/bench-events"), str(count), str(authors)], capture_output=True, check=True, timeout=100)
    return made.stdout.splitlines()


def spoil(event, member):
    """The event with one digit of the member changed."""
    changed = json.loads(event)
    changed[member] = ("0" if changed[member][0] != "0" else "1") + changed[member][1:]
    return json.dumps(changed).encode()


def peak(*arguments, **environment):
    """KiB that jobs needed at most; its exit status must be 0. Measured from a small process: a large parent's memory
    would be counted as the child's."""
    result, into = os.pipe()
    done = subprocess.run([built("bench/bench-once"), str(into), harness.JOBS, *arguments], pass_fds=(into,),
                          capture_output=True, timeout=300, env=harness.environment(**environment))
    os.close(into)
    with os.fdopen(result) as lines:
        _, kib, status = lines.read().split()
    assert (done.returncode, status) == (0, "0"), done
    return int(kib)
