"""The service beside slow connections: `python -m benchmarks.slow` opens 1,100 and measures what others wait.

The server may open 1,024 files, as is usual. All connections come from this machine.
"""

import argparse
import asyncio
import contextlib
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile

from benchmarks.common import machine
from benchmarks.load import SERVER, once, port_of
from benchmarks.processes import peak_memory

HALF = b"POST /inbox/api/explain HTTP/1.1\r\nHost: localhost\r\n"
SLOW = "from benchmarks.slow import run_slow; run_slow({port}, {sent}, {n_slow})"
KINDS = {
    "half a head": HALF,
    "half a body": HALF + b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    "nothing": b"",
}
"""What slow clients send before they fall silent."""
ASKED = {
    "GET health": ("GET /health HTTP/1.1", b""),
    "POST api/explain": ("POST /inbox/api/explain HTTP/1.1", b'{"row": 3}'),
}


def main() -> None:
    """Print the slowest answers beside slow connections of each kind, and what the server used meanwhile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=1_100)
    parser.add_argument("--seconds", type=float, default=15.0, help="for each kind (default 15)")
    parser.add_argument("--files", type=int, default=1_024, help="files the server may open (default 1,024)")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 2 * options.connections + 100), most))
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"\n{options.connections:,} slow connections, {options.seconds:g} seconds for each kind\n")
    print("| they send | answers | slowest ms | failed | server's CPU | memory MiB | log bytes |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    failed = 0
    for kind, sent in KINDS.items():
        with TemporaryFile() as log:
            process = started(options.files, log.fileno())
            try:
                measured = asyncio.run(beside(process, sent, options.connections, options.seconds))
            finally:
                process.terminate()
                process.wait(30)
            failed += measured[2]
            cells = (f"{value:,.0f}" for value in (*measured[:3],))
            share, memory = measured[3:]
            print(f"| {kind} | {' | '.join(cells)} | {share:.0%} | {memory:.0f} | {log.seek(0, 2):,} |")
    sys.exit(failed > 0)


def started(n_files: int, log: int) -> "subprocess.Popen[str]":
    """Start a server that may open so many files, and that logs to a file."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, n_files))

    command = [sys.executable, "-c", SERVER]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=limit)


async def beside(
    process: "subprocess.Popen[str]", sent: bytes, n_slow: int, seconds: float
) -> tuple[float, float, int, float, float]:
    """Ask while slow clients connect again and again; return the figures of a line of the table."""
    port = port_of(process)
    for asked in ASKED.values():
        await once(port, *asked)
    command = [sys.executable, "-c", SLOW.format(port=port, sent=sent, n_slow=n_slow)]
    slow = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert slow.stdout is not None
    slow.stdout.readline()  # once they are there
    waits, n_failed = [], 0
    cpu, began = cpu_seconds(process.pid), time.monotonic()
    while time.monotonic() - began < seconds:
        for asked in ASKED.values():
            start = time.perf_counter()
            try:
                status, _ = await asyncio.wait_for(once(port, *asked), 30)
                n_failed += status != 200
            except (OSError, EOFError, TimeoutError):
                n_failed += 1
            waits.append(time.perf_counter() - start)
        await asyncio.sleep(0.05)
    share = (cpu_seconds(process.pid) - cpu) / (time.monotonic() - began)
    slow.kill()
    slow.wait()
    return len(waits), max(waits) * 1000, n_failed, share, peak_memory(process.pid)


def run_slow(port: int, sent: bytes, n_slow: int) -> None:
    """Hold slow connections until this process is killed; print a line when they have begun to connect."""

    async def all_of_them() -> None:
        tasks = [asyncio.create_task(stay_slow(port, sent)) for _ in range(n_slow)]
        await asyncio.sleep(1)
        print("there", flush=True)
        await asyncio.gather(*tasks)

    asyncio.run(all_of_them())


async def stay_slow(port: int, sent: bytes) -> None:
    """Hold a connection on which no request is ever completed; open another where the server ends it."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(sent)
                await reader.read()
            finally:
                writer.close()
        await asyncio.sleep(1)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process, without its workers."""
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / 100


if __name__ == "__main__":
    main()
