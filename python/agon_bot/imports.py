"""Makes the imports of submissions work, whatever their folders are called.

In the original program a submission was a file somewhere below `robots/`. Here it is loaded as a module of a virtual
package tree (`robots.<folder>.<file>`, deeper if its relative imports go higher), so that `from ..bot_control import
Move` finds a parent package. Names need not be Python identifiers: `sys.modules` accepts dashes, spaces and plus signs.

(Finder and loader do not inherit from `importlib.abc`: importing it loads a dozen modules, and each fork pays for every
page of this process.)
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
import re
import sys
from types import ModuleType
from typing import Dict, List, Optional, Sequence, Tuple

from .virtual_packages import install

# Most files have no relative import and need not be parsed. Parsing would take longer than the rest of loading a bot.
_relative = re.compile(rb"\bfrom[\s\\]*\.").search


class ExistingModuleLoader:
    """Loads a module that exists already, under one more name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._own = (module.__name__, module.__spec__, module.__loader__)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # Python has written the attributes of the other name into the module; restore its own.
        module.__name__, module.__spec__, module.__loader__ = self._own


class GameModuleFinder:
    """Finds a game's library modules (`bot_control`, ...) by the last part of the name, in any package:
    `robots.bot_control`, `a.b.bot_control`.

    It is the last finder: a file of that name beside the bot has priority, as in the original program."""

    def __init__(self, modules: Dict[str, ModuleType]) -> None:
        self._modules = modules

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        module = self._modules.get(fullname.rpartition(".")[2])
        if module is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, ExistingModuleLoader(module))  # type: ignore[arg-type]


def install_game_modules(modules: Dict[str, ModuleType]) -> None:
    """Makes a game's library modules importable under every spelling."""
    sys.meta_path.append(GameModuleFinder(modules))  # type: ignore[arg-type]


def relative_import_depth(file: str) -> int:
    """The highest level of the relative imports in a bot's file and the files beside it (`from ..x` is 2). Files that
    do not parse count as 0: importing them gives the error."""
    folder, own = os.path.split(file)
    try:
        names = sorted(os.listdir(folder))
    except OSError:  # only the file itself is readable
        names = [own]
    highest = 0
    for name in names:
        if not name.endswith(".py"):
            continue
        try:
            with open(os.path.join(folder, name), "rb") as source:
                text = source.read()
            if _relative(text) is None:
                continue
            tree = ast.parse(text)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        levels = (node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        highest = max(highest, *levels, 0)
    return highest


def install_virtual_package(file: str, root: str) -> str:
    """Makes the package tree for a bot's file. Returns the full name of its module."""
    name, packages = plan_packages(file, root)
    install(packages)
    return name


def plan_packages(file: str, root: str) -> Tuple[str, List[Tuple[str, List[str]]]]:
    """The full name of the module of a bot's file, and the packages above it with their folders.

    Packages from `root` downwards have their real folders. Those above it have none, so that no bot can import its
    neighbours' files."""
    folder = os.path.dirname(os.path.abspath(file))
    root = os.path.abspath(root)
    inside = os.path.relpath(folder, root)
    names = [os.path.basename(root) or "bot"] + ([] if inside == "." else inside.split(os.sep))
    own = len(names)
    # `robots` is the parent in the original; further parents are added only if a relative import goes higher.
    missing = max(0, relative_import_depth(file) - own - 1)
    names = ["robots"] + [f"above{n}" for n in range(missing)] + names
    real = folder
    paths: List[List[str]] = []
    for _ in range(own):
        paths.insert(0, [real])
        real = os.path.dirname(real)
    paths = [[] for _ in range(len(names) - own)] + paths
    # A dot in a name would count as one more level.
    names = [name.replace(".", "_") for name in names]
    full = [".".join(names[: n + 1]) for n in range(len(names))]
    return f"{full[-1]}.{os.path.basename(file)[: -len('.py')].replace('.', '_')}", list(zip(full, paths))
