"""Seating a bot that forgets: trying it, executing its file, and seeing to it that nothing goes on between calls.
(Imports little: see `lean.py`.)"""

from __future__ import annotations

import os
import sys

import _signal

from .jsons import import_json_from
from .packages import Module
from .remains import end_children, how_it_ended, open_descriptors, shared_memory, threads
from .tinyjson import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

    Message = Dict[str, Any]

# Kept by name: a bot may replace it where it finds it.
_exit = os._exit


def check(target: str, hello: Message) -> Message:
    """Loads the bot in a fork that imports what it likes: what is wrong with it, or how to load it here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            from .stateless import examine

            data = examine(target, hello)
            while data:
                data = data[os.write(writer, data) :]
        finally:
            _exit(0)
    os.close(writer)
    data = b""
    while True:
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        data += chunk
    os.close(reader)
    _, status = os.waitpid(child, 0)
    end_children()
    try:
        found = loads(data.decode())
        return found if type(found) is dict else {"error": {"what": "says what no bot would say"}}
    except ValueError:
        return {"error": {"what": f"ends while it is loaded: {how_it_ended(status)}", "file": "Submission.py"}}


def execute(file: str, name: str) -> Any:
    """Executes a bot's file as a module of this name."""
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


def settle(known: List[int]) -> None:
    """After the bot's file has run: nothing it opened stays, nothing it started goes on."""
    # What it opened leads nowhere now. Not just closed: the number would be given to something else, which the bot
    # would take for its own.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in set(open_descriptors()) - {*known, nowhere}:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    sys.settrace(None)
    sys.setprofile(None)
    # A handler would run here, between calls.
    for number in range(1, _signal.NSIG):
        try:
            if callable(_signal.getsignal(number)):
                _signal.signal(number, _signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    end_children()
    hint = "a bot must be stateless: start nothing outside get_action"
    if threads() > 1:
        raise_load_error("starts a thread while it is loaded", hint)
    if shared_memory():
        raise_load_error("makes shared memory while it is loaded", hint)


def raise_load_error(what: str, hint: str) -> None:
    """A bot that cannot be seated."""
    from .errors import LoadError

    raise LoadError(what, "Submission.py", None, hint)
