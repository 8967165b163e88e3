"""What a reader expects of every file: it is text, it says what it is, it is finished, and it knows no one machine."""
import re

import tree

# Vectors are bytes as they came: some are broken on purpose.
BYTES = re.compile(r"^docs/protocol/vectors/|/fuzz/corpus/")
MACHINE = re.compile(r"(?<![\w.$~{}-])/(?:work|home|root|Users)/\w")
UNFINISHED = re.compile(r"\b(?:TODO|FIX" r"ME|XX" r"X|HACK)\b")

findings = []
checked = 0
for name in tree.files():
    if BYTES.search(name):
        continue
    checked += 1
    try:
        content = tree.text(name)
    except UnicodeDecodeError:
        findings.append(f"{name}: is not UTF-8")
        continue
    if content and not content.endswith("\n"):
        findings.append(f"{name}: the last line has no end")
    for number, line in enumerate(content.split("\n"), 1):
        where = f"{name}:{number}"
        if line != line.rstrip():
            findings.append(f"{where}: white space at the end")
        if MACHINE.search(line):
            findings.append(f"{where}: a path of one machine")
        if UNFINISHED.search(line) and not name.startswith("tests/test_house"):
            findings.append(f"{where}: unfinished")
    if name.endswith((".c", ".h")):
        base = name.rsplit("/", 1)[1]
        if not re.match(r"/\* (?:jobs/)?" + re.escape(base) + r" - \S", content):
            findings.append(f"{name}: does not open with '/* {base} - what it is'")
        if re.search(r"^ *\t", content, re.M):
            findings.append(f"{name}: indented by tabs")
tree.end(findings, checked)
