"""The page of `butfor explain --html`: a summary, then one explanation after the other."""

from collections.abc import Iterable
from pathlib import Path

from butfor import ButforError, Explanation, Explanations, InputError
from butfor._cli.printing import SentenceOptions
from butfor._files import NumberedRow
from butfor._render import TITLE, card, page
from butfor._render.summary import summary_card

ROWS_SHOWN = 500
"""Rows on a page, at most, so that a browser opens it quickly."""


class Page:
    """Collects explanations, at most as many as fit on a page, and writes them at the end."""

    def __init__(self, path: Path, options: SentenceOptions, *, not_over: Iterable[Path]) -> None:
        self.path = path
        self.options = options
        self._explained: list[tuple[NumberedRow, Explanation]] = []
        self._errors: dict[int, str] = {}
        self._n_left_out = 0
        _require_writable(path, not_over)

    def add(self, item: NumberedRow, why: Explanation) -> None:
        """Add an explanation, unless the page is full."""
        if self._is_full:
            self._n_left_out += 1
        else:
            self._explained.append((item, why))

    def add_failure(self, item: NumberedRow, error: ButforError) -> None:
        """Add the error of a row, unless the page is full."""
        if self._is_full:
            self._n_left_out += 1
        else:
            self._errors[item.number] = str(error)

    def write(self) -> None:
        """Write the page."""
        whys = Explanations(
            [why for _, why in self._explained],
            rows=[item.number for item, _ in self._explained],
            errors=self._errors,
        )
        cards = [card(why, heading=item.label, **self.options) for item, why in self._explained]
        left_out = f'<p class="butfor-notes">{self._left_out()}</p>' if self._n_left_out else ""
        sections = [("One by one", [*cards, left_out])] if cards else []
        if len(whys) + len(whys.errors) > 1 or whys.errors:
            sections.insert(0, ("In short", [summary_card(whys.summary(), whys.errors), left_out]))
        try:
            self.path.write_text(page(TITLE, sections), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"--html must be a file that can be written, got {self.path}: {error}"
            ) from error

    @property
    def _is_full(self) -> bool:
        return len(self._explained) + len(self._errors) >= ROWS_SHOWN

    def _left_out(self) -> str:
        return f"Of {self._n_left_out + ROWS_SHOWN:,} rows, this page holds the first {ROWS_SHOWN:,}."


def _require_writable(path: Path, not_over: Iterable[Path]) -> None:
    """Raise before a long run if the page cannot be written, or would overwrite MODEL or DATA."""
    if path.resolve() in {other.resolve() for other in not_over}:
        raise InputError(f"--html must be a file of its own, got {path}, which is MODEL or DATA.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        path.open("a").close()
        if is_new:  # leave no empty file if the run fails
            path.unlink()
    except OSError as error:
        raise InputError(f"--html must be a file that can be written, got {path}: {error}") from error
