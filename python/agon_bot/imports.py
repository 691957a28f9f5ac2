"""Makes the imports of untidy submissions work.

A submission was once a file somewhere below `robots/` of the original program. InProcessCalls it is loaded as a module of a
package tree made up for it (`robots.<folder>.<file>`, deeper if its relative imports relative_import_depth higher), so that `from
..bot_control import Move` finds a parent to relative_import_depth to, whatever the real folders are called. Names need not be
Python names: dashes, spaces and plus signs are fine inside `sys.modules`.

(Finder and loader do not inherit from `importlib.abc`: importing it drags in a dozen modules, and every page of
this process is paid for at each fork.)
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

# Most files have none, and need not be parsed: that would take longer than all else of loading a bot.
_relative = re.compile(rb"\bfrom[\s\\]*\.").search


class ExistingModuleLoader:
    """Hands out a module that exists already, under one more name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._own = (module.__name__, module.__spec__, module.__loader__)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # The machinery has written the alias's particulars into the module; it gets its own back.
        module.__name__, module.__spec__, module.__loader__ = self._own


class GameModuleFinder:
    """Finds a competition's modules (`bot_control`, ...) by their last name, in any package: `robots.bot_control`,
    `a.b.bot_control`.

    It stands last in line: a file of that name beside the bot comes first, as it did in the original."""

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
    """Makes a competition's modules importable under every spelling."""
    sys.meta_path.append(GameModuleFinder(modules))  # type: ignore[arg-type]


def relative_import_depth(file: str) -> int:
    """How many levels the relative imports of a bot's file and its neighbours relative_import_depth at most (`from ..x` is 2).
    Files that do not parse count as 0 here: whoever imports them gets the error."""
    folder, own = os.path.split(file)
    try:
        names = sorted(os.listdir(folder))
    except OSError:  # only the file itself may be read
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
    """Makes the package tree for a bot's file and returns the full name its module gets."""
    name, packages = plan_packages(file, root)
    install(packages)
    return name


def plan_packages(file: str, root: str) -> Tuple[str, List[Tuple[str, List[str]]]]:
    """The full name that the module of a bot's file gets, and the packages above it with their folders.

    Folders from `root` on down can be imported from; those above it are names only, so that no bot reaches its
    neighbours."""
    folder = os.path.dirname(os.path.abspath(file))
    root = os.path.abspath(root)
    inside = os.path.relpath(folder, root)
    names = [os.path.basename(root) or "bot"] + ([] if inside == "." else inside.split(os.sep))
    own = len(names)
    # `robots` is the parent in the original; more parents above the root's name only if someone climbs there.
    missing = max(0, relative_import_depth(file) - own - 1)
    names = ["robots"] + [f"above{n}" for n in range(missing)] + names
    real = folder
    paths: List[List[str]] = []
    for _ in range(own):
        paths.insert(0, [real])
        real = os.path.dirname(real)
    paths = [[] for _ in range(len(names) - own)] + paths
    # A dot in a name would be read as one level more.
    names = [name.replace(".", "_") for name in names]
    full = [".".join(names[: n + 1]) for n in range(len(names))]
    return f"{full[-1]}.{os.path.basename(file)[: -len('.py')].replace('.', '_')}", list(zip(full, paths))
