"""Mounts a file system, moves and removes mounts.

Must happen: refused."""

from attack import TARGETS, Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        refused("a tmpfs", lambda: call(165, b"none", b"/tmp", b"tmpfs", 0, 0))
        refused("a proc", lambda: call(165, b"none", b"/proc", b"proc", 0, 0))
        refused("a bind", lambda: call(165, TARGETS["honest"].encode(), b"/usr", b"", 4096, 0))
        refused("writable again", lambda: call(165, b"none", b"/", b"", 32, 0))
        refused("unmounting", lambda: call(166, b"/proc", 2))
        refused("a new one", lambda: call(430, b"tmpfs", 0))
        refused("taking a tree", lambda: call(428, -100, b"/", 1))
