"""Searches of several rows side by side, whose questions to the model go out in shared calls.

A search is plain code that asks the model and waits for the answer. So each runs in a thread of its own, but
only one of them at a time, and the model is called by the main thread only: threads stand in for coroutines.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from butfor._blas import one_thread
from butfor.errors import ModelError
from butfor.models import BoolArray, FloatArray, Scorer, stacked_copies
from butfor.models.local.asking import DIRECT, Asker
from butfor.models.local.black_box import MAX_VALUES

SECONDS_A_CALL = 1.0
"""How long a call may take, at the pace of the one before."""
LEAST_ROWS = 32
"""How many rows a call carries at least, if so many wait."""
BETTER = 1.25
"""How much faster a call must have been for each row than the one before, so that the next is larger."""
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class _AskedSets:
    """Removal sets of a row, for which a search waits."""

    scorer: Scorer
    row: Any
    removed: BoolArray
    alone: bool = False


class _Abandoned(BaseException):
    """Raised in a search that nobody waits for any more."""


@dataclass(eq=False)
class _RunningSearch(Generic[Result]):
    """A search in a thread; it runs only between `go_on` and its next question, or its end."""

    work: Callable[[Asker], Result]
    rows_a_set: ClassVar[int] = 1
    question: _AskedSets | None = None
    result: Result | Exception | None = None
    _answer: Any = None
    _may_run: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _has_stopped: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _thread: threading.Thread | None = None

    @one_thread()
    def go_on(self, answer: Any = None) -> None:
        """Let the search run to its next question, with the answer to the last one."""
        self._answer, self.question = answer, None
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        else:
            self._may_run.release()
        self._has_stopped.acquire()

    def _run(self) -> None:
        try:
            self.result = self.work(self)
        except Exception as error:
            self.result = error
        except _Abandoned:
            pass
        self._has_stopped.release()

    def together(self, scorer: Scorer, row: Any, removed: BoolArray) -> tuple[FloatArray, float]:
        """Wait until the model was asked about sets of many rows."""
        return cast("tuple[FloatArray, float]", self._ask(_AskedSets(scorer, row, removed)))

    def alone(self, scorer: Scorer, row: Any, removed: BoolArray) -> tuple[float, float]:
        """Wait until the model was asked about one set alone."""
        return cast("tuple[float, float]", self._ask(_AskedSets(scorer, row, removed, alone=True)))

    def _ask(self, question: _AskedSets) -> Any:
        self.question = question
        self._has_stopped.release()
        self._may_run.acquire()
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


def side_by_side(
    searches: Sequence[Callable[[Asker], Result]],
    seconds_a_row: float = 0.0,
    after_call: Callable[[list[int]], None] = lambda ended: None,
) -> list[Result | Exception]:
    """Run searches side by side; return what each returned or raised.

    Parameters
    ----------
    searches : sequence of callables
        Each gets what asks the model for it.
    seconds_a_row : float, default 0.0
        How long the model took for a row, if that is known.
    after_call : callable, optional
        Is called whenever the model has answered, with the numbers of the searches that have ended since.
    """
    running = [_RunningSearch(work) for work in searches]
    pace = _CallSize(seconds_a_row)
    try:
        for search in running:
            search.go_on()
        while waiting := [i for i, search in enumerate(running) if search.question is not None]:
            questions = [cast(_AskedSets, running[i].question) for i in waiting]
            for i, answer in zip(waiting, _answers(questions, pace), strict=True):
                running[i].go_on(answer)
            after_call([i for i in waiting if running[i].question is None])
    finally:  # after an interrupt, no thread waits for ever
        for search in running:
            if search.question is not None:
                search.go_on(_Abandoned())
    return [cast("Result | Exception", search.result) for search in running]


@dataclass(eq=False)
class _CallSize:
    """How many rows the next call should carry: as many as fit a second, or twice as many while that pays."""

    seconds_a_row: float
    n_rows: int = 1
    _pays: bool = False

    def note(self, n_rows: int, seconds: float) -> None:
        """Take a call into account."""
        before, self.seconds_a_row = self.seconds_a_row, max(1e-9, seconds / n_rows)
        self._pays = n_rows > self.n_rows and BETTER * self.seconds_a_row < before
        self.n_rows = n_rows

    @property
    def most_rows(self) -> int:
        """The largest number of rows for the next call."""
        in_time = SECONDS_A_CALL / max(1e-9, self.seconds_a_row)
        return int(max(LEAST_ROWS, in_time, 2 * self.n_rows if self._pays else 0))


def _answers(questions: Sequence[_AskedSets], pace: _CallSize) -> list[Any]:
    """Answer the questions of all searches: outputs with the seconds they took, or an error."""
    answers: list[Any] = [None] * len(questions)
    shared = [i for i, question in enumerate(questions) if not question.alone]
    for i, question in enumerate(questions):
        if question.alone:
            answers[i] = _or_error(DIRECT.alone, question)
    for some in _calls([questions[i] for i in shared], pace):
        for i, answer in some:
            answers[shared[i]] = answer
    return answers


def _calls(questions: Sequence[_AskedSets], pace: _CallSize) -> Any:
    """Yield the numbers of questions with their answers, for each call of the model."""
    done = 0
    while done < len(questions):
        end, n_rows, n_values = done, 0, 0
        most = pace.most_rows
        while end < len(questions):
            own = len(questions[end].removed)
            values = own * questions[end].row.n_values
            if end > done and (n_rows + own > most or n_values + values > MAX_VALUES):
                break
            end, n_rows, n_values = end + 1, n_rows + own, n_values + values
        yield [(done + i, answer) for i, answer in enumerate(_in_one_call(questions[done:end], pace))]
        done = end


def _in_one_call(questions: Sequence[_AskedSets], pace: _CallSize) -> list[Any]:
    """Ask the model once; where it fails, ask for each row, so that a bad row costs only itself."""
    if len(questions) == 1:
        answer = _or_error(DIRECT.together, questions[0])
        if not isinstance(answer, Exception):
            pace.note(len(questions[0].removed), answer[1])
        return [answer]
    copies = [(question.row, question.removed) for question in questions]
    sizes = [len(removed) for _, removed in copies]
    began = time.monotonic()
    try:
        outputs = questions[0].scorer.outputs(stacked_copies(copies))
    except ModelError:
        return [_or_error(DIRECT.together, question) for question in questions]
    seconds = time.monotonic() - began
    pace.note(sum(sizes), seconds)
    pieces = np.split(outputs, np.cumsum(sizes)[:-1])
    return [(piece, seconds * size / sum(sizes)) for piece, size in zip(pieces, sizes, strict=True)]


def _or_error(ask: Callable[..., Any], question: _AskedSets) -> Any:
    try:
        return ask(question.scorer, question.row, question.removed)
    except Exception as error:
        return error
