"""schema.json and the code agree on every vector, as far as a schema can say it.

What a schema cannot see is named here by rule: a manifest that breaks only such rules is one the schema may take. What it
refuses, the code refuses.
"""
import json
import os
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("lacks the Python module jsonschema")
    sys.exit(77)

SOURCE = pathlib.Path(os.environ.get("JOBS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
VECTORS = SOURCE / "docs/protocol/vectors"
schema = json.loads((SOURCE / "docs/protocol/schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

# Bytes and spelling are gone once it is parsed; uniqueness of one member, and names, are beyond a schema.
BLIND = {"H101", "H102", "H103", "H104", "H105", "H106", "H107", "H108", "H109", "H214", "H409", "H505"}
# These it sees but for some spellings: 1.0 is 1 for a schema, and characters are not bytes.
HALF_BLIND = {
    "H203-1-point-0", "H203-1e0", "H502-point-zero", "H502-exponent", "H502-minus-zero", "H503-point-zero",
    "H405-ipv6-two-gaps", "H405-ipv6-nine", "H405-ipv6-full-gap", "H405-ipv6-long", "H405-ipv6-v4-zero",
}


def manifest(folder):
    repeat = folder / "manifest.repeat.json"
    if repeat.exists():
        parts = json.loads(repeat.read_text())
        return parts["before"] + parts["repeat"] * parts["times"] + parts["after"]
    path = folder / "manifest.json"
    return path.read_bytes().decode() if path.exists() else None

findings = []
valid = invalid = 0
for folder in sorted((VECTORS / "valid").iterdir()):
    given = folder / "given.json"
    value = json.loads(manifest(folder))
    value.update(json.loads(given.read_text()) if given.exists() else {})
    valid += 1
    errors = list(validator.iter_errors(value))
    if errors:
        findings.append(f"valid/{folder.name}: the schema refuses it: {errors[0].json_path} {errors[0].message[:200]}")
for folder in sorted((VECTORS / "invalid").iterdir()):
    rules = {violation["rule"] for violation in json.loads((folder / "expected.json").read_text())}
    text = manifest(folder)
    if rules <= BLIND or text is None:
        continue
    invalid += 1
    taken = validator.is_valid(json.loads(text))
    if taken and folder.name not in HALF_BLIND:
        findings.append(f"invalid/{folder.name}: the schema takes it")
    if not taken and folder.name in HALF_BLIND:
        findings.append(f"invalid/{folder.name}: the schema refuses it after all; take it off the list")
for finding in findings:
    print(finding)
print(f"{valid} valid, {invalid} invalid, {len(findings)} findings")
sys.exit(1 if findings or valid < 40 or invalid < 100 else 0)
