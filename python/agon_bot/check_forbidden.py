"""Imports of libraries that the competition forbids."""

from __future__ import annotations

import ast
from typing import Iterator, List, Sequence

from .check_findings import Finding

HINT = "do without it: the organiser of this competition has forbidden this library"


def find_forbidden_imports(tree: ast.Module, file: str, forbidden: Sequence[str]) -> Iterator[Finding]:
    """Every import of a forbidden library or of a part of it, also by `importlib` or inside a `try`. Relative imports are
    of the bot's own files."""
    for node in ast.walk(tree):
        for name in _imported(node):
            library = next((one for one in forbidden if name == one or name.startswith(f"{one}.")), None)
            if library is not None:
                what = f"imports {name}; this competition forbids {library}"
                line, column = getattr(node, "lineno", None), getattr(node, "col_offset", -1) + 1
                yield Finding(True, "forbidden", what, file, line, column, HINT)
                break


def _imported(node: ast.AST) -> List[str]:
    """The names of the modules that a node imports. `from x import y` imports x, and y may be a module of it."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Call):
        return _called_with(node)
    return []


def _called_with(call: ast.Call) -> List[str]:
    """The module of `__import__("x")` or `importlib.import_module("x")`."""
    name = getattr(call.func, "id", None) or getattr(call.func, "attr", None)
    if name not in ("__import__", "import_module") or not call.args:
        return []
    first = call.args[0]
    return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
