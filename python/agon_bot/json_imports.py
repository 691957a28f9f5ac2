"""Makes JSON files beside a bot importable: `import history` finds `history.json`. Bots that may not open files read
their data and published results this way. (Imports little: see `stateless_session.py`.)

The module has the whole content as `data`. If the content is an object, its keys that are identifiers are names too."""

from __future__ import annotations

import os
import sys

from _frozen_importlib import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence


class JsonFinder:
    """Finds modules that no other finder has found."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Optional[ModuleSpec]:
        """Finds the JSON file of a module in the bot's folder or in one of its packages."""
        last = name.rpartition(".")[2]
        for folder in [self.folder] if path is None else path:
            file = os.path.join(folder, last + ".json")
            if os.path.isfile(file):
                spec = ModuleSpec(name, self, origin=file)  # type: ignore[arg-type]
                spec.has_location = True
                return spec
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """Lets Python make an ordinary module."""

    def exec_module(self, module: Any) -> None:
        """Reads the JSON file into the module."""
        import json

        with open(module.__spec__.origin, encoding="utf-8") as file:
            content = json.load(file)
        if type(content) is dict:
            named = {name: value for name, value in content.items() if name.isidentifier() and name[:2] != "__"}
            module.__dict__.update(named)
        module.data = content


def import_json_from(folder: str) -> None:
    """Makes the JSON files of a folder importable."""
    sys.meta_path.append(JsonFinder(folder))  # type: ignore[arg-type]
