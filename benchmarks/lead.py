"""README's table: what people use today against butfor, in figures of tables that benchmarks printed."""

from collections.abc import Iterable, Iterator

HEAD = "| today | on | smallest answers, today | with butfor | effort, today | with butfor |"
NETWORK, KERNEL = "MovieLens 1M, MLP, 100 neurons", "20news, rbf SVM"
Row = dict[str, str]


def lead(tables: Iterable[str]) -> str:
    """Return the table of README, made of the tables of docs."""
    rows = [row for table in tables for row in rows_of(table)]
    lines = [
        _package(rows, "lime", "LIME's weights (`lime`), from the top"),
        _package(rows, "shap", "SHAP's weights (`shap`), from the top"),
        _naive(rows),
        _ablation(rows),
    ]
    return "\n".join([HEAD, "|---|---|---:|---:|---:|---:|", *lines, ""])


def _package(rows: list[Row], package: str, name: str) -> str:
    of_model = [row for row in rows if row.get("data, model") == NETWORK and "method" in row]
    today = _only(of_model, method=f"{package} package, lin-SEDC")
    ours = _only(of_model, method=f"{package}-sedc")
    smallest = [f"{row['at the minimum']} of {row['explained'].split(' of ')[1]}" for row in (today, ours)]
    effort = f"{today['ms']} ms", f"{ours['ms']} ms, {ours['times faster']} times faster"
    return _line(name, NETWORK, *smallest, *effort)


def _naive(rows: list[Row]) -> str:
    of_model = [row for row in rows if row.get("data, model") == KERNEL and "search" in row]
    today, ours = (_only(of_model, search=search) for search in ("naive", "auto"))
    proven = f"{ours['proven']} of {ours['explained'].split(' of ')[1]}, proven"
    effort = f"{today['ms']} ms", f"{ours['ms']} ms, {ours['times faster']} times faster"
    return _line("SEDC as published", KERNEL, "not known", proven, *effort)


def _ablation(rows: list[Row]) -> str:
    row = _only([row for row in rows if "Ablation Flip" in row], model=NETWORK)
    (share, scorings), (our_share, ours) = (row[name].split(", ") for name in ("Ablation Flip", "thrifty"))
    effort = f"{scorings} scorings", f"{ours} scorings"
    return _line("LIT's Ablation Flip", f"{NETWORK}, as a black box", share, our_share, *effort)


def rows_of(table: str) -> Iterator[Row]:
    """Yield the rows of a table, by the names of its columns; of two with the same name the first counts."""
    head, _, *lines = (_cells(line) for line in table.strip().splitlines())
    for cells in lines:
        yield dict(reversed(list(zip(head, cells, strict=False))))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _only(rows: list[Row], **wanted: str) -> Row:
    found = [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]
    if len(found) != 1:
        raise SystemExit(
            f"README's table needs one row with {wanted} in the tables of docs, got {len(found)}."
        )
    return found[0]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
