"""Leaves its root folder: by chroot, by many `..`, by descriptors of folders, by `/proc`.

Must happen: there is nothing outside."""

import os

from attack import TARGETS, Attacker, read, refused


class Bot(Attacker):
    def attack(self):
        refused("chroot", lambda: os.chroot("."))
        root = os.open("/usr/lib", os.O_RDONLY | os.O_DIRECTORY)
        up = "/".join([".."] * 40)
        refused("many dots", lambda: read(f"{up}{TARGETS['canary']}"))
        refused("a descriptor", lambda: os.open(f"{up}{TARGETS['canary']}", os.O_RDONLY, dir_fd=root))
        for pid in ("1", "self", str(os.getppid()), "thread-self"):
            refused(f"/proc/{pid}/root", lambda: read(f"/proc/{pid}/root{TARGETS['canary']}"))
            refused(f"/proc/{pid}/cwd", lambda: read(f"/proc/{pid}/cwd/{up}{TARGETS['canary']}"))
