"""Loads a stateless bot: tries it in a fork, executes its file, and makes sure that nothing runs between calls.
(Imports little: see `stateless_session.py`.)"""

from __future__ import annotations

import os
import sys

import _signal

from .errors import LoadError
from .games import call_arguments
from .json_imports import import_json_from
from .process_cleanup import OwnFigures, exit_description, open_descriptors, read_until_exit
from .tinyjson import loads
from .virtual_packages import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List

    Message = Dict[str, Any]

# Kept under a name of this module: a bot may replace the original.
_exit = os._exit


def check_loadable(
    game: str, target: str, hello: Message, figures: OwnFigures, restrict: Callable[[], None], sweep: bool = True
) -> Message:
    """Loads the bot in a fork that may import anything, after `restrict`. Returns the error, or what is needed to load
    the bot here. Afterwards nothing of the fork is left. The host limits the time."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            restrict()
            from .stateless import check_target

            data = check_target(game, target, hello, sweep)
            while data:
                data = data[os.write(writer, data) :]
        finally:
            _exit(0)
    os.close(writer)
    data = read_until_exit(reader, child)
    _, status = os.waitpid(child, 0)
    figures.kill_children()
    try:
        found = loads(data.decode())
        if type(found) is dict:
            return found
        return {"error": {"what": "the trial load returned something else than an object"}}
    except ValueError:
        what = f"ends while it is loaded: {exit_description(status)}"
        return {"error": {"what": what, "file": call_arguments(game).SOURCE_FILE}}


def execute(file: str, name: str) -> Any:
    """Executes a bot's file as a module with this name."""
    with open(file, "rb") as source:
        code = compile(source.read(), file, "exec", dont_inherit=True)
    module = Module(name)
    module.__file__ = file
    module.__package__ = name.rpartition(".")[0]  # type: ignore[assignment]
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(file))
    import_json_from(os.path.dirname(file))
    sys.modules.setdefault(os.path.basename(file)[: -len(".py")], module)
    sys.argv[:] = [file]
    exec(code, module.__dict__)
    return module


def forbid_background_work(
    known: List[int], file: str, function: str, figures: OwnFigures, sweep: bool = True
) -> List[int]:
    """Runs after the bot's file was executed: redirects what it opened and stops what it started. Raises an error if
    the bot has processes or threads, with `sweep`. Returns the descriptors that it had open."""
    # Redirected to /dev/null instead of closed: a closed number would be reused for another file, which the bot would
    # take for its own.
    nowhere = os.open(os.devnull, os.O_RDWR)
    opened = set(open_descriptors()) - {*known, nowhere}
    for descriptor in opened:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    sys.settrace(None)
    sys.setprofile(None)
    # A signal handler would run in this process, between calls.
    for number in range(1, _signal.NSIG):
        try:
            if callable(_signal.getsignal(number)):
                _signal.signal(number, _signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    if not sweep:
        return sorted(opened)
    hint = stateless_hint(function)
    if not figures.kill_children():
        raise LoadError("starts a process while it is loaded", file, None, hint)
    if figures.thread_count() > 1:
        raise LoadError("starts a thread while it is loaded", file, None, hint)
    return sorted(opened)


def reject_shared_memory(file: str, function: str, figures: OwnFigures) -> None:
    """Raises an error if the bot has memory that its forks would share."""
    if figures.has_shared_memory():
        raise LoadError("makes shared memory while it is loaded", file, None, stateless_hint(function))


def stateless_hint(function: str) -> str:
    """What a bot must do that started something while it was loaded."""
    return f"a bot must be stateless: start nothing outside {function}"
