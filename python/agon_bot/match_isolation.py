"""Whether a loaded bot can play each match in a fork of its process, so that it is loaded once for many matches.

A match keeps nothing but `data/`. A fork ends with its match and takes everything with it, unless loading has left
something that forks share, or that would be old in the next match: threads and children, open files, signal handlers,
shared memory, and what the bot has read or looked up in `data/` or `logs/`, which change from match to match. A bot
that leaves such things plays in the process that has loaded it, and is loaded again for its next match.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from typing import Any, Callable, List, Tuple

from .process_cleanup import OwnFigures, open_descriptors

FOLDERS = ("data", "logs")
"""The folders beside the bot's file that change from match to match."""
READ_EVENTS = ("open", "os.listdir", "os.scandir", "shutil.copyfile", "sqlite3.connect")
LOOKUPS = ("stat", "lstat", "access")
"""Functions of `os` that tell whether a file exists. Python reports no event for them, so they are replaced while a bot
is loaded: a bot that finds no file in `data/` must look again in its next match."""


class LoadWatch:
    """Observes the loading of a bot."""

    def __init__(self, folder: str) -> None:
        # They may be links.
        self.places = tuple(os.path.realpath(os.path.join(folder, name)) for name in FOLDERS)
        self.descriptors = set(open_descriptors())
        self.has_read = False
        self.watching = True
        self.lookups = {name: (getattr(os, name), self._watched(getattr(os, name))) for name in LOOKUPS}
        for name, (_, watched) in self.lookups.items():
            setattr(os, name, watched)
        sys.addaudithook(self._on_event)

    def _watched(self, lookup: Callable[..., Any]) -> Callable[..., Any]:
        """A function of `os` that looks up its first argument, and is observed."""

        @functools.wraps(lookup)
        def watched(path: Any, *more: Any, **named: Any) -> Any:
            self._note(path)
            return lookup(path, *more, **named)

        return watched

    def _on_event(self, event: str, arguments: Tuple[Any, ...]) -> None:
        """Called by Python before files are opened and folders are listed."""
        if self.watching and event in READ_EVENTS and arguments:
            self._note(arguments[0])

    def _note(self, path: Any) -> None:
        """Notes that the bot uses this path."""
        if not self.watching or not isinstance(path, (str, bytes, os.PathLike)):
            return
        self.watching = False  # `realpath` looks files up itself
        try:
            whole = os.path.realpath(os.fsdecode(path))
            inside = any(whole == place or whole.startswith(place + os.sep) for place in self.places)
            self.has_read = self.has_read or inside
        except (ValueError, TypeError, OSError):
            pass
        finally:
            self.watching = True

    def _files(self) -> List[str]:
        """The files in `data/`."""
        return [os.path.join(at, name) for at, _, names in os.walk(self.places[0]) for name in names]

    def _are_unread(self) -> bool:
        """Whether no file in `data/` has been read, also not by a library that Python does not see. The launcher has set
        the times of their last access to 0, and the kernel changes them."""
        try:
            return all(os.stat(file).st_atime_ns == 0 for file in self._files())
        except OSError:
            return False

    def can_fork(self) -> bool:
        """Whether forks can play the matches. Called after the bot is loaded."""
        self.watching = False
        for name, (lookup, watched) in self.lookups.items():
            if getattr(os, name) is watched:
                setattr(os, name, lookup)
        return not self.has_read and self._are_unread() and self._leaves_nothing()

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
