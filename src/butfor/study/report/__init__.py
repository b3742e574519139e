"""The report of a study: pages, tables and figures, made from its results alone."""

from pathlib import Path

from butfor.study.figures import pictures
from butfor.study.report import latex, markdown, page
from butfor.study.results import Study
from butfor.study.tables import tables

__all__ = ["write_report"]


def write_report(study: Study, out: Path) -> list[Path]:
    """Write the report of a study: Markdown, HTML, tables as LaTeX, figures as SVG and PNG.

    Parameters
    ----------
    study : Study
        The study, as `read_study` or `run_study` returns it.
    out : Path
        The folder to write to.

    Returns
    -------
    list of Path
        The files that were written.

    Examples
    --------
    >>> from butfor.study.store import read_study
    >>> write_report(read_study(Path("butfor-study")), Path("report"))  # doctest: +SKIP
    """
    made, drawn = tables(study), pictures(study)
    texts = {
        "report.md": markdown.document(study, made, drawn),
        "report.html": page.document(study, made, drawn),
        **{f"tables/{at:02}-{each.name}.tex": latex.table_text(each) for at, each in enumerate(made, 1)},
    }
    for name, text in texts.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [*(out / name for name in texts), *(path for each in drawn for path in each.save(out / "figures"))]
