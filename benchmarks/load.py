"""The service under load: `python -m benchmarks.load` starts a server and asks it with many clients at once.

Every answer is held against the Explainer's own for the same row.
"""

import argparse
import asyncio
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import machine, timed
from butfor import Explainer
from butfor.web.demo_desks import demo_desks
from butfor.web.desk import Desk
from butfor.web.serving import serve

SERVER = "from benchmarks.load import run_server; run_server()"
SAME = ("status", "features", "columns", "score", "score_without", "lower_bound", "n_active")
"""Fields of an answer that do not depend on the clock."""


@dataclass
class Load:
    """What the clients of one desk met."""

    seconds: float
    latencies: list[float] = field(default_factory=list)
    answers: list[tuple[int, int, bytes]] = field(default_factory=list)
    """The row that was asked about, the status and the body."""
    n_sent: int = 0

    @property
    def n_errors(self) -> int:
        """How many were not answered with an explanation."""
        return sum(status != 200 for _, status, _ in self.answers)


def main() -> None:
    """Print a line for each desk and write all figures to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--out", type=Path, default=Path("build/load.json"))
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"\n{options.clients} clients, {options.seconds:g} seconds for each model\n")
    print("| model | requests/s | explain alone, rows/s | p50 ms | p99 ms | errors | lost | mixed up |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    lines = []
    with server() as port:
        for desk in demo_desks():
            wait_until_filled(port, desk)
            load = asyncio.run(asked(port, desk, options.clients, options.seconds))
            lines.append(line(desk, load))
            print(
                "| "
                + " | ".join(f"{value:,}" if value != desk.name else value for value in lines[-1].values()),
                "|",
            )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"machine": machine(), "lines": lines}, indent=2) + "\n")
    print(f"\nwritten to {options.out}")


def run_server() -> None:
    """Serve the demo; say where."""
    serve(demo_desks(), port=0, ready=lambda address: print(address, flush=True))


@contextmanager
def server() -> Iterator[int]:
    """Run a server of its own process; give its port."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = re.search(r":(\d+)", process.stdout.readline())
        assert address is not None
        yield int(address[1])
    finally:
        process.terminate()
        process.wait(30)


def wait_until_filled(port: int, desk: Desk) -> None:
    """Wait until the server has explained all rows of its table, which is no part of the load."""
    while True:
        _, body = asyncio.run(once(port, f"GET /{desk.name}/api/rows/summary HTTP/1.1", b""))
        progress = json.loads(body)["progress"]
        if progress["explained"] == progress["total"]:
            return
        time.sleep(0.5)


async def once(port: int, first_line: str, body: bytes) -> tuple[int, bytes]:
    """Ask once, on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await exchanged(reader, writer, first_line, body)
    finally:
        writer.close()


async def exchanged(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first_line: str, body: bytes
) -> tuple[int, bytes]:
    """Send a request and read its answer; the connection stays open."""
    headers = ("Host: localhost", "Content-Type: application/json", f"Content-Length: {len(body)}")
    writer.write("\r\n".join((first_line, *headers, "", "")).encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", answer.lower())
    return int(answer.split(b" ", 2)[1]), await reader.readexactly(int(length[1]) if length else 0)


async def asked(port: int, desk: Desk, n_clients: int, seconds: float) -> Load:
    """Have clients ask about one row after the other, no two about the same at a time."""
    load, rows = Load(seconds), itertools.cycle(range(desk.n_rows))
    end = time.monotonic() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < end:
            row = next(rows)
            began = time.perf_counter()
            load.n_sent += 1
            body = json.dumps({"row": row}).encode()
            status, answer = await exchanged(reader, writer, f"POST /{desk.name}/api/explain HTTP/1.1", body)
            load.latencies.append(time.perf_counter() - began)
            load.answers.append((row, status, answer))
        writer.close()

    await asyncio.gather(*(client() for _ in range(n_clients)))
    return load


def line(desk: Desk, load: Load) -> dict[str, Any]:
    """Hold all answers against the Explainer's own, and sum up."""
    assert desk.explainer is not None
    expected, rate = truth(desk, {row for row, _, _ in load.answers})
    given = [(row, json.loads(body)) for row, status, body in load.answers if status == 200]
    mixed_up = sum({name: body[name] for name in SAME} != expected[row] for row, body in given)
    p50, p99 = np.percentile(load.latencies, [50, 99]) * 1000
    return {
        "model": desk.name,
        "requests_per_second": round(len(given) / load.seconds),
        "rows_per_second_alone": round(rate),
        "p50_ms": round(float(p50), 1),
        "p99_ms": round(float(p99), 1),
        "errors": load.n_errors,
        "lost": load.n_sent - len(load.answers),
        "mixed_up": mixed_up,
    }


def truth(desk: Desk, rows: set[int]) -> tuple[dict[int, dict[str, Any]], float]:
    """Explain rows one by one in this process; give what is comparable, and rows a second."""
    explainer, given = desk.explainer, desk.given
    assert isinstance(explainer, Explainer)
    assert given is not None
    wanted = {row: given.at(row) for row in sorted(rows)}
    explainer.explain(next(iter(wanted.values())))
    whys, seconds = timed(lambda: {row: explainer.explain(each) for row, each in wanted.items()})
    plain = {row: json.loads(json.dumps(why.to_dict())) for row, why in whys.items()}
    return {row: {name: why[name] for name in SAME} for row, why in plain.items()}, len(wanted) / seconds


if __name__ == "__main__":
    main()
