"""Rows: what it takes to start, beside BARE: a few commands with what their linker and the kernel did for them; one
handoff over wss://; and one that may open very many files.

Objects, relocations, system calls and page faults are counts of one run. They do not depend on what else the machine
does, so they tell first what a change has done.
"""
import contextlib
import os
import re
import resource
import secrets
import shutil
import subprocess

from measure import CHANNEL, port, spread

MANY_FILES, FEW_FILES = 1_048_576, 1024


def linked(command, env):
    """Shared objects loaded and relocations processed, by the dynamic linker's own account."""
    objects = subprocess.run(command, env=env | {"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True).stdout
    told = subprocess.run(command, env=env | {"LD_DEBUG": "statistics"}, capture_output=True, text=True).stderr
    relative = re.search(r"number of relative relocations: (\d+)", told)
    looked_up = re.search(r"final number of relocations: (\d+)", told)
    return len(re.findall(r"(?m)^\s*\S*/|=> /", objects)), int(looked_up[1]), int(relative[1])


def system_calls(command, env, place):
    if shutil.which("strace") is None:
        return "?"
    trace = place / "trace"
    subprocess.run(["strace", "-f", "-qq", "-o", trace, *command], env=env, capture_output=True)
    return sum("resumed>" not in line and "---" not in line for line in trace.read_text().splitlines())


def page_faults(command, env):
    silent = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    child = os.posix_spawn(command[0], command, env, file_actions=silent)
    return os.wait4(child, 0)[2].ru_minflt


def profile(make, bench):
    """make() gives the command anew, for a handoff is for a job of its own."""
    objects, looked_up, relative = linked(make(), bench.environment)
    return (f"{system_calls(make(), bench.environment, bench.place)} system calls, {objects} objects, {looked_up:,} symbols "
            f"and {relative:,} addresses relocated, {page_faults(make(), bench.environment)} page faults")


def certificate(place):
    """A CA and a certificate for 127.0.0.1, or what is lacking."""
    if shutil.which("openssl") is None:
        return "there is no openssl"
    (place / "san").write_text("subjectAltName=IP:127.0.0.1\n")
    new_key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    for command in (f"req -x509 {new_key} -subj /CN=ca -keyout ca.key -out ca.pem",
                    f"req {new_key} -subj /CN=relay -keyout relay.key -out relay.csr",
                    "x509 -req -in relay.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile san -out relay.pem"):
        subprocess.run(["openssl", *command.split()], cwd=place, capture_output=True, check=True)
    return None


def allow_files(soft):
    """Sets how many files what is started from here may open; gives what the system granted."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
            return soft
        except (ValueError, OSError):
            soft = hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def rows(bench):
    events = bench.events(2 * bench.one_shot, 1)
    jobs, manifest = str(bench.jobs), str(bench.manifest)
    lacks = certificate(bench.place)
    plain = (bench.build / "bin/jobs-relay", "--port", "0", "--dir", bench.place / "relay-startup")
    secure = (*plain[:-1], bench.place / "relay-tls", "--cert", bench.place / "relay.pem", "--key",
              bench.place / "relay.key")
    with bench.relay(*plain) as url, bench.relay(*secure) if lacks is None else contextlib.nullcontext() as wss:
        made = {
            "BARE": lambda: [str(bench.program("bare")), port(url), str(events), str(bench.one_shot)],
            "jobs --version": lambda: [jobs, "--version"],
            "jobs validate": lambda: [jobs, "validate", "--job", secrets.token_hex(32), manifest],
            "jobs handoff": lambda: [jobs, "handoff", "--relay", url, "--key-file", str(bench.key), "--channel", CHANNEL,
                                     "--job", secrets.token_hex(32), "--manifest", manifest],
        }
        runs = {name: [] for name in (*made, "wss", "wss, not read back", "few", "many")}
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        for turn in range(bench.one_shot):
            runs["BARE"].append(bench.once(bench.program("bare"), port(url), events, str(turn)))
            for name in list(made)[1:]:
                runs[name].append(bench.once(*made[name]()))
            if lacks is None:
                runs["wss"].append(bench.handoff(wss, "--ca", bench.place / "ca.pem"))
                runs["wss, not read back"].append(bench.handoff(wss, "--ca", bench.place / "ca.pem", "--no-read-back"))
            for name, files in (("few", FEW_FILES), ("many", MANY_FILES)):
                granted = allow_files(files)
                runs[name].append(bench.handoff(url, "--no-read-back"))
            allow_files(soft)
        profiles = {name: profile(make, bench) for name, make in made.items()}

    medians = {name: spread([ms for ms, _ in cost]) for name, cost in runs.items() if cost}
    peaks = {name: f"{max(kib for _, kib in cost)} KiB" for name, cost in runs.items() if cost}
    bare = medians["BARE"][0]
    for name, counts in profiles.items():
        yield f"{name}: {counts}", medians[name][1] + " ms", f"{medians[name][0] / bare:.2f} × BARE", peaks[name]
    for name in ("wss", "wss, not read back"):
        told = name.replace("wss", "jobs handoff over wss://")
        if lacks is None:
            yield told, medians[name][1] + " ms", f"{medians[name][0] / bare:.2f} × BARE", peaks[name]
        else:
            yield told, f"not measured: {lacks}", "", ""
    yield (f"jobs handoff, not read back, that may open {granted:,} files", medians["many"][1] + " ms",
           f"{medians['many'][0] / medians['few'][0]:.2f} × {FEW_FILES:,} files", peaks["many"])
