"""Has a name, a contributor and a class name of 10,000 characters.

Must happen: it plays; the output keeps a normal width."""

from attack import Attacker


class Bot(Attacker):
    def get_name(self):
        return "N" * 10_000

    get_contributor = get_name

    def attack(self):
        type(self).__name__ = type(self).__qualname__ = "C" * 10_000
