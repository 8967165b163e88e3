"""The checkout as its own tests see it: which files belong to it, and how a finding is reported."""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("JOBS_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent))
BINARY = pathlib.Path(os.environ.get("JOBS_BINARY_DIR", SOURCE / "build"))


def skip(what):
    print(f"lacks {what}")
    sys.exit(77)


def files(*patterns):
    """Paths, relative to the checkout, of what is or would be committed."""
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "-co", "--exclude-standard", "--", *patterns],
                            check=True, capture_output=True).stdout.decode()
    return sorted(name for name in listed.split("\0") if name and (SOURCE / name).is_file())


def text(name):
    return (SOURCE / name).read_text(encoding="utf-8")


def end(findings, checked):
    """Ends the test: a check that looked at nothing has failed too."""
    for finding in findings:
        print(finding)
    print(f"{checked} checked, {len(findings)} findings")
    sys.exit(1 if findings or not checked else 0)
