"""Processes of this machine, as /proc shows them."""

from pathlib import Path


def family(pid: int) -> list[int]:
    """Return a process and all that it, and those, have begun; nothing of those that have just ended."""
    try:
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        begun = [int(child) for path in tasks for child in path.read_text().split()]
    except OSError:  # a thread, or the process, has just ended
        begun = []
    return [pid, *(each for child in begun for each in family(child))]


def peak_memory(pid: int) -> float:
    """Return the memory of a process in MiB, at its largest."""
    return kib(pid, "status", "VmHWM") / 1024


def shared_out_memory(pids: list[int]) -> float:
    """Return the memory of processes in MiB; what several of them share counts once."""
    total = 0
    for pid in pids:
        try:
            total += kib(pid, "smaps_rollup", "Pss")
        except OSError:  # it has just ended
            continue
    return total / 1024


def kib(pid: int, file: str, name: str) -> int:
    """Return the KiB that a file of a process in /proc names, such as VmRSS in `status`; 0 of a zombie."""
    lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)
