"""`python -m agon_bot.debugging GAME PATH[:Class]` plays a bot in its author's terminal. Standard input and output
belong to the terminal; the protocol runs on `AGON_IN` and `AGON_OUT`. After the message `break` the next call stops in
pdb, at the first line of the bot's function."""

from __future__ import annotations

import os
import pdb
import sys
from types import FrameType
from typing import Any, Callable, Optional

from .games import game_part
from .games.base import Message, Shim
from .in_process_session import BotFiles, InProcessSession, bot_root
from .session import outcome

Trace = Optional[Callable[[FrameType, str, Any], Any]]


def attach_debugger(port: int) -> Optional[str]:
    """Waits until the debugger of an editor is attached (debugpy). Returns why that is not possible."""
    try:
        import debugpy  # type: ignore[import-not-found]
    except ImportError:
        return f"debugpy is not installed for {sys.executable}"
    try:
        debugpy.listen(("127.0.0.1", port))
    except (OSError, RuntimeError) as error:
        return f"debugpy cannot listen on port {port}: {error}"
    print(f"waiting for a debugger on 127.0.0.1:{port}", file=sys.stderr, flush=True)
    debugpy.wait_for_client()
    return None


class Debugger(pdb.Pdb):
    """pdb that remembers whether the user quit, to tell this from an error of the bot."""

    quit_requested = False

    def set_quit(self) -> None:
        self.quit_requested = True
        super().set_quit()


class EntryBreakpoint:
    """Starts pdb when the bot's function is called."""

    def __init__(self, files: BotFiles, function: str) -> None:
        self.files = files
        self.function = function
        self.debugger = Debugger(nosigint=True)

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Trace:
        code = frame.f_code
        if code.co_name != self.function or not self.files.has(code.co_filename):
            return None
        self.debugger.reset()
        self.debugger.set_step()
        sys.settrace(self.debugger.trace_dispatch)
        return self.debugger.trace_dispatch(frame, event, arg)


class DebugSession(InProcessSession):
    """A session with a bot under the debugger."""

    break_next = False

    def reply(self, message: Message) -> Message:
        if message.get("type") == "break":
            self.break_next = True
            return {}
        if message.get("type") == "attach":
            problem = attach_debugger(int(os.environ["AGON_ATTACH_PORT"]))
            return {"problem": problem} if problem else {}
        return super().reply(message)

    def ask(self, shim: Shim, message: Message) -> Message:
        if not self.break_next:
            return outcome(shim, message)
        self.break_next = False
        stop = EntryBreakpoint(BotFiles(bot_root(shim)), game_part(shim.game, "ENTRY_FUNCTION"))
        sys.settrace(stop)
        try:
            reply = outcome(shim, message)
        finally:
            sys.settrace(None)
        return {"quit": True} if stop.debugger.quit_requested else reply


def main() -> int:
    """Reads the command line."""
    from .__main__ import prepare_environment
    from .channel import Channel
    from .loading import Target

    prepare_environment()
    if len(sys.argv) != 3 or not {"AGON_IN", "AGON_OUT"} <= set(os.environ):
        print("usage: AGON_IN=N AGON_OUT=N python -m agon_bot.debugging GAME PATH[:Class]", file=sys.stderr)
        return 2
    channel = Channel(int(os.environ.pop("AGON_IN")), int(os.environ.pop("AGON_OUT")))
    return DebugSession(channel, sys.argv[1], Target.parse(sys.argv[2])).run()


if __name__ == "__main__":
    sys.exit(main())
