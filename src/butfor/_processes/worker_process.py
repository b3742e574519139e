"""The side of the worker: its process reads requests, makes the calls and writes what they return."""

import os
import pickle
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from butfor._processes.messages import NUMBER_BYTES, pickled, read_message, write_message
from butfor.errors import ButforError, error_text


def serve() -> None:
    """Make the calls that are requested until the parent closes the pipe."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a model prints is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    calls = _CallQueue(sys.stdin.buffer, answers)
    calls.send(pickled("ready", None))
    while True:
        try:
            calls.answer_next()
        except BaseException as error:  # a model that exits; end at once, whatever other threads do
            sys.stderr.flush()
            os._exit(error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1)


class _StopCall(BaseException):
    """Raised in the middle of a call that must stop."""


class _CallQueue:
    """The calls of a worker: requests come in at any time and are answered one after the other."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._answers = answers
        self._inbox: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._stoppable = 0
        """The number of the call that may be stopped at this moment; 0 where none may."""
        self._to_stop = 0
        """The number of the call that the parent wants to stop."""
        if hasattr(signal, "SIGUSR1"):  # elsewhere the parent ends the process instead
            signal.signal(signal.SIGUSR1, self._stop_if_wanted)
        threading.Thread(target=self._read_requests, args=(requests,), daemon=True).start()

    def answer_next(self) -> None:
        """Wait for a request, make the call, and send what it returned or raised."""
        number, request = self._inbox.get()
        try:
            answer = self._called(number, request)
        except _StopCall:
            answer = pickled("stopped", None)
        except Exception as error:
            self._stoppable = 0
            answer = pickled("raised", _portable(error))
        self.send(answer)

    def send(self, message: bytes) -> None:
        """Send a message to the parent; exit where it is gone."""
        try:
            write_message(self._answers, message)
        except OSError:
            os._exit(0)

    def _called(self, number: int, request: bytes) -> bytes:
        self._allow_stop(number)
        function, arguments = pickle.loads(request)
        result = function(*arguments, note=lambda content: self._note(number, content))
        self._stoppable = 0
        return pickled("done", result)

    def _note(self, number: int, content: Any) -> None:
        self._stoppable = 0  # half a message would make all that follow unreadable
        self.send(pickled("note", content))
        self._allow_stop(number)

    def _allow_stop(self, number: int) -> None:
        """Let the call be stopped from here on; stop it now where the parent has asked for that already."""
        self._stoppable = number
        self._stop_if_wanted()

    def _stop_if_wanted(self, *_: object) -> None:
        if self._stoppable and self._stoppable == self._to_stop:
            self._stoppable = 0
            raise _StopCall

    def _read_requests(self, pipe: BinaryIO) -> None:
        """Read requests until the parent closes the pipe, then exit, even in the middle of a call."""
        with suppress(EOFError):
            while True:
                message = read_message(pipe)
                number = int.from_bytes(message[:NUMBER_BYTES], "little")
                if request := message[NUMBER_BYTES:]:
                    self._inbox.put((number, request))
                else:
                    self._to_stop = number
                    _signal_main_thread()
        os._exit(0)


def _signal_main_thread() -> None:
    """Have the main thread look whether its call must stop, even while it sleeps."""
    main = threading.main_thread().ident
    if hasattr(signal, "SIGUSR1") and main is not None:
        signal.pthread_kill(main, signal.SIGUSR1)


def _portable(error: Exception) -> Exception:
    """Return the exception, or one that can be pickled in its place."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return ButforError(error_text(error))
    return error
