"""All explanations of one row, one after the other."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

from butfor.explanation import Explanation
from butfor.inquiry import Inquiry
from butfor.models import OutOfTime
from butfor.searches import irreducible_sets


class Alternatives:
    """The irreducible explanations of one row, smallest first; iterate to search on."""

    def __init__(self, inquiry: Inquiry, row: Any, limit: int | None) -> None:
        self.complete_up_to = 0
        """Every irreducible explanation of at most this many features has been given."""
        self.reason = ""
        """Why the search ended before the size limit; empty if it did not."""
        self._inquiry = inquiry
        self._explanations = islice(self._all(row), limit)

    def __iter__(self) -> Iterator[Explanation]:
        return self

    def __next__(self) -> Explanation:
        return next(self._explanations)

    def _all(self, row: Any) -> Iterator[Explanation]:
        """Search for all irreducible sets, and tell how far the search has come."""
        inquiry, started = self._inquiry, time.monotonic()
        budget = inquiry.budget
        case = inquiry.trusted(inquiry.read(row), started + budget.max_seconds)
        smallest = 0
        try:
            for finding in irreducible_sets(case.local, budget.max_size):
                if not finding.removed:
                    self.complete_up_to = int(finding.lower_bound) - 1
                    continue
                smallest = smallest or len(finding.removed)
                verdict = case.verdict(finding.removed)
                if case.confirms(verdict, finding):
                    known = inquiry.unproven(case, finding.removed, needed=smallest)
                    yield inquiry.explanation(case, known, verdict, time.monotonic() - started)
            self.complete_up_to = budget.max_size
        except OutOfTime:
            self.reason = f"max_seconds={budget.max_seconds:g} reached"
