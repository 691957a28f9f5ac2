"""Runs a bot that is a script of its own (Word Racer's protocol: lines on stdin and stdout) under a debugger or a
profiler: `python -c "from agon_bot.script_tool import main; main()" debug|functions|lines SCRIPT ARGUMENTS`.

- `debug`: standard input and output belong to the terminal, the bot's lines run on `AGON_IN` and `AGON_OUT`. pdb stops
  before the bot's answer number `AGON_BREAK` (from 0): in the line after the answer before it is written.
- `functions`, `lines`: as in `profiling.py`. Time in which the bot waits for input is not counted. The line
  `PROFILE_REQUEST` on its input fetches the result in pieces.
"""

from __future__ import annotations

import io
import json
import os
import pdb
import sys
from types import CodeType, FrameType
from typing import Any, Callable, List, Optional

from .debugging import Debugger, attach_debugger
from .in_process_session import BotFiles
from .profiling import MAX_PIECE_CHARS, PROFILERS

PROFILE_REQUEST = b"\0profile\n"
QUIT_LINE = "\0quit\n"
"""Written instead of an answer when the user quits the debugger."""


def load_script(path: str) -> CodeType:
    """Compiles the script, and prepares the interpreter as if it had been started with it."""
    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    with io.open_code(os.path.abspath(path)) as file:
        return compile(file.read(), path, "exec")


def run_script(code: CodeType, path: str) -> None:
    """Runs the script as the main module."""
    module = sys.modules["__main__"].__dict__
    module.update(__file__=path, __name__="__main__", __builtins__=__builtins__)
    exec(code, module)


class CountedOutput(io.TextIOWrapper):
    """The bot's output. Calls `on_line` with the number of lines so far and the frame that wrote the last one."""

    on_line: Optional[Callable[[int, FrameType], None]] = None
    lines = 0

    def write(self, text: str) -> int:
        count = super().write(text)
        if "\n" in text and self.on_line is not None:
            self.lines += text.count("\n")
            self.flush()
            self.on_line(self.lines, sys._getframe(1))
        return count


def attach(port: str) -> None:
    """Waits for the debugger of an editor. Ends the script if that is not possible."""
    problem = attach_debugger(int(port))
    if problem:
        print(f"error: {problem}", file=sys.stderr, flush=True)
        os._exit(2)


def debug(path: str) -> int:
    """Runs the script until it ends or the user quits."""
    debugger = Debugger(stdin=os.fdopen(os.dup(0), "r"), stdout=os.fdopen(os.dup(1), "w"), nosigint=True)
    os.dup2(int(os.environ.pop("AGON_IN")), 0)
    os.dup2(int(os.environ.pop("AGON_OUT")), 1)
    wanted = int(os.environ.pop("AGON_BREAK", "0"))
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), "utf-8")
    output = CountedOutput(open(1, "wb", closefd=False), "utf-8")
    sys.stdout = output

    port = os.environ.pop("AGON_ATTACH_PORT", "")

    def stop(lines: int, frame: FrameType) -> None:
        if lines != wanted:
            return
        if port:
            attach(port)
        else:
            debugger.set_trace(frame)

    output.on_line = stop
    code = load_script(path)
    try:
        if wanted == 0 and port:
            attach(port)
        if wanted == 0 and not port:
            module = sys.modules["__main__"].__dict__
            module.update(__file__=path, __name__="__main__")
            debugger.run(code, module)
        else:
            run_script(code, path)
    except pdb.bdb.BdbQuit:  # type: ignore[attr-defined]
        pass
    except (EOFError, BrokenPipeError):
        # After the answer, the input ends.
        if output.lines <= wanted:
            raise
    finally:
        sys.settrace(None)
        output.on_line = None
        if debugger.quit_requested:
            output.write(QUIT_LINE)
        output.flush()
    return 0


class MeasuredInput(io.RawIOBase):
    """The bot's input. The profiler pauses while the bot waits for it, and requests for the profile are answered."""

    def __init__(self, profiler: Any) -> None:
        self.profiler = profiler
        self.unsent: Optional[str] = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.profiler.pause()
        data = self.receive(len(buffer))
        buffer[: len(data)] = data
        self.profiler.resume()
        return len(data)

    def receive(self, most: int) -> bytes:
        """The next input of the bot."""
        while True:
            data = os.read(0, most)
            if data != PROFILE_REQUEST:
                return data
            self.send_piece()

    def send_piece(self) -> None:
        """Writes the next piece of the result. An empty piece is the end."""
        if self.unsent is None:
            self.unsent = json.dumps(self.profiler.result())
        piece, self.unsent = self.unsent[:MAX_PIECE_CHARS], self.unsent[MAX_PIECE_CHARS:]
        os.write(1, (json.dumps({"piece": piece}) + "\n").encode())


def profile(kind: str, path: str) -> int:
    """Runs the script, and answers requests for the profile after its end too."""
    script, folder = os.path.realpath(path), os.path.join(os.path.realpath(os.getcwd()), "")
    source = os.environ.get("AGON_BOT_SOURCE", "")
    files = BotFiles(folder, source)
    if not files.has(script):
        # The command names a script outside the folder in which it runs.
        files = BotFiles(os.path.join(os.path.dirname(script), ""))
    profiler = PROFILERS[kind](files)
    measured = MeasuredInput(profiler)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(measured), "utf-8")
    code = load_script(path)
    profiler.begin()
    try:
        run_script(code, path)
    except SystemExit:
        pass
    finally:
        profiler.end()
        sys.stdout.flush()
    # What the bot has not read is no request for it any more.
    while measured.receive(1 << 16):
        pass
    return 0


def main() -> None:
    """Reads the command line."""
    arguments: List[str] = sys.argv[1:]
    if len(arguments) < 2 or arguments[0] not in ("debug", *PROFILERS):
        print("usage: debug|functions|lines SCRIPT ARGUMENTS", file=sys.stderr)
        sys.exit(2)
    mode, path = arguments[0], arguments[1]
    code = debug(path) if mode == "debug" else profile(mode, path)
    os._exit(code)
