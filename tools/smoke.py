"""Try one extra of an installed butfor: `python smoke.py EXTRA`, in an environment that has nothing else.

It uses what the extra is for, and then asks for what the extra does not bring. Each of these must fail with
the command that installs it. `tools.dist` runs it; it imports nothing of this repository.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.request import urlopen

SECONDS = 600
"""The most time that one command may take."""


def linear() -> tuple[Any, Any]:
    """Return an explainer of a linear model, and rows for it."""
    from sklearn.linear_model import LogisticRegression

    from butfor import Explainer
    from butfor.datasets import load_moviegoers

    people = load_moviegoers(n_people=200, n_films=60, films_per_person=8)
    model = LogisticRegression().fit(people.X, people.y)
    return Explainer(model, feature_names=people.feature_names), people.X


def installed() -> None:
    """Raise unless butfor is the installed one, whole."""
    import butfor

    require(butfor.__version__ == version("butfor"), "the version is not that of the distribution")
    require(Path(butfor.__file__).is_relative_to(sys.prefix), "butfor is not the installed one")
    require((Path(butfor.__file__).parent / "py.typed").exists(), "py.typed is missing")


def core() -> None:
    """Explain a row and a text, and show them."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from butfor import Explainer
    from butfor.datasets import load_applications, load_inbox

    explainer, rows = linear()
    whys = explainer.explain_many(rows[:10]).collect()
    require(all(why.proven_minimum for why in whys.found) and len(whys.found) > 0, "no row is explained")
    require("<style>" in whys._repr_html_(), "no style sheet")
    inbox = load_inbox()
    reader = make_pipeline(CountVectorizer(), LogisticRegression()).fit(inbox.texts, inbox.y)
    require("But for" in str(Explainer(reader).explain(inbox.texts[0])), "no text is explained")
    require(len(load_applications(n_applications=5).records) == 5, "no applications")


def cli() -> None:
    """Run the program: its help, and an explanation of a model in a file."""
    import numpy as np
    import skops.io

    explainer, rows = linear()
    row = str(explainer.explain_many(rows[:20]).collect().found.rows[0])
    with folder() as path:
        skops.io.dump(explainer.settings()["model"], path / "model.skops")
        np.save(path / "rows.npy", rows.toarray())
        require("explain" in run("--help"), "no help")
        require(run("--version").strip() == f"butfor {version('butfor')}", "another version")
        require("But for" in run("explain", "model.skops", "rows.npy", "--row", row, cwd=path), "no answer")
        run("demo", "--out", "demo.html", cwd=path)
        require("butfor-card" in (path / "demo.html").read_text("utf-8"), "no page")


def plot() -> None:
    """Draw an explanation, and many."""
    import matplotlib as mpl

    mpl.use("Agg")
    explainer, rows = linear()
    whys = explainer.explain_many(rows[:5]).collect()
    with folder() as path:
        whys.found[0].plot().savefig(path / "one.png")
        whys.plot().savefig(path / "many.svg")
        require((path / "one.png").stat().st_size > 1000, "an empty picture")


def frame() -> None:
    """Explain a row of a frame, and tabulate answers."""
    import pandas as pd

    explainer, rows = linear()
    table = pd.DataFrame(rows[:5].toarray(), columns=explainer.feature_names)
    require("features" in explainer.explain_many(table).collect().to_frame(), "no features")


def fast() -> None:
    """Explain by compiled loops."""
    from sklearn.ensemble import RandomForestClassifier

    from butfor import Explainer

    _, rows = linear()
    forest = RandomForestClassifier(10, random_state=0).fit(rows, rows.sum(axis=1).A1 > 8)
    why = Explainer(forest).explain(rows[[0]])
    require(why.local_model == "tree ensemble", f"the forest is a {why.local_model}")
    require("numba" in sys.modules, "nothing was compiled")


def parquet() -> None:
    """Read rows of a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    from butfor._files.inputs import open_input

    with folder() as path:
        pq.write_table(pa.table({"id": [1], "features": [[0, 3]]}), path / "rows.parquet")
        open_input([str(path / "rows.parquet")], takes_texts=False, n_features=4)


def batch(engine: str = "local") -> None:
    """Explain all rows of a file into a folder."""
    from scipy import sparse

    from butfor.batch import check_batch, run_batch

    explainer, rows = linear()
    with folder() as path:
        sparse.save_npz(path / "rows.npz", sparse.csr_matrix(rows[:20]))
        summary = run_batch(explainer, path / "rows.npz", path / "out", jobs=1, engine=engine)
        require(summary.n_rows == 20, f"{summary.n_rows} rows were explained")
        require(check_batch(str(path / "out")).is_complete, "the folder is not complete")


def dask() -> None:
    """The same on a small cluster."""
    batch("dask")


def spark() -> None:
    """The same in Spark."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    explainer, rows = linear()
    data = [(i, row.indices.tolist()) for i, row in enumerate(rows[:5])]
    table = session.createDataFrame(data, "id bigint, features array<int>")
    require(explain_in_spark(table, explainer).count() == 5, "rows are missing")
    session.stop()


