"""`python -m agon_bot.check GAME PATH[:Class]` says what a bot's source says, without running a line of it: one line of
JSON with `files`, `candidates`, `roles`, `findings` and `left_out`.

A finding is `bad` (the bot would not be accepted) or a piece of advice. All of them are told, not only the first.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set

from .check_imports import missing_imports
from .check_words import forbidden_words
from .errors import LoadError, one_line
from .loading import Target, classes_with, parse, same_name

METHODS = {"colour-battle": "determine_next_move", "connect-five": "get_move", "hide-and-seek": "move"}
SKIPPED = ("data", "logs", "node_modules", "venv")
MOST_FILES = 1000
MOST_FINDINGS = 50


class Source(NamedTuple):
    """A file of the submission: its name seen from the folder, and its syntax tree if it parses."""

    name: str
    path: str
    tree: Optional[ast.Module]


class Finding(NamedTuple):
    """Something an author should know."""

    bad: bool
    kind: str
    what: str
    file: str
    line: Optional[int]
    column: Optional[int]
    hint: str


def python_files(folder: str) -> Iterator[str]:
    """All Python files below a folder, those that come first by name first. Folders may be links (see the host's
    views); none is entered twice."""
    entered: Set[str] = set()
    for at, folders, names in os.walk(folder, followlinks=True):
        if os.path.realpath(at) in entered:
            folders[:] = []
            continue
        entered.add(os.path.realpath(at))
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__")) and f not in SKIPPED)
        yield from (os.path.join(at, name) for name in sorted(names) if name.endswith(".py"))


def beside(file: str) -> List[str]:
    """A file, and the modules beside it that it imports, and those that they import."""
    folder = os.path.dirname(file)
    found: List[str] = []
    open_files = [file]
    while open_files and len(found) < MOST_FILES:
        path = open_files.pop(0)
        if path in found:
            continue
        found.append(path)
        try:
            tree = parse(path, folder)
        except LoadError:
            continue
        for name in imported_names(tree):
            module = os.path.join(folder, *name.split("."))
            open_files += [p for p in (f"{module}.py", os.path.join(module, "__init__.py")) if os.path.isfile(p)]
    return found


def imported_names(tree: ast.Module) -> Set[str]:
    """Names of modules that might be files beside the bot's."""
    names: Set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = f"{node.module}." if node.module else ""
            names.update([node.module or "", *(prefix + alias.name for alias in node.names)])
    return names - {""}


def read(path: str, folder: str, findings: List[Finding]) -> Source:
    """A file with its syntax tree. What does not parse is a finding."""
    name = os.path.relpath(path, folder)
    try:
        with open(path, "rb") as source:
            return Source(name, path, ast.parse(source.read(), path))
    except SyntaxError as error:
        what = f"does not parse: {error.msg}"
        findings.append(Finding(True, "syntax", what, name, error.lineno, error.offset, "mend the syntax"))
    except (ValueError, RecursionError, MemoryError) as error:
        what = f"does not parse: {one_line(str(error)) or type(error).__name__}"
        findings.append(Finding(True, "syntax", what, name, None, None, "save it as UTF-8 text"))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        findings.append(Finding(True, "syntax", what, name, None, None, "may it be read?"))
    return Source(name, path, None)


def check_get_action(source: Source) -> Iterator[Finding]:
    """`get_action` with two parameters, if it is defined in plain sight."""
    tree = source.tree
    if tree is None:
        return
    defined = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == "get_action"]
    hint = "write def get_action(state, match_history)"
    bound = imported_or_assigned(tree)
    if not defined and "get_action" not in bound and "*" not in bound:
        yield Finding(True, "signature", "has no function get_action", source.name, None, None, hint)
    for node in defined[-1:]:
        most = len(node.args.posonlyargs) + len(node.args.args)
        least = most - len(node.args.defaults)
        needed = [arg for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults) if default is None]
        if isinstance(node, ast.AsyncFunctionDef):
            what = "get_action is an async function"
        elif least > 2 or (most < 2 and not node.args.vararg) or needed:
            what = f"get_action takes {most} parameters, not 2"
        else:
            continue
        yield Finding(True, "signature", what, source.name, node.lineno, node.col_offset + 1, hint)


def imported_or_assigned(tree: ast.Module) -> Set[str]:
    """Names a module binds otherwise than by def."""
    names: Set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def candidates(game: str, sources: List[Source]) -> List[Dict[str, Any]]:
    """The files that could be the bot's."""
    if game == "solitude-scramble":
        named = [s for s in sources if os.path.basename(s.name) == "Submission.py"]
        return [{"file": s.name, "class": None, "same_name": True} for s in named]
    found = []
    for source in sources:
        if source.tree is None:
            continue
        stem = os.path.splitext(os.path.basename(source.name))[0]
        names = [name for name, _ in classes_with(source.tree, METHODS[game])]
        alike = [name for name in names if same_name(name, stem)]
        if names:
            found.append({"file": source.name, "class": (alike or names)[0], "same_name": bool(alike)})
    return found


