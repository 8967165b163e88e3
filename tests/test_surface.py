"""The shared libraries export exactly the functions that the public headers declare, and nothing of their insides."""
import re
import subprocess

import tree


def declared(*rooms):
    headers = tree.files(*(f"{room}/include/jobs/*.h" for room in rooms))
    source = "".join(f"#include <jobs/{name.rsplit('/', 1)[1]}>\n" for name in headers)
    plain = subprocess.run(["gcc", "-E", "-P", "-x", "c", f"-I{tree.SOURCE}/core/include", f"-I{tree.SOURCE}/sdk/include",
                            "-"], input=source, text=True, capture_output=True, check=True).stdout
    plain = re.sub(r"\btypedef\b[^;{]*;", "", plain)  # a function's type is no function
    return set(re.findall(r"\b(jobs_\w+)\s*\((?!\*)", plain))


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", tree.BINARY / "lib" / library], text=True,
                           capture_output=True, check=True).stdout.splitlines()
    # a sanitizer adds symbols of its own to what it builds
    return {name for name in (line.split()[-1] for line in lines) if not name.startswith(("__asan", "__odr_asan"))}


findings = []
checked = 0
for library, rooms in (("libjobs-core.so", ("core",)), ("libjobs-sdk.so", ("core", "sdk"))):
    want, have = declared(*rooms), exported(library)
    checked += len(want)
    findings += [f"{library} exports {name}, which no public header declares" for name in sorted(have - want)]
    findings += [f"{library} lacks {name}, which a public header declares" for name in sorted(want - have)]
tree.end(findings, checked)