def explain_in_spark(table: Any, explainer: Any) -> Any:
    """Return the explanations of a frame of Spark."""
    from butfor.batch import explain_frame

    return explain_frame(table, explainer, id="id", features="features")


def web() -> None:
    """Start the server, and ask it for its page and for the description of its API."""
    command = [*PROGRAM, "serve", "--demo", "--port", "0", "--jobs", "1"]
    with folder() as path, subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=path) as server:
        too_long = Timer(SECONDS, server.kill)
        too_long.start()
        try:
            assert server.stdout is not None
            found = (re.search(r"http://\S+:\d+/", line) for line in server.stdout)
            address = next(match[0] for match in found if match)
            page, address = asked(address)  # which redirects to the first workspace
            require("<html" in page, "no page")
            require("paths" in json.loads(asked(f"{address}openapi.json")[0]), "no API")
        finally:
            too_long.cancel()
            server.terminate()


def asked(address: str) -> tuple[str, str]:
    """Return what a server answers, and the address that answered."""
    with urlopen(address, timeout=SECONDS) as answer:
        return answer.read().decode(), answer.url


def study() -> None:
    """Run a tiny study, and report it."""
    with folder() as path:
        some = ("--quick", "--rows", "2", "--repeats", "1", "--tradeoff-rows", "0", "--jobs", "1")
        run(
            "study",
            "run",
            *some,
            "--datasets",
            "moviegoers",
            "--models",
            "logistic",
            "--out",
            "out",
            cwd=path,
        )
        run("study", "report", "out", cwd=path)
        require((path / "out" / "report" / "report.html").exists(), "no report")


EXTRAS: dict[str, Callable[[], None]] = {
    each.__name__: each for each in (core, cli, plot, frame, fast, parquet, batch, dask, spark, web, study)
}
"""What is tried for each extra; `core` is butfor without any."""


def absent() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what this environment does not have: the extra, and what asks for it."""
    explainer, rows = linear()
    whys = explainer.explain_many(rows[:2]).collect()
    if not has("typer"):
        yield "cli", lambda: run("--help")
    if not has("matplotlib"):
        yield "plot", whys.plot
    if not has("pandas"):
        yield "frame", whys.to_frame
    if not has("pyarrow"):
        yield "parquet", read_parquet
    if has("typer") and not has("fastapi"):
        yield "web", lambda: run("serve", "--demo")
    if has("typer") and not has("pooch"):
        yield "study", lambda: run("study", "run", "--quick")
    if not has("filelock", "fsspec", "pyarrow"):
        yield "batch", batch
    elif not has("distributed"):
        yield "dask", lambda: batch("dask")
    if not has("pyspark"):
        yield "spark", lambda: explain_in_spark(None, explainer)


def read_parquet() -> None:
    """Ask for rows of a Parquet file where nothing can read it."""
    from butfor._files.inputs import open_input

    with folder() as path:
        (path / "rows.parquet").write_bytes(b"PAR1")
        open_input([str(path / "rows.parquet")], takes_texts=False, n_features=4)


def require_install_line(extra: str, ask: Callable[[], Any]) -> None:
    """Raise unless it fails with the command that installs the extra."""
    from butfor import InputError

    try:
        ask()
    except (InputError, CommandError) as error:
        message = str(error)
        require("pip install" in message and f"[{extra}]" in message, f"{extra} is not named: {message}")
    else:
        raise AssertionError(f"{extra} is not installed, but nothing failed")


PROGRAM = [sys.executable, "-m", "butfor"]


class CommandError(Exception):
    """A command that failed, with what it printed."""


def run(*arguments: str, cwd: Path | None = None) -> str:
    """Return what the program prints; raise if it fails."""
    done = subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise CommandError(f"butfor {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def has(*modules: str) -> bool:
    """Whether modules can be imported here."""
    return all(find_spec(module) is not None for module in modules)


def require(holds: bool, message: str) -> None:
    """Raise with a message unless something holds; unlike assert, also with `python -O`."""
    if not holds:
        raise AssertionError(message)


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="butfor-smoke-") as name:
        yield Path(name)


def main(extra: str) -> None:
    """Try one extra, and ask for what is not installed."""
    installed()
    EXTRAS[extra]()
    named = []
    for other, ask in absent():
        require_install_line(other, ask)
        named.append(other)
    print(f"{extra}: works" + (f"; names how to install {', '.join(named)}" if named else ""))


if __name__ == "__main__":
    main(sys.argv[1])
