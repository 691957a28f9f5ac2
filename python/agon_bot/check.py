"""`python -m agon_bot.check GAME PATH[:Class] [LIBRARY...]` checks a bot's source without running it. It prints one line
of JSON with `files`, `candidates`, `roles`, `findings` and `left_out`. Imports of a LIBRARY are forbidden.

A finding is `bad` (the bot would be rejected) or a piece of advice. The report has all findings, not only the first
one.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from typing import Any, Dict, Iterator, List, Sequence, Set

from .check_findings import Finding, Source
from .check_forbidden import find_forbidden_imports
from .check_imports import find_missing_imports
from .errors import LoadError, one_line
from .games import game_part, source_check
from .loading import ENCODING_HINT, Target, encoding_problem, parse

SKIPPED_FOLDERS = ("data", "logs", "node_modules", "venv")
MAX_FILES = 1000
MAX_FINDINGS = 50
MAX_CANDIDATES = 50


def python_files(folder: str) -> Iterator[str]:
    """All Python files below a folder, sorted by name. Folders may be links, because the host shows a bot's files
    through links; no folder is entered twice."""
    entered: Set[str] = set()
    for at, folders, names in os.walk(folder, followlinks=True):
        if os.path.realpath(at) in entered:
            folders[:] = []
            continue
        entered.add(os.path.realpath(at))
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__")) and f not in SKIPPED_FOLDERS)
        yield from (os.path.join(at, name) for name in sorted(names) if name.endswith(".py"))


def with_imported_files(file: str) -> List[str]:
    """A file, the modules beside it that it imports, and the modules that those import."""
    folder = os.path.dirname(file)
    found: List[str] = []
    open_files = [file]
    while open_files and len(found) < MAX_FILES:
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
    """Names of imported modules that may be files beside the bot's file."""
    names: Set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = f"{node.module}." if node.module else ""
            names.update([node.module or "", *(prefix + alias.name for alias in node.names)])
    return names - {""}


def read(path: str, folder: str, findings: List[Finding]) -> Source:
    """A file with its syntax tree. A file that does not parse adds a finding."""
    name = os.path.relpath(path, folder)
    try:
        with open(path, "rb") as source:
            text = source.read()
        problem = encoding_problem(text)
        if problem is None:
            return Source(name, path, ast.parse(text, path))
        findings.append(Finding(True, "syntax", problem, name, None, None, ENCODING_HINT))
    except SyntaxError as error:
        what = f"does not parse: {error.msg}"
        findings.append(Finding(True, "syntax", what, name, error.lineno, error.offset, "fix the syntax"))
    except (ValueError, RecursionError, MemoryError) as error:
        what = f"does not parse: {one_line(str(error)) or type(error).__name__}"
        findings.append(Finding(True, "syntax", what, name, None, None, ENCODING_HINT))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        findings.append(Finding(True, "syntax", what, name, None, None, "check that the file is readable"))
    return Source(name, path, None)


def check_source(game: str, target: Target, forbidden: Sequence[str] = ()) -> Dict[str, Any]:
    """The report about a bot's source."""
    rules = source_check(game)
    library = set(game_part(game, "LIBRARY_MODULES"))
    is_folder = os.path.isdir(target.path)
    folder = target.path if is_folder else os.path.dirname(target.path)
    paths = list(python_files(folder)) if is_folder else with_imported_files(target.path)
    findings: List[Finding] = []
    sources = [read(path, folder, findings) for path in paths[:MAX_FILES]]
    findings += rules.find_problems(sources, target)
    for source in sources:
        if source.tree is not None:
            refused = list(find_forbidden_imports(source.tree, source.name, forbidden))
            places = {(one.line, one.column) for one in refused}
            missing = find_missing_imports(source.tree, source.name, source.path, folder, library)
            # A forbidden import is reported once, whether the library is here or not.
            findings += refused + [one for one in missing if (one.line, one.column) not in places]
    findings += rules.find_advice(sources, target.wanted)
    findings.sort(key=lambda f: (not f.bad, f.file, f.line or 0, f.column or 0))
    return {
        "files": len(sources),
        "candidates": rules.find_candidates(sources)[:MAX_CANDIDATES],
        "roles": rules.find_roles(sources, target.wanted),
        "findings": [to_json(finding) for finding in findings[:MAX_FINDINGS]],
        "left_out": max(0, len(findings) - MAX_FINDINGS),
    }


def to_json(finding: Finding) -> Dict[str, Any]:
    """A finding as JSON, with short texts: the whole report must fit a line of 64 KiB."""
    fields = finding._asdict()
    return {key: one_line(text, 200) if isinstance(text, str) else text for key, text in fields.items()}


def main() -> int:
    """Reads the command line."""
    try:
        report = check_source(sys.argv[1], Target.parse(sys.argv[2]), sys.argv[3:])
    except LoadError as error:  # the game has no Python API, or a part of it is missing
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(report), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
