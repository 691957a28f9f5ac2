"""Whether a loaded bot can play each match in a fork of its process, so that it is loaded once for many matches.

A match keeps nothing but `data/`. A fork ends with its match and takes everything with it, unless loading has left
something that forks share, or that would be old in the next match: threads and children, open files, signal handlers,
shared memory, and what the bot has read in `data/` or `logs/`, which change from match to match. A bot that leaves such
things plays in the process that has loaded it, and is loaded again for its next match.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, List, Tuple

from .process_cleanup import OwnFigures, open_descriptors

FOLDERS = ("data", "logs")
"""The folders beside the bot's file that change from match to match."""
READ_EVENTS = ("open", "os.listdir", "os.scandir", "shutil.copyfile", "sqlite3.connect")


class LoadWatch:
    """Observes the loading of a bot."""

    def __init__(self, folder: str) -> None:
        self.places = tuple(os.path.join(os.path.realpath(folder), name) for name in FOLDERS)
        self.folder = folder
        self.descriptors = set(open_descriptors())
        self.has_read = False
        self.watching = True
        self.marked = self._mark_unread()
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, arguments: Tuple[Any, ...]) -> None:
        """Called by Python before files are opened and folders are listed."""
        if not self.watching or event not in READ_EVENTS or not arguments:
            return
        path = arguments[0]
        if isinstance(path, (str, bytes, os.PathLike)):
            try:
                whole = os.path.realpath(os.path.join(self.folder, os.fsdecode(path)))
            except (ValueError, TypeError, OSError):
                return
            self.has_read = self.has_read or any(whole == place or whole.startswith(place + os.sep) for place in self.places)

    def _files(self) -> List[str]:
        """The files in `data/`."""
        return [os.path.join(at, name) for at, _, names in os.walk(self.places[0]) for name in names]

    def _mark_unread(self) -> bool:
        """Sets the time of the last access of all files in `data/` to 0. The kernel changes it when a file is read, also
        by a library that Python does not see."""
        try:
            for file in self._files():
                os.utime(file, ns=(0, os.stat(file).st_mtime_ns))
            return True
        except OSError:
            return False

    def can_fork(self) -> bool:
        """Whether forks can play the matches. Called after the bot is loaded."""
        watched = not self.has_read and self.marked
        self.watching = False
        try:
            unread = all(os.stat(file).st_atime_ns == 0 for file in self._files())
        except OSError:
            unread = False
        return watched and unread and self._leaves_nothing()

    def _leaves_nothing(self) -> bool:
        if set(open_descriptors()) - self.descriptors:
            return False
        figures = OwnFigures()
        try:
            if figures.thread_count() > 1 or figures.children() or figures.has_shared_memory():
                return False
        finally:
            figures.close()
        return not any(_has_handler(number) for number in range(1, signal.NSIG))


def _has_handler(number: int) -> bool:
    """Whether the bot has installed a handler for a signal. Python's own is for SIGINT."""
    try:
        handler = signal.getsignal(number)
    except (OSError, ValueError):
        return False
    return callable(handler) and not isinstance(handler, signal.Handlers) and handler is not signal.default_int_handler
