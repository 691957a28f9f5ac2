"""The Python API of Solitude Scramble: `get_action(state, match_history)` of `Submission.py`. Nothing is kept from one
call to the next: see `stateless.py`."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, Tuple

from ... import loading
from ...errors import LoadError
from ..base import Message, StatelessShim
from . import ENTRY_FUNCTION
from .solitude_args import SolitudeArgs

FILE = SolitudeArgs.SOURCE_FILE
HINT = f"write def {ENTRY_FUNCTION}(state, match_history)"


class SolitudeScramble(StatelessShim):
    """A Solitude Scramble bot. `stateless.ForkPerCall` runs each call in a fork."""

    def prepare(self, hello: Message) -> None:
        """Checks what can be checked without running the bot."""
        self.names: List[str] = [str(name) for name in hello.get("names") or []]
        self.file = loading.choose_file(
            self.target, lambda tree, file: True, f"def {ENTRY_FUNCTION}(state, match_history)", FILE
        )
        tree = loading.parse(self.file, self.target.root or self.target.path)
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        defined = [node for node in ast.walk(tree) if isinstance(node, functions) and node.name == ENTRY_FUNCTION]
        if any(isinstance(node, ast.AsyncFunctionDef) for node in defined):
            what = f"{ENTRY_FUNCTION} is an async function"
            raise LoadError(what, FILE, defined[0].lineno, "write def, not async def")

    def load(self, hello: Message) -> Message:
        self.prepare(hello)
        loaded = loading.execute(self.file, self.target.root)
        self.root = loaded.root
        function = getattr(loaded.module, ENTRY_FUNCTION, None)
        if not callable(function):
            raise LoadError(f"has no function {ENTRY_FUNCTION}", loaded.display_name, None, HINT)
        code = getattr(function, "__code__", None)
        # `*args` (flag 4) takes any number.
        if (
            code is not None
            and not code.co_flags & 4
            and (code.co_argcount < 2 or code.co_argcount - len(function.__defaults__ or ()) > 2)
        ):
            raise LoadError(
                f"{ENTRY_FUNCTION} takes {code.co_argcount} parameters, not 2",
                loaded.display_name,
                code.co_firstlineno,
                HINT,
            )
        self.function: Callable[[Dict[str, Any], List[Dict[str, Any]]], Any] = function
        return {"name": None, "contributor": None}

    def on_hello(self, hello: Message) -> None:
        super().on_hello(hello)
        self.names = [str(name) for name in hello.get("names") or []]

    def turn(self, message: Message) -> str:
        return self.decide(*self.arguments(message))

    def arguments(self, message: Message) -> Tuple[Dict[str, Any], List[Dict[str, Any]]]:
        """The arguments of the bot's function."""
        return SolitudeArgs.from_observation(message["observation"], self.names)

    def decide(self, state: Dict[str, Any], history: List[Dict[str, Any]]) -> str:
        """Calls the bot's function."""
        return SolitudeArgs.read_answer(self.function(state, history))
