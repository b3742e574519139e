"""The search for all irreducible explanations of one row."""

import time
from collections.abc import Iterator
from typing import Any

from butfor._engine.engine import Engine
from butfor._engine.one_row import trusted
from butfor.models import OutOfBudget
from butfor.results.alternatives import AlternativesProgress
from butfor.results.explanation import Explanation
from butfor.searches import irreducible_sets


def explain_all(engine: Engine, row: Any, progress: AlternativesProgress) -> Iterator[Explanation]:
    """Yield the irreducible explanations of a row, smallest first, and write down how far the search is."""
    began, budget = time.monotonic(), engine.settings.budget
    read = engine.read(row)
    seconds = time.monotonic() - began
    engine.model.get_ready()
    started = time.monotonic() - seconds
    seen = trusted(engine, read, started + budget.max_seconds)
    smallest = 0
    try:
        for finding in irreducible_sets(seen.local, budget.max_size):
            if not finding.removed:
                progress.complete_up_to = int(finding.lower_bound) - 1
                continue
            smallest = smallest or len(finding.removed)
            verdict = seen.confirmed(finding.removed)
            if verdict is not None:
                answer = seen.unproven(finding.removed, "alternatives", needed=smallest)
                yield seen.report(answer, verdict, engine.settings, time.monotonic() - started)
        progress.complete_up_to = budget.max_size
    except OutOfBudget as over:
        progress.reason = budget.reached(over.limit)
