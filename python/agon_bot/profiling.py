"""`python -m agon_bot.profiling GAME PATH[:Class]` plays a bot and measures where it spends its time. `AGON_PROFILE`
selects how:

- `functions`: each function, with cProfile. `pstats` and similar tools read the result.
- `lines`: each line, by sampling (`SIGPROF`). This costs almost nothing, so the figures are those of the bot.

The message `profile` fetches the result in pieces, because it is longer than a line may be.
"""

from __future__ import annotations

import cProfile
import json
import linecache
import marshal
import os
import signal
import sys
import time
from types import FrameType
from typing import Any, Dict, List, Optional, Tuple

from .games.base import Message, Shim
from .in_process_session import BotFiles, InProcessSession, bot_root
from .session import outcome

SAMPLE_INTERVAL = 0.001
"""Seconds of processor time between two samples. The kernel rounds it up to its tick."""
MAX_PIECE_CHARS = 24 * 1024
"""Maximum length of a piece. It fits a line even if every character must be escaped."""
MAX_LINES_SHOWN = 200

Line = Tuple[str, int]
# Not the process's clock: while a timer uses it, Linux updates it only from time to time.
_cpu_time = time.thread_time


class FunctionProfiler:
    """Runs cProfile around each call."""

    def __init__(self, files: BotFiles) -> None:
        self.profile = cProfile.Profile()

    def begin(self) -> None:
        """A call starts."""
        self.profile.enable()

    def end(self) -> None:
        """The call has ended."""
        self.profile.disable()

    def result(self) -> Message:
        """The table in the form that `pstats` reads."""
        self.profile.create_stats()
        return {"stats": marshal.dumps(self.profile.stats).hex()}  # type: ignore[attr-defined]


class LineProfiler:
    """Measures time by line of the bot's files. A sample counts the processor time since the previous one, so a sample
    that was delayed by a long call into C counts as much as that call. The time after a call's last sample goes to the
    next call's first sample."""

    def __init__(self, files: BotFiles) -> None:
        self.files = files
        self.spent: Dict[Line, float] = {}
        self.inside = False
        self.last = self.carried_time = 0.0
        signal.signal(signal.SIGPROF, self.sample)
        # Never stopped between calls: a call may be shorter than the interval.
        signal.setitimer(signal.ITIMER_PROF, SAMPLE_INTERVAL, SAMPLE_INTERVAL)

    def begin(self) -> None:
        """A call starts."""
        self.last = _cpu_time() - self.carried_time
        self.inside = True

    def end(self) -> None:
        """The call has ended."""
        self.inside = False
        self.carried_time = _cpu_time() - self.last

    def sample(self, number: int, frame: Optional[FrameType]) -> None:
        """Takes a sample: the line in the innermost frame that belongs to the bot."""
        if not self.inside:
            return
        now = _cpu_time()
        # Python handles a signal when it enters a function (at its first line or before it). The time belongs to the
        # line that calls the function.
        if frame is not None and frame.f_lineno in (None, frame.f_code.co_firstlineno):
            frame = frame.f_back
        while frame is not None and not self.files.has(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            line = (frame.f_code.co_filename, frame.f_lineno or frame.f_code.co_firstlineno)
            self.spent[line] = self.spent.get(line, 0.0) + now - self.last
        self.last = now

    def result(self) -> Message:
        """The lines that took the most time, in descending order."""
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        most = sorted(self.spent.items(), key=lambda item: -item[1])[:MAX_LINES_SHOWN]
        return {
            "seconds": sum(self.spent.values()),
            "lines": [
                {
                    "file": os.path.relpath(os.path.realpath(file), self.files.root),
                    "line": number,
                    "text": linecache.getline(file, number).strip(),
                    "seconds": seconds,
                }
                for (file, number), seconds in most
            ],
        }


PROFILERS = {"functions": FunctionProfiler, "lines": LineProfiler}


class ProfileSession(InProcessSession):
    """A session with a bot under the profiler."""

    profiler: Any = None
    unsent: Optional[str] = None

    def reply(self, message: Message) -> Message:
        if message.get("type") == "profile":
            return self.piece()
        return super().reply(message)

    def ask(self, shim: Shim, message: Message) -> Message:
        if self.profiler is None:
            self.profiler = PROFILERS[os.environ.get("AGON_PROFILE", "functions")](BotFiles(bot_root(shim)))
        self.profiler.begin()
        try:
            return outcome(shim, message)
        finally:
            self.profiler.end()

    def piece(self) -> Message:
        """The next piece of the result. An empty piece is the end."""
        if self.unsent is None:
            self.unsent = json.dumps(self.profiler.result() if self.profiler is not None else {})
        piece, self.unsent = self.unsent[:MAX_PIECE_CHARS], self.unsent[MAX_PIECE_CHARS:]
        return {"piece": piece}


def main(arguments: List[str]) -> int:
    """Reads the command line."""
    from .__main__ import prepare_environment
    from .channel import from_environment
    from .streams import flush
    from .loading import Target

    prepare_environment()
    if len(arguments) != 2 or os.environ.get("AGON_PROFILE", "functions") not in PROFILERS:
        usage = "usage: AGON_PROFILE=functions|lines python -m agon_bot.profiling GAME PATH[:Class]"
        print(usage, file=sys.stderr)
        return 2
    code = ProfileSession(from_environment(), arguments[0], Target.parse(arguments[1])).run()
    flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
