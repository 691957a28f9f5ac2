"""Imports that would fail: modules that are not in the bot's folder, Python's library, NumPy or the game's library."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from typing import Iterator, List, Set

from .check_findings import Finding
from .errors import IMPORT_HINT, NUMPY_HINT


def find_missing_imports(tree: ast.Module, file: str, path: str, root: str, library: Set[str]) -> Iterator[Finding]:
    """Every import of the file that would fail, except those inside a `try`. `library` holds the game's modules."""
    tried = _inside_try(tree)
    for node in ast.walk(tree):
        if node in tried:
            continue
        if isinstance(node, ast.Import):
            wanted = [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            wanted = [(name, node.level) for name in _imported_modules(node)]
        else:
            continue
        for name, level in wanted:
            if set(name.split(".")) & library:
                continue
            there = _relative_origin(name, level, path, root) if level else _origin(name, path, root)
            if there == "missing":
                dots = "." * level
                what = f"imports {dots}{name}, and there is no such module"
                hint = IMPORT_HINT
                if not level and name.split(".")[0] == "numpy":
                    what, hint = f"imports {name}, and NumPy is not installed", NUMPY_HINT
                yield Finding(True, "import", what, file, node.lineno, node.col_offset + 1, hint)
            elif there == "foreign":
                what = f"imports {name}, which is here but belongs to neither Python nor NumPy"
                hint = "where the competition runs it may be missing"
                yield Finding(False, "import", what, file, node.lineno, node.col_offset + 1, hint)


def _imported_modules(node: ast.ImportFrom) -> List[str]:
    """The modules of `from x import y`: x, or each y of `from . import y`."""
    return [node.module] if node.module else [alias.name for alias in node.names if alias.name != "*"]


def _inside_try(tree: ast.Module) -> Set[ast.AST]:
    """The nodes inside a `try` that has an `except`."""
    tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers]
    return {inner for node in tries for part in node.body for inner in ast.walk(part)}


def _origin(name: str, path: str, root: str) -> str:
    """Where a module would come from: `own`, `python`, `foreign` or `missing`."""
    top = name.split(".")[0]
    if any(_is_module(folder, top) for folder in (os.path.dirname(path), root)):
        return "own"
    if top == os.path.splitext(os.path.basename(path))[0] or top in ("robots", os.path.basename(root)):
        return "own"
    if top in sys.builtin_module_names or top in getattr(sys, "stdlib_module_names", ()) or top == "__future__":
        return "python"
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return "missing"
    standard = os.path.dirname(os.path.realpath(os.__file__))
    origin = os.path.realpath(spec.origin or "")
    is_python = origin.startswith(standard + os.sep) and "-packages" not in origin
    return "python" if is_python or top == "numpy" else "foreign"


def _relative_origin(name: str, level: int, path: str, root: str) -> str:
    """Where a relative import comes from. An import from above the submission finds only the game's modules."""
    folder = os.path.dirname(path)
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    inside = os.path.realpath(folder) + os.sep
    if not inside.startswith(os.path.realpath(root) + os.sep):
        return "missing"
    # Any name in a package's `__init__.py` is accepted: `from . import version`.
    package = os.path.isfile(os.path.join(folder, "__init__.py"))
    return "own" if package or _is_module(folder, name.split(".")[0]) else "missing"


def _is_module(folder: str, name: str) -> bool:
    there = os.path.join(folder, name)
    return os.path.isfile(f"{there}.py") or os.path.isfile(f"{there}.json") or os.path.isdir(there)
