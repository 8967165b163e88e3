"""Each public header compiles alone, as C99, C11 and C++, without a warning."""
import shutil
import subprocess

import tree

COMPILERS = (("gcc", "c", "c99"), ("gcc", "c", "c11"), ("g++", "c++", "c++11"), ("g++", "c++", "c++20"))
for compiler in ("gcc", "g++"):
    if not shutil.which(compiler):
        tree.skip(compiler)

findings = []
checked = 0
for name in tree.files("core/include/jobs/*.h", "sdk/include/jobs/*.h"):
    header = "jobs/" + name.rsplit("/", 1)[1]
    for compiler, language, standard in COMPILERS:
        checked += 1
        # twice: the guard holds; then something of its own: the extern "C" is closed
        source = f"#include <{header}>\n#include <{header}>\nint after(void);\nint after(void) {{ return 0; }}\n"
        done = subprocess.run(
            [compiler, "-x", language, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
             f"-I{tree.SOURCE}/core/include", f"-I{tree.SOURCE}/sdk/include", "-"],
            input=source, text=True, capture_output=True)
        if done.returncode:
            findings.append(f"{header} as {standard}:\n{done.stderr}")
tree.end(findings, checked)