def roles(game: str, sources: List[Source], wanted: Optional[str]) -> List[str]:
    """The roles the bot has a class for. A class that was asked for by another name may play both."""
    if game != "hide-and-seek":
        return []
    if wanted is not None:
        return [wanted.lower()] if wanted in ("Seeker", "Hider") else ["seeker", "hider"]
    from .games.hide import mend

    sys.stderr = open(os.devnull, "w")  # what it mends is told when the bot is loaded
    own = {name for s in sources if s.tree is not None for name, _ in classes_with(mend(s.tree), METHODS[game])}
    return [name.lower() for name in ("Seeker", "Hider") if name in own]


def advice(game: str, sources: List[Source], wanted: Optional[str]) -> Iterator[Finding]:
    """What costs nothing today and surprises later."""
    for source in sources:
        if source.tree is None:
            continue
        for node in ast.walk(source.tree):
            if game == "colour-battle" and isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                for name in names:
                    if name.split(".")[0] in ("threading", "multiprocessing", "concurrent", "_thread"):
                        what = f"imports {name}; the rules allow one thread only"
                        hint = "do without: other threads are held still with the bot"
                        yield Finding(False, "advice", what, source.name, node.lineno, node.col_offset + 1, hint)
            if game == "solitude-scramble" and isinstance(node, ast.Global):
                what = f"changes the global {', '.join(node.names)}; nothing is kept from one call to the next"
                yield Finding(
                    False, "advice", what, source.name, node.lineno, node.col_offset + 1, "use match_history instead"
                )
        if game in ("connect-five", "colour-battle"):
            yield from class_advice(game, source, wanted)


def class_advice(game: str, source: Source, wanted: Optional[str]) -> Iterator[Finding]:
    """Methods and names that the documents ask for and no game depends on."""
    assert source.tree is not None
    stem = os.path.splitext(os.path.basename(source.name))[0]
    asked = {"connect-five": ["train"], "colour-battle": ["get_name", "get_contributor"]}[game]
    has = {method: [name for name, _ in classes_with(source.tree, method)] for method in asked}
    classes = [(n, line) for n, line in classes_with(source.tree, METHODS[game]) if wanted in (None, n)]
    for name, line in classes:
        missing = [method for method in asked if name not in has[method]]
        if missing and not foreign_base(source.tree, name):
            what = f"class {name} has no {' and no '.join(missing)}"
            hint = f"the rules ask for def {missing[0]}(self)"
            yield Finding(False, "advice", what, source.name, line, None, hint)
    if game == "connect-five" and len(classes) == 1 and classes[0][0] != stem:
        what = f"class {classes[0][0]} is not named like its file"
        yield Finding(False, "advice", what, source.name, classes[0][1], None, f"call the file {classes[0][0]}.py")


def foreign_base(tree: ast.Module, name: str) -> bool:
    """Whether a class has a base from elsewhere, which may have any method."""
    known = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    node = known[name]
    return any(not (isinstance(base, ast.Name) and base.id in known) for base in node.bases)


def survey(game: str, target: Target) -> Dict[str, Any]:
    """Everything the source says."""
    is_folder = os.path.isdir(target.path)
    folder = target.path if is_folder else os.path.dirname(target.path)
    paths = list(python_files(folder)) if is_folder else beside(target.path)
    findings: List[Finding] = []
    sources = [read(path, folder, findings) for path in paths[:MOST_FILES]]
    for source in sources:
        if source.tree is None:
            continue
        if game == "solitude-scramble":
            findings += [Finding(*found) for found in forbidden_words(source.tree, source.name)]
        findings += [Finding(*found) for found in missing_imports(source.tree, source.name, source.path, folder, game)]
    if game == "solitude-scramble":
        for source in sources:
            if source.name == "Submission.py" or not is_folder and source.path == target.path:
                findings += check_get_action(source)
    findings += advice(game, sources, target.wanted)
    findings.sort(key=lambda f: (not f.bad, f.file, f.line or 0, f.column or 0))
    return {
        "files": len(sources),
        "candidates": candidates(game, sources),
        "roles": roles(game, sources, target.wanted),
        "findings": [short(finding) for finding in findings[:MOST_FINDINGS]],
        "left_out": max(0, len(findings) - MOST_FINDINGS),
    }


def short(finding: Finding) -> Dict[str, Any]:
    """A finding as JSON: the whole survey must fit a line of 64 KiB."""
    fields = finding._asdict()
    return {key: one_line(text, 200) if isinstance(text, str) else text for key, text in fields.items()}


def main() -> int:
    """Reads the command line."""
    game, target = sys.argv[1], Target.parse(sys.argv[2])
    # A program nested a thousand levels deep is a finding, not the end.
    answer = survey(game, target)
    answer["candidates"] = answer["candidates"][:50]
    print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
