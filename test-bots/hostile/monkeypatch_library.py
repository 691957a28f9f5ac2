"""Replaces functions of Python's library that the host uses: `json`, `os.read`, `os.write`, `os.kill`, `select`,
built-ins.

Must happen: at most its own session breaks."""

import builtins
import json
import os
import select

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        wrong = lambda *a, **k: 99
        json.dumps = json.loads = wrong
        os.read = os.write = os.kill = os.fork = os._exit = os.waitpid = wrong
        select.poll = select.select = wrong
        for name in ("len", "str", "int", "isinstance", "issubclass", "type", "print", "open", "max", "min", "getattr", "repr"):
            setattr(builtins, name, wrong)
