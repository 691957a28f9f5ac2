"""Replaces the host's own functions in its process: judging, encoding, the protocol's version, the end of the session.

Must happen: what goes out is still its own answer only, and the engine judges it."""

import sys

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        for name, module in list(sys.modules.items()):
            if not name.startswith("agon_bot") or module is None:
                continue
            for key, value in list(vars(module).items()):
                if callable(value) and getattr(value, "__module__", "").startswith("agon_bot") and not isinstance(value, type):
                    setattr(module, key, lambda *a, **k: "99")
