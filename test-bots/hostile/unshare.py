"""Makes its own namespaces, in which it would be root.

Must happen: refused, by every call that could do it."""

from attack import Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        for bit in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            refused(f"unshare {bit:#x}", lambda: call(272, bit))
            refused(f"unshare user and {bit:#x}", lambda: call(272, bit | 0x10000000))
            refused(f"clone {bit:#x}", lambda: call(56, bit | 17, 0, 0, 0, 0))
        refused("setns", lambda: call(308, 0, 0))
