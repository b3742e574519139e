"""The page of `butfor explain --html`: what the explanations have in common, then one after the other."""

from collections.abc import Iterable
from pathlib import Path

from butfor import ButforError, Explanation, Explanations, InputError
from butfor.cli.printing import Words
from butfor.files import Item
from butfor.render import TITLE, card, page
from butfor.render.summary import summary_card

ROWS_SHOWN = 500
"""Rows on a page, at most: a browser should open it at once."""


class Page:
    """Collect explanations, no more than a page should hold, and write them at the end."""

    def __init__(self, path: Path, words: Words, *, not_over: Iterable[Path]) -> None:
        self.path = path
        self.words = words
        self._explained: list[tuple[Item, Explanation]] = []
        self._errors: dict[int, str] = {}
        self._n_left_out = 0
        _require_writable(path, not_over)

    def add(self, item: Item, why: Explanation) -> None:
        """Put an explanation on the page, if there is room."""
        if self._is_full:
            self._n_left_out += 1
        else:
            self._explained.append((item, why))

    def add_failure(self, item: Item, error: ButforError) -> None:
        """Put what went wrong with a row on the page, if there is room."""
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
        cards = [card(why, heading=item.label, **self.words) for item, why in self._explained]
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
    """Raise now, and not after a long run, if the page cannot be written or would destroy what it is of."""
    if path.resolve() in {other.resolve() for other in not_over}:
        raise InputError(f"--html must be a file of its own, got {path}, which is MODEL or DATA.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        path.open("a").close()
        if is_new:  # no empty file should stay where nothing comes of the run
            path.unlink()
    except OSError as error:
        raise InputError(f"--html must be a file that can be written, got {path}: {error}") from error
