"""The service under load: `python -m benchmarks.load` starts a server and sends requests of many clients.

Every answer is compared with that of an Explainer for the same row.
"""

import argparse
import asyncio
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import machine, timed
from benchmarks.processes import family, shared_out_memory
from butfor import Explainer
from butfor._web.demo_workspaces import demo_workspaces
from butfor._web.serving import serve
from butfor._web.workspace import Workspace

SERVER = "from benchmarks.load import run_server; run_server()"
SAME = ("status", "features", "columns", "score", "score_without", "lower_bound", "n_active")
"""Fields of an answer that do not depend on the clock."""


@dataclass
class Load:
    """The answers that the clients of one workspace got."""

    seconds: float
    latencies: list[float] = field(default_factory=list)
    answers: list[tuple[int, int, bytes]] = field(default_factory=list)
    """The row, the status and the body of each answer."""
    n_sent: int = 0
    memory: tuple[float, float] = (0.0, 0.0)
    """MiB of the server and its workers before and after."""

    @property
    def n_errors(self) -> int:
        """Number of answers that are no explanation."""
        return sum(status != 200 for _, status, _ in self.answers)


def main() -> None:
    """Print a table row for each workspace and write all figures to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--out", type=Path, default=Path("build/load.json"))
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"\n{options.clients} clients, {options.seconds:g} seconds for each model\n")
    print(
        "| model | requests/s | explain alone, rows/s | p50 ms | p99 ms | errors | lost | mixed up "
        "| MiB before, after |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    figures = []
    with server() as (pid, port):
        for workspace in demo_workspaces():
            wait_until_filled(port, workspace)
            before = shared_out_memory(family(pid))
            load = asyncio.run(load_of(port, workspace, options.clients, options.seconds))
            load.memory = before, shared_out_memory(family(pid))
            figures.append(figures_of(workspace, load))
            print(
                "| "
                + " | ".join(
                    value if isinstance(value, str) else f"{value:,}" for value in figures[-1].values()
                ),
                "|",
            )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"machine": machine(), "lines": figures}, indent=2) + "\n")
    print(f"\nwritten to {options.out}")


def run_server() -> None:
    """Serve the demo and print its address."""
    serve(demo_workspaces(), port=0, ready=lambda address: print(address, flush=True))


@contextmanager
def server() -> Iterator[tuple[int, int]]:
    """Run a server in a process of its own; yield its number and its port."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        yield process.pid, port_of(process)
    finally:
        process.terminate()
        process.wait(30)


def port_of(process: "subprocess.Popen[str]") -> int:
    """Return the port of a server, once it has printed its address."""
    assert process.stdout is not None
    address = re.search(r":(\d+)", process.stdout.readline())
    assert address is not None
    return int(address[1])


def wait_until_filled(port: int, workspace: Workspace) -> None:
    """Wait until the server has explained all rows of its table, which does not count as load."""
    while True:
        _, body = asyncio.run(once(port, f"GET /{workspace.name}/api/rows/summary HTTP/1.1", b""))
        progress = json.loads(body)["progress"]
        if progress["explained"] == progress["total"]:
            return
        time.sleep(0.5)


async def once(port: int, first_line: str, body: bytes) -> tuple[int, bytes]:
    """Send one request on a new connection; return the status and the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await exchanged(reader, writer, first_line, body)
    finally:
        writer.close()


async def exchanged(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first_line: str, body: bytes
) -> tuple[int, bytes]:
    """Send a request and return the status and the body. The connection stays open."""
    headers = ("Host: localhost", "Content-Type: application/json", f"Content-Length: {len(body)}")
    writer.write("\r\n".join((first_line, *headers, "", "")).encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", answer.lower())
    return int(answer.split(b" ", 2)[1]), await reader.readexactly(int(length[1]) if length else 0)


async def load_of(port: int, workspace: Workspace, n_clients: int, seconds: float) -> Load:
    """Send requests of many clients for some seconds, each about the next row."""
    load, rows = Load(seconds), itertools.cycle(range(workspace.n_rows))
    end = time.monotonic() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < end:
            row = next(rows)
            began = time.perf_counter()
            load.n_sent += 1
            body = json.dumps({"row": row}).encode()
            status, answer = await exchanged(
                reader, writer, f"POST /{workspace.name}/api/explain HTTP/1.1", body
            )
            load.latencies.append(time.perf_counter() - began)
            load.answers.append((row, status, answer))
        writer.close()

    await asyncio.gather(*(client() for _ in range(n_clients)))
    return load


def figures_of(workspace: Workspace, load: Load) -> dict[str, Any]:
    """Compare all answers with those of the Explainer; return the figures of the workspace."""
    assert workspace.explainer is not None
    expected, rate = truth(workspace, {row for row, _, _ in load.answers})
    explained = [(row, json.loads(body)) for row, status, body in load.answers if status == 200]
    mixed_up = sum(comparable(body) != expected[row] for row, body in explained)
    p50, p99 = np.percentile(load.latencies, [50, 99]) * 1000
    return {
        "model": workspace.name,
        "requests_per_second": round(len(explained) / load.seconds),
        "rows_per_second_alone": round(rate),
        "p50_ms": round(float(p50), 1),
        "p99_ms": round(float(p99), 1),
        "errors": load.n_errors,
        "lost": load.n_sent - len(load.answers),
        "mixed_up": mixed_up,
        "memory": "{:,.0f}, {:,.0f}".format(*load.memory),
    }


def truth(workspace: Workspace, rows: set[int]) -> tuple[dict[int, dict[str, Any]], float]:
    """Explain rows one by one in this process; return the comparable fields, and rows per second."""
    explainer, data = workspace.explainer, workspace.data
    assert isinstance(explainer, Explainer)
    assert data is not None
    wanted = {row: data.at(row) for row in sorted(rows)}
    explainer.explain(next(iter(wanted.values())))
    whys, seconds = timed(lambda: {row: explainer.explain(each) for row, each in wanted.items()})
    plain = {row: json.loads(json.dumps(why.to_dict())) for row, why in whys.items()}
    return {row: comparable(why) for row, why in plain.items()}, len(wanted) / seconds


def comparable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an explanation that do not depend on time, without the last bits of scores.

    The last bit of a score may depend on the rows that the model scored beside it.
    """
    same = {name: values[name] for name in SAME}
    return {name: round(value, 12) if isinstance(value, float) else value for name, value in same.items()}


if __name__ == "__main__":
    main()
