"""Makes named pipes, sockets and device nodes.

Must happen: none can be made."""

import os
import stat

from attack import TARGETS, Attacker, refused


class Bot(Attacker):
    def attack(self):
        for folder in (".", "data", "/tmp", "/dev/shm", "/dev"):
            path = os.path.join(folder, TARGETS["token"] + "-node")
            refused("a pipe", lambda: os.mkfifo(path))
            refused("a file", lambda: os.mknod(path))
            refused("memory", lambda: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 1)))
            refused("a disk", lambda: os.mknod(path, 0o666 | stat.S_IFBLK, os.makedev(254, 0)))
