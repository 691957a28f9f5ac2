"""Replaces functions of the host in its process: checking, encoding, the protocol version, the end of the session.

Must happen: it still sends only its own answer, and the engine checks it."""

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
