"""Writes, changes, renames and removes files outside its folder, and its own files.

Must happen: nothing changes."""

import os
import shutil

from attack import FOLDER, TARGETS, Attacker, refused, write


class Bot(Attacker):
    def attack(self):
        canary, token = TARGETS["canary"], TARGETS["token"]
        refused("the canary", lambda: write(canary))
        refused("emptied", lambda: os.truncate(canary, 0))
        refused("emptied by opening", lambda: os.close(os.open(canary, os.O_RDONLY | os.O_TRUNC)))
        refused("removed", lambda: os.unlink(canary))
        refused("renamed", lambda: os.rename(canary, canary + ".old"))
        refused("made readable", lambda: os.chmod(canary, 0o777))
        refused("made mine", lambda: os.chown(canary, os.getuid(), os.getgid()))
        refused("made old", lambda: os.utime(canary, (0, 0)))
        refused("marked", lambda: os.setxattr(canary, "user.mark", b"x"))
        refused("all of it", lambda: shutil.rmtree(os.path.dirname(canary)))
        for folder in ("/tmp", "/var/tmp", "/usr/lib", "/etc", "/run", "/", os.path.dirname(canary), TARGETS["honest"]):
            refused(folder, lambda: write(os.path.join(folder, token + "-new")))
        refused("its own code", lambda: write(os.path.join(FOLDER, "attack.py")))
