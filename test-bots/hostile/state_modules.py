"""Keeps state in modules: of the library, of the host, and a new one.

Must happen: the next call does not find it (it would play CENTER)."""

import random
import sys
import types


def get_action(state, match_history):
    host = [module for name, module in list(sys.modules.items()) if name.startswith("agon_bot")]
    remembered = hasattr(random, "kept") or "kept" in sys.modules or any(hasattr(module, "kept") for module in host)
    random.kept = 1
    sys.modules["kept"] = types.ModuleType("kept")
    for module in host:
        module.kept = 1
    return "CENTER" if remembered else "LEFT"
