"""Errors for authors of bots: what is wrong, in which file, on which line, and how to fix it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import traceback
    from types import TracebackType
    from typing import Any, Dict, List, Optional

MAX_CRASH_BYTES = 8 * 1024
"""Maximum length of a crash text. The end of a traceback says most, so the end is kept."""


IMPORT_HINT = "only Python's own library, NumPy and files beside the bot can be imported"
NUMPY_HINT = (
    "install NumPy for the Python that runs bots (python3 -m pip install numpy), or set AGON_PYTHON to one that "
    "has it; agon doctor shows both"
)
DEBUGGER_HINT = "no terminal in a game: record the game, then use agon debug RECORD --seat N --turn K --pdb"
PROCESS_HINT = "bots cannot start further processes or threads here; do the work in the bot's own process"
SEMAPHORE_HINT = (
    "bots have no shared memory, which locks, queues and pools of multiprocessing need; use multiprocessing.Pipe, "
    "or do the work in the bot's own process"
)
PROCESS_MODULES = ("multiprocessing", "concurrent", "subprocess.py", "threading.py")
"""Parts of the paths of the library's modules that start processes and threads."""


class LoadError(Exception):
    """The bot cannot be loaded. Found before any game starts."""

    def __init__(
        self, what: str, file: Optional[str] = None, line: Optional[int] = None, hint: str = "", trace: str = ""
    ) -> None:
        super().__init__(what)
        self.what = one_line(what)
        self.file = file
        self.line = line
        self.hint = hint
        self.trace = trace

    def to_json(self) -> Dict[str, Any]:
        """The error as it is sent to the host. Keys without a value are left out."""
        fields = {"what": self.what, "file": self.file, "line": self.line, "hint": self.hint, "trace": self.trace}
        return {name: value for name, value in fields.items() if value}

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        return where + self.what + (f" (hint: {self.hint})" if self.hint else "")


class AnswerFault(Exception):
    """The bot's answer is rejected as `illegal` or `garbled`, with the reason."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message


def garbled(message: str) -> AnswerFault:
    """An error for a value that is not an answer."""
    return AnswerFault("garbled", message)


def illegal(message: str) -> AnswerFault:
    """An error for a well-formed answer that is not allowed."""
    return AnswerFault("illegal", message)


def one_line(text: str, most: int = 500) -> str:
    """The text as one line without control characters, cut to `most` characters."""
    clean = "".join(c if c.isprintable() else " " for c in text[: 4 * most])
    clean = " ".join(clean.split())
    return clean if len(clean) <= most else clean[: most - 3] + "..."


def type_name(value: object) -> str:
    """The name of a value's real type, even if its class or metaclass lies."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def exception_text(error: BaseException) -> str:
    """Type and text of an exception, such as `ValueError: no such column`. Works even if the exception's `__str__`
    fails."""
    try:
        text = str(error)
    except BaseException:  # a bot's exception may raise anything here
        text = "(its text could not be read)"
    name = type_name(error)
    return f"{name}: {text[:2000]}" if text else name


def explanation(error: BaseException) -> str:
    """What the author should know about an exception that the host causes: a debugger without a terminal, or processes
    that cannot be started. Empty for other exceptions."""
    if type_name(error) == "BdbQuit":
        return f" ({DEBUGGER_HINT})"
    refused = issubclass(type(error), OSError) or (
        issubclass(type(error), RuntimeError) and "start new thread" in exception_text(error)
    )
    hint = _process_hint(error.__traceback__) if refused else ""
    return f" ({hint})" if hint else ""


def _process_hint(trace: Optional[TracebackType]) -> str:
    """The hint for a traceback that ends in the library's modules for processes and threads, or in a call of
    `os.fork`."""
    import traceback  # as below

    frames = traceback.extract_tb(trace, limit=-20) if trace else []
    files = [frame.filename.split("/") for frame in frames[-8:]]
    if ["multiprocessing", "synchronize.py"] in [file[-2:] for file in files]:
        return SEMAPHORE_HINT
    forks = bool(frames) and "os.fork" in (frames[-1].line or "")
    return PROCESS_HINT if forks or any(part in file for file in files for part in PROCESS_MODULES) else ""


def refuse_breakpoint(*arguments: Any, **options: Any) -> None:
    """Called by `breakpoint()` in a game, where a debugger would wait for a terminal that is not there."""
    raise RuntimeError(f"breakpoint(): {DEBUGGER_HINT}")


def bot_frames(trace: Optional[TracebackType], root: str) -> List[traceback.FrameSummary]:
    """The frames of a traceback that are in the bot's files."""
    import traceback  # imported here because most bots never need it

    frames = traceback.extract_tb(trace, limit=-200) if trace else []
    return [frame for frame in frames if path_in_bot_folder(frame.filename, root) is not None]


def path_in_bot_folder(file: str, root: str) -> Optional[str]:
    """A file's path relative to the bot's folder; `None` if it is not in it. Compares the paths as given first, because
    a folder of the bot may be a link, then the real paths."""
    for whole in (os.path.abspath, os.path.realpath):
        path, home = whole(file), os.path.join(whole(root), "")
        if path.startswith(home):
            return path[len(home) :]
    return None


def crash_text(error: BaseException, root: str) -> str:
    """Type and text of an exception, and the lines of the bot's files that led to it: at most the last 8 KiB. Paths are
    relative to the bot's folder, so that no path of the machine gets into a record."""
    lines = []
    for frame in bot_frames(error.__traceback__, root):
        name = path_in_bot_folder(frame.filename, root)
        lines.append(f'File "{name}", line {frame.lineno}, in {frame.name}')
        if frame.line:
            lines.append(f"    {frame.line}")
    text = "\n".join([*lines, exception_text(error) + explanation(error)])
    return text.encode("utf-8", "backslashreplace")[-MAX_CRASH_BYTES:].decode("utf-8", "ignore")


def fault_of(error: BaseException, root: str) -> Dict[str, Any]:
    """The fault that is recorded for an exception. Uses the exception's real type: its `__class__` may lie."""
    if issubclass(type(error), AnswerFault):
        return {"fault": error.fault, "says": error.message}  # type: ignore[attr-defined]
    return {"fault": "crash", "says": crash_text(error, root)}


def load_error(error: BaseException, root: str, file: str) -> LoadError:
    """The error for an exception raised while the bot's file was read or executed, with the bot's line that caused
    it."""
    shown = os.path.basename(file)
    if isinstance(error, LoadError):
        return error
    if isinstance(error, SyntaxError):
        name = path_in_bot_folder(error.filename or file, root) or shown
        return LoadError(f"does not parse: {error.msg}", name, error.lineno, "fix the syntax")
    frames = bot_frames(error.__traceback__, root)
    line = None
    if frames:
        shown = path_in_bot_folder(frames[-1].filename, root) or shown
        line = frames[-1].lineno
    words = exception_text(error) + explanation(error)
    if isinstance(error, ImportError):
        hint = NUMPY_HINT if (error.name or "").split(".")[0] == "numpy" else IMPORT_HINT
        return LoadError(f"an import fails: {words}", shown, line, hint, crash_text(error, root))
    return LoadError(f"fails while it is loaded: {words}", shown, line, "", crash_text(error, root))
