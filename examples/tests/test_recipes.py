"""Runs the manifests and the shell recipes, each for every end that it speaks of."""
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stand

FINISH = stand.SOURCE / "examples/recipes/finish.sh"
EVIDENCE = stand.SOURCE / "examples/recipes/evidence.sh"


def manifests(place):
    files = sorted((stand.SOURCE / "examples/manifests").glob("*.json"))
    for file in files:
        said = place.run("jobs", "validate", "--job", "0" * 64, file, ok=True)
        assert json.loads(said.stdout)["valid"] is True, said
        job = place.request(json.loads(file.read_text())["requestedOutcome"])
        done = place.run(FINISH, place.channel, job, file)
        assert done.returncode == 0 and done.stdout.startswith("handed over: {"), done
        receipt = json.loads(done.stdout.removeprefix("handed over: "))
        event = place.stored(receipt["event_id"])
        assert ["disposition", file.stem] in event["tags"], event
    return len(files)


def finish(place):
    """The ends other than success."""
    job = place.request("ends")
    good = stand.SOURCE / "examples/manifests/no_artifact.json"
    other = stand.SOURCE / "examples/manifests/failed.json"
    broken = place.folder / "broken.json"
    broken.write_text("{}")
    without_key = dict(place.environment)

    def ends(status, words, file, **environment):
        place.environment = without_key | environment
        done = place.run(FINISH, place.channel, job, file)
        place.environment = without_key
        assert done.returncode == status and words in done.stdout, (status, done)

    ends(1, '"rule"', broken)
    ends(3, "key_error", good, BUZZ_PRIVATE_KEY="")
    ends(2, '"stored":true', good, BUZZ_RELAY_URL="ws://127.0.0.1:9")
    ends(4, '"error"', good, JOBS_STATE_DIR="/dev/null/state")
    ends(0, "handed over", good)  # what exit 2 had signed
    ends(5, "conflict", other)


def evidence(place):
    if not shutil.which("jq"):
        print("lacks jq")
        sys.exit(77)
    (place.folder / "made.txt").write_text("made\n")
    for command, disposition in ((["true"], "completed"), (["false"], "failed")):
        text = place.run(EVIDENCE, "made.txt", *command, ok=True).stdout
        job = place.request("something made")
        done = place.run("jobs", "handoff", "--channel", place.channel, "--job", job, "--requested-outcome",
                         "something made", "--manifest", "-", given=text, ok=True)
        content = json.loads(place.stored(json.loads(done.stdout)["event_id"])["content"])
        assert content["disposition"] == disposition and content["artifacts"][0]["bytes"] == 5, content


with stand.Stand("recipes") as place:
    count = manifests(place)
    finish(place)
    evidence(place)
    print(f"{count} manifests, 2 recipes")
