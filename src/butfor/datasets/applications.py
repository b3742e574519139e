"""Generated applications for a small loan: a text, categories, numbers and visits (CC0)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor._checks import require_count
from butfor._extras import optional

SECTORS = (
    "bakery",
    "bicycle shop",
    "bookshop",
    "café",
    "carpentry",
    "farm",
    "hairdresser",
    "software",
    "taxi",
)
REGIONS = ("coast", "hills", "lakes", "north", "old town", "plains", "south", "valley")
CHANNELS = ("branch", "partner", "phone", "web")
PAGES = (
    "calculator", "case-studies", "contact", "debt-advice", "faq", "guarantees", "news", "payment-holiday",
    "pricing", "terms",
)  # fmt: skip
_WANTS = (
    "We want to buy a second oven.", "The loan is for a delivery van.", "We need to repair the roof.",
    "It would pay for a new till and a coffee machine.", "We plan to open a second shop.",
    "The money goes into tools and a lathe.", "We would like to renovate the sales room.",
    "I want to replace two old computers.", "We have to rebuild the stock after the summer.",
    "It is for seeds, fences and a small tractor.",
)  # fmt: skip
_ASIDES = (
    "Our customers come from the whole quarter.", "My sister keeps the books.",
    "The lease runs for six years.", "We open at seven every morning.", "Last year was our busiest so far.",
    "A photo of the shop is attached.", "Please write to us by mail.",
    "We have been members of the chamber for a long time.",
    "The landlord knows about our plans.", "We would start in spring.",
)  # fmt: skip
_SAID = {
    "overdue": "Two invoices are overdue.",
    "urgent": "It is urgent, as the bank has closed our account.",
    "tax": "Part of it would settle a tax bill.",
    "gambling": "There were some gambling debts, but that is over.",
    "contract": "A contract with the town hall is signed.",
    "savings": "We put in our own savings as well.",
    "guarantee": "My parents give a guarantee.",
}
"""The sentences that hold a word with a weight."""
CAUSES = {
    "purpose": {
        "overdue": 1.5, "urgent": 1.1, "tax": 0.8, "gambling": 1.8, "contract": -1.4, "savings": -1.1,
        "guarantee": -0.9,
    },
    "visited": {"debt-advice": 1.6, "payment-holiday": 1.0, "case-studies": -0.6, "guarantees": -0.7},
    "sector": {"taxi": 0.7, "bookshop": 0.5, "software": -0.6, "farm": -0.4},
    "channel": {"partner": 0.6, "branch": -0.4},
}  # fmt: skip
"""What words, pages and categories add to the log-odds of being declined; others add nothing."""


@dataclass(frozen=True)
class Applications:
    """Generated applications for a small loan, and which of them were declined.

    Attributes
    ----------
    records : tuple of dict
        The applications: sector, region, channel (categories), staff, years (numbers), purpose (a text) and
        visited (a list of pages).
    y : array of int
        The label of every application: 1 was declined.
    causes : dict
        The planted truth: what parts of a column add to the log-odds of being declined. Besides, each year in
        business takes 0.08 from them.
    target_names : tuple of str
        The names of the labels 0 and 1.
    """

    records: tuple[dict[str, Any], ...]
    y: npt.NDArray[np.int64]
    causes: dict[str, dict[str, float]]
    target_names: tuple[str, str] = ("granted", "declined")

    def frame(self) -> Any:
        """Return the applications as a frame of pandas; needs `pip install "butfor[frame]"`."""
        return optional("pandas", extra="frame").DataFrame(list(self.records))


def load_applications(*, n_applications: int = 2_000, seed: int = 0) -> Applications:
    """Generate applications for a small loan, with known causes behind the decisions.

    Parameters
    ----------
    n_applications : int, default 2000
        Number of applications.
    seed : int, default 0
        Seed of all random numbers.

    Returns
    -------
    Applications
        The applications, their labels, and the causes behind the labels.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> loans = load_applications()
    >>> len(loans.records), int(loans.y.sum()), list(loans.records[0])
    (2000, 700, ['sector', 'region', 'channel', 'staff', 'years', 'purpose', 'visited'])
    """
    require_count("n_applications", n_applications)
    rng = np.random.default_rng(seed)
    drawn = [_draw(rng) for _ in range(n_applications)]
    log_odds = np.array([log_odds for _, log_odds in drawn]) + rng.logistic(scale=0.4, size=n_applications)
    labels = (log_odds >= np.quantile(log_odds, 0.65)).astype(np.int64)
    return Applications(
        tuple(record for record, _ in drawn),
        labels,
        {column: dict(parts) for column, parts in CAUSES.items()},
    )


def _draw(rng: np.random.Generator) -> tuple[dict[str, Any], float]:
    """Draw one application; return it with the log-odds of being declined."""
    record: dict[str, Any] = {
        column: str(rng.choice(values))
        for column, values in (("sector", SECTORS), ("region", REGIONS), ("channel", CHANNELS))
    }
    record["staff"] = int(1 + rng.geometric(0.35))
    record["years"] = int(rng.integers(0, 25))
    told = [word for word in _SAID if rng.random() < 0.16]
    sentences = [str(rng.choice(_WANTS)), *(_SAID[word] for word in told)]
    sentences += rng.choice(_ASIDES, size=int(rng.integers(1, 4)), replace=False).tolist()
    record["purpose"] = " ".join([sentences[0], *rng.permutation(sentences[1:]).tolist()])
    n_pages = int(rng.integers(0, 6))
    record["visited"] = sorted(rng.choice(PAGES, size=n_pages, replace=False).tolist())
    parts = {"purpose": told, "visited": record["visited"], "sector": [record["sector"]]}
    parts["channel"] = [record["channel"]]
    weights = [CAUSES[column].get(part, 0.0) for column, own in parts.items() for part in own]
    return record, sum(weights) - 0.08 * record["years"]
