"""The check of a Colour Battle bot's source."""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, List, Optional

from ...check_findings import Finding, Source, class_candidates, missing_method_advice
from ...loading import Target
from . import ENTRY_FUNCTION

OTHERWISE = "they return what the tables show as Name and Contributor"
THREAD_MODULES = ("threading", "multiprocessing", "concurrent", "_thread")


def find_candidates(sources: List[Source]) -> List[Dict[str, Any]]:
    """The files with a class that has the method."""
    return class_candidates(sources, ENTRY_FUNCTION)


def find_roles(sources: List[Source], wanted: Optional[str]) -> List[str]:
    """None: all bots have the same role."""
    return []


def find_problems(sources: List[Source], target: Target) -> Iterator[Finding]:
    """None: loading the bot finds its problems."""
    return iter(())


def find_advice(sources: List[Source], wanted: Optional[str]) -> Iterator[Finding]:
    """Imports of threads, and methods that the competition's document asks for."""
    for source in sources:
        if source.tree is None:
            continue
        for node in ast.walk(source.tree):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            for name in names:
                if name.split(".")[0] in THREAD_MODULES:
                    what = f"imports {name}; the rules allow one thread only"
                    hint = "do without: other threads are paused together with the bot"
                    yield Finding(False, "advice", what, source.name, node.lineno, node.col_offset + 1, hint)
        yield from missing_method_advice(
            source, wanted, ENTRY_FUNCTION, ("get_name", "get_contributor"), OTHERWISE
        )
