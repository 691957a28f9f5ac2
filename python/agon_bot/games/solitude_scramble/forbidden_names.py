"""Modules and functions that a Solitude Scramble bot must not use. The check helps honest authors; the sandbox enforces
safety."""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List, Optional, Set, Tuple

from ...check_findings import Finding

MODULES = frozenset(
    "os sys subprocess shutil pathlib importlib multiprocessing threading socket urllib http ctypes".split()
    + "posix fcntl resource".split()
)
CALLS = frozenset("open eval exec input __import__ compile".split())
MEMBERS = {"io": frozenset(["open", "FileIO"]), "codecs": frozenset(["open"])}
"""Members of modules that are allowed otherwise."""
HINT = "leave it out: a bot is asked for a move and uses no files, processes or network"


def find_forbidden_names(tree: ast.Module, file: str) -> Iterator[Finding]:
    """Each forbidden name, once for each place."""
    seen: Set[Tuple[int, int, str]] = set()
    for node, name, how in _uses(tree):
        place = (node.lineno, node.col_offset, name)
        if place not in seen:
            seen.add(place)
            yield Finding(True, "forbidden", f"{how} {name}, which is not allowed", file, place[0], place[1] + 1, HINT)


def _uses(tree: ast.Module) -> Iterator[Tuple[ast.expr | ast.stmt, str, str]]:
    """Places, names and how they are used."""
    bound = _bound(tree)
    modules = _module_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in MODULES:
                    yield node, alias.name.split(".")[0], "imports"
        elif isinstance(node, ast.ImportFrom):
            top = (node.module or "").split(".")[0]
            if node.level == 0 and top in MODULES:
                yield node, top, "imports"
            elif node.level == 0:
                yield from ((node, n, "imports") for n in _hidden(node, top))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id == "__builtins__" or (node.id in CALLS and node.id not in bound):
                yield node, node.id, "uses"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = modules.get(node.value.id)
            member = _forbidden_member(owner, node.attr) if owner else None
            if owner == "builtins" and node.attr in CALLS:
                yield node, node.attr, "uses"
            elif member:
                yield node, member, "uses"
            elif owner and node.attr.lstrip("_") in MODULES:
                # `random._os`: many modules hold other modules that they have imported.
                yield node, node.attr.lstrip("_"), "reaches"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            yield from ((node, word, "reaches") for word in _by_getattr(node, modules))


def _hidden(node: ast.ImportFrom, top: str) -> List[str]:
    """Forbidden names imported from another module: `from builtins import open`, `from io import open as read`,
    `from random import _os`."""
    names = [alias.name for alias in node.names]
    if top == "builtins":
        return [name for name in names if name in CALLS]
    if names == ["*"]:
        names = sorted(MEMBERS.get(top.lstrip("_"), ()))
    members = [member for member in (_forbidden_member(top, name) for name in names) if member]
    return members + [name.lstrip("_") for name in names if name.lstrip("_") in MODULES and name != "path"]


def _forbidden_member(module: str, name: str) -> Optional[str]:
    """The full name of a forbidden member of a module that is allowed otherwise: `io.open`. `_io` is `io`."""
    owner = module.lstrip("_")
    return f"{owner}.{name}" if name in MEMBERS.get(owner, ()) else None


def _by_getattr(node: ast.Call, modules: Dict[str, str]) -> List[str]:
    """Forbidden names in `getattr(builtins, "open")`."""
    if len(node.args) < 2 or not isinstance(node.args[0], ast.Name) or not isinstance(node.args[1], ast.Constant):
        return []
    word = node.args[1].value
    if node.args[0].id not in modules or not isinstance(word, str):
        return []
    member = _forbidden_member(modules[node.args[0].id], word)
    if member:
        return [member]
    return [word.lstrip("_") if word not in CALLS else word] if word in CALLS or word.lstrip("_") in MODULES else []


def _module_names(tree: ast.Module) -> Dict[str, str]:
    """The modules by their local names: `import random as r` gives `r` for `random`."""
    names: Dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = alias.name
    return names


def _bound(tree: ast.Module) -> Set[str]:
    """Names that the file itself defines: a parameter called `input` is not the function."""
    names: Set[str] = set()
    # `open = open` does not redefine it.
    same = {
        id(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == node.value.id
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in same:
            names.add(node.id)
    return names
