"""Packages that exist only in `sys.modules`: see `imports.py`. (Imports little: see `stateless_session.py`.)"""

from __future__ import annotations

import os
import sys

from _frozen_importlib import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, List, Tuple

Module = type(sys)


def install(packages: Iterable[Tuple[str, List[str]]]) -> None:
    """Makes packages, the outermost first."""
    for name, path in packages:
        _make(name, path)
        if path and os.path.isfile(os.path.join(path[0], "__init__.py")):
            _run_init(name, path[0])


def _make(name: str, path: List[str]) -> Any:
    """A package without code, in `sys.modules` and in its parent."""
    module = Module(name)
    module.__path__ = path  # type: ignore[attr-defined]
    module.__make__ = name
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = path
    module.__spec__ = spec
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    return module


def _run_init(name: str, folder: str) -> None:
    """Executes a package's `__init__.py`, as an import would do."""
    module = sys.modules[name]
    file = os.path.join(folder, "__init__.py")
    module.__file__ = file
    with open(file, "rb") as source:
        code = compile(source.read(), file, "exec", dont_inherit=True)
    exec(code, module.__dict__)
