"""A handoff under strace: the frames it sent are unmasked, and the one with the EVENT is looked for."""
import os
import re
import subprocess

import scene


def unmask(frame):
    """The text of a masked client frame, "" for anything else."""
    if len(frame) < 6 or frame[0] != 0x81 or not frame[1] & 0x80:
        return ""
    size, at = frame[1] & 0x7F, 2
    if size == 126:
        size, at = int.from_bytes(frame[2:4], "big"), 4
    elif size == 127:
        size, at = int.from_bytes(frame[2:10], "big"), 10
    mask, text = frame[at:at + 4], frame[at + 4:at + 4 + size]
    return bytes(byte ^ mask[i % 4] for i, byte in enumerate(text)).decode("utf-8", "replace")


def steps(log):
    """The calls that matter, in order: ("open", fd, name), ("sync", fd), ("rename", names), ("sent", text)."""
    for line in log.splitlines():
        line = re.sub(r"^\d+ +", "", line)
        if match := re.match(r'openat\([^,]+, "([^"]*)".* = (\d+)', line):
            yield "open", int(match[2]), bytes.fromhex(match[1].replace("\\x", "")).decode("utf-8", "replace")
        elif match := re.match(r"f(?:data)?sync\((\d+)\) += 0", line):
            yield "sync", int(match[1]), ""
        elif match := re.match(r'rename\w*\((?:\d+, )?"([^"]*)", (?:\d+, )?"([^"]*)".* = 0', line):
            yield "rename", -1, bytes.fromhex(match[2].replace("\\x", "")).decode("utf-8", "replace")
        elif match := re.match(r'(?:sendto|write|send|sendmsg)\((\d+), "([^"]*)"', line):
            yield "sent", int(match[1]), unmask(bytes.fromhex(match[2].replace("\\x", "")))


def handoff(stage):
    job = stage.job()
    log = os.path.join(stage.folder, "strace")
    words = stage.command(*stage.handoff_words(), "--job", job)
    done = subprocess.run(["strace", "-f", "-xx", "-s", "200000", "-o", log, "-e",
                           "trace=openat,fsync,fdatasync,rename,renameat,renameat2,sendto,write,sendmsg", *words],
                          input=stage.manifest(job), text=True, capture_output=True, env=stage.environment(),
                          timeout=scene.WAIT)
    stage.tally.runs += 1
    with open(log, encoding="utf-8") as file:
        seen = list(steps(file.read()))
    names, synced, renamed, folder_synced, sent = {}, set(), False, False, 0
    for what, fd, text in seen:
        if what == "open":
            names[fd] = text
        elif what == "sync":
            synced.add(names.get(fd))
            folder_synced = folder_synced or renamed and re.fullmatch("[0-9a-f]{64}", names.get(fd, "")) is not None
        elif what == "rename" and text.endswith(".json"):
            renamed = renamed or ".new" in synced
        elif what == "sent" and text.startswith('["EVENT"'):
            sent += 1
            if not (renamed and folder_synced):
                stage.tally.found("lost", f"sent before it was on the disk: {[step[:2] for step in seen]}")
    if done.returncode != 0 or sent != 1:
        stage.tally.found("misreported", f"under strace: exit {done.returncode}, {sent} EVENT frames seen: {done.stderr}")
