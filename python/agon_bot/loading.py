"""Finds and executes a bot's file: which file of a folder, which class of a file, and a clear error if there is none.

A *target* is `PATH` or `PATH:Class`; `PATH` is a `.py` file or a folder. Classes and methods are read from the syntax
tree, so that searching a folder executes none of its files.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from types import FunctionType, ModuleType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from . import imports
from .errors import LoadError, load_error
from .json_imports import import_json_from


class Target(NamedTuple):
    """What to load: a file or folder, the wanted class, and the root folder of the submission."""

    path: str
    wanted: Optional[str] = None
    root: Optional[str] = None

    @classmethod
    def parse(cls, text: str) -> Target:
        """Parses `PATH` or `PATH:Class`. If the whole text is an existing path, it is a path, even with colons."""
        path, colon, name = text.rpartition(":")
        if colon and not os.path.exists(text) and name.isidentifier():
            return cls(os.path.abspath(path), name, os.environ.get("AGON_ROOT"))
        return cls(os.path.abspath(text), None, os.environ.get("AGON_ROOT"))


class Loaded(NamedTuple):
    """A bot's file after it was executed."""

    module: ModuleType
    file: str
    root: str
    tree: ast.Module

    @property
    def display_name(self) -> str:
        """The file's name in error messages."""
        return os.path.relpath(self.file, self.root)


ENCODING_HINT = "save it as UTF-8 text: in the editor's Save As dialog, choose the encoding UTF-8"


def encoding_problem(text: bytes) -> Optional[str]:
    """What is wrong with the encoding of a file: some editors save UTF-16. `None` if nothing is obvious."""
    start = text[:2]
    # Without a mark at the start, one byte of each letter is zero.
    if start in (b"\xff\xfe", b"\xfe\xff") or (start.isascii() and start.count(0) == 1):
        return "does not parse: it is saved as UTF-16, not as UTF-8"
    return "does not parse: it contains NUL bytes, so it is not a text file" if b"\0" in text else None


SyntaxFix = Callable[[ast.Module], ast.Module]


def parse(file: str, root: str) -> ast.Module:
    """The syntax tree of a file."""
    try:
        with open(file, "rb") as source:
            text = source.read()
        problem = encoding_problem(text)
        if problem is not None:
            raise LoadError(problem, os.path.basename(file), None, ENCODING_HINT)
        return ast.parse(text, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ValueError) and not isinstance(error, SyntaxError):
            raise LoadError(f"does not parse: {error}", os.path.basename(file), None, ENCODING_HINT) from None
        raise load_error(error, root, file) from None
    except OSError as error:
        raise LoadError(f"cannot be read: {error.strerror}", os.path.basename(file)) from None


def choose_file(target: Target, fits: Callable[[ast.Module, str], bool], expected: str, fixed: str = "") -> str:
    """The file to load. In a folder: the file with the fixed name, or the only `.py` that fits, or the fitting one that
    is named like the folder."""
    if os.path.isfile(target.path):
        if not target.path.endswith(".py"):
            raise LoadError("is not a Python file", os.path.basename(target.path), None, "name a .py file or a folder")
        return target.path
    if not os.path.isdir(target.path):
        raise LoadError("no such file or folder", target.path, None, "check the path")
    folder = target.path
    shown = os.path.basename(folder)
    if fixed:
        file = os.path.join(folder, fixed)
        if not os.path.isfile(file):
            reject_notebook(folder, shown)
            raise LoadError(f"the folder has no {fixed}", shown, None, f"put {expected} into {fixed}")
        return file
    files = _python_files(folder)
    if not files:
        reject_notebook(folder, shown)
        raise LoadError("the folder has no .py file", shown, None, f"put {expected} there")
    # If there is only one file, its error says more than "none fits".
    fitting = files if len(files) == 1 else [file for file in files if _fits_quietly(file, folder, fits)]
    if not fitting:
        raise LoadError(f"none of its files has {expected}", shown, None, "or name the file itself")
    alike = [file for file in fitting if same_name(_stem(file), shown)]
    if len(fitting) > 1 and len(alike) != 1:
        names = ", ".join(os.path.relpath(file, folder) for file in fitting)
        raise LoadError(f"several files have {expected}: {names}", shown, None, "name one of them: FOLDER/FILE.py")
    return fitting[0] if len(fitting) == 1 else alike[0]


def reject_notebook(folder: str, shown: str) -> None:
    """Raises an error if a folder without the bot's file has a notebook."""
    for name in sorted(os.listdir(folder)):
        if name.lower().endswith(".ipynb"):
            what = f"the folder has a notebook, {name}, which is not a Python file"
            raise LoadError(what, shown, None, f"save its code as a .py file: jupyter nbconvert --to script {name}")


