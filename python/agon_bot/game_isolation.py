"""What a loaded bot's process and its forks for games would share, besides the sockets: open files and signals.

The process that has loaded the bot lives through many games. It runs no code of the bot between them, and every game
starts with open files as they were after loading. A file that the bot had opened keeps its position for all forks, so
it is restored; a pipe or a socket would carry messages, so it is replaced by `/dev/null`. A signal handler of the bot
would run in the process that forks the next game, so only the games have it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import stat
from typing import Any, Dict, List, Tuple

from .process_cleanup import open_descriptors

# Kept under names of this module: a bot may replace the originals.
_lseek, _fcntl, _SETFL, _SET, _signal = os.lseek, fcntl.fcntl, fcntl.F_SETFL, os.SEEK_SET, signal.signal
PLAIN_FILES = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFCHR)
NEVER_SHARED = ("shutdown", "mremap")
"""The parts of the filter of `call_filter.py` that also apply to bots that play whole games."""


class LoadedFiles:
    """The files and signal handlers that a bot has left after loading."""

    def __init__(self) -> None:
        self.known = open_descriptors()
        self.files: List[Tuple[int, int, int]] = []
        """Descriptor, flags and position of each file."""
        self.handlers: Dict[int, Any] = {}

    def seal(self) -> None:
        """Runs after the bot is loaded."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in set(open_descriptors()) - {*self.known, nowhere}:
            if stat.S_IFMT(os.fstat(descriptor).st_mode) not in PLAIN_FILES:
                os.dup2(nowhere, descriptor)
            flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
            self.files.append((descriptor, flags, os.lseek(descriptor, 0, os.SEEK_CUR)))
        os.close(nowhere)
        for number in range(1, signal.NSIG):
            try:
                handler = signal.getsignal(number)
                if callable(handler) and not isinstance(handler, signal.Handlers):
                    signal.signal(number, signal.SIG_IGN)
                    self.handlers[number] = handler
            except (OSError, ValueError):
                pass

    def restore(self) -> None:
        """Undoes what the last game has done to the files. Runs before the next game."""
        for descriptor, flags, position in self.files:
            try:
                _fcntl(descriptor, _SETFL, flags)
                _lseek(descriptor, position, _SET)
            except OSError:
                pass

    def enter_game(self) -> None:
        """In the fork for a game: the bot's signal handlers work."""
        for number, handler in self.handlers.items():
            _signal(number, handler)
