"""Locks files that every bot can read, by which two bots could communicate.

Must happen: the files can be read but not locked."""

import fcntl

from attack import Attacker, reached, refused


class Bot(Attacker):
    def attack(self):
        for path in ("/dev/null", "/usr/bin/env", "/bin/sh"):
            file = open(path, "rb")
            for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
                try:
                    fcntl.flock(file, kind | fcntl.LOCK_NB)
                except OSError:
                    continue
                reached("a lock that other bots see", path)
            refused("a record lock", lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB))
