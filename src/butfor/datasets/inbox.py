"""Short messages, spam or not, written for this project (CC0)."""

import csv
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Inbox:
    """Short messages, spam or not.

    Attributes
    ----------
    texts : tuple of str
        The messages.
    y : array of int
        Their labels: 1 is spam.
    topics : tuple of str
        What each message is about.
    target_names : tuple of str
        The names of the labels 0 and 1.
    """

    texts: tuple[str, ...]
    y: npt.NDArray[np.int64]
    topics: tuple[str, ...]
    target_names: tuple[str, str] = ("ham", "spam")


def load_inbox() -> Inbox:
    """Load 678 messages: offers, phishing, invoices, family, work, deliveries, clubs, …

    Returns
    -------
    Inbox
        The messages with their labels and topics.

    Examples
    --------
    >>> inbox = load_inbox()
    >>> len(inbox.texts), int(inbox.y.sum()), len(set(inbox.topics))
    (678, 288, 28)
    """
    content = (files("butfor.datasets") / "inbox.csv").read_text(encoding="utf-8")
    messages = list(csv.DictReader(content.splitlines()))
    return Inbox(
        texts=tuple(message["text"] for message in messages),
        y=np.array([int(message["label"] == "spam") for message in messages], dtype=np.int64),
        topics=tuple(message["topic"] for message in messages),
    )
