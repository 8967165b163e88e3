"""Runs each answer of examples/results through its recipe: agent output in, card out."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stand

RECIPE = stand.SOURCE / "examples/recipes/hand_over_result.sh"
# what the card must say: its headline, the system and its own word, and what may not be made prettier than it is
SAYS = {
    "bubbles.md": ("Job completed", "bubbles.implement", "completed_owned", "orders/page.c", "cursor advanced one row early",
                   "not run"),
    "skill-outcome.md": ("Job blocked", "execute-phase", "needs-input", "Keep the cursor of main or of this branch?",
                         "self-report"),
    "workflow-envelope.md": ("Job partially completed", "workflow-status", "READY_FOR_REVIEW", "review pending",
                             "https://git.example.org/team/orders/pull/31", "reported green"),
    "sublation-manifest.json": ("Job partially completed", "codex", "approved, not promoted", "claude-code",
                                "bounded retry"),
    "sublation-report.json": ("Job partially completed", "USER_DECISION_REQUIRED", "waiting for the user's decision on A1",
                              "path-relative", "ocr-1/PATCH.diff"),
}


def main():
    with stand.Stand("results") as place:
        for name, words in SAYS.items():
            job = place.request(f"What {name} answers")
            done = place.run(RECIPE, job, stand.SOURCE / "examples/results" / name)
            assert done.returncode == 0, (name, done)
            card = " ".join(done.stdout.split())
            for word in (*words, f"What {name} answers"):
                assert word in card, (name, word, done.stdout)
            for local in ("/srv/", "SR-3BA0DEA8", "claimed: passed"):
                assert local not in card, (name, local, done.stdout)
    print(f"{len(SAYS)} answers became cards")
    return 0


if __name__ == "__main__":
    sys.exit(main())
