"""What went wrong, in words an author can use: what, in which file, on which line, and what to do."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import traceback
    from types import TracebackType
    from typing import Any, Dict, List, Optional

MAX_CRASH_BYTES = 8 * 1024
"""The host keeps so many bytes of a bot's own words; the end of a traceback says most, so the end is kept."""


class LoadError(Exception):
    """A bot that cannot be seated: found before any game starts."""

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
        """The error as it travels to the host. Keys without a value are left out."""
        fields = {"what": self.what, "file": self.file, "line": self.line, "hint": self.hint, "trace": self.trace}
        return {name: value for name, value in fields.items() if value}

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        return where + self.what + (f" (hint: {self.hint})" if self.hint else "")


class AnswerFault(Exception):
    """The bot's answer cannot be passed on: `illegal` or `garbled`, with the reason."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message


def garbled(message: str) -> AnswerFault:
    """Not an answer at all."""
    return AnswerFault("garbled", message)


def illegal(message: str) -> AnswerFault:
    """Well-formed, not allowed."""
    return AnswerFault("illegal", message)


def one_line(text: str, most: int = 500) -> str:
    """The text without line breaks and control characters, cut to size."""
    clean = "".join(c if c.isprintable() else " " for c in text[: 4 * most])
    clean = " ".join(clean.split())
    return clean if len(clean) <= most else clean[: most - 3] + "..."


def type_name(value: object) -> str:
    """The name of a value's real type, whatever its class or metaclass pretends."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def exception_text(error: BaseException) -> str:
    """`ValueError: no such column`, even if the exception's own `__str__` fails."""
    try:
        text = str(error)
    except BaseException:  # a bot's exception may raise anything here
        text = "(its text could not be read)"
    name = type_name(error)
    return f"{name}: {text[:2000]}" if text else name


def bot_frames(trace: Optional[TracebackType], root: str) -> List[traceback.FrameSummary]:
    """The frames of a traceback that lie in the bot's own files."""
    import traceback  # only now: most bots never need it

    frames = traceback.extract_tb(trace, limit=-200) if trace else []
    return [frame for frame in frames if path_in_bot_folder(frame.filename, root) is not None]


def path_in_bot_folder(file: str, root: str) -> Optional[str]:
    """A file's name seen from the bot's folder; `None` if it is not below it. By its path as it stands, for a folder of
    the bot's may be a link to where it really is, else by where it really is."""
    for whole in (os.path.abspath, os.path.realpath):
        path, home = whole(file), os.path.join(whole(root), "")
        if path.startswith(home):
            return path[len(home) :]
    return None


def crash_text(error: BaseException, root: str) -> str:
    """Type, text and the lines of the bot's own files on the way there: at most the last 8 KiB. File names are
    shown from the bot's folder on, so that no path of the machine gets into a record."""
    lines = []
    for frame in bot_frames(error.__traceback__, root):
        name = path_in_bot_folder(frame.filename, root)
        lines.append(f'File "{name}", line {frame.lineno}, in {frame.name}')
        if frame.line:
            lines.append(f"    {frame.line}")
    text = "\n".join([*lines, exception_text(error)])
    return text.encode("utf-8", "backslashreplace")[-MAX_CRASH_BYTES:].decode("utf-8", "ignore")


def fault_of(error: BaseException, root: str) -> Dict[str, Any]:
    """What goes into the record for an exception. By its real type: its `__class__` may say anything."""
    if issubclass(type(error), AnswerFault):
        return {"fault": error.fault, "says": error.message}  # type: ignore[attr-defined]
    return {"fault": "crash", "says": crash_text(error, root)}


def load_error(error: BaseException, root: str, file: str) -> LoadError:
    """An exception while the bot's file was read or executed, pinned to the line of the bot that caused it."""
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
    words = exception_text(error)
    if isinstance(error, ImportError):
        hint = "only Python's own library, NumPy and files beside the bot can be imported"
        return LoadError(f"an import fails: {words}", shown, line, hint, crash_text(error, root))
    return LoadError(f"fails while it is loaded: {words}", shown, line, "", crash_text(error, root))
