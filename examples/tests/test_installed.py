"""Installs into build/stage and builds the SDK example against that, each way a stranger would, then hands over with it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stand

STAGE = stand.BINARY / "stage"
PROGRAMS = stand.BINARY / "stand/programs"
SOURCE = stand.SOURCE / "examples/sdk"


def build():
    """The example's programs, by name."""
    for folder in (STAGE, PROGRAMS):
        shutil.rmtree(folder, ignore_errors=True)
    PROGRAMS.mkdir(parents=True)
    stand.run("cmake", "--install", stand.BINARY, "--prefix", STAGE)
    # a moved folder is still found: that is what the paths relative to themselves are for
    moved = STAGE.with_name("stage-moved")
    shutil.rmtree(moved, ignore_errors=True)
    STAGE.rename(moved)
    sanitize = re.search(r"^JOBS_SANITIZE:STRING=(.+)$", (stand.BINARY / "CMakeCache.txt").read_text(), re.M)
    flags = [f"-fsanitize={sanitize.group(1)}"] if sanitize else []

    def pkg_config(*arguments):
        lib = next(moved.glob("lib*/**/pkgconfig"))
        return stand.run("pkg-config", *arguments, "jobs-sdk", env=os.environ | {"PKG_CONFIG_PATH": str(lib)}).split()

    shared = pkg_config("--cflags", "--libs")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    stand.run("gcc", *strict, *flags, SOURCE / "hand_over.c", *shared, "-Wl,-rpath," + str(next(moved.glob("lib*"))),
              "-o", PROGRAMS / "by_pkg_config")
    static = [f"-l:lib{flag[2:]}.a" if flag.startswith("-ljobs-") else flag
              for flag in pkg_config("--static", "--cflags", "--libs")]
    stand.run("gcc", *strict, *flags, SOURCE / "hand_over.c", *static, "-o", PROGRAMS / "by_pkg_config_static")
    stand.run("cmake", "-S", SOURCE, "-B", PROGRAMS / "cmake", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={moved}",
              f"-DCMAKE_C_FLAGS={' '.join(flags)}")
    stand.run("cmake", "--build", PROGRAMS / "cmake")
    return {"pkg-config": PROGRAMS / "by_pkg_config", "pkg-config --static": PROGRAMS / "by_pkg_config_static",
            "find_package": PROGRAMS / "cmake/hand_over", "find_package, static": PROGRAMS / "cmake/hand_over_static"}


def main():
    programs = build()
    with stand.Stand("installed") as place:
        for name, program in programs.items():
            job = place.request(f"by {name}")
            manifest = stand.manifest("no_artifact.json")
            handed = place.run(program, place.url, place.channel, job, given=manifest)
            assert re.fullmatch(r"[0-9a-f]{64}\n", handed.stdout), (name, handed)
            assert place.stored(handed.stdout.strip())["kind"] == 43004, name
            broken = place.run(program, place.url, place.channel, job, given="{}")
            assert broken.returncode == 1 and "/outcome" in broken.stderr, (name, broken)
        print(f"{len(programs)} programs handed over")


main()
