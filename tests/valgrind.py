"""Runs each command of `jobs` under valgrind, on success and on failure: no bad access, no leak. valgrind.py BUILD"""
import pathlib
import shutil
import subprocess
import sys
import uuid

BUILD = pathlib.Path(sys.argv[1]).resolve()
PLACE = BUILD / "valgrind"
CHANNEL = str(uuid.uuid4())
JOB = "ab" * 32
GOOD = '{"schemaVersion":1,"requestedOutcome":"x","outcome":"y","disposition":"no_artifact","z":[1.10,{"a":null}]}'
BAD = '{"schemaVersion":"1","outcome":"","disposition":"done","artifacts":[{"kind":"file","reference":"/etc/x"}]}'
NOWHERE = ("--relay", "ws://127.0.0.1:9", "--timeout", "1")
SEND = ("handoff", "--channel", CHANNEL, "--manifest", "-")

# exit status, stdin, arguments
RUNS = (
    (0, "", ("--help",)), (0, "", ("--version",)), (1, "", ("nonsense",)), (0, "", ("schema",)), (0, "", ("template",)),
    (0, GOOD, ("validate", "--job", JOB, "-")), (1, BAD, ("validate", "-")), (1, '{"a":', ("validate", "-")),
    (1, "\x00\ufeff", ("validate", "-")), (1, "[" * 100, ("validate", "-")),
    (0, "", ("keys", "show")), (0, "", ("channel", "create", "--name", "valgrind")), (0, "", ("channel", "join", "--channel", CHANNEL)),
    (0, "please", ("request", "--channel", CHANNEL, "-")),
    (0, GOOD, (*SEND, "--job", JOB, "--dry-run")), (0, GOOD, (*SEND, "--job", JOB)), (0, GOOD, (*SEND, "--job", JOB)),
    (5, GOOD.replace("y", "w"), (*SEND, "--job", JOB)), (0, GOOD.replace("y", "w"), (*SEND, "--job", JOB, "--supersede")),
    (1, BAD, (*SEND, "--job", JOB)), (2, GOOD, (*SEND, "--job", "cd" * 32, *NOWHERE)),
    (0, "", ("outbox", "list")), (0, "", ("outbox", "flush", "--relay", "RELAY")),
    (2, "", ("outbox", "flush", "--timeout", "1")),
    (0, "", ("outbox", "prune", "--days", "0")), (1, "", ("outbox", "show", JOB)),
)


def main():
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    relay = subprocess.Popen([BUILD / "bin/jobs-relay", "--port", "0", "--dir", PLACE / "relay"], stdout=subprocess.PIPE, text=True)
    findings = 0
    try:
        url = relay.stdout.readline().strip()
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(PLACE), "BUZZ_RELAY_URL": url, "JOBS_STATE_DIR": str(PLACE / "state")}
        runs = [(0, "", ("keys", "new", PLACE / "key")), *RUNS]
        for number, (status, given, arguments) in enumerate(runs):
            if number == 1:
                environment["BUZZ_PRIVATE_KEY"] = (PLACE / "key").read_text().strip()
            log = PLACE / f"{number}.log"
            command = ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect,possible",
                       f"--log-file={log}", BUILD / "bin/jobs", *(url if word == "RELAY" else word for word in arguments)]
            done = subprocess.run(command, input=given.encode(), capture_output=True, env=environment, timeout=120)
            if done.returncode != status or log.read_text():
                findings += 1
                print(f"{' '.join(map(str, arguments))}: exit {done.returncode}, not {status}\n{log.read_text()}"
                      f"{done.stderr.decode()}")
    finally:
        relay.terminate()
        relay.wait(timeout=20)
    print(f"{len(runs)} runs under valgrind, {findings} findings")
    return 1 if findings else 0


sys.exit(main())
