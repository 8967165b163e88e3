"""Text, table, code and vectors name the same rules."""
import json
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("JOBS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
VECTORS = SOURCE / "docs/protocol/vectors"

table = re.findall(r'^RULE\((H\d{3}), "', (SOURCE / "core/rules.def").read_text(), re.M)
text = (SOURCE / "docs/protocol/handoff.md").read_text()
rows = re.findall(r"^\| (H\d{3}) \|", text, re.M)
code = set()
for path in sorted((SOURCE / "core").glob("*.c")):
    code |= set(re.findall(r"JOBS__(H\d{3})\b", path.read_text()))
vectors = set()
folders = 0
for kind in ("valid", "invalid", "reader"):
    for folder in sorted((VECTORS / kind).iterdir()):
        folders += 1
        vectors.add(folder.name[:4])
        expected = folder / "expected.json"
        if expected.exists():
            vectors |= set(re.findall(r'"(H\d{3})"', json.dumps(json.loads(expected.read_text()))))

findings = []
if table != sorted(set(table)):
    findings.append("core/rules.def: not in ascending order, or a number twice")
if rows != table:
    findings.append(f"docs/protocol/handoff.md: the rows are not those of core/rules.def: {set(rows) ^ set(table)}")
for name, numbers in (("core/*.c", code), ("docs/protocol/vectors", vectors),
                      ("docs/protocol/handoff.md", set(re.findall(r"\bH\d{3}\b", text)))):
    if numbers - set(table):
        findings.append(f"{name}: names rules that core/rules.def does not have: {sorted(numbers - set(table))}")
    if set(table) - numbers:
        findings.append(f"{name}: lacks {sorted(set(table) - numbers)}")
for finding in findings:
    print(finding)
print(f"{len(table)} rules, {folders} vectors, {len(findings)} findings")
sys.exit(1 if findings or not table or not folders else 0)
