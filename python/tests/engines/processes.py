"""Processes as the kernel shows them, from outside of any engine."""

from __future__ import annotations

import os
import pathlib


def reads(pid: int, folder: pathlib.Path) -> bool:
    """Whether the process has a file of the folder open."""
    try:
        opened = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")]
        return any(path.startswith(f"{folder}/") for path in opened)
    except OSError:
        return False


def below(pid: int) -> set[int]:
    """The processes that the process has started, and those that they have."""
    parents: dict[int, int] = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                # After the name, which may hold anything: state and parent.
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, new = set(), {pid}
    while new:
        found |= new
        new = {child for child, parent in parents.items() if parent in found} - found
    return found - {pid}


def command(pid: int) -> str:
    """The command line, which is empty when the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