def _python_files(folder: str) -> List[str]:
    """The `.py` files of a folder. If there are none, those of its only subfolder: an unpacked archive often has one
    more level."""
    names = sorted(name for name in os.listdir(folder) if not name.startswith((".", "__")))
    files = [os.path.join(folder, name) for name in names if name.endswith(".py")]
    inner = [os.path.join(folder, name) for name in names if os.path.isdir(os.path.join(folder, name))]
    inner = [path for path in inner if os.path.basename(path) not in ("data", "logs")]
    return files if files or len(inner) != 1 else _python_files(inner[0])


def _fits_quietly(file: str, root: str, fits: Callable[[ast.Module, str], bool]) -> bool:
    """Whether a file fits. A file that does not parse does not fit."""
    try:
        return fits(parse(file, root), file)
    except LoadError:
        return False


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]


def same_name(a: str, b: str) -> bool:
    """Whether two names are the same apart from case and punctuation: `rambo_the_rando` and `RamboTheRando`,
    `id10+_bot` and `id10plus_bot`."""

    def bare(name: str) -> str:
        return re.sub(r"[^a-z0-9]", "", name.lower().replace("+", "plus"))

    return bare(a) == bare(b)


def execute(
    file: str, root: Optional[str], predefined: Optional[Dict[str, Any]] = None, fix_syntax: Optional[SyntaxFix] = None
) -> Loaded:
    """Executes a bot's file as a module. `predefined` are names that it can use without an import; `fix_syntax` changes
    its syntax tree first."""
    folder = os.path.dirname(file)
    root = root or folder
    tree = parse(file, root)
    if fix_syntax is not None:
        tree = fix_syntax(tree)
    try:
        name = imports.install_virtual_package(file, root)
        code = compile(tree, file, "exec", dont_inherit=True)
        module = ModuleType(name)
        module.__file__ = file
        module.__package__ = name.rpartition(".")[0]
        module.__dict__.update(predefined or {})
        sys.modules[name] = module
        # Helper files import each other, and sometimes the bot's file, by their bare names, as if Python had been
        # started in the bot's folder.
        sys.path.insert(0, folder)
        import_json_from(folder)
        sys.modules.setdefault(_stem(file), module)
        sys.argv[:] = [file]
        exec(code, module.__dict__)
    except BaseException as error:  # also SystemExit
        raise load_error(error, root, file) from None
    return Loaded(module, file, root, tree)


def classes_with(tree: ast.Module, method: str) -> List[Tuple[str, int]]:
    """Name and line of the top-level classes that have a method, directly or from a base class in the same file."""
    known = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def has(node: ast.ClassDef, depth: int = 0) -> bool:
        if any(isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name == method for part in node.body):
            return True
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        return depth < 50 and any(base in known and has(known[base], depth + 1) for base in bases)

    return [(node.name, node.lineno) for node in known.values() if has(node)]


def choose_class(loaded: Loaded, method: str, wanted: Optional[str], also_named: str = "") -> type:
    """The bot's class: the wanted one, or the only one with the method, or the one named like the file or the
    folder."""
    module = loaded.module
    lines = {node.name: node.lineno for node in loaded.tree.body if isinstance(node, ast.ClassDef)}
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    usable = [kind for kind in own if callable(getattr(kind, method, None))]
    if wanted is not None:
        kind = getattr(module, wanted, None)
        if not isinstance(kind, type):
            names = ", ".join(sorted(k.__name__ for k in usable)) or "none"
            raise LoadError(f"has no class {wanted}", loaded.display_name, None, f"its bot classes: {names}")
        if not callable(getattr(kind, method, None)):
            raise LoadError(
                f"class {wanted} has no method {method}",
                loaded.display_name,
                lines.get(wanted),
                f"write def {method}(self, ...)",
            )
        return kind
    usable = list(dict.fromkeys(usable))
    if len(usable) == 1:
        return usable[0]
    if not usable:
        bare = getattr(module, method, None)
        if isinstance(bare, FunctionType) and bare.__code__.co_varnames[:1] == ("self",):
            # The competition's documents print the method alone; a file with only that is accepted as a bot.
            return type(_stem(loaded.file), (), {method: bare})
        if len(own) == 1:
            name = own[0].__name__
            hint = f"write def {method}(self, ...)"
            raise LoadError(f"class {name} has no method {method}", loaded.display_name, lines.get(name), hint)
        hint = f"write a class with def {method}(self, ...)"
        raise LoadError(f"has no class with a method {method}", loaded.display_name, None, hint)
    for name in (_stem(loaded.file), also_named, os.path.basename(os.path.dirname(loaded.file))):
        alike = [kind for kind in usable if name and same_name(kind.__name__, name)]
        if len(alike) == 1:
            return alike[0]
    names = ", ".join(f"{kind.__name__} (line {lines.get(kind.__name__, '?')})" for kind in usable)
    hint = f"name one: {loaded.display_name}:{usable[0].__name__}"
    raise LoadError(f"has several bot classes: {names}", loaded.display_name, None, hint)
