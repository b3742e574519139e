"""Processes that are forked, and killed while they write."""

import os
import signal
import traceback

from butfor.batch.folder import Folder

SECONDS = 60
"""After which a forked process is taken for dead."""


def forked(function, *arguments, **options):
    """Begin a call in a process of its own, which has all that this one has imported."""
    pid = os.fork()
    if pid:
        return pid
    signal.alarm(SECONDS)
    try:
        function(*arguments, **options)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


class Killer:
    """Kills the process at the n-th file that is written, before or after it gets its name."""

    def __init__(self, at, is_named):
        self.at = at
        self.is_named = is_named
        self.rename = Folder._rename

    def call(self, run, *arguments, **options):
        Folder._rename = lambda folder, *paths: self._rename(folder, *paths)
        run(*arguments, **options)

    def _rename(self, folder, unfinished, path):
        self.at -= 1
        if self.at < 0:
            if self.is_named:
                self.rename(folder, unfinished, path)
            os.kill(os.getpid(), signal.SIGKILL)
        self.rename(folder, unfinished, path)
