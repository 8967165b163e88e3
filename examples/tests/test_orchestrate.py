"""The orchestrator's recipe against a worker, for every disposition, and for a worker that says nothing."""
import json
import shutil
import subprocess
import sys

import stand

RECIPE = stand.SOURCE / "examples/recipes/orchestrate.sh"
ENDS = {"completed": (0, "take "), "no_artifact": (0, "nothing to take"), "partial": (10, "not all of it"),
        "blocked": (11, "remove: "), "failed": (12, "somebody else")}

if not shutil.which("jq"):
    print("lacks jq")
    sys.exit(77)


def orchestrate(place, seconds, worker):
    child = subprocess.Popen([RECIPE, place.channel, worker, str(seconds), "Do it."], stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.STDOUT, env=place.environment, cwd=place.folder)
    asked = child.stdout.readline()
    assert asked.startswith("asked: "), asked + child.stdout.read()
    return child, asked.split()[1]


with stand.Stand("orchestrate") as place:
    orchestrators = place.environment
    place.run("jobs", "keys", "new", place.folder / "worker", ok=True)
    workers = orchestrators | {"BUZZ_PRIVATE_KEY": (place.folder / "worker").read_text().strip()}
    place.environment = workers
    worker = json.loads(place.run("jobs", "keys", "show", ok=True).stdout)["public_key"]
    for disposition, (status, words) in ENDS.items():
        place.environment = orchestrators
        child, job = orchestrate(place, 30, worker)
        manifest = json.loads(stand.manifest(f"{disposition}.json")) | {"requestedOutcome": "Do it."}
        place.run("jobs", "handoff", "--channel", place.channel, "--job", job, "--manifest", "-",
                  given=json.dumps(manifest | {"outcome": "Not the worker's."}), ok=True)
        place.environment = workers
        place.run("jobs", "handoff", "--channel", place.channel, "--job", job, "--manifest", "-",
                  given=json.dumps(manifest), ok=True)
        said, _ = child.communicate(timeout=60)
        assert child.returncode == status and words in said and "Not the worker's" not in said, (disposition, said)
    place.environment = orchestrators
    child, job = orchestrate(place, 1, worker)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 2 and "network_error" in said, said
    print(f"{len(ENDS)} dispositions, and none")
