"""The check of a Solitude Scramble bot's source."""

from __future__ import annotations

import ast
import os
from typing import Any, Dict, Iterator, List, Optional

from ...check_findings import Finding, Source, imported_or_assigned
from ...loading import Target
from . import ENTRY_FUNCTION
from .forbidden_names import find_forbidden_names
from .solitude_args import SolitudeArgs

HINT = f"write def {ENTRY_FUNCTION}(state, match_history)"


def find_candidates(sources: List[Source]) -> List[Dict[str, Any]]:
    """The files with the name that every bot must have."""
    named = [source for source in sources if os.path.basename(source.name) == SolitudeArgs.SOURCE_FILE]
    return [{"file": source.name, "class": None, "same_name": True} for source in named]


def find_roles(sources: List[Source], wanted: Optional[str]) -> List[str]:
    """None: all bots have the same role."""
    return []


def find_problems(sources: List[Source], target: Target) -> Iterator[Finding]:
    """Forbidden names in all files, and a wrong signature of the bot's function."""
    is_folder = os.path.isdir(target.path)
    for source in sources:
        if source.tree is not None:
            yield from find_forbidden_names(source.tree, source.name)
    for source in sources:
        is_bot = source.name == SolitudeArgs.SOURCE_FILE or (not is_folder and source.path == target.path)
        if is_bot and source.tree is not None:
            yield from check_signature(source.tree, source.name)


def check_signature(tree: ast.Module, file: str) -> Iterator[Finding]:
    """`get_action` must take two parameters, if the file defines it with `def`."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    defined = [node for node in tree.body if isinstance(node, functions) and node.name == ENTRY_FUNCTION]
    bound = imported_or_assigned(tree)
    if not defined and ENTRY_FUNCTION not in bound and "*" not in bound:
        yield Finding(True, "signature", f"has no function {ENTRY_FUNCTION}", file, None, None, HINT)
    for node in defined[-1:]:
        most = len(node.args.posonlyargs) + len(node.args.args)
        least = most - len(node.args.defaults)
        needed = [arg for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults) if default is None]
        if isinstance(node, ast.AsyncFunctionDef):
            what = f"{ENTRY_FUNCTION} is an async function"
        elif least > 2 or (most < 2 and not node.args.vararg) or needed:
            what = f"{ENTRY_FUNCTION} takes {most} parameters, not 2"
        else:
            continue
        yield Finding(True, "signature", what, file, node.lineno, node.col_offset + 1, HINT)


def find_advice(sources: List[Source], wanted: Optional[str]) -> Iterator[Finding]:
    """Global variables that a bot changes, because the change is lost after the call."""
    for source in sources:
        for node in ast.walk(source.tree) if source.tree is not None else ():
            if isinstance(node, ast.Global):
                what = f"changes the global {', '.join(node.names)}; nothing is kept from one call to the next"
                hint = "use match_history instead"
                yield Finding(False, "advice", what, source.name, node.lineno, node.col_offset + 1, hint)
