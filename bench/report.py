"""What a whole run leaves behind: bench/RESULTS.md, and those of its rows that the README quotes.

tests/test_readme.py holds the README to it.
"""
import os
import pathlib
import platform
import re
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- ./dev bench writes from here -->\n", "<!-- to here -->\n"
HEAD = "| what | median (middle half) | ratio | peak memory |\n| --- | --- | --- | --- |\n"
QUOTED = ("jobs handoff, not read back |", "jobs handoff over wss://, not read back", "nostr-tools", "nostr-sdk",
          "jobs handoff, 10,000 entries", "jobs verify, 250", "jobs verify, 4000", "CORE, two at once",
          "jobs verify --threads 2", "jobs replay into", "jobs replay --verify", "jobs verify, 1,000,000",
          "jobs replay, 1,000,000", "jobs list", "jobs watch")


def machine():
    cores = f"{os.cpu_count()} cores, Linux {platform.release()}"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {cores}"
    return f"{platform.machine()}, {cores}"


def line(row):
    return "| " + " | ".join(row) + " |\n"


def write(lines, load, one_shot, bulk):
    where = f"{time.strftime('%Y-%m-%d')}, {machine()}.\n"
    (SOURCE / "bench/RESULTS.md").write_text(
        f"# What `./dev bench` printed\n\n{where}\n"
        f"One-shot rows: {one_shot} runs each, alternating; bulk rows: {bulk}, where a ratio of verify and replay is the median "
        f"of each\nround's. Outbox and relay store on tmpfs. Peak memory is the largest of all runs. Load before the first: "
        f"{load:.1f}; above\n0.5 the rows that need two cores say little."
        "\n\n" + HEAD + "".join(lines))
    quoted = [line for line in lines if line[2:].startswith(QUOTED)]
    readme = SOURCE / "README.md"
    table = BEGIN + where + "\n" + HEAD + "".join(quoted) + END
    readme.write_text(re.sub(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: table, readme.read_text(), flags=re.S))
