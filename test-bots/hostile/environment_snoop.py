"""Searches its environment, its arguments and the user's home for secrets.

Must happen: the environment is clean."""

import os
import sys

from attack import Attacker, read, reached


class Bot(Attacker):
    def attack(self):
        for name, value in os.environ.items():
            plain = name in ("PATH", "LANG", "LC_CTYPE", "HOME", "TMPDIR", "TZ")
            own = name.startswith(("AGON_", "PYTHON")) or name.endswith("_NUM_THREADS")
            if not plain and not own or "secret" in value:
                reached("a variable", f"{name}={value}")
        for path in ("/proc/self/environ", "/proc/self/cmdline"):
            try:
                text = read(path)
            except OSError:
                continue
            if b"secret" in text:
                reached(path, text)
        if any("secret" in word for word in sys.argv + getattr(sys, "orig_argv", [])):
            reached("an argument", sys.argv)
