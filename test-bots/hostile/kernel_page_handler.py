"""Makes itself the handler of its own page faults (`userfaultfd`), with which a read by another process can be
delayed as long as it likes.

Must happen: it is refused."""

from attack import Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        refused("a handler of page faults", lambda: call(323, 1))
