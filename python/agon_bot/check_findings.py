"""Sources and findings of a check, and functions that the checks of several games share."""

from __future__ import annotations

import ast
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set

from .loading import classes_with, same_name


class Source(NamedTuple):
    """A file of the submission: its path relative to the folder, its path, and its syntax tree if it parses."""

    name: str
    path: str
    tree: Optional[ast.Module]


class Finding(NamedTuple):
    """A problem (`bad`) or a piece of advice for the author."""

    bad: bool
    kind: str
    what: str
    file: str
    line: Optional[int]
    column: Optional[int]
    hint: str


def class_candidates(sources: List[Source], method: str) -> List[Dict[str, Any]]:
    """The files that have a class with this method."""
    found = []
    for source in sources:
        if source.tree is None:
            continue
        stem = os.path.splitext(os.path.basename(source.name))[0]
        names = [name for name, _ in classes_with(source.tree, method)]
        alike = [name for name in names if same_name(name, stem)]
        if names:
            found.append({"file": source.name, "class": (alike or names)[0], "same_name": bool(alike)})
    return found


def missing_method_advice(
    source: Source, wanted: Optional[str], method: str, expected: Sequence[str], otherwise: str
) -> Iterator[Finding]:
    """Methods that the competition's document mentions and no game depends on. `otherwise` says what happens without
    them."""
    assert source.tree is not None
    has = {name: [kind for kind, _ in classes_with(source.tree, name)] for name in expected}
    for name, line in classes_with(source.tree, method):
        missing = [method for method in expected if name not in has[method]]
        if wanted in (None, name) and missing and not has_foreign_base(source.tree, name):
            what = f"class {name} has no {' and no '.join(missing)}"
            hint = f"you may leave {' and '.join(missing)} out: {otherwise}"
            yield Finding(False, "advice", what, source.name, line, None, hint)


def has_foreign_base(tree: ast.Module, name: str) -> bool:
    """Whether a class has a base class from another file, which may have any method."""
    known = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    node = known[name]
    return any(not (isinstance(base, ast.Name) and base.id in known) for base in node.bases)


def imported_or_assigned(tree: ast.Module) -> Set[str]:
    """Names that a module binds by an import or an assignment."""
    names: Set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names
