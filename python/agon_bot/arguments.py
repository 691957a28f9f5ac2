"""`python -m agon_bot.arguments GAME PATH[:Class]` plays a bot and reports with which arguments its function is called.
After the message `show` the next call is observed; the message `arguments` fetches the result."""

from __future__ import annotations

import os
import pprint
import sys
from types import FrameType
from typing import Any, Dict, List, Optional

from .games import game_part
from .games.base import Message, Shim
from .in_process_session import BotFiles, InProcessSession, bot_root
from .session import outcome

MAX_VALUE_CHARS = 1500
MAX_ATTRIBUTES = 12
"""Maximum number of attributes of the bot that are shown."""
WIDTH = 100

Argument = Dict[str, str]


def describe(value: Any) -> str:
    """A value as its author would print it, at most `MAX_VALUE_CHARS` long."""
    try:
        if type(value).__repr__ is object.__repr__ and hasattr(value, "__dict__"):
            attributes = ", ".join(f"{name}={part!r}" for name, part in vars(value).items())
            text = f"{type(value).__name__}({attributes})"
        else:
            text = pprint.pformat(value, width=WIDTH)
    except Exception as error:  # the repr of a bot's own class
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= MAX_VALUE_CHARS else text[:MAX_VALUE_CHARS] + " ..."


def arguments_of(frame: FrameType) -> List[Argument]:
    """The arguments of a call that has just begun. Of `self`, the public attributes are shown."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found: List[Argument] = []
    for position, name in enumerate(names):
        value = frame.f_locals.get(name)
        if position == 0 and hasattr(type(value), code.co_name):
            public = [item for item in vars(value).items() if not item[0].startswith("_")] if hasattr(value, "__dict__") else []
            found += [{"name": f"{name}.{attribute}", "value": describe(part)} for attribute, part in public[:MAX_ATTRIBUTES]]
        else:
            found.append({"name": name, "value": describe(value)})
    return found


class ArgumentObserver:
    """Keeps the arguments of the first call of the bot's function."""

    def __init__(self, files: BotFiles, function: str) -> None:
        self.files = files
        self.function = function
        self.found: Optional[List[Argument]] = None

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if self.found is None and frame.f_code.co_name == self.function and self.files.has(frame.f_code.co_filename):
            self.found = arguments_of(frame)
            sys.settrace(None)


class ArgumentSession(InProcessSession):
    """A session that observes one call."""

    observe_next = False
    found: Optional[List[Argument]] = None

    def reply(self, message: Message) -> Message:
        if message.get("type") == "show":
            self.observe_next = True
            return {}
        if message.get("type") == "arguments":
            return {"arguments": self.found}
        return super().reply(message)

    def ask(self, shim: Shim, message: Message) -> Message:
        if not self.observe_next:
            return outcome(shim, message)
        self.observe_next = False
        files = BotFiles(bot_root(shim), os.environ.get("AGON_BOT_SOURCE", ""))
        observer = ArgumentObserver(files, game_part(shim.game, "ENTRY_FUNCTION"))
        sys.settrace(observer)
        try:
            return outcome(shim, message)
        finally:
            sys.settrace(None)
            self.found = observer.found


def main(arguments: List[str]) -> int:
    """Reads the command line."""
    from .__main__ import prepare_environment
    from .channel import from_environment
    from .loading import Target
    from .streams import flush

    prepare_environment()
    if len(arguments) != 2:
        print("usage: python -m agon_bot.arguments GAME PATH[:Class]", file=sys.stderr)
        return 2
    code = ArgumentSession(from_environment(), arguments[0], Target.parse(arguments[1])).run()
    flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
