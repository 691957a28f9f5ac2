"""`python -m agon_bot.profiling GAME PATH[:Class]` plays a bot and measures where it spends its time. `AGON_PROFILE`
selects how:

- `functions`: each function, with cProfile. `pstats` and similar tools read the result.
- `lines`: each line, with a trace function. The bot runs slower, but the time of the trace function is not counted.

The message `profile` fetches the result in pieces, because it is longer than a line may be.
"""

from __future__ import annotations

import cProfile
import json
import linecache
import marshal
import os
import sys
import time
from types import FrameType
from typing import Any, Dict, List, Optional, Tuple

from .games.base import Message, Shim
from .in_process_session import BotFiles, InProcessSession, bot_root
from .session import outcome

CALIBRATION_LINES = 1000
CALIBRATION_RUNS = 5
"""The quickest run counts: the others were disturbed."""
MAX_PIECE_CHARS = 24 * 1024
"""Maximum length of a piece. It fits a line even if every character must be escaped."""
MAX_LINES_SHOWN = 200

Line = Tuple[str, int]
# Wall time, as the game's clock charges it: a line that waits for threads of a library has that time too.
_clock = time.perf_counter_ns


class FunctionProfiler:
    """Runs cProfile around each call."""

    def __init__(self, files: BotFiles) -> None:
        self.files = files
        self.profile = cProfile.Profile()

    def begin(self) -> None:
        """A call starts."""
        self.profile.enable()

    def end(self) -> None:
        """The call has ended."""
        self.profile.disable()

    pause, resume = end, begin

    def result(self) -> Message:
        """The table in the form that `pstats` reads."""
        self.profile.create_stats()
        stats: Dict[Any, Any] = self.profile.stats  # type: ignore[attr-defined]
        real = {self.real(function): (*row[:4], self.real_callers(row[4])) for function, row in stats.items()}
        return {"stats": marshal.dumps(real).hex()}

    def real(self, function: Any) -> Any:
        """File, line and name of a function, with the real path of a file of the bot."""
        file, line, name = function
        return (self.files.real_path(file) if self.files.has(file) else file, line, name)

    def real_callers(self, callers: Dict[Any, Any]) -> Dict[Any, Any]:
        """The callers of a function, with real paths."""
        return {self.real(function): row for function, row in callers.items()}


class LineProfiler:
    """Measures time by line of the bot's files, with a trace function. The time between two events belongs to the line
    that runs then, also if that line waits for a long call into C. The time of other files belongs to the line that calls
    them. The time of the trace function itself is not counted."""

    def __init__(self, files: BotFiles) -> None:
        self.files = files
        self.spent: Dict[Optional[Line], int] = {}
        self.events: Dict[Optional[Line], int] = {}
        self.line: Optional[Line] = None
        self.callers: List[Optional[Line]] = []
        self.last = 0
        self.event_cost = 0.0
        self.event_cost = calibrate()

    def begin(self) -> None:
        """A call starts."""
        self.line = None
        self.callers.clear()
        self.last = _clock()
        sys.settrace(self.enter)

    def end(self) -> None:
        """The call has ended."""
        sys.settrace(None)

    def pause(self) -> None:
        """The call waits for something that is not counted."""
        sys.settrace(None)
        self.count(_clock())

    def resume(self) -> None:
        """The call goes on in the same line."""
        self.last = _clock()
        sys.settrace(self.enter)

    def count(self, now: int) -> None:
        """Adds the time since the last event to the current line."""
        line = self.line
        self.spent[line] = self.spent.get(line, 0) + now - self.last
        self.events[line] = self.events.get(line, 0) + 1

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """A function is called."""
        self.count(_clock())
        own = self.files.has(frame.f_code.co_filename)
        if own:
            self.callers.append(self.line)
            self.line = (frame.f_code.co_filename, frame.f_lineno or frame.f_code.co_firstlineno)
        self.last = _clock()
        return self.step if own else None

    def step(self, frame: FrameType, event: str, arg: Any) -> Any:
        """A line of the bot starts, or a function of the bot returns."""
        self.count(_clock())
        if event == "line":
            self.line = (frame.f_code.co_filename, frame.f_lineno)
        elif event == "return":
            self.line = self.callers.pop() if self.callers else None
        self.last = _clock()
        return self.step

    def seconds(self, line: Optional[Line]) -> float:
        """The time of a line, without the cost of the events."""
        return max(0.0, self.spent[line] - self.event_cost * self.events[line]) / 1e9

    def result(self) -> Message:
        """The lines that took the most time, in descending order."""
        lines = [(line, self.seconds(line)) for line in self.spent if line is not None]
        most = sorted(lines, key=lambda item: -item[1])[:MAX_LINES_SHOWN]
        return {
            "seconds": sum(seconds for _, seconds in lines),
            "lines": [
                {
                    "file": self.files.real_path(file),
                    "line": number,
                    "text": linecache.getline(file, number).strip(),
                    "seconds": seconds,
                }
                for (file, number), seconds in most
            ],
        }


class _EveryFile(BotFiles):
    """All files, for the calibration."""

    def has(self, file: str) -> bool:
        return True


def calibrate() -> float:
    """Nanoseconds that the interpreter needs around an event, measured with lines that do nothing."""
    code = "def lines():\n" + "    x = 0\n" * CALIBRATION_LINES
    scope: Dict[str, Any] = {}
    exec(compile(code, "<calibration>", "exec"), scope)
    profiler = LineProfiler.__new__(LineProfiler)
    best = float("inf")
    for _ in range(CALIBRATION_RUNS):
        profiler.files, profiler.spent, profiler.events = _EveryFile(""), {}, {}
        profiler.callers = []
        profiler.begin()
        scope["lines"]()
        profiler.end()
        spent = [time for line, time in profiler.spent.items() if line is not None and line[0] == "<calibration>"]
        best = min(best, sum(spent) / CALIBRATION_LINES)
    return best


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
            self.profiler = PROFILERS[os.environ.get("AGON_PROFILE", "functions")](BotFiles(bot_root(shim), os.environ.get("AGON_BOT_SOURCE", "")))
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
